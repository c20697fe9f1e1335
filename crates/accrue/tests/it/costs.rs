use accrue::{
    Decimal, ErrorKind, Timeframe, Timestamp,
    cost::{Cost, CostLine, CostQuery},
    price::{Cadence, Charge, Cycle, Model, PartOf, Tier, Tiered},
    subscription::Cancellation,
    usage::View,
};

use crate::support::{
    fixture::{Fixture, SUM, at, block_on, event, number, run},
    priced::{Priced, between, metered, priced, unit},
};

fn totals(costs: &[Cost]) -> Vec<String> {
    costs.iter().map(|cost| cost.total.to_string()).collect()
}

pub(crate) fn over(start: &str, end: &str) -> CostQuery {
    CostQuery { timeframe: between(start, end).into(), ..CostQuery::default() }
}

pub(crate) fn ever() -> CostQuery {
    let timeframe = Timeframe::new(Timestamp::MIN, Timestamp::MAX).unwrap();
    CostQuery { timeframe: timeframe.into(), ..CostQuery::default() }
}

fn costs(priced: &Priced, query: &CostQuery) -> Vec<Cost> {
    let costs = priced.fixture.account.subscription_costs(priced.subscription.id, query);
    block_on(costs).unwrap()
}

/// Usage at 1, a fee of 5 in advance and one of 7 in arrears; 1, 2 and 4 are used on three days.
pub(crate) fn three_days() -> Priced {
    let priced = priced(|fixture, metric| {
        [fixture.usage_at("1", metric), fixture.advance_fee("5"), fixture.arrear_fee("7")]
    });
    for (key, at, n) in [
        ("a", "2026-03-10T13:00:00Z", "1"),
        ("b", "2026-03-11T00:00:00Z", "2"),
        ("c", "2026-03-12T23:59:59Z", "4"),
    ] {
        priced.fixture.set(at);
        priced.use_now(key, n);
    }
    priced
}

#[test]
fn the_current_period_is_answered_where_nothing_is_asked() {
    let priced = three_days();
    let cost = priced.cost();
    assert_eq!(cost.timeframe, between("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z"));
    assert_eq!((cost.total, cost.subtotal), (number("12"), number("12")));
    assert_eq!(cost.currency, unit("USD"));
    let lines = cost.lines.iter().map(|line| (line.quantity.to_string(), line.total.to_string()));
    let expect = [("7", "7"), ("1", "5"), ("0", "0")];
    assert_eq!(lines.collect::<Vec<_>>(), expect.map(|(a, b)| (a.to_owned(), b.to_owned())));
    let ids: Vec<_> = cost.lines.iter().map(|line| line.price_id).collect();
    assert_eq!(ids, priced.prices(), "in the order of the plan");
}

#[test]
fn a_timeframe_is_cut_into_days_alone_or_from_its_begin() {
    let priced = three_days();
    let ask = |view| {
        let query = CostQuery { view, ..over("2026-03-10T12:00:00Z", "2026-03-13T00:00:00Z") };
        costs(&priced, &query)
    };
    assert_eq!(totals(&ask(View::Whole)), ["12"]);
    let days = ask(View::Periodic);
    assert_eq!(totals(&days), ["8", "0", "4"]);
    assert_eq!(days[0].timeframe, between("2026-03-10T12:00:00Z", "2026-03-11T12:00:00Z"));
    assert_eq!(days[2].timeframe, between("2026-03-12T12:00:00Z", "2026-03-13T00:00:00Z"));
    let so_far = ask(View::Cumulative);
    assert_eq!(totals(&so_far), ["8", "8", "12"]);
    assert_eq!(so_far[2].timeframe, between("2026-03-10T12:00:00Z", "2026-03-13T00:00:00Z"));
    assert_eq!(so_far[1].lines[0].quantity, number("3"));
}

#[test]
fn a_timeframe_may_begin_and_end_anywhere() {
    let priced = three_days();
    let check = |start, end, expect: &str| {
        assert_eq!(priced.cost_between(start, end).total.to_string(), expect, "{start} {end}");
    };
    check("2026-03-10T12:00:00Z", "2026-03-10T12:00:00Z", "0");
    check("2026-03-10T12:00:00Z", "2026-03-10T12:00:01Z", "5");
    check("2026-03-10T12:00:01Z", "2026-03-10T13:00:00Z", "0");
    check("2026-03-10T13:00:00Z", "2026-03-10T13:00:00.000001Z", "1");
    check("2026-03-10T12:00:01Z", "2026-03-12T23:59:59Z", "3");
    check("2020-01-01T00:00:00Z", "2026-03-10T12:00:00Z", "0");
    check("2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z", "12");
}

#[test]
fn what_is_due_in_arrears_falls_on_the_end_of_its_period() {
    let priced = three_days();
    priced.fixture.set("2026-04-20T00:00:00Z");
    let check = |start, end, expect: &str| {
        assert_eq!(priced.cost_between(start, end).total.to_string(), expect, "{start} {end}");
    };
    check("2026-03-10T12:00:00Z", "2026-04-10T12:00:00Z", "19");
    check("2026-03-10T12:00:00Z", "2026-04-10T11:59:59Z", "12");
    check("2026-04-10T11:59:59Z", "2026-04-10T12:00:00Z", "7");
    check("2026-04-10T12:00:00Z", "2026-04-20T00:00:00Z", "5");
    check("2026-04-20T00:00:00Z", "2027-04-20T00:00:00Z", "0");
}

#[test]
fn what_a_minimum_adds_to_usage_falls_on_the_end_of_its_period() {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments.minimum = Some(number("10"));
        [usage]
    });
    priced.use_now("a", "4");
    let check = |end, expect: &str| {
        let cost = priced.cost_between("2026-03-10T12:00:00Z", end);
        assert_eq!(cost.total.to_string(), expect, "{end}");
    };
    check("2026-04-10T12:00:00Z", "4");
    priced.fixture.set("2026-04-10T12:00:00Z");
    check("2026-04-10T11:59:59.999999Z", "4");
    check("2026-04-10T12:00:00Z", "10");
}

#[test]
fn timeframes_that_adjoin_add_up() {
    let priced = priced(|fixture, metric| {
        let tier = |first, last: Option<&str>, amount| {
            Tier::new(number(first), last.map(number), number(amount))
        };
        let tiers = vec![tier("0", Some("3"), "2"), tier("3", None, "0.3333")];
        let model = Model::Tiered(Tiered::new(tiers));
        let mut tiered = fixture.usage_at("1", metric);
        tiered.charge = Charge::Usage { metric_id: metric.id, model }.into();
        tiered.adjustments.minimum = Some(number("9"));
        tiered.adjustments.maximum = Some(number("20"));
        let weekly = Cadence::Custom(Cycle::Days(7));
        let fee = fixture.fee_of("1.11", weekly, accrue::price::BillingMode::InAdvance);
        [tiered, fee, fixture.arrear_fee("7")]
    });
    let fixture = &priced.fixture;
    for day in 0..60 {
        fixture.advance_days(1);
        fixture.use_now("ada", &day.to_string(), &(day % 4).to_string());
    }
    let cuts = [
        "2026-03-10T12:00:00Z",
        "2026-03-10T12:00:00.000001Z",
        "2026-03-17T12:00:00Z",
        "2026-03-29T07:03:11Z",
        "2026-04-10T11:59:59.999999Z",
        "2026-04-10T12:00:00Z",
        "2026-04-23T00:00:00Z",
        "2026-05-09T12:00:00Z",
    ];
    let parts = cuts.windows(2).map(|pair| priced.cost_between(pair[0], pair[1]).total);
    let whole = priced.cost_between(cuts[0], cuts[7]);
    assert_eq!(parts.sum::<Decimal>(), whole.total);
    let days = CostQuery { view: View::Periodic, ..over(cuts[0], cuts[7]) };
    let days = costs(&priced, &days);
    assert_eq!(days.iter().map(|day| day.total.clone()).sum::<Decimal>(), whole.total);
    assert_eq!(days.iter().map(|day| day.subtotal.clone()).sum::<Decimal>(), whole.subtotal);
}

#[test]
fn the_parts_of_a_line_add_up_to_its_subtotal() {
    let priced = priced(|fixture, metric| {
        let tier = |first, last: Option<&str>, amount| {
            Tier::new(number(first), last.map(number), number(amount))
        };
        let tiers = vec![tier("0", Some("3"), "2"), tier("3", None, "0.5")];
        let mut tiered = fixture.usage_at("1", metric);
        let model = Model::Tiered(Tiered::new(tiers));
        tiered.charge = Charge::Usage { metric_id: metric.id, model }.into();
        [tiered]
    });
    priced.use_now("a", "5");
    let line = |cost: Cost| cost.lines[0].clone();
    let current = line(priced.cost());
    let parts: Vec<_> = current.parts.iter().map(|part| part.amount.to_string()).collect();
    assert_eq!((parts, current.subtotal), (vec!["6".to_owned(), "1".to_owned()], number("7")));
    let PartOf::Tier { first_unit, last_unit } = &current.parts[1].of else { panic!() };
    assert_eq!((first_unit, last_unit), (&number("3"), &None));

    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.use_now("b", "4");
    let end = "2026-04-11T00:00:00Z";
    let parts = |line: &CostLine| {
        let units = line.parts.iter().map(|part| format!("{} for {}", part.quantity, part.amount));
        let amounts = line.parts.iter().map(|part| part.amount.clone());
        assert_eq!(amounts.sum::<Decimal>(), line.subtotal);
        units.collect::<Vec<_>>()
    };
    let two_periods = line(priced.cost_between("2026-03-10T12:00:00Z", end));
    assert_eq!(parts(&two_periods), ["6 for 12", "3 for 1.5"]);
    let later = line(priced.cost_between("2026-04-10T12:00:00.000001Z", end));
    assert_eq!(parts(&later), ["0 for 0", "0 for 0"]);
}

#[test]
fn an_upcoming_subscription_costs_nothing_yet() {
    let priced = three_days();
    let fixture = &priced.fixture;
    let start = "2026-05-01T00:00:00Z";
    let later = fixture.subscribe_from(priced.customer, &priced.plan, Some(start));
    let cost = fixture.cost(&later, &CostQuery::default());
    assert_eq!(cost.timeframe, between(start, "2026-06-01T00:00:00Z"));
    assert_eq!((cost.total, cost.lines.len()), (number("0"), 3));
    assert!(fixture.cost(&later, &ever()).total.is_zero());
}

#[test]
fn an_ended_subscription_answers_its_last_period() {
    let priced = three_days();
    let id = priced.subscription.id;
    run(priced.fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    priced.fixture.set("2027-01-01T00:00:00Z");
    let cost = priced.cost();
    assert_eq!(cost.timeframe, between("2026-03-10T12:00:00Z", "2026-03-12T23:59:59Z"));
    // The event that came with the end is not its own: 3 used, 3 of 31 days of the fees.
    let lines: Vec<_> = cost.lines.iter().map(|line| line.total.to_string()).collect();
    assert_eq!(lines, ["3", "0.48", "0.68"]);
    assert_eq!(priced.fixture.cost(&priced.subscription, &ever()).total, cost.total);
}

#[test]
fn timeframes_far_away_are_answered_at_once() {
    let priced = three_days();
    let fixture = &priced.fixture;
    let nothing = ["1970-01-01T00:00:00Z", "2026-03-10T12:00:00Z"];
    assert!(priced.cost_between(nothing[0], nothing[1]).total.is_zero());
    assert!(priced.cost_between("2500-01-01T00:00:00Z", "9998-12-31T00:00:00Z").total.is_zero());
    assert_eq!(fixture.cost(&priced.subscription, &ever()).total, number("12"));
    let daily = Cadence::Custom(Cycle::Days(1));
    let fee = fixture.fee_of("1", daily, accrue::price::BillingMode::InAdvance);
    let plan = fixture.priced_plan([fee.into()]);
    let long = fixture.subscribe_from(priced.customer, &plan, Some("2020-01-01T00:00:00Z"));
    assert_eq!(fixture.cost(&long, &ever()).total, number("2263"), "days begun");
    let later = fixture.subscribe_from(priced.customer, &plan, Some("9990-01-01T00:00:00Z"));
    assert!(fixture.cost(&later, &ever()).total.is_zero());
}

#[test]
fn a_timeframe_is_cut_into_at_most_10000_days() {
    let priced = metered();
    let id = priced.subscription.id;
    let ask = |end, view| {
        let query = CostQuery { view, ..over("2000-01-01T00:00:00Z", end) };
        block_on(priced.fixture.account.subscription_costs(id, &query))
    };
    // 10,000 days after the first of January 2000.
    let (fits, too_long) = ("2027-05-19T00:00:00Z", "2027-05-19T00:00:00.000001Z");
    for view in [View::Periodic, View::Cumulative] {
        assert_eq!(ask(fits, view).unwrap().len(), 10_000);
        assert_eq!(ask(too_long, view).unwrap_err().kind(), ErrorKind::TooManyResults);
    }
    assert_eq!(ask(too_long, View::Whole).unwrap().len(), 1);
    let query = CostQuery { view: View::Periodic, ..ever() };
    let of_customer = block_on(priced.fixture.account.customer_costs(priced.customer, &query));
    assert_eq!(of_customer.unwrap_err().kind(), ErrorKind::TooManyResults);
}

#[test]
fn rounded_lines_add_up_to_the_rounded_total() {
    let priced = priced(|fixture, metric| [1, 2, 3].map(|_| fixture.usage_at("0.3333", metric)));
    priced.use_now("a", "1");
    let cost = priced.cost();
    assert_eq!(cost.total, number("0.9999"), "amounts are exact");
    let rounded = cost.rounded();
    let amounts: Vec<_> = rounded.iter().map(|(_, amount)| amount.to_string()).collect();
    assert_eq!(amounts, ["0.34", "0.33", "0.33"]);
    assert_eq!(rounded.iter().map(|(id, _)| *id).collect::<Vec<_>>(), priced.prices());
}

#[test]
fn totals_are_in_the_currency_that_is_asked_for() {
    let priced = priced(|fixture, metric| {
        let mut credits = fixture.usage_at("2", metric);
        credits.currency = unit("credits");
        credits.conversion_rate = Some(number("0.01").into());
        let mut tokens = fixture.usage_at("7", metric);
        tokens.currency = unit("tokens");
        [credits, tokens, fixture.advance_fee("5")]
    });
    priced.use_now("a", "10");
    let check = |currency: Option<&str>, expect: &str, counting: [Option<&str>; 3]| {
        let currency = currency.map(unit);
        let query = CostQuery { currency, ..CostQuery::default() };
        let cost = priced.fixture.cost(&priced.subscription, &query);
        assert_eq!(cost.total.to_string(), expect);
        let converted = cost.lines.iter().map(|line| Some(line.converted.as_ref()?.total.clone()));
        assert_eq!(converted.collect::<Vec<_>>(), counting.map(|total| total.map(number)));
        let own: Vec<_> = cost.lines.iter().map(|line| line.total.to_string()).collect();
        assert_eq!(own, ["20", "70", "5"], "a line is in its own unit");
    };
    check(None, "5.2", [Some("0.2"), None, Some("5")]);
    check(Some("USD"), "5.2", [Some("0.2"), None, Some("5")]);
    check(Some("credits"), "20", [Some("20"), None, None]);
    check(Some("tokens"), "70", [None, Some("70"), None]);
    check(Some("EUR"), "0", [None; 3]);
}

#[test]
fn usage_before_a_subscription_costs_it_nothing() {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let plan = fixture.priced_plan([fixture.usage_at("1", &metric).into()]);
    let ada = fixture.customer("ada").id;
    for (key, text) in [("a", "2026-03-10T11:29:59Z"), ("b", "2026-03-10T11:30:00Z")] {
        run(fixture.account.ingest([event("ada", key, at(text), "1")])).unwrap();
    }
    let later = fixture.subscribe_from(ada, &plan, Some("2026-03-10T11:30:00Z"));
    assert_eq!(fixture.cost(&later, &CostQuery::default()).total, number("1"));
    assert_eq!(fixture.cost(&later, &ever()).total, number("1"));
}
