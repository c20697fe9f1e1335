//! Customers whose usage counts together, beside one customer that has used all of it: the same in all that is
//! computed (subscriptions 1.5).

use std::time::Duration;

use accrue::{
    Clock as _, CustomerId, PropertyName, Timeframe, Timestamp, WrittenDecimal,
    account::Configuration,
    backfill::NewBackfill,
    cost::CostQuery,
    credit::LedgerFilter,
    metric::Metric,
    plan::PlanPrice,
    price::{Charge, GroupedTiered, LowerBoundTier, MaxGroupTieredPackage, Model, NewPrice},
    subscription::{BillingAnchor, NewSubscription, Subscription, UsageCustomers},
    usage::{Amendment, Event, PropertyValue},
};
use proptest::prelude::*;

use crate::{
    corrected::key,
    invoices::{SETTLED, all},
    support::{
        credited::{self, CREDITS, dropped, increment},
        fixture::{Fixture, at, block_on, event, external, name, number, run, usage_alert},
        priced::{between, cost_alert, unit},
    },
};

const SQL: [&str; 4] = [
    "SELECT sum(n) FROM events",
    "SELECT count(DISTINCT user) FROM events",
    "SELECT max(n) FROM events",
    "SELECT latest(n) FROM events",
];

/// Customers that use something.
const USERS: [&str; 3] = ["ada", "bob", "eve"];

/// An account in which usage counts for a subscription of `ada`.
struct World {
    fixture: Fixture,
    metrics: Vec<Metric>,
    ada: CustomerId,
    subscription: Subscription,
    /// Whether all is used by `ada`, and not by her children too.
    is_one: bool,
}

/// An event: who used it, how long ago, how much, and by which user.
#[derive(Clone, Debug)]
struct Used {
    who: usize,
    minutes_ago: u64,
    n: u32,
    user: u8,
}

#[derive(Clone, Debug)]
enum Step {
    Use(Vec<Used>),
    Amend {
        event: usize,
        n: u32,
        user: u8,
    },
    Deprecate {
        event: usize,
    },
    /// A backfill of an event that closes by itself after some hours.
    Backfill(Used, u64),
    Measure,
    Give {
        amount: u32,
    },
    Wait {
        hours: u64,
    },
}

fn used() -> impl Strategy<Value = Used> {
    (0..USERS.len(), 0_u64..1_400, 0_u32..50, 0_u8..4)
        .prop_map(|(who, minutes_ago, n, user)| Used { who, minutes_ago, n, user })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(used(), 1..5).prop_map(Step::Use),
        1 => (0_usize..20, 0_u32..50, 0_u8..4)
            .prop_map(|(event, n, user)| Step::Amend { event, n, user }),
        1 => (0_usize..20).prop_map(|event| Step::Deprecate { event }),
        1 => (used(), 1_u64..100).prop_map(|(used, hours)| Step::Backfill(used, hours)),
        1 => Just(Step::Measure),
        1 => (1_u32..200).prop_map(|amount| Step::Give { amount }),
        3 => (1_u64..400).prop_map(|hours| Step::Wait { hours }),
    ]
}

impl Used {
    fn at(&self, now: Timestamp) -> Timestamp {
        now.saturating_sub(Duration::from_secs(self.minutes_ago * 60))
    }

    /// The minute of it, which a backfill fills.
    fn filled(&self, now: Timestamp) -> Timeframe {
        let at = self.at(now);
        Timeframe::new(at, at.saturating_add(Duration::from_secs(60))).unwrap()
    }
}

impl World {
    fn new(is_one: bool) -> Self {
        let fixture = Fixture::new();
        let mut configuration = Configuration::default();
        configuration.features.invoices = true;
        run(fixture.account.configure(configuration)).unwrap();
        let metrics: Vec<_> = SQL.iter().map(|sql| fixture.metric(sql)).collect();
        let mut in_credits = fixture.usage_at("1", &metrics[0]);
        in_credits.currency = unit(CREDITS);
        let prices = [
            fixture.usage_at("0.5", &metrics[0]),
            NewPrice { name: name("users"), ..fixture.usage_at("3", &metrics[1]) },
            NewPrice { name: name("regions"), ..fixture.by_region(&metrics[2], 2) },
            NewPrice { name: name("credits"), ..in_credits },
            by_user(&fixture, &metrics[0]),
            NewPrice { currency: unit(CREDITS), ..largest_region(&fixture, &metrics[1]) },
        ];
        let plan = fixture.priced_plan(prices.map(PlanPrice::from));
        let ada = fixture.customer("ada").id;
        let children = ["bob", "eve"].map(|name| fixture.child(name, ada));
        let mut new = NewSubscription::new(ada, plan.id);
        new.anchor = BillingAnchor::SubscriptionStart;
        new.start_date = Some(at("2026-03-09T00:00:00Z"));
        if !is_one {
            let [bob, eve] = children;
            new.usage_customers = Some(UsageCustomers::new([ada, bob, eve]).unwrap());
        }
        let subscription = run(fixture.account.create_subscription(new)).unwrap();
        let world = Self { fixture, metrics, ada, subscription, is_one };
        for alert in [
            usage_alert(world.metrics[0].id, &["40", "100", "300"]),
            usage_alert(world.metrics[1].id, &["2", "3"]),
            usage_alert(world.metrics[3].id, &["20"]),
            cost_alert(&["30", "100"]),
        ] {
            run(world.fixture.account.create_subscription_alert(world.subscription.id, alert))
                .unwrap();
        }
        let balance = dropped(&["50", "10"]);
        run(world.fixture.account.create_customer_alert(ada, balance)).unwrap();
        world
    }

    fn who(&self, used: &Used) -> &'static str {
        if self.is_one { USERS[0] } else { USERS[used.who] }
    }

    fn event(&self, key: &str, used: &Used, now: Timestamp) -> Event {
        let mut event = event(self.who(used), key, used.at(now), &used.n.to_string());
        event.properties = properties(used.n, used.user);
        event
    }

    /// All that somebody may ask for, once all is done that time has brought.
    fn shown(&self) -> Vec<String> {
        let (fixture, id) = (&self.fixture, self.subscription.id);
        fixture.tick();
        let mut shown = fixture.told();
        for timeframe in [
            between("2026-03-09T00:00:00Z", "2026-04-09T00:00:00Z"),
            between("2026-03-09T12:10:00Z", "2026-05-10T11:05:00Z"),
        ] {
            let query = CostQuery { timeframe: timeframe.into(), ..CostQuery::default() };
            shown.push(fixture.cost(&self.subscription, &query).total.to_string());
        }
        let current = fixture.cost(&self.subscription, &CostQuery::default());
        shown.push(format!("current {}", current.total));
        let usage = block_on(fixture.account.subscription_usage(id)).unwrap();
        shown.extend(
            usage.metrics.iter().map(|of| format!("{} {:?}", of.name.as_str(), of.quantity)),
        );
        shown.push(fixture.standing(self.ada, CREDITS));
        let entries = fixture.entries(self.ada, LedgerFilter::default());
        shown.extend(entries.iter().map(credited::show));
        shown.extend(all(&fixture.invoices(SETTLED)));
        shown
    }
}

fn property(name: &str) -> PropertyName {
    PropertyName::parse(name).unwrap()
}

fn tiers(bound: &str, amounts: [&str; 2]) -> Vec<LowerBoundTier> {
    let written = |text: &str| WrittenDecimal::parse(text).unwrap();
    let tiers = ["0", bound].into_iter().zip(amounts).map(|(bound, amount)| LowerBoundTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    });
    tiers.collect()
}

/// Tiers of each user, which invoices show by region.
fn by_user(fixture: &Fixture, metric: &Metric) -> NewPrice {
    let model =
        GroupedTiered { grouping_key: property("user"), tiers: tiers("30", ["0.2", "0.1"]) };
    NewPrice {
        name: name("by user"),
        charge: Charge::Usage { metric_id: metric.id, model: Model::GroupedTiered(model) }.into(),
        invoice_grouping_key: Some(property("region")),
        ..fixture.usage_at("1", metric)
    }
}

/// The region that the most users were in.
fn largest_region(fixture: &Fixture, metric: &Metric) -> NewPrice {
    let model = MaxGroupTieredPackage {
        grouping_key: property("region"),
        package_size: 1,
        tiers: tiers("1", ["7", "2"]),
    };
    let model = Model::MaxGroupTieredPackage(model);
    NewPrice {
        name: name("largest region"),
        charge: Charge::Usage { metric_id: metric.id, model }.into(),
        ..fixture.usage_at("1", metric)
    }
}

fn properties(n: u32, user: u8) -> accrue::usage::Properties {
    let n = PropertyValue::from(number(&n.to_string()));
    let region = PropertyValue::from(format!("region {}", user % 3).as_str());
    let user = PropertyValue::from(user.to_string().as_str());
    let all = [("n", n), ("region", region), ("user", user)];
    all.map(|(name, value)| (property(name), value)).into_iter().collect()
}

/// Takes a step in a world. Returns whether it was taken.
fn take(world: &World, place: usize, step: &Step, events: &[(String, Used, Timestamp)]) -> bool {
    let (account, now) = (&world.fixture.account, world.fixture.clock.now());
    match step {
        Step::Use(all) => {
            let all = all.iter().enumerate();
            let all = all.map(|(of, used)| world.event(&format!("{place} {of}"), used, now));
            run(account.ingest(all.collect::<Vec<_>>())).is_ok()
        }
        Step::Amend { event, n, user } => {
            let Some((id, used, at)) = events.get(*event) else { return false };
            let before = world.event(id, used, *at);
            let amendment = Amendment {
                event_name: before.event_name,
                timestamp: before.timestamp,
                properties: properties(*n, *user),
                customer: before.customer,
            };
            run(account.amend_event(key(id), amendment)).is_ok()
        }
        Step::Deprecate { event } => {
            let Some((id, ..)) = events.get(*event) else { return false };
            run(account.deprecate_event(key(id))).is_ok()
        }
        Step::Backfill(used, hours) => {
            let event = world.event(&format!("{place} filled"), used, now);
            let mut new = NewBackfill::new(used.filled(now));
            new.replace_existing_events = false;
            // No two close at one instant: which comes first would be up to their ids.
            let apart = Duration::from_micros(place.try_into().unwrap());
            let closes = now.saturating_add(Duration::from_secs(hours * 3_600));
            new.close_time = Some(closes.saturating_add(apart));
            new.customer = Some(external(world.who(used)).into());
            let backfill = run(account.create_backfill(new)).unwrap();
            run(account.ingest_backfill(backfill.id, [event])).is_ok()
        }
        Step::Measure => {
            world.fixture.metric(&format!("SELECT min(n) FROM events WHERE n <> {place}"));
            true
        }
        Step::Give { amount } => {
            run(account.create_ledger_entry(world.ada, increment(&amount.to_string()))).is_ok()
        }
        Step::Wait { hours } => {
            world.fixture.clock.advance(Duration::from_secs(hours * 3_600));
            true
        }
    }
}

fn check(steps: &[Step]) {
    let worlds = [World::new(true), World::new(false)];
    let mut events: Vec<(String, Used, Timestamp)> = Vec::new();
    let mut filled: Vec<Timeframe> = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        let now = worlds[0].fixture.clock.now();
        if let Step::Backfill(used, _) = step {
            // Of one customer none may overlap another one.
            let timeframe = used.filled(now);
            if filled.iter().any(|of| of.start() < timeframe.end() && timeframe.start() < of.end())
            {
                continue;
            }
            filled.push(timeframe);
        }
        let taken = worlds.each_ref().map(|world| take(world, place, step, &events));
        assert_eq!(taken[0], taken[1], "{place} {step:?}");
        if let (Step::Use(all), true) = (step, taken[0]) {
            let all = all.iter().enumerate();
            events.extend(all.map(|(of, used)| (format!("{place} {of}"), used.clone(), now)));
        }
        // What time has brought is done by whoever comes next: of these two, not always at the same step.
        if let Step::Wait { hours: 0..200 } = step {
            let [one, family] = worlds.each_ref().map(World::shown);
            assert_eq!(family, one, "{place} {step:?}");
        }
    }
    let [one, family] = worlds.each_ref().map(World::shown);
    assert_eq!(family, one);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn subscriptions_1_5_usage_of_several_counts_as_if_it_were_one_customers(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        check(&steps);
    }
}
