use std::time::Duration;

use accrue::{
    Email, ErrorKind, MetricId, PropertyName, SubscriptionId, Zone,
    customer::NewCustomer,
    metric::Metric,
    subscription::NewSubscription,
    usage::{Event, Properties, PropertyValue, UsageMetrics, UsageQuery, UsageSeries, View},
};

use crate::support::{
    fixture::{COUNT, Fixture, SUM, at, block_on, event, external, name, run},
    priced::between,
};

struct Used {
    fixture: Fixture,
    sum: Metric,
    most: Metric,
    subscription: SubscriptionId,
}

/// A customer in New York, of which events of three of its days count: 1 and 3, 5, none, 2.
fn used() -> Used {
    let fixture = Fixture::new();
    let sum = fixture.metric(SUM);
    let most = fixture.metric("SELECT max(n) FROM events");
    let mut ada = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    ada.external_customer_id = Some(external("ada"));
    ada.timezone = Some(Zone::parse("America/New_York").unwrap());
    let ada = run(fixture.account.create_customer(ada)).unwrap().id;
    let mut new = NewSubscription::new(ada, fixture.plan().id);
    new.start_date = Some(at("2026-03-06T12:00:00Z"));
    let subscription = fixture.create(new).id;
    let events = [
        // The clocks go forward on the 8th: its day begins at 5, and ends at 4 of the next.
        ("a", "2026-03-08T05:00:00Z", "1", "eu"),
        ("b", "2026-03-09T03:59:59Z", "3", "us"),
        ("c", "2026-03-09T04:00:00Z", "5", "eu"),
        ("d", "2026-03-11T04:00:00Z", "2", ""),
    ];
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.grace_period = Duration::from_secs(5 * 24 * 60 * 60);
    run(fixture.account.configure(configuration)).unwrap();
    fixture.set("2026-03-11T04:00:00Z");
    let events =
        events.map(|(key, text, n, region)| located(event("ada", key, at(text), n), region));
    run(fixture.account.ingest(events)).unwrap();
    Used { fixture, sum, most, subscription }
}

/// The event with a property `region`, unless it is empty.
fn located(event: Event, region: &str) -> Event {
    let region = Some(region).filter(|region| !region.is_empty());
    let region = region.map(|region| (property("region"), PropertyValue::from(region)));
    let all = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    let properties: Properties = all.chain(region).collect();
    Event { properties, ..event }
}

fn property(name: &str) -> PropertyName {
    PropertyName::parse(name).unwrap()
}

impl Used {
    fn ask(&self, query: &UsageQuery) -> Result<Vec<UsageSeries>, accrue::Error> {
        block_on(self.fixture.account.subscription_usage_over(self.subscription, query))
    }
}

/// The four days, cut in some way.
fn days(view: View) -> UsageQuery {
    let timeframe = Some(between("2026-03-08T05:00:00Z", "2026-03-12T04:00:00Z"));
    UsageQuery { timeframe: timeframe.into(), view, ..UsageQuery::default() }
}

fn figures(series: &UsageSeries) -> Vec<String> {
    let quantity = |slot: &accrue::usage::UsageSlot| match &slot.quantity {
        Some(quantity) => quantity.to_string(),
        None => "none".to_owned(),
    };
    series.usage.iter().map(quantity).collect()
}

#[test]
fn figures_are_those_of_the_days_of_the_customers_zone() {
    let used = used();
    let series = used.ask(&days(View::Periodic)).unwrap();
    let [sum, most] = series.as_slice() else { panic!("{series:?}") };
    assert_eq!((sum.metric_id, most.metric_id), (used.sum.id, used.most.id));
    assert_eq!((figures(sum), &sum.group), (["4", "5", "0", "2"].map(str::to_owned).into(), &None));
    assert_eq!(figures(most), ["3", "5", "none", "2"]);
    let slots: Vec<_> = sum.usage.iter().map(|slot| slot.timeframe).collect();
    assert_eq!(slots[0], between("2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"), "23 hours");
    assert_eq!(slots[3], between("2026-03-11T04:00:00Z", "2026-03-12T04:00:00Z"));
}

#[test]
fn cumulative_figures_are_those_from_the_begin_on() {
    let used = used();
    let series = used.ask(&days(View::Cumulative)).unwrap();
    assert_eq!(figures(&series[0]), ["4", "9", "9", "11"]);
    assert_eq!(figures(&series[1]), ["3", "5", "5", "5"]);
    let last = series[0].usage[3].timeframe;
    assert_eq!(last, between("2026-03-08T05:00:00Z", "2026-03-12T04:00:00Z"));
    let whole = used.ask(&days(View::Whole)).unwrap();
    assert_eq!((figures(&whole[0]), figures(&whole[1])), (vec!["11".into()], vec!["5".into()]));
}

#[test]
fn minutes_have_the_events_of_their_own() {
    let used = used();
    let sum = |start, end| {
        let timeframe = Some(between(start, end));
        let series =
            used.ask(&UsageQuery { timeframe: timeframe.into(), ..UsageQuery::default() }).unwrap();
        figures(&series[0])
    };
    // The window is that from 03:45 to 04:00.
    assert_eq!(sum("2026-03-09T03:46:00Z", "2026-03-09T03:59:59Z"), ["0"]);
    assert_eq!(sum("2026-03-09T03:59:59Z", "2026-03-09T03:59:59.5Z"), ["3"]);
    assert_eq!(sum("2026-03-09T03:46:00Z", "2026-03-09T04:00:00Z"), ["3"]);
}

#[test]
fn the_current_period_is_that_of_the_running_totals() {
    let used = used();
    let series = used.ask(&UsageQuery::default()).unwrap();
    let usage = block_on(used.fixture.account.subscription_usage(used.subscription)).unwrap();
    for (series, usage) in series.iter().zip(usage.metrics) {
        assert_eq!((series.metric_id, &series.name), (usage.metric_id, &usage.name));
        assert_eq!(series.usage[0].quantity, usage.quantity);
    }
    assert_eq!(series[0].usage[0].timeframe, usage.timeframe);
}

#[test]
fn figures_are_grouped_by_the_values_of_a_property() {
    let used = used();
    let group_by = Some(property("region"));
    let query = UsageQuery { group_by, with_missing: true, ..days(View::Periodic) };
    let series = used.ask(&query).unwrap();
    let of = |metric: &Metric| {
        let of = series.iter().filter(|series| series.metric_id == metric.id);
        let of = of.map(|series| {
            let group = series.group.as_ref().unwrap();
            assert_eq!(group.property, property("region"));
            (group.value.clone(), figures(series).join(" "))
        });
        of.collect::<Vec<_>>()
    };
    let expect = |groups: [(Option<&str>, &str); 3]| {
        groups.map(|(value, figures)| (value.map(str::to_owned), figures.to_owned()))
    };
    let sums = [(None, "0 0 0 2"), (Some("eu"), "1 5 0 0"), (Some("us"), "3 0 0 0")];
    assert_eq!(of(&used.sum), expect(sums));
    let most = [
        (None, "none none none 2"),
        (Some("eu"), "1 5 none none"),
        (Some("us"), "3 none none none"),
    ];
    assert_eq!(of(&used.most), expect(most));
}

#[test]
fn groups_of_cumulative_figures_go_on_from_their_first_day() {
    let used = used();
    let group_by = Some(property("region"));
    let metrics = UsageMetrics::One(used.sum.id);
    let query = UsageQuery { group_by, metrics, with_missing: true, ..days(View::Cumulative) };
    let series = used.ask(&query).unwrap();
    let figures: Vec<_> = series.iter().map(|series| figures(series).join(" ")).collect();
    assert_eq!(figures, ["0 0 0 2", "1 6 6 6", "3 3 3 3"]);
}

#[test]
fn usage_of_one_metric_is_asked_for_alone() {
    let used = used();
    let ask = |metric_id| {
        used.ask(&UsageQuery { metrics: UsageMetrics::One(metric_id), ..days(View::Whole) })
    };
    let series = ask(used.most.id).unwrap();
    assert_eq!(series.iter().map(|of| of.metric_id).collect::<Vec<_>>(), [used.most.id]);
    let unknown: Option<MetricId> = "019cd79e-4600-7000-8000-000000000000".parse().ok();
    assert!(ask(unknown.unwrap()).unwrap_err().is_not_found());
}

#[test]
fn usage_outside_of_the_subscriptions_life_is_not_its_own() {
    let fixture = Fixture::new();
    let sum = fixture.metric(SUM);
    let ada = fixture.customer("ada").id;
    let mut new = NewSubscription::new(ada, fixture.plan().id);
    new.start_date = Some(at("2026-03-10T11:00:00Z"));
    new.end_date = Some(at("2026-03-10T11:30:00Z"));
    let subscription = fixture.create(new).id;
    let instants = ["10:59:59.999999", "11:00:00", "11:29:59.999999", "11:30:00"];
    let events = instants.map(|text| {
        let instant = at(&format!("2026-03-10T{text}Z"));
        event("ada", text, instant, "1")
    });
    run(fixture.account.ingest(events)).unwrap();
    let timeframe = Some(between("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"));
    for group_by in [None, Some(property("n"))] {
        let query = UsageQuery { timeframe: timeframe.into(), group_by, ..UsageQuery::default() };
        let series = fixture.account.subscription_usage_over(subscription, &query);
        let series = block_on(series).unwrap();
        assert_eq!((series.len(), series[0].metric_id), (1, sum.id));
        assert_eq!(figures(&series[0]), ["2"]);
    }
}

#[test]
fn there_are_at_most_10000_figures() {
    let fixture = Fixture::new();
    fixture.metric(COUNT);
    let ada = fixture.customer("ada").id;
    let subscription = fixture.subscribe(ada, &fixture.plan()).id;
    let now = at("2026-03-10T12:00:00Z");
    let ingest = |from: u32, to: u32| {
        for batch in (from..to).collect::<Vec<_>>().chunks(1_000) {
            let of = |n: &u32| event("ada", &n.to_string(), now, &n.to_string());
            run(fixture.account.ingest(batch.iter().map(of).collect::<Vec<_>>())).unwrap();
        }
    };
    let ask =
        |query: &UsageQuery| block_on(fixture.account.subscription_usage_over(subscription, query));
    let groups = UsageQuery { group_by: Some(property("n")), ..UsageQuery::default() };
    ingest(0, 10_000);
    assert_eq!(ask(&groups).unwrap().len(), 10_000);
    ingest(10_000, 10_001);
    assert_eq!(ask(&groups).unwrap_err().kind(), ErrorKind::TooManyResults);
    let timeframe = |end| Some(between("2000-01-01T00:00:00Z", end));
    let days = |end| UsageQuery {
        timeframe: timeframe(end).into(),
        view: View::Periodic,
        ..UsageQuery::default()
    };
    assert_eq!(ask(&days("2027-05-19T00:00:00Z")).unwrap()[0].usage.len(), 10_000);
    let too_many = ask(&days("2027-05-20T00:00:00Z"));
    assert_eq!(too_many.unwrap_err().kind(), ErrorKind::TooManyResults);
    fixture.metric(SUM);
    let twice = ask(&days("2027-05-19T00:00:00Z"));
    assert_eq!(twice.unwrap_err().kind(), ErrorKind::TooManyResults, "two metrics");
}

#[test]
fn the_usage_of_a_deleted_customer_is_not_found() {
    let used = used();
    let ada = block_on(used.fixture.account.fetch_customer(external("ada"))).unwrap().id;
    run(used.fixture.account.delete_customer(ada)).unwrap();
    assert!(used.ask(&UsageQuery::default()).unwrap_err().is_not_found());
}
