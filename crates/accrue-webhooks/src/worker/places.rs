//! Places of the endpoints that a worker serves: those that do not answer leave theirs to others.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};

use accrue::Timestamp;

use super::{Inner, WorkerOptions};

/// After how long without an answer an endpoint leaves its place to others.
const SILENT: Duration = Duration::from_secs(1);

/// Place of an endpoint that is served, as its attempts know it too. Instants are in microseconds.
#[derive(Debug)]
pub(super) struct Place {
    /// Until when the endpoint is this worker's.
    until: AtomicI64,
    /// Since when an answer is awaited.
    awaited_since: AtomicI64,
}

impl Place {
    const NOTHING_AWAITED: i64 = i64::MAX;

    pub(super) fn new(until: Timestamp) -> Self {
        let awaited_since = AtomicI64::new(Self::NOTHING_AWAITED);
        Self { until: AtomicI64::new(until.micros()), awaited_since }
    }

    /// Notes that the endpoint stays this worker's.
    pub(super) fn keep(&self, until: Timestamp) {
        self.until.store(until.micros(), Relaxed);
    }

    /// Tells whether the endpoint is this worker's up to an instant.
    pub(super) fn lasts_until(&self, at: Timestamp) -> bool {
        at.micros() <= self.until.load(Relaxed)
    }

    /// Notes that a request is made.
    pub(super) fn waits_from(&self, now: Timestamp) {
        self.awaited_since.fetch_min(now.micros(), Relaxed);
    }

    /// Notes that a request has ended, and whether others are under way.
    pub(super) fn heard(&self, now: Timestamp, of_others: bool) {
        let since = if of_others { now.micros() } else { Self::NOTHING_AWAITED };
        self.awaited_since.store(since, Relaxed);
    }

    /// Tells whether the endpoint has not answered for so long that its place is another's.
    fn is_silent(&self, now: Timestamp) -> bool {
        let silent = i64::try_from(SILENT.as_micros()).unwrap_or(i64::MAX);
        now.micros().saturating_sub(self.awaited_since.load(Relaxed)) >= silent
    }
}

/// Places of all endpoints that are served.
#[derive(Default)]
pub(super) struct Places(Vec<Weak<Place>>);

impl Places {
    /// Returns how many endpoints more may be served: there is a request for each.
    pub(super) fn room(&mut self, of: &Inner) -> usize {
        self.0.retain(|place| place.strong_count() > 0);
        let (now, WorkerOptions { endpoints, requests, .. }) = (of.billing.now(), &of.options);
        let taken = self.0.iter().filter_map(Weak::upgrade).filter(|place| !place.is_silent(now));
        let room = (*endpoints).max(1).saturating_sub(taken.count());
        room.min((*requests).max(*endpoints).max(1).saturating_sub(self.0.len()))
    }

    pub(super) fn add(&mut self, place: &Arc<Place>) {
        self.0.push(Arc::downgrade(place));
    }
}
