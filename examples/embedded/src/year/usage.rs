use accrue::{Entropy as _, SeededEntropy, Timestamp, usage::Event};

use super::{customer::Customer, setup::Setup};
use crate::setup::completion;

/// The most output tokens of a request.
const TOKENS: u64 = 3_000;
/// In which part of a day, of so many, a customer makes a request or none.
const SLOTS: u64 = 12;
const SLOT_MICROS: u64 = 24 * 60 * 60 * 1_000_000 / SLOTS;

/// Made usage, in order of time: as much as the profiles say, scattered by a seed.
#[derive(Debug)]
pub(super) struct Usage {
    events: std::iter::Peekable<std::vec::IntoIter<Event>>,
}

impl Usage {
    pub(super) fn new(setup: &Setup, seed: u64) -> Self {
        let dice = Dice(SeededEntropy::new(seed.wrapping_add(1)));
        let mut events: Vec<_> =
            setup.customers.iter().flat_map(|of| requests(of, &dice)).collect();
        events.sort_by_key(|event| event.timestamp);
        Self { events: events.into_iter().peekable() }
    }

    /// Takes what is used before an instant.
    pub(super) fn until(&mut self, end: Timestamp) -> impl Iterator<Item = Event> {
        std::iter::from_fn(move || self.events.next_if(|event| event.timestamp < end))
    }
}

/// Makes the requests of one customer, until it leaves.
fn requests(customer: &Customer, dice: &Dice) -> Vec<Event> {
    let leaves = customer.leaves().map_or(Timestamp::MAX, |[_, leaves]| leaves);
    let mut events = Vec::new();
    for (month, requests) in customer.months().into_iter().zip(customer.profile.requests) {
        let mut slot = month.start();
        while slot < month.end() {
            let at = slot.saturating_add(micros(dice.below(SLOT_MICROS)));
            let is_made = dice.below(SLOTS) < requests;
            if is_made && at < month.end().min(leaves) {
                let key = format!("{}-{}", customer.external, events.len());
                let tokens = [("output_tokens", 1 + dice.below(TOKENS))];
                events.push(completion(&key, at, customer.external.clone(), tokens));
            }
            slot = slot.saturating_add(micros(SLOT_MICROS));
        }
    }
    events
}

const fn micros(micros: u64) -> std::time::Duration {
    std::time::Duration::from_micros(micros)
}

/// What decides by chance, the same every time for one seed.
#[derive(Debug)]
struct Dice(SeededEntropy);

impl Dice {
    /// Throws a number from zero on, below another.
    fn below(&self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_be_bytes(bytes) % bound
    }
}
