//! Prices of what others come to: costs, alerts, invoices, corrections, and changes of the terms (subscriptions 9.4).

use accrue::{
    ErrorKind, ListFilter, PageRequest,
    cost::{CostQuery, EvaluationEntry, PriceEvaluations},
    license::NewLicenseType,
    price::{
        Cadence, Charge, Discount, MinimumComposite, Model, NewDimensionalPriceConfiguration,
        NewPrice, Percent, Unit,
    },
    subscription::{NewPriceInterval, PlanChange, PriceIntervalEdit},
    usage::Amendment,
};
use proptest::prelude::*;

use crate::{
    dimensional_price_groups::new_group,
    invoices::{SETTLED, invoiced_with, shown},
    price_intervals::{changed, constraint},
    support::{
        credited::CREDITS,
        fixture::{Fixture, NOON, at, block_on, event, external, name, number, refused, run, usd},
        priced::{Priced, between, cost_alert, priced, unit},
    },
    trials::{END, OnTrial, START},
};

/// A price of a fraction of the others, with a least and a greatest amount.
fn percent(fixture: &Fixture, cadence: Cadence, of: &str, bounds: [Option<&str>; 2]) -> NewPrice {
    let [minimum_amount, maximum_amount] = bounds.map(|of| of.map(|of| number(of).into()));
    let model =
        Percent { minimum_amount, maximum_amount, prorated: true, ..Percent::new(number(of)) };
    composite(fixture, cadence, Model::Percent(model))
}

fn minimum(fixture: &Fixture, amount: &str) -> NewPrice {
    let model = MinimumComposite { prorated: true, ..MinimumComposite::new(number(amount)) };
    composite(fixture, Cadence::Monthly, Model::MinimumComposite(model))
}

fn composite(fixture: &Fixture, cadence: Cadence, model: Model) -> NewPrice {
    let called = name(model.model_type());
    NewPrice::builder(called, fixture.item().id).billed(cadence, usd()).composite(model)
}

/// A tenth of usage at 1, at least 5 and at most 30.
fn tenth() -> Priced {
    priced(|fixture, metric| {
        let bounds = [Some("5"), Some("30")];
        [percent(fixture, Cadence::Monthly, "0.1", bounds), fixture.usage_at("1", metric)]
    })
}

/// Subtotals of a cost, price by price.
fn subtotals(of: &accrue::cost::Cost) -> Vec<String> {
    of.lines.iter().map(|line| line.subtotal.to_string()).collect()
}

#[test]
fn subscriptions_9_4_6_a_percentage_counts_as_usage_comes_and_its_minimum_at_the_end() {
    let tenth = tenth();
    tenth.alert(cost_alert(&["21", "100", "349"]));
    tenth.use_now("a", "10");
    assert_eq!(subtotals(&tenth.cost()), ["1", "10"], "and no minimum");
    assert!(tenth.told().is_empty());
    tenth.use_now("b", "10");
    assert_eq!(tenth.told(), ["cost 21: 11 -> 22 by event b"]);
    tenth.use_now("c", "80");
    assert_eq!(tenth.told(), ["cost 100: 22 -> 110 by event c"]);
    tenth.use_now("d", "219");
    assert_eq!(subtotals(&tenth.cost()), ["30", "319"], "at most 30");
    assert_eq!(tenth.told(), ["cost 349: 110 -> 349 by event d"]);
    let whole = tenth.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
    let [first, last] = [
        tenth.cost_between("2026-03-10T12:00:00Z", "2026-03-10T12:00:01Z"),
        tenth.cost_between("2026-03-10T12:00:01Z", "2026-04-10T12:00:00Z"),
    ];
    assert_eq!(first.subtotal + last.subtotal, whole.subtotal);
}

#[test]
fn subscriptions_9_4_1_to_3_the_examples_of_both_models() {
    let of_april = |composite: &dyn Fn(&Fixture) -> NewPrice, base: &str| {
        let invoiced = invoiced_with(|fixture, metric| {
            vec![composite(fixture), fixture.usage_at("1", metric)]
        });
        let invoice = invoiced.april(base);
        let subtotals: Vec<_> =
            invoice.lines.iter().map(|line| line.subtotal.to_string()).collect();
        subtotals.first().cloned().filter(|_| subtotals.len() > 1)
    };
    let bounds = [Some("20.00"), Some("200.00")];
    let twentieth = |fixture: &Fixture| percent(fixture, Cadence::Monthly, "0.05", bounds);
    for (base, expect) in [("100", "20"), ("1000", "50"), ("10000", "200")] {
        assert_eq!(of_april(&twentieth, base).as_deref(), Some(expect), "of {base}");
    }
    let at_least = |fixture: &Fixture| minimum(fixture, "80.00");
    for (base, expect) in [("65", "15"), ("90", "0")] {
        assert_eq!(of_april(&at_least, base).as_deref(), Some(expect), "of {base}");
    }
}

#[test]
fn price_models_1_5_minimums_of_composites_fire_when_the_period_ends() {
    let lacking = priced(|fixture, metric| {
        let bounds = [Some("5"), None];
        [
            fixture.usage_at("1", metric),
            percent(fixture, Cadence::Monthly, "0.1", bounds),
            minimum(fixture, "50"),
        ]
    });
    lacking.alert(cost_alert(&["40"]));
    lacking.use_now("a", "22.5");
    assert!(lacking.told().is_empty());
    lacking.fixture.advance_days(40);
    lacking.fixture.tick();
    assert_eq!(lacking.told(), ["cost 40: 24.75 -> 55 by period 2026-04-10T12:00:00Z"]);
    let ended = lacking.cost_between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z");
    assert_eq!(subtotals(&ended), ["22.5", "5", "27.5"]);
}

#[test]
fn price_models_6_composites_draw_no_credits_and_see_their_own_currency() {
    let credited = priced(|fixture, metric| {
        let currency = unit(CREDITS);
        let bounds = [None, None];
        let own = percent(fixture, Cadence::Monthly, "0.5", bounds);
        let other = percent(fixture, Cadence::Monthly, "0.25", bounds);
        [
            NewPrice { currency: currency.clone(), ..fixture.usage_at("1", metric) },
            NewPrice { currency, ..own },
            other,
            fixture.usage_at("2", metric),
        ]
    });
    credited.give("100");
    credited.use_now("a", "10");
    assert_eq!(credited.balance().as_deref(), Some("90"));
    assert_eq!(subtotals(&credited.cost()), ["10", "5", "5", "20"]);
}

#[test]
fn invoicing_6_1_composites_are_lines_with_their_timeframe_and_sub_lines() {
    let invoiced = invoiced_with(|fixture, metric| {
        let bounds = [Some("31"), None];
        vec![
            fixture.usage_at("2", metric),
            fixture.advance_fee("60"),
            fixture.arrear_fee("30"),
            percent(fixture, Cadence::Monthly, "0.1", bounds),
            minimum(fixture, "310"),
        ]
    });
    let fixture = &invoiced.fixture;
    fixture.set("2026-07-12T00:00:00Z");
    let subscription = invoiced.subscribe("2026-07-12T00:00:00Z");
    invoiced.use_at("a", "2026-07-12T00:00:00Z", "10");
    let draft = "DRAFT draft 2026-08-01: usage 20, fee 60, fee 19.35, percent 20, \
                 minimum_composite 121.94 = 241.29";
    assert_eq!(shown(&invoiced.upcoming(&subscription)), draft);
    fixture.tick_at("2026-08-03T00:00:00Z");
    let issued = fixture.invoices(SETTLED).remove(0);
    assert_eq!(shown(&issued).split_once(": ").unwrap().1, draft.split_once(": ").unwrap().1);
    let line = |of: &str| issued.lines.iter().find(|line| line.name.as_str() == of).unwrap();
    let sub_lines = |of: &str| -> Vec<_> {
        let parts = line(of).sub_lines().into_iter();
        parts.map(|(part, amount)| (part.name.clone().unwrap(), amount.to_string())).collect()
    };
    // 38.71, 20 and 19.35 are 78.06; 31 and 310 of 20 of 31 days.
    let expect = [("Percentage", "7.81"), ("Minimum", "12.19")];
    let expect = expect.map(|(one, other)| (one.to_owned(), other.to_owned()));
    assert_eq!(sub_lines("percent"), expect);
    assert_eq!(sub_lines("minimum_composite"), [("Minimum".to_owned(), "121.94".to_owned())]);
    for of in ["percent", "minimum_composite"] {
        let july = between("2026-07-12T00:00:00Z", "2026-08-01T00:00:00Z");
        assert_eq!((line(of).period, &line(of).quantity), (july, &number("1")));
    }
}

#[test]
fn events_that_are_corrected_move_composites() {
    let tenth = tenth();
    tenth.alert(cost_alert(&["100"]));
    tenth.use_now("a", "50");
    let of = event("ada", "a", at(NOON), "100");
    let amendment = Amendment {
        event_name: of.event_name,
        timestamp: of.timestamp,
        properties: of.properties,
        customer: of.customer,
    };
    run(tenth.fixture.account.amend_event(of.idempotency_key, amendment)).unwrap();
    assert_eq!(subtotals(&tenth.cost()), ["10", "100"]);
    assert_eq!(tenth.told().len(), 1);
    run(tenth.fixture.account.deprecate_event(event("ada", "a", at(NOON), "1").idempotency_key))
        .unwrap();
    assert_eq!(tenth.cost().subtotal, number("0"));
}

#[test]
fn a_composite_of_longer_periods_sees_each_one_that_ends_within_its_own() {
    let invoiced = invoiced_with(|fixture, metric| {
        let bounds = [Some("20"), Some("25")];
        vec![fixture.usage_at("1", metric), percent(fixture, Cadence::Quarterly, "0.1", bounds)]
    });
    let fixture = &invoiced.fixture;
    fixture.set("2026-04-01T00:00:00Z");
    let subscription = invoiced.subscribe("2026-04-01T00:00:00Z");
    let alert = fixture.account.create_subscription_alert(subscription.id, cost_alert(&["105"]));
    run(alert).unwrap();
    invoiced.use_at("a", "2026-04-01T00:00:00Z", "90");
    assert!(fixture.told().is_empty(), "99 in April");
    fixture.tick_at("2026-05-10T00:00:00Z");
    invoiced.use_at("b", "2026-05-10T00:00:00Z", "90");
    assert!(fixture.told().is_empty(), "99 in May");
    fixture.tick_at("2026-06-10T00:00:00Z");
    invoiced.use_at("c", "2026-06-10T00:00:00Z", "97");
    assert!(fixture.told().is_empty(), "104, with 7 up to 25");
    invoiced.use_at("d", "2026-06-10T00:00:00Z", "1");
    assert_eq!(fixture.told(), ["cost 105: 104 -> 105 by event d"]);
    let cost = |from: &str, to: &str| {
        let query = CostQuery { timeframe: between(from, to).into(), ..CostQuery::default() };
        let cost = fixture.cost(&subscription, &query);
        subtotals(&cost)
    };
    let [april, may, june, july] =
        ["04", "05", "06", "07"].map(|of| format!("2026-{of}-01T00:00:00Z"));
    assert_eq!(cost(&april, &may), ["90", "9"]);
    assert_eq!(cost(&may, &june), ["90", "9"]);
    assert_eq!(cost(&june, &july), ["98", "7"]);
    assert_eq!(cost("2026-06-12T00:00:00Z", &july), ["0", "0"]);
    fixture.tick_at("2026-07-03T00:00:00Z");
    let last = fixture.invoices(SETTLED).into_iter().find(|of| of.invoice_date == at(&july));
    assert!(shown(&last.unwrap()).ends_with(": usage 98, percent 25 = 123"));
}

#[test]
fn subscriptions_9_4_4_a_change_of_plan_cuts_composites_and_prorates_their_minimum() {
    let changed = changed(|fixture, metric| {
        let bounds = [Some("31"), None];
        vec![fixture.usage_at("2", metric), percent(fixture, Cadence::Monthly, "0.1", bounds)]
    });
    let fixture = changed.fixture();
    changed.invoiced.use_at("a", "2027-01-01T00:00:00Z", "7");
    fixture.set("2027-01-11T00:00:00Z");
    let other = changed.plan([fixture.usage_at("3", &changed.metric), minimum(fixture, "62")]);
    changed.to(PlanChange::immediate(other.id));
    changed.invoiced.use_at("b", "2027-01-11T00:00:00Z", "5");
    fixture.tick_at("2027-02-03T00:00:00Z");
    // 10 of 31 days of 31, and what 15 lack of 21 of 31 days of 62.
    let expected = [
        "00001 issued 2027-01-11: usage 14, percent 10 = 24",
        "00002 issued 2027-02-01: usage 15, minimum_composite 27 = 42",
    ];
    assert_eq!(changed.settled(), expected);
}

#[test]
fn subscriptions_1_7_composites_on_trial_are_free_and_have_no_minimum() {
    let on = OnTrial::new();
    let fixture = on.fixture();
    let prices = [
        fixture.usage_at("1", &on.changed.metric),
        percent(fixture, Cadence::Monthly, "0.1", [Some("60"), None]),
    ];
    let plan = on.changed.plan(prices);
    fixture.set("2027-03-20T12:00:00Z");
    let made = on.subscribe(|new| new.plan = Some(plan.id.into()));
    on.uses("a", "2027-03-20T12:00:00Z", "100");
    fixture.tick_at("2027-04-03T22:00:00Z");
    assert_eq!(on.cost(&made, START, END), ("110".to_owned(), "0".to_owned()));
    on.uses("b", END, "10");
    fixture.tick_at("2027-05-01T22:00:00Z");
    let invoices = on.settled(&made);
    // 28 of 30 days of 60.
    assert!(invoices.iter().any(|of| of.ends_with(": usage 10, percent 56 = 66")), "{invoices:?}");
}

#[test]
fn subscriptions_2_3_intervals_of_composites_begin_and_end() {
    let changed = changed(|fixture, metric| vec![fixture.usage_at("2", metric)]);
    let fixture = changed.fixture();
    let price = changed.price(percent(fixture, Cadence::Monthly, "0.5", [None, None]));
    let added = changed.add(NewPriceInterval::new(price, at("2027-01-01T00:00:00Z")));
    changed.invoiced.use_at("a", "2027-01-01T00:00:00Z", "7");
    fixture.tick_at("2027-02-03T00:00:00Z");
    changed.edit(PriceIntervalEdit::ending(added, at("2027-02-15T00:00:00Z")));
    changed.invoiced.use_at("b", "2027-02-03T00:00:00Z", "7");
    fixture.tick_at("2027-03-03T00:00:00Z");
    let settled = changed.settled();
    assert!(settled[0].ends_with(": usage 14, percent 7 = 21"), "{settled:?}");
    // The usage of February falls due behind its end.
    assert!(settled[1].ends_with(": percent 0 = 0"), "{settled:?}");
    assert!(settled[2].ends_with(": usage 14 = 14"), "{settled:?}");
}

#[test]
fn subscriptions_9_4_7_what_composites_cannot_be_is_refused() {
    let tenth = tenth();
    let (fixture, account) = (&tenth.fixture, &tenth.fixture.account);
    let new = || percent(fixture, Cadence::Monthly, "0.1", [None, None]);
    let create = |new: NewPrice| refused(fixture, account.create_price(new));
    let violation = |new: NewPrice| {
        let error = run(account.create_price(new)).unwrap_err();
        let [violation] = error.violations() else { panic!("{error}") };
        violation.field.clone()
    };

    let seat = NewLicenseType { name: name("Seat"), grouping_key: "seat".parse().unwrap() };
    let seat = run(account.create_license_type(seat)).unwrap();
    let licensed = NewPrice { license_type_id: Some(seat.id), ..new() };
    let found = "a composite price has no usage, and can be of no licenses";
    assert_eq!(constraint(create(licensed)), found);
    let group =
        run(account.create_dimensional_price_group(new_group(&tenth.metric, &["a"]))).unwrap();
    let of = NewDimensionalPriceConfiguration::new(group.id, vec!["x".to_owned()]);
    let dimensional = NewPrice { dimensional_price_configuration: Some(of), ..new() };
    let found = "a composite price has no usage, and can be of no dimensional price group";
    assert_eq!(constraint(create(dimensional)), found);

    let model = new().charge.model().clone();
    let usage = Charge::Usage { metric_id: tenth.metric.id, model };
    assert_eq!(violation(NewPrice { charge: usage.into(), ..new() }), "charge.model");
    let unit = Charge::Composite { model: Model::Unit(Unit::new(number("1"))) };
    assert_eq!(violation(NewPrice { charge: unit.into(), ..new() }), "charge.model");
    assert_eq!(violation(NewPrice { cadence: Cadence::OneTime, ..new() }), "cadence");
    let key = Some("region".parse().unwrap());
    let by_region = NewPrice { invoice_grouping_key: key, ..new() };
    assert_eq!(violation(by_region), "invoice_grouping_key");
    let mut units_off = new();
    units_off.adjustments.discounts = vec![Discount::Usage(number("1"))];
    assert_eq!(violation(units_off), "adjustments.discounts[0]");

    // Evaluated as it is, and as one that is stored.
    let stored = run(account.create_price(new())).unwrap();
    let evaluate = |entry: EvaluationEntry| {
        let evaluations = PriceEvaluations {
            customer: external("ada").into(),
            timeframe: between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"),
            price_evaluations: vec![entry],
        };
        block_on(account.evaluate_prices(&evaluations)).unwrap_err()
    };
    for entry in [EvaluationEntry::new(stored.id), EvaluationEntry::new(new())] {
        let error = evaluate(entry);
        assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
        assert!(error.to_string().contains("is a composite price: it rates no usage"), "{error}");
    }
    let prices = block_on(account.list_prices(&ListFilter::default(), &PageRequest::default()))
        .unwrap()
        .data;
    assert_eq!(prices.len(), 3, "those of the plan, and the one that was made");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever the order of events and wherever they are cut into batches, costs are the same.
    #[test]
    fn order_and_batches_make_no_difference_to_composites(
        (events, shuffled) in prop::collection::vec(-3_i32..40, 1..9).prop_flat_map(|events| {
            let numbered: Vec<_> = events.into_iter().enumerate().collect();
            (Just(numbered.clone()), Just(numbered).prop_shuffle())
        }),
        size in 1_usize..5,
    ) {
        let costs = [(&events, 1), (&shuffled, size)].map(|(events, size)| {
            let tenth = tenth();
            tenth.alert(cost_alert(&["30", "90"]));
            for batch in events.chunks(size) {
                let batch = batch.iter().map(|(key, n)| {
                    event("ada", &key.to_string(), at(NOON), &n.to_string())
                });
                run(tenth.fixture.account.ingest(batch.collect::<Vec<_>>())).unwrap();
            }
            subtotals(&tenth.cost())
        });
        prop_assert_eq!(&costs[0], &costs[1]);
    }
}
