//! Prices of dimensional price groups (subscriptions 6.3, price models 7.3).

use accrue::{
    Call, ErrorKind, PropertyName,
    cost::CostQuery,
    metric::Metric,
    plan::{NewPlan, NewPlanVersion, PlanVersionChange},
    price::{
        Cadence, Charge, DimensionalPriceGroup, Matrix, MatrixCell, Model, NewCharge,
        NewDimensionalPriceConfiguration, NewPrice, Package, PartOf, Price, Tier, Tiered, Unit,
    },
    subscription::Subscription,
    usage::{Event, PropertyValue},
};

use crate::support::fixture::{
    COUNT, Fixture, NOON, SUM, UNKNOWN, at, block_on, event, external, name, number, refused, run,
    usage_alert, usd,
};

/// An event at noon with the number `n` and other properties.
pub(crate) fn with(key: &str, n: &str, properties: &[(&str, PropertyValue)]) -> Event {
    with_at(key, n, NOON, properties)
}

pub(crate) fn with_at(
    key: &str,
    n: &str,
    when: &str,
    properties: &[(&str, PropertyValue)],
) -> Event {
    let plain = event("ada", key, at(when), n);
    let own = plain.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    let more =
        properties.iter().map(|(name, value)| (PropertyName::parse(*name).unwrap(), value.clone()));
    let properties = own.chain(more).collect();
    Event { properties, ..plain }
}

pub(crate) fn of(region: &str, tier: &str) -> [(&'static str, PropertyValue); 2] {
    [("region", region.into()), ("tier", tier.into())]
}

pub(crate) fn each(amount: &str) -> Model {
    Model::Unit(Unit::new(number(amount)))
}

/// A metric with a group by region and tier.
pub(crate) struct Grouped {
    pub(crate) fixture: Fixture,
    pub(crate) metric: Metric,
    pub(crate) group: DimensionalPriceGroup,
}

impl Grouped {
    pub(crate) fn new(sql: &str) -> Self {
        let fixture = Fixture::new();
        let metric = fixture.metric(sql);
        let group = fixture.group(&metric, &["region", "tier"]);
        Self { fixture, metric, group }
    }

    /// A monthly price of a combination, which says no metric.
    pub(crate) fn rated(&self, values: &[&str], model: Model) -> NewPrice {
        let own = NewDimensionalPriceConfiguration::new(self.group.id, values.iter().copied());
        NewPrice::builder(name("price"), self.metric.item_id)
            .billed(Cadence::Monthly, usd())
            .usage_of(own, model)
    }

    pub(crate) fn price(&self, values: &[&str], amount: &str) -> NewPrice {
        self.rated(values, each(amount))
    }

    pub(crate) fn create(&self, new: NewPrice) -> Call<Price> {
        self.fixture.account.create_price(new)
    }

    /// Subscribes `ada` to a plan of some prices, from the tenth on.
    pub(crate) fn subscribe(&self, prices: impl IntoIterator<Item = NewPrice>) -> Subscription {
        let plan = self.fixture.priced_plan(prices.into_iter().map(Into::into));
        let ada = block_on(self.fixture.account.fetch_customer(external("ada")));
        let ada = ada.unwrap_or_else(|_| self.fixture.customer("ada"));
        self.fixture.subscribe_from(ada.id, &plan, Some("2026-03-10T00:00:00Z"))
    }

    pub(crate) fn ingest(&self, events: impl IntoIterator<Item = Event>) {
        let events: Vec<_> = events.into_iter().collect();
        if !events.is_empty() {
            run(self.fixture.account.ingest(events)).unwrap();
        }
    }

    /// The quantity and the total of each line of what a subscription costs.
    pub(crate) fn lines(&self, subscription: &Subscription) -> Vec<String> {
        let cost = self.fixture.cost(subscription, &CostQuery::default());
        let whole = CostQuery { timeframe: Some(cost.timeframe).into(), ..CostQuery::default() };
        assert_eq!(self.fixture.cost(subscription, &whole), cost, "summed up it is the same");
        let line = |line: &accrue::cost::CostLine| format!("{}: {}", line.quantity, line.total);
        cost.lines.iter().map(line).collect()
    }
}

/// The events of the example.
pub(crate) fn used() -> [Event; 4] {
    [
        with("a", "500", &of("eu", "gold")),
        with("b", "200", &of("us", "gold")),
        with("c", "40", &of("eu", "silver")),
        with("d", "10", &[("tier", "gold".into())]),
    ]
}

#[test]
fn subscriptions_6_3_1_and_5_each_price_charges_its_combination_as_in_the_example() {
    let grouped = Grouped::new(SUM);
    let prices = [grouped.price(&["eu", "gold"], "0.02"), grouped.price(&["us", "gold"], "0.03")];
    let subscription = grouped.subscribe(prices);
    let alert = usage_alert(grouped.metric.id, &["750"]);
    let account = &grouped.fixture.account;
    run(account.create_subscription_alert(subscription.id, alert)).unwrap();
    grouped.fixture.messages();
    grouped.ingest(used());
    assert_eq!(grouped.lines(&subscription), ["500: 10", "200: 6"]);
    assert_eq!(grouped.fixture.fired(), ["750: 740 -> 750"], "the metric counts all of them");
    assert_eq!(grouped.fixture.usage(&subscription, &grouped.metric).unwrap(), "750");
}

#[test]
fn subscriptions_6_3_2_values_are_compared_as_texts() {
    let grouped = Grouped::new(SUM);
    let subscription = grouped.subscribe([grouped.price(&["1.5", "true"], "1")]);
    let number = |text: &str| PropertyValue::from(number(text));
    grouped.ingest([
        with("a", "1", &[("region", number("1.50")), ("tier", true.into())]),
        with("b", "2", &[("region", "1.5".into()), ("tier", "true".into())]),
        with("c", "4", &[("region", number("15e-1")), ("tier", "True".into())]),
        with("d", "8", &[("region", "1.50".into()), ("tier", true.into())]),
        with("e", "16", &[("region", number("1.5")), ("tier", PropertyValue::Null)]),
    ]);
    assert_eq!(grouped.lines(&subscription), ["3: 3"]);
}

#[test]
fn subscriptions_6_3_3_there_is_one_value_for_each_dimension() {
    let grouped = Grouped::new(SUM);
    let check = |new: NewPrice, expect: ErrorKind| {
        assert_eq!(refused(&grouped.fixture, grouped.create(new.clone())).0, expect);
        let mut plan = NewPlan::new(name("plan"), usd());
        plan.prices = vec![new.clone().into()];
        let plan = grouped.fixture.account.create_plan(plan);
        assert_eq!(refused(&grouped.fixture, plan).0, expect);
    };
    check(grouped.price(&["eu"], "1"), ErrorKind::ConstraintViolation);
    check(grouped.price(&["eu", "gold", "1"], "1"), ErrorKind::ConstraintViolation);
    check(grouped.price(&[], "1"), ErrorKind::ConstraintViolation);
    let long = "x".repeat(129);
    check(grouped.price(&["eu", &long], "1"), ErrorKind::RequestValidation);
    run(grouped.create(grouped.price(&["", &long[1..]], "1"))).unwrap();

    // Their order is that of the dimensions.
    let subscription = grouped.subscribe([grouped.price(&["gold", "eu"], "1")]);
    grouped.ingest(used());
    assert_eq!(grouped.lines(&subscription), ["0: 0"]);
}

#[test]
fn subscriptions_6_3_4_the_metric_is_the_groups() {
    let grouped = Grouped::new(SUM);
    let other = grouped.fixture.metric(COUNT);
    let mut new = grouped.price(&["eu", "gold"], "1");
    let absent = run(grouped.create(new.clone())).unwrap();
    let charge = Charge::Usage { metric_id: grouped.metric.id, model: each("1") };
    assert_eq!(absent.charge, charge);
    new.charge = charge.into();
    run(grouped.create(new.clone())).unwrap();
    new.charge = Charge::Usage { metric_id: other.id, model: each("1") }.into();
    let (kind, text) = refused(&grouped.fixture, grouped.create(new.clone()));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    assert!(text.contains(&grouped.metric.id.to_string()), "{text}");
    new.charge = NewCharge::UsageOfGroup(each("1"));
    new.dimensional_price_configuration = None;
    let (kind, _) = refused(&grouped.fixture, grouped.create(new));
    assert_eq!(kind, ErrorKind::RequestValidation, "a price of no group names its metric");
}

#[test]
fn subscriptions_6_4_a_price_names_a_group_that_exists_by_either_id() {
    let grouped = Grouped::new(SUM);
    let account = &grouped.fixture.account;
    let mut new = grouped.price(&["eu", "gold"], "1");
    let unknown: accrue::DimensionalPriceGroupId = UNKNOWN.parse().unwrap();
    for group in [unknown.into(), external("by region").into()] {
        let own = new.dimensional_price_configuration.as_mut().unwrap();
        own.dimensional_price_group = group;
        let (kind, text) = refused(&grouped.fixture, grouped.create(new.clone()));
        assert_eq!(kind, ErrorKind::ResourceNotFound);
        assert!(text.starts_with("no dimensional price group with identifier "), "{text}");
    }
    let update = accrue::price::DimensionalPriceGroupUpdate {
        external_dimensional_price_group_id: accrue::Patch::Set(external("by region")),
        ..Default::default()
    };
    run(account.update_dimensional_price_group(grouped.group.id, update)).unwrap();
    let price = run(grouped.create(new)).unwrap();
    let own = price.dimensional_price_configuration.unwrap();
    assert_eq!(own.dimensional_price_group_id, grouped.group.id);
}

#[test]
fn subscriptions_6_3_a_price_of_a_group_whose_metric_is_archived_is_refused() {
    let grouped = Grouped::new(SUM);
    run(grouped.create(grouped.price(&["eu", "gold"], "1"))).unwrap();
    run(grouped.fixture.account.archive_metric(grouped.metric.id)).unwrap();
    let (kind, _) = refused(&grouped.fixture, grouped.create(grouped.price(&["eu", "gold"], "1")));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
}

#[test]
fn subscriptions_6_3_6_two_prices_of_one_combination_both_charge() {
    let grouped = Grouped::new(SUM);
    let prices = [grouped.price(&["eu", "gold"], "0.02"), grouped.price(&["eu", "gold"], "1")];
    let subscription = grouped.subscribe(prices);
    grouped.ingest(used());
    assert_eq!(grouped.lines(&subscription), ["500: 10", "500: 500"]);
}

#[test]
fn subscriptions_6_3_7_each_combination_has_figures_of_its_own() {
    let check = |sql: &str, expect: [&str; 2]| {
        let grouped = Grouped::new(sql);
        let prices = [grouped.price(&["eu", "gold"], "1"), grouped.price(&["us", "gold"], "1")];
        let subscription = grouped.subscribe(prices);
        grouped.ingest([
            with("a", "5", &of("eu", "gold")),
            with("b", "3", &of("eu", "gold")),
            with("c", "5", &of("us", "gold")),
            with("d", "5", &of("us", "gold")),
            with("e", "7", &of("us", "silver")),
        ]);
        assert_eq!(grouped.lines(&subscription), expect, "{sql}");
    };
    check("SELECT max(n) FROM events", ["5: 5", "5: 5"]);
    check("SELECT min(n) FROM events", ["3: 3", "5: 5"]);
    check(COUNT, ["2: 2", "2: 2"]);
    check("SELECT count(DISTINCT n) FROM events", ["2: 2", "1: 1"]);
    check("SELECT sum(n) FROM events WHERE n > 3", ["5: 5", "10: 10"]);
}

#[test]
fn subscriptions_6_3_8_a_fee_is_of_no_group() {
    let grouped = Grouped::new(SUM);
    let fee = NewPrice {
        dimensional_price_configuration: grouped
            .price(&["eu", "gold"], "1")
            .dimensional_price_configuration,
        ..grouped.fixture.advance_fee("5")
    };
    assert_eq!(refused(&grouped.fixture, grouped.create(fee)).0, ErrorKind::ConstraintViolation);
}

#[test]
fn subscriptions_6_3_8_any_model_stands_on_a_combination_and_a_matrix_divides_it_again() {
    let grouped = Grouped::new(SUM);
    let tier = |first, last: Option<&str>, amount| {
        Tier::new(number(first), last.map(number), number(amount))
    };
    let tiered = Tiered::new([tier("0", Some("100"), "0.1"), tier("100", None, "0.05")]);
    let cell = |size: &str, amount| MatrixCell::new([Some(size.to_owned())], number(amount));
    let sizes = || [PropertyName::parse("size").unwrap()];
    let matrix = Matrix::new(sizes(), number("10"), [cell("l", "2"), cell("s", "1")]);
    let models = [
        Model::Tiered(tiered),
        Model::Package(Package::new(number("1.25"), 100)),
        Model::Matrix(matrix),
    ];
    let subscription = grouped.subscribe(models.map(|model| grouped.rated(&["eu", "gold"], model)));
    let sized = |key, n, region, size: &str| {
        with(key, n, &[&of(region, "gold")[..], &[("size", size.into())]].concat())
    };
    grouped.ingest([
        sized("a", "130", "eu", "l"),
        sized("b", "7", "eu", "s"),
        sized("c", "1000", "us", "l"),
        with("d", "3", &of("eu", "gold")),
        with("e", "1000", &[("size", "l".into())]),
    ]);
    // 100 at 0.1 and 40 at 0.05; two packages; 130 at 2, 7 at 1 and 3 at 10.
    assert_eq!(grouped.lines(&subscription), ["140: 12", "140: 2.5", "140: 297"]);
    let cost = grouped.fixture.cost(&subscription, &CostQuery::default());
    let parts = &cost.lines[2].parts;
    let quantities: Vec<_> = parts.iter().map(|part| part.quantity.to_string()).collect();
    assert_eq!(quantities, ["130", "7", "3"]);
    assert_eq!(parts[2].of, PartOf::DefaultCell);
}

#[test]
fn subscriptions_6_3_a_price_of_a_group_rates_no_latest_value() {
    let grouped = Grouped::new("SELECT latest(n) FROM events");
    let (kind, text) =
        refused(&grouped.fixture, grouped.create(grouped.price(&["eu", "gold"], "1")));
    assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
}

#[test]
fn subscriptions_6_3_plans_and_their_versions_have_prices_of_groups() {
    let grouped = Grouped::new(SUM);
    let account = &grouped.fixture.account;
    let of = |region: &str| grouped.price(&[region, "gold"], "1");
    let plan = grouped.fixture.priced_plan([of("eu").into()]);
    let kept = grouped.fixture.prices_of(&plan)[0];
    let new = NewPlanVersion::new([kept.into(), of("us").into()]);
    run(account.create_plan_version(plan.id, new)).unwrap();
    let change = PlanVersionChange { add: vec![of("asia").into()], ..Default::default() };
    let version = run(account.change_plan_version(plan.id, change)).unwrap();
    let regions: Vec<_> = version
        .prices
        .iter()
        .map(|price| {
            price.dimensional_price_configuration.as_ref().unwrap().dimension_values[0].clone()
        })
        .collect();
    assert_eq!(regions, ["eu", "us", "asia"]);
}

#[test]
fn subscriptions_6_3_a_group_is_one_split_whatever_its_combinations() {
    let grouped = Grouped::new(SUM);
    let fixture = &grouped.fixture;
    let kinds = |rows: Vec<String>| rows.iter().filter(|row| row.contains(" meter:")).count();
    let cell = |region: &str| grouped.price(&[region, "gold"], "1");
    for region in 0..30 {
        run(grouped.create(cell(&region.to_string()))).unwrap();
    }
    assert_eq!(kinds(fixture.dump()), 1);
    // Another group of the same metric and dimensions counts the same.
    let again = fixture.group(&grouped.metric, &["region", "tier"]);
    let mut new = cell("eu");
    new.dimensional_price_configuration.as_mut().unwrap().dimensional_price_group = again.id.into();
    run(grouped.create(new)).unwrap();
    assert_eq!(kinds(fixture.dump()), 1);
    // The bound of splits holds for groups and matrices together.
    let by = |dimension: &str| {
        let group = fixture.group(&grouped.metric, &[dimension]);
        let own = NewDimensionalPriceConfiguration::new(group.id, ["eu"]);
        NewPrice {
            dimensional_price_configuration: Some(own),
            ..fixture.usage_at("1", &grouped.metric)
        }
    };
    for index in 0..10 {
        run(grouped.create(by(&format!("d{index}")))).unwrap();
        if index < 9 {
            run(grouped.create(fixture.by_region(&grouped.metric, index + 1))).unwrap();
        }
    }
    let (kind, text) = refused(fixture, grouped.create(by("other")));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert_eq!(text, "prices divide the usage of the account in 20 ways already");
    assert_eq!(refused(fixture, grouped.create(fixture.by_region(&grouped.metric, 50))).1, text);
    run(grouped.create(cell("more"))).unwrap();
}

#[test]
fn subscriptions_6_3_the_cells_of_a_version_are_those_of_matrices_and_combinations_together() {
    let grouped = Grouped::new(SUM);
    let fixture = &grouped.fixture;
    let plan = |combinations: usize| {
        let mut new = NewPlan::new(name("plan"), usd());
        let cells = fixture.by_region(&grouped.metric, 99);
        let more = fixture.by_region(&grouped.metric, 49);
        let of = |index: usize| grouped.price(&[&index.to_string(), "gold"], "1");
        let combinations = (0..combinations).map(|index| of(index).into());
        new.prices = [cells.into(), more.into()].into_iter().chain(combinations).collect();
        fixture.account.create_plan(new)
    };
    let (kind, text) = refused(fixture, plan(51));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert_eq!(text, "the prices have 201 cells together, expected at most 200");
    run(plan(50)).unwrap();
}

#[test]
fn subscriptions_6_3_so_many_combinations_that_their_row_is_full_are_refused() {
    let grouped = Grouped::new(SUM);
    let long = "\"".repeat(128);
    let mut created = 0_u32;
    let refused = loop {
        let new = grouped.price(&[&long, &created.to_string()], "1");
        match run(grouped.create(new)) {
            Ok(_) => created += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert!(created > 90, "{created}");
    run(grouped.create(grouped.price(&[&long, "0"], "2"))).unwrap();
}
