//! The handle that a host embeds: a store, a clock, entropy, and what all clones share.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use super::{Account, decoded::Decoded, in_flight::InFlight, stripes::Stripes};
use crate::{AccountId, Clock, Entropy, Timestamp, store::Store};

/// The handle on a store: what a host embeds. Cheap to clone; all clones are one.
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

/// What all clones share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) stripes: Stripes,
    pub(super) in_flight: Arc<InFlight>,
    pub(super) decoded: Decoded,
    clock: Arc<dyn Clock>,
    latest: AtomicI64,
}

impl Billing {
    /// Makes a handle on a store, with the clock and the entropy that the host hands in.
    pub fn new(store: impl Store, clock: impl Clock, entropy: impl Entropy) -> Self {
        Self(Arc::new(Shared {
            store: Arc::new(store),
            entropy: Arc::new(entropy),
            stripes: Stripes::new(),
            in_flight: Arc::default(),
            decoded: Decoded::new(),
            clock: Arc::new(clock),
            latest: AtomicI64::new(Timestamp::MIN.micros()),
        }))
    }

    /// Makes a handle on a store, with the machine's clock and entropy.
    #[cfg(feature = "system")]
    pub fn with_system(store: impl Store) -> Self {
        Self::new(store, crate::SystemClock, crate::SystemEntropy)
    }

    /// Returns the handle on an account. It need not be configured first.
    #[must_use]
    pub fn account(&self, id: AccountId) -> Account {
        Account::new(self.clone(), id)
    }

    /// Returns the present instant by the clock that was handed in; it never goes back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Returns how far [`now`](Self::now) is ahead of the clock, where that was set back: none where
    /// it was not, or has caught up since.
    ///
    /// Until it has, the present instant stands still, and how old events are is judged by it. A host
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
        // Before the clock: whoever moves it on meanwhile makes no lag.
        let latest = self.0.latest.load(Ordering::SeqCst);
        let micros = latest.saturating_sub(self.0.clock.now().micros());
        u64::try_from(micros).ok().filter(|micros| *micros > 0).map(Duration::from_micros)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0
    }
}

impl Shared {
    /// Returns the present instant, which never goes back.
    pub(super) fn now(&self) -> Timestamp {
        let now = self.clock.now();
        let latest = self.latest.fetch_max(now.micros(), Ordering::SeqCst);
        Timestamp::from_micros(latest).map_or(now, |latest| latest.max(now))
    }
}

impl fmt::Debug for Billing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Billing").field("store", &self.0.store).finish_non_exhaustive()
    }
}
