use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

/// How far the writer is: which groups are applied, and which are durable.
///
/// Groups are numbered from one. Who reads learns which groups were applied to what it saw, and can
/// tell from that whether it has to wait.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    applied: RwLock<u64>,
    durable: AtomicU64,
}

impl Progress {
    /// Reads one instant: no group is applied meanwhile. Returns also the last group applied.
    pub(crate) fn look<T>(&self, read: impl FnOnce() -> T) -> (T, u64) {
        let applied = self.applied.read().unwrap_or_else(PoisonError::into_inner);
        (read(), *applied)
    }

    /// Applies one group, invisible to readers until it is whole.
    ///
    /// It is counted before it is applied: whoever sees any of it waits.
    pub(crate) fn apply<T>(&self, apply: impl FnOnce() -> T) -> T {
        let mut applied = self.applied.write().unwrap_or_else(PoisonError::into_inner);
        *applied = applied.saturating_add(1);
        apply()
    }

    /// Notes that every group applied is durable. For the writer only, which alone applies.
    pub(crate) fn all_durable(&self) {
        let applied = self.applied.read().unwrap_or_else(PoisonError::into_inner);
        self.durable.store(*applied, Ordering::Release);
    }

    /// Tells whether this group, and so all before it, are durable.
    pub(crate) fn is_durable(&self, group: u64) -> bool {
        group <= self.durable.load(Ordering::Acquire)
    }
}
