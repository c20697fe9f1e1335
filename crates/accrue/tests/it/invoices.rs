//! Invoices of subscriptions: when they are made and issued, and what is on them (invoicing 4 to 8).

use std::collections::BTreeMap;

use accrue::{
    Decimal, ErrorKind, IdOr, InvoiceId, ListFilter, PageRequest, Patch, Timeframe, Zone,
    account::Configuration,
    customer::CustomerUpdate,
    invoice::{
        BalanceDirection, Invoice, InvoiceFilter, InvoiceStatus, InvoiceUpdate,
        NewBalanceTransaction, Payment,
    },
    metric::Metric,
    plan::{NewPlan, Plan},
    price::NewPrice,
    subscription::{
        BillingAnchor, Cancellation, ChangeTiming, FeeQuantityChange, NewSubscription, Subscription,
    },
};

use crate::support::fixture::{
    Fixture, SUM, UNKNOWN, at, block_on, event, external, name, number, refused, run, usd,
};

/// An account that invoices: a fee of 310 a month in advance, and 2 for each unit of the sum of `n`.
pub(crate) struct Invoiced {
    pub(crate) fixture: Fixture,
    plan: Plan,
}

fn invoiced() -> Invoiced {
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

    fn tick_at(&self, now: &str) {
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

    fn subscribe_with(&self, start: &str, with: impl FnOnce(&mut NewSubscription)) -> Subscription {
        let ada: IdOr<_> = external("ada").into();
        let mut new = NewSubscription::new(ada, self.plan.id);
        (new.anchor, new.start_date) = (BillingAnchor::FirstOfMonth, Some(at(start)));
        with(&mut new);
        run(self.fixture.account.create_subscription(new)).unwrap()
    }

    fn use_at(&self, key: &str, timestamp: &str, n: &str) {
        run(self.fixture.account.ingest([event("ada", key, at(timestamp), n)])).unwrap();
    }

    fn move_balance(&self, amount: &str, direction: BalanceDirection) {
        let ada = external("ada");
        let new = NewBalanceTransaction { amount: number(amount), direction, description: None };
        run(self.fixture.account.create_balance_transaction(ada, new)).unwrap();
    }

    fn balance(&self) -> String {
        let ada = external("ada");
        block_on(self.fixture.account.fetch_customer(ada)).unwrap().balance.to_string()
    }

    fn fetch(&self, id: InvoiceId) -> Invoice {
        block_on(self.fixture.account.fetch_invoice(id)).unwrap()
    }

    fn upcoming(&self, of: &Subscription) -> Invoice {
        block_on(self.fixture.account.upcoming_invoice(of.id)).unwrap()
    }
}

/// What a person reads of an invoice: its number, its status, its day, its lines and its total.
fn shown(invoice: &Invoice) -> String {
    let number = invoice.invoice_number.split_once('-').unwrap().1;
    let day = &invoice.invoice_date.to_string()[..10];
    let lines = invoice.lines.iter().map(|line| format!("{} {}", line.name.as_str(), line.amount));
    let lines: Vec<_> = lines.collect();
    let (status, total) = (invoice.status.name(), &invoice.total);
    format!("{number} {status} {day}: {} = {total}", lines.join(", "))
}

fn all(invoices: &[Invoice]) -> Vec<String> {
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
fn invoicing_6_1_more_seats_are_invoiced_at_once() {
    let invoiced = invoiced_with(|fixture, _| vec![fixture.advance_fee("30")]);
    let Invoiced { fixture, .. } = &invoiced;
    fixture.set("2026-06-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-06-01T00:00:00Z");
    let price = subscription.price_intervals[0].price_id;
    let change = |quantity: &str, when| {
        let change = FeeQuantityChange { price: price.into(), quantity: number(quantity), when };
        fixture.account.update_fixed_fee_quantity(subscription.id, change)
    };
    fixture.set("2026-06-21T00:00:00Z");
    run(change("4", ChangeTiming::Immediate)).unwrap();
    assert_eq!(all(&fixture.invoices(SETTLED))[0], "00002 issued 2026-06-21: fee 30 = 30");
    // What was invoiced stays.
    let past = change("9", ChangeTiming::EffectiveDate(at("2026-06-11T00:00:00Z")));
    let (kind, text) = refused(fixture, past);
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    // A change that is scheduled has a draft of its own.
    run(change("5", ChangeTiming::EffectiveDate(at("2026-06-26T00:00:00Z")))).unwrap();
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-06-26: fee 5 = 5"]);
}

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
fn what_is_not_there_is_not_found() {
    let fixture = invoiced().fixture;
    let id: InvoiceId = UNKNOWN.parse().unwrap();
    let found = block_on(fixture.account.fetch_invoice(id)).unwrap_err();
    assert_eq!(found.kind(), ErrorKind::ResourceNotFound);
    let (kind, _) = refused(&fixture, fixture.account.void_invoice(id));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}
