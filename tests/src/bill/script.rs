//! What callers do, in an order and with arguments that chance decides.

use std::collections::BTreeSet;

use accrue::{
    price::{Cadence, Cycle},
    subscription::BillingAnchor,
    usage::View,
};
use bigdecimal::BigDecimal;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
};

use super::{Adjustments, Charge, Discount, Filter, Model, Named, Price, Tier};
use crate::{
    model::{Condition, Field, Function, MetricSpec, Operator, Value},
    script::{Again, Cancel, DAY, EventSpec, HOUR, MINUTE, On, Pause, around, thresholds},
};

pub use crate::script::When;

/// What there is before anything happens: metrics, the prices of plans, the zones of customers.
#[derive(Clone, Debug)]
pub struct Opening {
    pub metrics: Vec<MetricSpec>,
    pub plans: Vec<Vec<Price>>,
    pub zones: Vec<&'static str>,
}

/// One step. A number that names something is taken modulo how many there are.
#[derive(Clone, Debug)]
pub enum Step {
    Subscribe(Subscribe),
    Cancel { life: usize, how: Cancel },
    Use(Vec<EventSpec>),
    Pause(Pause),
    CreateAlert { on: On, terms: Terms, thresholds: Vec<&'static str> },
    UpdateAlert { alert: usize, thresholds: Vec<&'static str>, filters: Option<BTreeSet<Filter>> },
    Enable(usize),
    Disable(usize),
    Ask(Ask),
}

#[derive(Clone, Debug)]
pub struct Subscribe {
    pub customer: usize,
    pub plan: usize,
    pub start: Life,
    pub length: Option<i64>,
    pub anchor: BillingAnchor,
}

/// When a life begins, in microseconds from now.
pub type Life = i64;

/// What an alert watches: a metric, the cost, or the spend in a unit.
#[derive(Clone, Debug)]
pub enum Terms {
    Usage(usize),
    Cost(Option<&'static str>),
    Spend(&'static str, BTreeSet<Filter>),
}

/// A question about a timeframe, or about the current billing period.
#[derive(Clone, Debug)]
pub struct Ask {
    pub life: usize,
    pub view: View,
    pub ends: Option<[When; 2]>,
    pub unit: Option<&'static str>,
    pub by: Option<&'static str>,
}

const ZONES: &[&str] = &["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"];
const AMOUNTS: &[&str] = &["0", "0.05", "0.3333", "1", "2.5", "3", "10", "19.99", "-1.5"];
const REGIONS: &[&str] = &["a", "b", "1"];

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
    let cells = vec((region, flag, amount()), 0..4);
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
    let discount = prop_oneof![
        big(&["0", "0.1", "0.333", "1"]).prop_map(Discount::Fraction),
        big(&["1", "4.5", "20"]).prop_map(Discount::Amount),
        big(&["1", "2.5"]).prop_map(move |off| match units {
            true => Discount::Units(off),
            false => Discount::Amount(off),
        }),
    ];
    let minimum = option::weighted(0.25, big(&["0", "3", "12.5"]));
    let maximum = option::weighted(0.25, big(&["12.5", "30"]));
    (option::weighted(0.3, discount), minimum, maximum)
        .prop_map(|(discount, minimum, maximum)| Adjustments { discount, minimum, maximum })
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
        1 => (3_u16..20).prop_map(|days| Cadence::Custom(Cycle::Days(days))),
        1 => (2_u16..5).prop_map(|months| Cadence::Custom(Cycle::Months(months))),
    ]
}

fn plan() -> impl Strategy<Value = Vec<Price>> {
    let cadence = prop_oneof![6 => recurring(), 1 => Just(Cadence::OneTime)];
    let charge = prop_oneof![3 => usage(), 2 => fee()];
    let unit = prop_oneof![3 => Just("USD"), 1 => Just("credits")];
    let rate = option::weighted(0.5, big(&["0.01", "2"]));
    let price = (0_usize..2, unit, rate, cadence, charge);
    (recurring(), vec(price, 1..=6)).prop_map(|(of_usage, prices)| {
        let price = |(item, currency, rate, of_fee, (charge, adjustments))| Price {
            item,
            currency,
            conversion_rate: rate,
            cadence: if matches!(charge, Charge::Usage { .. }) { of_usage } else { of_fee },
            charge,
            adjustments,
        };
        prices.into_iter().map(price).collect()
    })
}

pub fn opening() -> impl Strategy<Value = Opening> {
    (metrics(), vec(plan(), 1..3), vec(select(ZONES), 2)).prop_map(|(metrics, mut plans, zones)| {
        for price in plans.iter_mut().flatten() {
            if let Charge::Usage { metric, .. } = &mut price.charge {
                *metric %= metrics.len();
            }
        }
        Opening { metrics, plans, zones }
    })
}

fn anchor() -> impl Strategy<Value = BillingAnchor> {
    let day = (1_u8..=31, option::weighted(0.3, 1_u8..=12))
        .prop_map(|(day, month)| BillingAnchor::Day { day, month, year: None });
    prop_oneof![
        1 => Just(BillingAnchor::FirstOfMonth),
        1 => Just(BillingAnchor::SubscriptionStart),
        1 => day,
    ]
}

fn subscribe() -> impl Strategy<Value = Step> {
    let start = prop_oneof![
        2 => Just(0),
        2 => -DAY..5 * MINUTE,
        2 => -70 * DAY..0,
        1 => 0..20 * DAY,
    ];
    let length = prop_oneof![MINUTE..DAY, DAY..100 * DAY];
    (any::<usize>(), any::<usize>(), start, option::weighted(0.3, length), anchor()).prop_map(
        |(customer, plan, start, length, anchor)| {
            Step::Subscribe(Subscribe { customer, plan, start, length, anchor })
        },
    )
}

fn cancel() -> impl Strategy<Value = Step> {
    let how = prop_oneof![
        2 => Just(Cancel::Immediate),
        2 => Just(Cancel::EndOfTerm),
        3 => (0_i64..8 * MINUTE).prop_map(|by| Cancel::At(When::Now(by))),
        3 => (0_i64..60 * DAY).prop_map(|by| Cancel::At(When::Now(by))),
    ];
    (any::<usize>(), how).prop_map(|(life, how)| Step::Cancel { life, how })
}

fn event() -> impl Strategy<Value = EventSpec> {
    let at = prop_oneof![
        4 => Just(When::Now(0)),
        2 => (-DAY..5 * MINUTE).prop_map(When::Now),
        2 => (0_i64..=5 * MINUTE).prop_map(When::Now),
        1 => (any::<usize>(), around()).prop_map(|(of, by)| When::Start(of, by)),
        2 => (any::<usize>(), around()).prop_map(|(of, by)| When::End(of, by)),
    ];
    let again = prop_oneof![9 => Just(Again::New), 1 => any::<usize>().prop_map(Again::Same)];
    let number = select(&["0", "1", "1.0", "2", "2.5", "7", "-1"][..]).prop_map(Value::number);
    let region = prop_oneof![
        6 => select(REGIONS).prop_map(Value::Text),
        2 => Just(Value::number("1")),
        1 => Just(Value::number("1.00")),
        1 => Just(Value::Null),
    ];
    let properties = (
        option::weighted(0.9, number),
        option::weighted(0.8, region),
        option::weighted(0.5, any::<bool>().prop_map(Value::Boolean)),
    );
    let name = select(&["call", "save"][..]);
    (any::<usize>(), any::<bool>(), at, name, properties, again).prop_map(
        |(customer, by_id, at, name, (p, region, flag), again)| {
            let properties = [("p", p), ("region", region), ("flag", flag)];
            let properties = properties.into_iter().filter_map(|(of, value)| Some((of, value?)));
            EventSpec { customer, by_id, at, name, properties: properties.collect(), again }
        },
    )
}

fn pause() -> impl Strategy<Value = Step> {
    let to_period = (any::<usize>(), prop_oneof![2 => around(), 1 => Just(0)]);
    prop_oneof![
        2 => (0..2 * HOUR).prop_map(Pause::For),
        2 => (HOUR..9 * DAY).prop_map(Pause::For),
        2 => (9 * DAY..50 * DAY).prop_map(Pause::For),
        5 => to_period.prop_map(|(of, by)| Pause::PeriodOf(of, by)),
    ]
    .prop_map(Step::Pause)
}

fn unit() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("USD"), 2 => Just("credits"), 1 => Just("EUR")]
}

/// The end of a timeframe.
pub(super) fn end() -> impl Strategy<Value = When> {
    prop_oneof![
        4 => (-120 * DAY..30 * DAY).prop_map(When::Now),
        2 => (-DAY..DAY).prop_map(When::Now),
        1 => Just(When::Now(0)),
        2 => (any::<usize>(), around()).prop_map(|(of, by)| When::Start(of, by)),
        3 => (any::<usize>(), prop_oneof![around(), Just(0)]).prop_map(|(of, by)| When::End(of, by)),
        2 => (0_i64..3_000, prop_oneof![around(), Just(0)]).prop_map(|(back, by)| When::Quarter(back, by)),
        1 => (-40_i64..20).prop_map(|days| When::Midnight(days * DAY)),
    ]
}

fn ask() -> impl Strategy<Value = Step> {
    let view = select(&[View::Whole, View::Cumulative, View::Periodic][..]);
    let by = option::weighted(0.4, select(&["region", "flag", "p"][..]));
    let ends = option::weighted(0.8, [end(), end()]);
    (any::<usize>(), view, ends, option::weighted(0.5, unit()), by)
        .prop_map(|(life, view, ends, unit, by)| Step::Ask(Ask { life, view, ends, unit, by }))
}

/// Scripts about costs.
pub fn costs() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => subscribe(),
        1 => cancel(),
        8 => vec(event(), 1..12).prop_map(Step::Use),
        4 => pause(),
        8 => ask(),
    ];
    (vec(subscribe(), 1..3), vec(step, 4..24))
        .prop_map(|(first, steps)| first.into_iter().chain(steps).collect())
}

/// The ends of timeframes that adjoin.
pub fn adding_up() -> impl Strategy<Value = (usize, [When; 3])> {
    (any::<usize>(), [end(), end(), end()])
}

fn filters() -> impl Strategy<Value = BTreeSet<Filter>> {
    let named = prop_oneof![
        vec(0_usize..6, 1..4).prop_map(|of| Named::Prices(of.into_iter().collect())),
        vec(0_usize..2, 1..3).prop_map(|of| Named::Items(of.into_iter().collect())),
        any::<bool>().prop_map(Named::Fees),
    ];
    let filter = (any::<bool>(), named).prop_map(|(includes, named)| Filter { includes, named });
    vec(filter, 0..3).prop_map(|all| all.into_iter().collect())
}

fn values() -> impl Strategy<Value = Vec<&'static str>> {
    let amounts = &["0.01", "2.5", "5", "10", "12.5", "19.99", "20", "30", "40", "60", "100"][..];
    prop_oneof![1 => thresholds(), 3 => subsequence(amounts, 1..=4).prop_shuffle()]
}

/// Scripts about alerts on cost.
pub fn alerts() -> impl Strategy<Value = Vec<Step>> {
    let on = || {
        prop_oneof![any::<usize>().prop_map(On::Subscription), any::<usize>().prop_map(On::Plan),]
    };
    let terms = || {
        prop_oneof![
            1 => any::<usize>().prop_map(Terms::Usage),
            4 => option::weighted(0.4, unit()).prop_map(Terms::Cost),
            4 => (unit(), filters()).prop_map(|(unit, filters)| Terms::Spend(unit, filters)),
        ]
    };
    let create = move || {
        (on(), terms(), values()).prop_map(|(on, terms, thresholds)| Step::CreateAlert {
            on,
            terms,
            thresholds,
        })
    };
    let update = (any::<usize>(), values(), option::weighted(0.3, filters()))
        .prop_map(|(alert, thresholds, filters)| Step::UpdateAlert { alert, thresholds, filters });
    let step = prop_oneof![
        2 => subscribe(),
        2 => cancel(),
        10 => vec(event(), 1..8).prop_map(Step::Use),
        8 => pause(),
        4 => create(),
        2 => update,
        1 => any::<usize>().prop_map(Step::Enable),
        2 => any::<usize>().prop_map(Step::Disable),
    ];
    let opening = (vec(create(), 0..3), vec(subscribe(), 1..3));
    (opening, vec(create(), 0..3), vec(step, 4..30)).prop_map(|((before, lives), after, steps)| {
        before.into_iter().chain(lives).chain(after).chain(steps).collect()
    })
}
