use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use accrue::AccountId;

use crate::problem::Problem;

/// The bytes of the bodies that are in flight: bounded, of all accounts and of each.
#[derive(Debug)]
pub(crate) struct Bodies {
    most: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    by_account: HashMap<AccountId, usize>,
}

/// The bytes that the body of one request takes until it is answered.
#[derive(Debug)]
pub(crate) struct Share<'a> {
    bodies: &'a Bodies,
    account: AccountId,
    bytes: usize,
}

impl Bodies {
    /// A body up to here is not counted, so that large ones keep nobody from small ones.
    const SMALL: usize = 64 * 1024;
    /// When it may fit: large bodies do not take long.
    const WAIT: Duration = Duration::from_secs(1);

    pub(crate) fn new(most: usize) -> Self {
        Self { most, used: Mutex::default() }
    }

    /// Begins the share of a request: nothing yet.
    pub(crate) fn share(&self, account: &AccountId) -> Share<'_> {
        Share { bodies: self, account: account.clone(), bytes: 0 }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        // It is changed in steps that cannot panic.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share<'_> {
    /// Takes more where it fits beside the others: an account may have half of all. What is alone
    /// always fits.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        let before = self.counted();
        self.bytes = self.bytes.saturating_add(bytes);
        let more = self.counted().saturating_sub(before);
        if more == 0 {
            return Ok(());
        }
        let mut used = self.bodies.used();
        let of_account = used.by_account.get(&self.account).copied().unwrap_or_default();
        let most = self.bodies.most;
        let fits = |used: usize, most: usize| used == before || used.saturating_add(more) <= most;
        if !fits(used.all, most) || !fits(of_account, most / 2) {
            self.bytes = self.bytes.saturating_sub(bytes);
            return Err(Problem::too_many_bytes(Bodies::WAIT));
        }
        used.all = used.all.saturating_add(more);
        let own = used.by_account.entry(self.account.clone()).or_default();
        *own = own.saturating_add(more);
        Ok(())
    }

    fn counted(&self) -> usize {
        if self.bytes > Bodies::SMALL { self.bytes } else { 0 }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let counted = self.counted();
        if counted == 0 {
            return;
        }
        let mut used = self.bodies.used();
        used.all = used.all.saturating_sub(counted);
        if let Some(own) = used.by_account.get_mut(&self.account) {
            *own = own.saturating_sub(counted);
            if *own == 0 {
                used.by_account.remove(&self.account);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str) -> AccountId {
        AccountId::parse(name).unwrap()
    }

    const KIB: usize = 1024;

    #[test]
    fn an_account_may_have_half_and_all_together_the_whole() {
        let bodies = Bodies::new(400 * KIB);
        let [one, two, three] = ["one", "two", "three"].map(account);
        let mut first = bodies.share(&one);
        first.take(100 * KIB).unwrap();
        let mut second = bodies.share(&one);
        second.take(100 * KIB).unwrap();
        assert!(second.take(1).is_err());
        let mut other = bodies.share(&two);
        other.take(200 * KIB).unwrap();
        assert!(bodies.share(&three).take(65 * KIB).is_err());
        drop(first);
        bodies.share(&three).take(100 * KIB).unwrap();
        second.take(100 * KIB).unwrap();
    }

    #[test]
    fn small_bodies_are_not_counted_and_one_alone_always_fits() {
        let bodies = Bodies::new(100 * KIB);
        let [one, two] = ["one", "two"].map(account);
        let mut large = bodies.share(&one);
        for _ in 0..10 {
            large.take(100 * KIB).unwrap();
        }
        let mut small = bodies.share(&two);
        small.take(64 * KIB).unwrap();
        assert!(small.take(1).is_err());
        drop(large);
        small.take(1).unwrap();
    }

    #[test]
    fn what_was_answered_takes_nothing() {
        let bodies = Bodies::new(400 * KIB);
        let mut refused = bodies.share(&account("one"));
        refused.take(100 * KIB).unwrap();
        let mut other = bodies.share(&account("one"));
        assert!(other.take(101 * KIB).is_err());
        drop((refused, other));
        let used = bodies.used();
        assert_eq!((used.all, used.by_account.len()), (0, 0));
    }
}
