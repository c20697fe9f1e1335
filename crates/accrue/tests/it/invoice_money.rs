//! Money of invoices: credits and balances that pay for them, payment by hand and void (invoicing 7, 8).

use accrue::{
    CivilDate, Decimal, ErrorKind, ListFilter, PageRequest, Patch,
    customer::{CustomerUpdate, PaymentProvider},
    invoice::{BalanceDirection, InvoiceStatus, NewInvoice, NewOneOffLine, Payment},
    price::Cadence,
};

use crate::{
    invoices::{Invoiced, SETTLED, all, invoiced, invoiced_with},
    support::fixture::{at, block_on, external, name, number, refused, run, usd},
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
fn invoicing_7_6_a_total_below_zero_goes_to_the_balance() {
    let check = |balance: Option<&str>, expect: (&str, &str, &str)| {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("40")]);
        let fixture = &invoiced.fixture;
        fixture.set("2026-06-01T00:00:00Z");
        if let Some(amount) = balance {
            invoiced.move_balance(amount, BalanceDirection::Decrement);
        }
        let mut new = NewInvoice::new(external("ada"), usd(), at("2026-06-01T00:00:00Z"));
        new.will_auto_issue = true;
        let day = CivilDate::parse("2026-06-01").unwrap();
        new.lines.push(NewOneOffLine {
            name: name("work"),
            item_id: fixture.item().id,
            start_date: day,
            end_date: day,
            quantity: Decimal::from(1),
            unit_amount: number("-8"),
        });
        let issued = run(fixture.account.create_invoice(new)).unwrap();
        let [made] = issued.balance_transactions.as_slice() else { panic!("{issued:?}") };
        assert_eq!((made.action.name(), &made.amount), ("applied_to_invoice", &number("8")));
        assert_eq!(made.direction, BalanceDirection::Increment);
        let found = (issued.amount_due.to_string(), issued.status.name(), invoiced.balance());
        assert_eq!((found.0.as_str(), found.1, found.2.as_str()), expect, "{balance:?}");
    };
    check(None, ("0", "paid", "8"));
    check(Some("3.00"), ("0", "paid", "5"));
}

/// Invoices a fee of each of these, one after the other, to a customer with a payment provider, where a gateway
/// charges half a dollar at least; returns what each has due, and how it stands.
fn with_least_charge(
    provider: Option<PaymentProvider>,
    fees: [&str; 2],
) -> (Invoiced, [(String, &'static str); 2]) {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee(fees[0])]);
    let Invoiced { fixture, .. } = &invoiced;
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.least_charges.insert(usd(), number("0.5"));
    run(fixture.account.configure(configuration)).unwrap();
    let update = CustomerUpdate {
        payment_provider: provider.map_or(Patch::Keep, Patch::Set),
        ..Default::default()
    };
    run(fixture.account.update_customer(external("ada"), update)).unwrap();
    fixture.set("2026-06-01T00:00:00Z");
    fixture.messages();
    invoiced.subscribe("2026-06-01T00:00:00Z");
    let first = fixture.invoices(SETTLED).remove(0);
    let mut new = NewInvoice::new(external("ada"), usd(), at("2026-06-01T00:00:00Z"));
    new.will_auto_issue = true;
    new.lines.push(NewOneOffLine {
        name: name("work"),
        item_id: fixture.item().id,
        start_date: CivilDate::parse("2026-06-01").unwrap(),
        end_date: CivilDate::parse("2026-06-01").unwrap(),
        quantity: number("1"),
        unit_amount: number(fees[1]),
    });
    let second = run(fixture.account.create_invoice(new)).unwrap();
    let due = [first, second].map(|of| (of.amount_due.to_string(), of.status.name()));
    (invoiced, due)
}

#[test]
fn invoicing_7_7_what_a_gateway_cannot_charge_is_carried_over() {
    let check = |provider, fees, expect: [(&str, &str); 2]| {
        let (_, due) = with_least_charge(provider, fees);
        let due: Vec<_> = due.iter().map(|(due, status)| (due.as_str(), *status)).collect();
        assert_eq!(due, expect, "{provider:?} {fees:?}");
    };
    let stripe = Some(PaymentProvider::StripeCharge);
    check(stripe, ["0.30", "20"], [("0", "paid"), ("20.3", "issued")]);
    check(stripe, ["0.50", "20"], [("0.5", "issued"), ("20", "issued")]);
    check(stripe, ["0.30", "0.15"], [("0", "paid"), ("0", "paid")]);
    check(None, ["0.30", "20"], [("0.3", "issued"), ("20", "issued")]);
}

#[test]
fn invoicing_7_7_the_balance_shows_what_was_carried_over() {
    let (invoiced, _) = with_least_charge(Some(PaymentProvider::StripeCharge), ["0.30", "0.15"]);
    let Invoiced { fixture, .. } = &invoiced;
    assert_eq!(invoiced.balance(), "-0.45");
    let (filter, page) = (ListFilter::default(), PageRequest::default());
    let listed = fixture.account.list_balance_transactions(external("ada"), &filter, &page);
    let listed = block_on(listed).unwrap().data;
    let moves: Vec<_> =
        listed.iter().map(|of| (of.action.name(), of.direction, of.amount.to_string())).collect();
    let moves: Vec<_> = moves.iter().map(|(name, way, by)| (*name, *way, by.as_str())).collect();
    let expect = [
        ("small_invoice_carryover", BalanceDirection::Decrement, "0.45"),
        ("applied_to_invoice", BalanceDirection::Increment, "0.3"),
        ("small_invoice_carryover", BalanceDirection::Decrement, "0.3"),
    ];
    assert_eq!(moves, expect);
    let created = "customer.balance_transaction_created";
    let of_balance = fixture.message_types().into_iter().filter(|of| *of == created);
    assert_eq!(of_balance.count(), 3);
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

#[test]
fn invoicing_12_2_who_began_earlier_and_lost_a_race_is_listed_behind() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("40")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:01Z");
    invoiced.move_balance("5", BalanceDirection::Increment);
    // It has read the clock before, and is decided anew behind the other.
    fixture.set("2026-06-01T00:00:00Z");
    invoiced.move_balance("2", BalanceDirection::Decrement);
    let (filter, page) = (ListFilter::default(), PageRequest::default());
    let listed = fixture.account.list_balance_transactions(external("ada"), &filter, &page);
    let listed = block_on(listed).unwrap().data;
    let ends: Vec<_> = listed.iter().map(|of| of.ending_balance.to_string()).collect();
    assert_eq!(ends, ["3", "5"], "newest first, each begins where the one before it ended");
    assert_eq!(listed[0].created_at, at("2026-06-01T00:00:01Z"));
}
