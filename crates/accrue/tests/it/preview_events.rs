//! Events that are rated and not ingested.

use accrue::{
    Error, ErrorKind, EventName, PropertyName, Timeframe, Timestamp,
    cost::{EvaluatedPrice, EvaluationEntry, PriceEvaluation, PriceEvaluations},
    usage::{Event, PreviewEvent, PropertyValue},
};
use proptest::prelude::*;

use crate::{
    price_evaluation::{FILTERS, METRICS, Used, each, matrix, package, property, used},
    price_evaluations::{filtered, of_ada, shown},
    support::{
        fixture::{COUNT, Fixture, NOON, SUM, UNKNOWN, at, block_on, external, number, run},
        priced::between,
    },
};

/// What an event says, without its key.
fn previewed(event: Event) -> PreviewEvent {
    let Event { event_name, timestamp, properties, customer, .. } = event;
    PreviewEvent { event_name, timestamp, properties, customer: Some(customer) }
}

/// An event at an instant, with a property `n`.
fn preview(at: Timestamp, n: impl Into<PropertyValue>) -> PreviewEvent {
    PreviewEvent {
        event_name: EventName::parse("usage").unwrap(),
        timestamp: at,
        properties: [(property("n"), n.into())].into_iter().collect(),
        customer: None,
    }
}

fn noon() -> PreviewEvent {
    preview(at(NOON), 1_u64)
}

impl Fixture {
    fn preview(
        &self,
        evaluations: &PriceEvaluations,
        events: Vec<PreviewEvent>,
    ) -> Result<Vec<EvaluatedPrice>, Error> {
        block_on(self.account.evaluate_preview_events(evaluations, events))
    }
}

/// `ada`, and the number of the events that count by a price of 1 each.
struct Counted {
    fixture: Fixture,
    evaluations: PriceEvaluations,
}

impl Counted {
    fn new() -> Self {
        let fixture = Fixture::new();
        let price = fixture.price_of(COUNT, each("1"));
        fixture.customer("ada");
        Self { fixture, evaluations: of_ada(vec![EvaluationEntry::new(price)]) }
    }

    fn ask(&self, events: Vec<PreviewEvent>) -> String {
        let found = self.fixture.preview(&self.evaluations, events).unwrap();
        found[0].groups[0].quantity.to_string()
    }

    /// The violations of some events, each as its field and what is wrong.
    fn refusals(&self, events: Vec<PreviewEvent>) -> Vec<String> {
        let error = self.fixture.preview(&self.evaluations, events).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RequestValidation);
        let violations = error.violations().iter();
        violations.map(|violation| format!("{}: {}", violation.field, violation.message)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn subscriptions_9_2_a_preview_is_what_ingested_events_are_evaluated_to(
        used in prop::collection::vec(used(), 2),
        metric in 0..METRICS.len(),
        model in 0..3_usize,
        filter in 0..FILTERS.len(),
        by in prop::sample::subsequence(vec!["region", "n"], 0..=2),
        is_inline in any::<bool>(),
        (start, length) in (-24 * 60..0_i64, 0..26 * 60_i64),
    ) {
        let [used, other] = &used[..] else { unreachable!() };
        prop_assume!(!used.is_empty());
        let sql = METRICS[metric].0;
        // A matrix cannot rate the latest value.
        let model = if sql.contains("latest") { model % 2 } else { model };
        let model = [each("0.25"), package(), matrix()][model].clone();
        let filter = FILTERS[filter].0;
        let instant = |minute: i64| {
            Timestamp::from_micros(at(NOON).micros() + minute * 60_000_000).unwrap()
        };
        let timeframe = Timeframe::new(instant(start), instant(start + length)).unwrap();

        // What is there besides counts for nothing.
        let fixture = Fixture::new();
        let new = fixture.new_price_of(sql, model.clone());
        fixture.customer("ada");
        if !other.is_empty() {
            run(fixture.account.ingest(other.iter().map(Used::event).collect::<Vec<_>>())).unwrap();
        }
        let entry = match is_inline {
            true => filtered(new, filter, &by),
            false => filtered(run(fixture.account.create_price(new)).unwrap().id, filter, &by),
        };
        let evaluations = PriceEvaluations { timeframe, ..of_ada(vec![entry.clone()]) };
        let events = used.iter().map(|used| previewed(used.event())).collect();
        let found = fixture.preview(&evaluations, events).unwrap();

        let fresh = Fixture::new();
        let price = fresh.price_of(sql, model);
        fresh.customer("ada");
        run(fresh.account.ingest(used.iter().map(Used::event).collect::<Vec<_>>())).unwrap();
        let (filter, grouping) = (entry.filter, entry.grouping);
        let evaluation = PriceEvaluation {
            filter, grouping, ..PriceEvaluation::new(external("ada"), timeframe)
        };
        prop_assert_eq!(&found[0].groups, &fresh.evaluate(price, &evaluation).unwrap());
    }
}

#[test]
fn subscriptions_9_2_example() {
    let fixture = Fixture::new();
    let price = fixture.price_of(SUM, each("0.001"));
    fixture.customer("ada");
    let mut events = vec![preview(at(NOON), 200_u64); 5];
    events.push(preview(at(NOON), "x"));
    let found = fixture.preview(&of_ada(vec![EvaluationEntry::new(price)]), events).unwrap();
    assert_eq!(shown(&found[0]), [(vec![], "1000".to_owned(), "1".to_owned())]);
}

#[test]
fn subscriptions_9_2_1_the_customer_has_to_be_there() {
    let counted = Counted::new();
    let eve = PriceEvaluations { customer: external("eve").into(), ..counted.evaluations.clone() };
    assert!(counted.fixture.preview(&eve, vec![noon()]).unwrap_err().is_not_found());
}

#[test]
fn subscriptions_9_2_2_and_3_events_are_the_customers_unless_they_name_another() {
    let counted = Counted::new();
    let of = |customer| PreviewEvent { customer: Some(customer), ..noon() };
    let ada = block_on(counted.fixture.account.fetch_customer(external("ada"))).unwrap().id;
    let eve = counted.fixture.customer("eve").id;
    assert_eq!(counted.ask(vec![noon(), of(ada.into()), of(external("ada").into())]), "3");
    assert_eq!(counted.ask(vec![of(eve.into()), of(external("eve").into())]), "0");
    // Events may come before the customer of their external id, and before no other id.
    assert_eq!(counted.ask(vec![of(external("later").into()), noon()]), "1");
    let unknown = of(UNKNOWN.parse::<accrue::CustomerId>().unwrap().into());
    let refused = counted.fixture.preview(&counted.evaluations, vec![noon(), unknown]);
    assert!(refused.unwrap_err().is_not_found());
}

#[test]
fn subscriptions_9_2_4_only_these_events_count_within_the_timeframe() {
    let counted = Counted::new();
    counted.fixture.use_now("ada", "ingested", "1");
    let frame = counted.evaluations.timeframe;
    let micros = |at: Timestamp, more: i64| Timestamp::from_micros(at.micros() + more).unwrap();
    let at = |at| preview(at, 1_u64);
    assert_eq!(counted.ask(vec![at(frame.start()), at(micros(frame.end(), -1))]), "2");
    assert_eq!(counted.ask(vec![at(micros(frame.start(), -1)), at(frame.end())]), "0");
}

#[test]
fn subscriptions_9_2_5_events_may_lie_anywhere_and_each_counts() {
    let mut counted = Counted::new();
    for year in ["1980", "2026", "2400"] {
        let of = |day: &str| format!("{year}-03-{day}T00:00:00Z");
        counted.evaluations.timeframe = between(&of("01"), &of("31"));
        assert_eq!(counted.ask(vec![preview(at(&of("15")), 1_u64); 3]), "3", "{year}");
    }
}

#[test]
fn subscriptions_9_2_6_there_are_1_to_500_events() {
    let counted = Counted::new();
    assert_eq!(counted.ask(vec![noon(); 500]), "500");
    assert_eq!(counted.refusals(Vec::new()), ["events: has 0, expected 1 to 500"]);
    assert_eq!(counted.refusals(vec![noon(); 501]), ["events: has 501, expected 1 to 500"]);
}

#[test]
fn subscriptions_9_2_7_the_bounds_are_those_of_ingest() {
    let counted = Counted::new();
    let with = |count: usize, length: usize| {
        let properties = (0..count).map(|n| {
            let name = PropertyName::parse(format!("p{n}")).unwrap();
            (name, PropertyValue::from("x".repeat(length).as_str()))
        });
        PreviewEvent { properties: properties.collect(), ..noon() }
    };
    let fitting = [with(64, 1), with(1, 4_096), with(3, 4_096)];
    assert_eq!(counted.ask(fitting.to_vec()), "3");
    let [many, long, large] = [with(65, 1), with(1, 4_097), with(4, 4_096)];
    let found = counted.refusals(vec![many, noon(), long, large]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], "events[0]: properties: has 65 of them, expected at most 64");
    assert_eq!(found[1], "events[2]: properties.p0: has 4097 bytes, expected at most 4096");
    assert!(found[2].starts_with("events[3]: event has "), "{found:?}");
}

#[test]
fn subscriptions_9_2_8_nothing_is_written() {
    let counted = Counted::new();
    let before = counted.fixture.dump();
    assert_eq!(counted.ask(vec![noon(); 3]), "3");
    assert_eq!(counted.fixture.dump(), before);
}

#[test]
fn of_two_events_at_one_instant_the_last_is_the_latest() {
    let fixture = Fixture::new();
    let price = fixture.price_of("SELECT latest(n) FROM events", each("1"));
    fixture.customer("ada");
    let earlier = Timestamp::from_micros(at(NOON).micros() - 1).unwrap();
    let mut events: Vec<_> = (0_u64..12).map(|n| preview(at(NOON), n)).collect();
    events.push(preview(earlier, 99_u64));
    let found = fixture.preview(&of_ada(vec![EvaluationEntry::new(price)]), events).unwrap();
    assert_eq!(found[0].groups[0].quantity, number("11"));
}

#[test]
fn the_prices_of_a_preview_are_as_many_and_grouped_as_those_of_usage() {
    let counted = Counted::new();
    let refused = |price_evaluations| {
        let error = counted.fixture.preview(&of_ada(price_evaluations), vec![noon()]).unwrap_err();
        error.violations()[0].field.clone()
    };
    assert_eq!(refused(Vec::new()), "price_evaluations");
    let price = counted.evaluations.price_evaluations[0].price.clone();
    let twice = filtered(price, None, &["n", "n"]);
    assert_eq!(refused(vec![twice]), "price_evaluations[0].grouping");
}
