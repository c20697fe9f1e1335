//! Retries of payments that have failed (invoicing 8.7).

use accrue::{
    ErrorKind,
    invoice::{
        CreditNoteReason, DunningStatus, DunningStepStatus, Invoice, InvoiceStatus, NewCreditNote,
        NewCreditNoteLine, Payment,
    },
    webhook::Body,
};

use crate::{
    invoices::Invoiced,
    payments::{collected, declined, started},
    support::fixture::{at, block_on, number, refused, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

#[test]
fn invoicing_8_7_a_payment_that_fails_is_tried_again() {
    let (invoiced, invoice) = collected();
    let fixture = &invoiced.fixture;
    fixture.messages();
    let fail = |now: &str| {
        fixture.tick_at(now);
        let payment = started(&invoiced).into_iter().find(|of| of.invoice_id == invoice.id);
        invoiced.report(payment.unwrap().attempt_id, declined())
    };
    let failed = fail(JUNE);
    let [processing, lost] = ["invoice.payment_processing", "invoice.payment_failed"];
    let created = "invoice.dunning_schedule_created";
    assert_eq!(fixture.message_types(), [processing, lost, created]);
    assert_eq!((failed.status, failed.payment_failed_at), (InvoiceStatus::Issued, Some(at(JUNE))));
    let planned = |of: &Invoice| of.auto_collection.next_attempt_at;
    assert_eq!(planned(&failed), Some(at("2026-06-02T00:00:00Z")), "a day later");
    let executed = "invoice.dunning_schedule_step_executed";
    let failed = fail("2026-06-02T00:00:00Z");
    assert_eq!(fixture.message_types(), [processing, executed, lost]);
    assert_eq!(planned(&failed), Some(at("2026-06-05T00:00:00Z")), "four days after the first");
    assert_eq!(planned(&fail("2026-06-05T00:00:00Z")), Some(at("2026-06-10T00:00:00Z")));
    fixture.messages();
    let failed = fail("2026-06-10T00:00:00Z");
    let ended = "invoice.dunning_schedule_ended";
    assert_eq!(fixture.message_types(), [processing, executed, lost, ended]);
    assert_eq!((planned(&failed), failed.auto_collection.num_attempts), (None, 4));
    let schedule = failed.dunning.unwrap();
    assert_eq!(schedule.status, DunningStatus::Exhausted);
    assert!(schedule.steps.iter().all(|of| of.status == DunningStepStatus::Executed));
    fixture.tick_at("2026-06-29T00:00:00Z");
    assert_eq!((started(&invoiced), fixture.message_types()), (Vec::new(), Vec::<&str>::new()));
}

#[test]
fn invoicing_8_7_what_is_paid_meanwhile_is_tried_no_more() {
    let (invoiced, invoice) = collected();
    let fixture = &invoiced.fixture;
    fixture.tick();
    invoiced.report(started(&invoiced)[0].attempt_id, declined());
    fixture.messages();
    run(fixture.account.mark_invoice_paid(invoice.id, Payment::new(at(JUNE)))).unwrap();
    let types = ["invoice.manually_marked_as_paid", "invoice.dunning_schedule_ended"];
    assert_eq!(fixture.message_types(), types);
    let paid = invoiced.fetch(invoice.id);
    let schedule = paid.dunning.unwrap();
    assert_eq!(
        (schedule.status, paid.auto_collection.next_attempt_at),
        (DunningStatus::Completed, None)
    );
    assert!(schedule.steps.iter().all(|of| of.status == DunningStepStatus::Skipped));
}

#[test]
fn invoicing_8_7_a_retry_that_was_missed_begins_later() {
    let (invoiced, invoice) = collected();
    let fixture = &invoiced.fixture;
    fixture.tick();
    invoiced.report(started(&invoiced)[0].attempt_id, declined());
    fixture.set("2026-06-01T23:00:00Z");
    run(fixture.account.pay_invoice(invoice.id, None)).unwrap();
    let by_hand = started(&invoiced).remove(0);
    fixture.tick_at("2026-06-04T00:00:00Z");
    assert_eq!(started(&invoiced), std::slice::from_ref(&by_hand), "one at a time");
    let failed = invoiced.report(by_hand.attempt_id, declined());
    assert_eq!(failed.auto_collection.next_attempt_at, Some(at("2026-06-04T00:00:00Z")));
    fixture.tick();
    assert_eq!(started(&invoiced)[0].started_at, at("2026-06-04T00:00:00Z"));
}

/// An invoice of which a payment was declined.
fn declined_once() -> (Invoiced, Invoice) {
    let (invoiced, invoice) = collected();
    invoiced.fixture.tick();
    invoiced.report(started(&invoiced)[0].attempt_id, declined());
    invoiced.fixture.messages();
    (invoiced, invoice)
}

fn credited_in_full(invoiced: &Invoiced, of: &Invoice) -> accrue::CreditNoteId {
    let line = NewCreditNoteLine {
        invoice_line_id: of.lines[0].id,
        amount: of.lines[0].amount.clone(),
        days: None,
    };
    let reason = CreditNoteReason::Duplicate;
    let new = NewCreditNote { lines: vec![line], reason, memo: None, days: None };
    run(invoiced.fixture.account.create_credit_note(new)).unwrap().id
}

#[test]
fn invoicing_8_7_an_account_chooses_the_days() {
    let (invoiced, invoice) = collected();
    let fixture = &invoiced.fixture;
    fixture.configure(|of| of.retry_days = vec![2, 30]);
    fixture.tick();
    let failed = invoiced.report(started(&invoiced)[0].attempt_id, declined());
    let planned: Vec<_> = failed.dunning.unwrap().steps.iter().map(|of| of.planned_at).collect();
    assert_eq!(planned, [at("2026-06-03T00:00:00Z"), at("2026-07-01T00:00:00Z")]);
    let days = block_on(fixture.account.configuration()).unwrap();
    for wrong in [vec![0], vec![4, 1], vec![1, 1], vec![366], (1..=11).collect()] {
        let mut configuration = days.clone();
        configuration.retry_days.clone_from(&wrong);
        let (kind, text) = refused(fixture, fixture.account.configure(configuration));
        assert_eq!(kind, ErrorKind::RequestValidation, "{wrong:?}: {text}");
    }
    fixture.configure(|of| of.retry_days = Vec::new());
    assert_eq!(invoiced.fetch(invoice.id).dunning.unwrap().steps.len(), 2, "it has begun");
}

#[test]
fn invoicing_8_7_without_days_one_failure_is_the_last() {
    let (invoiced, _) = collected();
    let fixture = &invoiced.fixture;
    fixture.configure(|of| of.retry_days = Vec::new());
    fixture.tick();
    fixture.messages();
    let failed = invoiced.report(started(&invoiced)[0].attempt_id, declined());
    assert_eq!(failed.dunning.unwrap().status, DunningStatus::Exhausted);
    let types = ["invoice.payment_failed", "invoice.dunning_schedule_ended"];
    assert_eq!(fixture.message_types(), types);
}

#[test]
fn invoicing_8_6_what_is_void_is_tried_no_more() {
    let (invoiced, invoice) = declined_once();
    let void = run(invoiced.fixture.account.void_invoice(invoice.id)).unwrap();
    assert_eq!(void.auto_collection.next_attempt_at, None);
    assert_eq!(void.dunning.unwrap().status, DunningStatus::Completed);
    let told = invoiced.fixture.message_types();
    assert!(told.contains(&"invoice.dunning_schedule_ended"), "{told:?}");
    invoiced.fixture.tick_at("2026-06-20T00:00:00Z");
    assert_eq!(started(&invoiced), []);
}

#[test]
fn invoicing_8_7_retries_begin_anew_where_a_note_is_taken_back() {
    let (invoiced, invoice) = declined_once();
    let fixture = &invoiced.fixture;
    let note = credited_in_full(&invoiced, &invoice);
    let paid = invoiced.fetch(invoice.id);
    assert_eq!((paid.status, &paid.amount_due), (InvoiceStatus::Paid, &number("0")));
    assert_eq!(paid.dunning.unwrap().status, DunningStatus::Completed);
    let told = fixture.message_types();
    assert!(told.contains(&"invoice.dunning_schedule_ended"), "{told:?}");

    fixture.set("2026-06-02T00:00:00Z");
    run(fixture.account.void_credit_note(note)).unwrap();
    fixture.tick();
    fixture.messages();
    invoiced.report(started(&invoiced)[0].attempt_id, declined());
    let reset = fixture.messages().into_iter().find_map(|of| match of.body {
        Body::InvoiceDunningScheduleReset { schedule, previous } => Some((schedule, previous)),
        _ => None,
    });
    let (schedule, previous) = reset.unwrap();
    assert_eq!(
        (schedule.status, previous.status),
        (DunningStatus::Active, DunningStatus::Completed)
    );
    assert_eq!((schedule.created_at, previous.created_at), (at("2026-06-02T00:00:00Z"), at(JUNE)));
    assert_eq!(invoiced.fetch(invoice.id).dunning, Some(*schedule));
}
