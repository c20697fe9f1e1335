//! Processes that bill for one account on one store, and what they have in common.

mod shop;

use std::{sync::Arc, time::Duration};

use accrue::{
    Account, AccountId, Billing, Call, Error, IdempotencyKey, ManualClock, PageRequest,
    SeededEntropy, Timestamp, idempotency::Answer, store::Store, webhook::Message,
};
use serde::{Serialize, de::DeserializeOwned};

pub(crate) use self::shop::{
    Shop, billed, customer, external_id, fired, hour, name, new_customer, started, used,
};
use crate::{Processes, place::Place};

/// Instant at which a case begins.
pub(crate) const NOON: &str = "2026-03-10T12:00:00Z";

/// How often a request is sent again that may be.
const TRIES: usize = 1_000;

/// Steps that any work that is under way is done in.
pub(crate) const STEPS: usize = 1_000;

/// Processes on one store, each with an engine, a clock and entropy of its own.
pub(crate) struct Peers<'a> {
    all: Vec<Peer<'a>>,
}

/// One of them.
pub(crate) struct Peer<'a> {
    place: Place<'a>,
    pub(crate) clock: ManualClock,
    pub(crate) account: Account,
}

impl<'a> Peers<'a> {
    pub(crate) fn of(processes: &'a dyn Processes, count: usize) -> Self {
        Self::wrapping(processes, count, |_, store| store)
    }

    /// Has each use its store through what wraps it.
    pub(crate) fn wrapping<S: Store>(
        processes: &'a dyn Processes,
        count: usize,
        mut wrap: impl FnMut(usize, Arc<dyn Store>) -> S,
    ) -> Self {
        let open = |number: usize| {
            let opened = processes.open();
            let clock = ManualClock::at(at(NOON));
            let seed = u64::try_from(number).expect("it is small").saturating_add(1);
            let store = wrap(number, opened.store);
            let billing = Billing::new(store, clock.clone(), SeededEntropy::new(seed));
            let billing = match opened.turns {
                Some(turns) => billing.taking_turns(turns),
                None => billing,
            };
            let account = AccountId::parse("acme").expect("it is an id");
            Peer { place: Place::Shared(processes), clock, account: billing.account(account) }
        };
        Self { all: (0..count).map(open).collect() }
    }

    /// Returns the process of a caller.
    pub(crate) fn peer(&self, caller: usize) -> &Peer<'a> {
        let own = caller.checked_rem(self.all.len()).and_then(|at| self.all.get(at));
        own.expect("there is a process")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Peer<'a>> {
        self.all.iter()
    }

    pub(crate) const fn count(&self) -> usize {
        self.all.len()
    }

    /// Sets the clocks of all.
    pub(crate) fn set(&self, now: &str) {
        self.all.iter().for_each(|peer| peer.set(now));
    }
}

impl Peer<'_> {
    pub(crate) fn set(&self, now: &str) {
        self.clock.set(at(now));
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.account.billing().now()
    }

    /// Returns the instant that is so many seconds before now.
    pub(crate) fn ago(&self, seconds: u64) -> Timestamp {
        self.now().saturating_sub(Duration::from_secs(seconds))
    }

    /// Runs an operation that succeeds.
    pub(crate) fn run<T: Send + 'static>(&self, call: Call<T>) -> T {
        self.try_run(call).expect("the operation is done")
    }

    pub(crate) fn try_run<T: Send + 'static>(&self, call: Call<T>) -> Result<T, Error> {
        self.place.answer(call.into_future())
    }

    /// Waits for what succeeds.
    pub(crate) fn read<T: Send>(
        &self,
        reading: impl Future<Output = Result<T, Error>> + Send,
    ) -> T {
        self.place.answer(reading).expect("what is there is read")
    }

    /// Runs an operation once under an idempotency key.
    pub(crate) fn keyed<T>(&self, call: Call<T>, key: &str) -> Result<Answer<T>, Error>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let key = IdempotencyKey::parse(key).expect("it is a key");
        self.place.answer(call.keyed(key).into_future())
    }

    /// Runs an operation under an idempotency key, again and again while it may be.
    pub(crate) fn settled<T>(&self, call: impl Fn() -> Call<T>, key: &str) -> Answer<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let tries = (0..TRIES).map(|_| {
            let answer = self.keyed(call(), key);
            if answer.is_err() {
                // Another caller's request is answered meanwhile.
                self.read(self.account.configuration());
            }
            answer
        });
        let mut last = tries.skip_while(|answer| match answer {
            Ok(_) => false,
            Err(error) => error.can_be_retried(),
        });
        let answer = last.next().expect("a request is answered after some tries");
        answer.expect("the operation is done")
    }

    /// Applies all that time has brought, as this process sees it.
    pub(crate) fn tick(&self) -> usize {
        let billing = self.account.billing();
        let mut applied = 0;
        for _ in 0..STEPS {
            let tick = self.read(billing.tick(100));
            assert_eq!(tick.failed, 0, "an owner cannot be read");
            applied += tick.applied;
            if !tick.more {
                return applied;
            }
        }
        assert_eq!(STEPS, 0, "so many ticks left something to do");
        applied
    }

    /// Returns the messages that wait, which are few.
    pub(crate) fn waiting(&self) -> Vec<Message> {
        let page = PageRequest::first_of_messages(1_000).expect("it is a page");
        self.read(self.account.list_messages(&page)).data
    }
}

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("it is an instant")
}
