//! Scripts: what callers do, in an order and with arguments that chance decides.

use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
};

use crate::{
    bill::{self, Ask, When},
    model::{Condition, Field, Function, MetricSpec, Operator, Value},
    script::{DAY, EventSpec, HOUR, MINUTE, Pause, around},
};

/// One step. A number that names something is taken modulo how many there are.
#[derive(Clone, Debug)]
pub enum Step {
    /// Something that is no correction.
    Bill(bill::Step),
    Use(Vec<(EventSpec, Again)>),
    Pause(Pause),
    Metric(MetricSpec),
    Create(BackfillSpec),
    Fill {
        backfill: usize,
        events: Vec<Fill>,
    },
    Close(usize),
    Revert(usize),
    Amend {
        event: usize,
        edit: Edit,
        like: EventSpec,
    },
    Deprecate(usize),
    Tick(usize),
}

/// A backfill to create.
#[derive(Clone, Debug)]
pub struct BackfillSpec {
    /// For one customer or for all.
    pub customer: Option<usize>,
    pub span: Span,
    pub replaces: bool,
    pub filter: Option<Condition>,
    /// Closes by itself so long after its creation.
    pub closes_in: Option<i64>,
}

/// Where a backfill lies.
#[derive(Clone, Copy, Debug)]
pub enum Span {
    From(When, i64),
    /// Where another one does.
    Again(usize),
    /// From the end of another one on.
    Behind(usize, i64),
    /// From so long before the end of another one on.
    Across(usize, i64),
}

/// An event for a backfill.
#[derive(Clone, Debug)]
pub struct Fill {
    pub place: Place,
    pub like: EventSpec,
    pub again: Again,
}

/// Where in the timeframe of a backfill.
#[derive(Clone, Debug)]
pub enum Place {
    Somewhere(Index),
    First(i64),
    Last(i64),
    /// At a midnight in UTC within.
    Midnight(usize, i64),
}

/// Whether a key comes again.
#[derive(Clone, Copy, Debug)]
pub enum Again {
    New,
    /// All of an earlier event.
    Same(usize),
    /// The key, the customer and the instant of an earlier one.
    Place(usize),
    /// The key of an earlier one.
    Key(usize),
}

/// What is wrong with an amendment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    Right,
    OtherCustomer,
    OtherInstant,
}

fn again() -> impl Strategy<Value = Again> {
    prop_oneof![
        8 => Just(Again::New),
        2 => any::<usize>().prop_map(Again::Same),
        3 => any::<usize>().prop_map(Again::Place),
        1 => any::<usize>().prop_map(Again::Key),
    ]
}

fn number() -> impl Strategy<Value = usize> {
    any::<usize>()
}

fn filter() -> impl Strategy<Value = Condition> {
    let simple = prop_oneof![
        Just(Condition::NameIs("call")),
        Just(Condition::IsNull("region")),
        Just(Condition::Compare("p", Operator::Less, Value::number("2"))),
        Just(Condition::Compare("region", Operator::Equal, Value::Text("a"))),
    ];
    (simple, any::<bool>()).prop_map(|(condition, negated)| match negated {
        true => Condition::Not(Box::new(condition)),
        false => condition,
    })
}

fn length() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => HOUR..20 * HOUR,
        2 => Just(DAY),
        2 => Just(15 * MINUTE),
        3 => DAY..5 * DAY,
        1 => 5 * DAY..31 * DAY,
        1 => Just(31 * DAY + 1),
    ]
}

fn span() -> impl Strategy<Value = Span> {
    let from = prop_oneof![
        4 => (-3 * DAY..0).prop_map(When::Now),
        2 => (-40 * DAY..-DAY).prop_map(When::Now),
        2 => (0_i64..300, around()).prop_map(|(back, by)| When::Quarter(back, by)),
        2 => (-3_i64..=0).prop_map(|days| When::Midnight(days * DAY)),
        2 => (number(), -3 * DAY..HOUR).prop_map(|(of, by)| When::Start(of, by)),
        2 => (number(), -35 * DAY..-27 * DAY).prop_map(|(of, by)| When::End(of, by)),
    ];
    prop_oneof![
        8 => (from, length()).prop_map(|(from, length)| Span::From(from, length)),
        3 => number().prop_map(Span::Again),
        1 => (number(), length()).prop_map(|(of, length)| Span::Behind(of, length)),
        2 => (number(), length()).prop_map(|(of, length)| Span::Across(of, length)),
    ]
}

fn backfill() -> impl Strategy<Value = BackfillSpec> {
    let customer = prop_oneof![2 => Just(Some(0)), 1 => number().prop_map(Some), 2 => Just(None)];
    let closes_in = option::weighted(0.3, prop_oneof![HOUR..3 * DAY, Just(0)]);
    (customer, span(), prop::bool::weighted(0.7), option::weighted(0.3, filter()), closes_in)
        .prop_map(|(customer, span, replaces, filter, closes_in)| {
            let filter = filter.filter(|_| replaces);
            BackfillSpec { customer, span, replaces, filter, closes_in }
        })
}

fn fill() -> impl Strategy<Value = Fill> {
    let place = prop_oneof![
        10 => any::<Index>().prop_map(Place::Somewhere),
        2 => (0_i64..3).prop_map(Place::First),
        2 => (1_i64..3).prop_map(Place::Last),
        2 => (number(), -1_i64..=1).prop_map(|(of, by)| Place::Midnight(of, by)),
    ];
    (place, bill::event(), again()).prop_map(|(place, like, again)| Fill { place, like, again })
}

/// A backfill, and what is ingested into it.
pub fn backfill_and_fills() -> impl Strategy<Value = (BackfillSpec, Vec<Fill>)> {
    (backfill(), vec(fill(), 0..12))
}

fn metric() -> impl Strategy<Value = MetricSpec> {
    let function = select(
        &[
            Function::CountAll,
            Function::Sum("p"),
            Function::Min("p"),
            Function::Latest("p"),
            Function::Distinct(Field::Property("region")),
        ][..],
    );
    (function, option::weighted(0.4, filter()))
        .prop_map(|(function, condition)| MetricSpec { function, condition })
}

fn ask() -> impl Strategy<Value = bill::Step> {
    (number(), option::weighted(0.5, select(&["region", "flag"][..])), [when(), when()]).prop_map(
        |(life, by, ends)| {
            let view = accrue::usage::View::Whole;
            bill::Step::Ask(Ask { life, view, ends: Some(ends), unit: None, by })
        },
    )
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        (-40 * DAY..DAY).prop_map(When::Now),
        (0_i64..3_000, around()).prop_map(|(back, by)| When::Quarter(back, by)),
        (-40_i64..2).prop_map(|days| When::Midnight(days * DAY)),
    ]
}

fn pause() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => 0..2 * HOUR,
        3 => HOUR..2 * DAY,
        1 => 2 * DAY..30 * DAY,
    ]
    .prop_map(|micros| Step::Pause(Pause::For(micros)))
}

/// Scripts about corrections, of two customers with credits and of one without.
pub fn script() -> impl Strategy<Value = Vec<Step>> {
    let subscribe = |customer: usize| {
        bill::subscribe().prop_map(move |step| match step {
            bill::Step::Subscribe(of) => {
                Step::Bill(bill::Step::Subscribe(bill::Subscribe { customer, ..of }))
            }
            step => Step::Bill(step),
        })
    };
    let fill = || {
        (prop_oneof![3 => Just(usize::MAX), 1 => number()], vec(fill(), 1..8))
            .prop_map(|(backfill, events)| Step::Fill { backfill, events })
    };
    let edit = prop_oneof![
        8 => Just(Edit::Right), 1 => Just(Edit::OtherCustomer), 1 => Just(Edit::OtherInstant),
    ];
    let one_of = || prop_oneof![2 => Just(usize::MAX), 2 => number()];
    let step = prop_oneof![
        10 => vec((bill::event(), again()), 1..8).prop_map(Step::Use),
        4 => pause(),
        1 => metric().prop_map(Step::Metric),
        5 => backfill().prop_map(Step::Create),
        8 => fill(),
        4 => one_of().prop_map(Step::Close),
        4 => one_of().prop_map(Step::Revert),
        3 => (number(), edit, bill::event())
            .prop_map(|(event, edit, like)| Step::Amend { event, edit, like }),
        2 => number().prop_map(Step::Deprecate),
        1 => subscribe(2),
        2 => bill::create_alert().prop_map(Step::Bill),
        3 => ask().prop_map(Step::Bill),
        1 => (1_usize..4).prop_map(Step::Tick),
    ];
    let opening = [subscribe(0), subscribe(1)];
    let further = option::weighted(0.3, subscribe(0));
    let alerts = vec(bill::create_alert().prop_map(Step::Bill), 0..3);
    (opening, further, alerts, vec(step, 4..24)).prop_map(|(opening, further, alerts, steps)| {
        opening.into_iter().chain(further).chain(alerts).chain(steps).collect()
    })
}
