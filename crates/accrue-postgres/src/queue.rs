use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, oneshot};

use crate::{encode::Encoded, failure::Failure};

/// The most batches of one call.
const BATCHES: usize = 64;
/// The most rows that are judged or written in a call of several batches.
const ITEMS: usize = 4_000;
/// The most bytes of a call of several batches.
const BYTES: usize = 8 * 1024 * 1024;

/// Batches that wait for a call.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    is_closed: bool,
}

/// Batch with the caller who waits for its answer.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) batch: Encoded,
    pub(crate) caller: oneshot::Sender<Answer>,
}

/// What became of a batch.
pub(crate) type Answer = Result<Judged, Failure>;

/// What was found of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// All held: the rows written have this version.
    Applied(i64),
    /// The expectation at this place failed first.
    Failed(usize),
}

impl Queue {
    pub(crate) fn push(&self, batch: Encoded) -> oneshot::Receiver<Answer> {
        let (caller, answer) = oneshot::channel();
        self.state().waiting.push_back(Waiting { batch, caller });
        self.bell.notify_one();
        answer
    }

    /// Waits for batches that can go together; none once the queue is closed and empty.
    pub(crate) async fn next(&self, most_locks: usize) -> Option<Vec<Waiting>> {
        loop {
            let (together, is_more, is_closed) = {
                let mut state = self.state();
                let together = take(&mut state.waiting, most_locks);
                (together, !state.waiting.is_empty(), state.is_closed)
            };
            if is_more || is_closed {
                self.bell.notify_one();
            }
            if !together.is_empty() {
                return Some(together);
            }
            if is_closed {
                return None;
            }
            self.bell.notified().await;
        }
    }

    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.bell.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes batches none of which writes a key of another: those that are in the way of an earlier one wait on.
fn take(waiting: &mut VecDeque<Waiting>, most_locks: usize) -> Vec<Waiting> {
    let mut together = Vec::new();
    let mut left = VecDeque::new();
    let mut locks: HashMap<i64, bool> = HashMap::new();
    let (mut items, mut bytes) = (0_usize, 0_usize);
    while let Some(next) = waiting.pop_front() {
        let batch = &next.batch;
        let with = |sum: usize, more: usize| sum.saturating_add(more);
        let fits = with(items, batch.items()) <= ITEMS
            && with(bytes, batch.bytes) <= BYTES
            && with(locks.len(), batch.locks.len()) <= most_locks;
        if !together.is_empty() && (!fits || together.len() >= BATCHES) {
            left.push_back(next);
            break;
        }
        let shares = |(lock, writes): &(i64, bool)| {
            locks.get(lock).is_some_and(|written| *written || *writes)
        };
        if batch.locks.iter().any(shares) {
            left.push_back(next);
            continue;
        }
        items = with(items, batch.items());
        bytes = with(bytes, batch.bytes);
        locks.extend(batch.locks.iter().copied());
        together.push(next);
    }
    left.append(waiting);
    *waiting = left;
    together
}
