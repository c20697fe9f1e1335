use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    num::NonZeroU32,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use accrue::{AccountId, Billing, Timestamp};

use super::{Category, Exceeded, Quota, Quotas, RateLimit};

/// Limits each account by the same [`Quotas`], on the clock of the engine, within this process.
///
/// A quota fills again steadily: of 60 a minute, one comes back each second. A batch of more events
/// than the quota has can never pass, and is refused for good ([`Exceeded::TooMuch`]) rather than told
/// to wait.
pub struct RateLimits {
    billing: Billing,
    since: Timestamp,
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
        let limiters = by_category.into_iter();
        let limiters =
            limiters.filter_map(|(category, quota)| Some((category, Limiter::new(quota?))));
        let (billing, since) = (billing.clone(), billing.now());
        Self { billing, since, limiters: limiters.collect(), quotas }
    }

    /// The time that has passed since the limits were set up.
    fn elapsed(&self) -> Duration {
        let micros = self.billing.now().micros().saturating_sub(self.since.micros());
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

impl RateLimit for RateLimits {
    fn take(
        &self,
        account: &AccountId,
        category: Category,
        amount: NonZeroU32,
    ) -> Result<(), Exceeded> {
        let limiter = self.limiters.get(&category);
        limiter.map_or(Ok(()), |limiter| limiter.take(account, amount, self.elapsed()))
    }

    fn give_back(&self, account: &AccountId, category: Category, amount: NonZeroU32) {
        if let Some(limiter) = self.limiters.get(&category) {
            limiter.give_back(account, amount, self.elapsed());
        }
    }
}

impl fmt::Debug for RateLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RateLimits").field(&self.quotas).finish()
    }
}

/// What one category is limited by: the generic cell rate algorithm, in exact numbers.
///
/// Time is counted in nanoseconds times the amount of the quota, so that one of it takes a whole
/// period of them to come back.
struct Limiter {
    quota: Quota,
    accounts: Mutex<Accounts>,
}

struct Accounts {
    /// When the quota of an account is full again. One that is not here has a full one.
    full_at: HashMap<AccountId, u128>,
    /// How many there may be before those are forgotten whose quota is full.
    room: usize,
}

/// The fewest accounts that are worth looking through.
const ROOM: usize = 1_024;

impl Limiter {
    fn new(quota: Quota) -> Self {
        Self { quota, accounts: Mutex::new(Accounts { full_at: HashMap::new(), room: ROOM }) }
    }

    fn take(
        &self,
        account: &AccountId,
        amount: NonZeroU32,
        elapsed: Duration,
    ) -> Result<(), Exceeded> {
        let most = self.quota.amount();
        if amount > most {
            return Err(Exceeded::TooMuch { most });
        }
        let (now, whole) = (self.scaled(elapsed), self.cost(most));
        let mut accounts = self.accounts();
        let before = accounts.full_at.get(account).copied().unwrap_or(now).max(now);
        let after = before.saturating_add(self.cost(amount));
        let missing = after.saturating_sub(now.saturating_add(whole));
        if missing > 0 {
            let nanos = missing.div_ceil(u128::from(most.get()));
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
            return Err(Exceeded::Wait(Duration::from_nanos(nanos)));
        }
        accounts.full_at.insert(account.clone(), after);
        accounts.forget_the_idle(now);
        Ok(())
    }

    fn give_back(&self, account: &AccountId, amount: NonZeroU32, elapsed: Duration) {
        let now = self.scaled(elapsed);
        let mut accounts = self.accounts();
        let Some(full_at) = accounts.full_at.get_mut(account) else { return };
        *full_at = full_at.saturating_sub(self.cost(amount));
        if *full_at <= now {
            accounts.full_at.remove(account);
        }
    }

    fn scaled(&self, elapsed: Duration) -> u128 {
        elapsed.as_nanos().saturating_mul(u128::from(self.quota.amount().get()))
    }

    /// How long an amount takes to come back.
    fn cost(&self, amount: NonZeroU32) -> u128 {
        self.quota.period().as_nanos().saturating_mul(u128::from(amount.get()))
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        // It is changed in steps that cannot panic.
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Accounts {
    /// Forgets accounts whose quota is full, each time that there are twice as many as were kept the
    /// last time: memory is bounded by who is busy, and the work by what is taken.
    fn forget_the_idle(&mut self, now: u128) {
        if self.full_at.len() <= self.room {
            return;
        }
        self.full_at.retain(|_, full_at| *full_at > now);
        self.full_at.shrink_to_fit();
        self.room = self.full_at.len().saturating_mul(2).max(ROOM);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn account(name: &str) -> AccountId {
        AccountId::parse(name).unwrap()
    }

    fn amount(amount: u32) -> NonZeroU32 {
        NonZeroU32::new(amount).unwrap()
    }

    #[test]
    fn accounts_that_are_idle_are_forgotten() {
        let (limiter, mut now) = (Limiter::new(Quota::per_second(amount(2))), Duration::ZERO);
        let kept = || limiter.accounts().full_at.len();
        for round in 0..3 {
            for number in 0..=ROOM {
                limiter.take(&account(&format!("{round}-{number}")), amount(1), now).unwrap();
            }
            now += Duration::from_secs(5);
        }
        assert!(kept() <= ROOM + 1, "{}", kept());
        // One that is busy is not.
        let busy = account("busy");
        limiter.take(&busy, amount(2), now).unwrap();
        for number in 0..=2 * ROOM {
            limiter.take(&account(&format!("other-{number}")), amount(1), now).unwrap();
        }
        assert!(limiter.take(&busy, amount(1), now).is_err());
    }

    #[test]
    fn no_quota_and_no_time_overflows() {
        let acme = account("acme");
        for most in [1, 7, u32::MAX] {
            for quota in [Quota::per_second, Quota::per_minute, Quota::per_hour] {
                let limiter = Limiter::new(quota(amount(most)));
                let zero = Duration::ZERO;
                assert_eq!(limiter.take(&acme, amount(most), zero), Ok(()));
                let more = limiter.take(&acme, amount(most), zero);
                assert!(matches!(more, Err(Exceeded::Wait(_))), "{more:?}");
                let more = limiter.take(&acme, amount(u32::MAX), zero);
                if most < u32::MAX {
                    assert_eq!(more, Err(Exceeded::TooMuch { most: amount(most) }));
                }
                limiter.take(&acme, amount(most), Duration::MAX).unwrap();
            }
        }
    }

    #[test]
    fn what_is_given_back_can_be_taken_at_once() {
        let (limiter, acme, zero) =
            (Limiter::new(Quota::per_minute(amount(6))), account("acme"), Duration::ZERO);
        limiter.take(&acme, amount(6), zero).unwrap();
        limiter.give_back(&acme, amount(4), zero);
        limiter.take(&acme, amount(4), zero).unwrap();
        let wait = Exceeded::Wait(Duration::from_secs(10));
        assert_eq!(limiter.take(&acme, amount(1), zero), Err(wait));
        // More than the whole quota is never there.
        limiter.give_back(&acme, amount(6), zero);
        limiter.give_back(&acme, amount(6), zero);
        limiter.take(&acme, amount(6), zero).unwrap();
        assert!(limiter.take(&acme, amount(1), zero).is_err());
    }

    proptest! {
        /// The same as a bucket that is full at first, and gets one each time that a part of the
        /// period has passed; counted in thirds, so that nothing is rounded.
        #[test]
        fn a_quota_is_a_bucket_that_fills_steadily(
            steps in prop::collection::vec((0_u64..4, 1_u32..4, any::<bool>()), 1..60),
        ) {
            let limiter = Limiter::new(Quota::per_second(amount(3)));
            let (acme, mut now, mut thirds) = (account("acme"), 0_u64, 9_u64);
            for (seconds, wanted, is_returned) in steps {
                now += seconds;
                thirds = (thirds + 9 * seconds).min(9);
                let elapsed = Duration::from_secs(now);
                let fits = u64::from(wanted) * 3 <= thirds;
                prop_assert_eq!(limiter.take(&acme, amount(wanted), elapsed).is_ok(), fits);
                if fits && is_returned {
                    limiter.give_back(&acme, amount(wanted), elapsed);
                } else if fits {
                    thirds -= u64::from(wanted) * 3;
                }
            }
        }
    }
}
