//! Groups of usage that customers of a list have together (price models 5, subscriptions 1.5).

use accrue::{
    CustomerId, Patch, PropertyName, WrittenDecimal, limits,
    metric::Metric,
    price::{Charge, GroupedTiered, LowerBoundTier, Model, NewPrice},
    subscription::{IntervalChanges, NewSubscription, PriceIntervalEdit, Subscription},
    usage::{Amendment, Event},
};

use crate::{
    support::{
        fixture::{Fixture, NOON, at, block_on, event, name, run},
        priced::cost_alert,
    },
    usage_customers::{Family, family, of as list},
};

/// 2 for each unit of a user, and 1 for each beyond 10.
fn by_user(fixture: &Fixture, metric: &Metric) -> NewPrice {
    let tier = |bound, amount| LowerBoundTier {
        tier_lower_bound: WrittenDecimal::parse(bound).unwrap(),
        unit_amount: WrittenDecimal::parse(amount).unwrap(),
    };
    let model =
        GroupedTiered { grouping_key: user(), tiers: vec![tier("0", "2"), tier("10", "1")] };
    let charge = Charge::Usage { metric_id: metric.id, model: Model::GroupedTiered(model) };
    NewPrice { charge: charge.into(), ..fixture.usage_at("1", metric) }
}

fn user() -> PropertyName {
    PropertyName::parse("user").unwrap()
}

fn used(customer: &str, key: &str, n: &str, by: &str) -> Event {
    let mut event = event(customer, key, at(NOON), n);
    let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = known.chain([(user(), by.into())]).collect();
    event
}

impl Family {
    /// Subscribes the parent to prices by user, each with the usage of some customers, and watches the cost.
    fn grouped(&self, lists: &[&[CustomerId]], thresholds: &[&str]) -> Subscription {
        let account = &self.fixture.account;
        let metric = block_on(account.fetch_metric(self.metric)).unwrap();
        let prices = (1..=lists.len()).map(|number| {
            let name = name(&format!("price {number}"));
            NewPrice { name, ..by_user(&self.fixture, &metric) }.into()
        });
        let plan = self.fixture.priced_plan(prices.collect::<Vec<_>>());
        let mut new = NewSubscription::new(self.parent, plan.id);
        new.start_date = Some(at("2026-03-01T00:00:00Z"));
        let made = self.fixture.create(new);
        let edits = made.price_intervals.iter().zip(lists).map(|(interval, ids)| {
            let usage_customers = Patch::Set(list(ids));
            PriceIntervalEdit { usage_customers, ..PriceIntervalEdit::new(interval.id) }
        });
        let changes = IntervalChanges { edit: edits.collect(), ..IntervalChanges::default() };
        let made = run(account.change_intervals(made.id, changes)).unwrap();
        run(account.create_subscription_alert(made.id, cost_alert(thresholds))).unwrap();
        made
    }

    fn ingest(&self, events: impl IntoIterator<Item = Event>) {
        run(self.fixture.account.ingest(events)).unwrap();
    }
}

#[test]
fn two_lists_of_a_subscription_share_no_group() {
    let of = family();
    let lists: [&[CustomerId]; 3] = [&[of.parent, of.a, of.b], &[of.a], &[of.b]];
    let made = of.grouped(&lists, &["40", "54", "69"]);
    of.ingest([used("a", "1", "12", "bob"), used("b", "2", "3", "bob")]);
    assert_eq!(of.total(&made), "53", "15 of bob are 25, 12 are 22, and 3 are 6");
    assert_eq!(of.fixture.told(), ["cost 40: none -> 44 by event 1"]);
    of.ingest([used("parent", "3", "1", "bob"), used("parent", "4", "1", "eve")]);
    assert_eq!(of.total(&made), "56", "1 of bob above 10, and 1 of eve");
    let of_eve = used("b", "2", "3", "eve");
    let amendment = Amendment {
        event_name: of_eve.event_name,
        timestamp: of_eve.timestamp,
        properties: of_eve.properties,
        customer: of_eve.customer,
    };
    run(of.fixture.account.amend_event(of_eve.idempotency_key, amendment)).unwrap();
    assert_eq!(of.total(&made), "59", "bob has 13 and eve 4, 12 of bob, and 3 of eve");
    of.ingest([used("a", "5", "1", "eve")]);
    assert_eq!(of.total(&made), "63");
    assert_eq!(of.fixture.told(), ["cost 54: 53 -> 54 by event 3"]);
    of.ingest([used("b", "6", "2", "bob"), used("b", "7", "1", "eve")]);
    assert_eq!(of.total(&made), "73", "2 and 2 more of all, 4 and 2 of b");
    assert_eq!(of.fixture.told(), ["cost 69: 63 -> 69 by event 6"]);
}

#[test]
fn customers_of_a_list_have_at_most_so_many_groups_together() {
    let of = family();
    let made = of.grouped(&[&[of.a, of.b]], &["100000"]);
    let most = limits::GROUPS;
    for (customer, numbers) in [("a", 0..most / 2), ("b", most / 2..most)] {
        let each = |number| used(customer, &format!("{number}"), "1", &format!("user-{number}"));
        of.ingest(numbers.map(each));
    }
    let batch = [
        used("a", "known of b", "1", &format!("user-{}", most - 1)),
        used("b", "beyond", "1", "one more"),
        used("parent", "own", "1", "of nobody else"),
    ];
    let error = run(of.fixture.account.ingest(batch.clone())).unwrap_err();
    let [refused] = error.refused_events() else { panic!("{error}") };
    assert_eq!((refused.index, refused.idempotency_key.as_deref()), (1, Some("beyond")));
    let [known, _, own] = batch;
    of.ingest([known, own]);
    assert_eq!(of.total(&made), "2002");
}
