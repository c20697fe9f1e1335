//! Requests that wait for each other are committed together (`docs/decisions/waiting-requests-together.md`).

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use async_trait::async_trait;
use event_listener::Event;
use foldhash::fast::RandomState;

use super::{
    Account,
    apply::{Applied, Command, Decided, Door, apply},
    transaction::{Stop, Transaction},
};
use crate::{
    AccountId, CustomerId, Error, IdOr, Timestamp, limits,
    store::{Key, Version},
};

/// Queues of requests that can be committed together, each of one customer.
///
/// Whoever comes first goes alone, and all that come meanwhile go together behind it, led by one of themselves: as many as
/// a commit takes long. An optimization: each of them can go alone at any time, and does where anything is amiss.
#[derive(Default)]
pub(in crate::engine) struct Together(Mutex<HashMap<Of, Queue, RandomState>>);

/// Customer of an account, as requests name it.
type Of = (AccountId, IdOr<CustomerId>);

/// Requests for one customer. It is there as long as one of them runs, or waits.
#[derive(Default)]
struct Queue {
    is_led: bool,
    waiting: VecDeque<Arc<Waiter>>,
    moved: Arc<Event>,
}

/// Request that others of its customer can be committed with.
#[async_trait]
pub(super) trait Member: Send + Sync {
    /// Runs it as if its key were new, writes its record, and returns its answer.
    async fn run(&self, tx: &mut Transaction<'_>) -> Result<String, Stop>;

    /// Names the rows in which a record of its key may lie.
    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)>;
}

struct Waiter {
    member: Box<dyn Member>,
    outcome: OnceLock<Outcome>,
}

/// Outcome of a request that waited for others; none where it is to go alone.
type Outcome = Option<String>;

/// Outcome of the attempt to run a request with others.
pub(super) enum Joined<'a> {
    /// It was committed, with its answer.
    Answered(String),
    /// It is to go alone. Others wait while it leads.
    Alone(Option<Lead<'a>>),
}

impl Together {
    /// Runs a request with others that wait for a customer, where there are any.
    pub(super) async fn join(
        &self,
        account: &Account,
        customer: &IdOr<CustomerId>,
        member: impl FnOnce() -> Box<dyn Member> + Send,
    ) -> Joined<'_> {
        let of = (account.id().clone(), customer.clone());
        if let Some(lead) = self.lead_alone(&of) {
            return Joined::Alone(Some(lead));
        }
        let place = self.wait(of, member());
        loop {
            let moved = place.moved.listen();
            if let Some(outcome) = place.waiter.outcome.get() {
                return outcome.clone().map_or(Joined::Alone(None), Joined::Answered);
            }
            match self.lead(&place) {
                Some((lead, waiting)) if waiting.len() > 1 => {
                    run(account, waiting).await;
                    drop(lead);
                }
                // Nobody else waits.
                Some((lead, _)) => return Joined::Alone(Some(lead)),
                None => moved.await,
            }
        }
    }

    /// Leads alone where nobody leads or waits.
    fn lead_alone(&self, of: &Of) -> Option<Lead<'_>> {
        match self.queues().entry(of.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(vacant) => {
                vacant.insert(Queue { is_led: true, ..Queue::default() });
                Some(Lead { together: self, of: of.clone() })
            }
        }
    }

    /// Waits behind the others.
    fn wait(&self, of: Of, member: Box<dyn Member>) -> Place<'_> {
        let waiter = Arc::new(Waiter { member, outcome: OnceLock::new() });
        let mut queues = self.queues();
        let queue = queues.entry(of.clone()).or_default();
        queue.waiting.push_back(Arc::clone(&waiter));
        Place { together: self, moved: Arc::clone(&queue.moved), of, waiter }
    }

    /// Leads those who have waited longest, where nobody does, and whoever asks waits among them: one that another has
    /// taken along is told its outcome by that one.
    fn lead(&self, place: &Place<'_>) -> Option<(Lead<'_>, Vec<Arc<Waiter>>)> {
        let mut queues = self.queues();
        let queue = queues.get_mut(&place.of).filter(|queue| !queue.is_led)?;
        if !queue.waiting.iter().any(|other| Arc::ptr_eq(other, &place.waiter)) {
            return None;
        }
        queue.is_led = true;
        let count = queue.waiting.len().min(limits::TOGETHER);
        let waiting = queue.waiting.drain(..count).collect();
        Some((Lead { together: self, of: place.of.clone() }, waiting))
    }

    /// Changes a queue, and forgets it where nobody leads or waits.
    fn change(&self, of: &Of, change: impl FnOnce(&mut Queue)) {
        let mut queues = self.queues();
        if let Some(queue) = queues.get_mut(of) {
            change(queue);
            queue.moved.notify(usize::MAX);
            if !queue.is_led && queue.waiting.is_empty() {
                queues.remove(of);
            }
        }
    }

    // Each change leaves queues that hold together.
    fn queues(&self) -> MutexGuard<'_, HashMap<Of, Queue, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lead of a queue: until it is dropped, others wait.
pub(super) struct Lead<'a> {
    together: &'a Together,
    of: Of,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.together.change(&self.of, |queue| queue.is_led = false);
    }
}

/// Place in a queue, which is left when it is dropped: also when a caller goes away.
struct Place<'a> {
    together: &'a Together,
    of: Of,
    moved: Arc<Event>,
    waiter: Arc<Waiter>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // Whoever has an outcome has left it.
        if self.waiter.outcome.get().is_none() {
            let is_other = |other: &Arc<Waiter>| !Arc::ptr_eq(other, &self.waiter);
            self.together.change(&self.of, |queue| queue.waiting.retain(is_other));
        }
    }
}

/// Runs requests together. Each gets an outcome, also where the caller of this goes away.
async fn run(account: &Account, waiting: Vec<Arc<Waiter>>) {
    let mut group = Group { members: waiting, failed: AtomicUsize::new(usize::MAX) };
    // One that is left goes alone.
    while group.members.len() > 1 {
        match apply(account, &group, Some(&group)).await {
            Ok(Applied::Done(Decided { result: Ok(answers), .. })) => {
                for (waiter, answer) in group.members.drain(..).zip(answers) {
                    waiter.tell(Some(answer));
                }
            }
            Ok(Applied::Done(Decided { result: Err(error), .. }))
                if !error.can_be_retried() && group.dismiss_failed() => {}
            // A key was used, or nobody knows: each finds out by itself.
            _ => return,
        }
    }
}

impl Waiter {
    fn tell(&self, outcome: Outcome) {
        // The first one counts.
        let _ = self.outcome.set(outcome);
    }
}

/// Requests that run one after the other, in one commit.
struct Group {
    members: Vec<Arc<Waiter>>,
    /// Place of the member that has failed last.
    failed: AtomicUsize,
}

impl Group {
    /// Has the member that has failed go alone, and tells whether one has.
    fn dismiss_failed(&mut self) -> bool {
        let failed = std::mem::replace(self.failed.get_mut(), usize::MAX);
        if failed >= self.members.len() {
            return false;
        }
        self.members.remove(failed).tell(None);
        true
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.members.iter().for_each(|waiter| waiter.tell(None));
    }
}

#[async_trait]
impl Command for Group {
    type Outcome = Vec<String>;

    fn name(&self) -> &'static str {
        "together"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Vec<String>, Stop> {
        let mut answers = Vec::with_capacity(self.members.len());
        for (place, waiter) in self.members.iter().enumerate() {
            self.failed.store(place, Relaxed);
            answers.push(waiter.member.run(tx).await?);
        }
        self.failed.store(usize::MAX, Relaxed);
        Ok(answers)
    }
}

impl Door<Vec<String>> for Group {
    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        self.members.iter().flat_map(|waiter| waiter.member.records(now)).collect()
    }

    fn is_unasked(&self) -> bool {
        true
    }

    /// Each has written its own.
    fn keep(
        &self,
        _: &Result<Vec<String>, Error>,
        _: &mut Transaction<'_>,
    ) -> Result<Option<String>, Error> {
        Ok(None)
    }
}
