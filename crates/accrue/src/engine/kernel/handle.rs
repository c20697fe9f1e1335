//! Handles that a host embeds.

use std::{fmt, sync::Arc, time::Duration};

use super::{Shared, Transaction};
use crate::{AccountId, Error, Timestamp, limits};

/// Handle on a store, which a host embeds. Cheap to clone; all clones are one.
///
/// ```
/// use accrue::{AccountId, Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
///
/// let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
/// let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
/// let account = billing.account(AccountId::parse("acme")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Billing(Arc<Shared>);

impl Billing {
    pub(in crate::engine) fn of(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }

    /// Returns the handle on an account. It need not be configured first.
    #[must_use]
    pub fn account(&self, id: AccountId) -> Account {
        Account { billing: self.clone(), id }
    }

    /// Returns the present instant by the clock that was handed in; it never goes back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Returns the time by which [`now`](Self::now) is ahead of the clock, where that was set back:
    /// none where it was not, or has caught up since.
    ///
    /// Until it has, the present instant stands still, and the age of events is judged by it. A host
    /// logs it: only a restart, or that much time, ends it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use accrue::{Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
    ///
    /// let clock = ManualClock::at(Timestamp::parse("2026-03-03T00:00:00Z")?);
    /// let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
    /// let ahead = billing.now();
    /// assert_eq!(billing.clock_lag(), None);
    ///
    /// clock.set(Timestamp::parse("2026-03-01T00:00:00Z")?);
    /// assert_eq!(billing.clock_lag(), Some(Duration::from_secs(2 * 86_400)));
    /// assert_eq!(billing.now(), ahead);
    ///
    /// clock.advance(Duration::from_secs(2 * 86_400));
    /// assert_eq!(billing.clock_lag(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn clock_lag(&self) -> Option<Duration> {
        self.0.clock_lag()
    }

    pub(in crate::engine) fn shared(&self) -> &Shared {
        &self.0
    }
}

impl fmt::Debug for Billing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Billing").field("store", &self.0.store).finish_non_exhaustive()
    }
}

/// Handle on one account (tenant), with its operations. Cheap to clone.
///
/// Resources of another account do not exist here.
#[derive(Clone, Debug)]
pub struct Account {
    billing: Billing,
    id: AccountId,
}

impl Account {
    /// Returns its id.
    #[must_use]
    pub const fn id(&self) -> &AccountId {
        &self.id
    }

    /// Returns the handle that it belongs to.
    #[must_use]
    pub const fn billing(&self) -> &Billing {
        &self.billing
    }

    pub(in crate::engine) fn shared(&self) -> &Shared {
        self.billing.shared()
    }

    /// Reads as of one instant: whatever is found, an error too, is so where all rows that were read still
    /// are as they were. Else it is looked for again.
    ///
    /// `find` takes the transaction and gives it back: of a closure that borrows it nobody could tell that
    /// its future can be sent.
    pub(in crate::engine) async fn at_one_instant<'a, T, F>(
        &'a self,
        find: impl Fn(Transaction<'a>) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = (Transaction<'a>, Result<T, Error>)>,
    {
        for _ in 0..limits::RUNS {
            let (tx, found) = find(self.reading().using_copies()).await;
            if tx.holds().await? {
                return found;
            }
        }
        Err(Error::contended())
    }

    /// Begins a transaction for an operation that only reads.
    pub(in crate::engine) fn reading(&self) -> Transaction<'_> {
        Transaction::dry(self.shared(), &self.id)
    }
}
