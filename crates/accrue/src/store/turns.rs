use std::{any::Any, fmt, sync::Arc};

use async_lock::Semaphore;
use async_trait::async_trait;

use super::StoreError;
use crate::limits;

/// Queues of the processes that share a store: whoever has lost a race waits there for its turn.
///
/// Processes that write for one customer lose races to each other, and the one that has just won is ready first again. So
/// one that has lost goes on in a queue, and others that lose queue behind it. A process passes a turn on among its own
/// callers for a while.
///
/// An optimization: correctness rests on the preconditions of commits. A store whose processes wait for each other anyway,
/// or that has one process, needs none. A host hands it in with [`Billing::taking_turns`](crate::Billing::taking_turns).
///
/// # To ensure correctness
///
/// - A turn ends when it is dropped, when its process is gone, or when the connection that keeps it is.
/// - Whoever waits first has its turn first.
/// - It may be waited for in several places at once, in ascending order within a caller: nobody waits in a circle.
#[async_trait]
pub trait Turns: Send + Sync + 'static {
    /// Waits for the turn at a place, of [1,088](crate::limits::TURNS); none where the caller is to go on without.
    ///
    /// # Errors
    ///
    /// Where it cannot be had now: the caller goes on without.
    async fn take(&self, place: u16) -> Result<Option<Turn>, StoreError>;
}

#[async_trait]
impl<T: Turns + ?Sized> Turns for Arc<T> {
    async fn take(&self, place: u16) -> Result<Option<Turn>, StoreError> {
        (**self).take(place).await
    }
}

/// Turn, for as long as it is not dropped.
pub struct Turn(#[expect(dead_code, reason = "it is dropped")] Box<dyn Any + Send + Sync>);

impl Turn {
    /// Makes a turn that lasts until what keeps it is dropped.
    pub fn new(keeper: impl Any + Send + Sync) -> Self {
        Self(Box::new(keeper))
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}

/// Turns of the processes that a test has in one process: each has a handle of its own, and all share these.
///
/// ```
/// use std::sync::Arc;
/// use accrue::{Billing, store::{MemoryStore, MemoryTurns}};
///
/// let (store, turns) = (Arc::new(MemoryStore::new()), Arc::new(MemoryTurns::new()));
/// let process = || Billing::with_system(Arc::clone(&store)).taking_turns(Arc::clone(&turns));
/// let [one, other] = [process(), process()];
/// # let _ = (one, other);
/// ```
#[derive(Debug)]
pub struct MemoryTurns(Vec<Arc<Semaphore>>);

impl MemoryTurns {
    /// Makes turns that nobody has.
    #[must_use]
    pub fn new() -> Self {
        Self((0..limits::TURNS).map(|_| Arc::new(Semaphore::new(1))).collect())
    }
}

impl Default for MemoryTurns {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Turns for MemoryTurns {
    async fn take(&self, place: u16) -> Result<Option<Turn>, StoreError> {
        let Some(place) = self.0.get(usize::from(place)) else { return Ok(None) };
        Ok(Some(Turn::new(place.acquire_arc().await)))
    }
}
