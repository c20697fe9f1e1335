//! Invoices of subscriptions: when they are made and issued, and what is on them (invoicing 4 to 8).

use std::collections::BTreeMap;

use accrue::{
    ErrorKind, IdOr, InvoiceId, PageRequest, Patch, Timeframe, Zone,
    account::Configuration,
    customer::CustomerUpdate,
    invoice::{
        BalanceDirection, Invoice, InvoiceFilter, InvoiceStatus, InvoiceUpdate,
        NewBalanceTransaction,
    },
    metric::Metric,
    plan::{NewPlan, Plan},
    price::{Cadence, NewPrice},
    subscription::{BillingAnchor, Cancellation, NewSubscription, Subscription},
};

use crate::support::fixture::{
    Fixture, SUM, UNKNOWN, at, block_on, event, external, name, number, refused, run, usd,
};

/// An account that invoices: a fee of 310 a month in advance, and 2 for each unit of the sum of `n`.
pub(crate) struct Invoiced {
    pub(crate) fixture: Fixture,
    pub(crate) plan: Plan,
}

pub(crate) fn invoiced() -> Invoiced {
    invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric), fixture.advance_fee("310")])
}

pub(crate) fn invoiced_with(prices: impl FnOnce(&Fixture, &Metric) -> Vec<NewPrice>) -> Invoiced {
    let fixture = Fixture::new();
    fixture.invoice_in(Zone::UTC);
    let metric = fixture.metric(SUM);
    let prices = prices(&fixture, &metric);
    let plan = fixture.priced_plan(prices.into_iter().map(Into::into));
    let ada = fixture.customer("ada");
    let billed_in = CustomerUpdate { currency: Some(usd()), ..CustomerUpdate::default() };
    run(fixture.account.update_customer(ada.id, billed_in)).unwrap();
    fixture.messages();
    Invoiced { fixture, plan }
}

impl Fixture {
    fn invoice_in(&self, timezone: Zone) {
        let mut configuration = Configuration::default();
        (configuration.features.invoices, configuration.timezone) = (true, timezone);
        run(self.account.configure(configuration)).unwrap();
    }

    pub(crate) fn tick_at(&self, now: &str) {
        self.set(now);
        self.tick();
    }

    pub(crate) fn invoices(&self, statuses: &[InvoiceStatus]) -> Vec<Invoice> {
        let filter = InvoiceFilter { statuses: statuses.to_vec(), ..InvoiceFilter::default() };
        let found = block_on(self.account.list_invoices(&filter, &PageRequest::default())).unwrap();
        found.data
    }
}

impl Invoiced {
    /// Subscribes `ada` from an instant on, by the first of the month.
    pub(crate) fn subscribe(&self, start: &str) -> Subscription {
        self.subscribe_with(start, |_| {})
    }

    pub(crate) fn subscribe_with(
        &self,
        start: &str,
        with: impl FnOnce(&mut NewSubscription),
    ) -> Subscription {
        let ada: IdOr<_> = external("ada").into();
        let mut new = NewSubscription::new(ada, self.plan.id);
        (new.anchor, new.start_date) = (BillingAnchor::FirstOfMonth, Some(at(start)));
        with(&mut new);
        run(self.fixture.account.create_subscription(new)).unwrap()
    }

    pub(crate) fn use_at(&self, key: &str, timestamp: &str, n: &str) {
        run(self.fixture.account.ingest([event("ada", key, at(timestamp), n)])).unwrap();
    }

    pub(crate) fn move_balance(&self, amount: &str, direction: BalanceDirection) {
        let ada = external("ada");
        let new = NewBalanceTransaction { amount: number(amount), direction, description: None };
        run(self.fixture.account.create_balance_transaction(ada, new)).unwrap();
    }

    pub(crate) fn balance(&self) -> String {
        let ada = external("ada");
        block_on(self.fixture.account.fetch_customer(ada)).unwrap().balance.to_string()
    }

    pub(crate) fn fetch(&self, id: InvoiceId) -> Invoice {
        block_on(self.fixture.account.fetch_invoice(id)).unwrap()
    }

    pub(crate) fn upcoming(&self, of: &Subscription) -> Invoice {
        block_on(self.fixture.account.upcoming_invoice(of.id)).unwrap()
    }
}

/// What a person reads of an invoice: its number, its status, its day, its lines and its total.
pub(crate) fn shown(invoice: &Invoice) -> String {
    let number = invoice.invoice_number.split_once('-').unwrap().1;
    let day = &invoice.invoice_date.to_string()[..10];
    let lines = invoice.lines.iter().map(|line| format!("{} {}", line.name.as_str(), line.amount));
    let lines: Vec<_> = lines.collect();
    let (status, total) = (invoice.status.name(), &invoice.total);
    format!("{number} {status} {day}: {} = {total}", lines.join(", "))
}

pub(crate) fn all(invoices: &[Invoice]) -> Vec<String> {
    invoices.iter().map(shown).collect()
}

pub(crate) const SETTLED: &[InvoiceStatus] = &[];
pub(crate) const DRAFT: &[InvoiceStatus] = &[InvoiceStatus::Draft];

#[test]
fn invoicing_6_1_a_subscription_is_invoiced_at_its_boundaries() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-12T00:00:00Z");
    let subscription = invoiced.subscribe("2026-07-12T00:00:00Z");
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00001 issued 2026-07-12: fee 200 = 200"]);
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-08-01: usage 0, fee 310 = 310"]);
    let types = ["subscription.created", "subscription.started", "invoice.invoice_date_elapsed"];
    assert_eq!(fixture.message_types(), [&types[..], &["invoice.issued"]].concat());

    invoiced.use_at("one", "2026-07-12T00:00:00Z", "7");
    assert_eq!(
        shown(&invoiced.upcoming(&subscription)),
        "DRAFT draft 2026-08-01: usage 14, fee 310 = 324"
    );

    fixture.tick_at("2026-08-01T00:00:00Z");
    assert_eq!(fixture.message_types(), ["invoice.invoice_date_elapsed"]);
    // Late events are on it as long as they are taken.
    fixture.tick_at("2026-08-01T23:00:00Z");
    invoiced.use_at("late", "2026-07-31T23:30:00Z", "3");
    let upcoming = invoiced.upcoming(&subscription);
    assert_eq!(upcoming.invoice_date, at("2026-09-01T00:00:00Z"));
    fixture.tick_at("2026-08-02T00:00:00Z");
    let issued = fixture.invoices(SETTLED);
    assert_eq!(all(&issued)[0], "00002 issued 2026-08-01: usage 20, fee 310 = 330");
    assert_eq!(fixture.message_types(), ["invoice.issued"]);
    let [usage, fee] = issued[0].lines.as_slice() else { panic!("{issued:?}") };
    let span = |of: Timeframe| (of.start().to_string(), of.end().to_string());
    let [july, august, september] =
        ["2026-07-12", "2026-08-01", "2026-09-01"].map(|of| format!("{of}T00:00:00.000000Z"));
    assert_eq!(span(usage.period), (july, august.clone()));
    assert_eq!(span(fee.period), (august, september));
    assert_eq!(usage.quantity, number("10"));
    assert_eq!(issued[0].issued_at, Some(at("2026-08-02T00:00:00Z")));
    assert_eq!(issued[0].due_date, Some(at("2026-08-01T00:00:00Z")), "no net terms: its own day");
}

#[test]
fn invoicing_6_1_a_tick_that_comes_late_gives_the_same_invoices() {
    let of = |ticks: &[&str]| {
        let invoiced = invoiced();
        invoiced.fixture.set("2026-07-12T00:00:00Z");
        invoiced.subscribe("2026-07-12T00:00:00Z");
        invoiced.use_at("one", "2026-07-12T00:00:00Z", "7");
        ticks.iter().for_each(|now| invoiced.fixture.tick_at(now));
        let invoices = invoiced.fixture.invoices(SETTLED);
        let dates = invoices.iter().map(|of| (shown(of), of.issued_at, of.due_date));
        dates.collect::<Vec<_>>()
    };
    let late = of(&["2026-11-05T00:00:00Z"]);
    assert_eq!(late.len(), 5);
    let daily = ["2026-08-01T00:00:00Z", "2026-08-03T07:00:00Z", "2026-10-02T00:00:00Z"];
    assert_eq!(of(&[&daily[..], &["2026-11-05T00:00:00Z"]].concat()), late);
}

#[test]
fn invoicing_6_1_what_is_cancelled_now_is_closed_by_an_invoice() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.arrear_fee("300")]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    invoiced.use_at("one", "2026-06-01T00:00:00Z", "7");
    fixture.set("2026-06-10T10:00:00Z");
    run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate)).unwrap();
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-06-10: usage 14, fee 100 = 114"]);
    fixture.tick_at("2026-06-11T10:00:00Z");
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        ["00001 issued 2026-06-10: usage 14, fee 100 = 114"]
    );
    fixture.tick_at("2026-12-01T00:00:00Z");
    assert_eq!(fixture.invoices(SETTLED).len(), 1, "nothing follows");
    let upcoming = block_on(fixture.account.upcoming_invoice(subscription.id));
    assert_eq!(upcoming.unwrap_err().kind(), ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_4_4_a_subscription_says_whether_it_issues_by_itself() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let carried = accrue::Carried::new([("auto_issuance", "false"), ("net_terms", "30")]).unwrap();
    let subscription = invoiced.subscribe_with("2026-06-01T00:00:00Z", |new| new.carried = carried);
    let draft = invoiced.upcoming(&subscription);
    assert!(!draft.will_auto_issue);
    assert_eq!(draft.eligible_to_issue_at, Some(at("2026-07-02T00:00:00Z")));
    let (_, text) = refused(fixture, fixture.account.issue_invoice(draft.id));
    assert!(text.contains("may be issued from 2026-07-02T00:00:00.000000Z on"), "{text}");
    fixture.tick_at("2026-09-02T00:00:00Z");
    assert_eq!(fixture.invoices(SETTLED), []);
    assert_eq!(fixture.invoices(DRAFT).len(), 4, "three wait, one is upcoming");
    let issued = run(fixture.account.issue_invoice(draft.id)).unwrap();
    assert_eq!(issued.issued_at, Some(at("2026-09-02T00:00:00Z")));
    assert_eq!(issued.due_date, Some(at("2026-07-31T00:00:00Z")), "30 days behind its date");
    assert_eq!(issued.status, InvoiceStatus::Paid, "nothing was used");
}

#[test]
fn invoicing_5_1_days_are_those_of_the_customers_zone() {
    let fixture = Fixture::new();
    fixture.invoice_in(Zone::parse("America/New_York").unwrap());
    let mut plan = NewPlan::new(name("plan"), usd());
    plan.prices = vec![fixture.advance_fee("10").into()];
    plan.carried = accrue::Carried::new([("net_terms", "30")]).unwrap();
    let plan = run(fixture.account.create_plan(plan)).unwrap();
    let ada = fixture.customer("ada");
    fixture.set("2026-03-01T05:00:00Z");
    let mut new = NewSubscription::new(ada.id, plan.id);
    new.start_date = Some(at("2026-03-01T05:00:00Z"));
    run(fixture.account.create_subscription(new)).unwrap();
    let issued = fixture.invoices(SETTLED);
    assert_eq!(issued[0].due_date, Some(at("2026-03-31T04:00:00Z")), "daylight saving began");
}

#[test]
fn invoicing_9_4_a_draft_takes_terms_and_every_state_takes_metadata() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-12T00:00:00Z");
    let subscription = invoiced.subscribe("2026-07-12T00:00:00Z");
    let (draft, issued) = (invoiced.upcoming(&subscription), fixture.invoices(SETTLED).remove(0));
    fixture.messages();
    let update = |id, update| fixture.account.update_invoice(id, update);
    let ten = InvoiceUpdate { net_terms: Patch::Set(10), ..InvoiceUpdate::default() };
    run(update(draft.id, ten.clone())).unwrap();
    assert_eq!(fixture.message_types(), ["invoice.edited"]);
    let (kind, _) = refused(fixture, update(issued.id, ten));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    let metadata =
        accrue::MetadataUpdate::Merge(BTreeMap::from([("po".to_owned(), Some("7".to_owned()))]));
    let noted = InvoiceUpdate { metadata, ..InvoiceUpdate::default() };
    assert_eq!(run(update(issued.id, noted)).unwrap().metadata["po"], "7");
    let early = Patch::Set(at("2026-07-31T00:00:00Z"));
    let (kind, _) =
        refused(fixture, update(draft.id, InvoiceUpdate { due_date: early, ..Default::default() }));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "before its date");
    fixture.tick_at("2026-08-02T00:00:00Z");
    assert_eq!(invoiced.fetch(draft.id).due_date, Some(at("2026-08-11T00:00:00Z")));
}

#[test]
fn invoicing_6_2_no_change_leaves_what_was_invoiced() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("310")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-03-01T00:00:00Z");
    let end = Some(at("2026-03-16T00:00:00Z"));
    let subscription = invoiced.subscribe_with("2026-03-01T00:00:00Z", |new| new.end_date = end);
    assert_eq!(fixture.invoices(SETTLED)[0].total, number("150"), "15 of 31 days");
    fixture.set("2026-03-05T00:00:00Z");
    let account = &fixture.account;
    let later = Cancellation::RequestedDate(at("2026-03-20T00:00:00Z"));
    let (kind, _) = refused(fixture, account.cancel_subscription(subscription.id, later));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    let sooner = Cancellation::RequestedDate(at("2026-03-12T00:00:00Z"));
    run(account.cancel_subscription(subscription.id, sooner)).unwrap();
}

#[test]
fn subscriptions_3_10_what_an_end_had_cut_is_made_void_and_billed_whole_where_it_is_taken_back() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("310")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-03-01T00:00:00Z");
    let end = Some(at("2026-03-16T00:00:00Z"));
    let subscription = invoiced.subscribe_with("2026-03-01T00:00:00Z", |new| new.end_date = end);
    fixture.set("2026-03-05T00:00:00Z");
    let back = || fixture.account.unschedule_cancellation(subscription.id);
    let (kind, text) = refused(fixture, back().leaving_invoices());
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    run(back()).unwrap();
    fixture.tick();
    assert_eq!(
        all(&fixture.invoices(&[InvoiceStatus::Void])),
        ["00001 void 2026-03-01: fee 150 = 150"]
    );
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00002 issued 2026-03-01: fee 310 = 310"]);
}

#[test]
fn invoicing_6_1_periods_that_were_over_are_invoiced_too() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-03-15T00:00:00Z");
    invoiced.use_at("march", "2026-03-15T00:00:00Z", "4");
    fixture.set("2026-07-12T00:00:00Z");
    invoiced.use_at("july", "2026-07-12T00:00:00Z", "1");
    invoiced.subscribe("2026-03-01T00:00:00Z");
    fixture.tick();
    let issued = fixture.invoices(SETTLED);
    assert_eq!(issued.len(), 4);
    assert_eq!(shown(&issued[3]), "00001 issued 2026-04-01: usage 8 = 8");
    fixture.tick_at("2026-08-02T00:00:00Z");
    assert_eq!(fixture.invoices(SETTLED)[0].total, number("2"));
}

#[test]
fn invoicing_4_4_what_is_turned_off_is_issued_by_hand() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    let draft = invoiced.upcoming(&subscription);
    fixture.tick_at("2026-07-01T12:00:00Z");
    let ada = external("ada");
    let carried = accrue::CarriedUpdate::new([("auto_issuance", "false")]).unwrap();
    let off = CustomerUpdate { carried, ..CustomerUpdate::default() };
    run(fixture.account.update_customer(ada, off)).unwrap();
    for of in [draft.id, invoiced.upcoming(&subscription).id] {
        assert!(!invoiced.fetch(of).will_auto_issue, "what waits for its grace period as well");
    }
    fixture.tick_at("2026-08-03T00:00:00Z");
    assert_eq!(fixture.invoices(SETTLED), []);
    let on = accrue::CarriedUpdate::new([("auto_issuance", "true")]).unwrap();
    let on = CustomerUpdate { carried: on, ..CustomerUpdate::default() };
    run(fixture.account.update_customer(external("ada"), on)).unwrap();
    let will: Vec<_> = fixture.invoices(DRAFT).iter().map(|of| of.will_auto_issue).collect();
    assert_eq!(will, [true, false, false], "of what was to be issued by hand it stays so");
    fixture.tick_at("2026-08-05T00:00:00Z");
    assert_eq!(fixture.invoices(SETTLED), []);
    let draft = invoiced.fetch(draft.id);
    assert_eq!(run(fixture.account.issue_invoice(draft.id)).unwrap().status, InvoiceStatus::Paid);
}

#[test]
fn invoicing_4_4_the_account_says_it_of_whom_nobody_else_does() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.auto_issuance = false;
    run(fixture.account.configure(configuration)).unwrap();
    let by_hand = invoiced.subscribe("2026-06-01T00:00:00Z");
    let by_itself = invoiced.subscribe_with("2026-06-01T00:00:00Z", |new| {
        new.carried = accrue::Carried::new([("auto_issuance", "true")]).unwrap();
    });
    assert!(!invoiced.upcoming(&by_hand).will_auto_issue);
    assert!(invoiced.upcoming(&by_itself).will_auto_issue);
    fixture.tick_at("2026-07-02T00:00:00Z");
    let issued = fixture.invoices(&[InvoiceStatus::Paid, InvoiceStatus::Issued]);
    let of: Vec<_> = issued.iter().map(|of| of.subscription_id).collect();
    assert_eq!(of, [Some(by_itself.id)]);
}

#[test]
fn wire_4_1_a_customer_that_was_given_an_invoice_is_not_deleted() {
    let invoiced = invoiced();
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-07-12T00:00:00Z");
    invoiced.subscribe("2026-07-12T00:00:00Z");
    let (kind, text) = refused(fixture, fixture.account.delete_customer(external("ada")));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    let bob = fixture.customer("bob");
    let mut later = NewSubscription::new(bob.id, invoiced.plan.id);
    later.start_date = Some(at("2026-08-01T00:00:00Z"));
    run(fixture.account.create_subscription(later)).unwrap();
    assert_eq!(fixture.invoices(DRAFT).len(), 2);
    run(fixture.account.delete_customer(bob.id)).unwrap();
    assert_eq!(fixture.invoices(DRAFT).len(), 1, "its draft is gone");
}

#[test]
fn what_is_not_there_is_not_found() {
    let fixture = invoiced().fixture;
    let id: InvoiceId = UNKNOWN.parse().unwrap();
    let found = block_on(fixture.account.fetch_invoice(id)).unwrap_err();
    assert_eq!(found.kind(), ErrorKind::ResourceNotFound);
    let (kind, _) = refused(&fixture, fixture.account.void_invoice(id));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_6_1_each_cadence_falls_due_at_its_own_boundaries() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![fixture.usage_at("2", metric), fixture.per_unit(metric, Cadence::Quarterly)]
    });
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-04-01T00:00:00Z");
    invoiced.subscribe("2026-04-01T00:00:00Z");
    for (key, timestamp, n) in [
        ("april", "2026-04-15T00:00:00Z", "4"),
        ("may", "2026-05-15T00:00:00Z", "8"),
        ("june", "2026-06-15T00:00:00Z", "16"),
    ] {
        fixture.tick_at(timestamp);
        invoiced.use_at(key, timestamp, n);
    }
    // A late one of the quarter's last day, when its periods have ended and are not closed yet.
    fixture.tick_at("2026-07-01T06:00:00Z");
    invoiced.use_at("late", "2026-06-30T23:00:00Z", "2");
    fixture.tick_at("2026-07-02T00:00:00Z");
    let expected = [
        "00003 issued 2026-07-01: usage 36, usage 7.5 = 43.5",
        "00002 issued 2026-06-01: usage 16 = 16",
        "00001 issued 2026-05-01: usage 8 = 8",
    ];
    assert_eq!(all(&fixture.invoices(SETTLED)), expected);
}

#[test]
fn invoicing_4_7_the_memo_is_the_subscriptions_its_plans_or_the_accounts() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("10")]);
    let Invoiced { fixture, .. } = &invoiced;
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.default_invoice_memo = Some(accrue::Description::parse("Thank you").unwrap());
    run(fixture.account.configure(configuration)).unwrap();
    fixture.set("2026-06-01T00:00:00Z");
    let plain = invoiced.subscribe("2026-06-01T00:00:00Z");
    let own = invoiced.subscribe_with("2026-06-01T00:00:00Z", |new| {
        new.carried = accrue::Carried::new([("default_invoice_memo", "\"Hello\"")]).unwrap();
    });
    let memo = |of: &Subscription| invoiced.upcoming(of).memo;
    assert_eq!(memo(&plain).as_deref(), Some("Thank you"));
    assert_eq!(memo(&own).as_deref(), Some("Hello"));
    let ada: IdOr<_> = external("ada").into();
    let mut new = accrue::invoice::NewInvoice::new(ada, usd(), at("2026-06-01T00:00:00Z"));
    let day = accrue::CivilDate::parse("2026-06-01").unwrap();
    new.lines.push(accrue::invoice::NewOneOffLine {
        name: name("work"),
        item_id: fixture.item().id,
        start_date: day,
        end_date: day,
        quantity: number("1"),
        unit_amount: number("10"),
    });
    let one_off = run(fixture.account.create_invoice(new)).unwrap();
    assert_eq!(one_off.memo.as_deref(), Some("Thank you"));
}

#[test]
fn invoicing_9_3_upcoming_of_what_has_ended_is_the_last_draft() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe_with("2026-06-01T00:00:00Z", |new| {
        new.carried = accrue::Carried::new([("auto_issuance", "false")]).unwrap();
    });
    fixture.tick_at("2026-07-10T00:00:00Z");
    run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate)).unwrap();
    fixture.tick_at("2026-07-20T00:00:00Z");
    let last = invoiced.upcoming(&subscription);
    assert_eq!(shown(&last), "DRAFT draft 2026-07-10: usage 0 = 0");
    for draft in fixture.invoices(DRAFT) {
        run(fixture.account.issue_invoice(draft.id)).unwrap();
    }
    let upcoming = block_on(fixture.account.upcoming_invoice(subscription.id));
    assert_eq!(upcoming.unwrap_err().kind(), ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_6_1_an_end_that_is_billed_is_not_taken_back_by_who_began_before_it() {
    let invoiced = invoiced_with(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    fixture.set("2026-06-10T00:00:01Z");
    run(fixture.account.cancel_subscription(subscription.id, Cancellation::Immediate)).unwrap();
    fixture.set("2026-06-10T00:00:00Z");
    let unscheduled = fixture.account.unschedule_cancellation(subscription.id);
    let (_, text) = refused(fixture, unscheduled);
    assert!(text.contains("which has ended at 2026-06-10"), "{text}");
}
