use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use accrue::store::{StoreError, Turn, Turns};
use async_trait::async_trait;

use super::ProcessesFlaw;

/// Turns of all processes.
#[derive(Debug)]
pub(super) struct BrokenTurns {
    flaw: ProcessesFlaw,
    places: Mutex<BTreeMap<u16, Line>>,
}

/// Those who wait at a place, by their numbers, in the order in which they came.
#[derive(Debug, Default)]
struct Line {
    is_taken: bool,
    comers: u64,
    waiting: BTreeMap<u64, Option<Waker>>,
}

/// Turns as one process has them.
#[derive(Debug)]
pub(super) struct TurnsOfOne {
    turns: Arc<BrokenTurns>,
    process: Arc<()>,
}

/// Wait that ends when it is dropped.
struct Waiting<'a> {
    turns: &'a BrokenTurns,
    place: u16,
    number: u64,
}

/// Keeper of a turn, which gives it back.
struct Keeper {
    turns: Arc<BrokenTurns>,
    process: Weak<()>,
    place: u16,
}

impl BrokenTurns {
    pub(super) fn new(flaw: ProcessesFlaw) -> Self {
        Self { flaw, places: Mutex::default() }
    }

    fn wait(&self, place: u16) -> Waiting<'_> {
        let mut places = self.places();
        let line = places.entry(place).or_default();
        let number = line.comers;
        line.comers = line.comers.wrapping_add(1);
        line.waiting.insert(number, None);
        Waiting { turns: self, place, number }
    }

    /// Changes a line, and lets all who wait in it look again.
    fn change<T>(&self, place: u16, change: impl FnOnce(&mut Line) -> T) -> T {
        let mut places = self.places();
        let line = places.entry(place).or_default();
        let changed = change(line);
        line.waiting.values_mut().filter_map(Option::take).for_each(Waker::wake);
        changed
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<u16, Line>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TurnsOfOne {
    pub(super) fn of(turns: &Arc<BrokenTurns>) -> Self {
        Self { turns: Arc::clone(turns), process: Arc::default() }
    }
}

#[async_trait]
impl Turns for TurnsOfOne {
    async fn take(&self, place: u16) -> Result<Option<Turn>, StoreError> {
        let place = if self.turns.flaw == ProcessesFlaw::HasOnePlace { 0 } else { place };
        if self.turns.flaw != ProcessesFlaw::GivesTurnsToAll {
            let waiting = self.turns.wait(place);
            poll_fn(|context| waiting.poll(context)).await;
        }
        let process = Arc::downgrade(&self.process);
        Ok(Some(Turn::new(Keeper { turns: Arc::clone(&self.turns), process, place })))
    }
}

impl Waiting<'_> {
    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut places = self.turns.places();
        let line = places.entry(self.place).or_default();
        let next = match self.turns.flaw {
            ProcessesFlaw::ServesTheLastFirst => line.waiting.keys().next_back(),
            _ => line.waiting.keys().next(),
        };
        if line.is_taken || next != Some(&self.number) {
            line.waiting.insert(self.number, Some(context.waker().clone()));
            return Poll::Pending;
        }
        line.is_taken = true;
        line.waiting.remove(&self.number);
        Poll::Ready(())
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.turns.flaw != ProcessesFlaw::KeepsWaits {
            self.turns.change(self.place, |line| line.waiting.remove(&self.number));
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let is_kept = match self.turns.flaw {
            ProcessesFlaw::KeepsTurns => true,
            ProcessesFlaw::KeepsTurnsOfTheGone => self.process.strong_count() == 0,
            _ => false,
        };
        if !is_kept {
            self.turns.change(self.place, |line| line.is_taken = false);
        }
    }
}
