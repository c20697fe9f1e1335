//! What a worker counts, for the host to export.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use accrue::{Error, FannedOut, webhook::Answer};

use crate::transport::with_causes;

/// What a worker has done since it was made.
#[derive(Debug, Default)]
pub struct Counters {
    fanned_out: AtomicU64,
    not_fanned_out: AtomicU64,
    delivered: AtomicU64,
    failed: AtomicU64,
    disabled: AtomicU64,
    store_failures: AtomicU64,
    last_failure: Mutex<Option<String>>,
}

impl Counters {
    /// Messages whose bodies were written.
    pub fn messages(&self) -> u64 {
        self.fanned_out.load(Relaxed)
    }

    /// Messages whose bodies could not be written, counted each time that it was tried.
    pub fn failed_messages(&self) -> u64 {
        self.not_fanned_out.load(Relaxed)
    }

    /// Attempts that an endpoint has answered with 2xx.
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Relaxed)
    }

    /// Attempts that failed.
    pub fn failed_attempts(&self) -> u64 {
        self.failed.load(Relaxed)
    }

    /// Endpoints that were disabled because they are gone, or have failed for too long.
    pub fn disabled_endpoints(&self) -> u64 {
        self.disabled.load(Relaxed)
    }

    /// Failures of the store, after which the worker went on.
    pub fn store_failures(&self) -> u64 {
        self.store_failures.load(Relaxed)
    }

    /// The last of them, with its causes.
    pub fn last_store_failure(&self) -> Option<String> {
        self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn fanned_out(&self, of: &FannedOut) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        self.fanned_out.fetch_add(count(of.taken), Relaxed);
        self.not_fanned_out.fetch_add(count(of.failed), Relaxed);
    }

    pub(crate) fn attempted(&self, answer: &Answer) {
        let counter = if answer.is_success() { &self.delivered } else { &self.failed };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn disabled(&self) {
        self.disabled.fetch_add(1, Relaxed);
    }

    pub(crate) fn failed(&self, error: &Error) {
        self.store_failures.fetch_add(1, Relaxed);
        let mut last = self.last_failure.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(with_causes(error));
    }
}
