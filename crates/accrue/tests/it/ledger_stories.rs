//! Stories of a ledger: whoever looks in between and however events are cut into batches, they end
//! the same, the entries form a chain, and usage has drawn what it costs.

use std::time::Duration;

use accrue::{
    Clock, CreditBlockId, Decimal, ErrorKind, Timestamp,
    credit::{CreditBlock, EntryType, LedgerChange, LedgerEntry, NewBlock},
    webhook::Message,
};
use proptest::{collection::vec, option, prelude::*};

use crate::support::{
    credited::{CREDITS, depleted, dropped, entry, recovered, volume},
    fixture::{block_on, event, number, run},
    priced::{Priced, unit},
};

#[derive(Clone, Debug)]
enum Step {
    /// How much; in how many hours it is effective, and expires; its cost basis.
    Give(u8, Option<u8>, Option<u8>, u8),
    Take(u8),
    Use(Vec<i8>),
    /// A part of a block.
    Void(usize, u8),
    /// A block, and in how many hours it expires from now on.
    Extend(usize, u8),
    /// Hours.
    Wait(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1..20_u8, option::of(0..8_u8), option::of(1..16_u8), 0..3_u8)
            .prop_map(|(amount, effective, expiry, basis)| Step::Give(amount, effective, expiry, basis)),
        1 => (1..10_u8).prop_map(Step::Take),
        5 => vec(-6..9_i8, 1..5).prop_map(Step::Use),
        1 => (0..9_usize, 1..6_u8).prop_map(|(block, part)| Step::Void(block, part)),
        1 => (0..9_usize, 1..20_u8).prop_map(|(block, hours)| Step::Extend(block, hours)),
        3 => (1..8_u8).prop_map(Step::Wait),
    ];
    vec(step, 1..24)
}

/// How a story is told: whether somebody looks after every step, and whether events come one by one.
#[derive(Clone, Copy, Debug)]
struct Manner {
    looks: bool,
    is_batched: bool,
}

/// How a story ended.
#[derive(Debug, PartialEq)]
struct End {
    refusals: Vec<Option<ErrorKind>>,
    entries: Vec<LedgerEntry>,
    blocks: Vec<CreditBlock>,
    told: Vec<String>,
}

/// A customer whose use costs one credit each, and half of that for all of it beyond 10; and one
/// credit each on another subscription. It has one credit.
fn customer() -> Priced {
    let priced = volume();
    let mut price = priced.fixture.usage_at("1", &priced.metric);
    price.currency = unit(CREDITS);
    let plan = priced.fixture.priced_plan([price.into()]);
    priced.fixture.subscribe(priced.customer, &plan);
    priced.give("1");
    for new in [dropped(&["12", "5", "-3"]), depleted(), recovered()] {
        priced.watch(new);
    }
    priced.fixture.tick();
    priced.fixture.drain();
    priced
}

fn tell(steps: &[Step], manner: Manner) -> (Priced, End) {
    let priced = customer();
    let (mut keys, mut refusals) = (0, Vec::new());
    for step in steps {
        let now = Clock::now(&priced.fixture.clock);
        match step {
            Step::Use(numbers) => {
                let events: Vec<_> = numbers
                    .iter()
                    .map(|n| {
                        keys += 1;
                        event("ada", &keys.to_string(), now, &n.to_string())
                    })
                    .collect();
                let size = if manner.is_batched { events.len() } else { 1 };
                for batch in events.chunks(size) {
                    run(priced.fixture.account.ingest(batch.to_vec())).unwrap();
                }
            }
            Step::Wait(hours) => priced.fixture.clock.advance(in_hours(*hours)),
            step => {
                let Some(change) = change(&priced, step, now) else { continue };
                refusals.push(priced.book(entry(change)).err().map(|error| error.kind()));
            }
        }
        if manner.looks {
            priced.fixture.tick();
        }
        check_chain(&priced);
    }
    priced.fixture.tick();
    let (entries, blocks) = (priced.entries(), priced.every_block());
    let told = |message: &Message| format!("{} {:?}", message.created_at, message.body);
    let told = priced.fixture.drain().iter().map(told).collect();
    (priced, End { refusals, entries, blocks, told })
}

fn in_hours(hours: u8) -> Duration {
    Duration::from_secs(u64::from(hours) * 60 * 60)
}

fn change(priced: &Priced, step: &Step, now: Timestamp) -> Option<LedgerChange> {
    let later = |hours: &u8| now.saturating_add(in_hours(*hours));
    let block = |place: usize| -> Option<CreditBlockId> {
        let blocks = priced.every_block();
        blocks.get(place % blocks.len()).map(|block| block.id)
    };
    Some(match step {
        Step::Give(amount, effective, expiry, basis) => LedgerChange::Increment(NewBlock {
            amount: Decimal::from(u64::from(*amount)),
            effective_date: effective.as_ref().map(later),
            expiry_date: expiry.as_ref().map(later),
            per_unit_cost_basis: Some(Decimal::from(u64::from(*basis)).into()),
            filters: Vec::new(),
            invoice: None,
        }),
        Step::Take(amount) => LedgerChange::Decrement { amount: Decimal::from(u64::from(*amount)) },
        Step::Void(place, part) => LedgerChange::Void {
            amount: Decimal::from(u64::from(*part)),
            block_id: block(*place)?,
            void_reason: None,
        },
        Step::Extend(place, hours) => LedgerChange::ExpirationChange {
            target_expiry_date: later(hours),
            amount: None,
            block_id: Some(block(*place)?),
            expiry_date: None,
        },
        Step::Use(_) | Step::Wait(_) => return None,
    })
}

/// The balance is the sum of the entries, and that of the blocks; each entry starts where the one
/// before it ended.
fn check_chain(priced: &Priced) {
    let mut balance = Decimal::zero();
    let entries = priced.entries();
    for (number, entry) in (1..).zip(&entries) {
        assert_eq!((entry.ledger_sequence_number, &entry.starting_balance), (number, &balance));
        balance += entry.amount.clone();
        assert_eq!(entry.ending_balance, balance);
    }
    assert!(entries.is_sorted_by_key(|entry| entry.created_at));
    let blocks = priced.every_block();
    let left: Decimal = blocks.iter().map(|block| block.balance.clone()).sum();
    assert_eq!(left, balance);
    for CreditBlock { balance, maximum_initial_balance, .. } in &blocks {
        let bounds = match maximum_initial_balance {
            Some(given) => Decimal::zero() <= *balance && balance <= given,
            None => *balance <= Decimal::zero(),
        };
        assert!(bounds, "{balance} of {maximum_initial_balance:?}");
    }
    let credits = unit(CREDITS);
    let found = block_on(priced.fixture.account.credit_balance(priced.customer, &credits)).unwrap();
    assert_eq!(found.balance, Some(balance.clone()));
    assert!(balance.clone() + found.overdraft >= found.available);
}

/// What usage has drawn and not given back: the caller adds no amendments, and takes what it takes.
fn drawn_by_usage(end: &End, taken: Decimal) -> Decimal {
    let of_usage = end
        .entries
        .iter()
        .filter(|entry| matches!(entry.entry_type, EntryType::Decrement | EntryType::Amendment));
    of_usage.map(|entry| entry.amount.clone()).sum::<Decimal>() + taken
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_ledger_is_the_same_whoever_looks_and_however_events_are_batched(steps in steps()) {
        let singly = Manner { looks: false, is_batched: false };
        let (_, lazy) = tell(&steps, singly);
        for (looks, is_batched) in [(true, false), (false, true), (true, true)] {
            let (_, end) = tell(&steps, Manner { looks, is_batched });
            prop_assert_eq!(&end, &lazy);
        }
    }

    #[test]
    fn usage_has_drawn_what_it_costs(steps in steps()) {
        let (_, end) = tell(&steps, Manner { looks: false, is_batched: true });
        let (mut used, mut taken) = (0_i64, 0_u64);
        for step in &steps {
            match step {
                Step::Use(numbers) => used += numbers.iter().map(|n| i64::from(*n)).sum::<i64>(),
                Step::Take(amount) => taken += u64::from(*amount),
                _ => {}
            }
        }
        let halves = used.max(0) * if used <= 10 { 4 } else { 3 };
        let cost = number("0.5") * Decimal::from(u64::try_from(halves).unwrap());
        prop_assert_eq!(-drawn_by_usage(&end, Decimal::from(taken)), cost);
    }
}
