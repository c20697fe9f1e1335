//! Models of what other prices come to, while their period runs and when it is over.

use proptest::prelude::*;

use super::*;
use crate::price::Share;

fn written(text: &str) -> WrittenDecimal {
    WrittenDecimal::parse(text).unwrap()
}

fn percent(of: &str, bounds: [Option<&str>; 2], prorated: bool) -> Model {
    let [minimum_amount, maximum_amount] = bounds.map(|of| of.map(written));
    let percent = number(of);
    Model::Percent(Percent { percent, minimum_amount, maximum_amount, prorated })
}

fn minimum(amount: &str, prorated: bool) -> Model {
    Model::MinimumComposite(MinimumComposite { prorated, ..MinimumComposite::new(written(amount)) })
}

const WHOLE: Share = Share { part: 30, whole: 30, places: 2 };
const HALF: Share = Share { part: 15, whole: 30, places: 2 };

fn check(model: &Model, base: &str, share: Share, running: &str, over: &str) {
    model.check().unwrap();
    assert_eq!(model.rate_so_far(&one(base)).amount, number(running), "{model:?} of {base}");
    let rating = model.rate_ended(&one(base), share);
    assert_eq!(rating.amount, number(over), "{model:?} of {base}");
    assert_eq!(rating.amount, rating.parts.iter().map(|part| part.amount.clone()).sum());
}

#[test]
fn price_models_6_1_a_percentage_has_bounds_and_the_lower_one_counts_at_the_end() {
    let both = [Some("5000"), Some("50000")];
    let of = |base, running, over| check(&percent("0.08", both, false), base, WHOLE, running, over);
    of("0", "0", "5000");
    of("50000", "4000", "5000");
    of("62500", "5000", "5000");
    of("100000", "8000", "8000");
    of("1000000", "50000", "50000");
    of("-100", "0", "5000");
    check(&percent("0.08", both, true), "20000", HALF, "1600", "2500");
    let tiny = "0.00000000001";
    check(&percent("0.1", [None, None], false), "0.0000000001", WHOLE, tiny, tiny);
    check(&percent("0.03", [Some("29"), None], false), "2000", WHOLE, "60", "60");
    // Subscriptions 9.4.
    let of = |base, over| {
        let model = percent("0.05", [Some("20.00"), Some("200.00")], false);
        assert_eq!(model.rate(&one(base)).amount, number(over), "{base}");
    };
    of("100.00", "20.00");
    of("1000.00", "50.00");
    of("10000.00", "200.00");
}

#[test]
fn price_models_6_2_what_lacks_of_a_minimum_is_there_at_the_end() {
    let of = |base, over| check(&minimum("50", false), base, WHOLE, "0", over);
    of("22.50", "27.5");
    of("50.00", "0");
    of("70", "0");
    of("0", "50");
    of("-5", "55");
    check(&minimum("50", true), "10", HALF, "0", "15");
    check(&minimum("80.00", false), "65.00", WHOLE, "0", "15.00");
}

#[test]
fn price_models_6_what_is_wrong_is_told() {
    let wrong = |model: Model, field: &str| {
        let error = model.check().unwrap_err();
        let fields = error.violations().iter().map(|of| of.field.to_string());
        assert_eq!(fields.collect::<Vec<_>>(), [field], "{error}");
    };
    for of in ["0", "-0.1", "1.01"] {
        wrong(percent(of, [None, None], false), "percent.percent");
    }
    wrong(percent("1", [Some("-1"), None], false), "percent.minimum_amount");
    wrong(percent("1", [None, Some("-1")], false), "percent.maximum_amount");
    wrong(percent("1", [Some("2"), Some("1")], false), "percent.minimum_amount");
    wrong(minimum("-1", false), "minimum_composite.minimum_amount");
}

/// Rounds half away from zero.
fn rounded(number: i64, by: i64) -> i64 {
    number.signum() * ((number.abs() * 2 + by) / (by * 2))
}

proptest! {
    /// Against a slow form, in hundredths of cents.
    #[test]
    fn what_composites_come_to_is_what_the_rules_say(
        base in -10_000_i64..100_000,
        of in 1_i64..=100,
        minimum_amount in prop::option::of(0_i64..5_000),
        more in prop::option::of(0_i64..5_000),
        days in 1_u32..=30,
        prorated: bool,
    ) {
        let cents = |of: i64| number(&format!("{of}e-2"));
        let exact = |of: i64| number(&format!("{of}e-4"));
        let least = minimum_amount.unwrap_or_default();
        let most = more.map(|more| more + least);
        let prorate = |of: i64| match prorated {
            true => rounded(of * i64::from(days), 30),
            false => of,
        };
        let share = Share { part: days, whole: 30, places: 2 };

        let model = Model::Percent(Percent {
            percent: cents(of),
            minimum_amount: minimum_amount.map(|of| cents(of).into()),
            maximum_amount: most.map(|of| cents(of).into()),
            prorated,
        });
        let capped = |of: i64| most.map_or(of, |most| of.min(most * 100));
        let running = capped((base * of).max(0));
        let over = capped((base * of).max(prorate(least) * 100).max(0));
        prop_assert_eq!(model.rate_so_far(&Quantity::One(cents(base))).amount, exact(running));
        prop_assert_eq!(model.rate_ended(&Quantity::One(cents(base)), share).amount, exact(over));

        let model = Model::MinimumComposite(MinimumComposite {
            minimum_amount: cents(least).into(),
            prorated,
        });
        let over = (prorate(least) - base).max(0);
        prop_assert_eq!(model.rate_so_far(&Quantity::One(cents(base))).amount, Decimal::zero());
        prop_assert_eq!(model.rate_ended(&Quantity::One(cents(base)), share).amount, cents(over));
    }
}
