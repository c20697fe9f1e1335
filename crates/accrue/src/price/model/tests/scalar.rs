//! Models of one quantity: what they cost while their period runs, when it is over, and on some of its days.

use super::*;

fn written(text: &str) -> WrittenDecimal {
    WrittenDecimal::parse(text).unwrap()
}

fn tiers(tiers: &[(&str, &str)]) -> Vec<LowerBoundTier> {
    let tier = |(bound, amount): &(&str, &str)| LowerBoundTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
    };
    tiers.iter().map(tier).collect()
}

fn with_minimums(prorate: bool) -> Model {
    let tier = |bound, amount, least| MinimumTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
        minimum_amount: written(least),
    };
    let tiers = vec![tier("0", "0.50", "20"), tier("100", "0.25", "60")];
    Model::TieredWithMinimum(TieredWithMinimum { tiers, hide_zero_amount_tiers: false, prorate })
}

#[test]
fn price_models_1_5_a_minimum_of_the_model_is_there_when_the_period_is_over() {
    let check = |quantity: &str, running: &str, over: &str| {
        let model = with_minimums(false);
        assert_eq!(model.rate_so_far(&one(quantity)).amount, number(running), "{quantity}");
        costs(&model, &one(quantity), over);
    };
    check("0", "0", "20");
    check("10", "5", "20");
    check("100", "50", "50");
    check("100.01", "50.0025", "60");
    check("200", "75", "75");
}

#[test]
fn price_models_3_8_a_minimum_is_that_of_the_tier_that_all_packages_lie_in() {
    let tier = |bound, amount, least| MinimumPackageTier {
        tier_lower_bound: written(bound),
        per_unit: written(amount),
        minimum_amount: written(least),
    };
    let tiers = vec![tier("0", "5", "12"), tier("20", "4", "30")];
    let model =
        Model::TieredPackageWithMinimum(TieredPackageWithMinimum { tiers, package_size: 10 });
    costs(&model, &one("0"), "12");
    costs(&model, &one("11"), "12");
    costs(&model, &one("20"), "12");
    costs(&model, &one("21"), "30");
    costs(&model, &one("100"), "42");
    let parts = model.rate(&one("21")).parts;
    let shown: Vec<_> = parts
        .iter()
        .map(|part| (part.name.as_deref(), part.quantity.to_string(), part.amount.to_string()))
        .collect();
    let part = |name, units: &str, amount: &str| (name, units.to_owned(), amount.to_owned());
    let expect = [part(None, "2", "10"), part(None, "1", "4"), part(Some("Minimum"), "1", "16")];
    assert_eq!(shown, expect);
}

#[test]
fn price_models_1_5_the_whole_amount_is_prorated_and_rounded_once() {
    let check = |model: &Model, quantity: &str, [part, whole, places]: [u32; 3], expect: &str| {
        model.check().unwrap();
        assert!(model.is_prorated());
        let rating = model.rate(&one(quantity)).prorated(Share { part, whole, places });
        assert_eq!(rating.amount, number(expect), "{model:?} of {quantity}");
        assert_eq!(
            rating.parts.into_iter().map(|part| part.amount).sum::<Decimal>(),
            rating.amount
        );
    };
    let mut unit = Unit::new(number("3"));
    unit.prorated = true;
    check(&Model::Unit(unit), "10", [11, 31, 2], "10.65");
    let unit =
        |amount| Model::UnitWithProration(UnitWithProration { unit_amount: written(amount) });
    check(&unit("100"), "1", [28, 31, 2], "90.32");
    check(&unit("50"), "1", [21, 31, 2], "33.87");
    check(&unit("0.0001"), "3", [30, 31, 2], "0");
    check(&unit("1000"), "1", [11, 31, 0], "355");
    let mut tiered = Tiered::new([
        Tier::new(number("0"), Some(number("10")), number("0.50")),
        Tier::new(number("10"), None, number("0.10")),
    ]);
    tiered.prorated = true;
    check(&Model::Tiered(tiered), "11", [15, 30, 2], "2.55");
    let own = tiers(&[("0", "0.001"), ("10000", "0.0008"), ("100000", "0.0005")]);
    let tiered = Model::TieredWithProration(TieredWithProration { tiers: own });
    check(&tiered, "150000", [30, 30, 2], "107");
    check(&tiered, "10000", [15, 30, 2], "5");
    check(&tiered, "10000.0000000001", [31, 31, 2], "10.00000000000008");
    check(&with_minimums(true), "200", [15, 30, 2], "37.5");
    check(&with_minimums(true), "0", [15, 30, 2], "10");
    let volume = [(None, "7"), (Some("6"), "6.5"), (Some("11"), "6")];
    let tiers = volume.map(|(bound, amount)| VolumeTier {
        tier_lower_bound: bound.map(written),
        unit_amount: written(amount),
    });
    let bulk = Model::BulkWithProration(BulkWithProration { tiers: tiers.into() });
    check(&bulk, "5.9999999999", [30, 30, 2], "41.9999999993");
    check(&bulk, "6", [30, 30, 2], "39");
    check(&bulk, "25", [11, 31, 2], "53.23");
    check(&bulk, "-6", [15, 30, 2], "0");
}

#[test]
fn price_models_3_4_tiers_may_begin_with_the_number_of_their_first_unit() {
    let older = |first: [&str; 2]| {
        Model::Tiered(Tiered::new([
            Tier::new(number(first[0]), Some(number("10")), number("0.50")),
            Tier::new(number(first[1]), None, number("0.10")),
        ]))
    };
    for quantity in ["0.5", "1", "10", "10.5", "11", "30"] {
        let expect = older(["0", "10"]).rate(&one(quantity)).amount;
        costs(&older(["1", "11"]), &one(quantity), &expect.to_string());
    }
    assert!(older(["0", "12"]).check().is_err());
    assert!(older(["2", "10"]).check().is_err());
}
