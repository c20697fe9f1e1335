//! The work of one request: others get their turn beside it, and it has a bound.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use accrue::{
    Clock as _, Error, ErrorKind, PriceId, Timeframe,
    backfill::NewBackfill,
    cost::{EvaluationEntry, PriceEvaluation, PriceEvaluations},
    expression::Expression,
    metric::{Metric, MetricQuery, NewMetric},
    price::Cadence,
    subscription::Subscription,
    usage::{Event, PreviewEvent, PropertyGroup, UsageQuery, View},
};

use crate::support::fixture::{Fixture, at, block_on, event, external, name, refused, run};

/// A condition of so many comparisons, the last of which holds.
fn long(terms: usize) -> String {
    let others = (1..terms).map(|_| "n=0 OR ");
    others.collect::<String>() + "n=1"
}

impl Fixture {
    fn new_long_metric(&self, terms: usize) -> NewMetric {
        let sql = format!("SELECT count(*) FROM events WHERE {}", long(terms));
        NewMetric::new(name("long"), self.item().id, MetricQuery::parse(&sql).unwrap())
    }

    fn long_metric(&self, terms: usize) -> Metric {
        run(self.account.create_metric(self.new_long_metric(terms))).unwrap()
    }

    /// Events of `ada`, a second after each other, up to now.
    fn events(&self, prefix: &str, count: u64) -> Vec<Event> {
        let now = self.clock.now();
        let event = |n: u64| {
            let ago = std::time::Duration::from_secs(n % 3_000);
            event("ada", &format!("{prefix}-{n}"), now.saturating_sub(ago), "1")
        };
        (0..count).map(event).collect()
    }

    fn ingest_all(&self, prefix: &str, count: u64) {
        for chunk in self.events(prefix, count).chunks(1_000) {
            run(self.account.ingest(chunk.to_vec())).unwrap();
        }
    }
}

/// A customer with so many events, and a price that is evaluated over all but the last of them with a
/// long filter.
fn evaluated(events: u64) -> (Fixture, PriceId, PriceEvaluation) {
    let fixture = Fixture::new();
    fixture.customer("ada");
    let metric = fixture.metric("SELECT sum(n) FROM events");
    let price = run(fixture.account.create_price(fixture.per_unit(&metric, Cadence::Monthly)));
    fixture.ingest_all("a", events);
    let now = fixture.clock.now();
    let day = Timeframe::new(now.saturating_sub(std::time::Duration::from_secs(86_400)), now);
    let mut evaluation = PriceEvaluation::new(external("ada"), day.unwrap());
    evaluation.filter = Some(Expression::parse(&long(500)).unwrap());
    (fixture, price.unwrap().id, evaluation)
}

/// Polls a future to its end, and counts how often others had their turn.
fn turns<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    let mut turns = 0;
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return (done, turns),
            Poll::Pending => turns += 1,
        }
    }
}

#[test]
fn others_get_their_turn_beside_a_batch() {
    let fixture = Fixture::new();
    (0..5).for_each(|_| drop(fixture.long_metric(400)));
    let one = fixture.account.ingest(fixture.events("a", 1));
    let (one, few) = turns(one.into_future());
    let hundred = fixture.account.ingest(fixture.events("b", 100));
    let (hundred, many) = turns(hundred.into_future());
    assert_eq!((one.unwrap().ingested, hundred.unwrap().ingested), (1, 100));
    // 200,000 comparisons.
    assert!(few <= 3 && (95..300).contains(&many), "{few} {many}");
}

#[test]
fn others_get_their_turn_beside_an_evaluation() {
    let (fixture, id, evaluation) = evaluated(1_000);
    let (groups, many) = turns(fixture.account.evaluate_price(id, &evaluation));
    assert_eq!(groups.unwrap()[0].quantity, 999.into());
    assert!(many >= 240, "{many}");
}

#[test]
fn others_get_their_turn_beside_an_evaluation_of_several_prices_and_of_events() {
    let (fixture, id, evaluation) = evaluated(500);
    let entry = EvaluationEntry { filter: evaluation.filter, ..EvaluationEntry::new(id) };
    let both = PriceEvaluations {
        customer: evaluation.customer,
        timeframe: evaluation.timeframe,
        price_evaluations: vec![entry; 2],
    };
    let (prices, many) = turns(fixture.account.evaluate_prices(&both));
    assert_eq!(prices.unwrap()[1].groups[0].quantity, 499.into());
    assert!(many >= 240, "{many}");
    let events = fixture.events("b", 500).into_iter().map(|event| PreviewEvent {
        event_name: event.event_name,
        timestamp: event.timestamp,
        properties: event.properties,
        customer: None,
    });
    let (prices, many) = turns(fixture.account.evaluate_preview_events(&both, events));
    assert_eq!(prices.unwrap()[1].groups[0].quantity, 499.into());
    assert!(many >= 240, "{many}");
}

#[test]
fn an_evaluation_ends_though_its_customer_is_written_all_the_while() {
    let (fixture, id, evaluation) = evaluated(200);
    let mut evaluating = pin!(fixture.account.evaluate_price(id, &evaluation));
    let mut context = Context::from_waker(Waker::noop());
    let write = |n: usize| {
        let events = fixture.events(&format!("b-{n}"), 1);
        Box::pin(fixture.account.ingest(events).into_future())
    };
    let (mut written, mut writing) = (0, write(0));
    let groups = loop {
        if let Poll::Ready(groups) = evaluating.as_mut().poll(&mut context) {
            break groups.unwrap();
        }
        if let Poll::Ready(done) = writing.as_mut().poll(&mut context) {
            done.unwrap();
            written += 1;
            writing = write(written);
        }
    };
    // The events of this instant are not before it.
    assert_eq!(groups[0].quantity, 199.into());
    assert!(written > 10, "the first run had no peace: {written}");
    block_on(writing).unwrap();
}

#[test]
fn metrics_that_would_compare_too_much_of_each_event_are_refused() {
    let fixture = Fixture::new();
    // A comparison more for each metric is that of its function.
    (0..12).for_each(|_| drop(fixture.long_metric(400)));
    let create = |terms| fixture.account.create_metric(fixture.new_long_metric(terms));
    let (kind, text) = refused(&fixture, create(188));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("189 comparisons beside 4812 of others"), "{text}");
    run(create(187)).unwrap();
    // The largest batch is held against all of them.
    assert_eq!(run(fixture.account.ingest(fixture.events("a", 1_000))).unwrap().ingested, 1_000);
}

#[test]
fn a_batch_that_adds_to_too_much_is_too_large() {
    let fixture = Fixture::new();
    (0..99).for_each(|_| drop(fixture.long_metric(1)));
    let (ada, plan) = (fixture.customer("ada").id, fixture.plan());
    (0..120).for_each(|_| drop(fixture.subscribe(ada, &plan)));
    // Each event adds to 99 metrics, for 120 subscriptions.
    let (kind, _) = refused(&fixture, fixture.account.ingest(fixture.events("a", 1_000)));
    assert_eq!(kind, ErrorKind::ResourceTooLarge);
    assert_eq!(run(fixture.account.ingest(fixture.events("a", 500))).unwrap().ingested, 500);
}

#[test]
fn a_figure_of_too_many_comparisons_is_refused() {
    let fixture = Fixture::new();
    let metric = fixture.long_metric(500);
    let (ada, plan) = (fixture.customer("ada").id, fixture.plan());
    let subscription = fixture.subscribe_from(ada, &plan, Some("2026-03-01T00:00:00Z"));
    let price = run(fixture.account.create_price(fixture.per_unit(&metric, Cadence::Monthly)));
    let id = price.unwrap().id;
    let day = Timeframe::new(at("2026-03-10T00:00:00Z"), at("2026-03-11T00:00:00Z")).unwrap();
    let mut evaluation = PriceEvaluation::new(ada, day);
    evaluation.filter = Some(Expression::parse(&long(499)).unwrap());
    let evaluate = || block_on(fixture.account.evaluate_price(id, &evaluation));
    let grouped = UsageQuery {
        group_by: Some(accrue::PropertyName::parse("n").unwrap()),
        view: View::Whole,
        ..Default::default()
    };
    let used = || block_on(fixture.account.subscription_usage_over(subscription.id, &grouped));
    // A thousand for each event of the evaluation, and 501 for each of the usage.
    fixture.ingest_all("a", 10_000);
    assert_eq!(evaluate().unwrap()[0].quantity, 10_000.into());
    // All prices together make no more.
    let filter = evaluation.filter.clone();
    let price_evaluations = vec![EvaluationEntry { filter, ..EvaluationEntry::new(id) }; 2];
    let twice = PriceEvaluations { customer: ada.into(), timeframe: day, price_evaluations };
    let error = block_on(fixture.account.evaluate_prices(&twice)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyResults);
    assert!(error.to_string().contains("at 2000 for each event"), "{error}");
    let series = used().unwrap();
    assert!(matches!(&series[0].group, Some(PropertyGroup { .. })));
    fixture.ingest_all("b", 1);
    let error = evaluate().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyResults);
    let expect = "more than 10000000 comparisons, at 1000 for each event";
    assert!(error.to_string().contains(expect), "{error}");
    fixture.ingest_all("c", 10_000);
    assert_eq!(used().unwrap_err().kind(), ErrorKind::TooManyResults);
}

/// A customer with a subscription and some events, which a metric that comes later is to measure for
/// long.
fn measured_for_long() -> (Fixture, Subscription, Metric) {
    let fixture = Fixture::new();
    let (ada, plan) = (fixture.customer("ada").id, fixture.plan());
    let subscription = fixture.subscribe_from(ada, &plan, Some("2026-03-01T00:00:00Z"));
    fixture.ingest_all("a", 8_000);
    let metric = fixture.long_metric(400);
    (fixture, subscription, metric)
}

#[track_caller]
fn is_being_corrected(error: &Error) {
    assert!(error.is_conflict() && error.can_be_retried(), "{error:?}");
    assert!(error.to_string().contains("can be sent again"), "{error}");
}

#[test]
fn an_ingest_does_so_much_of_a_correction_and_is_then_to_be_sent_again() {
    let (fixture, subscription, metric) = measured_for_long();
    let ingest = || run(fixture.account.ingest(fixture.events("b", 1)));
    let mut tries = 1;
    while let Err(error) = ingest() {
        is_being_corrected(&error);
        tries += 1;
        assert!(tries < 20, "each does a part of it");
    }
    // 3.2 million comparisons, of which a request makes a million.
    assert!((3..8).contains(&tries), "{tries}");
    assert_eq!(fixture.usage(&subscription, &metric).as_deref(), Some("8001"));
}

#[test]
fn a_tick_corrects_to_the_end() {
    let (fixture, subscription, metric) = measured_for_long();
    while block_on(fixture.billing.tick(10)).unwrap().more {}
    run(fixture.account.ingest(fixture.events("b", 1))).unwrap();
    assert_eq!(fixture.usage(&subscription, &metric).as_deref(), Some("8001"));
}

#[test]
fn what_waits_for_a_backfill_is_told_to_come_again() {
    let fixture = Fixture::new();
    let metric = fixture.long_metric(400);
    let (ada, plan) = (fixture.customer("ada").id, fixture.plan());
    let subscription = fixture.subscribe_from(ada, &plan, Some("2026-03-01T00:00:00Z"));
    fixture.ingest_all("a", 6_000);
    let account = &fixture.account;
    let day = Timeframe::new(at("2026-03-10T00:00:00Z"), at("2026-03-11T00:00:00Z")).unwrap();
    let mut new = NewBackfill::new(day);
    new.customer = Some(ada.into());
    new.replace_existing_events = false;
    let backfill = run(account.create_backfill(new.clone())).unwrap().id;
    run(account.ingest_backfill(backfill, fixture.events("b", 1_000))).unwrap();
    run(account.close_backfill(backfill)).unwrap();
    // One that overlaps it, the revert of it and an ingest: each does a part, and none waits.
    is_being_corrected(&run(account.create_backfill(new)).unwrap_err());
    is_being_corrected(&run(account.revert_backfill(backfill)).unwrap_err());
    let mut tries = 0;
    while let Err(error) = run(account.ingest(fixture.events("c", 1))) {
        is_being_corrected(&error);
        tries += 1;
        assert!(tries < 20, "each does a part of it");
    }
    assert_eq!(fixture.usage(&subscription, &metric).as_deref(), Some("7001"));
    run(account.revert_backfill(backfill)).unwrap();
}
