//! Events of a family that are cut into batches in other ways: the same comes of them (subscriptions 1.5).

use accrue::{
    CustomerId,
    cost::CostQuery,
    credit::LedgerFilter,
    plan::PlanPrice,
    price::NewPrice,
    subscription::{NewSubscription, Subscription},
    usage::Event,
};
use proptest::prelude::*;

use crate::{
    support::{
        credited::{self, CREDITS, dropped, increment},
        fixture::{Fixture, SUM, at, block_on, event, name, number, run, usage_alert},
        priced::{between, cost_alert, unit},
    },
    usage_customers::of as list,
};

/// Customers that use something, the parent first.
const USERS: [&str; 3] = ["parent", "a", "b"];

/// A subscription of a parent that counts what all of them use, with alerts on everything.
struct Watched {
    fixture: Fixture,
    parent: CustomerId,
    subscription: Subscription,
}

fn watched() -> Watched {
    let fixture = Fixture::new();
    let sum = fixture.metric(SUM);
    let distinct = fixture.metric("SELECT count(DISTINCT n) FROM events");
    let mut in_credits = NewPrice { name: name("credits"), ..fixture.usage_at("1", &sum) };
    in_credits.currency = unit(CREDITS);
    let values = NewPrice { name: name("values"), ..fixture.usage_at("3", &distinct) };
    let prices = [fixture.usage_at("0.5", &sum), values, in_credits];
    let plan = fixture.priced_plan(prices.map(PlanPrice::from));
    let parent = fixture.customer("parent").id;
    let [a, b] = ["a", "b"].map(|name| fixture.child(name, parent));
    let mut new = NewSubscription::new(parent, plan.id);
    new.start_date = Some(at("2026-03-01T00:00:00Z"));
    new.usage_customers = Some(list(&[parent, a, b]));
    let subscription = fixture.create(new);
    for alert in [
        usage_alert(sum.id, &["20", "60", "150"]),
        usage_alert(distinct.id, &["2", "4"]),
        cost_alert(&["15", "50"]),
    ] {
        run(fixture.account.create_subscription_alert(subscription.id, alert)).unwrap();
    }
    run(fixture.account.create_ledger_entry(parent, increment("100"))).unwrap();
    run(fixture.account.create_customer_alert(parent, dropped(&["80", "30"]))).unwrap();
    fixture.drain();
    Watched { fixture, parent, subscription }
}

/// The event of a place: by whom, how much, and at which hour.
fn used(place: usize, (who, n, hour): (usize, u32, u32)) -> Event {
    let timestamp = at(&format!("2026-03-10T{hour:02}:00:00Z"));
    event(USERS[who], &place.to_string(), timestamp, &n.to_string())
}

/// What comes of events in batches of some size: what is told, what credits are left, and all figures.
fn outcome(events: &[Event], size: usize) -> Vec<String> {
    let Watched { fixture, parent, subscription } = watched();
    for batch in events.chunks(size) {
        run(fixture.account.ingest(batch.to_vec())).unwrap();
    }
    let mut shown = fixture.told();
    shown.push(fixture.standing(parent, CREDITS));
    let entries = fixture.entries(parent, LedgerFilter::default());
    shown.extend(entries.iter().map(credited::show));
    let march = between("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z").into();
    let whole = CostQuery { timeframe: march, ..CostQuery::default() };
    let costs = [CostQuery::default(), whole].map(|query| fixture.cost(&subscription, &query));
    shown.extend(costs.iter().map(|cost| cost.total.to_string()));
    let usage = block_on(fixture.account.subscription_usage(subscription.id)).unwrap();
    shown.extend(usage.metrics.iter().map(|of| format!("{:?}", of.quantity)));
    shown.extend(fixture.figures(&[]));
    shown
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn subscriptions_1_5_the_cut_into_batches_does_not_matter_for_a_family(
        all in prop::collection::vec((0..USERS.len(), 0_u32..12, 0_u32..12), 1..16),
    ) {
        let events: Vec<_> = all.into_iter().enumerate().map(|(at, of)| used(at, of)).collect();
        let at_once = outcome(&events, events.len());
        for size in [1, 2, 5] {
            prop_assert_eq!(outcome(&events, size), at_once.clone(), "batches of {}", size);
        }
    }
}

#[test]
fn subscriptions_1_5_an_event_of_a_child_fires_by_itself_in_whatever_batch() {
    let all = [(0, 10, 1), (1, 9, 2), (2, 1, 3), (1, 40, 4), (0, 2, 5), (2, 100, 6)];
    let events: Vec<_> = all.into_iter().enumerate().map(|(at, of)| used(at, of)).collect();
    let one_by_one = outcome(&events, 1);
    assert!(one_by_one.contains(&"usage 20: 19 -> 20 by event 2".to_owned()), "{one_by_one:?}");
    for size in [2, 3, events.len()] {
        assert_eq!(outcome(&events, size), one_by_one, "batches of {size}");
    }
    let total: u32 = all.iter().map(|(_, n, _)| n).sum();
    let left = number("100") - number(&total.to_string());
    assert!(one_by_one.iter().any(|line| line.starts_with(&format!("{left}: "))), "{left}");
}
