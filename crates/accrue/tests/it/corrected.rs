//! A customer whose events are amended and deprecated, measured by all six aggregates, beside a naive
//! model of what they come to.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use accrue::{
    Call, Clock as _, CustomerId, Decimal, EventKey, EventName, PropertyName, Timeframe, Timestamp,
    cost::CostQuery,
    metric::Metric,
    price::NewPrice,
    subscription::Subscription,
    usage::{Amendment, Event, EventVolumeQuery, Properties, PropertyValue},
};
use proptest::prelude::*;

use crate::support::fixture::{Fixture, at, block_on, event, external, name, number, run};

const SQL: [&str; 6] = [
    "SELECT count(*) FROM events WHERE event_name = 'call'",
    "SELECT sum(n) FROM events",
    "SELECT min(n) FROM events",
    "SELECT max(n) FROM events",
    "SELECT latest(n) FROM events",
    "SELECT count(DISTINCT user) FROM events",
];

/// What an event says, but for its instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) n: Option<String>,
    pub(crate) region: Option<String>,
    pub(crate) user: Option<String>,
    /// Whether its name is another than the one that is counted.
    pub(crate) is_other: bool,
}

/// An event with a number, a region and a user; those that are empty are missing.
pub(crate) fn said(n: &str, region: &str, user: &str) -> Said {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Said { n: given(n), region: given(region), user: given(user), is_other: false }
}

impl Said {
    fn event_name(&self) -> EventName {
        EventName::parse(if self.is_other { "other" } else { "call" }).unwrap()
    }

    fn properties(&self) -> Properties {
        let n = self.n.as_ref().map(|n| ("n", PropertyValue::from(number(n))));
        let region = self.region.as_ref().map(|text| ("region", text.as_str().into()));
        let user = self.user.as_ref().map(|text| ("user", text.as_str().into()));
        let all = [n, region, user].into_iter().flatten();
        all.map(|(name, value)| (PropertyName::parse(name).unwrap(), value)).collect()
    }

    fn number(&self) -> Option<Decimal> {
        self.n.as_deref().map(number)
    }
}

pub(crate) fn key(text: &str) -> EventKey {
    EventKey::parse(text).unwrap()
}

/// A customer `ada` with two subscriptions of which one begins within a quarter of an hour.
pub(crate) struct Corrected {
    pub(crate) fixture: Fixture,
    pub(crate) customer: CustomerId,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) subscriptions: Vec<Subscription>,
}

impl Corrected {
    /// At six in the evening of the 10th of March 2026: sums and users are rated by region.
    pub(crate) fn new() -> Self {
        let fixture = Fixture::new();
        let metrics: Vec<_> = SQL.iter().map(|sql| fixture.metric(sql)).collect();
        let by_region = |metric: &Metric, text: &str| {
            let price = fixture.by_region(metric, 2);
            NewPrice { name: name(text), ..price }.into()
        };
        let prices = [by_region(&metrics[1], "sum"), by_region(&metrics[5], "users")];
        let plan = fixture.priced_plan(prices);
        let customer = fixture.customer("ada").id;
        fixture.set("2026-03-10T18:00:00Z");
        let starts = ["2026-03-10T12:00:00Z", "2026-03-10T15:07:30Z"];
        let subscriptions =
            starts.map(|start| fixture.subscribe_from(customer, &plan, Some(start)));
        fixture.messages();
        Self { fixture, customer, metrics, subscriptions: subscriptions.into() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.fixture.clock.now()
    }

    pub(crate) fn event(&self, id: &str, at: Timestamp, said: &Said) -> Event {
        let (event_name, properties) = (said.event_name(), said.properties());
        Event { event_name, properties, ..event("ada", id, at, "") }
    }

    pub(crate) fn ingest(&self, id: &str, at: Timestamp, said: &Said) {
        run(self.fixture.account.ingest([self.event(id, at, said)])).unwrap();
    }

    pub(crate) fn amendment(&self, at: Timestamp, said: &Said) -> Amendment {
        Amendment {
            event_name: said.event_name(),
            timestamp: at,
            properties: said.properties(),
            customer: external("ada").into(),
        }
    }

    pub(crate) fn amend(&self, id: &str, at: Timestamp, said: &Said) -> Call<EventKey> {
        self.fixture.account.amend_event(key(id), self.amendment(at, said))
    }

    pub(crate) fn deprecate(&self, id: &str) -> Call<EventKey> {
        self.fixture.account.deprecate_event(key(id))
    }

    /// The figures of the current billing period of a subscription.
    pub(crate) fn figures(&self, subscription: usize) -> Vec<Option<String>> {
        let of = &self.subscriptions[subscription];
        self.metrics.iter().map(|metric| self.fixture.usage(of, metric)).collect()
    }

    /// What the cells of the matrices hold, those in no region last.
    pub(crate) fn cells(&self, subscription: usize) -> Vec<Vec<String>> {
        let cost = self.fixture.cost(&self.subscriptions[subscription], &CostQuery::default());
        let parts = cost.lines.iter().map(|line| &line.parts);
        parts.map(|parts| parts.iter().map(|part| part.quantity.to_string()).collect()).collect()
    }

    /// How many events count in the hours of March.
    pub(crate) fn volume(&self) -> Vec<(Timestamp, u64)> {
        let query = EventVolumeQuery {
            timeframe_start: at("2026-03-01T00:00:00Z"),
            timeframe_end: Some(at("2026-04-10T00:00:00Z")),
        };
        let (mut hours, mut page) = (Vec::new(), accrue::PageRequest::first(100).unwrap());
        loop {
            let found = block_on(self.fixture.account.event_volume(query, &page)).unwrap();
            let with_events = found.data.iter().filter(|hour| hour.count > 0);
            hours.extend(with_events.map(|hour| (hour.timeframe.start(), hour.count)));
            let Some(next) = found.next_cursor else { return hours };
            page = page.after(next);
        }
    }

    /// The rows that figures are kept in, without what wrote them.
    pub(crate) fn kept(&self) -> Vec<String> {
        self.fixture.figures(&["event_volume", "calendar", "overlay"])
    }
}

/// The events that count, as they are now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Naive(pub(crate) BTreeMap<String, (Timestamp, Said)>);

impl Naive {
    fn within(&self, timeframe: Timeframe) -> Vec<(&Timestamp, &String, &Said)> {
        let all = self.0.iter().map(|(id, (at, said))| (at, id, said));
        let mut within: Vec<_> = all.filter(|(at, ..)| timeframe.contains(**at)).collect();
        within.sort_by_key(|(at, id, _)| (**at, (*id).clone()));
        within
    }

    /// Count, sum, least, most, latest and users, in the order of the metrics.
    pub(crate) fn figures(&self, timeframe: Timeframe) -> Vec<Option<String>> {
        let within = self.within(timeframe);
        let said = || within.iter().map(|(.., said)| *said);
        let numbers = || said().filter_map(Said::number);
        let users: BTreeSet<_> = said().filter_map(|said| said.user.as_ref()).collect();
        let count = said().filter(|said| !said.is_other).count();
        let sum = numbers().fold(Decimal::zero(), |sum, n| sum + n);
        let (least, most, latest) = (numbers().min(), numbers().max(), numbers().next_back());
        let text = |number: Option<Decimal>| number.map(|number| number.to_string());
        vec![
            Some(count.to_string()),
            Some(sum.to_string()),
            text(least),
            text(most),
            text(latest),
            Some(users.len().to_string()),
        ]
    }

    /// Sums and users by region, those in none last. A cost rates no less than nothing.
    pub(crate) fn cells(&self, timeframe: Timeframe) -> Vec<Vec<String>> {
        let within = self.within(timeframe);
        let cell = |said: &Said| match said.region.as_deref() {
            Some("region 0") => 0,
            Some("region 1") => 1,
            _ => 2,
        };
        let (mut sums, mut users) =
            ([(); 3].map(|()| Decimal::zero()), [(); 3].map(|()| BTreeSet::new()));
        for (.., said) in within {
            if let Some(n) = said.number() {
                sums[cell(said)] = sums[cell(said)].clone() + n;
            }
            users[cell(said)].extend(said.user.clone());
        }
        vec![
            sums.map(|sum| sum.max(Decimal::zero()).to_string()).into(),
            users.map(|users| users.len().to_string()).into(),
        ]
    }

    pub(crate) fn volume(&self) -> Vec<(Timestamp, u64)> {
        let mut hours = BTreeMap::new();
        for (at, _) in self.0.values() {
            let start = at.micros() - at.micros().rem_euclid(3_600_000_000);
            *hours.entry(Timestamp::from_micros(start).unwrap()).or_default() += 1;
        }
        hours.into_iter().rev().collect()
    }

    /// Everything that is shown and kept is what these events alone come to.
    pub(crate) fn check(&self, corrected: &Corrected) {
        for (index, subscription) in corrected.subscriptions.iter().enumerate() {
            let usage = corrected.fixture.account.subscription_usage(subscription.id);
            let timeframe = block_on(usage).unwrap().timeframe;
            assert_eq!(corrected.figures(index), self.figures(timeframe), "{index}: {self:?}");
            assert_eq!(corrected.cells(index), self.cells(timeframe), "{index}: {self:?}");
        }
        assert_eq!(corrected.volume(), self.volume());
    }

    /// Another customer's life in which only these events were ever said.
    pub(crate) fn anew(&self) -> Corrected {
        let anew = Corrected::new();
        let mut configuration = block_on(anew.fixture.account.configuration()).unwrap();
        configuration.grace_period = Duration::from_secs(28 * 24 * 60 * 60);
        run(anew.fixture.account.configure(configuration)).unwrap();
        anew.fixture.set("2026-04-05T00:00:00Z");
        let events = self.0.iter().map(|(id, (at, said))| anew.event(id, *at, said));
        let events: Vec<_> = events.collect();
        if !events.is_empty() {
            run(anew.fixture.account.ingest(events)).unwrap();
        }
        anew
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// So many minutes before what is now.
    Ingest {
        minutes: u64,
        said: Said,
    },
    Amend {
        which: prop::sample::Index,
        said: Said,
    },
    Deprecate {
        which: prop::sample::Index,
    },
    /// So many hours pass.
    Pass {
        hours: u64,
    },
}

fn anything() -> impl Strategy<Value = Said> {
    let n = prop::option::of((-3_i64..9, 0_i64..10).prop_map(|(n, part)| format!("{n}.{part}")));
    let region = prop::option::of((0..3).prop_map(|region| format!("region {region}")));
    let user = prop::option::of((0..4).prop_map(|user| format!("user {user}")));
    (n, region, user, prop::bool::weighted(0.2)).prop_map(|(n, region, user, is_other)| Said {
        n,
        region,
        user,
        is_other,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        // Most events share a few quarters.
        4 => (prop_oneof![0_u64..40, 0_u64..1_200], anything())
            .prop_map(|(minutes, said)| Step::Ingest { minutes, said }),
        3 => (any::<prop::sample::Index>(), anything())
            .prop_map(|(which, said)| Step::Amend { which, said }),
        1 => any::<prop::sample::Index>().prop_map(|which| Step::Deprecate { which }),
        1 => (0_u64..15).prop_map(|hours| Step::Pass { hours }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// However events are ingested, amended and deprecated, what is shown and what is kept is what
    /// those that count come to, as if each had said at once what it says now.
    #[test]
    fn figures_are_those_of_the_events_that_count(
        steps in prop::collection::vec(step(), 1..40),
        (start, length) in (0_u64..2_000, 1_u64..2_000),
    ) {
        let corrected = Corrected::new();
        let (mut naive, mut deprecated) = (Naive::default(), BTreeSet::new());
        for (number, step) in steps.into_iter().enumerate() {
            let chosen = |which: prop::sample::Index, naive: &Naive| {
                let ids: Vec<_> = naive.0.keys().cloned().collect();
                (!ids.is_empty()).then(|| which.get(&ids).clone())
            };
            match step {
                Step::Ingest { minutes, said } => {
                    let id = format!("event {number}");
                    let at = corrected.now().saturating_sub(Duration::from_secs(60 * minutes));
                    corrected.ingest(&id, at, &said);
                    naive.0.insert(id, (at, said));
                }
                Step::Amend { which, said } => {
                    let Some(id) = chosen(which, &naive) else { continue };
                    let before = naive.0[&id].clone();
                    prop_assert_eq!(run(corrected.amend(&id, before.0, &said)).unwrap(), key(&id));
                    naive.0.insert(id, (before.0, said));
                }
                Step::Deprecate { which } => {
                    let Some(id) = chosen(which, &naive) else { continue };
                    prop_assert_eq!(run(corrected.deprecate(&id)).unwrap(), key(&id));
                    naive.0.remove(&id);
                    deprecated.insert(id);
                }
                Step::Pass { hours } => {
                    corrected.fixture.clock.advance(Duration::from_secs(3_600 * hours));
                }
            }
            naive.check(&corrected);
        }
        prop_assert_eq!(corrected.kept(), naive.anew().kept());

        let from = at("2026-03-10T00:00:00Z").saturating_add(Duration::from_secs(60 * start));
        let until = from.saturating_add(Duration::from_secs(60 * length));
        let timeframe = Timeframe::new(from, until).unwrap();
        let expected = naive.figures(timeframe);
        for (metric, expected) in corrected.metrics.iter().zip(expected) {
            let account = &corrected.fixture.account;
            let figure = account.usage_between(corrected.customer, metric.id, timeframe);
            let figure = block_on(figure).unwrap().map(|figure| figure.to_string());
            prop_assert_eq!(figure, expected);
        }
    }
}
