use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::Instant;

/// The most events of one request.
const BATCH: u64 = 100;

/// How far all connections together are: so many events, evenly over the time.
#[derive(Debug)]
pub(crate) struct Pace {
    events: u64,
    begun: Instant,
    time: Duration,
    drawn: AtomicU64,
    acknowledged: AtomicU64,
    answers: AtomicU64,
}

impl Pace {
    /// Begins.
    pub(crate) fn begin(events: u64, time: Duration) -> Self {
        let [drawn, acknowledged, answers] = Default::default();
        Self { events, begun: Instant::now(), time, drawn, acknowledged, answers }
    }

    /// Returns the time since it began, as long as that is not over.
    pub(crate) fn elapsed(&self) -> Option<Duration> {
        Some(self.begun.elapsed()).filter(|elapsed| *elapsed < self.time)
    }

    /// Draws how many events are ingested next: as many as are due by now, one at least.
    pub(crate) fn next_batch(&self) -> u64 {
        let (elapsed, whole) = (self.begun.elapsed().as_millis(), self.time.as_millis().max(1));
        let due = u64::try_from(u128::from(self.events) * elapsed / whole).unwrap_or(u64::MAX);
        let batch = due.saturating_sub(self.drawn.load(Ordering::Relaxed)).clamp(1, BATCH);
        self.drawn.fetch_add(batch, Ordering::Relaxed);
        batch
    }

    /// Notes that events were acknowledged.
    pub(crate) fn acknowledge(&self, events: u64) {
        self.acknowledged.fetch_add(events, Ordering::Relaxed);
    }

    /// Returns how many events were acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Notes an answer.
    pub(crate) fn answer(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many answers there were.
    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }
}
