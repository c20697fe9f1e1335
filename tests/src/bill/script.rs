//! What callers do, in an order and with arguments that chance decides.

use std::collections::BTreeSet;

use accrue::{subscription::BillingAnchor, usage::View};
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
};

use super::{Filter, Named, openings::REGIONS};
use crate::{
    model::Value,
    script::{Again, Cancel, DAY, EventSpec, HOUR, MINUTE, On, Pause, around, thresholds},
};

pub use crate::script::When;

/// One step. A number that names something is taken modulo how many there are.
#[derive(Clone, Debug)]
pub enum Step {
    Subscribe(Subscribe),
    Cancel {
        life: usize,
        how: Cancel,
    },
    Unschedule(usize),
    Quantity {
        life: usize,
        fee: usize,
        quantity: u32,
        timing: Timing,
    },
    Use(Vec<EventSpec>),
    Pause(Pause),
    CreateAlert {
        on: On,
        terms: Terms,
        thresholds: Vec<&'static str>,
    },
    UpdateAlert {
        alert: usize,
        thresholds: Vec<&'static str>,
        filters: Option<BTreeSet<Filter>>,
        overrides: Option<Vec<GroupSpec>>,
    },
    Enable(usize),
    Disable(usize),
    Ask(Ask),
}

/// When the quantity of a fee changes.
#[derive(Clone, Copy, Debug)]
pub enum Timing {
    Immediate,
    Upcoming,
    At(When),
}

#[derive(Clone, Debug)]
pub struct Subscribe {
    pub customer: usize,
    pub plan: usize,
    pub start: Life,
    pub length: Option<i64>,
    /// Of the prices that are fees, in their order.
    pub quantities: Vec<Option<u32>>,
    pub anchor: BillingAnchor,
}

/// When a life begins, in microseconds from now.
pub type Life = i64;

/// The values of some keys of an alert, and the thresholds of those groups.
pub type GroupSpec = (Vec<(usize, &'static str)>, Vec<&'static str>);

/// What an alert watches: a metric, the cost, the spend in a unit, or the cost of groups.
#[derive(Clone, Debug)]
pub enum Terms {
    Usage(usize),
    Cost(Option<&'static str>),
    Spend(&'static str, BTreeSet<Filter>),
    Groups {
        keys: Vec<&'static str>,
        unit: &'static str,
        filters: BTreeSet<Filter>,
        overrides: Vec<GroupSpec>,
    },
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

/// The one that most of a script is about, or another.
fn mostly_first() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(0), 1 => Just(1)]
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

pub(crate) fn subscribe() -> impl Strategy<Value = Step> {
    let start = prop_oneof![
        2 => Just(0),
        2 => -DAY..5 * MINUTE,
        2 => -70 * DAY..0,
        1 => 0..20 * DAY,
    ];
    let length = prop_oneof![MINUTE..DAY, DAY..100 * DAY];
    let length = option::weighted(0.3, length);
    let quantities = vec(option::weighted(0.2, 0_u32..4), 6);
    (mostly_first(), mostly_first(), start, length, quantities, anchor()).prop_map(
        |(customer, plan, start, length, quantities, anchor)| {
            Step::Subscribe(Subscribe { customer, plan, start, length, quantities, anchor })
        },
    )
}

pub(crate) fn cancel() -> impl Strategy<Value = Step> {
    let how = prop_oneof![
        2 => Just(Cancel::Immediate),
        2 => Just(Cancel::EndOfTerm),
        3 => (0_i64..8 * MINUTE).prop_map(|by| Cancel::At(When::Now(by))),
        3 => (-60 * DAY..60 * DAY).prop_map(|by| Cancel::At(When::Now(by))),
    ];
    (any::<usize>(), how).prop_map(|(life, how)| Step::Cancel { life, how })
}

fn quantity() -> impl Strategy<Value = Step> {
    let to_period = || (any::<usize>(), prop_oneof![around(), Just(0)]);
    let at = prop_oneof![
        2 => (-40 * DAY..5 * DAY).prop_map(When::Now),
        3 => (-DAY..60 * DAY).prop_map(When::Now),
        2 => (-10_i64..20).prop_map(|days| When::Midnight(days * DAY)),
        1 => to_period().prop_map(|(of, by)| When::Start(of, by)),
        2 => to_period().prop_map(|(of, by)| When::End(of, by)),
    ];
    let timing = prop_oneof![
        3 => Just(Timing::Immediate),
        2 => Just(Timing::Upcoming),
        5 => at.prop_map(Timing::At),
    ];
    (any::<usize>(), any::<usize>(), 0_u32..6, timing)
        .prop_map(|(life, fee, quantity, timing)| Step::Quantity { life, fee, quantity, timing })
}

fn unschedule() -> impl Strategy<Value = Step> {
    any::<usize>().prop_map(Step::Unschedule)
}

pub(crate) fn event() -> impl Strategy<Value = EventSpec> {
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
    (mostly_first(), any::<bool>(), at, name, properties, again).prop_map(
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
    prop_oneof![6 => Just("USD"), 3 => Just("credits"), 1 => Just("EUR")]
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
        1 => unschedule(),
        4 => quantity(),
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
    let amounts = &["0.01", "1", "2.5", "4", "7.5", "10", "12.5", "20", "30", "45", "80"][..];
    prop_oneof![1 => thresholds(), 3 => subsequence(amounts, 1..=6).prop_shuffle()]
}

fn on() -> impl Strategy<Value = On> {
    prop_oneof![any::<usize>().prop_map(On::Subscription), any::<usize>().prop_map(On::Plan)]
}

pub(crate) fn create_alert() -> impl Strategy<Value = Step> {
    let terms = prop_oneof![
        1 => any::<usize>().prop_map(Terms::Usage),
        4 => option::weighted(0.4, unit()).prop_map(Terms::Cost),
        4 => (unit(), filters()).prop_map(|(unit, filters)| Terms::Spend(unit, filters)),
    ];
    (on(), terms, values()).prop_map(|(on, terms, thresholds)| Step::CreateAlert {
        on,
        terms,
        thresholds,
    })
}

fn overrides() -> impl Strategy<Value = Vec<GroupSpec>> {
    let value = select(&["a", "b", "1", "", "true", "false", "2", "2.5"][..]);
    let thresholds = prop_oneof![1 => Just(Vec::new()), 2 => values()];
    vec((vec((0_usize..3, value), 1..3), thresholds), 0..4)
}

/// An alert on groups of what events have, which are few, or on those of a property that none has.
fn create_grouped() -> impl Strategy<Value = Step> {
    let keys = subsequence(&["region", "flag", "p", "none"][..], 1..=3).prop_shuffle();
    let filters = prop_oneof![2 => Just(BTreeSet::new()), 1 => filters()];
    let terms =
        (keys, unit(), filters, overrides()).prop_map(|(keys, unit, filters, overrides)| {
            Terms::Groups { keys, unit, filters, overrides }
        });
    (on(), terms, values()).prop_map(|(on, terms, thresholds)| Step::CreateAlert {
        on,
        terms,
        thresholds,
    })
}

/// Scripts about alerts on cost.
pub fn alerts() -> impl Strategy<Value = Vec<Step>> {
    let update = (
        any::<usize>(),
        values(),
        option::weighted(0.3, filters()),
        option::weighted(0.3, overrides()),
    );
    let update = update.prop_map(|(alert, thresholds, filters, overrides)| Step::UpdateAlert {
        alert,
        thresholds,
        filters,
        overrides,
    });
    let create_alert = || prop_oneof![2 => create_alert(), 1 => create_grouped()];
    let step = prop_oneof![
        2 => subscribe(),
        2 => cancel(),
        1 => unschedule(),
        4 => quantity(),
        10 => vec(event(), 1..8).prop_map(Step::Use),
        8 => pause(),
        4 => create_alert(),
        2 => update,
        1 => any::<usize>().prop_map(Step::Enable),
        2 => any::<usize>().prop_map(Step::Disable),
    ];
    let opening = (vec(create_alert(), 0..4), vec(subscribe(), 1..4));
    (opening, vec(create_alert(), 0..4), vec(step, 6..40)).prop_map(
        |((before, lives), after, steps)| {
            before.into_iter().chain(lives).chain(after).chain(steps).collect()
        },
    )
}
