//! Conversion rates of prices in a unit of the host's own, in tiers (price models 7.1).

use accrue::{
    Decimal,
    credit::NewLedgerEntry,
    price::{BillingMode, Cadence, ConversionRate, NewPrice, Tier},
    subscription::FeeQuantityChange,
};
use serde_json::Value;

use crate::{
    invoices::{Invoiced, SETTLED, all, invoiced_with},
    invoicing_cycles::{every, use_on},
    support::{
        fixture::{Fixture, external, number, run},
        priced::{cost_alert, priced, spend_alert, unit},
    },
};

const START: &str = "2026-04-01T00:00:00Z";
const ISSUED: &str = "2026-05-02T00:00:00Z";

/// 2 for each of the first 100, 1.50 for all others.
fn tiers() -> ConversionRate {
    ConversionRate::Tiered(vec![
        Tier::new(number("0"), Some(number("100")), number("2")),
        Tier::new(number("100"), None, number("1.5")),
    ])
}

/// 1 credit each.
fn credits(fixture: &Fixture, metric: &accrue::metric::Metric, rate: ConversionRate) -> NewPrice {
    let price = fixture.usage_at("1", metric);
    NewPrice { currency: unit("credits"), conversion_rate: Some(rate), ..price }
}

fn billed(prices: impl FnOnce(&Fixture, &accrue::metric::Metric) -> Vec<NewPrice>) -> Invoiced {
    let invoiced = invoiced_with(prices);
    invoiced.fixture.set(START);
    invoiced.subscribe(START);
    invoiced
}

fn total(invoiced: &Invoiced) -> Decimal {
    invoiced.fixture.tick_at(ISSUED);
    invoiced.fixture.invoices(SETTLED).remove(0).total
}

#[test]
fn price_models_8_the_cases_of_conversion() {
    let text = |value: &Value| number(value.as_str().unwrap());
    let lines = include_str!("../../../../docs/spec/price-levels.jsonl").lines();
    let cases = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut found = 0;
    for case in cases.filter(|case| case["kind"] == "conversion") {
        let config = &case["config"];
        let rate = match config["tiered_config"]["tiers"].as_array() {
            None => ConversionRate::Unit(text(&config["unit_config"]["unit_amount"])),
            Some(tiers) => ConversionRate::Tiered(
                tiers
                    .iter()
                    .map(|tier| {
                        let last = tier["last_unit"].as_u64().map(|of| number(&of.to_string()));
                        let first = number(&tier["first_unit"].to_string());
                        Tier::new(first, last, text(&tier["unit_amount"]))
                    })
                    .collect(),
            ),
        };
        let invoiced = billed(|fixture, metric| vec![credits(fixture, metric, rate)]);
        use_on(&invoiced, "05", case["quantities"].as_str().unwrap());
        assert_eq!(total(&invoiced), text(&case["amount"]), "{case}");
        found += 1;
    }
    assert_eq!(found, 6);
}

#[test]
fn invoicing_7_3_tiers_convert_what_credits_leave() {
    let invoiced = invoiced_with(|fixture, metric| vec![credits(fixture, metric, tiers())]);
    invoiced.fixture.set(START);
    let new = NewLedgerEntry::increment(unit("credits"), number("40"));
    run(invoiced.fixture.account.create_ledger_entry(external("ada"), new)).unwrap();
    invoiced.subscribe(START);
    use_on(&invoiced, "05", "150");
    invoiced.fixture.tick_at(ISSUED);
    let issued = invoiced.fixture.invoices(SETTLED).remove(0);
    let line = &issued.lines[0];
    let figures = [&line.subtotal, &line.credits_applied, &line.amount, &issued.subtotal];
    // 100 of the 110 that are left at 2, and 10 at 1.50; the subtotal is of all 150.
    assert_eq!(figures.map(Decimal::to_string), ["150", "40", "215", "275"]);
}

#[test]
fn price_models_7_1_invoices_within_a_period_go_on_with_its_tiers() {
    let price =
        |fixture: &Fixture, metric: &_| vec![every(10, "day", credits(fixture, metric, tiers()))];
    let invoiced = billed(price);
    for (day, n) in [("05", "60"), ("15", "60"), ("25", "40")] {
        use_on(&invoiced, day, n);
    }
    invoiced.fixture.tick_at(ISSUED);
    assert_eq!(
        all(&invoiced.fixture.invoices(SETTLED)),
        [
            "00003 issued 2026-05-01: usage 60 = 60",
            "00002 issued 2026-04-21: usage 110 = 110",
            "00001 issued 2026-04-11: usage 120 = 120",
        ]
    );
}

#[test]
fn price_models_7_1_more_of_a_fee_is_converted_on_top_of_what_it_came_to() {
    let invoiced = invoiced_with(|fixture, _| {
        let fee = fixture.fee_of("80", Cadence::Monthly, BillingMode::InAdvance);
        vec![NewPrice { currency: unit("credits"), conversion_rate: Some(tiers()), ..fee }]
    });
    let fixture = &invoiced.fixture;
    fixture.set(START);
    let subscription = invoiced.subscribe(START);
    fixture.tick_at("2026-04-02T00:00:00Z");
    fixture.set("2026-04-16T00:00:00Z");
    let price = subscription.price_intervals[0].price_id;
    let change = FeeQuantityChange::immediate(price, number("2"));
    run(fixture.account.update_fixed_fee_quantity(subscription.id, change)).unwrap();
    fixture.tick_at("2026-04-17T00:00:00Z");
    let totals: Vec<_> = fixture.invoices(SETTLED).iter().map(|of| of.total.to_string()).collect();
    // 80 at 2; then 40 more for half of the days: 20 at 2, and 20 at 1.50.
    assert_eq!(totals, ["70", "160"]);
}

#[test]
fn price_models_7_1_timeframes_that_adjoin_cost_what_the_whole_does() {
    let priced = priced(|fixture, metric| [credits(fixture, metric, tiers())]);
    priced.use_now("a", "60");
    priced.fixture.advance_days(1);
    priced.use_now("b", "60");
    let [first, second, third] = ["10", "11", "12"].map(|day| format!("2026-03-{day}T00:00:00Z"));
    let cost = |start, end| priced.cost_between(start, end).total.to_string();
    let parts = [cost(&first, &second), cost(&second, &third), cost(&first, &third)];
    assert_eq!(parts, ["120", "110", "230"]);
    assert_eq!(priced.cost().lines[0].total, number("120"), "a line is in its own unit");
}

#[test]
fn price_models_7_1_alerts_on_cost_watch_what_tiers_make_of_it() {
    let priced = priced(|fixture, metric| [credits(fixture, metric, tiers())]);
    priced.alert(cost_alert(&["200", "230"]));
    priced.alert(spend_alert("USD", &["230"]));
    priced.use_now("a", "99");
    priced.use_now("b", "20");
    priced.use_now("c", "1");
    let mut told = priced.told();
    told.sort();
    let expect = [
        "cost 200: 198 -> 228.5 by event b",
        "cost 230: 228.5 -> 230 by event c",
        "spend 230: 228.5 -> 230 by event c",
    ];
    assert_eq!(told, expect);
}
