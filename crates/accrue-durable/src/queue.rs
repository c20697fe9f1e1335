use std::sync::mpsc::{Receiver, TryRecvError};

use accrue::{
    limits,
    store::{Batch, Change, Commit, StoreError},
};
use futures_channel::oneshot;

/// What a caller asks of the writer. Where the caller has gone, the answer goes nowhere.
#[derive(Debug)]
pub(crate) enum Job {
    /// Judge the batch, and apply it if it is accepted.
    Commit { batch: Batch, answer: Answer<Commit> },
    /// Answer once everything applied before is durable.
    Barrier { answer: Answer<()> },
}

/// Where an answer goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// The jobs that wait for the writer, in order of arrival.
#[derive(Debug)]
pub(crate) struct Queue {
    jobs: Receiver<Job>,
    // The first job of the next group: it did not fit in the last one.
    left_over: Option<Job>,
}

/// The most rows named by the batches of a group, unless its first batch alone has more.
const GROUP_ROWS: usize = limits::COMMIT_CHANGES;
/// The most bytes in the changes of a group, unless its first batch alone has more.
const GROUP_BYTES: usize = limits::COMMIT_BYTES;

impl Queue {
    pub(crate) const fn new(jobs: Receiver<Job>) -> Self {
        Self { jobs, left_over: None }
    }

    /// Waits for a job, and returns it with those that wait behind it, as many as make a group.
    /// Returns none when there will never be one.
    pub(crate) fn next_group(&mut self) -> Option<Vec<Job>> {
        let first = match self.left_over.take() {
            Some(job) => job,
            None => self.jobs.recv().ok()?,
        };
        let mut size = Size::of(&first);
        let mut group = vec![first];
        loop {
            let job = match self.jobs.try_recv() {
                Ok(job) => job,
                // Where all senders are gone, the next call finds that out.
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return Some(group),
            };
            size = size.with(Size::of(&job));
            if !size.fits() {
                self.left_over = Some(job);
                return Some(group);
            }
            group.push(job);
        }
    }
}

/// What a job costs the writer.
#[derive(Clone, Copy, Debug)]
struct Size {
    rows: usize,
    bytes: usize,
}

impl Size {
    fn of(job: &Job) -> Self {
        let Job::Commit { batch, .. } = job else { return Self { rows: 1, bytes: 0 } };
        let named = batch.preconditions.len().saturating_add(batch.changes.len());
        // A batch of nothing costs an answer.
        Self { rows: named.max(1), bytes: batch.changes.iter().map(Change::bytes).sum() }
    }

    const fn with(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    const fn fits(self) -> bool {
        self.rows <= GROUP_ROWS && self.bytes <= GROUP_BYTES
    }
}
