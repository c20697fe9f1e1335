//! Prices of dimensional price groups (subscriptions 6.3, price models 7.3).

use std::collections::BTreeMap;

use accrue::{
    Call, Decimal, ErrorKind, EventKey, PropertyName, Timeframe,
    backfill::NewBackfill,
    cost::{CostQuery, PriceEvaluation},
    metric::Metric,
    plan::{NewPlan, NewPlanVersion, PlanVersionChange},
    price::{
        Cadence, Charge, DimensionalPriceGroup, Matrix, MatrixCell, Model, NewCharge,
        NewDimensionalPriceConfiguration, NewPrice, Package, PartOf, Price, Tier, Tiered, Unit,
    },
    subscription::Subscription,
    usage::{Amendment, Event, PropertyValue},
};
use proptest::prelude::*;

use crate::support::{
    fixture::{
        COUNT, Fixture, NOON, SUM, UNKNOWN, at, block_on, event, external, name, number, refused,
        run, usage_alert, usd,
    },
    priced::between,
};

/// An event at noon with the number `n` and other properties.
pub(crate) fn with(key: &str, n: &str, properties: &[(&str, PropertyValue)]) -> Event {
    with_at(key, n, NOON, properties)
}

fn with_at(key: &str, n: &str, when: &str, properties: &[(&str, PropertyValue)]) -> Event {
    let plain = event("ada", key, at(when), n);
    let own = plain.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    let more =
        properties.iter().map(|(name, value)| (PropertyName::parse(*name).unwrap(), value.clone()));
    let properties = own.chain(more).collect();
    Event { properties, ..plain }
}

fn of(region: &str, tier: &str) -> [(&'static str, PropertyValue); 2] {
    [("region", region.into()), ("tier", tier.into())]
}

fn each(amount: &str) -> Model {
    Model::Unit(Unit::new(number(amount)))
}

/// A metric with a group by region and tier.
struct Grouped {
    fixture: Fixture,
    metric: Metric,
    group: DimensionalPriceGroup,
}

impl Grouped {
    fn new(sql: &str) -> Self {
        let fixture = Fixture::new();
        let metric = fixture.metric(sql);
        let group = fixture.group(&metric, &["region", "tier"]);
        Self { fixture, metric, group }
    }

    /// A monthly price of a combination, which says no metric.
    fn rated(&self, values: &[&str], model: Model) -> NewPrice {
        let own = NewDimensionalPriceConfiguration::new(self.group.id, values.iter().copied());
        NewPrice::builder(name("price"), self.metric.item_id)
            .billed(Cadence::Monthly, usd())
            .usage_of(own, model)
    }

    fn price(&self, values: &[&str], amount: &str) -> NewPrice {
        self.rated(values, each(amount))
    }

    fn create(&self, new: NewPrice) -> Call<Price> {
        self.fixture.account.create_price(new)
    }

    /// Subscribes `ada` to a plan of some prices, from the tenth on.
    fn subscribe(&self, prices: impl IntoIterator<Item = NewPrice>) -> Subscription {
        let plan = self.fixture.priced_plan(prices.into_iter().map(Into::into));
        let ada = block_on(self.fixture.account.fetch_customer(external("ada")));
        let ada = ada.unwrap_or_else(|_| self.fixture.customer("ada"));
        self.fixture.subscribe_from(ada.id, &plan, Some("2026-03-10T00:00:00Z"))
    }

    fn ingest(&self, events: impl IntoIterator<Item = Event>) {
        let events: Vec<_> = events.into_iter().collect();
        if !events.is_empty() {
            run(self.fixture.account.ingest(events)).unwrap();
        }
    }

    /// The quantity and the total of each line of what a subscription costs.
    fn lines(&self, subscription: &Subscription) -> Vec<String> {
        let cost = self.fixture.cost(subscription, &CostQuery::default());
        let whole = CostQuery { timeframe: Some(cost.timeframe).into(), ..CostQuery::default() };
        assert_eq!(self.fixture.cost(subscription, &whole), cost, "summed up it is the same");
        let line = |line: &accrue::cost::CostLine| format!("{}: {}", line.quantity, line.total);
        cost.lines.iter().map(line).collect()
    }
}

/// The events of the example.
fn used() -> [Event; 4] {
    [
        with("a", "500", &of("eu", "gold")),
        with("b", "200", &of("us", "gold")),
        with("c", "40", &of("eu", "silver")),
        with("d", "10", &[("tier", "gold".into())]),
    ]
}

#[test]
fn subscriptions_6_3_rules_1_and_5_each_price_charges_its_combination_as_in_the_example() {
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
fn subscriptions_6_3_rule_2_values_are_compared_as_texts() {
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
fn subscriptions_6_3_rule_3_there_is_one_value_for_each_dimension() {
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
fn subscriptions_6_3_rule_4_the_metric_is_the_groups() {
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
fn subscriptions_6_3_rule_6_two_prices_of_one_combination_both_charge() {
    let grouped = Grouped::new(SUM);
    let prices = [grouped.price(&["eu", "gold"], "0.02"), grouped.price(&["eu", "gold"], "1")];
    let subscription = grouped.subscribe(prices);
    grouped.ingest(used());
    assert_eq!(grouped.lines(&subscription), ["500: 10", "500: 500"]);
}

#[test]
fn subscriptions_6_3_rule_7_each_combination_has_figures_of_its_own() {
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
fn subscriptions_6_3_rule_8_a_fee_is_of_no_group() {
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
fn subscriptions_6_3_rule_8_any_model_stands_on_a_combination_and_a_matrix_divides_it_again() {
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

#[test]
fn price_models_7_3_a_subscription_counts_only_the_combinations_that_its_prices_name() {
    let grouped = Grouped::new(SUM);
    for region in 0..50 {
        run(grouped.create(grouped.price(&[&region.to_string(), "gold"], "1"))).unwrap();
    }
    let subscription = grouped.subscribe([grouped.price(&["eu", "gold"], "1")]);
    let events =
        (0..50).map(|index| with(&index.to_string(), "1", &of(&index.to_string(), "gold")));
    grouped.ingest(events.chain([with("eu", "2", &of("eu", "gold"))]));
    assert_eq!(grouped.lines(&subscription), ["2: 2"]);
    let totals = grouped.fixture.figures(&[]);
    let totals: Vec<_> = totals.iter().filter(|row| row.starts_with("cell_total:")).collect();
    let figures = totals[0].matches("sum").count();
    assert_eq!((totals.len(), figures), (1, 1), "{totals:?}");
}

#[test]
fn price_models_7_3_a_combination_counts_the_events_that_were_there_before_it() {
    let check = |sql: &str, expect: [&str; 2]| {
        let grouped = Grouped::new(sql);
        let ada = grouped.fixture.customer("ada");
        grouped.ingest([with("a", "1", &of("eu", "gold")), with("b", "2", &of("us", "gold"))]);
        let first = grouped.subscribe([grouped.price(&["eu", "gold"], "1")]);
        grouped.ingest([with("c", "4", &of("eu", "gold")), with("d", "8", &of("us", "gold"))]);
        // Whoever asks before the customer is measured by it has the same answer as afterwards.
        let late = run(grouped.create(grouped.price(&["us", "gold"], "1"))).unwrap();
        let day = between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
        let evaluation = PriceEvaluation::new(ada.id, day);
        let evaluate = || {
            let groups = block_on(grouped.fixture.account.evaluate_price(late.id, &evaluation));
            groups.unwrap()[0].quantity.to_string()
        };
        let before = evaluate();
        let second = grouped.subscribe([grouped.price(&["us", "gold"], "1")]);
        assert_eq!(evaluate(), before, "{sql}");
        let found = [&first, &second].map(|of| grouped.lines(of)[0].clone());
        let found = found.map(|line| line.split(':').next().unwrap().to_owned());
        assert_eq!(found, expect, "{sql}");
        assert_eq!(before, expect[1], "{sql}");
    };
    check(SUM, ["5", "10"]);
    check("SELECT count(DISTINCT n) FROM events", ["2", "2"]);
    check("SELECT max(n) FROM events", ["4", "8"]);
}

#[test]
fn price_models_7_3_corrections_move_events_between_combinations() {
    let grouped = Grouped::new(SUM);
    let prices = [grouped.price(&["eu", "gold"], "1"), grouped.price(&["us", "gold"], "1")];
    let subscription = grouped.subscribe(prices);
    grouped.ingest([with("a", "1", &of("eu", "gold")), with("b", "2", &of("us", "gold"))]);
    let moved = with("a", "3", &of("us", "gold"));
    let Event { event_name, timestamp, properties, customer, .. } = moved;
    let amendment = Amendment { event_name, timestamp, properties, customer };
    let account = &grouped.fixture.account;
    run(account.amend_event(EventKey::parse("a").unwrap(), amendment)).unwrap();
    assert_eq!(grouped.lines(&subscription), ["0: 0", "5: 5"]);
    let hour = Timeframe::new(at("2026-03-10T01:00:00Z"), at("2026-03-10T02:00:00Z")).unwrap();
    let mut new = NewBackfill::new(hour);
    new.customer = Some(external("ada").into());
    let backfill = run(account.create_backfill(new)).unwrap();
    let brought = with_at("c", "10", "2026-03-10T01:00:00Z", &of("eu", "gold"));
    run(account.ingest_backfill(backfill.id, [brought])).unwrap();
    run(account.close_backfill(backfill.id)).unwrap();
    grouped.fixture.tick();
    assert_eq!(grouped.lines(&subscription), ["10: 10", "5: 5"]);
    run(account.deprecate_event(EventKey::parse("b").unwrap())).unwrap();
    assert_eq!(grouped.lines(&subscription), ["10: 10", "3: 3"]);
}

#[test]
fn price_models_7_6_an_evaluation_has_groups_of_the_combination_alone() {
    let grouped = Grouped::new(SUM);
    let ada = grouped.fixture.customer("ada");
    let price = run(grouped.create(grouped.price(&["eu", "gold"], "0.5"))).unwrap();
    run(grouped.create(grouped.price(&["us", "gold"], "0.5"))).unwrap();
    grouped.ingest(used());
    let day = between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    let mut evaluation = PriceEvaluation::new(ada.id, day);
    let evaluate = |evaluation: &PriceEvaluation| {
        let groups =
            block_on(grouped.fixture.account.evaluate_price(price.id, evaluation)).unwrap();
        let shown = |of: &accrue::cost::EvaluatedGroup| {
            (of.grouping_values.clone(), of.quantity.to_string(), of.amount.to_string())
        };
        groups.iter().map(shown).collect::<Vec<_>>()
    };
    let whole = ("500".to_owned(), "250".to_owned());
    assert_eq!(evaluate(&evaluation), [(vec![], whole.0.clone(), whole.1.clone())]);
    evaluation.grouping = vec![accrue::expression::ComputedProperty::parse("region").unwrap()];
    assert_eq!(evaluate(&evaluation), [(vec!["eu".into()], whole.0, whole.1)]);
    evaluation.filter = Some(accrue::expression::Expression::parse("tier = 'silver'").unwrap());
    assert!(evaluate(&evaluation).is_empty());
}

#[test]
fn invoicing_6_1_a_line_of_a_combination_is_broken_down_by_its_own_events() {
    let invoiced = crate::invoices::invoiced_with(|fixture, metric| {
        let group = fixture.group(metric, &["region"]);
        let key = PropertyName::parse("user").unwrap();
        let of = |region: &str| NewPrice {
            invoice_grouping_key: Some(key.clone()),
            dimensional_price_configuration: Some(NewDimensionalPriceConfiguration::new(
                group.id,
                [region],
            )),
            ..fixture.usage_at("2", metric)
        };
        vec![of("eu"), of("us")]
    });
    let june = "2026-06-01T00:00:00Z";
    invoiced.fixture.set(june);
    invoiced.subscribe(june);
    let of = |key: &str, n, region: &str, user: &str| {
        with_at(key, n, june, &[("region", region.into()), ("user", user.into())])
    };
    let events = [
        of("a", "1", "eu", "ada"),
        of("b", "2", "eu", "bob"),
        of("c", "4", "us", "bob"),
        of("d", "8", "asia", "eve"),
    ];
    run(invoiced.fixture.account.ingest(events)).unwrap();
    let draft = invoiced.fixture.invoices(crate::invoices::DRAFT).remove(0);
    let parts = draft.lines.iter().map(|line| {
        let part = |part: &accrue::price::Part| match &part.of {
            PartOf::Group { value, .. } => {
                format!("{} {}", value.as_deref().unwrap_or("-"), part.amount)
            }
            other => format!("{other:?}"),
        };
        line.parts.iter().map(part).collect::<Vec<_>>()
    });
    assert_eq!(parts.collect::<Vec<_>>(), [vec!["ada 2", "bob 4"], vec!["bob 8"]]);
}

type Used = (u8, Option<u8>, Option<u8>);

proptest! {
    /// Whatever is used and priced, and whenever: a price is of the events with its values.
    #[test]
    fn subscriptions_6_3_prices_cost_what_adding_up_their_events_says(
        used in prop::collection::vec((0..5_u8, prop::option::of(0..3_u8), prop::option::of(0..3_u8)), 0..40),
        priced in prop::collection::vec((0..3_u8, 0..3_u8), 1..6),
        before in 0..40_usize,
        sql in prop::sample::select(vec![SUM, COUNT, "SELECT max(n) FROM events", "SELECT count(DISTINCT n) FROM events"]),
    ) {
        let grouped = Grouped::new(sql);
        grouped.fixture.customer("ada");
        let event = |(index, (n, region, tier)): (usize, &Used)| {
            let text = |value: &Option<u8>| value.map_or(PropertyValue::Null, |of| of.to_string().as_str().into());
            let minute = index * 7 % 60;
            let when = format!("2026-03-10T{:02}:{minute:02}:00Z", index % 12);
            with_at(&index.to_string(), &n.to_string(), &when, &[("region", text(region)), ("tier", text(tier))])
        };
        let events: Vec<_> = used.iter().enumerate().map(event).collect();
        let (early, late) = events.split_at(before.min(events.len()));
        grouped.ingest(early.to_vec());
        let prices = priced.iter().map(|(region, tier)| {
            grouped.price(&[&region.to_string(), &tier.to_string()], "1")
        });
        let subscription = grouped.subscribe(prices);
        grouped.ingest(late.to_vec());
        let expect: Vec<_> = priced.iter().map(|(region, tier)| {
            let own = used.iter().filter(|of| (of.1, of.2) == (Some(*region), Some(*tier)));
            let own: Vec<u64> = own.map(|of| of.0.into()).collect();
            let figure = match sql {
                SUM => own.iter().sum(),
                COUNT => own.len() as u64,
                max if max.contains("max") => own.iter().max().copied().unwrap_or(0),
                _ => own.iter().map(|n| (*n, ())).collect::<BTreeMap<_, _>>().len() as u64,
            };
            let figure = Decimal::from(figure);
            format!("{figure}: {figure}")
        }).collect();
        prop_assert_eq!(grouped.lines(&subscription), expect);
    }
}
