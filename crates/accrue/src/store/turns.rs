use std::{any::Any, fmt, sync::Arc};

use async_trait::async_trait;

use super::StoreError;

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
    /// Waits for the turn at a place, of [1,024](crate::limits::TURNS); none where the caller is to go on without.
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
