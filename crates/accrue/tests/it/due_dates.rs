//! Due dates: what they are counted from, and their recalculation (invoicing 5).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use accrue::{
    Billing, Carried, ErrorKind, Patch, SeededEntropy, Zone,
    account::DueDateBasis,
    customer::AttributeValue,
    invoice::{Invoice, InvoiceStatus, InvoiceUpdate, Payment},
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
    subscription::{BillingAnchor, NewSubscription},
    webhook::Body,
};
use async_trait::async_trait;

use crate::{
    invoices::{DRAFT, SETTLED},
    support::fixture::{Fixture, at, block_on, refused, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

/// An account in a zone whose invoices are issued two days behind their dates.
fn shop(timezone: Zone) -> Fixture {
    let fixture = Fixture::new();
    fixture.configure(|configuration| {
        configuration.features.invoices = true;
        configuration.timezone = timezone;
        configuration.grace_period = std::time::Duration::from_secs(48 * 60 * 60);
    });
    fixture.set(JUNE);
    fixture
}

impl Fixture {
    pub(crate) fn configure(&self, change: impl FnOnce(&mut accrue::account::Configuration)) {
        let mut configuration = block_on(self.account.configuration()).unwrap();
        change(&mut configuration);
        run(self.account.configure(configuration)).unwrap();
    }

    fn count_from(&self, basis: DueDateBasis) {
        self.configure(|configuration| configuration.due_date_basis = basis);
    }

    /// Customers of a fee in arrears and of usage, who have so many days to pay.
    fn open_invoices(&self, customers: usize, net_terms: &str) {
        let metric = self.metric(crate::support::fixture::SUM);
        let prices = [self.usage_at("2", &metric), self.arrear_fee("10")];
        let plan = self.priced_plan(prices.map(Into::into));
        for n in 0..customers {
            let customer = self.customer(&format!("customer {n:03}"));
            let mut new = NewSubscription::new(customer.id, plan.id);
            (new.anchor, new.start_date) = (BillingAnchor::FirstOfMonth, Some(at(JUNE)));
            new.carried = Carried::new([("net_terms", net_terms)]).unwrap();
            run(self.account.create_subscription(new)).unwrap();
        }
        self.tick_at("2026-07-03T00:00:00Z");
        self.messages();
    }

    /// What was told since, with the due dates of before.
    fn told_of_dates(&self) -> Vec<String> {
        let messages = self.messages();
        let told = messages.iter().map(|message| match &message.body {
            Body::InvoiceEdited { previous_attributes, .. } => {
                let AttributeValue::Text(Some(before)) = &previous_attributes["due_date"] else {
                    panic!("{previous_attributes:?}")
                };
                format!("edited, was {}", &before[..10])
            }
            Body::DueDateRecalculationStarted { started_at } => {
                format!("started {}", &started_at.to_string()[..10])
            }
            Body::DueDateRecalculationCompleted { started_at, completed_at } => {
                format!("completed {completed_at} of {started_at}")
            }
            Body::DueDateRecalculationCanceled { started_at, canceled_at } => {
                format!("canceled {canceled_at} of {started_at}")
            }
            other => other.message_type().to_owned(),
        });
        let mut told: Vec<_> = told.collect();
        // Queues are in no order.
        told.sort();
        told.into_iter().map(|text| text.replace("T00:00:00.000000Z", "")).collect()
    }
}

fn due(invoices: &[Invoice]) -> Vec<String> {
    invoices.iter().map(|of| of.due_date.unwrap().to_string()[..13].to_owned()).collect()
}

#[test]
fn invoicing_5_1_days_are_counted_from_the_date_or_from_the_day_of_issue() {
    let check = |basis, expect: &str| {
        let fixture = shop(Zone::parse("America/New_York").unwrap());
        fixture.configure(|configuration| {
            configuration.due_date_basis = basis;
            configuration.grace_period = std::time::Duration::from_secs(24 * 60 * 60);
        });
        fixture.set("2027-02-01T05:00:00Z");
        let metric = fixture.metric(crate::support::fixture::SUM);
        let plan = fixture.priced_plan([fixture.usage_at("2", &metric).into()]);
        let mut new = NewSubscription::new(fixture.customer("ada").id, plan.id);
        (new.anchor, new.start_date) =
            (BillingAnchor::FirstOfMonth, Some(at("2027-02-01T05:00:00Z")));
        new.carried = Carried::new([("net_terms", "30"), ("auto_issuance", "false")]).unwrap();
        run(fixture.account.create_subscription(new)).unwrap();
        let draft = fixture.invoices(DRAFT)[0].id;
        fixture.tick_at("2027-03-02T05:00:07Z");
        let issued = run(fixture.account.issue_invoice(draft)).unwrap();
        assert_eq!(issued.invoice_date, at("2027-03-01T05:00:00Z"));
        assert_eq!(issued.due_date, Some(at(expect)), "{basis:?}");
    };
    // The hour moves with daylight saving.
    check(DueDateBasis::InvoiceDate, "2027-03-31T04:00:00Z");
    check(DueDateBasis::IssueDate, "2027-04-01T04:00:00Z");
}

#[test]
fn invoicing_5_2_three_open_invoices_move_with_the_basis() {
    let fixture = shop(Zone::UTC);
    fixture.open_invoices(3, "30");
    assert_eq!(due(&fixture.invoices(SETTLED)), ["2026-07-31T00"; 3]);
    fixture.count_from(DueDateBasis::IssueDate);
    fixture.tick_at("2026-07-04T00:00:00Z");
    assert_eq!(fixture.told_of_dates(), [""; 0], "nothing moves by itself");
    let started = run(fixture.account.recalculate_due_dates()).unwrap();
    assert_eq!(started.started_at, at("2026-07-04T00:00:00Z"));
    assert_eq!(block_on(fixture.account.due_date_recalculation()).unwrap(), Some(started));
    assert_eq!(due(&fixture.invoices(SETTLED)), ["2026-07-31T00"; 3]);
    fixture.tick_at("2026-07-05T00:00:00Z");
    assert_eq!(due(&fixture.invoices(SETTLED)), ["2026-08-02T00"; 3]);
    assert_eq!(
        fixture.told_of_dates(),
        [
            "completed 2026-07-05 of 2026-07-04",
            "edited, was 2026-07-31",
            "edited, was 2026-07-31",
            "edited, was 2026-07-31",
            "started 2026-07-04",
        ]
    );
    assert_eq!(block_on(fixture.account.due_date_recalculation()).unwrap(), None);
    assert_eq!(
        block_on(fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-08-01T00:00:00Z"))
    );
    // A second one has nothing to move, and moves it back once the basis does.
    run(fixture.account.recalculate_due_dates()).unwrap();
    fixture.tick();
    assert_eq!(
        fixture.told_of_dates(),
        ["completed 2026-07-05 of 2026-07-05", "started 2026-07-05"]
    );
}

/// A store that takes so many commits, and fails behind them.
#[derive(Debug)]
struct Failing {
    store: Arc<MemoryStore>,
    commits: AtomicUsize,
}

#[async_trait]
impl Store for Failing {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let left = self.commits.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        match left {
            Ok(_) => self.store.commit(batch).await,
            Err(_) => Err(StoreError::unavailable("it is gone")),
        }
    }
}

#[test]
fn invoicing_5_2_canceled_after_the_first_of_three_customers_two_keep_their_dates() {
    let fixture = shop(Zone::UTC);
    fixture.open_invoices(3, "30");
    fixture.count_from(DueDateBasis::IssueDate);
    run(fixture.account.recalculate_due_dates()).unwrap();
    let store = Failing { store: Arc::clone(&fixture.store), commits: AtomicUsize::new(1) };
    let one = Billing::new(Arc::new(store), fixture.clock.clone(), SeededEntropy::new(3));
    block_on(one.tick(1)).unwrap_err();
    run(fixture.account.cancel_due_date_recalculation()).unwrap();
    fixture.tick();
    let mut dates = due(&fixture.invoices(SETTLED));
    dates.sort();
    assert_eq!(dates, ["2026-07-31T00", "2026-07-31T00", "2026-08-02T00"]);
    assert_eq!(
        fixture.told_of_dates(),
        ["canceled 2026-07-03 of 2026-07-03", "edited, was 2026-07-31", "started 2026-07-03"]
    );
}

#[test]
fn invoicing_5_2_one_that_is_canceled_goes_no_further() {
    let fixture = shop(Zone::UTC);
    fixture.open_invoices(101, "30");
    fixture.count_from(DueDateBasis::IssueDate);
    run(fixture.account.recalculate_due_dates()).unwrap();
    block_on(fixture.billing.tick(1)).unwrap();
    run(fixture.account.cancel_due_date_recalculation()).unwrap();
    fixture.tick();
    let told = fixture.told_of_dates();
    let edited = told.iter().filter(|of| *of == "edited, was 2026-07-31").count();
    assert_eq!(edited, 100);
    assert_eq!(told.len(), 102);
    assert!(told.contains(&"canceled 2026-07-03 of 2026-07-03".to_owned()), "{told:?}");
    let cancel = || fixture.account.cancel_due_date_recalculation();
    assert_eq!(refused(&fixture, cancel()).0, ErrorKind::ConstraintViolation);

    // A start takes the place of the one that is under way, and begins anew.
    fixture.set("2026-07-04T00:00:00Z");
    run(fixture.account.recalculate_due_dates()).unwrap();
    fixture.set("2026-07-05T00:00:00Z");
    run(fixture.account.recalculate_due_dates()).unwrap();
    fixture.tick();
    assert_eq!(
        fixture.told_of_dates(),
        [
            "canceled 2026-07-05 of 2026-07-04",
            "completed 2026-07-05 of 2026-07-05",
            "edited, was 2026-07-31",
            "started 2026-07-04",
            "started 2026-07-05",
        ]
    );
}

#[test]
fn invoicing_5_2_what_is_paid_void_a_draft_or_has_a_chosen_date_stays() {
    let fixture = shop(Zone::UTC);
    fixture.open_invoices(4, "30");
    let later =
        InvoiceUpdate { due_date: Patch::Set(at("2026-08-15T00:00:00Z")), ..Default::default() };
    let by_hand = fixture.customer("by hand").id;
    let plan = fixture.priced_plan([fixture.arrear_fee("10").into()]);
    run(fixture.account.create_subscription(NewSubscription::new(by_hand, plan.id))).unwrap();
    let drafts = fixture.invoices(DRAFT);
    let chosen = drafts.iter().find(|of| of.customer_id == by_hand).unwrap().id;
    run(fixture.account.update_invoice(chosen, later)).unwrap();
    let open = fixture.invoices(&[InvoiceStatus::Issued]);
    run(fixture.account.mark_invoice_paid(open[0].id, Payment::new(at(JUNE)))).unwrap();
    run(fixture.account.void_invoice(open[1].id)).unwrap();
    fixture.tick_at("2026-08-05T00:00:00Z");
    fixture.messages();
    fixture.count_from(DueDateBasis::IssueDate);
    run(fixture.account.recalculate_due_dates()).unwrap();
    fixture.tick();
    let told = fixture.told_of_dates();
    let count = |text: &str| told.iter().filter(|of| *of == text).count();
    assert_eq!(count("edited, was 2026-07-31"), 2, "{told:?}");
    assert_eq!(count("edited, was 2026-08-31"), 4, "those of July");
    assert_eq!(told.len(), 8);
    let chosen = block_on(fixture.account.fetch_invoice(chosen)).unwrap();
    assert_eq!(chosen.due_date, Some(at("2026-08-15T00:00:00Z")));
}

#[test]
fn invoicing_5_2_a_first_attempt_moves_with_the_date() {
    let fixture = shop(Zone::UTC);
    fixture.open_invoices(1, "30");
    let collected = InvoiceUpdate { auto_collection: Some(true), ..Default::default() };
    run(fixture.account.update_invoice(fixture.invoices(DRAFT)[0].id, collected)).unwrap();
    fixture.tick_at("2026-08-03T00:00:00Z");
    let [august, july] = fixture.invoices(SETTLED).try_into().unwrap();
    assert_eq!(july.auto_collection.next_attempt_at, None);
    assert_eq!(august.auto_collection.next_attempt_at, Some(at("2026-08-31T00:00:00Z")));
    fixture.count_from(DueDateBasis::IssueDate);
    run(fixture.account.recalculate_due_dates()).unwrap();
    fixture.tick();
    let next = || fixture.invoices(SETTLED)[0].auto_collection.next_attempt_at;
    assert_eq!(next(), Some(at("2026-09-02T00:00:00Z")));
    // Not before now; and what is due next is found.
    fixture.tick_at("2026-09-01T12:00:00Z");
    fixture.count_from(DueDateBasis::InvoiceDate);
    run(fixture.account.recalculate_due_dates()).unwrap();
    fixture.tick();
    let collection = block_on(fixture.account.fetch_invoice(august.id)).unwrap().auto_collection;
    assert_eq!(collection.num_attempts, 1, "it began at once");
    assert_eq!(collection.previously_attempted_at, Some(at("2026-09-01T12:00:00Z")));
}
