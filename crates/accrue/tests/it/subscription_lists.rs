//! Lists of subscriptions by customer, plan, status and time of creation.

use std::sync::Arc;

use accrue::{
    AccountId, Billing, CustomerId, ErrorKind, InstantRange, PageRequest, SeededEntropy,
    SubscriptionId,
    customer::Customer,
    plan::{NewPlan, Plan},
    subscription::{Cancellation, NewSubscription, SubscriptionFilter, SubscriptionStatus},
};

use proptest::prelude::*;

use crate::support::{
    counting::Counting,
    fixture::{Fixture, UNKNOWN, at, block_on, external, name, run, usd},
};

/// Three customers and two plans, and eight subscriptions, a second after each other.
struct Lists {
    fixture: Fixture,
    customers: [Customer; 3],
    plans: [Plan; 2],
    ids: Vec<SubscriptionId>,
}

/// Whose each subscription is, and to what.
const OF: [(usize, usize); 8] = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 0), (1, 0), (0, 1)];

fn lists() -> Lists {
    let fixture = Fixture::new();
    let customers = ["ada", "bob", "eve"].map(|external| fixture.customer(external));
    let mut new = NewPlan::new(name("two"), usd());
    new.external_plan_id = Some(external("two"));
    let plans = [fixture.plan(), run(fixture.account.create_plan(new)).unwrap()];
    let create = |(customer, plan): (usize, usize)| {
        fixture.clock.advance(std::time::Duration::from_secs(1));
        fixture.subscribe(customers[customer].id, &plans[plan]).id
    };
    let ids = OF.into_iter().map(create).collect();
    Lists { fixture, customers, plans, ids }
}

impl Lists {
    /// The places of the subscriptions that a walk finds, in its order, the same for pages of any
    /// length.
    fn walk(&self, filter: &SubscriptionFilter) -> Vec<usize> {
        let walks = [1, 2, 3, 100].map(|limit| {
            let mut page = PageRequest::first(limit).unwrap();
            let mut all = Vec::new();
            loop {
                let list = self.fixture.account.list_subscriptions(filter, &page);
                let found = block_on(list).unwrap();
                assert!(found.data.len() <= limit);
                assert!(!found.has_more() || !found.data.is_empty());
                let place = |id| self.ids.iter().position(|of| *of == id).unwrap();
                all.extend(found.data.iter().map(|found| place(found.id)));
                match found.next_cursor {
                    Some(cursor) => page = page.after(cursor),
                    None => return all,
                }
            }
        });
        let [walk, rest @ ..] = walks;
        assert!(rest.iter().all(|other| *other == walk));
        walk
    }

    fn of(&self, customers: &[usize]) -> SubscriptionFilter {
        let customers = customers.iter().map(|index| self.customers[*index].id.into());
        SubscriptionFilter { customers: customers.collect(), ..Default::default() }
    }
}

#[test]
fn several_customers_are_merged_newest_first() {
    let lists = lists();
    assert_eq!(lists.walk(&lists.of(&[])), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert_eq!(lists.walk(&lists.of(&[0])), [7, 5, 2, 0]);
    assert_eq!(lists.walk(&lists.of(&[0, 1])), [7, 6, 5, 4, 2, 1, 0]);
    assert_eq!(lists.walk(&lists.of(&[2, 1])), [6, 4, 3, 1]);
    assert_eq!(lists.walk(&lists.of(&[2, 2, 2])), [3]);
    let mut both = lists.of(&[1]);
    both.customers.extend([external("bob").into(), external("eve").into()]);
    assert_eq!(lists.walk(&both), [6, 4, 3, 1], "each once");
}

#[test]
fn what_is_not_there_matches_nothing() {
    let lists = lists();
    let filter = SubscriptionFilter::default;
    let nobody = vec![external("nobody").into()];
    assert!(lists.walk(&SubscriptionFilter { customers: nobody, ..filter() }).is_empty());
    let unknown = vec![UNKNOWN.parse::<CustomerId>().unwrap().into(), external("eve").into()];
    assert_eq!(lists.walk(&SubscriptionFilter { customers: unknown, ..filter() }), [3]);
    let no_plan = Some(external("three").into());
    assert!(lists.walk(&SubscriptionFilter { plan: no_plan.clone(), ..filter() }).is_empty());
    assert!(lists.walk(&SubscriptionFilter { plan: no_plan, ..lists.of(&[0]) }).is_empty());
    let no_plan = Some(UNKNOWN.parse::<accrue::PlanId>().unwrap().into());
    assert!(lists.walk(&SubscriptionFilter { plan: no_plan, ..filter() }).is_empty());
    run(lists.fixture.account.delete_customer(lists.customers[0].id)).unwrap();
    assert_eq!(lists.walk(&lists.of(&[0, 2])), [3]);
}

#[test]
fn a_plan_is_named_by_its_id_or_external_id() {
    let lists = lists();
    for plan in [lists.plans[1].id.into(), external("two").into()] {
        let filter = SubscriptionFilter { plan: Some(plan), ..Default::default() };
        assert_eq!(lists.walk(&filter), [7, 4, 2]);
        assert_eq!(
            lists.walk(&SubscriptionFilter { customers: lists.of(&[0, 2]).customers, ..filter }),
            [7, 2]
        );
    }
}

#[test]
fn a_status_is_that_of_now() {
    let lists = lists();
    let account = &lists.fixture.account;
    run(account.cancel_subscription(lists.ids[2], Cancellation::Immediate)).unwrap();
    let end = Cancellation::RequestedDate(at("2026-04-01T00:00:00Z"));
    run(account.cancel_subscription(lists.ids[6], end)).unwrap();
    let mut new = NewSubscription::new(lists.customers[2].id, lists.plans[0].id);
    new.start_date = Some(at("2026-05-01T00:00:00Z"));
    let mut lists = lists;
    lists.fixture.clock.advance(std::time::Duration::from_secs(1));
    lists.ids.push(lists.fixture.create(new).id);
    let check = |status, expect: &[usize]| {
        let filter = SubscriptionFilter { statuses: vec![status], ..Default::default() };
        assert_eq!(lists.walk(&filter), expect);
    };
    check(SubscriptionStatus::Active, &[7, 6, 5, 4, 3, 1, 0]);
    check(SubscriptionStatus::Ended, &[2]);
    check(SubscriptionStatus::Upcoming, &[8]);
    // Whether or not anybody has applied it.
    lists.fixture.set("2026-05-01T00:00:00Z");
    check(SubscriptionStatus::Active, &[8, 7, 5, 4, 3, 1, 0]);
    check(SubscriptionStatus::Ended, &[6, 2]);
    check(SubscriptionStatus::Upcoming, &[]);
    let of_ada =
        SubscriptionFilter { statuses: vec![SubscriptionStatus::Active], ..lists.of(&[0, 1]) };
    assert_eq!(lists.walk(&of_ada), [7, 5, 4, 1, 0]);
}

#[test]
fn a_time_of_creation_bounds_every_index() {
    let lists = lists();
    let third = block_on(lists.fixture.account.fetch_subscription(lists.ids[3])).unwrap();
    let created = InstantRange::default().at_or_after(third.created_at);
    let check = |filter: SubscriptionFilter, expect: &[usize]| {
        assert_eq!(lists.walk(&SubscriptionFilter { created, ..filter }), expect);
    };
    check(SubscriptionFilter::default(), &[7, 6, 5, 4, 3]);
    check(lists.of(&[0, 2]), &[7, 5, 3]);
    let plan = Some(lists.plans[1].id.into());
    check(SubscriptionFilter { plan, ..Default::default() }, &[7, 4]);
}

#[test]
fn a_filter_names_at_most_100_customers_and_a_cursor_is_good_for_it_alone() {
    let lists = lists();
    let account = &lists.fixture.account;
    let of = |count| SubscriptionFilter {
        customers: vec![external("ada").into(); count],
        ..Default::default()
    };
    assert_eq!(lists.walk(&of(100)), [7, 5, 2, 0]);
    let refused = block_on(account.list_subscriptions(&of(101), &PageRequest::default()));
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RequestValidation);
    assert_eq!(refused.violations()[0].message, "found 101 customers, expected at most 100");
    let first = PageRequest::first(1).unwrap();
    let page = block_on(account.list_subscriptions(&of(1), &first)).unwrap();
    let next = first.after(page.next_cursor.unwrap());
    for other in [lists.of(&[2]), lists.of(&[0, 2]), SubscriptionFilter::default()] {
        let refused = block_on(account.list_subscriptions(&other, &next)).unwrap_err();
        assert_eq!(refused.violations()[0].field, "cursor");
    }
}

#[test]
fn a_cursor_is_good_in_whatever_order_the_filter_names_things_and_how_often() {
    use SubscriptionStatus::{Active, Ended};
    let lists = lists();
    let account = &lists.fixture.account;
    let filter = |customers, statuses| SubscriptionFilter { statuses, ..lists.of(customers) };
    let first = PageRequest::first(2).unwrap();
    let one = filter(&[0, 2], vec![Active, Ended]);
    let page = block_on(account.list_subscriptions(&one, &first)).unwrap();
    let next = first.after(page.next_cursor.unwrap());
    let rest = |filter| block_on(account.list_subscriptions(&filter, &next)).unwrap();
    let expect = rest(one);
    let ids: Vec<_> = expect.data.iter().map(|of| of.id).collect();
    assert_eq!(ids, [lists.ids[3], lists.ids[2]]);
    for same in [
        filter(&[2, 0], vec![Ended, Active]),
        filter(&[0, 2, 0, 2, 2], vec![Active, Active, Ended, Active]),
    ] {
        assert_eq!(rest(same), expect);
    }
}

#[test]
fn a_page_costs_one_read_for_each_batch_of_rows() {
    let lists = lists();
    let store = Arc::new(Counting::on(Arc::clone(&lists.fixture.store)));
    let clock = lists.fixture.clock.clone();
    let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(7));
    let account = billing.account(AccountId::parse("acme").unwrap());
    let cost = |status, limit| {
        let filter = SubscriptionFilter { statuses: vec![status], ..Default::default() };
        let page = PageRequest::first(limit).unwrap();
        store.reset();
        let found = block_on(account.list_subscriptions(&filter, &page)).unwrap();
        (found.data.len(), store.calls(), store.keys())
    };
    // What time has changed, the index, its rows, their three customers, and that there are no more.
    assert_eq!(cost(SubscriptionStatus::Ended, 100), (0, 2, 0), "there are none");
    assert_eq!(cost(SubscriptionStatus::Active, 100), (8, 5, 19));
    assert_eq!(
        cost(SubscriptionStatus::Active, 4),
        (4, 4, 13),
        "five rows and their terms, and their customers"
    );
}

/// What changes a status, and when whoever asks has been there: the list is that of a filter over all.
#[derive(Clone, Debug)]
enum Step {
    Subscribe { starts_in: u64 },
    Cancel { index: usize, ends_in: u64 },
    TakeBack { index: usize },
    Pass { hours: u64 },
    Tick,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0_u64..5).prop_map(|starts_in| Step::Subscribe { starts_in }),
        (0_usize..9, 0_u64..5).prop_map(|(index, ends_in)| Step::Cancel { index, ends_in }),
        (0_usize..9).prop_map(|index| Step::TakeBack { index }),
        (0_u64..3).prop_map(|hours| Step::Pass { hours }),
        Just(Step::Tick),
    ];
    prop::collection::vec(step, 1..24)
}

impl Lists {
    fn take(&mut self, step: Step) {
        const HOUR: std::time::Duration = std::time::Duration::from_secs(60 * 60);
        let account = self.fixture.account.clone();
        let within = |hours: u64| {
            let hours = HOUR * u32::try_from(hours).unwrap();
            accrue::Clock::now(&self.fixture.clock).saturating_add(hours)
        };
        match step {
            Step::Subscribe { starts_in } => {
                let customer = &self.customers[self.ids.len() % 3];
                let mut new = NewSubscription::new(customer.id, self.plans[0].id);
                new.start_date = Some(within(starts_in));
                self.ids.push(self.fixture.create(new).id);
            }
            // What cannot be is refused.
            Step::Cancel { index, ends_in } => {
                let end = match ends_in {
                    0 => Cancellation::Immediate,
                    _ => Cancellation::RequestedDate(within(ends_in)),
                };
                let id = self.ids[index % self.ids.len()];
                drop(run(account.cancel_subscription(id, end)));
            }
            Step::TakeBack { index } => {
                let id = self.ids[index % self.ids.len()];
                drop(run(account.unschedule_cancellation(id)));
            }
            Step::Pass { hours } => {
                self.fixture.clock.advance(HOUR * u32::try_from(hours).unwrap());
            }
            Step::Tick => drop(block_on(self.fixture.billing.tick(2)).unwrap()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_list_by_status_is_all_that_stand_so_now(steps in steps()) {
        use SubscriptionStatus::{Active, Ended, Upcoming};
        let mut lists = lists();
        for step in steps {
            lists.take(step);
            let now = accrue::Clock::now(&lists.fixture.clock);
            let status = |id: &SubscriptionId| {
                block_on(lists.fixture.account.fetch_subscription(*id)).unwrap().status(now)
            };
            let standing: Vec<_> = lists.ids.iter().map(status).collect();
            for statuses in [vec![Upcoming], vec![Active], vec![Ended], vec![Ended, Upcoming]] {
                let newest_first = (0..standing.len()).rev();
                let mut expect: Vec<_> =
                    newest_first.filter(|at| statuses.contains(&standing[*at])).collect();
                let filter = SubscriptionFilter { statuses, ..Default::default() };
                let mut found = lists.walk(&filter);
                // Of one instant, ids tell the order.
                expect.sort_unstable();
                found.sort_unstable();
                prop_assert_eq!(found, expect);
            }
        }
    }
}

#[test]
fn at_most_10000_subscriptions_are_looked_at_for_a_page() {
    let fixture = Fixture::new();
    let plan = fixture.plan();
    for customer in 0..1_000 {
        let id = fixture.customer(&format!("c{customer}")).id;
        (0..10).for_each(|_| drop(fixture.subscribe(id, &plan)));
    }
    let ask = |filter: &SubscriptionFilter, limit| {
        let page = PageRequest::first(limit).unwrap();
        block_on(fixture.account.list_subscriptions(filter, &page))
    };
    let upcoming =
        |filter| SubscriptionFilter { statuses: vec![SubscriptionStatus::Upcoming], ..filter };
    let all = upcoming(SubscriptionFilter::default());
    let of_plan = upcoming(SubscriptionFilter { plan: Some(plan.id.into()), ..Default::default() });
    assert_eq!(ask(&of_plan, 100).unwrap().data, []);

    fixture.clock.advance(std::time::Duration::from_secs(1));
    let ada = fixture.customer("ada").id;
    let last = fixture.subscribe(ada, &plan);
    for limit in [20, 100] {
        let refused = ask(&of_plan, limit).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TooManyResults);
    }
    // A status alone is found by its index, however many there are of others.
    assert_eq!(ask(&all, 100).unwrap().data, []);
    run(fixture.account.cancel_subscription(last.id, Cancellation::Immediate)).unwrap();
    let ended = vec![SubscriptionStatus::Ended];
    let ended = SubscriptionFilter { statuses: ended, ..Default::default() };
    assert_eq!(ask(&ended, 100).unwrap().data.len(), 1);
    let created = InstantRange::default().at_or_after(last.created_at);
    assert_eq!(ask(&SubscriptionFilter { created, ..of_plan }, 100).unwrap().data, []);
    assert_eq!(ask(&SubscriptionFilter::default(), 100).unwrap().data.len(), 100);
    let of_two = [ada.into(), external("c7").into()];
    let of_two = SubscriptionFilter { customers: of_two.into(), ..Default::default() };
    assert_eq!(ask(&of_two, 100).unwrap().data.len(), 11);
    assert_eq!(ask(&upcoming(of_two), 1).unwrap().data, []);
}
