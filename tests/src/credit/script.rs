//! What callers do to ledgers, amid usage and time that passes.

use bigdecimal::BigDecimal;
use proptest::{
    collection::vec,
    option,
    prelude::*,
    sample::{select, subsequence},
};

use super::Kind;
use crate::{
    bill::{self, Charge, Opening, Step as BillStep},
    script::{DAY, HOUR, MINUTE, Pause},
};

/// One step. A number that names something is taken modulo how many there are.
#[derive(Clone, Debug)]
pub enum Step {
    /// What subscribes, cancels, uses, and lets time pass.
    Bill(BillStep),
    Change {
        customer: usize,
        unit: usize,
        change: ChangeSpec,
    },
    DeleteBlock {
        customer: usize,
        unit: usize,
        block: usize,
    },
    CreateAlert {
        customer: usize,
        unit: usize,
        kind: Kind,
        thresholds: Vec<&'static str>,
    },
    SetThresholds {
        alert: usize,
        thresholds: Vec<&'static str>,
    },
    Enable(usize),
    Disable(usize),
    DeleteAlert(usize),
    /// To the expiry of a block, and so far beyond.
    ToExpiry {
        customer: usize,
        unit: usize,
        block: usize,
        by: i64,
    },
    /// To the end of the day of a customer, and so far beyond.
    ToMidnight {
        customer: usize,
        by: i64,
    },
}

/// What a caller asks of a ledger. Instants are in microseconds from now.
#[derive(Clone, Debug)]
pub enum ChangeSpec {
    Increment {
        amount: &'static str,
        effective: Option<i64>,
        expiry: Option<Expiry>,
        basis: Option<&'static str>,
    },
    Decrement(&'static str),
    ExpirationChange {
        target: Expiry,
        amount: Option<&'static str>,
        source: Named,
        block: usize,
    },
    Void {
        amount: Option<&'static str>,
        block: usize,
    },
    Amendment {
        amount: Option<&'static str>,
        block: usize,
    },
}

/// When a block expires.
#[derive(Clone, Copy, Debug)]
pub enum Expiry {
    /// In so many microseconds.
    In(i64),
    /// When another one does, or a billing period ends, if that is to come.
    With(usize),
    Period(usize),
}

/// How the block is named whose expiry changes.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    Block,
    Expiry,
    Both,
    /// By its id, with an expiry that it does not have.
    Wrong,
}

const AMOUNTS: &[&str] = &["0.01", "1", "2.5", "4", "7.5", "10", "10.0", "25", "60"];

/// What there is before anything happens: each plan has usage prices in both units.
pub fn opening() -> impl Strategy<Value = Opening> {
    bill::opening().prop_map(|mut opening| {
        for plan in &mut opening.plans {
            let usage = plan.iter_mut().filter(|of| matches!(of.charge, Charge::Usage { .. }));
            for (index, price) in usage.enumerate() {
                price.currency = if index % 2 == 0 { "credits" } else { "USD" };
                price.adjustments.are_of_plan &= price.currency == "USD";
            }
        }
        opening
    })
}

fn expiry() -> impl Strategy<Value = Expiry> {
    prop_oneof![
        3 => (1_i64..2 * HOUR).prop_map(Expiry::In),
        3 => (HOUR..40 * DAY).prop_map(Expiry::In),
        1 => Just(Expiry::In(1)),
        4 => any::<usize>().prop_map(Expiry::With),
        2 => any::<usize>().prop_map(Expiry::Period),
    ]
}

fn amount() -> impl Strategy<Value = &'static str> {
    select(AMOUNTS)
}

fn increment() -> impl Strategy<Value = ChangeSpec> {
    let effective = prop_oneof![-DAY..1, 0..DAY, Just(0), 0..5 * MINUTE];
    let basis = option::weighted(0.3, select(&["0", "0.00", "0.5", "2"][..]));
    (amount(), option::weighted(0.3, effective), option::weighted(0.6, expiry()), basis).prop_map(
        |(amount, effective, expiry, basis)| ChangeSpec::Increment {
            amount,
            effective,
            expiry,
            basis,
        },
    )
}

fn change() -> impl Strategy<Value = ChangeSpec> {
    let source =
        select(&[Named::Block, Named::Block, Named::Expiry, Named::Both, Named::Wrong][..]);
    let part = || option::weighted(0.6, amount());
    let block = any::<usize>;
    prop_oneof![
        6 => increment(),
        3 => amount().prop_map(ChangeSpec::Decrement),
        3 => (expiry(), part(), source, block()).prop_map(|(target, amount, source, block)| {
            ChangeSpec::ExpirationChange { target, amount, source, block }
        }),
        2 => (part(), block()).prop_map(|(amount, block)| ChangeSpec::Void { amount, block }),
        2 => (part(), block()).prop_map(|(amount, block)| ChangeSpec::Amendment { amount, block }),
    ]
}

fn customer() -> impl Strategy<Value = usize> {
    prop_oneof![5 => Just(0_usize), 1 => Just(1)]
}

fn unit() -> impl Strategy<Value = usize> {
    prop_oneof![1 => Just(0_usize), 3 => Just(1)]
}

fn of_ledger(change: impl Strategy<Value = ChangeSpec>) -> impl Strategy<Value = Step> {
    (customer(), unit(), change).prop_map(|(customer, unit, change)| Step::Change {
        customer,
        unit,
        change,
    })
}

fn thresholds() -> impl Strategy<Value = Vec<&'static str>> {
    let values = &["-10", "-2.5", "0", "0.5", "1", "2.5", "5", "7.50", "10", "20", "30"][..];
    subsequence(values, 1..=5).prop_shuffle()
}

fn create_alert() -> impl Strategy<Value = Step> {
    let kind = select(&[Kind::Dropped, Kind::Dropped, Kind::Depleted, Kind::Recovered][..]);
    (customer(), unit(), kind, thresholds()).prop_map(|(customer, unit, kind, thresholds)| {
        Step::CreateAlert { customer, unit, kind, thresholds }
    })
}

fn pause() -> impl Strategy<Value = Step> {
    let by = || prop_oneof![4 => Just(0), 1 => Just(-1), 1 => Just(1), 1 => 0..2 * HOUR];
    let any = any::<usize>;
    prop_oneof![
        2 => (0..2 * HOUR).prop_map(|by| Step::Bill(BillStep::Pause(Pause::For(by)))),
        2 => (HOUR..9 * DAY).prop_map(|by| Step::Bill(BillStep::Pause(Pause::For(by)))),
        1 => (9 * DAY..50 * DAY).prop_map(|by| Step::Bill(BillStep::Pause(Pause::For(by)))),
        2 => (any(), by()).prop_map(|(of, by)| Step::Bill(BillStep::Pause(Pause::PeriodOf(of, by)))),
        4 => (customer(), unit(), any(), by())
            .prop_map(|(customer, unit, block, by)| Step::ToExpiry { customer, unit, block, by }),
        2 => (customer(), by()).prop_map(|(customer, by)| Step::ToMidnight { customer, by }),
    ]
}

/// Scripts about ledgers.
pub fn script() -> impl Strategy<Value = Vec<Step>> {
    let number = any::<usize>;
    let step = prop_oneof![
        2 => bill::subscribe().prop_map(Step::Bill),
        2 => bill::cancel().prop_map(Step::Bill),
        10 => vec(bill::event(), 1..8).prop_map(|of| Step::Bill(BillStep::Use(of))),
        1 => bill::create_alert().prop_map(Step::Bill),
        10 => of_ledger(change()),
        1 => (customer(), unit(), number())
            .prop_map(|(customer, unit, block)| Step::DeleteBlock { customer, unit, block }),
        8 => pause(),
        4 => create_alert(),
        2 => (number(), thresholds())
            .prop_map(|(alert, thresholds)| Step::SetThresholds { alert, thresholds }),
        2 => number().prop_map(Step::Enable),
        2 => number().prop_map(Step::Disable),
        1 => number().prop_map(Step::DeleteAlert),
    ];
    let lives = vec(bill::subscribe().prop_map(Step::Bill), 1..3);
    let early = vec(create_alert(), 0..3);
    let ledgers = vec(of_ledger(increment()), 0..4);
    (lives, early, ledgers, vec(step, 4..40)).prop_map(|(lives, early, ledgers, steps)| {
        lives.into_iter().chain(early).chain(ledgers).chain(steps).collect()
    })
}

pub(super) fn exact(text: &str) -> BigDecimal {
    text.parse().unwrap()
}
