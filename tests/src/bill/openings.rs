//! What there is before anything happens, by chance.

use accrue::price::{Cadence, Cycle};
use bigdecimal::BigDecimal;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
};

use super::{Adjustments, Charge, Discount, Model, Price, Tier};
use crate::model::{Condition, Field, Function, MetricSpec, Operator, Value};

const ZONES: &[&str] = &["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"];
const AMOUNTS: &[&str] = &["0", "0.05", "0.3333", "1", "2.5", "3", "10", "19.99", "-1.5"];
pub(super) const REGIONS: &[&str] = &["a", "b", "1"];

/// What there is before anything happens: metrics, the prices of plans, the zones of customers.
#[derive(Clone, Debug)]
pub struct Opening {
    pub metrics: Vec<MetricSpec>,
    pub plans: Vec<Vec<Price>>,
    /// Whether they are versions of one.
    pub is_one_plan: bool,
    pub zones: Vec<&'static str>,
}

pub fn opening() -> impl Strategy<Value = Opening> {
    let opening = (metrics(), vec(plan(), 1..3), any::<bool>(), vec(select(ZONES), 2));
    opening.prop_map(|(metrics, mut plans, is_one_plan, zones)| {
        for price in plans.iter_mut().flatten() {
            if let Charge::Usage { metric, .. } = &mut price.charge {
                *metric %= metrics.len();
            }
        }
        Opening { metrics, plans, is_one_plan, zones }
    })
}

fn big(texts: &'static [&'static str]) -> impl Strategy<Value = BigDecimal> {
    select(texts).prop_map(|text| text.parse().unwrap())
}

fn amount() -> impl Strategy<Value = BigDecimal> {
    big(AMOUNTS)
}

/// Counts, sums, extremes and distinct values; the first three of the metrics a matrix can rate.
fn metrics() -> impl Strategy<Value = Vec<MetricSpec>> {
    let function = select(
        &[
            Function::CountAll,
            Function::Count(Field::Property("region")),
            Function::Sum("p"),
            Function::Sum("p"),
            Function::Min("p"),
            Function::Max("p"),
            Function::Distinct(Field::Property("region")),
            Function::Distinct(Field::Property("p")),
        ][..],
    );
    let condition = prop_oneof![
        Just(Condition::NameIs("call")),
        Just(Condition::IsNotNull("region")),
        Just(Condition::Compare("p", Operator::AtLeast, Value::number("1"))),
    ];
    let metric = (function, option::weighted(0.2, condition))
        .prop_map(|(function, condition)| MetricSpec { function, condition });
    vec(metric, 2..4)
}

fn tiers() -> impl Strategy<Value = Vec<Tier>> {
    let bounds = subsequence(&["1", "2.5", "5", "12", "40"][..], 0..3);
    (bounds, vec(amount(), 4)).prop_map(|(bounds, amounts)| {
        let bounds = bounds.into_iter().map(|bound| Some(bound.parse().unwrap()));
        let tiers = bounds.chain([None]).zip(amounts);
        tiers.map(|(until, each)| Tier { until, each }).collect()
    })
}

fn plain_model() -> impl Strategy<Value = Model> {
    prop_oneof![
        2 => amount().prop_map(Model::Unit),
        1 => (amount(), select(&[1_u64, 3, 10][..])).prop_map(|(each, size)| Model::Package(each, size)),
        1 => tiers().prop_map(Model::Tiered),
        1 => tiers().prop_map(Model::Bulk),
    ]
}

fn matrix() -> impl Strategy<Value = Model> {
    let region = option::weighted(0.8, select(REGIONS));
    let flag = option::weighted(0.8, select(&["true", "false"][..]));
    let cells = vec((region, flag, amount()), 1..4);
    (any::<bool>(), cells, amount()).prop_map(|(both, cells, others)| {
        let dimensions = if both { vec!["region", "flag"] } else { vec!["region"] };
        let mut known: Vec<(Vec<Option<&'static str>>, BigDecimal)> = Vec::new();
        for (region, flag, each) in cells {
            let values = if both { vec![region, flag] } else { vec![region] };
            if known.iter().all(|(of, _)| *of != values) {
                known.push((values, each));
            }
        }
        Model::Matrix { dimensions, others, cells: known }
    })
}

fn adjustments(units: bool) -> impl Strategy<Value = Adjustments> {
    let fraction = big(&["0", "0.1", "0.333", "1"]).prop_map(Discount::Fraction);
    let amount = big(&["1", "4.5", "20"]).prop_map(Discount::Amount);
    let units =
        option::weighted(0.15, big(&["1", "2.5"])).prop_map(move |off| off.filter(|_| units));
    let bands = (big(&["5", "12.5"]), big(&["0", "0.25"]), big(&["0.1", "1"]));
    let bands = bands.prop_map(|(until, first, second)| {
        let first = Tier { until: Some(until), each: first };
        Discount::Bands(vec![first, Tier { until: None, each: second }])
    });
    // In any order: the kind tells which comes first.
    let discounts = (
        option::weighted(0.1, bands),
        option::weighted(0.15, fraction),
        option::weighted(0.15, amount),
        units,
    );
    let discounts = discounts.prop_map(|(bands, fraction, amount, units)| {
        let units = units.map(Discount::Units);
        [bands, fraction, amount, units].into_iter().flatten().collect()
    });
    let minimum = option::weighted(0.25, big(&["0", "3", "12.5"]));
    let maximum = option::weighted(0.25, big(&["12.5", "30"]));
    let all = (discounts, minimum, maximum, option::weighted(0.3, Just(())));
    all.prop_map(|(discounts, minimum, maximum, of_plan)| Adjustments {
        discounts,
        minimum,
        maximum,
        are_of_plan: of_plan.is_some(),
    })
}

fn usage() -> impl Strategy<Value = (Charge, Adjustments)> {
    let charge =
        |model| (any::<usize>(), model).prop_map(|(metric, model)| Charge::Usage { metric, model });
    prop_oneof![
        3 => (charge(plain_model().boxed()), adjustments(true)),
        1 => (charge(matrix().boxed()), adjustments(false)),
    ]
}

fn fee() -> impl Strategy<Value = (Charge, Adjustments)> {
    let charge = (big(&["0", "1", "2.5", "4"]), plain_model(), any::<bool>());
    let charge = charge.prop_map(|(quantity, model, in_advance)| Charge::Fee {
        quantity,
        model,
        in_advance,
    });
    (charge, adjustments(false))
}

fn recurring() -> impl Strategy<Value = Cadence> {
    prop_oneof![
        4 => Just(Cadence::Monthly),
        1 => Just(Cadence::Quarterly),
        1 => Just(Cadence::SemiAnnual),
        1 => Just(Cadence::Annual),
        1 => (1_u16..20).prop_map(|days| Cadence::Custom(Cycle::Days(days))),
        1 => (2_u16..5).prop_map(|months| Cadence::Custom(Cycle::Months(months))),
    ]
}

fn plan() -> impl Strategy<Value = Vec<Price>> {
    let cadence = prop_oneof![6 => recurring(), 1 => Just(Cadence::OneTime)];
    let charge = prop_oneof![3 => usage(), 2 => fee()];
    let unit = prop_oneof![3 => Just("USD"), 1 => Just("credits")];
    let rate = option::weighted(0.5, big(&["0.01", "2"]));
    let price = (0_usize..2, unit, rate, cadence, charge);
    // Usage of one cadence, or each price of its own.
    let of_usage = option::weighted(0.5, recurring());
    (of_usage, vec(price, 1..=6)).prop_map(|(of_usage, prices)| {
        let price = |(item, currency, rate, own, of): (_, _, _, _, (Charge, Adjustments))| {
            let (charge, adjustments) = of;
            let cadence = match &charge {
                Charge::Usage { .. } if own == Cadence::OneTime => Cadence::Monthly,
                Charge::Usage { .. } => of_usage.unwrap_or(own),
                Charge::Fee { .. } => own,
            };
            // A plan adjusts what is in a currency alone.
            let are_of_plan = adjustments.are_of_plan && currency == "USD";
            let adjustments = Adjustments { are_of_plan, ..adjustments };
            Price { item, currency, conversion_rate: rate, cadence, charge, adjustments }
        };
        prices.into_iter().map(price).collect()
    })
}
