//! What happens in an episode: a plain list of steps, each of which says all that it needs, so that
//! any of them can be left out.

use super::{model::Rule, random::Random, store::Fault};

/// One thing that happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A client of an account begins a request.
    Ask { account: usize, what: Ask, seed: u64 },
    /// A client sends once more what was sent before: it never heard of an answer, or is late.
    Again { request: usize, seed: u64 },
    /// A client sends something else under a key that was used before.
    Misuse { request: usize, seed: u64 },
    /// The requests in flight go on, so many steps of theirs in all.
    Run { polls: usize, seed: u64 },
    /// A call of the store fails, after so many others.
    Fail { after: u64, fault: Fault },
    /// A process ends, and begins anew.
    Crash { process: usize },
    /// Time passes, in microseconds.
    Pass { micros: i64 },
    /// A process applies what is due.
    Tick { process: usize, limit: usize },
    /// A process removes what has expired.
    Collect { process: usize, limit: usize },
    /// A process delivers messages of an account, and acknowledges so many of them.
    Deliver { process: usize, account: usize, limit: usize, acknowledged: usize },
    /// A process has the payments of an account charged that are under way, and hears of one of those that
    /// were.
    Charge { process: usize, account: usize, told: usize },
    /// A process takes back what was done to an invoice by hand: a mark, or a credit note.
    TakeBack { process: usize, account: usize, what: usize },
    /// A process has subscriptions moved to a version of their plan, or takes that back.
    Migrate { process: usize, account: usize, what: usize, when: When },
    /// Nothing fails any more, until every client has an answer and nothing is due: everything is
    /// compared.
    ApplyTransitions,
}

/// What a client asks for. Places of things are taken modulo how many there are.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    Customer { customer: usize },
    Rename { customer: usize },
    Subscribe { customer: usize },
    Cancel { subscription: usize, when: When },
    Unschedule { subscription: usize },
    ChangePlan { subscription: usize, offer: usize, when: When },
    DropPlanChanges { subscription: usize },
    Ingest { events: Vec<Event> },
    Fill { backfill: usize, events: Vec<Event> },
    Grant { customer: usize, amount: i64, expires_in: Option<i64> },
    Take { customer: usize, amount: i64 },
    Void { customer: usize, grant: usize, amount: i64 },
    Alert { on: On, thresholds: Vec<i64> },
    Disable { alert: usize },
    Enable { alert: usize },
    SetThresholds { alert: usize, thresholds: Vec<i64> },
    DeleteAlert { alert: usize },
    Backfill { customer: Option<usize>, back: i64, length: i64, replaces: bool, closes_in: i64 },
    Close { backfill: usize },
    Revert { backfill: usize },
    Amend { event: usize, n: i64 },
    Deprecate { event: usize },
    Metric { kind: usize },
    Item,
    Usage { subscription: usize },
    Walk { list: usize },
    Issue { invoice: usize },
    Pay { invoice: usize, token: bool },
    MarkPaid { invoice: usize },
    VoidInvoice { invoice: usize },
    Note { invoice: usize, line: usize, percent: i64 },
    Balance { customer: usize, amount: i64 },
    OneOff { customer: usize, amount: i64, ahead: i64, automatic: bool },
}

/// When a subscription ends, its plan changes, or a migration moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Immediate,
    EndOfTerm,
    /// So far from now.
    In(i64),
}

/// What an alert is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The usage of a subscription, by metric.
    Usage(usize, usize),
    /// The cost of a subscription.
    Cost(usize),
    /// The usage of all subscriptions of the plan, by metric.
    Plan(usize),
    /// The balance of a customer, by what of it.
    Balance(usize, usize),
}

/// A usage event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub customer: usize,
    /// Its instant, from now: or from the beginning of the backfill that it goes into.
    pub at: i64,
    pub n: i64,
    pub key: EventKey,
}

/// Which key an event has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKey {
    New,
    /// That of an event which was sent before, with the same content.
    Duplicate(usize),
    /// That of an event which was sent before, with other content.
    Conflicting(usize),
}

pub(super) const SECOND: i64 = 1_000_000;
pub(super) const HOUR: i64 = 3_600 * SECOND;
pub(super) const DAY: i64 = 24 * HOUR;

pub(super) const PROCESSES: usize = 4;
pub(super) const ACCOUNTS: usize = 2;

/// Draws an episode of so many steps.
#[must_use]
pub fn plan(seed: u64, steps: usize) -> Vec<Step> {
    let mut random = Random::new(seed);
    // Some episodes are quiet, some are stormy.
    let storm = *random.pick(&[0, 4, 8, 8, 15]);
    let mut plan = Vec::with_capacity(steps);
    while plan.len() + 1 < steps {
        let step = step(&mut random, storm);
        plan.push(step);
    }
    plan.push(Step::ApplyTransitions);
    plan
}

fn step(random: &mut Random, storm: usize) -> Step {
    let (seed, process) = (random.next(), random.below(PROCESSES));
    if random.percent(storm) {
        return match random.below(12) {
            0 => Step::Crash { process },
            _ => {
                let fault = *random.pick(Fault::ALL);
                Step::Fail { after: random.next() % 12, fault }
            }
        };
    }
    match random.below(108) {
        0..42 => Step::Ask { account: random.below(ACCOUNTS), what: ask(random), seed },
        42..45 => Step::Again { request: random.below(1_000), seed },
        45..47 => Step::Misuse { request: random.below(1_000), seed },
        47..77 => Step::Run { polls: 1 + random.below(60), seed },
        77..88 => Step::Pass { micros: span(random) },
        88..91 => Step::Tick { process, limit: 1 + random.below(5) },
        91..92 => Step::Collect { process, limit: 1 + random.below(5) },
        92..99 => {
            let (account, limit) = (random.below(ACCOUNTS), 1 + random.below(12));
            Step::Deliver { process, account, limit, acknowledged: random.below(limit + 1) }
        }
        99..104 => {
            let (account, told) = (random.below(ACCOUNTS), random.below(1_000));
            Step::Charge { process, account, told }
        }
        104..105 => {
            let (account, what) = (random.below(ACCOUNTS), random.below(1_000));
            Step::TakeBack { process, account, what }
        }
        105..107 => {
            let (account, what) = (random.below(ACCOUNTS), random.below(1_000));
            Step::Migrate { process, account, what, when: when(random, -4 * DAY, 4 * DAY) }
        }
        _ => Step::ApplyTransitions,
    }
}

fn span(random: &mut Random) -> i64 {
    match random.below(30) {
        0..10 => random.between(1, SECOND),
        10..22 => random.between(SECOND, 10 * SECOND),
        22..26 => random.between(60 * SECOND, 2 * HOUR),
        26..29 => random.between(2 * HOUR, 30 * HOUR),
        _ => random.between(2 * DAY, 12 * DAY),
    }
}

fn ask(random: &mut Random) -> Ask {
    // Any number: taken modulo what there is.
    let any = random.below(1_000);
    match random.below(122) {
        0..38 => Ask::Ingest { events: events(random, -25 * HOUR, 330 * SECOND) },
        38..44 => Ask::Fill { backfill: any, events: events(random, 0, 30 * HOUR) },
        44..46 => Ask::Customer { customer: any },
        46..49 => Ask::Subscribe { customer: any },
        49..51 => Ask::Cancel { subscription: any, when: when(random, -10 * DAY, 20 * DAY) },
        51..52 => Ask::Unschedule { subscription: any },
        52..57 => {
            let expires_in = random.percent(60).then(|| random.between(HOUR, 15 * DAY));
            Ask::Grant { customer: any, amount: random.between(1, 20), expires_in }
        }
        57..59 => Ask::Take { customer: any, amount: random.between(1, 24) },
        59..61 => Ask::Void { customer: any, grant: random.below(100), amount: 1 },
        61..67 => Ask::Alert { on: on(random), thresholds: thresholds(random) },
        67..69 => Ask::Disable { alert: any },
        69..72 => Ask::Enable { alert: any },
        72..75 => Ask::SetThresholds { alert: any, thresholds: thresholds(random) },
        75..76 => Ask::DeleteAlert { alert: any },
        76..80 => Ask::Backfill {
            customer: random.percent(75).then(|| random.below(10)),
            back: random.between(0, 8 * DAY),
            length: random.between(HOUR, 30 * HOUR),
            replaces: random.percent(50),
            closes_in: random.between(SECOND, 3 * DAY),
        },
        80..84 => Ask::Close { backfill: any },
        84..88 => Ask::Revert { backfill: any },
        88..91 => Ask::Amend { event: any, n: random.between(0, 9) },
        91..93 => Ask::Deprecate { event: any },
        93..95 => Ask::Metric { kind: any },
        95..96 => Ask::Item,
        96..97 => Ask::Rename { customer: any },
        97..100 => Ask::Usage { subscription: any },
        100..102 => Ask::Walk { list: any },
        102..105 => {
            let (offer, when) = (random.below(1_000), when(random, -4 * DAY, 4 * DAY));
            Ask::ChangePlan { subscription: any, offer, when }
        }
        105..106 => Ask::DropPlanChanges { subscription: any },
        _ => of_invoices(random, any),
    }
}

fn when(random: &mut Random, least: i64, most: i64) -> When {
    let within = random.between(least, most);
    *random.pick(&[When::Immediate, When::EndOfTerm, When::In(within)])
}

fn of_invoices(random: &mut Random, any: usize) -> Ask {
    match random.below(16) {
        0..3 => Ask::Issue { invoice: any },
        3..5 => Ask::Pay { invoice: any, token: random.percent(50) },
        5..7 => Ask::MarkPaid { invoice: any },
        7..9 => Ask::VoidInvoice { invoice: any },
        9..12 => {
            let (line, percent) = (random.below(3), *random.pick(&[10, 33, 50, 100]));
            Ask::Note { invoice: any, line, percent }
        }
        12..14 => {
            let amount = random.between(1, 40);
            Ask::Balance {
                customer: any,
                amount: if random.percent(40) { -amount } else { amount },
            }
        }
        _ => {
            let amount = random.between(-4, 20);
            let ahead = *random.pick(&[0, 0, 3 * DAY]);
            Ask::OneOff { customer: any, amount, ahead, automatic: random.percent(60) }
        }
    }
}

fn on(random: &mut Random) -> On {
    let (of, metric) = (random.below(1_000), random.below(1_000));
    match random.below(10) {
        0..5 => On::Usage(of, metric),
        5..7 => On::Cost(of),
        7..8 => On::Plan(metric),
        _ => On::Balance(of, random.below(Rule::ALL.len())),
    }
}

fn thresholds(random: &mut Random) -> Vec<i64> {
    let mut all: Vec<i64> = (0..=random.below(3)).map(|_| random.between(1, 40)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn events(random: &mut Random, from: i64, until: i64) -> Vec<Event> {
    let count = 1 + random.below(4);
    let one_customer = random.percent(70).then(|| random.below(100));
    let mut event = || {
        let key = match random.below(12) {
            0 => EventKey::Duplicate(random.below(1_000)),
            1 => EventKey::Conflicting(random.below(1_000)),
            _ => EventKey::New,
        };
        let customer = one_customer.unwrap_or_else(|| random.below(100));
        let at = if random.percent(50) { until.min(0) } else { random.between(from, until) };
        Event { customer, at, n: random.between(0, 9), key }
    };
    (0..count).map(|_| event()).collect()
}
