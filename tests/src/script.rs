//! Scripts: what callers do, in an order and with arguments that chance decides.

use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
};

use crate::model::{Condition, Field, Function, MetricSpec, Operator, Value};

/// One step. A number that names something is taken modulo how many there are.
#[derive(Clone, Debug)]
pub enum Step {
    CreateCustomer(usize),
    CreateMetric(MetricSpec),
    Subscribe { customer: usize, plan: usize, start: When, life: Option<i64> },
    Cancel { subscription: usize, how: Cancel },
    Ingest(Vec<EventSpec>),
    Pause(Pause),
    Tick(usize),
    CreateAlert { on: On, metric: usize, thresholds: Vec<&'static str> },
    SetThresholds { alert: usize, thresholds: Vec<&'static str> },
    Enable(usize),
    Disable(usize),
    EnableFor { alert: usize, subscription: usize },
    DisableFor { alert: usize, subscription: usize },
    DeleteAlert(usize),
    Between { customer: usize, metric: usize, ends: [When; 2] },
    Check,
}

/// What a new alert is on.
#[derive(Clone, Copy, Debug)]
pub enum On {
    Subscription(usize),
    Plan(usize),
}

/// How a subscription is cancelled.
#[derive(Clone, Copy, Debug)]
pub enum Cancel {
    Immediate,
    EndOfTerm,
    At(When),
}

/// An instant, in microseconds from one that matters.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Now(i64),
    /// From the start of a subscription.
    Start(usize, i64),
    /// From the end of a subscription, or of its current period.
    End(usize, i64),
    /// From the beginning of a quarter of an hour, so many before this one.
    Quarter(i64, i64),
    /// From the midnight before now.
    Midnight(i64),
}

/// How far the clock moves.
#[derive(Clone, Copy, Debug)]
pub enum Pause {
    For(i64),
    /// To the end of the current period of a subscription, and so far beyond.
    PeriodOf(usize, i64),
}

/// An event to ingest.
#[derive(Clone, Debug)]
pub struct EventSpec {
    pub customer: usize,
    /// Whether it names its customer by the id, where there is one.
    pub by_id: bool,
    pub at: When,
    pub name: &'static str,
    pub properties: Vec<(&'static str, Value)>,
    pub again: Again,
}

/// Whether an event comes again.
#[derive(Clone, Copy, Debug)]
pub enum Again {
    New,
    /// A new one, and out of the range that is taken where its instant says so.
    Anywhen,
    /// The same as an earlier one.
    Same(usize),
    /// Another one under the key of an earlier one.
    Conflicting(usize),
}

pub(crate) const SECOND: i64 = 1_000_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "1.0",
    "2",
    "2.5",
    "-1",
    "-3",
    "7",
    "9999999999999999999999999999",
    "-9999999999999999999999999998.0",
    "0.0000000000000000000000000001",
    "123456789012.3456789012345678",
];

const THRESHOLDS: &[&str] = &[
    "-3",
    "0",
    "0.0000000000000000000000000001",
    "1",
    "2",
    "3",
    "4",
    "5.5",
    "8",
    "12",
    "9999999999999999999999999999",
];

pub fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => select(NUMBERS).prop_map(Value::number),
        3 => select(&["1", "a", "b", ""][..]).prop_map(Value::Text),
        1 => any::<bool>().prop_map(Value::Boolean),
        1 => Just(Value::Null),
    ]
}

fn property() -> impl Strategy<Value = &'static str> {
    select(&["p", "q"][..])
}

fn field() -> impl Strategy<Value = Field> {
    prop_oneof![
        6 => property().prop_map(Field::Property),
        1 => Just(Field::EventName),
        1 => Just(Field::Timestamp),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let operator =
        select(&[Operator::Equal, Operator::NotEqual, Operator::Less, Operator::AtLeast][..]);
    let simple = prop_oneof![
        select(&["call", "save"][..]).prop_map(Condition::NameIs),
        (property(), operator, value())
            .prop_map(|(name, operator, value)| Condition::Compare(name, operator, value)),
        property().prop_map(Condition::IsNull),
        property().prop_map(Condition::IsNotNull),
    ];
    (simple, prop::bool::weighted(0.2)).prop_map(|(condition, negated)| match negated {
        true => Condition::Not(Box::new(condition)),
        false => condition,
    })
}

/// Metrics of which so many in ten count distinct values.
fn metric(distinct: u32) -> impl Strategy<Value = MetricSpec> {
    let function = prop_oneof![
        distinct => field().prop_map(Function::Distinct),
        1 => Just(Function::CountAll),
        1 => field().prop_map(Function::Count),
        3 => property().prop_map(Function::Sum),
        1 => property().prop_map(Function::Min),
        1 => property().prop_map(Function::Max),
        2 => property().prop_map(Function::Latest),
    ];
    (function, option::weighted(0.3, condition()))
        .prop_map(|(function, condition)| MetricSpec { function, condition })
}

/// A little before, at, or a little after.
pub(crate) fn around() -> impl Strategy<Value = i64> {
    prop_oneof![
        3 => -1_i64..=1,
        2 => (-3_i64..=3).prop_map(|minutes| minutes * MINUTE),
        1 => -20 * MINUTE..20 * MINUTE,
    ]
}

pub(crate) fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        3 => (-DAY..5 * MINUTE).prop_map(When::Now),
        2 => (-30 * MINUTE..5 * MINUTE).prop_map(When::Now),
        1 => Just(When::Now(0)),
        2 => (any::<usize>(), around()).prop_map(|(of, by)| When::Start(of, by)),
        3 => (any::<usize>(), around()).prop_map(|(of, by)| When::End(of, by)),
        2 => (0_i64..90, around()).prop_map(|(back, by)| When::Quarter(back, by)),
        1 => around().prop_map(When::Midnight),
    ]
}

fn event(odd: bool) -> impl Strategy<Value = EventSpec> {
    let again = prop_oneof![
        20 => Just(Again::New),
        if odd { 1 } else { 0 } => Just(Again::Anywhen),
        4 => any::<usize>().prop_map(Again::Same),
        if odd { 1 } else { 0 } => any::<usize>().prop_map(Again::Conflicting),
    ];
    let properties = (option::weighted(0.9, value()), option::weighted(0.5, value()));
    let name = select(&["call", "save"][..]);
    (any::<usize>(), any::<bool>(), when(), name, properties, again).prop_map(
        |(customer, by_id, at, name, (p, q), again)| {
            let properties = [("p", p), ("q", q)];
            let properties = properties.into_iter().filter_map(|(of, value)| Some((of, value?)));
            EventSpec { customer, by_id, at, name, properties: properties.collect(), again }
        },
    )
}

fn life() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        3 => Just(None),
        3 => (1_i64..40 * MINUTE).prop_map(Some),
        2 => (MINUTE..DAY).prop_map(Some),
        1 => Just(Some(1)),
        1 => Just(Some(15 * MINUTE)),
        1 => (DAY..100 * DAY).prop_map(Some),
    ]
}

fn start() -> impl Strategy<Value = When> {
    prop_oneof![
        2 => (-70 * DAY..0).prop_map(When::Now),
        3 => (-40 * MINUTE..6 * MINUTE).prop_map(When::Now),
        1 => Just(When::Now(0)),
        2 => (0_i64..90, around()).prop_map(|(back, by)| When::Quarter(back, by)),
        1 => (-30 * DAY..-27 * DAY).prop_map(When::Now),
        1 => (0_i64..3 * DAY).prop_map(When::Now),
    ]
}

fn subscribe() -> impl Strategy<Value = Step> {
    (any::<usize>(), any::<usize>(), start(), life())
        .prop_map(|(customer, plan, start, life)| Step::Subscribe { customer, plan, start, life })
}

fn cancel() -> impl Strategy<Value = Step> {
    let how = prop_oneof![
        2 => Just(Cancel::Immediate),
        1 => Just(Cancel::EndOfTerm),
        3 => (0_i64..8 * MINUTE).prop_map(|by| Cancel::At(When::Now(by))),
        1 => (-70 * DAY..0).prop_map(|by| Cancel::At(When::Now(by))),
        1 => when().prop_map(Cancel::At),
    ];
    (any::<usize>(), how).prop_map(|(subscription, how)| Step::Cancel { subscription, how })
}

fn pause() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..20 * MINUTE).prop_map(Pause::For),
        2 => (HOUR..2 * DAY).prop_map(Pause::For),
        1 => (20 * DAY..70 * DAY).prop_map(Pause::For),
        3 => (any::<usize>(), around()).prop_map(|(of, by)| Pause::PeriodOf(of, by)),
    ]
    .prop_map(Step::Pause)
}

pub(crate) fn thresholds() -> impl Strategy<Value = Vec<&'static str>> {
    subsequence(THRESHOLDS, 1..=4).prop_shuffle()
}

fn between() -> impl Strategy<Value = Step> {
    (any::<usize>(), any::<usize>(), when(), when()).prop_map(|(customer, metric, from, until)| {
        Step::Between { customer, metric, ends: [from, until] }
    })
}

/// Scripts about figures: all kinds of metrics, subscriptions and events, good and bad.
pub fn metering() -> impl Strategy<Value = Vec<Step>> {
    let opening = (vec(metric(4), 1..4), vec(subscribe(), 1..4));
    let step = prop_oneof![
        1 => any::<usize>().prop_map(Step::CreateCustomer),
        1 => metric(4).prop_map(Step::CreateMetric),
        3 => subscribe(),
        2 => cancel(),
        10 => vec(event(true), 1..12).prop_map(Step::Ingest),
        3 => pause(),
        1 => (1_usize..4).prop_map(Step::Tick),
        3 => between(),
        2 => Just(Step::Check),
    ];
    (opening, vec(step, 4..30)).prop_map(|(opening, steps)| script(opening, steps))
}

/// Scripts about distinct values at the edges of short lives.
pub fn short_lives() -> impl Strategy<Value = Vec<Step>> {
    let opening = (
        Just(vec![
            MetricSpec { function: Function::Distinct(Field::Property("p")), condition: None },
            MetricSpec { function: Function::Distinct(Field::Timestamp), condition: None },
        ]),
        vec(subscribe(), 1..3),
    );
    // Few values, so that one is seen before, within and behind a life in one batch.
    let place = prop_oneof![
        4 => (any::<usize>(), around()).prop_map(|(of, by)| When::Start(of, by)),
        4 => (any::<usize>(), around()).prop_map(|(of, by)| When::End(of, by)),
        2 => (-45 * MINUTE..5 * MINUTE).prop_map(When::Now),
        1 => when(),
    ];
    let few = (event(false), place, select(&["0", "1"][..])).prop_map(|(event, at, text)| {
        EventSpec { customer: 0, at, properties: vec![("p", Value::number(text))], ..event }
    });
    let short = (start(), 1_i64..30 * MINUTE).prop_map(|(start, life)| Step::Subscribe {
        customer: 0,
        plan: 0,
        start,
        life: Some(life),
    });
    let step = prop_oneof![
        3 => short,
        1 => subscribe(),
        1 => cancel(),
        12 => vec(few, 1..9).prop_map(Step::Ingest),
        3 => pause(),
        2 => between(),
        2 => Just(Step::Check),
    ];
    (opening, vec(step, 4..30)).prop_map(|(opening, steps)| script(opening, steps))
}

/// Scripts about alerts: every change to them, amid usage and time that passes.
pub fn alerts() -> impl Strategy<Value = Vec<Step>> {
    let number = any::<usize>;
    let on = || {
        prop_oneof![
            1 => number().prop_map(On::Subscription),
            2 => number().prop_map(On::Plan),
        ]
    };
    let create = move || {
        (on(), number(), thresholds()).prop_map(|(on, metric, thresholds)| Step::CreateAlert {
            on,
            metric,
            thresholds,
        })
    };
    let opening = (vec(metric(2), 1..3), vec(subscribe(), 1..3));
    let step = prop_oneof![
        2 => subscribe(),
        1 => cancel(),
        14 => vec(event(false), 1..10).prop_map(Step::Ingest),
        4 => pause(),
        4 => create(),
        3 => (number(), thresholds())
            .prop_map(|(alert, thresholds)| Step::SetThresholds { alert, thresholds }),
        2 => number().prop_map(Step::Enable),
        2 => number().prop_map(Step::Disable),
        1 => (number(), number())
            .prop_map(|(alert, subscription)| Step::EnableFor { alert, subscription }),
        1 => (number(), number())
            .prop_map(|(alert, subscription)| Step::DisableFor { alert, subscription }),
        1 => number().prop_map(Step::DeleteAlert),
        1 => any::<usize>().prop_map(Step::CreateCustomer),
    ];
    (opening, vec(create(), 0..3), vec(step, 4..40)).prop_map(|(opening, alerts, steps)| {
        script(opening, alerts.into_iter().chain(steps).collect())
    })
}

fn script((metrics, subscriptions): (Vec<MetricSpec>, Vec<Step>), steps: Vec<Step>) -> Vec<Step> {
    let mut script: Vec<Step> = vec![Step::CreateCustomer(0)];
    script.extend(metrics.into_iter().map(Step::CreateMetric));
    script.extend(subscriptions);
    script.extend(steps);
    script
}

/// How a script is run: what must make no difference.
#[derive(Clone, Debug)]
pub struct Manner {
    /// The sizes of batches, in turn; all events of a step in one where there are none.
    pub batches: Vec<usize>,
    /// Before which steps time is applied, in turn.
    pub ticks: Vec<bool>,
}

impl Manner {
    /// Whole batches, and time that nobody applies.
    #[must_use]
    pub const fn plain() -> Self {
        Self { batches: Vec::new(), ticks: Vec::new() }
    }
}

pub fn manner() -> impl Strategy<Value = Manner> {
    (vec(1_usize..5, 0..4), vec(any::<bool>(), 0..5))
        .prop_map(|(batches, ticks)| Manner { batches, ticks })
}

/// Cuts what comes in into batches of some sizes, and what is left into one.
pub fn batches<'s, T>(specs: &'s [T], sizes: &mut impl Iterator<Item = usize>) -> Vec<&'s [T]> {
    let (mut batches, mut rest) = (Vec::new(), specs);
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(rest.len()).min(rest.len());
        let (batch, others) = rest.split_at(size);
        batches.push(batch);
        rest = others;
    }
    batches
}
