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

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use accrue::store::Document;

    use super::*;

    /// A batch that locks some keys, each written or not, and writes as many rows as are said.
    fn waiting(locks: &[(i64, bool)], rows: usize, bytes: usize) -> Waiting {
        let row = (Vec::new(), Document::parse("{}").unwrap());
        let batch = Encoded {
            judged: Vec::new(),
            new: Vec::new(),
            kept: Vec::new(),
            put: repeat_n(row, rows).collect(),
            gone: Vec::new(),
            locks: locks.to_vec(),
            bytes,
        };
        Waiting { batch, caller: oneshot::channel().0 }
    }

    /// The locks of the batches that go together, call by call.
    fn calls(all: impl IntoIterator<Item = Waiting>, most_locks: usize) -> Vec<Vec<Vec<i64>>> {
        let mut all: VecDeque<_> = all.into_iter().collect();
        let together = std::iter::from_fn(|| Some(take(&mut all, most_locks)));
        let together = together.take_while(|of| !of.is_empty());
        let locks = |of: Waiting| of.batch.locks.into_iter().map(|(lock, _)| lock).collect();
        together.map(|of| of.into_iter().map(locks).collect()).collect()
    }

    #[test]
    fn batches_that_share_no_written_key_go_together_and_others_wait_in_order() {
        let of = |lock, writes| waiting(&[(lock, writes)], 1, 1);
        assert_eq!(calls([of(1, true), of(2, true), of(3, true)], 9), [[[1], [2], [3]]]);
        assert_eq!(calls([of(1, true), of(2, true), of(1, false)], 9), [vec![[1], [2]], vec![[1]]]);
        assert_eq!(
            calls([of(1, false), of(1, false), of(1, true)], 9),
            [vec![[1], [1]], vec![[1]]]
        );
        let several = [of(1, true), of(1, true), of(2, true), of(1, true)];
        assert_eq!(calls(several, 9), [vec![[1], [2]], vec![[1]], vec![[1]]]);
    }

    #[test]
    fn a_call_has_so_many_batches_items_bytes_and_locks_but_the_first_goes_whatever_it_is() {
        let sizes = |all: Vec<Waiting>, most_locks| {
            calls(all, most_locks).iter().map(Vec::len).collect::<Vec<_>>()
        };
        let small = |lock| waiting(&[(lock, true)], 1, 1);
        assert_eq!(sizes((0..130).map(small).collect(), 1_000), [64, 64, 2]);
        assert_eq!(sizes((0..5).map(small).collect(), 2), [2, 2, 1]);
        let rows = |rows| move |lock| waiting(&[(lock, true)], rows, 1);
        assert_eq!(sizes((0..3).map(rows(ITEMS / 2)).collect(), 9), [2, 1]);
        assert_eq!(sizes((0..3).map(rows(ITEMS + 1)).collect(), 9), [1, 1, 1]);
        let bytes = |lock| waiting(&[(lock, true)], 1, BYTES / 2);
        assert_eq!(sizes((0..3).map(bytes).collect(), 9), [2, 1]);
        let many: Vec<_> = (0..9).map(|lock| (lock, true)).collect();
        assert_eq!(sizes(vec![waiting(&many, 1, 1), small(20)], 2), [1, 1]);
    }
}
