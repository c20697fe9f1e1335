//! Alerts on the cost of groups: what they are made with, and how each group is judged (subscriptions 8.1 to 8.3).

use accrue::{
    Decimal, ErrorKind, PropertyName, WrittenDecimal,
    alert::{Alert, Condition, NewAlert, NewCondition, ThresholdOverride},
    limits,
    price::{
        Adjustments, Charge, Discount, FilterOperator, FilterValues, GroupedTiered, LowerBoundTier,
        Matrix, MatrixCell, Model, NewPrice, PriceClass, PriceFilter,
    },
    usage::Event,
    webhook::Body,
};

use crate::support::{
    fixture::{NOON, at, event, number, refused, run, thresholds},
    priced::{NOTHING, Priced, cost_alert, metered, priced, unit},
};

pub(crate) fn key(text: &str) -> PropertyName {
    PropertyName::parse(text).unwrap()
}

pub(crate) fn keys(of: &[&str]) -> Vec<PropertyName> {
    of.iter().copied().map(key).collect()
}

/// An alert in USD on the groups of some keys.
pub(crate) fn by_keys(of: &[&str], values: &[&str]) -> NewAlert {
    NewAlert::grouped_cost_exceeded(keys(of), unit("USD"), thresholds(values))
}

/// Thresholds for the groups of some values, or none: of some keys, or of all.
pub(crate) fn instead(of: &[&str], group: &[&str], values: &[&str]) -> ThresholdOverride {
    ThresholdOverride {
        group_keys: (!of.is_empty()).then(|| keys(of)),
        group_values: group.iter().map(|value| (*value).to_owned()).collect(),
        thresholds: (!values.is_empty()).then(|| thresholds(values)),
    }
}

/// An event of `ada` at noon with the texts of some properties.
pub(crate) fn with(id: &str, n: &str, of: &[(&str, &str)]) -> Event {
    let mut event = event("ada", id, at(NOON), n);
    let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    let more = of.iter().map(|(name, value)| (key(name), (*value).into()));
    event.properties = known.chain(more).collect();
    event
}

impl Priced {
    pub(crate) fn ingest_all(&self, events: impl IntoIterator<Item = Event>) {
        run(self.fixture.account.ingest(events)).unwrap();
    }

    /// Ingests an event of a team and region, and gives what is told.
    pub(crate) fn by_team(&self, id: &str, n: &str, team: &str, region: &str) -> Vec<String> {
        self.ingest_all([with(id, n, &[("team", team), ("region", region)])]);
        self.told()
    }
}

fn refuses(priced: &Priced, new: NewAlert, field: &str) {
    let call = priced.fixture.account.create_subscription_alert(priced.subscription.id, new);
    let error = run(call).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation, "{error}");
    assert_eq!(error.violations()[0].field, field, "{error}");
}

#[test]
fn subscriptions_8_1_2_keys_are_distinct_and_at_most_four() {
    let priced = metered();
    refuses(&priced, by_keys(&[], &["1"]), "grouping_keys");
    refuses(&priced, by_keys(&["a", "b", "a"], &["1"]), "grouping_keys");
    refuses(&priced, by_keys(&["a", "b", "c", "d", "e"], &["1"]), "grouping_keys");
    let alert = priced.alert(by_keys(&["a", "b", "c", "d"], &["1"]));
    assert_eq!(alert.condition.grouping_keys(), keys(&["a", "b", "c", "d"]));
    assert_eq!(alert.condition.alert_type(), "cost_exceeded");
}

#[test]
fn subscriptions_8_1_3_price_filters_tell_which_prices_count() {
    let priced = priced(|fixture, metric| {
        [fixture.usage_at("1", metric), fixture.usage_at("10", metric), fixture.advance_fee("500")]
    });
    let prices = priced.prices();
    let filtered = |values| {
        let filter = PriceFilter { operator: FilterOperator::Includes, values };
        let condition = NewCondition::GroupedCostExceeded {
            grouping_keys: keys(&["team"]),
            currency: unit("USD"),
            price_filters: vec![filter],
        };
        priced.alert(NewAlert::new(condition, thresholds(&["20"])))
    };
    filtered(FilterValues::PriceId([prices[0]].into()));
    filtered(FilterValues::PriceId([prices[1]].into()));
    filtered(FilterValues::PriceType([PriceClass::Fixed].into()));
    let told = priced.by_team("a", "2", "ml", "eu");
    assert_eq!(told, ["ml 20: none -> 20 by event a"]);
    let told = priced.by_team("b", "18", "ml", "eu");
    assert_eq!(told, ["ml 20: 2 -> 20 by event b"]);
}

#[test]
fn subscriptions_8_1_4_grouped_alerts_are_beside_the_one_on_the_whole_cost_and_differ() {
    let priced = metered();
    priced.alert(cost_alert(&["1"]));
    priced.alert(by_keys(&["team"], &["1"]));
    priced.alert(by_keys(&["team", "region"], &["1"]));
    let mut other = by_keys(&["team"], &["1"]);
    let NewCondition::GroupedCostExceeded { price_filters, .. } = &mut other.condition else {
        panic!()
    };
    let values = FilterValues::PriceType([PriceClass::Usage].into());
    price_filters.push(PriceFilter { operator: FilterOperator::Includes, values });
    priced.alert(other.clone());
    let create = |new| {
        let create = priced.fixture.account.create_subscription_alert(priced.subscription.id, new);
        refused(&priced.fixture, create).0
    };
    for same in [other, by_keys(&["team"], &["2"]), by_keys(&["region", "team"], &["1"])] {
        assert_eq!(create(same), ErrorKind::ConstraintViolation);
    }
    for count in 3..limits::GROUPED_ALERTS {
        priced.alert(by_keys(&[&format!("key{count}")], &["1"]));
    }
    assert_eq!(create(by_keys(&["more"], &["1"])), ErrorKind::ConstraintViolation);
}

#[test]
fn subscriptions_8_1_5_overrides_are_those_of_a_subscription_with_keys() {
    let priced = metered();
    let overrides = || vec![instead(&[], &["ml"], &["5"])];
    let without = NewAlert { threshold_overrides: overrides(), ..cost_alert(&["1"]) };
    refuses(&priced, without, "threshold_overrides");
    let of_plan = || NewAlert { threshold_overrides: overrides(), ..by_keys(&["team"], &["1"]) };
    let error =
        run(priced.fixture.account.create_plan_alert(priced.plan.id, of_plan())).unwrap_err();
    assert_eq!(error.violations()[0].field, "threshold_overrides");
    assert_eq!(priced.alert(of_plan()).threshold_overrides, overrides());
}

#[test]
fn subscriptions_8_1_6_and_8_1_7_overrides_name_keys_of_the_alert_each_group_once() {
    let priced = metered();
    let check = |overrides: &[ThresholdOverride], field| {
        let threshold_overrides = overrides.to_vec();
        let new = NewAlert { threshold_overrides, ..by_keys(&["team", "region"], &["1"]) };
        refuses(&priced, new, field);
    };
    check(&[instead(&[], &["ml"], &["1"])], "threshold_overrides[0].group_values");
    check(&[instead(&["user"], &["ml"], &["1"])], "threshold_overrides[0].group_keys");
    let none = ThresholdOverride { group_keys: Some(Vec::new()), ..instead(&[], &[], &[]) };
    check(&[none], "threshold_overrides[0].group_keys");
    let twice = [instead(&["team"], &["ml"], &["1"]), instead(&["team"], &["ml"], &["2"])];
    check(&twice, "threshold_overrides[1]");
}

/// The example of subscriptions 8.2: thresholds of 50 and 100 by team and region; 200 for ml, none for ml in eu.
pub(crate) fn example() -> (Priced, Alert) {
    let priced = metered();
    let threshold_overrides =
        vec![instead(&["team"], &["ml"], &["200"]), instead(&[], &["ml", "eu"], &[])];
    let new = by_keys(&["team", "region"], &["50", "100"]);
    let alert = priced.alert(NewAlert { threshold_overrides, ..new });
    (priced, alert)
}

#[test]
fn subscriptions_8_2_example() {
    let (priced, _) = example();
    assert_eq!(priced.by_team("a", "120", "ml", "us"), NOTHING);
    assert_eq!(priced.by_team("b", "85", "ml", "us"), ["ml/us 200: 120 -> 205 by event b"]);
    assert_eq!(priced.by_team("c", "900", "ml", "eu"), NOTHING);
    assert_eq!(priced.by_team("d", "60", "web", "eu"), ["web/eu 50: none -> 60 by event d"]);
}

#[test]
fn subscriptions_8_2_1_a_missing_property_is_an_empty_text_and_others_are_texts() {
    let priced = metered();
    priced.alert(by_keys(&["team"], &["10"]));
    priced.ingest_all([with("a", "6", &[]), with("b", "6", &[("team", "")])]);
    assert_eq!(priced.told(), [" 10: 6 -> 12 by event b"]);
    let number = |id: &str, value: i64| {
        let mut event = with(id, "6", &[]);
        let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
        event.properties = known.chain([(key("team"), Decimal::from(value).into())]).collect();
        event
    };
    priced.ingest_all([number("c", 7), with("d", "6", &[("team", "7")])]);
    assert_eq!(priced.told(), ["7 10: 6 -> 12 by event d"]);
}

fn of_model(
    fixture: &crate::support::fixture::Fixture,
    metric: &accrue::metric::Metric,
    model: Model,
) -> NewPrice {
    let charge = Charge::Usage { metric_id: metric.id, model }.into();
    NewPrice { charge, ..fixture.usage_at("1", metric) }
}

fn written(text: &str) -> WrittenDecimal {
    WrittenDecimal::parse(text).unwrap()
}

#[test]
fn subscriptions_8_2_2_and_8_2_3_each_price_rates_the_group_alone_without_fees_and_adjustments() {
    let priced = priced(|fixture, metric| {
        let tier = |bound, amount| LowerBoundTier {
            tier_lower_bound: written(bound),
            unit_amount: written(amount),
        };
        let tiers = vec![tier("0", "2"), tier("10", "1")];
        let by_user = Model::GroupedTiered(GroupedTiered { grouping_key: key("user"), tiers });
        let cell = |value: &str, amount| MatrixCell {
            dimension_values: vec![Some(value.to_owned())],
            unit_amount: written(amount),
            scaling_factor: None,
        };
        let matrix = Model::Matrix(Matrix {
            dimensions: vec![Some(key("region"))],
            default_unit_amount: written("3"),
            scaling_factor: None,
            matrix_values: vec![cell("eu", "5")],
        });
        let mut adjusted = fixture.usage_at("1", metric);
        adjusted.adjustments = Adjustments {
            discounts: vec![Discount::Percentage(accrue::Fraction::parse("0.5").unwrap())],
            minimum: Some(number("1")),
            maximum: Some(number("1")),
        };
        [
            of_model(fixture, metric, by_user),
            of_model(fixture, metric, matrix),
            adjusted,
            fixture.advance_fee("700"),
        ]
    });
    priced.alert(by_keys(&["team"], &["100", "148"]));
    let of = |id: &str, n: &str, team: &str, user: &str, region: &str| {
        with(id, n, &[("team", team), ("user", user), ("region", region)])
    };
    // 12 units of one user: 2 * 10 + 1 * 2; in eu: 5 * 12; and 12.
    priced.ingest_all([of("a", "12", "ml", "u", "eu")]);
    assert_eq!(priced.told(), NOTHING, "94");
    // The user's other team begins anew at 2 for each: 2 * 10 + 3 * 10 + 10.
    priced.ingest_all([of("b", "10", "web", "u", "us")]);
    assert_eq!(priced.told(), NOTHING, "60");
    // Another user: 2 * 9; elsewhere: 3 * 9; and 9.
    priced.ingest_all([of("c", "9", "ml", "v", "us")]);
    assert_eq!(priced.told(), ["ml 100 148: 94 -> 148 by event c"]);
}

#[test]
fn subscriptions_8_2_4_the_more_specific_override_wins_and_the_first_among_equals() {
    let priced = metered();
    let threshold_overrides = vec![
        instead(&["region"], &["eu"], &["30"]),
        instead(&["team"], &["ml"], &["20"]),
        instead(&["region", "team"], &["us", "ml"], &["10"]),
    ];
    let new = by_keys(&["team", "region"], &["40"]);
    priced.alert(NewAlert { threshold_overrides, ..new });
    assert_eq!(priced.by_team("a", "99", "ml", "eu"), ["ml/eu 30: none -> 99 by event a"]);
    assert_eq!(priced.by_team("b", "99", "ml", "us"), ["ml/us 10: none -> 99 by event b"]);
    assert_eq!(priced.by_team("c", "99", "ml", "jp"), ["ml/jp 20: none -> 99 by event c"]);
    assert_eq!(priced.by_team("d", "99", "web", "jp"), ["web/jp 40: none -> 99 by event d"]);
}

#[test]
fn subscriptions_8_2_5_a_group_without_thresholds_never_fires() {
    let (priced, _) = example();
    assert_eq!(priced.by_team("a", "5000", "ml", "eu"), NOTHING);
    assert_eq!(priced.by_team("b", "5000", "ml", "eu"), NOTHING);
}

#[test]
fn subscriptions_8_2_6_a_group_fires_once_for_each_threshold_and_period() {
    let priced = metered();
    priced.alert(by_keys(&["team"], &["10", "20"]));
    assert_eq!(priced.by_team("a", "10", "ml", ""), ["ml 10: none -> 10 by event a"]);
    assert_eq!(priced.by_team("b", "9", "web", ""), NOTHING);
    assert_eq!(priced.by_team("c", "5", "ml", ""), NOTHING);
    assert_eq!(priced.by_team("d", "-10", "ml", ""), NOTHING);
    assert_eq!(priced.by_team("e", "20", "ml", ""), ["ml 20: 5 -> 25 by event e"]);
    assert_eq!(priced.by_team("f", "1", "web", ""), ["web 10: 9 -> 10 by event f"]);
    priced.fixture.set("2026-04-10T12:00:00Z");
    let mut later = with("g", "10", &[("team", "ml")]);
    later.timestamp = at("2026-04-10T12:00:00Z");
    priced.ingest_all([later]);
    assert_eq!(priced.told(), ["ml 10: none -> 10 by event g"]);
}

#[test]
fn subscriptions_8_3_one_message_for_an_event_and_alert_however_events_are_cut() {
    let events = || {
        ["ml", "web", "ml", "web", "ml"]
            .into_iter()
            .enumerate()
            .map(|(place, team)| with(&place.to_string(), "6", &[("team", team), ("region", "eu")]))
    };
    let watched = || {
        let priced = metered();
        priced.alert(by_keys(&["team"], &["10", "15"]));
        priced.alert(by_keys(&["region"], &["20"]));
        priced
    };
    let (together, apart) = (watched(), watched());
    together.ingest_all(events());
    events().for_each(|event| apart.ingest_all([event]));
    let expect = [
        "ml 10: 6 -> 12 by event 2",
        "web 10: 6 -> 12 by event 3",
        "eu 20: 18 -> 24 by event 3",
        "ml 15: 12 -> 18 by event 4",
    ];
    assert_eq!(together.told(), expect);
    assert_eq!(apart.told(), expect);
}

#[test]
fn subscriptions_8_3_a_message_tells_of_the_alert_the_period_and_the_groups() {
    let (priced, alert) = example();
    priced.ingest_all([with("a", "120", &[("team", "web"), ("region", "us")])]);
    let messages = priced.fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.message_type(), "subscription.grouped_cost_exceeded");
    let Body::GroupedCostExceeded(exceeded) = &message.body else { panic!() };
    assert_eq!((exceeded.subscription_id, &exceeded.alert), (priced.subscription.id, &alert));
    assert!(matches!(exceeded.alert.condition, Condition::GroupedCostExceeded { .. }));
    assert_eq!(exceeded.timeframe.start(), at(NOON));
    assert_eq!(exceeded.groups.len(), 1);
    assert_eq!(exceeded.groups[0].group_values, ["web", "us"]);
    assert_eq!(exceeded.groups[0].thresholds, [number("50"), number("100")]);
}
