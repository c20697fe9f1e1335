//! Money of invoices: credits and balances that pay for them, payment by hand and void (invoicing 7, 8).

use accrue::{
    Decimal, ErrorKind, ListFilter, PageRequest,
    invoice::{BalanceDirection, InvoiceStatus, Payment},
    price::Cadence,
};

use crate::{
    invoices::{Invoiced, SETTLED, all, invoiced, invoiced_with},
    support::fixture::{at, block_on, external, number, refused, run, usd},
};

#[test]
fn invoicing_7_6_the_balance_is_applied_once() {
    use BalanceDirection::{Decrement, Increment};

    let check = |balance: Option<(&str, BalanceDirection)>, expect: (&str, &str, &str)| {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("40")]);
        let Invoiced { fixture, .. } = &invoiced;
        fixture.set("2026-06-01T00:00:00Z");
        if let Some((amount, direction)) = balance {
            invoiced.move_balance(amount, direction);
        }
        invoiced.subscribe("2026-06-01T00:00:00Z");
        let issued = fixture.invoices(SETTLED);
        let found = (issued[0].amount_due.to_string(), issued[0].status.name(), invoiced.balance());
        assert_eq!((found.0.as_str(), found.1, found.2.as_str()), expect, "{balance:?}");
    };
    check(Some(("12.50", Increment)), ("27.5", "issued", "0"));
    check(Some(("55.00", Increment)), ("0", "paid", "15"));
    check(Some(("12.50", Decrement)), ("52.5", "issued", "0"));
    check(None, ("40", "issued", "0"));
}

#[test]
fn invoicing_7_3_credits_pay_for_lines() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    let ada = external("ada");
    let given = accrue::credit::NewLedgerEntry::increment(usd().into(), number("15"));
    run(fixture.account.create_ledger_entry(ada, given)).unwrap();
    fixture.set("2026-06-01T00:00:00Z");
    invoiced.subscribe("2026-06-01T00:00:00Z");
    invoiced.use_at("one", "2026-06-01T00:00:00Z", "10");
    fixture.tick_at("2026-07-02T00:00:00Z");
    let issued = fixture.invoices(SETTLED);
    let line = &issued[0].lines[0];
    let figures = [&line.subtotal, &line.adjusted_subtotal, &line.credits_applied, &line.amount];
    assert_eq!(figures.map(Decimal::to_string), ["20", "20", "15", "5"]);
    assert_eq!(
        (issued[0].subtotal.to_string(), issued[0].total.to_string()),
        ("20".into(), "5".into())
    );
}

#[test]
fn invoicing_8_5_an_invoice_is_marked_as_paid_once() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-12T00:00:00Z");
    invoiced.subscribe("2026-07-12T00:00:00Z");
    fixture.messages();
    let id = fixture.invoices(SETTLED)[0].id;
    let payment = Payment::new(at("2026-07-20T00:00:00Z"));
    fixture.set("2026-07-21T00:00:00Z");
    let paid = run(fixture.account.mark_invoice_paid(id, payment.clone())).unwrap();
    assert_eq!(paid, invoiced.fetch(id));
    assert_eq!((paid.status, paid.amount_due.to_string().as_str()), (InvoiceStatus::Paid, "200"));
    assert_eq!(paid.paid_at, Some(at("2026-07-21T00:00:00Z")));
    assert_eq!(paid.payment_received_at, Some(payment.received_at));
    assert_eq!(fixture.message_types(), ["invoice.manually_marked_as_paid"]);
    let (kind, text) = refused(fixture, fixture.account.mark_invoice_paid(id, payment));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("the invoice is paid, expected issued or synced"), "{text}");
    let (_, text) = refused(fixture, fixture.account.void_invoice(id));
    assert!(text.contains("the invoice is paid, expected issued"), "{text}");
}

#[test]
fn invoicing_8_6_what_is_void_gives_the_balance_back() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let first = invoiced.subscribe("2026-06-01T00:00:00Z");
    let first =
        fixture.invoices(SETTLED).into_iter().find(|of| of.subscription_id == Some(first.id));
    run(fixture.account.void_invoice(first.unwrap().id)).unwrap();
    invoiced.move_balance("30", BalanceDirection::Increment);
    let second = invoiced.subscribe("2026-06-01T00:00:00Z");
    let second =
        fixture.invoices(SETTLED).into_iter().find(|of| of.subscription_id == Some(second.id));
    let second = second.unwrap();
    assert_eq!((second.amount_due.to_string().as_str(), invoiced.balance().as_str()), ("50", "0"));
    fixture.messages();
    let void = run(fixture.account.void_invoice(second.id)).unwrap();
    assert_eq!((void.amount_due.to_string().as_str(), invoiced.balance().as_str()), ("50", "30"));
    assert_eq!(void.voided_at, Some(at("2026-06-01T00:00:00Z")));
    let types = ["invoice.manually_marked_as_void", "customer.balance_transaction_created"];
    assert_eq!(fixture.message_types(), types);
    let ada = external("ada");
    let (filter, page) = (ListFilter::default(), PageRequest::default());
    let listed = fixture.account.list_balance_transactions(ada, &filter, &page);
    let listed = block_on(listed).unwrap().data;
    let actions: Vec<_> = listed.iter().map(|of| of.action.name()).collect();
    assert_eq!(actions, ["return_from_voiding", "applied_to_invoice", "manual_adjustment"]);
    let (_, text) = refused(fixture, fixture.account.void_invoice(second.id));
    assert!(text.contains("the invoice is void, expected issued"), "{text}");
}

#[test]
fn invoicing_7_3_credits_pay_once_whatever_the_cadences() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.per_unit(metric, Cadence::Quarterly)]
    });
    let Invoiced { fixture, .. } = &invoiced;
    let given = accrue::credit::NewLedgerEntry::increment(usd().into(), number("90"));
    fixture.set("2026-04-01T00:00:00Z");
    run(fixture.account.create_ledger_entry(external("ada"), given)).unwrap();
    invoiced.subscribe("2026-04-01T00:00:00Z");
    // 80 and 10 by the month and the quarter; then nothing is left of the credits.
    invoiced.use_at("one", "2026-04-01T00:00:00Z", "40");
    fixture.tick_at("2026-05-10T00:00:00Z");
    invoiced.use_at("two", "2026-05-10T00:00:00Z", "40");
    fixture.tick_at("2026-07-02T00:00:00Z");
    let expected = [
        "00003 issued 2026-07-01: usage 0, usage 10 = 10",
        "00002 issued 2026-06-01: usage 80 = 80",
        "00001 issued 2026-05-01: usage 0 = 0",
    ];
    let found = all(&fixture.invoices(SETTLED)).join("; ").replace(" paid ", " issued ");
    assert_eq!(found, expected.join("; "));
}
