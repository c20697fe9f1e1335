//! What callers tell while they ask.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{sync::Notify, time::Instant};

/// What callers of a round have been answered so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    told: Mutex<Told>,
    changed: Notify,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct Told {
    answers: usize,
    /// From when on requests are sent of which one waits for the first answer.
    since: Option<Instant>,
    first: Option<Instant>,
    /// What came instead of answers.
    doubts: BTreeMap<String, usize>,
}

impl Progress {
    /// An answer came to what was sent at this instant.
    pub(crate) fn answered(&self, sent: Instant) {
        let mut told = self.told();
        told.answers += 1;
        if told.since.is_some_and(|since| since <= sent) {
            told.first.get_or_insert_with(Instant::now);
        }
        drop(told);
        self.changed.notify_one();
    }

    /// Something else came, or nothing.
    pub(crate) fn doubted(&self, what: String) {
        *self.told().doubts.entry(what).or_default() += 1;
    }

    /// Waits for so many more answers.
    pub(crate) async fn more(&self, answers: usize) {
        let enough = self.told().answers + answers;
        while self.told().answers < enough {
            self.changed.notified().await;
        }
    }

    /// What is sent from now on is what one waits for the first answer of.
    pub(crate) fn mark(&self) {
        let mut told = self.told();
        (told.since, told.first) = (Some(Instant::now()), None);
    }

    /// Waits for the first answer to what was sent since the [mark](Self::mark), and says when it came.
    pub(crate) async fn first(&self) -> Instant {
        loop {
            let first = self.told().first;
            match first {
                Some(first) => return first,
                None => self.changed.notified().await,
            }
        }
    }

    /// Returns what came instead of answers.
    pub(crate) fn doubts(&self) -> BTreeMap<String, usize> {
        self.told().doubts.clone()
    }

    /// Lets callers end what they have begun, and ask no more.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
