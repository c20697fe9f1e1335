mod odds;
mod plan;

use std::sync::{Mutex, MutexGuard, PoisonError};

use accrue::store::{Batch, Commit, Key, Row, Scan, Store, StoreError};
use async_trait::async_trait;

pub use self::odds::Odds;
use self::plan::{Call, Plan};

/// A store that fails on purpose, and otherwise forwards every call.
///
/// Faults come by number, [`fail_nth`](FaultyStore::fail_nth), or by chance,
/// [`seeded`](FaultyStore::seeded): the same for the same seed and the same calls.
///
/// ```
/// use accrue::store::{Batch, Document, Key, MemoryStore, Store, StoreError, Table};
/// use accrue_conformance::{Calls, Fault, FaultyStore};
///
/// # pollster::block_on(async {
/// let store = FaultyStore::new(MemoryStore::new());
/// store.fail_nth(Calls::Commits, 0, Fault::Lost);
///
/// let key = Key::new(Table::new("row"), *b"a");
/// let batch = Batch::new().put(key.clone(), Document::parse("{}")?);
/// assert!(matches!(store.commit(batch).await, Err(StoreError::Indeterminate { .. })));
/// assert!(matches!(store.get(&[key]).await?.as_slice(), [Some(_)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    inner: S,
    plan: Mutex<Plan>,
}

/// What goes wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The call is refused: nothing is applied, the answer is [`StoreError::Unavailable`].
    Refused,
    /// The commit is made, and its answer is lost: [`StoreError::Indeterminate`].
    Lost,
    /// The commit is not made, and nobody knows: [`StoreError::Indeterminate`].
    Dropped,
    /// The call finds stored bytes that are not what was written: nothing is applied, the answer is
    /// [`StoreError::Corrupt`].
    Corrupt,
}

/// Which calls are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Every call.
    All,
    /// Those of [`Store::get`].
    Gets,
    /// Those of [`Store::scan`].
    Scans,
    /// Those of [`Store::commit`].
    Commits,
}

impl<S> FaultyStore<S> {
    /// Wraps a store, without any fault as yet.
    pub fn new(inner: S) -> Self {
        Self::seeded(inner, 0, Odds::NONE)
    }

    /// Wraps a store whose calls fail by chance.
    pub fn seeded(inner: S, seed: u64, odds: Odds) -> Self {
        Self { inner, plan: Mutex::new(Plan::new(seed, odds)) }
    }

    /// Lets a call fail: the `nth` of its kind since the store was wrapped, counted from zero.
    ///
    /// A read is no commit, so that on it [`Fault::Lost`] and [`Fault::Dropped`] are refusals.
    pub fn fail_nth(&self, calls: Calls, nth: u64, fault: Fault) {
        self.plan().add(calls, nth, fault);
    }

    /// Changes the odds of the calls to come.
    pub fn set_odds(&self, odds: Odds) {
        self.plan().set_odds(odds);
    }

    /// Returns how many calls there were, those that failed too.
    pub fn calls(&self, calls: Calls) -> u64 {
        self.plan().count(calls)
    }

    /// Returns the store that does not fail.
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    // A plan is whole between any two statements, so that a panic elsewhere spoils nothing.
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<S: Store> Store for FaultyStore<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        let fault = self.plan().next(Call::Get);
        match fault {
            Some(fault) => Err(fault.of_read()),
            None => self.inner.get(keys).await,
        }
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let fault = self.plan().next(Call::Scan);
        match fault {
            Some(fault) => Err(fault.of_read()),
            None => self.inner.scan(scan).await,
        }
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let fault = self.plan().next(Call::Commit);
        match fault {
            Some(Fault::Refused) => Err(StoreError::unavailable("refused on purpose")),
            Some(Fault::Lost) => {
                self.inner.commit(batch).await?;
                Err(StoreError::indeterminate("the answer is lost on purpose"))
            }
            Some(Fault::Dropped) => Err(StoreError::indeterminate("dropped on purpose")),
            Some(Fault::Corrupt) => Err(StoreError::corrupt("corrupt on purpose")),
            None => self.inner.commit(batch).await,
        }
    }
}

impl Fault {
    fn of_read(self) -> StoreError {
        match self {
            Self::Refused | Self::Lost | Self::Dropped => {
                StoreError::unavailable("refused on purpose")
            }
            Self::Corrupt => StoreError::corrupt("corrupt on purpose"),
        }
    }
}
