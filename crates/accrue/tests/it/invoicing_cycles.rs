//! Invoicing cycles: usage that is invoiced at inner boundaries of its billing period (invoicing 6.1).

use accrue::{
    Carried, Decimal, Email, ErrorKind, Fraction, Zone,
    credit::NewLedgerEntry,
    customer::NewCustomer,
    invoice::InvoiceSource,
    price::{Cadence, Charge, Discount, Model, NewPrice, Tier, Tiered},
    subscription::{BillingAnchor, Cancellation, NewSubscription},
};
use serde_json::Value;

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, all, invoiced_with},
    support::{
        fixture::{at, external, name, number, refused, run, usd},
        priced::unit,
    },
};

const START: &str = "2026-04-01T00:00:00Z";

/// Gives a price an invoicing cycle.
pub(crate) fn every(duration: u32, unit: &str, price: NewPrice) -> NewPrice {
    let cycle = format!(r#"{{"duration":{duration},"duration_unit":"{unit}"}}"#);
    let carried = Carried::new([("invoicing_cycle_configuration", cycle)]).unwrap();
    NewPrice { carried, ..price }
}

/// A subscription from the first of April on: 1 for each of the first 100 units of a month and 0.50 for
/// each other one, invoiced every ten days.
fn every_ten_days() -> Invoiced {
    let invoiced = invoiced_with(|fixture, metric| {
        let tiers = [
            Tier::new(number("0"), Some(number("100")), number("1")),
            Tier::new(number("100"), None, number("0.5")),
        ];
        let mut price = fixture.usage_at("1", metric);
        let model = Model::Tiered(Tiered::new(tiers));
        price.charge = Charge::Usage { metric_id: metric.id, model }.into();
        vec![every(10, "day", price)]
    });
    invoiced.fixture.set(START);
    invoiced.subscribe(START);
    invoiced
}

pub(crate) fn use_on(invoiced: &Invoiced, day: &str, n: &str) {
    let now = format!("2026-04-{day}T12:00:00Z");
    invoiced.fixture.set(&now);
    invoiced.use_at(day, &now, n);
}

#[test]
fn invoicing_6_1_tiers_go_on_from_inner_boundary_to_inner_boundary() {
    let invoiced = every_ten_days();
    let fixture = &invoiced.fixture;
    for (day, n) in [("05", "60"), ("15", "60"), ("25", "40")] {
        use_on(&invoiced, day, n);
    }
    fixture.tick_at("2026-05-02T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    assert_eq!(
        all(&invoices),
        [
            "00003 issued 2026-05-01: usage 20 = 20",
            "00002 issued 2026-04-21: usage 50 = 50",
            "00001 issued 2026-04-11: usage 60 = 60",
        ]
    );
    let figures = invoices.iter().map(|of| {
        assert_eq!(of.source, InvoiceSource::Subscription);
        let line = &of.lines[0];
        assert_eq!(line.period.start(), at(START));
        assert_eq!(line.period.end(), of.invoice_date);
        [&line.quantity, &line.subtotal, &line.partially_invoiced].map(ToString::to_string)
    });
    let expected = [["160", "130", "110"], ["120", "110", "60"], ["60", "60", "0"]];
    assert_eq!(figures.collect::<Vec<_>>(), expected);
}

/// Invoices a quarter by months: a price in tiers, and what is used in each month. Returns the invoices, first to last.
fn quarter_by_months(tiers: &[Tier], quantities: &[String]) -> Vec<Decimal> {
    let invoiced = invoiced_with(|fixture, metric| {
        let mut price = fixture.usage_at("1", metric);
        let model = Model::Tiered(Tiered::new(tiers.iter().cloned()));
        price.charge = Charge::Usage { metric_id: metric.id, model }.into();
        price.cadence = Cadence::Quarterly;
        vec![every(1, "month", price)]
    });
    let fixture = &invoiced.fixture;
    fixture.set(START);
    invoiced.subscribe(START);
    for (month, n) in (4..).zip(quantities) {
        let now = format!("2026-0{month}-15T12:00:00Z");
        fixture.set(&now);
        invoiced.use_at(&now, &now, n);
    }
    // A day later than the boundary that the last of them is invoiced at.
    fixture.tick_at(&format!("2026-0{}-02T00:00:00Z", quantities.len() + 4));
    let mut invoices = fixture.invoices(SETTLED);
    invoices.reverse();
    invoices.into_iter().map(|of| of.total).collect()
}

#[test]
fn price_models_8_the_cases_of_invoicing_cycles() {
    let text = |value: &Value| number(value.as_str().unwrap());
    let lines = include_str!("../../../../docs/spec/price-levels.jsonl").lines();
    let cases = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut found = 0;
    for case in cases.filter(|case| case["kind"] == "invoicing_cycle") {
        let lower: Vec<_> = case["config"]["tiers"].as_array().unwrap().iter().collect();
        let tiers: Vec<_> = lower
            .iter()
            .enumerate()
            .map(|(place, tier)| {
                let upper = lower.get(place + 1).map(|next| text(&next["tier_lower_bound"]));
                Tier::new(text(&tier["tier_lower_bound"]), upper, text(&tier["unit_amount"]))
            })
            .collect();
        let quantities: Vec<String> = serde_json::from_value(case["quantities"].clone()).unwrap();
        let invoices = quarter_by_months(&tiers, &quantities);
        assert_eq!(invoices.len(), quantities.len());
        assert_eq!(invoices.last(), Some(&text(&case["amount"])), "{case}");
        found += 1;
    }
    assert_eq!(found, 3);
}

#[test]
fn invoicing_6_1_late_usage_is_on_the_draft_or_else_on_the_next_one() {
    let invoiced = every_ten_days();
    let fixture = &invoiced.fixture;
    use_on(&invoiced, "05", "10");
    fixture.tick_at("2026-04-11T10:00:00Z");
    invoiced.use_at("in the grace period", "2026-04-10T23:00:00Z", "5");
    assert_eq!(
        all(&fixture.invoices(DRAFT)),
        ["DRAFT draft 2026-04-21: usage 0 = 0", "DRAFT draft 2026-04-11: usage 15 = 15"]
    );
    fixture.tick_at("2026-04-12T00:00:00Z");
    assert_eq!(all(&fixture.invoices(SETTLED)), ["00001 issued 2026-04-11: usage 15 = 15"]);
    invoiced.use_at("behind it", "2026-04-11T23:00:00Z", "7");
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-04-21: usage 7 = 7"]);
}

#[test]
fn invoicing_15_what_is_void_goes_to_the_next_invoice() {
    let invoiced = every_ten_days();
    let fixture = &invoiced.fixture;
    use_on(&invoiced, "05", "60");
    fixture.tick_at("2026-04-12T00:00:00Z");
    let first = fixture.invoices(SETTLED).remove(0);
    run(fixture.account.void_invoice(first.id)).unwrap();
    assert_eq!(all(&fixture.invoices(DRAFT)), ["DRAFT draft 2026-04-21: usage 60 = 60"]);
}

#[test]
fn invoicing_6_1_the_closing_invoice_bills_the_rest() {
    let invoiced = every_ten_days();
    let fixture = &invoiced.fixture;
    use_on(&invoiced, "05", "60");
    fixture.tick_at("2026-04-12T00:00:00Z");
    use_on(&invoiced, "13", "30");
    fixture.set("2026-04-13T13:00:00Z");
    let of = fixture.invoices(SETTLED)[0].subscription_id.unwrap();
    run(fixture.account.cancel_subscription(of, Cancellation::Immediate)).unwrap();
    fixture.tick_at("2026-06-01T00:00:00Z");
    assert_eq!(
        all(&fixture.invoices(SETTLED)),
        ["00002 issued 2026-04-13: usage 30 = 30", "00001 issued 2026-04-11: usage 60 = 60"]
    );
}

#[test]
fn invoicing_6_1_fees_and_cycles_that_are_no_shorter_have_no_inner_boundaries() {
    let invoiced = invoiced_with(|fixture, metric| {
        vec![
            every(1, "month", fixture.usage_at("1", metric)),
            every(10, "day", fixture.arrear_fee("30")),
        ]
    });
    invoiced.fixture.set(START);
    let of = invoiced.subscribe(START);
    assert_eq!(all(&[invoiced.upcoming(&of)]), ["DRAFT draft 2026-05-01: usage 0, fee 30 = 30"]);
}

#[test]
fn invoicing_18_a_cycle_without_a_length_is_refused() {
    let invoiced = every_ten_days();
    let fixture = &invoiced.fixture;
    let metric = fixture.metric("SELECT count(*) FROM events");
    for (duration, unit) in [(0, "day"), (3_661, "day"), (121, "month"), (1, "week")] {
        let new = every(duration, unit, fixture.usage_at("1", &metric));
        let (kind, message) = refused(fixture, fixture.account.create_price(new));
        assert_eq!(kind, ErrorKind::RequestValidation, "{duration} {unit}");
        assert!(message.contains("invoicing_cycle_configuration"), "{message}");
    }
}

#[test]
fn invoicing_6_1_what_is_taken_off_counts_within_and_a_minimum_at_the_end() {
    let invoiced = invoiced_with(|fixture, metric| {
        let mut price = every(10, "day", fixture.usage_at("1", metric));
        price.adjustments.minimum = Some(number("200"));
        let half = Discount::Percentage(Fraction::parse("0.5").unwrap());
        price.adjustments.discounts = vec![half];
        vec![price]
    });
    invoiced.fixture.set(START);
    invoiced.subscribe(START);
    for (day, n) in [("05", "60"), ("15", "60")] {
        use_on(&invoiced, day, n);
    }
    invoiced.fixture.tick_at("2026-05-02T00:00:00Z");
    assert_eq!(
        all(&invoiced.fixture.invoices(SETTLED)),
        [
            "00003 issued 2026-05-01: usage 140 = 140",
            "00002 issued 2026-04-21: usage 30 = 30",
            "00001 issued 2026-04-11: usage 30 = 30",
        ]
    );
}

#[test]
fn invoicing_6_1_prepaid_credits_pay_for_what_is_invoiced_within() {
    let invoiced =
        invoiced_with(|fixture, metric| vec![every(10, "day", fixture.usage_at("1", metric))]);
    let fixture = &invoiced.fixture;
    fixture.set(START);
    let entry = NewLedgerEntry::increment(unit("USD"), number("70"));
    run(fixture.account.create_ledger_entry(external("ada"), entry)).unwrap();
    invoiced.subscribe(START);
    for (day, n) in [("05", "60"), ("15", "60"), ("25", "40")] {
        use_on(&invoiced, day, n);
    }
    fixture.tick_at("2026-05-02T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    assert_eq!(
        all(&invoices),
        [
            "00003 issued 2026-05-01: usage 40 = 40",
            "00002 issued 2026-04-21: usage 50 = 50",
            "00001 paid 2026-04-11: usage 0 = 0",
        ]
    );
    let credits = invoices.iter().map(|of| of.lines[0].credits_applied.to_string());
    assert_eq!(
        credits.collect::<Vec<_>>(),
        ["70", "70", "60"],
        "they are cumulative, as the line is"
    );
}

#[test]
fn invoicing_6_1_a_threshold_within_counts_what_a_cycle_has_billed() {
    let invoiced =
        invoiced_with(|fixture, metric| vec![every(10, "day", fixture.usage_at("1", metric))]);
    let fixture = &invoiced.fixture;
    fixture.set(START);
    let threshold = Carried::new([("invoicing_threshold", "\"100\"")]).unwrap();
    invoiced.subscribe_with(START, |new| new.carried = threshold);
    use_on(&invoiced, "05", "60");
    fixture.tick_at("2026-04-12T00:00:00Z");
    use_on(&invoiced, "15", "60");
    use_on(&invoiced, "25", "40");
    fixture.tick_at("2026-05-02T00:00:00Z");
    let invoices = fixture.invoices(SETTLED);
    let total: accrue::Decimal = invoices.iter().map(|of| &of.total).sum();
    assert_eq!(total, number("160"), "{:?}", all(&invoices));
    let within: Vec<_> = invoices.iter().map(|of| of.source).collect();
    assert!(within.contains(&InvoiceSource::Partial), "{:?}", all(&invoices));
}

#[test]
fn invoicing_6_1_a_month_of_the_customers_zone_ends_at_its_midnight() {
    let invoiced = invoiced_with(|fixture, metric| {
        let mut price = every(1, "month", fixture.usage_at("1", metric));
        price.cadence = Cadence::Quarterly;
        vec![price]
    });
    let fixture = &invoiced.fixture;
    fixture.set(START);
    let berlin = NewCustomer {
        external_customer_id: Some(external("bea")),
        timezone: Some(Zone::parse("Europe/Berlin").unwrap()),
        currency: Some(usd()),
        ..NewCustomer::new(name("Bea"), Email::parse("bea@example.com").unwrap())
    };
    run(fixture.account.create_customer(berlin)).unwrap();
    let mut new = NewSubscription::new(external("bea"), invoiced.plan.id);
    new.anchor = BillingAnchor::FirstOfMonth;
    run(fixture.account.create_subscription(new)).unwrap();
    fixture.tick_at("2026-07-03T00:00:00Z");
    let dates = fixture.invoices(SETTLED);
    let dates: Vec<_> = dates.iter().map(|of| of.invoice_date.to_string()).collect();
    let expected = [
        "2026-06-30T22:00:00.000000Z",
        "2026-05-31T22:00:00.000000Z",
        "2026-04-30T22:00:00.000000Z",
    ];
    assert_eq!(dates, expected);
}
