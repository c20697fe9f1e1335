//! Credit notes: what they take back of invoices, and those that changes of terms bring (invoicing 10).

use accrue::{
    CivilDate, CreditNoteId, Decimal, ErrorKind, InvoiceLineId, PageRequest,
    invoice::{
        BalanceDirection, CreditNote, CreditNoteEffect, CreditNoteFilter, CreditNoteReason,
        Invoice, InvoiceStatus, NewCreditNote, NewCreditNoteLine, Payment, ServiceDays,
    },
    subscription::{Cancellation, ChangeTiming, FeeQuantityChange},
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced_with},
    support::fixture::{UNKNOWN, at, block_on, external, number, refused, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

/// A month of a fee that was billed in advance.
fn billed(fee: &str) -> (Invoiced, Invoice) {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee(fee)]);
    invoiced.fixture.set(JUNE);
    invoiced.subscribe(JUNE);
    let invoice = invoiced.fixture.invoices(SETTLED).remove(0);
    invoiced.fixture.messages();
    (invoiced, invoice)
}

fn note(line: InvoiceLineId, amount: &str) -> NewCreditNote {
    let lines =
        vec![NewCreditNoteLine { invoice_line_id: line, amount: number(amount), days: None }];
    NewCreditNote { lines, reason: CreditNoteReason::Duplicate, memo: None, days: None }
}

fn days(first: &str, last: &str) -> Option<ServiceDays> {
    let [first, last] = [first, last].map(|day| CivilDate::parse(day).unwrap());
    Some(ServiceDays { first, last })
}

fn notes(invoiced: &Invoiced) -> Vec<CreditNote> {
    let (filter, page) = (CreditNoteFilter::default(), PageRequest::default());
    block_on(invoiced.fixture.account.list_credit_notes(&filter, &page)).unwrap().data
}

/// What a person reads of a note: its number, its effect, its lines and its total.
fn shown(note: &CreditNote) -> String {
    let number = note.credit_note_number.split_once('-').unwrap().1;
    let lines = note.lines.iter().map(|line| {
        let [start, end] =
            [line.period.start(), line.period.end()].map(|at| at.to_string()[5..16].to_owned());
        format!("{} {start} to {end} {}", line.name.as_str(), line.amount)
    });
    let lines: Vec<_> = lines.collect();
    let state = if note.voided_at.is_some() { " void" } else { "" };
    format!("{number} {}{state}: {} = {}", note.effect.name(), lines.join(", "), note.total)
}

#[test]
fn invoicing_10_3_a_note_lowers_what_is_due_or_raises_the_balance() {
    let check = |amount: &str, is_paid: bool, expect: (&str, &str, &str)| {
        let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
        let Invoiced { fixture, .. } = &invoiced;
        fixture.set(JUNE);
        invoiced.move_balance("30", BalanceDirection::Increment);
        invoiced.subscribe(JUNE);
        let invoice = fixture.invoices(SETTLED).remove(0);
        assert_eq!(invoice.amount_due, number("50"));
        if is_paid {
            run(fixture.account.mark_invoice_paid(invoice.id, Payment::new(at(JUNE)))).unwrap();
        }
        let note = run(fixture.account.create_credit_note(note(invoice.lines[0].id, amount)));
        assert_eq!(note.unwrap().total, number(amount));
        let invoice = invoiced.fetch(invoice.id);
        let found = (invoice.amount_due.to_string(), invoiced.balance(), invoice.status.name());
        assert_eq!((found.0.as_str(), found.1.as_str(), found.2), expect, "{amount} {is_paid}");
        assert!(is_paid || invoice.payment_received_at.is_none());
    };
    check("20.00", false, ("30", "0", "issued"));
    check("60.00", false, ("0", "10", "paid"));
    check("80.00", false, ("0", "30", "paid"));
    check("20.00", true, ("50", "20", "paid"));
}

#[test]
fn invoicing_10_1_a_note_says_what_it_takes_back() {
    let (invoiced, invoice) = billed("80");
    let account = &invoiced.fixture.account;
    let line = &invoice.lines[0];
    let made = run(account.create_credit_note(note(line.id, "20"))).unwrap();
    assert_eq!(made.credit_note_number[6..], *"-CN-00001");
    assert_eq!(made.credit_note_number[..6], invoice.invoice_number[..6]);
    assert_eq!((made.invoice_id, made.customer_id), (invoice.id, invoice.customer_id));
    assert_eq!(
        (made.reason, made.effect),
        (CreditNoteReason::Duplicate, CreditNoteEffect::Adjustment)
    );
    assert_eq!(made.lines[0].invoice_line_id, line.id);
    assert_eq!(made.lines[0].period, line.period, "its own, where none is given");
    assert_eq!(block_on(account.fetch_credit_note(made.id)).unwrap(), made);
    assert_eq!(notes(&invoiced), std::slice::from_ref(&made));
    assert_eq!(invoiced.fixture.message_types(), ["credit_note.issued"]);
    let summary = invoiced.fetch(invoice.id).credit_notes.remove(0);
    assert_eq!((summary.id, summary.total), (made.id, number("20")));
    invoiced.fixture.set("2026-06-02T00:00:00Z");
    let second = run(account.create_credit_note(note(line.id, "1"))).unwrap();
    assert_eq!(second.credit_note_number[6..], *"-CN-00002");
    assert_eq!(notes(&invoiced), [second, made], "newest first");
}

#[test]
fn invoicing_10_2_days_are_midnights_of_the_customer() {
    let (invoiced, invoice) = billed("80");
    let mut new = note(invoice.lines[0].id, "20");
    new.days = days("2026-05-03", "2026-05-05");
    let made = run(invoiced.fixture.account.create_credit_note(new.clone())).unwrap();
    let period = made.lines[0].period;
    assert_eq!(period.start(), at("2026-05-03T00:00:00Z"));
    assert_eq!(period.end(), at("2026-05-06T00:00:00Z"), "the last day is one of them");
    new.days = None;
    new.lines[0].days = days("2026-06-30", "2026-06-30");
    let made = run(invoiced.fixture.account.create_credit_note(new)).unwrap();
    assert_eq!(made.lines[0].period.start(), at("2026-06-30T00:00:00Z"));
}

#[test]
fn invoicing_10_2_what_is_wrong_is_refused_and_writes_nothing() {
    let (invoiced, invoice) = billed("80");
    let account = &invoiced.fixture.account;
    let line = invoice.lines[0].id;
    let check = |new: NewCreditNote, kind: ErrorKind, text: &str| {
        let (found, detail) = refused(&invoiced.fixture, account.create_credit_note(new));
        assert_eq!(found, kind, "{detail}");
        assert!(detail.contains(text), "{detail}");
    };
    use ErrorKind::{ConstraintViolation, RequestValidation, ResourceNotFound};
    check(note(line, "0"), RequestValidation, "above 0");
    check(note(line, "-1"), RequestValidation, "above 0");
    check(note(line, "1.005"), RequestValidation, "at most 2 digits");
    check(note(line, "80.01"), ConstraintViolation, "80 is left to credit");
    check(note(UNKNOWN.parse().unwrap(), "1"), ResourceNotFound, "invoice line item");
    let mut none = note(line, "1");
    none.lines.clear();
    check(none, RequestValidation, "at least one");
    let mut twice = note(line, "1");
    twice.lines.push(twice.lines[0].clone());
    check(twice, RequestValidation, "each line once");
    let mut both = note(line, "1");
    (both.days, both.lines[0].days) =
        (days("2026-06-01", "2026-06-02"), days("2026-06-01", "2026-06-02"));
    check(both, RequestValidation, "for the note or for each line");
    let mut backwards = note(line, "1");
    backwards.days = days("2026-06-02", "2026-06-01");
    check(backwards, RequestValidation, "no earlier");
    run(account.void_invoice(invoice.id)).unwrap();
    check(note(line, "1"), ConstraintViolation, "the invoice is void, expected issued or paid");
    assert_eq!(notes(&invoiced), []);
    assert_eq!(invoiced.balance(), "0");
}

#[test]
fn invoicing_10_4_the_last_note_takes_what_is_left() {
    let (invoiced, invoice) = billed("100");
    let (account, line) = (&invoiced.fixture.account, invoice.lines[0].id);
    let credit = |amount| run(account.create_credit_note(note(line, amount))).unwrap();
    let all = [credit("33.33"), credit("33.33"), credit("33.34")];
    let total: Decimal = all.iter().map(|of| &of.total).sum();
    assert_eq!(total, number("100"));
    let (kind, text) = refused(&invoiced.fixture, account.create_credit_note(note(line, "0.01")));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("0 is left to credit"), "{text}");
    run(account.void_credit_note(all[1].id)).unwrap();
    assert_eq!(credit("33.33").total, number("33.33"), "what is void counts no longer");
}

#[test]
fn invoicing_10_5_a_void_note_leaves_no_trace_in_figures() {
    let (invoiced, invoice) = billed("80");
    let (account, line) = (&invoiced.fixture.account, invoice.lines[0].id);
    let part = run(account.create_credit_note(note(line, "20"))).unwrap();
    let rest = run(account.create_credit_note(note(line, "60"))).unwrap();
    assert_eq!(invoiced.fetch(invoice.id).status, InvoiceStatus::Paid);
    invoiced.fixture.messages();
    let void = run(account.void_credit_note(rest.id)).unwrap();
    assert_eq!(void.voided_at, Some(at(JUNE)));
    assert_eq!(invoiced.fixture.message_types(), ["credit_note.marked_as_void"]);
    let found = invoiced.fetch(invoice.id);
    assert_eq!((found.status, &found.amount_due), (InvoiceStatus::Issued, &number("60")));
    assert_eq!((found.paid_at, found.credit_notes[1].voided_at), (None, Some(at(JUNE))));
    let (kind, text) = refused(&invoiced.fixture, account.void_credit_note(rest.id));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");

    run(account.mark_invoice_paid(invoice.id, Payment::new(at(JUNE)))).unwrap();
    let refund = run(account.create_credit_note(note(line, "10"))).unwrap();
    assert_eq!((refund.effect, invoiced.balance().as_str()), (CreditNoteEffect::Refund, "10"));
    // The customer has spent it meanwhile.
    invoiced.move_balance("10", BalanceDirection::Decrement);
    invoiced.fixture.messages();
    run(account.void_credit_note(refund.id)).unwrap();
    assert_eq!(invoiced.balance(), "-10");
    let types = ["credit_note.marked_as_void", "customer.balance_transaction_created"];
    assert_eq!(invoiced.fixture.message_types(), types);
    let found = invoiced.fetch(invoice.id);
    assert_eq!((found.status, found.amount_due.to_string().as_str()), (InvoiceStatus::Paid, "60"));
    let actions = found.balance_transactions.iter().map(|of| (of.action.name(), of.credit_note_id));
    let id = Some(refund.id);
    let expected = [("credit_note_applied", id), ("credit_note_voided", id)];
    assert_eq!(actions.collect::<Vec<_>>(), expected);
    run(account.void_credit_note(part.id)).unwrap();
    let found = invoiced.fetch(invoice.id);
    assert_eq!(
        (found.status, found.amount_due),
        (InvoiceStatus::Paid, number("60")),
        "money came for it"
    );
    assert_eq!(invoiced.balance(), "-30", "the customer owes what it paid too little");
    let unknown: CreditNoteId = UNKNOWN.parse().unwrap();
    let (kind, _) = refused(&invoiced.fixture, account.void_credit_note(unknown));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_10_5_a_void_note_takes_what_it_returned() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("80")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(JUNE);
    invoiced.move_balance("30", BalanceDirection::Increment);
    invoiced.subscribe(JUNE);
    let invoice = fixture.invoices(SETTLED).remove(0);
    let made = run(fixture.account.create_credit_note(note(invoice.lines[0].id, "60"))).unwrap();
    assert_eq!((&made.returned, invoiced.balance()), (&number("10"), "10".to_owned()));
    run(fixture.account.void_credit_note(made.id)).unwrap();
    let found = invoiced.fetch(invoice.id);
    assert_eq!((found.status, &found.amount_due), (InvoiceStatus::Issued, &number("50")));
    assert_eq!(invoiced.balance(), "0");
    let last = found.balance_transactions.last().unwrap();
    assert_eq!(
        (last.action.name(), last.direction),
        ("credit_note_voided", BalanceDirection::Decrement)
    );
}

#[test]
fn invoicing_10_5_notes_are_listed_by_customer_and_subscription() {
    let (invoiced, invoice) = billed("80");
    let account = &invoiced.fixture.account;
    let made = run(account.create_credit_note(note(invoice.lines[0].id, "20"))).unwrap();
    let bob = invoiced.fixture.customer("bob");
    let list = |filter: CreditNoteFilter| {
        let page = PageRequest::default();
        block_on(account.list_credit_notes(&filter, &page)).unwrap().data
    };
    let of = |customers: Vec<accrue::IdOr<_>>, subscription| CreditNoteFilter {
        customers,
        subscription,
        ..CreditNoteFilter::default()
    };
    let ada = external("ada");
    assert_eq!(list(of(vec![ada.into()], invoice.subscription_id)), std::slice::from_ref(&made));
    assert_eq!(list(of(vec![invoice.customer_id.into()], None)), [made]);
    assert_eq!(list(of(vec![bob.id.into()], None)), []);
    assert_eq!(list(of(vec![bob.id.into()], invoice.subscription_id)), []);
    assert_eq!(list(of(Vec::new(), Some(UNKNOWN.parse().unwrap()))), []);
}

#[test]
fn invoicing_10_6_what_a_cancellation_cuts_short_is_credited() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("300")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    let invoice = fixture.invoices(SETTLED).remove(0);
    fixture.set("2026-06-11T10:00:00Z");
    fixture.messages();
    run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate)).unwrap();
    let expected = "CN-00001 adjustment: fee 06-11T10:00 to 07-01T00:00 190 = 190";
    assert_eq!(notes(&invoiced).iter().map(shown).collect::<Vec<_>>(), [expected]);
    assert_eq!(notes(&invoiced)[0].reason, CreditNoteReason::OrderChange);
    assert_eq!(invoiced.fetch(invoice.id).amount_due, number("110"));
    assert_eq!(fixture.message_types(), ["subscription.ended", "credit_note.issued"]);
    fixture.tick_at("2026-12-01T00:00:00Z");
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00001 issued 2026-06-01: fee 300 = 300"]);
}

#[test]
fn invoicing_10_6_what_ends_at_its_very_start_is_credited_whole() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("300")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate)).unwrap();
    let invoice = fixture.invoices(SETTLED).remove(0);
    assert_eq!((invoice.status, &invoice.amount_due), (InvoiceStatus::Paid, &Decimal::zero()));
    assert_eq!(notes(&invoiced)[0].total, number("300"));
    fixture.tick_at("2026-12-01T00:00:00Z");
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00001 paid 2026-06-01: fee 300 = 300"]);
}

#[test]
fn invoicing_10_6_what_is_taken_back_of_a_draft_is_credited_when_it_is_issued() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.advance_fee("300")]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    let fee = subscription.price_intervals[1].price_id;
    let quantity = |n: u64, when| {
        let change = FeeQuantityChange { price: fee.into(), quantity: Decimal::from(n), when };
        run(fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    };
    quantity(0, ChangeTiming::EffectiveDate(at("2026-07-01T10:00:00Z")));
    // That of the boundary waits for late usage, that of a second seat does not.
    fixture.tick_at("2026-07-01T09:00:00Z");
    quantity(2, ChangeTiming::Immediate);
    fixture.tick_at("2026-07-03T00:00:00Z");
    let credited: Vec<_> = notes(&invoiced).iter().map(|of| of.total.to_string()).collect();
    assert_eq!(credited, ["300", "300"]);
    assert!(fixture.invoices(SETTLED)[..2].iter().all(|of| of.amount_due.is_zero()));
}

#[test]
fn invoicing_10_6_unscheduling_a_cancellation_voids_its_note() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("300")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    let invoice = fixture.invoices(SETTLED).remove(0);
    run(fixture.account.mark_invoice_paid(invoice.id, Payment::new(at(JUNE)))).unwrap();
    let cancel = |date: &str| {
        let when = Cancellation::RequestedDate(at(date));
        run(fixture.account.cancel_subscription(subscription.id, when)).unwrap();
    };
    cancel("2026-06-21T00:00:00Z");
    assert_eq!(invoiced.balance(), "100");
    // An end that moves forth is credited once more, one that moves back is credited anew.
    cancel("2026-06-11T00:00:00Z");
    assert_eq!(invoiced.balance(), "200");
    cancel("2026-06-26T00:00:00Z");
    assert_eq!(invoiced.balance(), "50");
    run(fixture.account.unschedule_cancellation(subscription.id)).unwrap();
    assert_eq!(invoiced.balance(), "0");
    let states: Vec<_> = notes(&invoiced).iter().map(|of| of.voided_at.is_some()).collect();
    assert_eq!(states, [true; 3]);
    fixture.tick_at("2026-07-02T00:00:00Z");
    assert_eq!(all(&fixture.invoices(SETTLED))[0], "00002 issued 2026-07-01: fee 300 = 300");
}

#[test]
fn invoicing_10_6_fewer_seats_are_credited_without_an_invoice() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("30")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    let price = subscription.price_intervals[0].price_id;
    let change = |quantity: &str| {
        let quantity = number(quantity);
        let change = FeeQuantityChange::immediate(price, quantity);
        run(fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    };
    fixture.set("2026-06-11T00:00:00Z");
    change("4");
    fixture.set("2026-06-21T00:00:00Z");
    fixture.messages();
    change("1");
    assert_eq!(
        fixture.message_types(),
        ["subscription.fixed_fee_quantity_updated", "credit_note.issued"]
    );
    let issued = ["00002 issued 2026-06-11: fee 60 = 60", "00001 issued 2026-06-01: fee 30 = 30"];
    assert_eq!(all(&fixture.invoices(SETTLED)), issued);
    let expected = "CN-00001 adjustment: fee 06-21T00:00 to 07-01T00:00 30 = 30";
    assert_eq!(notes(&invoiced).iter().map(shown).collect::<Vec<_>>(), [expected]);
    assert_eq!(fixture.invoices(SETTLED)[0].amount_due, number("30"), "the latest line first");
    // One that is scheduled takes effect at its time, in one go with what else falls due.
    let when = ChangeTiming::EffectiveDate(at("2026-06-26T00:00:00Z"));
    let change = FeeQuantityChange { price: price.into(), quantity: number("0"), when };
    run(fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    assert_eq!(notes(&invoiced).len(), 1);
    fixture.tick_at("2026-06-26T00:00:00Z");
    assert_eq!(
        shown(&notes(&invoiced)[0]),
        "CN-00002 adjustment: fee 06-26T00:00 to 07-01T00:00 5 = 5"
    );
}

#[test]
fn invoicing_10_6_fewer_seats_are_credited_at_once_where_invoices_are_issued_by_hand() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.advance_fee("30"), fixture.usage_at("2", metric)]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set(JUNE);
    let carried = accrue::Carried::new([("auto_issuance", "false")]).unwrap();
    let subscription = invoiced.subscribe_with(JUNE, |new| new.carried = carried);
    let [july, first] = fixture.invoices(DRAFT).try_into().unwrap();
    let no_draft = note(july.lines[0].id, "1");
    let (kind, text) = refused(fixture, fixture.account.create_credit_note(no_draft));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    let seats = |date: &str, quantity: &str| {
        fixture.tick_at(date);
        let price = subscription.price_intervals[0].price_id;
        let change = FeeQuantityChange::immediate(price, number(quantity));
        run(fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    };
    run(fixture.account.issue_invoice(first.id)).unwrap();
    seats("2026-06-21T00:00:00Z", "0");
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00001 issued 2026-06-01: fee 30 = 30"]);
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-07-01: fee 0, usage 0 = 0"]);
    let expected = "CN-00001 adjustment: fee 06-21T00:00 to 07-01T00:00 10 = 10";
    assert_eq!(notes(&invoiced).iter().map(shown).collect::<Vec<_>>(), [expected]);

    // What takes back and bills is issued by hand, and shows the note that comes with it.
    seats("2026-07-10T00:00:00Z", "2");
    let draft = fixture
        .invoices(DRAFT)
        .into_iter()
        .find(|of| of.invoice_date == at("2026-07-10T00:00:00Z"));
    assert_eq!(draft.as_ref().map(|of| of.total.to_string()), Some("42.58".to_owned()));
    seats("2026-07-20T00:00:00Z", "1");
    assert_eq!(notes(&invoiced).len(), 1, "nothing of July was billed");
}
