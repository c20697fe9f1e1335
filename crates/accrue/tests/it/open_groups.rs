//! Prices by groups that are not known beforehand: costs, alerts, credits, corrections and the invoice.

use accrue::{
    Carried, Decimal, Error, PropertyName, WrittenDecimal,
    cost::{CostQuery, EvaluationEntry, PriceEvaluations},
    limits,
    metric::Metric,
    price::{
        Charge, CumulativeGroupedAllocation, EventOutput, GroupedTiered, LowerBoundTier,
        MaxGroupTieredPackage, Model, NewCharge, NewDimensionalPriceConfiguration, NewPrice,
    },
    store::{Scan, Store as _, Table},
    usage::{Amendment, Event},
};

use proptest::prelude::*;

use crate::{
    dimensional_price_groups::new_group,
    invoices::{SETTLED, invoiced_with},
    support::{
        credited::CREDITS,
        fixture::{Fixture, NOON, at, block_on, event, external, number, run},
        priced::{Priced, between, cost_alert, priced, unit},
    },
};

fn user() -> PropertyName {
    PropertyName::parse("user").unwrap()
}

fn written(text: &str) -> WrittenDecimal {
    WrittenDecimal::parse(text).unwrap()
}

/// 2 for each unit of a user, and 1 for each beyond 10.
fn by_user() -> Model {
    let tier = |bound, amount| LowerBoundTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    };
    let tiers = vec![tier("0", "2"), tier("10", "1")];
    Model::GroupedTiered(GroupedTiered { grouping_key: user(), tiers })
}

fn of_model(fixture: &Fixture, metric: &Metric, model: Model) -> NewPrice {
    let charge = Charge::Usage { metric_id: metric.id, model }.into();
    NewPrice { charge, ..fixture.usage_at("1", metric) }
}

fn price(fixture: &Fixture, metric: &Metric) -> NewPrice {
    of_model(fixture, metric, by_user())
}

pub(crate) fn grouped() -> Priced {
    priced(|fixture, metric| [price(fixture, metric)])
}

/// An event of `ada` by a user, or by none.
pub(crate) fn by(key: &str, n: &str, of: Option<&str>) -> Event {
    let mut event = event("ada", key, at(NOON), n);
    let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = known.chain(of.map(|of| (user(), of.into()))).collect();
    event
}

impl Priced {
    pub(crate) fn ingest(&self, events: &[Event]) -> Result<usize, Error> {
        run(self.fixture.account.ingest(events.to_vec())).map(|of| of.ingested)
    }

    fn subtotal(&self) -> String {
        self.cost().subtotal.to_string()
    }
}

#[test]
fn price_models_5_1_each_group_has_tiers_of_its_own() {
    let grouped = grouped();
    grouped.alert(cost_alert(&["31", "40"]));
    grouped.ingest(&[by("1", "12", Some("bob")), by("2", "2", Some("eve"))]).unwrap();
    assert_eq!(grouped.subtotal(), "26", "22 of bob and 4 of eve");
    assert_eq!(grouped.told().len(), 0);
    grouped.ingest(&[by("3", "9", None)]).unwrap();
    assert_eq!(grouped.subtotal(), "44", "18 of nobody");
    assert_eq!(grouped.told().len(), 1, "both thresholds with one event");
    grouped.ingest(&[by("4", "1", Some("bob"))]).unwrap();
    assert_eq!(grouped.subtotal(), "45");
    let line = &grouped.cost().lines[0];
    let parts = line.parts.iter().map(|part| {
        let of = part.grouping.as_ref().unwrap();
        (of.value.clone().unwrap_or_default(), part.quantity.to_string(), part.amount.to_string())
    });
    let expect = [("", "9", "18"), ("bob", "10", "20"), ("bob", "3", "3"), ("eve", "2", "4")];
    let owned = |(of, n, amount): (&str, &str, &str)| (of.into(), n.into(), amount.into());
    assert_eq!(parts.collect::<Vec<_>>(), expect.map(owned));
    assert_eq!(line.quantity, number("24"));
    // Timeframes that adjoin add up.
    let whole = grouped.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
    let [first, last] = [
        grouped.cost_between("2026-03-10T12:00:00Z", "2026-03-10T12:00:01Z"),
        grouped.cost_between("2026-03-10T12:00:01Z", "2026-04-10T12:00:00Z"),
    ];
    assert_eq!(first.subtotal + last.subtotal, whole.subtotal);
}

#[test]
fn what_groups_cost_draws_credits_and_comes_back() {
    let grouped = priced(|fixture, metric| {
        let currency = unit(CREDITS);
        [NewPrice { currency, ..price(fixture, metric) }]
    });
    grouped.give("100");
    grouped.ingest(&[by("1", "12", Some("bob"))]).unwrap();
    assert_eq!(grouped.balance().as_deref(), Some("78"));
    grouped.ingest(&[by("2", "5", Some("eve")), by("3", "3", Some("bob"))]).unwrap();
    assert_eq!(grouped.balance().as_deref(), Some("65"));
    let account = &grouped.fixture.account;
    let of = by("1", "2", Some("eve"));
    let amendment = Amendment {
        event_name: of.event_name,
        timestamp: of.timestamp,
        properties: of.properties,
        customer: of.customer,
    };
    run(account.amend_event(of.idempotency_key, amendment)).unwrap();
    assert_eq!(grouped.balance().as_deref(), Some("80"), "3 of bob and 7 of eve");
    grouped.ingest(&[by("4", "8", Some("eve"))]).unwrap();
    assert_eq!(grouped.balance().as_deref(), Some("69"), "11 more: 3 of 2 and 5 of 1");
    assert_eq!(grouped.cost().lines[0].subtotal, number("31"));
    grouped.fixture.advance_days(40);
    grouped.fixture.tick();
    assert_eq!(grouped.balance().as_deref(), Some("69"));
}

#[test]
fn invoicing_3_4_groups_are_sub_lines_of_the_invoice() {
    let invoiced = invoiced_with(|fixture, metric| vec![price(fixture, metric)]);
    invoiced.fixture.set("2026-03-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-03-01T00:00:00Z");
    let fixture = &invoiced.fixture;
    fixture.set(NOON);
    run(fixture.account.ingest([by("1", "12", Some("bob")), by("2", "1", None)])).unwrap();
    let cost = fixture.cost(&subscription, &CostQuery::default());
    assert_eq!(cost.total, number("24"));
    fixture.tick_at("2026-04-02T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    let line = &invoices.iter().find(|of| of.issued_at.is_some()).unwrap().lines[0];
    assert_eq!((&line.subtotal, &line.quantity), (&number("24"), &number("13")));
    let shown = line.sub_lines().into_iter().map(|(part, amount)| {
        let of = part.grouping.as_ref().unwrap();
        (of.key.clone(), of.value.clone(), amount.to_string())
    });
    let expect = [(None, "2"), (Some("bob"), "20"), (Some("bob"), "2")];
    let expect =
        expect.map(|(of, amount)| ("user".to_owned(), of.map(str::to_owned), amount.to_owned()));
    assert_eq!(shown.collect::<Vec<_>>(), expect);
}

#[test]
fn a_price_of_groups_is_evaluated_over_each_group_of_the_query() {
    let grouped = grouped();
    let events = [by("1", "12", Some("bob")), by("2", "12", Some("eve")), by("3", "1", None)];
    grouped.ingest(&events).unwrap();
    let mut entry = EvaluationEntry::new(grouped.prices()[0]);
    let evaluated = |entry: &EvaluationEntry| {
        let evaluations = PriceEvaluations {
            customer: external("ada").into(),
            timeframe: between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"),
            price_evaluations: vec![entry.clone()],
        };
        let found = block_on(grouped.fixture.account.evaluate_prices(&evaluations)).unwrap();
        let groups = found[0].groups.iter();
        groups.map(|of| (of.quantity.to_string(), of.amount.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(evaluated(&entry), [("25".to_owned(), "46".to_owned())], "by what is kept");
    entry.grouping = vec!["n".parse().unwrap()];
    let expect = [("1", "2"), ("24", "44")].map(|(n, of)| (n.to_owned(), of.to_owned()));
    assert_eq!(evaluated(&entry), expect, "event by event");
}

#[test]
fn price_models_5_3_the_largest_group_may_become_smaller() {
    let grouped = priced(|fixture, metric| {
        let tier = |bound, amount| LowerBoundTier {
            tier_lower_bound: written(bound),
            unit_amount: written(amount),
        };
        let model = Model::MaxGroupTieredPackage(MaxGroupTieredPackage {
            grouping_key: user(),
            package_size: 10,
            tiers: vec![tier("0", "3"), tier("20", "1")],
        });
        [of_model(fixture, metric, model)]
    });
    grouped.alert(cost_alert(&["8"]));
    let mut expect = vec![("a", "25", "7"), ("b", "30", "7"), ("b", "1", "8"), ("a", "1", "8")];
    expect.extend([("b", "-20", "7"), ("a", "-20", "6"), ("c", "10", "6"), ("c", "1", "6")]);
    for (number, (of, n, subtotal)) in expect.into_iter().enumerate() {
        grouped.ingest(&[by(&number.to_string(), n, Some(of))]).unwrap();
        assert_eq!(grouped.subtotal(), subtotal, "{number}");
    }
    assert_eq!(grouped.told().len(), 1, "with the fourth package of b");
}

#[test]
fn whoever_watches_again_sees_what_was_used_meanwhile() {
    let grouped = grouped();
    let alert = grouped.alert(cost_alert(&["30", "60"]));
    let account = &grouped.fixture.account;
    grouped.ingest(&[by("1", "10", Some("bob"))]).unwrap();
    run(account.disable_alert(alert.id)).unwrap();
    grouped.ingest(&[by("2", "4", Some("eve"))]).unwrap();
    run(account.enable_alert(alert.id)).unwrap();
    grouped.ingest(&[by("3", "1", None)]).unwrap();
    assert_eq!(grouped.told().len(), 1, "30 by now");
    grouped.ingest(&[by("4", "15", None)]).unwrap();
    assert_eq!(grouped.subtotal(), "54");
    grouped.ingest(&[by("5", "6", Some("bob"))]).unwrap();
    assert_eq!(grouped.told().len(), 1, "60 by now");
}

/// A model for each way in which groups make an amount.
fn of_each_kind() -> [Model; 3] {
    let tier = |bound, amount| LowerBoundTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    };
    let largest = MaxGroupTieredPackage {
        grouping_key: user(),
        package_size: 3,
        tiers: vec![tier("0", "5"), tier("6", "1")],
    };
    let in_order = CumulativeGroupedAllocation {
        grouping_key: user(),
        group_allocation: written("4"),
        cumulative_allocation: written("9"),
        unit_amount: written("2"),
    };
    [by_user(), Model::MaxGroupTieredPackage(largest), Model::CumulativeGroupedAllocation(in_order)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever the order of events and wherever they are cut into batches: costs, and what is kept of groups, are
    /// the same.
    #[test]
    fn order_and_batches_make_no_difference(
        (events, shuffled) in prop::collection::vec((0_usize..4, -3_i32..12), 1..9)
            .prop_flat_map(|events| {
                let numbered: Vec<_> = events.into_iter().enumerate().collect();
                (Just(numbered.clone()), Just(numbered).prop_shuffle())
            }),
        size in 1_usize..5,
    ) {
        let outcome = |events: &[(usize, (usize, i32))], size: usize| {
            let grouped = priced(|fixture, metric| {
                of_each_kind().map(|model| of_model(fixture, metric, model))
            });
            grouped.alert(cost_alert(&["1000000"]));
            for batch in events.chunks(size) {
                let users = [None, Some("a"), Some("b"), Some("c")];
                let event = |(number, (of, n)): &(usize, (usize, i32))| {
                    by(&number.to_string(), &n.to_string(), users[*of])
                };
                grouped.ingest(&batch.iter().map(event).collect::<Vec<_>>()).unwrap();
            }
            let is_kept = |table: &&Table| ["group_total", "group_sums"].contains(&table.name());
            let rows = accrue::schema::TABLES.iter().filter(is_kept).flat_map(|table| {
                let scan = Scan::prefix(*table, b"", usize::MAX);
                block_on(grouped.fixture.store.scan(&scan)).unwrap()
            });
            let kept = rows.map(|row| (row.key.to_string(), row.document.as_str().to_owned()));
            let kept: Vec<_> = kept.collect();
            (grouped.cost(), kept)
        };
        let expect = outcome(&events, events.len());
        prop_assert!(expect.1.len() > 1);
        prop_assert_eq!(&outcome(&events, 1), &expect);
        prop_assert_eq!(&outcome(&shuffled, size), &expect);
    }
}

#[test]
fn price_models_5_5_groups_draw_on_one_allocation_in_the_order_of_their_names() {
    let grouped = priced(|fixture, metric| {
        let model = Model::CumulativeGroupedAllocation(CumulativeGroupedAllocation {
            grouping_key: user(),
            group_allocation: written("10"),
            cumulative_allocation: written("25"),
            unit_amount: written("2"),
        });
        [of_model(fixture, metric, model)]
    });
    grouped.alert(cost_alert(&["50"]));
    grouped.ingest(&[by("1", "20", Some("b"))]).unwrap();
    assert_eq!(grouped.subtotal(), "20", "10 of b");
    assert!(grouped.told().is_empty());
    grouped.ingest(&[by("2", "20", Some("a"))]).unwrap();
    assert_eq!(grouped.subtotal(), "50", "10 of a, and 15 of b");
    assert_eq!(grouped.told().len(), 1);
    grouped.ingest(&[by("3", "5", None)]).unwrap();
    assert_eq!(grouped.subtotal(), "60", "nobody draws first: 10 of a, and 20 of b");
}

#[test]
fn price_models_5_9_a_rate_is_a_number_however_it_is_written() {
    let of = |default: Option<&str>| {
        let grouped = priced(|fixture, metric| {
            let model = Model::EventOutput(EventOutput {
                unit_rating_key: user(),
                grouping_key: None,
                default_unit_rate: default.map(written),
            });
            [of_model(fixture, metric, model)]
        });
        grouped.alert(cost_alert(&["1000"]));
        let rated = [("5", Some("1")), ("-2", Some("1.0")), ("3", Some("none")), ("4", None)];
        for (number, (n, rate)) in rated.into_iter().enumerate() {
            grouped.ingest(&[by(&number.to_string(), n, rate)]).unwrap();
        }
        let mut event = by("number", "2", None);
        let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
        let rate = (user(), number("2.50").into());
        event.properties = known.chain([rate]).collect();
        grouped.ingest(&[event]).unwrap();
        let line = grouped.cost().lines.remove(0);
        (line.quantity.to_string(), line.subtotal.to_string())
    };
    assert_eq!(of(None), ("5".to_owned(), "8".to_owned()), "3 at 1, and 2 at 2.5");
    assert_eq!(of(Some("0.5")), ("12".to_owned(), "11.5".to_owned()), "7 more at 0.5");
}

#[test]
fn invoicing_15_a_threshold_bills_groups_that_the_event_is_not_in() {
    let invoiced = invoiced_with(|fixture, metric| vec![price(fixture, metric)]);
    invoiced.fixture.set("2026-03-01T00:00:00Z");
    invoiced.subscribe_with("2026-03-01T00:00:00Z", |new| {
        new.carried = Carried::new([("invoicing_threshold", "\"40\"".to_owned())]).unwrap();
    });
    let fixture = &invoiced.fixture;
    fixture.set(NOON);
    for (key, of) in [("1", Some("bob")), ("2", None), ("3", Some("eve"))] {
        run(fixture.account.ingest([by(key, "7", of)])).unwrap();
    }
    let invoices = fixture.invoices(SETTLED);
    let [invoice] = invoices.as_slice() else { panic!("{invoices:?}") };
    let line = &invoice.lines[0];
    assert_eq!((&line.subtotal, line.parts.len()), (&number("42"), 3));
    fixture.tick_at("2026-04-02T00:00:00Z");
    let billed: Decimal =
        fixture.invoices(SETTLED).iter().flat_map(|of| &of.lines).map(|of| of.amount.clone()).sum();
    assert_eq!(billed, number("42"), "once");
}

#[test]
fn groups_of_a_combination_are_broken_down_by_a_further_property() {
    let invoiced = invoiced_with(|fixture, metric| {
        let group =
            run(fixture.account.create_dimensional_price_group(new_group(metric, &["kind"])));
        let combination = NewDimensionalPriceConfiguration::new(group.unwrap().id, ["paid"]);
        let invoice_grouping_key = Some(PropertyName::parse("region").unwrap());
        let charge = NewCharge::UsageOfGroup(by_user());
        vec![NewPrice {
            charge,
            dimensional_price_configuration: Some(combination),
            invoice_grouping_key,
            ..fixture.usage_at("1", metric)
        }]
    });
    invoiced.fixture.set("2026-03-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-03-01T00:00:00Z");
    let fixture = &invoiced.fixture;
    let watch = cost_alert(&["1000"]);
    run(fixture.account.create_subscription_alert(subscription.id, watch)).unwrap();
    fixture.set(NOON);
    let with = |key: &str, n: &str, of: &str, kind: &str, region: &str| {
        let mut event = by(key, n, Some(of));
        let more = [("kind", kind), ("region", region)];
        let more = more.map(|(name, of)| (PropertyName::parse(name).unwrap(), of.into()));
        let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
        event.properties = known.chain(more).collect();
        event
    };
    let events = [
        with("1", "12", "bob", "paid", "eu"),
        with("2", "3", "eve", "paid", "eu"),
        with("3", "5", "bob", "paid", "us"),
        with("4", "100", "bob", "free", "us"),
    ];
    for event in events {
        run(fixture.account.ingest([event])).unwrap();
    }
    let cost = fixture.cost(&subscription, &CostQuery::default());
    assert_eq!(cost.total, number("33"), "17 of bob are 27, 3 of eve 6");
    fixture.tick_at("2026-04-02T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    let line = &invoices.iter().find(|of| of.issued_at.is_some()).unwrap().lines[0];
    let parts = line.sub_lines().into_iter();
    let parts = parts.map(|(part, amount)| (part.quantity.to_string(), amount.to_string()));
    // By itself the one would come to 28, and the other to 10: they share the subtotal by that.
    let expect = [("15", "24.32"), ("5", "8.68")].map(|(n, of)| (n.to_owned(), of.to_owned()));
    assert_eq!(parts.collect::<Vec<_>>(), expect);
}

#[test]
fn an_invoice_shows_as_many_groups_as_there_may_be() {
    let invoiced = invoiced_with(|fixture, metric| vec![price(fixture, metric)]);
    invoiced.fixture.set("2026-03-01T00:00:00Z");
    invoiced.subscribe("2026-03-01T00:00:00Z");
    let fixture = &invoiced.fixture;
    fixture.set(NOON);
    run(fixture.account.ingest(of_groups(0..limits::GROUPS))).unwrap();
    fixture.tick_at("2026-04-02T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    let line = &invoices.iter().find(|of| of.issued_at.is_some()).unwrap().lines[0];
    assert_eq!((line.parts.len(), &line.subtotal), (1_000, &number("2000")));
}

/// So many events, each of a group of its own.
pub(crate) fn of_groups(numbers: std::ops::Range<u64>) -> Vec<Event> {
    let event = |number: u64| by(&format!("of-{number}"), "1", Some(&format!("user-{number}")));
    numbers.map(event).collect()
}

#[test]
fn a_period_has_at_most_so_many_groups_and_an_event_beyond_is_refused() {
    let grouped = grouped();
    let most = limits::GROUPS;
    grouped.ingest(&of_groups(0..most - 1)).unwrap();
    let batch =
        [by("known", "1", Some("user-1")), by("last", "1", None), by("beyond", "1", Some("x"))];
    let error = grouped.ingest(&batch).unwrap_err();
    let [refused] = error.refused_events() else { panic!("{error}") };
    assert_eq!((refused.index, refused.idempotency_key.as_deref()), (2, Some("beyond")));
    assert!(refused.reasons[0].contains("than the 1000"), "{refused:?}");
    assert_eq!(grouped.ingest(&batch[..2]).unwrap(), 2);
    assert_eq!(grouped.subtotal(), "2002");
    assert!(grouped.ingest(&batch[2..]).is_err());
    assert_eq!(grouped.cost().lines[0].quantity, number("1001"));
}
