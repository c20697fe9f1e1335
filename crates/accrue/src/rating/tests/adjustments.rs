//! What adjustments do to amounts, by example: of one price, and of several together.

use super::*;

pub(super) fn usage(unit_amount: &str) -> Charge {
    Charge::Usage { metric_id: METRIC, model: Model::Unit(Unit::new(number(unit_amount))) }
}

/// A price in force from the first of April on, whose periods are months.
pub(super) fn monthly(charge: Charge) -> Priced {
    let (cadence, quantities) = (Cadence::Monthly, BTreeMap::new());
    Priced { charge, cadence, start: 22, end: None, quantities, can_defer: false }
}

pub(super) fn fee_of(amount: &str) -> Priced {
    monthly(fee(amount, BillingMode::InArrear))
}

pub(super) fn always(adjustment: Adjustment, prices: &[usize]) -> Adjusted {
    Adjusted { adjustment, prices: prices.to_vec(), start: 0, end: None }
}

pub(super) fn percentage(text: &str) -> Adjustment {
    Adjustment::Discount(Discount::Percentage(Fraction::parse(text).unwrap()))
}

pub(super) fn amount_off(text: &str) -> Adjustment {
    Adjustment::Discount(Discount::Amount(number(text)))
}

fn bands(of: &[(&str, Option<&str>, &str)]) -> Adjustment {
    let tiers = of.iter().map(|(lower, upper, percentage)| DiscountTier {
        lower_bound: number(lower),
        upper_bound: upper.map(number),
        percentage: Fraction::parse(percentage).unwrap(),
    });
    Adjustment::Discount(Discount::TieredPercentage(tiers.collect()))
}

/// What some prices come to in all of April, of which so much was used.
fn april(priced: &[Priced], adjusted: &[Adjusted], used: &str) -> Vec<String> {
    let used = number(used);
    let used = |_: Timeframe, _: Timestamp| metric(used.clone());
    let april = span("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z");
    let lines = rate_one(&several(priced, adjusted), &used, april, april.end());
    lines.into_iter().map(|line| line.total.to_string()).collect()
}

#[test]
fn invoicing_7_1_the_steps_in_order() {
    let all = [
        (Adjustment::Discount(Discount::Usage(Decimal::from(10))), "80"),
        (amount_off("15.00"), "65"),
        (percentage("0.2"), "52"),
        (Adjustment::Minimum(number("60")), "60"),
        (Adjustment::Maximum(number("55")), "55"),
    ];
    for (count, (_, expect)) in all.iter().enumerate() {
        // In whatever order they are given.
        let first = all[..=count].iter().rev();
        let adjusted: Vec<_> = first.map(|(of, _)| always(of.clone(), &[0])).collect();
        assert_eq!(april(&[monthly(usage("2"))], &adjusted, "50"), [*expect], "{adjusted:?}");
    }
}

#[test]
fn price_models_7_5_bands_come_behind_percentages() {
    let tiers = bands(&[("0", Some("100"), "0.1"), ("100", None, "0.2")]);
    let check_at = |unit: &str, adjustments: &[Adjustment], used: &str, expect: &str| {
        let adjusted: Vec<_> = adjustments.iter().map(|of| always(of.clone(), &[0])).collect();
        assert_eq!(april(&[monthly(usage(unit))], &adjusted, used), [expect]);
    };
    let check = |adjustments: &[Adjustment], used: &str, expect: &str| {
        check_at("1", adjustments, used, expect);
    };
    check(std::slice::from_ref(&tiers), "250", "210");
    check_at("-1", std::slice::from_ref(&tiers), "250", "-250");
    check(&[tiers, percentage("0.5"), amount_off("100")], "400", "130");
    check(&[amount_off("10")], "9.95", "0");
    check_at("-1", &[amount_off("10")], "3", "-3");
    check(&[Adjustment::Discount(Discount::Usage(Decimal::from(300)))], "299", "0");
}

#[test]
fn invoicing_7_4_an_amount_is_spread_in_proportion() {
    let fees = [fee_of("20"), fee_of("10"), fee_of("3.33")];
    let off = always(amount_off("10"), &[0, 1, 2]);
    assert_eq!(april(&fees, &[off], "0"), ["14", "7", "2.33"]);
    let all = always(amount_off("100"), &[0, 1, 2]);
    assert_eq!(april(&fees, &[all], "0"), ["0", "0", "0"]);
    // Of two, the third is left alone.
    let two = always(amount_off("15"), &[0, 1]);
    assert_eq!(april(&fees, &[two], "0"), ["10", "5", "3.33"]);
}

#[test]
fn invoicing_7_4_bands_are_of_all_lines_together() {
    let tiers = bands(&[("0", Some("100"), "0.1"), ("100", None, "0.2")]);
    let shared = always(tiers, &[0, 1]);
    assert_eq!(april(&[fee_of("150"), fee_of("100")], &[shared], "0"), ["126", "84"]);
}

#[test]
fn invoicing_7_4_a_minimum_is_spread_in_proportion_or_equally() {
    let least = always(Adjustment::Minimum(number("100")), &[0, 1]);
    let check = |one: &str, other: &str, expect: [&str; 2]| {
        let found = april(&[fee_of(one), fee_of(other)], std::slice::from_ref(&least), "0");
        assert_eq!(found, expect);
    };
    check("30", "10", ["75", "25"]);
    check("0", "0", ["50", "50"]);
    check("70", "40", ["70", "40"]);
    let most = always(Adjustment::Maximum(number("20")), &[0, 1]);
    assert_eq!(april(&[fee_of("30"), fee_of("10")], &[most], "0"), ["15", "5"]);
}

#[test]
fn a_share_takes_no_line_below_zero() {
    let fees = [fee_of("0.006"), fee_of("0.006")];
    let found = april(&fees, &[always(amount_off("0.01"), &[0, 1])], "0");
    assert_eq!(found, ["0.001", "0.001"]);
}

#[test]
fn invoicing_7_4_what_a_price_has_by_itself_comes_before_what_is_shared() {
    let shared = always(amount_off("10"), &[0, 1]);
    let own = always(amount_off("10"), &[0]);
    for adjusted in [[shared.clone(), own.clone()], [own, shared]] {
        assert_eq!(april(&[fee_of("30"), fee_of("20")], &adjusted, "0"), ["15", "15"]);
    }
}

#[test]
fn units_of_several_discounts_are_taken_off_together() {
    let units = |of: u64| Adjustment::Discount(Discount::Usage(Decimal::from(of)));
    let adjusted = [always(units(3), &[0]), always(units(4), &[0, 1])];
    let priced = [monthly(usage("1")), monthly(usage("2"))];
    assert_eq!(april(&priced, &adjusted, "10"), ["3", "12"]);
    assert_eq!(april(&priced, &adjusted, "5"), ["0", "2"]);
}

#[test]
fn subscriptions_2_4_prices_share_that_have_one_cadence_mode_currency_and_day() {
    let groups = |change: fn(&mut crate::price::Price, &mut PriceInterval)| {
        let mut of = subscription();
        let fee = || fee("1", BillingMode::InArrear);
        let mut prices = [0, 1].map(|place| {
            let mut price = price(fee(), Cadence::Monthly, Adjustments::default());
            Arc::make_mut(&mut price).id = price_id(place);
            price
        });
        of.price_intervals = prices.iter().map(|price| cut(&of).interval(price)).collect();
        change(Arc::make_mut(&mut prices[1]), &mut of.price_intervals[1]);
        of.adjustment_intervals.push(AdjustmentInterval {
            id: AdjustmentIntervalId::from_bytes([1; 16]),
            adjustment: amount_off("1"),
            price_ids: prices.iter().map(|price| price.id).collect(),
            lane: Lane::FIRST,
            plan_version: of.plan_version,
            coupon_id: None,
            is_trial: false,
            delayed_from: None,
            scope: None,
            start_date: of.start_date,
            end_date: None,
        });
        RateCard::new(&of, prices.to_vec()).groups.len()
    };
    assert_eq!(groups(|_, _| ()), 1);
    assert_eq!(groups(|price, _| price.charge = fee("1", BillingMode::InAdvance)), 2);
    assert_eq!(groups(|price, _| price.currency = Currency::parse("EUR").unwrap().into()), 2);
    assert_eq!(groups(|_, of| of.anchor = BillingAnchor::SubscriptionStart), 2);
    let quarterly = |price: &mut crate::price::Price, of: &mut PriceInterval| {
        (price.cadence, of.cadence) = (Cadence::Quarterly, Cadence::Quarterly);
    };
    assert_eq!(groups(quarterly), 2);
}

#[test]
fn another_quantity_at_the_end_of_a_timeframe_is_in_the_next() {
    let year = |quantities: &[(u64, u32)]| Priced {
        cadence: Cadence::Annual,
        quantities: quantities.iter().copied().collect(),
        ..monthly(fee("365", BillingMode::InAdvance))
    };
    assert_eq!(april(&[year(&[(52, 2)])], &[], "0"), april(&[year(&[])], &[], "0"));
    assert_ne!(april(&[year(&[(51, 2)])], &[], "0"), april(&[year(&[])], &[], "0"));
}

#[test]
fn subscriptions_2_4_what_is_not_billed_alike_shares_no_minimum() {
    let least = always(Adjustment::Minimum(number("100")), &[0, 1]);
    let quarterly = Priced { cadence: Cadence::Quarterly, ..fee_of("10") };
    // The quarter ends with May, and so does its minimum.
    assert_eq!(april(&[fee_of("30"), quarterly], &[least], "0"), ["100", "0"]);
}

#[test]
fn subscriptions_2_4_an_adjustment_applies_by_when_a_charge_falls_due() {
    // From the first of April up to the first of May: one month.
    let half =
        Adjusted { adjustment: percentage("0.5"), prices: vec![0, 1], start: 22, end: Some(52) };
    let priced = [
        Priced { start: 0, ..monthly(fee("40", BillingMode::InAdvance)) },
        Priced { start: 0, ..monthly(usage("1")) },
    ];
    let card = several(&priced, &[half]);
    let used = |_: Timeframe, _: Timestamp| metric(Decimal::from(10));
    let month = |from: &str, to: &str| {
        let month = span(&format!("2026-{from}-01T00:00:00Z"), &format!("2026-{to}-01T00:00:00Z"));
        let lines = rate_one(&card, &used, month, month.end());
        lines.into_iter().map(|line| line.total.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(month("03", "04")[1], "10");
    assert_eq!(month("04", "05"), ["20", "5"]);
    assert_eq!(month("05", "06"), ["40", "10"]);
}

#[test]
fn another_quantity_in_advance_has_the_discount_of_its_own_day() {
    let half = Adjusted { adjustment: percentage("0.5"), prices: vec![0], start: 30, end: None };
    let fee = monthly(fee("30", BillingMode::InAdvance));
    let priced = Priced { quantities: BTreeMap::from([(37, 3)]), ..fee };
    // From 16 April on two more, for 15 of 30 days: half of 30.
    assert_eq!(april(&[priced], &[half], "0"), ["45"]);
}

#[test]
fn invoicing_10_6_fewer_seats_are_taken_back_with_the_discount_of_the_latest() {
    let check = |of: &[(u64, u32)], adjustment: Adjustment, (start, end), expect: &str| {
        let fee = monthly(fee("30", BillingMode::InAdvance));
        let quantities = of.iter().copied().collect();
        let adjusted = Adjusted { adjustment, prices: vec![0], start, end };
        let total = april(&[Priced { quantities, ..fee }], &[adjusted], "0");
        assert_eq!(total, [expect], "{of:?}");
    };
    // Days are counted from 10 March: 1 April is 22, 11 April 32, and so on.
    let until_april_11 = (0, Some(32));
    check(&[(32, 0)], percentage("0.5"), until_april_11, "5");
    check(&[(32, 0)], percentage("1"), until_april_11, "0");
    check(&[(32, 0)], amount_off("12"), until_april_11, "6");
    check(&[(32, 0)], amount_off("40"), until_april_11, "0");
    // Discounts of now are not of what was charged before them.
    check(&[(32, 0)], percentage("1"), (32, None), "10");
    // One of one, two more for 20 of 30 days at half of 40, then one of these back for 10 days, and both.
    let since_april_11 = (32, None);
    check(&[(32, 3)], percentage("0.5"), since_april_11, "50");
    check(&[(32, 3), (42, 2)], percentage("0.5"), since_april_11, "45");
    check(&[(32, 3), (42, 1)], percentage("0.5"), since_april_11, "40");
    check(&[(32, 3), (42, 0)], percentage("0.5"), since_april_11, "30");
    check(&[(32, 3), (42, 0), (47, 1)], percentage("0.5"), since_april_11, "32.5");
}

#[test]
fn subscriptions_2_4_minimum_and_maximum_are_those_of_the_days() {
    let part = |adjustment, used: &str| {
        let priced = Priced { start: 37, ..monthly(usage("1")) };
        april(&[priced], &[always(adjustment, &[0])], used).remove(0)
    };
    assert_eq!(part(Adjustment::Minimum(number("100")), "3"), "50");
    assert_eq!(part(Adjustment::Maximum(number("100")), "300"), "50");
    assert_eq!(part(amount_off("100"), "130"), "30");
    assert_eq!(part(Adjustment::Minimum(number("0.03")), "0"), "0.02");
}

#[test]
fn a_minimum_above_a_maximum_gives_way() {
    let least = always(Adjustment::Minimum(number("30")), &[0, 1]);
    let most = always(Adjustment::Maximum(number("10")), &[0]);
    assert_eq!(april(&[fee_of("5"), fee_of("5")], &[least, most], "0"), ["10", "15"]);
}

#[test]
fn a_minimum_counts_once_for_prices_that_end_together() {
    // One from the first on, one from the sixteenth on: the minimum is that of all the days.
    let least = always(Adjustment::Minimum(number("60")), &[0, 1]);
    let priced = [monthly(usage("1")), Priced { start: 37, ..monthly(usage("1")) }];
    assert_eq!(april(&priced, &[least], "10"), ["30", "30"]);
    // One that ends in the middle is billed by itself, with the minimum of its days.
    let least = always(Adjustment::Minimum(number("60")), &[0, 1]);
    let priced = [Priced { end: Some(37), ..monthly(usage("1")) }, monthly(usage("1"))];
    assert_eq!(april(&priced, &[least], "10"), ["30", "60"]);
}
