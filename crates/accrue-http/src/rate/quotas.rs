use std::{num::NonZeroU32, time::Duration};

/// How much an account may do in a time, at once or spread over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    amount: NonZeroU32,
    period: Duration,
}

impl Quota {
    /// So much each second.
    #[must_use]
    pub const fn per_second(amount: NonZeroU32) -> Self {
        Self { amount, period: Duration::from_secs(1) }
    }

    /// So much each minute.
    #[must_use]
    pub const fn per_minute(amount: NonZeroU32) -> Self {
        Self { amount, period: Duration::from_secs(60) }
    }

    /// So much each hour.
    #[must_use]
    pub const fn per_hour(amount: NonZeroU32) -> Self {
        Self { amount, period: Duration::from_secs(60 * 60) }
    }

    /// How much.
    #[must_use]
    pub const fn amount(self) -> NonZeroU32 {
        self.amount
    }

    /// In which time.
    #[must_use]
    pub const fn period(self) -> Duration {
        self.period
    }
}

/// The quotas of an account by category. None is no limit, as everywhere in [`Quotas::default`].
///
/// ```
/// use std::num::NonZeroU32;
/// use accrue_http::{Quota, Quotas};
///
/// // The quotas of the published API, but for events.
/// let events = NonZeroU32::new(100_000).map(Quota::per_minute);
/// let quotas = Quotas { ingest_events: events, ..Quotas::live() };
/// assert_eq!(quotas.writes, NonZeroU32::new(50).map(Quota::per_second));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Usage and costs of subscriptions, and costs of customers, in requests.
    pub analytics: Option<Quota>,
    /// Credit balances of customers, in requests.
    pub ledger: Option<Quota>,
    /// Everything else that reads, in requests.
    pub reads: Option<Quota>,
    /// Everything that writes, but for ingest, in requests.
    pub writes: Option<Quota>,
    /// Ingest, in requests.
    pub ingest_requests: Option<Quota>,
    /// Ingest, in events.
    pub ingest_events: Option<Quota>,
}

impl Quotas {
    /// The quotas of the published API for live accounts (wire 6.7).
    #[must_use]
    pub const fn live() -> Self {
        Self::published([10, 10, 100, 50, 100], 10_000)
    }

    /// The quotas of the published API for test accounts (wire 6.7).
    #[must_use]
    pub const fn test() -> Self {
        Self::published([5, 5, 50, 5, 10], 2_000)
    }

    /// The quotas of the published API for trials (wire 6.7).
    #[must_use]
    pub const fn trial() -> Self {
        Self::published([1, 1, 10, 1, 2], 100)
    }

    /// Requests of each second, and events of each minute.
    const fn published(requests: [u32; 5], events: u32) -> Self {
        const fn each_second(amount: u32) -> Option<Quota> {
            match NonZeroU32::new(amount) {
                Some(amount) => Some(Quota::per_second(amount)),
                None => None,
            }
        }
        let [analytics, ledger, reads, writes, ingest_requests] = requests;
        Self {
            analytics: each_second(analytics),
            ledger: each_second(ledger),
            reads: each_second(reads),
            writes: each_second(writes),
            ingest_requests: each_second(ingest_requests),
            ingest_events: match NonZeroU32::new(events) {
                Some(events) => Some(Quota::per_minute(events)),
                None => None,
            },
        }
    }
}
