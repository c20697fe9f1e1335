//! State that all clones of a handle share, with the work that comes before a command.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use event_listener::Event;

use super::{
    Decoded, Patience, in_flight::InFlight, resident::Residents, stripes::Stripes,
    together::Together,
};
use crate::{
    AccountId, Clock, Entropy, Error, Timestamp,
    schema::Owner,
    store::{Key, Store},
};

/// State that all clones of a handle share.
pub(in crate::engine) struct Shared {
    pub(in crate::engine) store: Arc<dyn Store>,
    pub(in crate::engine) entropy: Arc<dyn Entropy>,
    pub(in crate::engine) stripes: Stripes,
    pub(in crate::engine) together: Together,
    pub(in crate::engine) in_flight: Arc<InFlight>,
    pub(in crate::engine) decoded: Decoded,
    pub(in crate::engine) residents: Residents,
    pub(in crate::engine) first: &'static dyn CatchUp,
    /// Tells those who send messages that there is something to send.
    pub(in crate::engine) to_send: Event,
    /// Up to where this process has fanned messages out, where it has not come to the end.
    pub(in crate::engine) fanned_out: Mutex<Option<Key>>,
    /// Name of the host, where an operation is of no account.
    pub(in crate::engine) host: AccountId,
    clock: Arc<dyn Clock>,
    latest: AtomicI64,
}

impl Shared {
    pub(in crate::engine) fn new(
        store: impl Store,
        clock: impl Clock,
        entropy: impl Entropy,
        first: &'static dyn CatchUp,
    ) -> Self {
        Self {
            store: Arc::new(store),
            entropy: Arc::new(entropy),
            stripes: Stripes::new(),
            together: Together::default(),
            in_flight: Arc::default(),
            decoded: Decoded::new(),
            residents: Residents::new(),
            first,
            to_send: Event::new(),
            fanned_out: Mutex::default(),
            host: AccountId::host(),
            clock: Arc::new(clock),
            latest: AtomicI64::new(Timestamp::MIN.micros()),
        }
    }

    /// Returns the present instant, which never goes back.
    pub(in crate::engine) fn now(&self) -> Timestamp {
        let now = self.clock.now();
        let latest = self.latest.fetch_max(now.micros(), Ordering::SeqCst);
        Timestamp::from_micros(latest).map_or(now, |latest| latest.max(now))
    }

    /// Returns the time by which that is ahead of the clock; none where it is not.
    pub(super) fn clock_lag(&self) -> Option<Duration> {
        // Before the clock: whoever moves it on meanwhile makes no lag.
        let latest = self.latest.load(Ordering::SeqCst);
        let micros = latest.saturating_sub(self.clock.now().micros());
        u64::try_from(micros).ok().filter(|micros| *micros > 0).map(Duration::from_micros)
    }
}

/// Catching up: applies the transitions that time has brought, in commits of its own.
#[async_trait]
pub(in crate::engine) trait CatchUp: Send + Sync {
    /// Applies those of some owners, or fails where patience ends before.
    async fn catch_up(
        &self,
        shared: &Shared,
        account: &AccountId,
        owners: &[Owner],
        patience: &mut Patience,
    ) -> Result<(), Error>;
}
