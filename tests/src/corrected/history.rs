//! Which events count.

use crate::{
    bill::Span,
    model::{AHEAD, At, Condition, Event, Fate, GRACE, Instant},
};

/// Everything that was accepted, in order.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub events: Vec<Stored>,
    pub backfills: Vec<Backfill>,
    /// How many events of each customer were accepted.
    accepted: Vec<u64>,
}

/// An event that was accepted.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What it says now.
    pub event: Event,
    /// What it said when it was accepted.
    first: Event,
    /// The backfill that brought it.
    pub brought_by: Option<At>,
    /// As the customer's so-many-th event it was accepted.
    number: u64,
    pub deprecated: bool,
}

#[derive(Clone, Debug)]
pub struct Backfill {
    pub customer: Option<At>,
    pub within: Span,
    pub replaces: bool,
    pub filter: Option<Condition>,
    pub state: State,
    /// When it closes, or was closed.
    pub closes_at: Instant,
    /// How many events of each customer had been accepted when it was reflected.
    reflected_at: Vec<u64>,
}

/// Where a backfill stands, once what is due is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Taking,
    Reflected,
    Reverted,
}

impl Backfill {
    #[must_use]
    pub fn new(
        customer: Option<At>,
        within: Span,
        replaces: bool,
        filter: Option<Condition>,
        closes_at: Instant,
    ) -> Self {
        let (state, reflected_at) = (State::Taking, Vec::new());
        Self { customer, within, replaces, filter, state, closes_at, reflected_at }
    }

    #[must_use]
    pub fn is_for(&self, customer: At) -> bool {
        self.customer.is_none_or(|own| own == customer)
    }

    fn holds(&self, at: Instant) -> bool {
        self.within.0 <= at && at < self.within.1
    }

    /// Whether all other events of a place never count beside it.
    fn surely_hides(&self, customer: At, at: Instant) -> bool {
        self.replaces && self.filter.is_none() && self.is_for(customer) && self.holds(at)
    }

    fn overlaps(&self, other: &Self) -> bool {
        let share = match (self.customer, other.customer) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        share && self.within.0 < other.within.1 && other.within.0 < self.within.1
    }
}

impl Stored {
    /// What it said when it was accepted.
    #[must_use]
    pub const fn first(&self) -> &Event {
        &self.first
    }
}

// What counts.

impl History {
    #[must_use]
    pub fn of(customers: usize) -> Self {
        Self { accepted: vec![0; customers], ..Self::default() }
    }

    /// The events that count: of those at one place that are there, the first accepted.
    #[must_use]
    pub fn visible(&self) -> Vec<Event> {
        let visible = (0..self.events.len()).filter(|index| self.counts(*index));
        visible.map(|index| self.events[index].event.clone()).collect()
    }

    /// Whether an event counts.
    #[must_use]
    pub fn counts(&self, index: At) -> bool {
        let of = &self.events[index];
        let is_same_place = |other: &Stored| {
            (&other.event.key, other.event.customer, other.event.at)
                == (&of.event.key, of.event.customer, of.event.at)
        };
        self.is_there(of) && {
            let mut others = self.events.iter().filter(|other| other.number < of.number);
            !others.any(|other| is_same_place(other) && self.is_there(other))
        }
    }

    /// Whether an event is neither deprecated nor hidden, nor of a backfill that is not reflected.
    fn is_there(&self, of: &Stored) -> bool {
        let is_brought =
            of.brought_by.is_none_or(|by| self.backfills[by].state == State::Reflected);
        let mut others = self.backfills.iter().enumerate();
        let is_hidden = others.any(|(index, other)| {
            other.state == State::Reflected
                && other.replaces
                && of.brought_by != Some(index)
                && other.is_for(of.event.customer)
                && other.holds(of.event.at)
                && other.filter.as_ref().is_none_or(|filter| filter.of(&of.event) == Some(true))
                && of.number <= other.reflected_at[of.event.customer]
        });
        is_brought && !of.deprecated && !is_hidden
    }
}

/// What becomes of an event that somebody names by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// This one counts.
    Counts(At),
    /// The first one counts no longer: it was deprecated, or replaced.
    Gone { first: At, deprecated: bool },
    /// There is none, or none yet.
    Unknown,
}

impl History {
    #[must_use]
    pub fn standing(&self, key: &str) -> Standing {
        let all = self.events.iter().enumerate().filter(|(_, of)| of.event.key == key);
        if let Some((index, _)) = all.clone().find(|(index, _)| self.counts(*index)) {
            return Standing::Counts(index);
        }
        let is_known = |of: &Stored| self.state_of(of).is_none_or(|of| of == State::Reflected);
        let known: Vec<_> = all.filter(|(_, of)| is_known(of)).collect();
        let Some((first, of)) = known.first() else { return Standing::Unknown };
        let place = |of: &Stored| (of.event.customer, of.event.at);
        let mut here = known.iter().filter(|(_, other)| place(other) == place(of));
        Standing::Gone { first: *first, deprecated: here.any(|(_, of)| of.deprecated) }
    }
}

// What callers do.

impl History {
    /// Says what becomes of an event that comes into a backfill, or into none.
    #[must_use]
    pub fn fate(&self, into: Option<At>, event: &Event, batch: &[Event], now: Instant) -> Fate {
        let mut same: Vec<_> =
            self.events.iter().filter(|known| known.first.key == event.key).collect();
        if same.iter().any(|known| known.deprecated) {
            return Fate::Refused;
        }
        if let Some(own) = same.iter().find(|known| known.brought_by == into) {
            return if own.first == *event { Fate::Duplicate } else { Fate::Refused };
        }
        if let Some(earlier) = batch.iter().find(|earlier| earlier.key == event.key) {
            return if earlier == event { Fate::Duplicate } else { Fate::Refused };
        }
        same.retain(|known| self.state_of(known) != Some(State::Reverted));
        let is_taken = match into.map(|into| &self.backfills[into]) {
            None => now - GRACE <= event.at,
            Some(into) => into.holds(event.at) && into.is_for(event.customer),
        };
        let may_come = same.iter().all(|known| self.may_stand_beside(known, into, event));
        if is_taken && event.at <= now + AHEAD && may_come { Fate::New } else { Fate::Refused }
    }

    /// Whether two events with one key can never count together, or lie at one place.
    fn may_stand_beside(&self, known: &Stored, into: Option<At>, event: &Event) -> bool {
        let (customer, at) = (known.first.customer, known.first.at);
        let hides =
            |by: At, customer: At, at: Instant| self.backfills[by].surely_hides(customer, at);
        let is_taking = self.state_of(known) == Some(State::Taking);
        (customer, at) == (event.customer, event.at)
            || into.is_some_and(|into| hides(into, customer, at))
            || known.brought_by.is_some_and(|by| {
                into.is_none() && is_taking && hides(by, event.customer, event.at)
            })
    }

    fn state_of(&self, of: &Stored) -> Option<State> {
        of.brought_by.map(|by| self.backfills[by].state)
    }

    /// Accepts an event, and says whether it counts.
    pub fn accept(&mut self, brought_by: Option<At>, event: Event) -> bool {
        let number = &mut self.accepted[event.customer];
        *number += 1;
        let (first, number) = (event.clone(), *number);
        self.events.push(Stored { event, first, brought_by, number, deprecated: false });
        self.counts(self.events.len() - 1)
    }

    /// Whether a backfill overlaps one that takes events.
    #[must_use]
    pub fn is_kept_out(&self, backfill: &Backfill) -> bool {
        let mut taking = self.backfills.iter().filter(|other| other.state == State::Taking);
        taking.any(|other| other.overlaps(backfill))
    }

    /// The next backfill that closes by itself, up to an instant.
    #[must_use]
    pub fn next_to_close(&self, until: Instant) -> Option<At> {
        let all = self.backfills.iter().enumerate();
        let taking = all.filter(|(_, of)| of.state == State::Taking && of.closes_at <= until);
        taking.min_by_key(|(index, of)| (of.closes_at, *index)).map(|(index, _)| index)
    }

    pub fn reflect(&mut self, backfill: At, at: Instant) {
        let of = &mut self.backfills[backfill];
        (of.state, of.closes_at) = (State::Reflected, at);
        of.reflected_at.clone_from(&self.accepted);
    }

    pub fn revert(&mut self, backfill: At) {
        self.backfills[backfill].state = State::Reverted;
    }
}
