//! Locks of customers within a process (`docs/decisions/locks-with-async-lock.md`).

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use async_lock::{Semaphore, SemaphoreGuardArc};

use crate::{AccountId, CustomerId, IdOr};

/// Locks that make the writers of one customer queue within this process.
///
/// An optimization: correctness rests on preconditions, and without the locks writers only lose
/// more races. Each has one permit: unlike a mutex of the same crate, which looks at a clock of its own
/// to be fair, it lets those in who are polled first, so that a run can be repeated.
pub(in crate::engine) struct Stripes(Vec<Arc<Semaphore>>);

/// Number of locks: enough that two customers rarely share one.
const STRIPES: usize = 1024;

/// Locks that an operation holds, over all of its runs.
pub(in crate::engine) struct Held<'a> {
    stripes: &'a Stripes,
    guards: BTreeMap<usize, SemaphoreGuardArc>,
}

impl Stripes {
    pub(in crate::engine) fn new() -> Self {
        Self((0..STRIPES).map(|_| Arc::new(Semaphore::new(1))).collect())
    }

    pub(in crate::engine) const fn hold_none(&self) -> Held<'_> {
        Held { stripes: self, guards: BTreeMap::new() }
    }

    fn index(&self, account: &AccountId, customer: &IdOr<CustomerId>) -> usize {
        let mut hasher = DefaultHasher::new();
        (account, customer).hash(&mut hasher);
        let hash = usize::try_from(hasher.finish() >> 1).unwrap_or(0);
        hash.checked_rem(self.0.len()).unwrap_or(0)
    }
}

impl Held<'_> {
    /// Returns the locks of some customers together with those that are held; none where all of the
    /// customers' are held.
    pub(in crate::engine) fn missing(
        &self,
        account: &AccountId,
        customers: &[IdOr<CustomerId>],
    ) -> Option<BTreeSet<usize>> {
        let wanted = customers.iter().map(|customer| self.stripes.index(account, customer));
        let wanted: BTreeSet<usize> = wanted.collect();
        let all_held = wanted.iter().all(|index| self.guards.contains_key(index));
        (!all_held).then(|| wanted.into_iter().chain(self.guards.keys().copied()).collect())
    }

    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.guards.is_empty()
    }

    /// Makes the writers of a customer in this process wait for a read that they have spoilt once: one
    /// that takes longer than they do would lose every race.
    pub(in crate::engine) async fn keep_out_writers(
        &mut self,
        account: &AccountId,
        customer: CustomerId,
    ) {
        if let Some(wanted) = self.missing(account, &[IdOr::Id(customer)]) {
            self.take(wanted).await;
        }
    }

    /// Takes these locks and no others, in ascending order: nobody waits in a circle.
    pub(in crate::engine) async fn take(&mut self, wanted: BTreeSet<usize>) {
        if self.guards.keys().eq(&wanted) {
            return;
        }
        self.guards.clear();
        for index in wanted {
            if let Some(stripe) = self.stripes.0.get(index) {
                self.guards.insert(index, stripe.acquire_arc().await);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SeededEntropy, Timestamp};

    #[test]
    fn locks_that_are_held_stay_among_those_that_are_wanted() {
        let stripes = Stripes::new();
        let account = AccountId::parse("acme").unwrap();
        let entropy = SeededEntropy::new(1);
        let [one, two] = [(); 2].map(|()| IdOr::Id(CustomerId::generate(Timestamp::MIN, &entropy)));
        let mut held = stripes.hold_none();
        let first = held.missing(&account, std::slice::from_ref(&one)).unwrap();
        pollster::block_on(held.take(first));
        assert_eq!(held.missing(&account, std::slice::from_ref(&one)), None);
        let both = held.missing(&account, std::slice::from_ref(&two)).unwrap();
        assert_eq!(both.len(), 2);
        pollster::block_on(held.take(both));
        assert_eq!(held.missing(&account, &[one, two]), None);
    }
}
