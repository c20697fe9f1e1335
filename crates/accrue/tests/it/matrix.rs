use accrue::{
    Decimal, EventName, PropertyName, Timestamp,
    cost::CostQuery,
    metric::Metric,
    plan::PlanPrice,
    price::{Cadence, Matrix, MatrixCell, Model, NewPrice, PartOf},
    usage::{Event, Properties, PropertyValue},
};

use crate::support::{
    fixture::{Fixture, SUM, at, event, name, number, run, usd},
    priced::{between, cost_alert, priced},
};

const NOW: &str = "2026-03-10T12:00:00Z";

/// A matrix by some properties: 1000 for a unit in no cell, else what the cell says.
fn matrix(metric: &Metric, dimensions: &[&str], cells: &[(&[Option<&str>], &str)]) -> NewPrice {
    let cell = |(values, amount): &(&[Option<&str>], &str)| {
        MatrixCell::new(values.iter().map(|value| value.map(str::to_owned)), number(amount))
    };
    let model = Model::Matrix(Matrix::new(
        dimensions.iter().map(|name| PropertyName::parse(*name).unwrap()),
        number("1000"),
        cells.iter().map(cell),
    ));
    NewPrice::builder(name("matrix"), metric.item_id)
        .billed(Cadence::Monthly, usd())
        .usage(metric.id, model)
}

/// An event now with the number `n` and other properties.
fn with(key: &str, n: &str, properties: &[(&str, PropertyValue)]) -> Event {
    with_at(key, n, at(NOW), properties)
}

fn with_at(key: &str, n: &str, at: Timestamp, properties: &[(&str, PropertyValue)]) -> Event {
    let plain = event("ada", key, at, n);
    let more =
        properties.iter().map(|(name, value)| (PropertyName::parse(*name).unwrap(), value.clone()));
    let all = plain.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    let properties: Properties = all.chain(more).collect();
    let event_name = EventName::parse("call").unwrap();
    Event { properties, event_name, ..plain }
}

fn n(text: &str) -> PropertyValue {
    number(text).into()
}

/// Subscribes to a matrix of the figure of some SQL, ingests events, and gives the quantity of each
/// cell, the default cell last.
fn cells_of(
    sql: &str,
    dimensions: &[&str],
    cells: &[&[Option<&str>]],
    events: &[Event],
) -> Vec<String> {
    let fixture = Fixture::new();
    let metric = fixture.metric(sql);
    let cells: Vec<_> = cells.iter().map(|values| (*values, "1")).collect();
    let plan = fixture.priced_plan([matrix(&metric, dimensions, &cells).into()]);
    let subscription = fixture.subscribe(fixture.customer("ada").id, &plan);
    run(fixture.account.ingest(events.to_vec())).unwrap();
    let cost = fixture.cost(&subscription, &CostQuery::default());
    let parts = &cost.lines[0].parts;
    assert_eq!(parts.last().unwrap().of, PartOf::DefaultCell);
    parts.iter().map(|part| part.quantity.to_string()).collect()
}

#[test]
fn an_event_counts_in_the_cell_of_its_property() {
    let events = [
        with("a", "1", &[("region", "eu".into())]),
        with("b", "2", &[("region", "us".into())]),
        with("c", "4", &[("region", "EU".into())]),
        with("d", "8", &[]),
        with("e", "16", &[("region", "eu".into())]),
    ];
    let found = cells_of(SUM, &["region"], &[&[Some("us")], &[Some("eu")]], &events);
    assert_eq!(found, ["2", "17", "12"], "in the order of the matrix, and case matters");
}

#[test]
fn numbers_and_booleans_are_compared_by_their_text() {
    let events = [
        with("a", "1", &[("size", n("1.50"))]),
        with("b", "2", &[("size", "1.5".into())]),
        with("c", "4", &[("size", true.into())]),
        with("d", "8", &[("size", "true".into())]),
        with("e", "16", &[("size", false.into())]),
        with("f", "32", &[("size", n("15e-1"))]),
        with("g", "64", &[("size", "1.50".into())]),
    ];
    let cells: [&[_]; 3] = [&[Some("1.5")], &[Some("true")], &[Some("false")]];
    assert_eq!(cells_of(SUM, &["size"], &cells, &events), ["35", "12", "16", "64"]);
}

#[test]
fn a_cell_may_be_that_of_a_missing_value() {
    let events = [
        with("a", "1", &[("region", "eu".into())]),
        with("b", "2", &[("region", PropertyValue::Null)]),
        with("c", "4", &[]),
        with("d", "8", &[("region", "".into())]),
    ];
    let cells: [&[_]; 2] = [&[None], &[Some("eu")]];
    assert_eq!(cells_of(SUM, &["region"], &cells, &events), ["6", "1", "8"]);
}

#[test]
fn two_properties_decide_together() {
    let of = |region: &str, size: &str| vec![("region", region.into()), ("size", n(size))];
    let events = [
        with("a", "1", &of("eu", "1")),
        with("b", "2", &of("eu", "2")),
        with("c", "4", &of("us", "1")),
        with("d", "8", &[("region", "eu".into())]),
        with("e", "16", &[("size", n("1"))]),
    ];
    let cells: [&[_]; 3] =
        [&[Some("eu"), Some("1")], &[Some("eu"), None], &[Some("us"), Some("1")]];
    assert_eq!(cells_of(SUM, &["region", "size"], &cells, &events), ["1", "8", "4", "18"]);
}

#[test]
fn each_cell_has_a_greatest_and_distinct_values_of_its_own() {
    let events = [
        with("a", "5", &[("region", "eu".into())]),
        with("b", "3", &[("region", "eu".into())]),
        with("c", "5", &[("region", "us".into())]),
        with("d", "5", &[("region", "us".into())]),
        with("e", "7", &[]),
        with("f", "", &[("region", "us".into())]),
    ];
    let cells: [&[_]; 2] = [&[Some("eu")], &[Some("us")]];
    let check = |sql: &str, expect: [&str; 3]| {
        assert_eq!(cells_of(sql, &["region"], &cells, &events), expect, "{sql}");
    };
    check("SELECT max(n) FROM events", ["5", "5", "7"]);
    check("SELECT min(n) FROM events", ["3", "5", "7"]);
    check("SELECT count(*) FROM events", ["2", "3", "1"]);
    check("SELECT count(n) FROM events", ["2", "2", "1"]);
    check("SELECT count(DISTINCT n) FROM events", ["2", "1", "1"]);
    check("SELECT sum(n) FROM events WHERE n > 3", ["5", "10", "7"]);
}

#[test]
fn a_cell_below_zero_costs_nothing_and_takes_nothing_from_others() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let price = matrix(&metric, &["region"], &[(&[Some("eu")], "2"), (&[Some("us")], "3")]);
    let plan = fixture.priced_plan([price.into()]);
    let subscription = fixture.subscribe(fixture.customer("ada").id, &plan);
    let events =
        [with("a", "-5", &[("region", "eu".into())]), with("b", "4", &[("region", "us".into())])];
    run(fixture.account.ingest(events)).unwrap();
    assert_eq!(fixture.cost(&subscription, &CostQuery::default()).total, number("12"));
}

#[test]
fn cost_with_a_matrix_is_judged_event_by_event() {
    let priced = priced(|fixture, metric| {
        let cells: [(&[_], _); 2] = [(&[Some("eu")], "2"), (&[Some("us")], "3")];
        [matrix(metric, &["region"], &cells), fixture.usage_at("1", metric)]
    });
    priced.alert(cost_alert(&["6", "10", "1000"]));
    let events = [
        with("a", "2", &[("region", "eu".into())]),
        with("b", "1", &[("region", "us".into())]),
        with("c", "1", &[("region", "mars".into())]),
    ];
    run(priced.fixture.account.ingest(events)).unwrap();
    let expect = [
        "cost 6: none -> 6 by event a",
        "cost 10: 6 -> 10 by event b",
        "cost 1000: 10 -> 1011 by event c",
    ];
    assert_eq!(priced.told(), expect);
}

#[test]
fn a_subscription_over_past_usage_has_the_same_cells() {
    let story = |is_later: bool, sql: &str| {
        let fixture = Fixture::new();
        let metric = fixture.metric(sql);
        let cells: [(&[_], _); 2] = [(&[Some("eu")], "2"), (&[Some("us")], "3")];
        let plan = fixture.priced_plan([matrix(&metric, &["region"], &cells).into()]);
        let ada = fixture.customer("ada").id;
        let start = Some("2026-03-10T01:07:00Z");
        let early = (!is_later).then(|| fixture.subscribe_from(ada, &plan, start));
        let regions = ["eu", "us", "mars"];
        let of = |index: usize| {
            let minute = index * 13 % 60;
            let at = at(&format!("2026-03-10T{:02}:{minute:02}:00Z", index % 12));
            let region = regions[index % 3].into();
            with_at(&index.to_string(), &(index % 5).to_string(), at, &[("region", region)])
        };
        run(fixture.account.ingest((0..100).map(of).collect::<Vec<_>>())).unwrap();
        let subscription = early.unwrap_or_else(|| fixture.subscribe_from(ada, &plan, start));
        let mut cost = fixture.cost(&subscription, &CostQuery::default());
        let timeframe = Some(cost.timeframe);
        let over = fixture
            .cost(&subscription, &CostQuery { timeframe: timeframe.into(), ..Default::default() });
        assert_eq!(over, cost);
        let halves = ["2026-03-10T01:07:00Z", "2026-03-10T06:31:00Z", "2026-04-10T01:07:00Z"];
        let halves = halves.windows(2).map(|pair| {
            let timeframe = Some(between(pair[0], pair[1]));
            fixture
                .cost(
                    &subscription,
                    &CostQuery { timeframe: timeframe.into(), ..Default::default() },
                )
                .total
        });
        assert_eq!(halves.sum::<Decimal>(), cost.total, "timeframes that adjoin add up");
        cost.lines.remove(0).parts
    };
    for sql in [SUM, "SELECT count(DISTINCT n) FROM events", "SELECT max(n) FROM events"] {
        let parts = story(false, sql);
        assert!(parts.iter().all(|part| !part.quantity.is_zero()), "{sql}: {parts:?}");
        assert_eq!(story(true, sql), parts, "{sql}");
    }
}

#[test]
fn the_cells_of_a_matrix_count_events_accepted_before_it_was_created() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let ada = fixture.customer("ada").id;
    let eu = [("region", "eu".into())];
    run(fixture.account.ingest([with("a", "1", &eu)])).unwrap();
    let create = |cells: &[(&[Option<&str>], &str)]| {
        let price = matrix(&metric, &["region"], cells);
        let plan = fixture.priced_plan([price.into(), fixture.usage_at("1", &metric).into()]);
        fixture.subscribe_from(ada, &plan, Some("2026-03-10T11:00:00Z"))
    };
    let quantities = |subscription: &accrue::subscription::Subscription| -> Vec<String> {
        let cost = fixture.cost(subscription, &CostQuery::default());
        cost.lines.iter().map(|line| line.quantity.to_string()).collect()
    };
    let first = create(&[(&[Some("eu")], "2")]);
    run(fixture.account.ingest([with("b", "2", &eu)])).unwrap();
    assert_eq!(quantities(&first), ["3", "3"], "both count both");
    let second = create(&[(&[Some("eu")], "2"), (&[Some("us")], "2")]);
    run(fixture.account.ingest([with("c", "4", &eu)])).unwrap();
    assert_eq!(quantities(&second), ["7", "7"]);
    let third = create(&[(&[Some("eu")], "9")]);
    assert_eq!(quantities(&third), ["7", "7"]);
}

#[test]
fn a_matrix_has_any_number_of_dimensions() {
    let dimensions = ["region", "tier", "size", "zone"];
    let cell: &[Option<&str>] = &[Some("eu"), Some("gold"), None, Some("1")];
    let of = |key, properties: &[(&str, PropertyValue)]| with(key, "1", properties);
    let own = [("region", "eu".into()), ("tier", "gold".into()), ("zone", n("1"))];
    let sized = [own.to_vec(), vec![("size", "xl".into())]].concat();
    let events = [of("a", &own), of("b", &own), of("c", &sized), of("d", &own[..2])];
    assert_eq!(cells_of(SUM, &dimensions, &[cell], &events), ["2", "2"]);
}

#[test]
fn prices_with_the_same_cells_share_what_is_counted() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let (eu, us): (&[_], &[_]) = (&[Some("eu")], &[Some("us")]);
    let prices = [
        matrix(&metric, &["region"], &[(eu, "2"), (us, "3")]),
        matrix(&metric, &["region"], &[(us, "5"), (eu, "7")]),
    ];
    let plan = fixture.priced_plan(prices.map(PlanPrice::from));
    let subscription = fixture.subscribe(fixture.customer("ada").id, &plan);
    run(fixture.account.ingest([with("a", "1", &[("region", "eu".into())])])).unwrap();
    let cost = fixture.cost(&subscription, &CostQuery::default());
    let totals: Vec<_> = cost.lines.iter().map(|line| line.total.to_string()).collect();
    assert_eq!(totals, ["2", "7"]);
    let rows = fixture.dump();
    assert_eq!(rows.iter().filter(|row| row.contains(" meter:")).count(), 1);
    let figures = fixture.figures(&[]);
    let buckets = figures.iter().filter(|row| row.starts_with("bucket:")).count();
    assert_eq!(buckets, 2, "the metric and one cell");
}

#[test]
fn a_kind_of_matrix_is_its_properties_and_its_cells_whatever_they_cost() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let create = |index: usize, amount: &str| {
        let value = index.to_string();
        let price = matrix(&metric, &["region"], &[(&[Some(&value)], amount)]);
        fixture.account.create_price(price)
    };
    for index in 0..20 {
        run(create(index, "1")).unwrap();
    }
    run(create(7, "2")).unwrap();
    let (kind, detail) = crate::support::fixture::refused(&fixture, create(20, "1"));
    assert_eq!(kind, accrue::ErrorKind::ConstraintViolation);
    assert_eq!(detail, "prices divide the usage of the account in 20 ways already");
    let mut new = accrue::plan::NewPlan::new(name("plan"), usd());
    let value = [Some("20")];
    new.prices = vec![matrix(&metric, &["region"], &[(&value, "1")]).into()];
    let (kind, _) = crate::support::fixture::refused(&fixture, fixture.account.create_plan(new));
    assert_eq!(kind, accrue::ErrorKind::ConstraintViolation);
    let plain = fixture.usage_at("1", &metric);
    assert!(!plain.charge.is_fixed());
    run(fixture.account.create_price(plain)).unwrap();
}

#[test]
fn the_totals_of_every_metric_and_every_cell_fit_their_rows() {
    let fixture = Fixture::new();
    for _ in 0..99 {
        fixture.metric("SELECT latest(n) FROM events");
    }
    let sum = fixture.metric(SUM);
    let prices = [fixture.by_region(&sum, 99), fixture.by_region(&sum, 99)];
    let plan = fixture.priced_plan(prices.map(PlanPrice::from));
    let ada = fixture.customer("ada").id;
    fixture.subscribe(ada, &plan);
    for region in 0..100 {
        // Quotation marks take two bytes each in a document.
        let key = format!("{}{region:03}", "\"".repeat(253));
        let region = format!("region {region}");
        let event = with(&key, "12345678901234.56789012345678", &[("region", (&*region).into())]);
        run(fixture.account.ingest([event])).unwrap();
    }
}
