use std::collections::{BTreeMap, BTreeSet};

use accrue::{
    Decimal, Error, ErrorKind, PriceId, PropertyName, Timeframe, Timestamp,
    cost::{EvaluatedGroup, PriceEvaluation},
    expression::Expression,
    price::{
        Adjustments, BillingMode, Cadence, Charge, Discount, Matrix, MatrixCell, Model, NewPrice,
        Package, Unit,
    },
    usage::{Event, PropertyValue},
};
use proptest::prelude::*;

use crate::support::{
    fixture::{COUNT, Fixture, NOON, SUM, at, block_on, event, external, number, run},
    priced::{between, unit},
};

pub(crate) fn property(name: &str) -> PropertyName {
    PropertyName::parse(name).unwrap()
}

impl Fixture {
    pub(crate) fn evaluate(
        &self,
        price: PriceId,
        evaluation: &PriceEvaluation,
    ) -> Result<Vec<EvaluatedGroup>, Error> {
        block_on(self.account.evaluate_price(price, evaluation))
    }

    /// A price to create, of a model for the figure of a metric.
    pub(crate) fn new_price_of(&self, sql: &str, model: Model) -> NewPrice {
        let metric = self.metric(sql);
        NewPrice {
            charge: Charge::Usage { metric_id: metric.id, model }.into(),
            ..self.per_unit(&metric, Cadence::Monthly)
        }
    }

    /// Such a price, of no plan.
    pub(crate) fn price_of(&self, sql: &str, model: Model) -> PriceId {
        run(self.account.create_price(self.new_price_of(sql, model))).unwrap().id
    }
}

pub(crate) fn each(unit_amount: &str) -> Model {
    Model::Unit(Unit::new(number(unit_amount)))
}

pub(crate) fn package() -> Model {
    Model::Package(Package::new(number("1.25"), 3))
}

/// 2 in the region `eu`, 5 where there is none, 1 everywhere else.
pub(crate) fn matrix() -> Model {
    let cell = |value: Option<&str>, amount| {
        MatrixCell::new(vec![value.map(str::to_owned)], number(amount))
    };
    Model::Matrix(Matrix::new(
        vec![property("region")],
        number("1"),
        vec![cell(Some("eu"), "2"), cell(None, "5")],
    ))
}

pub(crate) fn day() -> Timeframe {
    between("2026-03-09T12:00:00Z", "2026-03-10T13:00:00Z")
}

/// An event as the oracle sees it.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub(crate) key: usize,
    pub(crate) minute: i64,
    pub(crate) n: Option<i64>,
    pub(crate) region: usize,
    pub(crate) is_adas: bool,
}

impl Used {
    fn at(&self) -> Timestamp {
        Timestamp::from_micros(at(NOON).micros() + self.minute * 60_000_000).unwrap()
    }

    fn region(&self) -> PropertyValue {
        [
            PropertyValue::Null,
            "eu".into(),
            "us".into(),
            PropertyValue::Number(number("1.0")),
            "1".into(),
            true.into(),
        ][self.region]
            .clone()
    }

    fn n(&self) -> PropertyValue {
        self.n.map_or(PropertyValue::Null, |n| PropertyValue::Number(number(&n.to_string())))
    }

    pub(crate) fn event(&self) -> Event {
        let customer = if self.is_adas { "ada" } else { "eve" };
        let bare = event(customer, &format!("{:03}", self.key), self.at(), "");
        let mut properties = vec![(property("n"), self.n())];
        // Null and missing are the same.
        if self.region > 0 || self.key.is_multiple_of(2) {
            properties.push((property("region"), self.region()));
        }
        Event { properties: properties.into_iter().collect(), ..bare }
    }
}

pub(crate) fn used() -> impl Strategy<Value = Vec<Used>> {
    let one = (-23 * 60..5_i64, prop::option::of(-3..9_i64), 0..6_usize, prop::bool::weighted(0.8));
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let used = |(key, (minute, n, region, is_adas))| Used { key, minute, n, region, is_adas };
        all.into_iter().enumerate().map(used).collect()
    })
}

pub(crate) type Sees = fn(&Used) -> bool;
pub(crate) type Figure = fn(&[&Used]) -> Option<i64>;

/// Metrics, what each sees of the events, and the naive figure of what it sees.
pub(crate) const METRICS: &[(&str, Sees, Figure)] = &[
    (COUNT, |_| true, |seen| i64::try_from(seen.len()).ok()),
    (SUM, |used| used.n.is_some(), |seen| Some(seen.iter().filter_map(|used| used.n).sum())),
    (
        "SELECT max(n) FROM events WHERE region = 'eu' OR n < 4",
        |used| used.n.is_some_and(|n| used.region == 1 || n < 4),
        |seen| seen.iter().filter_map(|used| used.n).max(),
    ),
    (
        "SELECT count(DISTINCT n) FROM events",
        |used| used.n.is_some(),
        |seen| {
            i64::try_from(seen.iter().filter_map(|used| used.n).collect::<BTreeSet<_>>().len()).ok()
        },
    ),
    (
        "SELECT latest(n) FROM events",
        |used| used.n.is_some(),
        |seen| seen.iter().max_by_key(|used| (used.minute, used.key))?.n,
    ),
];

/// Filters, and what they say.
pub(crate) const FILTERS: &[(Option<&str>, Sees)] = &[
    (None, |_| true),
    (Some("n > 5"), |used| used.n.is_some_and(|n| n > 5)),
    (Some("region = 'eu' OR n = 0"), |used| used.region == 1 || used.n == Some(0)),
    (Some("region IS NULL"), |used| used.region == 0),
    (Some("NOT region = 'eu'"), |used| [2, 4].contains(&used.region)),
    (Some("timestamp < '2026-03-10T06:00:00Z'"), |used| used.minute < -6 * 60),
];

/// What a figure costs.
fn cost(model: usize, figure: Figure, seen: &[&Used]) -> (i64, Decimal) {
    let one = |seen: &[&Used]| figure(seen).unwrap_or(0);
    let times = |units: i64, amount: &str| number(&units.max(0).to_string()) * number(amount);
    match model {
        0 => (one(seen), times(one(seen), "0.25")),
        1 => (one(seen), times((one(seen).max(0) + 2) / 3, "1.25")),
        _ => {
            let cell = |is_in: Sees| {
                one(&seen.iter().copied().filter(|used| is_in(used)).collect::<Vec<_>>())
            };
            let (eu, none) = (cell(|used| used.region == 1), cell(|used| used.region == 0));
            let others = cell(|used| used.region > 1);
            let amount = times(eu, "2") + times(none, "5") + times(others, "1");
            (eu + none + others, amount)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groups_are_those_of_a_recomputation(
        used in used(),
        batch in 1..20_usize,
        metric in 0..METRICS.len(),
        model in 0..3_usize,
        filter in 0..FILTERS.len(),
        by in prop::sample::subsequence(vec!["region", "n"], 0..=2),
        (start, length) in (-24 * 60..0_i64, 0..26 * 60_i64),
    ) {
        let (sql, sees, figure) = METRICS[metric];
        // A matrix cannot rate the latest value.
        let model = if sql.contains("latest") { model % 2 } else { model };
        let fixture = Fixture::new();
        let ada = fixture.customer("ada").id;
        let price = fixture.price_of(sql, [each("0.25"), package(), matrix()][model].clone());
        for batch in used.chunks(batch) {
            run(fixture.account.ingest(batch.iter().map(Used::event).collect::<Vec<_>>())).unwrap();
        }

        let instant = |minute: i64| at(NOON).micros() + minute * 60_000_000;
        let frame = [start, start + length].map(|minute| Timestamp::from_micros(instant(minute)).unwrap());
        let mut evaluation = PriceEvaluation::new(ada, Timeframe::new(frame[0], frame[1]).unwrap());
        let (text, matches) = FILTERS[filter];
        evaluation.filter = text.map(|text| Expression::parse(text).unwrap());
        evaluation.grouping = by.iter().map(|name| property(name).into()).collect();

        let mut groups = BTreeMap::<Vec<PropertyValue>, Vec<&Used>>::new();
        if by.is_empty() {
            groups.insert(Vec::new(), Vec::new());
        }
        let within = |used: &&Used| start <= used.minute && used.minute < start + length;
        for used in used.iter().filter(within) {
            if used.is_adas && sees(used) && matches(used) {
                let value = |name: &&str| if *name == "n" { used.n() } else { used.region() };
                groups.entry(by.iter().map(value).collect()).or_default().push(used);
            }
        }
        let expect: Vec<_> = groups.into_iter().map(|(values, seen)| {
            let (quantity, amount) = cost(model, figure, &seen);
            (values, number(&quantity.to_string()), amount)
        }).collect();
        let found = fixture.evaluate(price, &evaluation).unwrap();
        let found: Vec<_> = found
            .into_iter()
            .map(|group| (group.grouping_values, group.quantity, group.amount))
            .collect();
        prop_assert_eq!(found, expect);
    }
}

/// `ada`, who used 7 in the region `eu`.
fn seven(model: Model) -> (Fixture, PriceId) {
    let fixture = Fixture::new();
    let price = fixture.price_of(SUM, model);
    fixture.customer("ada");
    let used = Used { key: 1, minute: 0, n: Some(7), region: 1, is_adas: true };
    run(fixture.account.ingest([used.event()])).unwrap();
    (fixture, price)
}

fn by_region() -> PriceEvaluation {
    let grouping = vec![property("region").into()];
    PriceEvaluation { grouping, ..PriceEvaluation::new(external("ada"), day()) }
}

/// The kind of an error, and where it points.
fn refusal(answer: Result<Vec<EvaluatedGroup>, Error>) -> (ErrorKind, Option<String>) {
    let error = answer.unwrap_err();
    (error.kind(), error.violations().first().map(|violation| violation.field.clone()))
}

#[test]
fn values_of_different_types_are_different_groups_in_order() {
    let fixture = Fixture::new();
    let price = fixture.price_of(COUNT, each("1"));
    fixture.customer("ada");
    let used = |key| Used { key, minute: 0, n: None, region: key % 6, is_adas: true };
    run(fixture.account.ingest((0..12).map(|key| used(key).event()).collect::<Vec<_>>())).unwrap();
    let groups = fixture.evaluate(price, &by_region()).unwrap();
    let values: Vec<_> = groups.iter().flat_map(|group| group.grouping_values.clone()).collect();
    let one = PropertyValue::Number(number("1"));
    let texts = ["1", "eu", "us"].map(PropertyValue::from);
    assert_eq!(values[..3], [PropertyValue::Null, true.into(), one]);
    assert_eq!(values[3..], texts);
    assert!(groups.iter().all(|group| group.quantity == number("2")));
}

#[test]
fn a_group_is_rated_as_if_it_were_all_there_is() {
    let (fixture, price) = seven(package());
    let more = Used { key: 2, minute: 1, n: Some(1), region: 2, is_adas: true };
    run(fixture.account.ingest([more.event()])).unwrap();
    let amounts = |evaluation: &PriceEvaluation| {
        let groups = fixture.evaluate(price, evaluation).unwrap().into_iter();
        groups.map(|group| group.amount.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(amounts(&PriceEvaluation::new(external("ada"), day())), ["3.75"]);
    assert_eq!(amounts(&by_region()), ["3.75", "1.25"], "a package is begun in each");
}

#[test]
fn amounts_are_in_the_unit_of_the_price_and_before_adjustments() {
    let (fixture, _) = seven(each("1"));
    let metric = fixture.metric(SUM);
    let mut new = fixture.per_unit(&metric, Cadence::Monthly);
    new.currency = unit("credits");
    new.external_price_id = Some(external("adjusted"));
    new.adjustments = Adjustments {
        discounts: vec![Discount::Percentage(accrue::Fraction::parse("0.5").unwrap())],
        minimum: Some(number("100")),
        maximum: Some(number("200")),
    };
    run(fixture.account.create_price(new)).unwrap();
    let used = Used { key: 2, minute: 0, n: Some(9), region: 0, is_adas: true };
    run(fixture.account.ingest([used.event()])).unwrap();
    for evaluation in [PriceEvaluation::new(external("ada"), day()), by_region()] {
        let answer = fixture.account.evaluate_price(external("adjusted"), &evaluation);
        let groups = block_on(answer).unwrap();
        let amounts: Vec<_> = groups.iter().map(|group| group.amount.to_string()).collect();
        match &amounts[..] {
            [one] => assert_eq!(one, "4"),
            many => assert_eq!(many, ["2.25", "1.75"]),
        }
        assert!(groups.iter().all(|group| group.currency == unit("credits")));
    }
}

#[test]
fn what_was_accepted_before_the_metric_counts_in_every_way_of_adding_up() {
    let (fixture, _) = seven(each("1"));
    let price = fixture.price_of(SUM, matrix());
    let used = Used { key: 2, minute: 0, n: Some(9), region: 1, is_adas: true };
    run(fixture.account.ingest([used.event()])).unwrap();
    for evaluation in [PriceEvaluation::new(external("ada"), day()), by_region()] {
        let [group] = &fixture.evaluate(price, &evaluation).unwrap()[..] else { panic!() };
        assert_eq!((&group.quantity, &group.amount), (&number("16"), &number("32")));
    }
}

#[test]
fn without_events_there_is_nothing_in_the_one_group_and_no_other_group() {
    let fixture = Fixture::new();
    let price = fixture.price_of("SELECT max(n) FROM events", each("1"));
    fixture.customer("ada");
    let plain = PriceEvaluation::new(external("ada"), day());
    let filter = Some(Expression::parse("n > 0").unwrap());
    for evaluation in [plain.clone(), PriceEvaluation { filter, ..plain }] {
        let [group] = &fixture.evaluate(price, &evaluation).unwrap()[..] else { panic!() };
        let zero = Decimal::zero();
        assert_eq!((&group.quantity, &group.amount), (&zero, &zero));
        assert_eq!(group.grouping_values, []);
    }
    assert_eq!(fixture.evaluate(price, &by_region()).unwrap(), []);
}

#[test]
fn nothing_is_written() {
    let (fixture, price) = seven(matrix());
    let before = fixture.dump();
    fixture.evaluate(price, &by_region()).unwrap();
    assert_eq!(fixture.dump(), before);
}

#[test]
fn a_fixed_price_rates_no_usage() {
    let (fixture, _) = seven(each("1"));
    let mut fee = fixture.fee(Cadence::Monthly);
    fee.charge = Charge::Fixed {
        quantity: number("2"),
        model: each("1"),
        billing_mode: BillingMode::InArrear,
    }
    .into();
    let fee = run(fixture.account.create_price(fee)).unwrap().id;
    let refused = refusal(fixture.evaluate(fee, &by_region()));
    assert_eq!(refused, (ErrorKind::ConstraintViolation, None));
}

#[test]
fn a_price_or_a_customer_that_is_not_there_is_not_found() {
    let (fixture, price) = seven(each("1"));
    let unknown: PriceId = "019cd79e-4600-7000-8000-000000000000".parse().unwrap();
    assert!(fixture.evaluate(unknown, &by_region()).unwrap_err().is_not_found());
    let all = by_region();
    let of_alias = fixture.account.evaluate_price(external("none"), &all);
    assert!(block_on(of_alias).unwrap_err().is_not_found());
    // Events wait for this one, but nobody has created it.
    fixture.use_now("eve", "waiting", "1");
    let eve = PriceEvaluation { customer: external("eve").into(), ..by_region() };
    assert!(fixture.evaluate(price, &eve).unwrap_err().is_not_found());
    let ada = block_on(fixture.account.fetch_customer(external("ada"))).unwrap().id;
    run(fixture.account.delete_customer(ada)).unwrap();
    assert!(fixture.evaluate(price, &by_region()).unwrap_err().is_not_found());
}

#[test]
fn a_timeframe_starts_at_most_100_days_ago() {
    let (fixture, price) = seven(each("1"));
    let ask = |start| {
        let timeframe = between(start, "2026-03-11T00:00:00Z");
        fixture.evaluate(price, &PriceEvaluation::new(external("ada"), timeframe))
    };
    assert_eq!(ask("2025-11-30T12:00:00Z").unwrap()[0].quantity, number("7"));
    let refused = refusal(ask("2025-11-30T11:59:59.999999Z"));
    assert_eq!(refused, (ErrorKind::RequestValidation, Some("timeframe.start".to_owned())));
}

#[test]
fn at_most_64_properties_are_grouped_by() {
    let (fixture, price) = seven(each("1"));
    let ask = |count: usize| {
        let grouping = (0..count).map(|n| property(&format!("p{n}")).into()).collect();
        fixture.evaluate(price, &PriceEvaluation { grouping, ..by_region() })
    };
    let groups = ask(64).unwrap();
    assert_eq!(groups[0].grouping_values, vec![PropertyValue::Null; 64]);
    let refused = refusal(ask(65));
    assert_eq!(refused, (ErrorKind::RequestValidation, Some("grouping".to_owned())));
}

#[test]
fn a_property_is_grouped_by_once() {
    let (fixture, price) = seven(each("1"));
    let ask = |names: &[&str]| {
        let grouping = names.iter().map(|name| property(name).into()).collect();
        fixture.evaluate(price, &PriceEvaluation { grouping, ..by_region() })
    };
    assert_eq!(ask(&["region", "n", "Region"]).unwrap().len(), 1);
    for twice in [&["region", "region"][..], &["n", "region", "n"]] {
        let refused = refusal(ask(twice));
        assert_eq!(refused, (ErrorKind::RequestValidation, Some("grouping".to_owned())));
    }
    let error = ask(&["n", "region", "n"]).unwrap_err();
    let expect = "found n more than once, expected each property once";
    assert_eq!(error.violations()[0].message, expect);
}

#[test]
fn the_values_of_all_groups_have_at_most_8_mib() {
    let fixture = Fixture::new();
    let price = fixture.price_of(COUNT, each("1"));
    fixture.customer("ada");
    // Four values of 4 KiB less a little, which make an event as large as one may be.
    let names = ["a", "b", "c", "d"];
    let ingest = |key: usize, length: usize| {
        let bare = event("ada", &key.to_string(), at(NOON), "");
        let text = format!("{key:0>length$}");
        let values = names.map(|name| (property(name), PropertyValue::from(text.as_str())));
        run(fixture.account.ingest([Event { properties: values.into_iter().collect(), ..bare }]))
            .unwrap();
    };
    let ask = |names: &[&str]| {
        let grouping = names.iter().map(|name| property(name).into()).collect();
        let all = PriceEvaluation::new(external("ada"), day());
        fixture.evaluate(price, &PriceEvaluation { grouping, ..all })
    };
    // 520 times 16 KiB less 256 bytes are 8 MiB less 2,048 bytes.
    (0..520).for_each(|key| ingest(key, 4_032));
    ingest(520, 512);
    let groups = ask(&names).unwrap();
    let texts = groups.iter().flat_map(|group| &group.grouping_values).map(|value| match value {
        PropertyValue::Text(text) => text.len(),
        other => panic!("{other:?}"),
    });
    assert_eq!(texts.sum::<usize>(), 8 * 1024 * 1024);
    ingest(521, 1);
    assert_eq!(refusal(ask(&names)), (ErrorKind::TooManyResults, None));
    assert_eq!(ask(&names[..3]).unwrap().len(), 522);
}

#[test]
fn there_are_at_most_10000_groups_and_100000_events_that_are_read() {
    let fixture = Fixture::new();
    let price = fixture.price_of(COUNT, each("1"));
    fixture.customer("ada");
    let ingest = |from: usize, to: usize, second: i64| {
        let moment = Timestamp::from_micros(at(NOON).micros() + second * 1_000_000).unwrap();
        for batch in (from..to).collect::<Vec<_>>().chunks(1_000) {
            let of = |n: &usize| event("ada", &n.to_string(), moment, &n.to_string());
            run(fixture.account.ingest(batch.iter().map(of).collect::<Vec<_>>())).unwrap();
        }
    };
    let ask = |start: &str, grouping: &[&str]| {
        let timeframe = between(start, "2026-03-10T13:00:00Z");
        let grouping = grouping.iter().map(|name| property(name).into()).collect();
        let all = PriceEvaluation::new(external("ada"), timeframe);
        fixture.evaluate(price, &PriceEvaluation { grouping, ..all })
    };
    let (noon, later) = (NOON, "2026-03-10T12:00:02Z");
    ingest(0, 10_000, 2);
    assert_eq!(ask(later, &["n"]).unwrap().len(), 10_000);
    ingest(10_000, 10_001, 2);
    assert_eq!(refusal(ask(later, &["n"])), (ErrorKind::TooManyResults, None));
    ingest(10_001, 100_000, 1);
    assert_eq!(ask(noon, &["none"]).unwrap()[0].quantity, number("100000"));
    ingest(100_000, 100_001, 0);
    assert_eq!(refusal(ask(noon, &["none"])), (ErrorKind::TooManyResults, None));
    assert_eq!(ask(noon, &[]).unwrap()[0].quantity, number("100001"), "from buckets");
}
