//! A naive bank: it keeps every entry of every ledger, and moves them as obviously as it can with
//! each operation that was accepted. What usage costs the [biller](crate::bill) tells.

mod alerts;
mod bench;
mod changes;
mod checks;
mod ledger;
mod script;

use std::collections::{BTreeMap, BTreeSet};

use accrue::Timestamp;
use bigdecimal::BigDecimal;

pub use self::{
    alerts::{BalanceAlert, Body, Cause, Kind, Message},
    bench::{Bench, run},
    ledger::{Block, Change, Entry, EntryKind, Ledger, Priced, Refused},
    script::{ChangeSpec, Named, Step, opening, script},
};
use crate::{
    bill::{ActiveSubscriptions, Biller, Charge, Span, midnights},
    model::{AHEAD, At, Event, Instant, MICROS_PER_DAY},
};

/// What ledgers are in, in the order of their texts.
pub const UNITS: [&str; 2] = ["USD", "credits"];

/// The longest grace period that an account can choose.
const LONGEST_GRACE: i64 = 28 * MICROS_PER_DAY;

/// A ledger: whose, and in what.
pub type Place = (At, &'static str);

/// All ledgers, and the alerts that watch them.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    pub now: Instant,
    /// The zones of the customers.
    pub zones: Vec<&'static str>,
    pub ledgers: BTreeMap<Place, Ledger>,
    pub alerts: Vec<BalanceAlert>,
    pub messages: Vec<Message>,
}

// Time.

impl Bank {
    /// Moves the clock: blocks expire, and days end.
    pub fn advance_to(&mut self, now: Instant) {
        self.now = now;
        for place in self.ledgers.keys().copied().collect::<Vec<_>>() {
            while let Some((at, block)) = self.ledger(place).next_expiry(now) {
                let before = self.balance(place);
                self.ledger(place).expire(block, at);
                self.judge(place, before, at, &Cause::Expiry(block));
            }
            self.ledger(place).end_day(now);
        }
    }

    fn ledger(&mut self, place: Place) -> &mut Ledger {
        self.ledgers.get_mut(&place).unwrap()
    }

    #[must_use]
    pub fn balance(&self, place: Place) -> Option<BigDecimal> {
        self.ledgers.get(&place).map(Ledger::balance)
    }
}

// What callers do.

impl Bank {
    /// Books what a caller asks for; says which entry is the answer.
    pub fn book(&mut self, place: Place, change: &Change) -> Result<At, Refused> {
        let before = self.balance(place);
        let now = self.now;
        let mut ledger = self.ledgers.get(&place).cloned().unwrap_or_default();
        let answer = ledger.book(change, now)?;
        let entry = &ledger.entries[answer];
        if matches!(entry.kind, EntryKind::Increment) {
            let body = Body::Incremented { block: entry.block };
            self.messages.push(Message { at: now, place, body });
        }
        self.ledgers.insert(place, ledger);
        self.judge(place, before, now, &Cause::Credit(answer));
        Ok(answer)
    }

    /// Deletes a block.
    pub fn delete(&mut self, place: Place, block: At) -> Result<(), Refused> {
        let (before, now) = (self.balance(place), self.now);
        if let Some(entry) = self.ledger(place).delete(block, now)? {
            self.judge(place, before, now, &Cause::Credit(entry));
        }
        Ok(())
    }

    /// Draws what the last event of a biller adds to what usage costs.
    pub fn accept(&mut self, biller: &Biller) {
        let event = biller.events.last().unwrap().clone();
        let mut earlier = biller.clone();
        earlier.events.pop();
        let balances = UNITS.map(|unit| self.balance((event.customer, unit)));
        let lives = biller.lives.iter().enumerate();
        let held = lives.flat_map(|(life, of)| {
            let starts = usage_starts(biller, of, (event.at, event.at + 1));
            starts.into_iter().map(move |start| (life, start))
        });
        self.follow(&earlier, biller, &held.collect());
        let Event { key, at, customer, .. } = event;
        for (unit, before) in UNITS.into_iter().zip(balances) {
            let cause = Cause::Event(key.clone(), at);
            self.judge((customer, unit), before, self.now, &cause);
        }
    }

    /// Draws what a subscription costs that is new, or gives back what its new end leaves out.
    pub fn reconcile(&mut self, earlier: Option<&Biller>, biller: &Biller, life: At) {
        let customer = biller.lives[life].customer;
        let balances = UNITS.map(|unit| self.balance((customer, unit)));
        let mut empty = biller.clone();
        empty.events.clear();
        let earlier = earlier.unwrap_or(&empty);
        let open = [earlier, biller].into_iter().flat_map(|of| self.open(of, life));
        self.follow(earlier, biller, &open.map(|start| (life, start)).collect());
        for (unit, before) in UNITS.into_iter().zip(balances) {
            self.judge((customer, unit), before, self.now, &Cause::Subscription(life));
        }
    }

    /// When the periods of prices begin in whose billing periods events can still fall, whatever grace
    /// period the account will choose; or in the last one of a life that is longer past.
    fn open(&self, biller: &Biller, life: At) -> Vec<Begun> {
        let of = &biller.lives[life];
        let since = self.now - LONGEST_GRACE;
        let last = of.core.end_date.map(Timestamp::micros).filter(|end| *end <= since);
        let last = last.and_then(|end| of.period(end - 1));
        let open = of.periods((since, self.now + AHEAD + 1)).into_iter().chain(last);
        open.flat_map(|period| usage_starts(biller, of, period)).collect()
    }

    /// Draws the difference between what two billers say of some periods of prices, or gives it back:
    /// those of one start as one.
    fn follow(&mut self, earlier: &Biller, later: &Biller, held: &BTreeSet<(At, Begun)>) {
        let mut moved = BTreeMap::<Place, BTreeMap<_, Vec<(Priced, BigDecimal)>>>::new();
        for (life, begun) in held {
            for unit in UNITS {
                let cost = |biller: &Biller| usage_cost(biller, *life, *begun, unit);
                let place = (later.lives[*life].customer, unit);
                let plan = later.lives[*life].plan;
                let prices = moved.entry(place).or_default().entry((*life, begun.0)).or_default();
                prices.push(((plan, begun.1), cost(later) - cost(earlier)));
            }
        }
        for (place, moved) in moved {
            let moved: Vec<_> = moved.into_iter().collect();
            let (now, day_end) = (self.now, self.day_end(place.0));
            if let Some(ledger) = self.ledgers.get_mut(&place) {
                ledger.follow(&moved, now, day_end);
            }
        }
    }

    /// When the day of a customer ends that it is.
    fn day_end(&self, customer: At) -> Instant {
        midnights(self.zones[customer], (self.now, self.now + 3 * MICROS_PER_DAY))
            .into_iter()
            .find(|midnight| *midnight > self.now)
            .unwrap()
    }
}

/// A period of a price, by its start and by the place of the price in its plan.
type Begun = (Instant, At);

/// What usage costs in a unit, before discounts, minima and maxima, in a period of a price.
fn usage_cost(biller: &Biller, life: At, (start, index): Begun, unit: &str) -> BigDecimal {
    let of = &biller.lives[life];
    let price = &biller.plans[of.plan][index];
    let holding = of.periods_of(price, (start, start + 1)).into_iter();
    let mut own = holding.filter(|period| period.0 == start && price.currency == unit);
    let used = own.next().and_then(|period| biller.used(of, price, period));
    used.map(|used| used.subtotal).unwrap_or_default()
}

/// The periods of usage prices that a span overlaps.
fn usage_starts(biller: &Biller, of: &ActiveSubscriptions, within: Span) -> BTreeSet<Begun> {
    let prices = biller.plans[of.plan].iter().enumerate();
    let usage = prices.filter(|(_, price)| matches!(price.charge, Charge::Usage { .. }));
    let periods = usage.flat_map(|(index, price)| {
        of.periods_of(price, within).into_iter().map(move |(start, _)| (start, index))
    });
    periods.collect()
}
