//! Locks of customers, and of the queues of endpoints, within a process (`docs/decisions/locks-with-async-lock.md`).

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use async_lock::{Semaphore, SemaphoreGuardArc};

use crate::{
    AccountId, CustomerId, IdOr, WebhookEndpointId, limits,
    store::{Turn, Turns},
};

/// How many of a process's callers have the turn of one place, one after the other, while others wait.
const CALLERS: usize = 16;

/// How many turns a process waits for at a place after a race that it has lost there.
const CONTESTED: usize = 64;

/// Locks that make the writers of one customer, or of the queue of one endpoint, wait for each other within this process,
/// and where races are lost to other processes, for those.
///
/// An optimization: correctness rests on preconditions, and without the locks writers only lose
/// more races. Each has one permit: unlike a mutex of the same crate, which looks at a clock of its own
/// to be fair, it lets those in who are polled first, so that a run can be repeated.
pub(in crate::engine) struct Stripes {
    all: Vec<Arc<Stripe>>,
    /// Queues of the processes, where there are several.
    turns: OnceLock<Arc<dyn Turns>>,
}

/// Lock of the customers that share it, or of the queues that do.
struct Stripe {
    place: u16,
    lock: Arc<Semaphore>,
    /// Callers that have it or wait for it.
    callers: AtomicUsize,
    /// Turns that are waited for yet.
    contested: AtomicUsize,
    kept: Mutex<Kept>,
}

/// Turn of this process at a place.
#[derive(Default)]
struct Kept {
    turn: Option<Turn>,
    callers: usize,
}

/// Lock that a caller has. The turn of the process is passed on where others wait for it here.
struct Holding {
    stripe: Arc<Stripe>,
    permit: Option<SemaphoreGuardArc>,
}

/// Locks that an operation holds, over all of its runs.
pub(in crate::engine) struct Held<'a> {
    stripes: &'a Stripes,
    holdings: BTreeMap<usize, Holding>,
    /// Whether another process was waited for: it has written, most likely.
    came_after: bool,
}

impl Stripes {
    pub(in crate::engine) fn new() -> Self {
        let all = (0..limits::TURNS).map(|place| Arc::new(Stripe::new(place))).collect();
        Self { all, turns: OnceLock::new() }
    }

    /// Has those who lose a race queue with other processes. The first ones that are handed in count.
    pub(in crate::engine) fn take_turns(&self, turns: Arc<dyn Turns>) {
        drop(self.turns.set(turns));
    }

    /// Tells whether other processes write to the store too.
    pub(in crate::engine) fn has_turns(&self) -> bool {
        self.turns.get().is_some()
    }

    pub(in crate::engine) const fn hold_none(&self) -> Held<'_> {
        Held { stripes: self, holdings: BTreeMap::new(), came_after: false }
    }
}

/// Returns the place of the lock of a customer.
pub(in crate::engine) fn of_customer(account: &AccountId, customer: &IdOr<CustomerId>) -> usize {
    place(&(account, customer), limits::CUSTOMER_LOCKS)
}

/// Returns the place of the lock of the queue of an endpoint, behind those of customers.
pub(in crate::engine) fn of_queue(account: &AccountId, endpoint: WebhookEndpointId) -> usize {
    usize::from(limits::CUSTOMER_LOCKS)
        .saturating_add(place(&(account, endpoint), limits::QUEUE_LOCKS))
}

fn place(of: &impl Hash, places: u16) -> usize {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    let hash = usize::try_from(hasher.finish() >> 1).unwrap_or(0);
    hash.checked_rem(usize::from(places)).unwrap_or(0)
}

impl Held<'_> {
    /// Returns some locks together with those that are held; none where all of them are held.
    pub(in crate::engine) fn missing(
        &self,
        wanted: impl IntoIterator<Item = usize>,
    ) -> Option<BTreeSet<usize>> {
        let wanted: BTreeSet<usize> = wanted.into_iter().collect();
        let all_held = wanted.iter().all(|index| self.holdings.contains_key(index));
        (!all_held).then(|| wanted.into_iter().chain(self.holdings.keys().copied()).collect())
    }

    /// Returns the locks that are held.
    pub(in crate::engine) fn all(&self) -> BTreeSet<usize> {
        self.holdings.keys().copied().collect()
    }

    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.holdings.is_empty()
    }

    /// Makes the writers of a customer in this process wait for a read that they have spoilt once: one
    /// that takes longer than they do would lose every race.
    pub(in crate::engine) async fn keep_out_writers(
        &mut self,
        account: &AccountId,
        customer: CustomerId,
    ) {
        if let Some(wanted) = self.missing([of_customer(account, &IdOr::Id(customer))]) {
            self.take(wanted).await;
        }
    }

    /// Takes these locks and no others, in ascending order: nobody waits in a circle. Where races were lost to other
    /// processes lately, it waits for its turns among them too.
    pub(in crate::engine) async fn take(&mut self, wanted: BTreeSet<usize>) {
        if self.holdings.keys().eq(&wanted) {
            return;
        }
        self.holdings.clear();
        let is_one = wanted.len() == 1;
        for index in wanted {
            if let Some(stripe) = self.stripes.all.get(index) {
                let holding = Holding::take(stripe).await;
                if !is_one {
                    // Nobody keeps a turn who waits for a lock: its holder may wait for that turn, by way of another process.
                    stripe.pass_turn();
                }
                self.holdings.insert(index, holding);
            }
        }
        self.came_after = self.wait_for_turns().await;
    }

    /// Tells, once, whether another process was waited for.
    pub(in crate::engine) fn comes_after_others(&mut self) -> bool {
        std::mem::take(&mut self.came_after)
    }

    /// Notes that a race was lost to another process, and waits for its turns: it has to read what others wrote.
    pub(in crate::engine) async fn lose(&mut self) {
        if self.stripes.has_turns() {
            for holding in self.holdings.values() {
                holding.stripe.contested.store(CONTESTED, Relaxed);
            }
            self.wait_for_turns().await;
        }
    }

    /// Waits for the turns of what is held where races were lost lately, and tells whether it has.
    async fn wait_for_turns(&self) -> bool {
        let Some(turns) = self.stripes.turns.get() else { return false };
        let held = || self.holdings.values().map(|holding| &*holding.stripe);
        if held().all(Stripe::goes_on) {
            return false;
        }
        // Whoever waits keeps none of a later place: nobody waits in a circle.
        held().for_each(Stripe::pass_turn);
        for stripe in held().filter(|stripe| stripe.is_contested()) {
            stripe.wait(&**turns).await;
        }
        true
    }
}

impl Stripe {
    fn new(place: u16) -> Self {
        Self {
            place,
            lock: Arc::new(Semaphore::new(1)),
            callers: AtomicUsize::new(0),
            contested: AtomicUsize::new(0),
            kept: Mutex::default(),
        }
    }

    fn is_contested(&self) -> bool {
        self.contested.load(Relaxed) > 0
    }

    /// Has its caller go on where it waits for nobody: the process has the turn, or no race was lost.
    fn goes_on(&self) -> bool {
        let mut kept = self.kept();
        kept.callers = kept.callers.saturating_add(1);
        kept.turn.is_some() || !self.is_contested()
    }

    async fn wait(&self, turns: &dyn Turns) {
        // Without one it goes on: the commit judges it.
        let turn = turns.take(self.place).await.ok().flatten();
        let left = self.contested.load(Relaxed).saturating_sub(1);
        self.contested.store(left, Relaxed);
        *self.kept() = Kept { turn, callers: 1 };
    }

    /// Gives the turn of the process back.
    fn pass_turn(&self) {
        let kept = std::mem::take(&mut *self.kept());
        drop(kept);
    }

    /// Gives the turn back where it has served enough callers, or nobody else here waits for it.
    fn leave(&self) {
        let others = self.callers.fetch_sub(1, Relaxed).saturating_sub(1);
        if others == 0 || self.kept().callers >= CALLERS {
            self.pass_turn();
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holding {
    async fn take(stripe: &Arc<Stripe>) -> Self {
        // It counts as a caller while it waits, also where its future is dropped before it has the lock.
        let mut holding = Self { stripe: Arc::clone(stripe), permit: None };
        stripe.callers.fetch_add(1, Relaxed);
        holding.permit = Some(stripe.lock.acquire_arc().await);
        holding
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        match self.permit.take() {
            // The turn first: whoever gets the lock then waits for its own.
            Some(permit) => {
                self.stripe.leave();
                drop(permit);
            }
            // A turn that was kept for it is kept for nobody.
            None if self.stripe.callers.fetch_sub(1, Relaxed) == 1 => self.stripe.pass_turn(),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;
    use crate::{SeededEntropy, Timestamp, store::MemoryTurns};

    #[test]
    fn locks_that_are_held_stay_among_those_that_are_wanted() {
        let stripes = Stripes::new();
        let account = AccountId::parse("acme").unwrap();
        let entropy = SeededEntropy::new(1);
        let [one, two] = [(); 2].map(|()| IdOr::Id(CustomerId::generate(Timestamp::MIN, &entropy)));
        let mut held = stripes.hold_none();
        let [one, two] = [one, two].map(|customer| of_customer(&account, &customer));
        let first = held.missing([one]).unwrap();
        pollster::block_on(held.take(first));
        assert_eq!(held.missing([one]), None);
        let both = held.missing([two]).unwrap();
        assert_eq!(both.len(), 2);
        pollster::block_on(held.take(both));
        assert_eq!(held.missing([one, two]), None);
    }

    #[test]
    fn no_customer_waits_for_the_queue_of_an_endpoint() {
        let account = AccountId::parse("acme").unwrap();
        let entropy = SeededEntropy::new(1);
        for _ in 0..10_000 {
            let customer = CustomerId::generate(Timestamp::MIN, &entropy);
            let endpoint = WebhookEndpointId::generate(Timestamp::MIN, &entropy);
            let customers = usize::from(limits::CUSTOMER_LOCKS);
            assert!(of_customer(&account, &IdOr::Id(customer)) < customers);
            let queue = of_queue(&account, endpoint);
            assert!((customers..usize::from(limits::TURNS)).contains(&queue));
        }
    }

    #[test]
    fn a_turn_that_is_kept_for_a_caller_who_goes_away_is_given_back() {
        let (stripes, turns) = (Stripes::new(), Arc::new(MemoryTurns::new()));
        stripes.take_turns(Arc::<MemoryTurns>::clone(&turns));
        let (place, mut context) = (BTreeSet::from([7]), Context::from_waker(Waker::noop()));
        let (mut first, mut second) = (stripes.hold_none(), stripes.hold_none());
        pollster::block_on(async {
            first.take(place.clone()).await;
            first.lose().await;
        });
        {
            let mut waits = pin!(second.take(place));
            assert!(waits.as_mut().poll(&mut context).is_pending());
            drop(first);
            let mut other = pin!(turns.take(7));
            assert!(
                other.as_mut().poll(&mut context).is_pending(),
                "the turn is kept for the second"
            );
        }
        let mut other = pin!(turns.take(7));
        assert!(other.as_mut().poll(&mut context).is_ready(), "the second has gone away");
    }
}
