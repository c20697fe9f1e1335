use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use accrue::AccountId;

/// How far a request has come: what is known of it where it breaks off.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    account: OnceLock<AccountId>,
    may_have_written: AtomicBool,
    is_dry_run: AtomicBool,
}

impl Progress {
    /// Notes whose request it is.
    pub(crate) fn is_of(&self, account: &AccountId) {
        self.account.get_or_init(|| account.clone());
    }

    /// Notes that what comes now may change something.
    pub(crate) fn writes(&self) {
        self.may_have_written.store(true, Ordering::Relaxed);
    }

    /// Notes that nothing is written for it.
    pub(crate) fn is_dry(&self) {
        self.is_dry_run.store(true, Ordering::Relaxed);
    }

    /// Tells whether nothing is written for it.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.is_dry_run.load(Ordering::Relaxed)
    }

    pub(crate) fn account(&self) -> Option<&AccountId> {
        self.account.get()
    }

    /// Tells whether it may have changed something.
    pub(crate) fn may_have_written(&self) -> bool {
        self.may_have_written.load(Ordering::Relaxed)
    }
}
