//! Drafts that follow what happens, and issued invoices that do not (invoicing 6.2).

use accrue::{
    CarriedUpdate, ErrorKind, EventKey,
    customer::CustomerUpdate,
    invoice::{Invoice, InvoiceStatus},
    subscription::{ChangeTiming, FeeQuantityChange, Subscription},
    usage::Amendment,
};

use crate::{
    backfills::frame,
    invoices::{DRAFT, Invoiced, invoiced_with, shown},
    support::fixture::{at, event, external, number, refused, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

/// 2 for each unit, and 30 a month for each seat in advance; 10 are used in June. At noon of the first of July June's
/// draft waits; its invoice is issued where `is_issued`.
fn june(is_issued: bool) -> (Invoiced, Subscription) {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.advance_fee("30")]
    });
    invoiced.fixture.set(JUNE);
    let subscription = invoiced.subscribe(JUNE);
    invoiced.fixture.tick_at("2026-06-30T18:00:00Z");
    invoiced.use_at("one", "2026-06-30T18:00:00Z", "10");
    let now = if is_issued { "2026-07-02T00:00:00Z" } else { "2026-07-01T12:00:00Z" };
    invoiced.fixture.tick_at(now);
    (invoiced, subscription)
}

impl Invoiced {
    fn of_june(&self) -> Invoice {
        let all = [InvoiceStatus::Draft, InvoiceStatus::Issued];
        let mut found = self.fixture.invoices(&all).into_iter();
        found.find(|of| of.invoice_date == at("2026-07-01T00:00:00Z")).unwrap()
    }

    /// Has something happen, and tells what the invoice of June comes to before and behind it.
    fn behind(&self, happens: impl FnOnce(&Self)) -> [String; 2] {
        let before = self.of_june().total.to_string();
        happens(self);
        self.fixture.tick();
        [before, self.of_june().total.to_string()]
    }
}

fn key() -> EventKey {
    EventKey::parse("one").unwrap()
}

fn amended(invoiced: &Invoiced) {
    let of = event("ada", "one", at("2026-06-30T18:00:00Z"), "15");
    let accrue::usage::Event { event_name, timestamp, properties, customer, .. } = of;
    let amendment = Amendment { event_name, timestamp, properties, customer };
    // Where its period is issued it takes no corrections either.
    let _ = run(invoiced.fixture.account.amend_event(key(), amendment));
}

fn deprecated(invoiced: &Invoiced) {
    let _ = run(invoiced.fixture.account.deprecate_event(key()));
}

fn filled(invoiced: &Invoiced) {
    let account = &invoiced.fixture.account;
    let mut new = accrue::backfill::NewBackfill::new(frame(JUNE, "2026-06-02T00:00:00Z"));
    new.customer = Some(external("ada").into());
    let backfill = run(account.create_backfill(new)).unwrap();
    run(account.ingest_backfill(backfill.id, [event("ada", "fill", at(JUNE), "1")])).unwrap();
    run(account.close_backfill(backfill.id)).unwrap();
    invoiced.fixture.tick();
}

fn reverted(invoiced: &Invoiced) {
    filled(invoiced);
    let page = accrue::PageRequest::default();
    let filter = accrue::backfill::BackfillFilter::default();
    let account = &invoiced.fixture.account;
    let found = crate::support::fixture::block_on(account.list_backfills(&filter, &page)).unwrap();
    run(account.revert_backfill(found.data[0].id)).unwrap();
}

#[test]
fn invoicing_6_2_usage_changes_drafts_alone() {
    let check = |happens: fn(&Invoiced), draft: [&str; 2]| {
        assert_eq!(june(false).0.behind(happens), draft);
        let issued = draft[0];
        assert_eq!(june(true).0.behind(happens), [issued; 2]);
    };
    check(amended, ["50", "60"]);
    check(deprecated, ["50", "30"]);
    check(filled, ["50", "52"]);
    check(reverted, ["50", "50"]);
}

#[test]
fn invoicing_6_2_late_events_change_drafts_and_are_billed_nowhere_else() {
    let late = |invoiced: &Invoiced| invoiced.use_at("late", "2026-06-30T23:00:00Z", "3");
    assert_eq!(june(false).0.behind(late), ["50", "56"]);
    let (invoiced, _) = june(true);
    // As late as an account may have it.
    let account = &invoiced.fixture.account;
    let mut configuration = crate::support::fixture::block_on(account.configuration()).unwrap();
    configuration.grace_period = std::time::Duration::from_secs(72 * 3_600);
    run(account.configure(configuration)).unwrap();
    assert_eq!(invoiced.behind(late), ["50", "50"]);
    invoiced.fixture.tick_at("2026-08-05T00:00:00Z");
    let july = invoiced.fixture.invoices(&[InvoiceStatus::Issued]).remove(0);
    assert_eq!(shown(&july), "00003 issued 2026-08-01: usage 0, fee 30 = 30");
}

#[test]
fn invoicing_6_2_terms_from_now_on_change_drafts_alone() {
    let seats = |of: &Subscription, date: &str| FeeQuantityChange {
        price: of.price_intervals[1].price_id.into(),
        quantity: number("2"),
        when: ChangeTiming::EffectiveDate(at(date)),
    };
    let (invoiced, subscription) = june(true);
    let july = invoiced.of_june();
    let change = seats(&subscription, "2026-08-01T00:00:00Z");
    run(invoiced.fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    let draft = invoiced.fixture.invoices(DRAFT).remove(0);
    assert_eq!(shown(&draft), "DRAFT draft 2026-08-01: usage 0, fee 60 = 60");
    assert_eq!(invoiced.of_june(), july);

    let past = seats(&subscription, "2026-06-15T00:00:00Z");
    let call = invoiced.fixture.account.update_fixed_fee_quantity(subscription.id, past);
    let (kind, _) = refused(&invoiced.fixture, call.leaving_invoices());
    assert_eq!(kind, ErrorKind::ConstraintViolation, "what was issued would be billed anew");
}

#[test]
fn invoicing_6_2_an_address_follows_and_is_frozen() {
    let (invoiced, _) = june(true);
    let moves = |country: &str| {
        let address = format!("{{\"country\":\"{country}\"}}");
        let carried = CarriedUpdate::new([("billing_address", address)]).unwrap();
        let update = CustomerUpdate { carried, ..CustomerUpdate::default() };
        run(invoiced.fixture.account.update_customer(external("ada"), update)).unwrap();
    };
    moves("GB");
    assert_eq!(invoiced.of_june().addressee.get("billing_address"), None, "it had none then");
    invoiced.fixture.tick_at("2026-08-02T00:00:00Z");
    moves("FR");
    let issued = invoiced.fixture.invoices(&[InvoiceStatus::Issued]).remove(0);
    let frozen = issued.addressee.get("billing_address").unwrap();
    assert!(frozen.contains("GB"), "{frozen}");
    invoiced.fixture.tick_at("2026-09-02T00:00:00Z");
    let next = invoiced.fixture.invoices(&[InvoiceStatus::Issued]).remove(0);
    assert!(next.addressee.get("billing_address").unwrap().contains("FR"));
}
