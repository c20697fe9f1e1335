//! Queues of requests that can be committed together (`docs/decisions/waiting-requests-together.md`).

use std::{
    any::Any,
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use event_listener::Event;
use foldhash::fast::RandomState;

use crate::{AccountId, CustomerId, IdOr, limits};

/// Queues of requests that can be committed together, each of one customer.
///
/// Whoever comes first goes alone, and all that come meanwhile go together behind it, led by one of themselves: as many as
/// a commit takes long. An optimization: each of them can go alone at any time, and does where anything is amiss.
#[derive(Default)]
pub(in crate::engine) struct Together(Mutex<HashMap<Of, Queue, RandomState>>);

/// Customer of an account, as requests name it.
pub(super) type Of = (AccountId, IdOr<CustomerId>);

/// Requests for one customer. It is there as long as one of them runs, or waits.
#[derive(Default)]
struct Queue {
    is_led: bool,
    waiting: VecDeque<Arc<Waiter>>,
    moved: Arc<Event>,
}

/// Request that waits. What it is, those know who run it.
pub(super) struct Waiter {
    request: Box<dyn Any + Send + Sync>,
    outcome: OnceLock<Outcome>,
}

/// Requests that one of them runs.
pub(super) type Waiters = Vec<Arc<Waiter>>;

/// Outcome of a request that waited for others; none where it is to go alone.
pub(super) type Outcome = Option<String>;

/// Outcome of the attempt to run a request with others.
pub(super) enum Joined<'a> {
    /// It was committed, with its answer.
    Answered(String),
    /// It is to go alone. Others wait while it leads.
    Alone(Option<Lead<'a>>),
}

impl Together {
    /// Runs a request with others that wait for a customer, where there are any.
    ///
    /// `request` makes what waits, and `run` runs those that are together, of which each is to be told its outcome.
    pub(super) async fn join<T: Send + Sync + 'static, F: Future<Output = ()> + Send>(
        &self,
        of: Of,
        request: impl FnOnce() -> T + Send,
        run: impl Fn(Waiters) -> F + Send + Sync,
    ) -> Joined<'_> {
        if let Some(lead) = self.lead_alone(&of) {
            return Joined::Alone(Some(lead));
        }
        let place = self.wait(of, Box::new(request()));
        loop {
            let moved = place.moved.listen();
            if let Some(outcome) = place.waiter.outcome.get() {
                return outcome.clone().map_or(Joined::Alone(None), Joined::Answered);
            }
            match self.lead(&place) {
                Some((lead, waiting)) if waiting.len() > 1 => {
                    run(waiting).await;
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
    fn wait(&self, of: Of, request: Box<dyn Any + Send + Sync>) -> Place<'_> {
        let waiter = Arc::new(Waiter { request, outcome: OnceLock::new() });
        let mut queues = self.queues();
        let queue = queues.entry(of.clone()).or_default();
        queue.waiting.push_back(Arc::clone(&waiter));
        Place { together: self, moved: Arc::clone(&queue.moved), of, waiter }
    }

    /// Leads those who have waited longest, where nobody does, and whoever asks waits among them: one that another has
    /// taken along is told its outcome by that one.
    fn lead(&self, place: &Place<'_>) -> Option<(Lead<'_>, Waiters)> {
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

impl Waiter {
    /// Returns what waits.
    pub(super) fn request<T: 'static>(&self) -> Option<&T> {
        self.request.downcast_ref()
    }

    /// Tells it its outcome: the first one counts.
    pub(super) fn tell(&self, outcome: Outcome) {
        let _ = self.outcome.set(outcome);
    }
}
