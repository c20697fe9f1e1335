use std::{
    collections::BTreeMap,
    fmt,
    num::NonZeroU32,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use accrue::{AccountId, Billing, Timestamp};
use governor::{
    RateLimiter, clock::Clock, middleware::NoOpMiddleware, nanos::Nanos,
    state::keyed::HashMapStateStore,
};

use super::{Exceeded, Quota, Quotas, RateLimit};
use crate::Category;

/// Limits each account by the same [`Quotas`], on the clock of the engine, within this process.
///
/// A quota fills again steadily: of 60 a minute, one comes back each second. A batch of more events
/// than the quota has can never pass, and is refused for good ([`Exceeded::TooMuch`]) rather than told
/// to wait.
pub struct RateLimits {
    limiters: BTreeMap<Category, Limiter>,
    quotas: Quotas,
}

impl RateLimits {
    /// Limits by these quotas.
    #[must_use]
    pub fn new(billing: &Billing, quotas: Quotas) -> Self {
        let by_category = [
            (Category::Analytics, quotas.analytics),
            (Category::Ledger, quotas.ledger),
            (Category::Reads, quotas.reads),
            (Category::Writes, quotas.writes),
            (Category::IngestRequests, quotas.ingest_requests),
            (Category::IngestEvents, quotas.ingest_events),
        ];
        let limiters = by_category
            .into_iter()
            .filter_map(|(category, quota)| Some((category, Limiter::new(billing, quota?))));
        Self { limiters: limiters.collect(), quotas }
    }
}

impl RateLimit for RateLimits {
    fn take(
        &self,
        account: &AccountId,
        category: Category,
        amount: NonZeroU32,
    ) -> Result<(), Exceeded> {
        self.limiters.get(&category).map_or(Ok(()), |limiter| limiter.take(account, amount))
    }
}

impl fmt::Debug for RateLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RateLimits").field(&self.quotas).finish()
    }
}

/// What one category is limited by.
struct Limiter {
    buckets: RateLimiter<AccountId, HashMapStateStore<AccountId>, Elapsed, NoOpMiddleware<Nanos>>,
    clock: Elapsed,
    most: NonZeroU32,
    /// How many accounts there may be before those are forgotten whose quota is full.
    room: AtomicUsize,
}

/// The fewest accounts that are worth looking through.
const ROOM: usize = 1_024;

impl Limiter {
    fn new(billing: &Billing, quota: Quota) -> Self {
        let most = quota.amount();
        // A quota of more than one each nanosecond is one of one each nanosecond.
        let each = (quota.period() / most.get()).max(Duration::from_nanos(1));
        let quota = governor::Quota::with_period(each)
            .expect("it is at least a nanosecond")
            .allow_burst(most);
        let clock = Elapsed { billing: billing.clone(), since: billing.now() };
        let buckets = RateLimiter::new(quota, HashMapStateStore::default(), clock.clone());
        Self { buckets, clock, most, room: AtomicUsize::new(ROOM) }
    }

    fn take(&self, account: &AccountId, amount: NonZeroU32) -> Result<(), Exceeded> {
        let too_much = Exceeded::TooMuch { most: self.most };
        // Before the limiter multiplies it.
        if amount > self.most {
            return Err(too_much);
        }
        let taken = self.buckets.check_key_n(account, amount).map_err(|_| too_much)?;
        self.forget_the_idle();
        taken.map_err(|until| Exceeded::Wait(until.wait_time_from(self.clock.now())))
    }

    /// Forgets accounts whose quota is full, each time that there are twice as many as were kept the
    /// last time: memory is bounded by who is busy, and the work by what is taken.
    fn forget_the_idle(&self) {
        if self.buckets.len() <= self.room.load(Ordering::Relaxed) {
            return;
        }
        self.buckets.retain_recent();
        self.buckets.shrink_to_fit();
        let room = self.buckets.len().saturating_mul(2).max(ROOM);
        self.room.store(room, Ordering::Relaxed);
    }
}

/// The clock of the engine, as the time that has passed since the limits were set up.
#[derive(Clone)]
struct Elapsed {
    billing: Billing,
    since: Timestamp,
}

impl Clock for Elapsed {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        let micros = self.billing.now().micros().saturating_sub(self.since.micros());
        let nanos = u64::try_from(micros).unwrap_or(0).saturating_mul(1_000);
        // After 292 years it stands still: what is added to it must not overflow.
        Nanos::new(nanos.min(u64::MAX / 2))
    }
}

#[cfg(test)]
mod tests {
    use accrue::{ManualClock, SeededEntropy, store::MemoryStore};

    use super::*;

    fn account(name: &str) -> AccountId {
        AccountId::parse(name).unwrap()
    }

    fn engine() -> (Billing, ManualClock) {
        let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
        (Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1)), clock)
    }

    fn amount(amount: u32) -> NonZeroU32 {
        NonZeroU32::new(amount).unwrap()
    }

    #[test]
    fn accounts_that_are_idle_are_forgotten() {
        let (billing, clock) = engine();
        let limiter = Limiter::new(&billing, Quota::per_second(amount(2)));
        for round in 0..3 {
            for number in 0..=ROOM {
                limiter.take(&account(&format!("{round}-{number}")), amount(1)).unwrap();
            }
            clock.advance(Duration::from_secs(5));
        }
        assert!(limiter.buckets.len() <= ROOM + 1, "{}", limiter.buckets.len());
        // One that is busy is not.
        let busy = account("busy");
        limiter.take(&busy, amount(2)).unwrap();
        for number in 0..=2 * ROOM {
            limiter.take(&account(&format!("other-{number}")), amount(1)).unwrap();
        }
        assert!(limiter.take(&busy, amount(1)).is_err());
    }

    #[test]
    fn no_quota_and_no_time_overflows() {
        let (billing, clock) = engine();
        for most in [1, 7, u32::MAX] {
            for quota in [Quota::per_second, Quota::per_minute, Quota::per_hour] {
                let limiter = Limiter::new(&billing, quota(amount(most)));
                let acme = account("acme");
                assert_eq!(limiter.take(&acme, amount(most)), Ok(()));
                assert!(matches!(limiter.take(&acme, amount(most)), Err(Exceeded::Wait(_))));
                let more = limiter.take(&acme, amount(u32::MAX));
                if most < u32::MAX {
                    assert_eq!(more, Err(Exceeded::TooMuch { most: amount(most) }));
                }
            }
        }
        let limiter = Limiter::new(&billing, Quota::per_hour(amount(1)));
        let acme = account("acme");
        limiter.take(&acme, amount(1)).unwrap();
        clock.set(Timestamp::MAX);
        limiter.take(&acme, amount(1)).unwrap();
    }
}
