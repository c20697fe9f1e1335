//! A store that fails once, at a call by its number, or that is wrong on purpose.

use std::sync::{Mutex, MutexGuard};

use accrue::store::{
    Batch, Change, Commit, Document, Key, MemoryStore, Row, Scan, Store, StoreError,
};
use async_trait::async_trait;

/// What a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Read,
    Commit,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Nothing is applied, and that is said.
    Refused,
    /// What is stored is said to be not what was written.
    Corrupt,
    /// The process ends right before the call.
    EndsBefore,
    /// The commit is applied, and its answer is lost.
    Lost,
    /// The commit is not applied, and nobody knows.
    Dropped,
    /// Nobody knows, and the commit is judged once the request is answered, before it is sent again.
    Late,
    /// Nobody knows, and the commit is judged when the request was sent again and answered.
    TooLate,
    /// The process ends when the commit is applied, before that is said.
    EndsAfter,
}

impl Way {
    pub const ALL: &[Self] = &[
        Self::Refused,
        Self::Corrupt,
        Self::EndsBefore,
        Self::Lost,
        Self::Dropped,
        Self::Late,
        Self::TooLate,
        Self::EndsAfter,
    ];

    /// The ways in which a call can fail: to lose what was read is to refuse it.
    #[must_use]
    pub fn of(call: Call) -> &'static [Self] {
        match call {
            Call::Read => &Self::ALL[..3],
            Call::Commit => Self::ALL,
        }
    }

    /// Whether a commit may be applied although its answer says nothing of the kind.
    #[must_use]
    pub const fn may_apply(self) -> bool {
        matches!(self, Self::Lost | Self::Late | Self::TooLate | Self::EndsAfter)
    }
}

/// A call that fails: its number, from zero, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub nth: usize,
    pub way: Way,
}

/// How a store is wrong on purpose, to see that it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It loses what was answered under a key.
    LosesRecords,
    /// Of a commit whose outcome nobody knows, it applies a half.
    TearsCommits,
    /// It judges no precondition of a commit that is late.
    ForgetsPreconditions,
    /// It keeps a server error as the answer under a key.
    KeepsErrors,
}

impl Flaw {
    pub const ALL: &[Self] =
        &[Self::LosesRecords, Self::TearsCommits, Self::ForgetsPreconditions, Self::KeepsErrors];
}

/// More calls than any request makes.
const TOO_MANY: usize = 2_000;

#[derive(Debug)]
pub(super) struct OnceFaulty {
    pub(super) inner: MemoryStore,
    fault: Option<Fault>,
    flaw: Option<Flaw>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: Vec<Call>,
    /// How many commits without a fault have changed something.
    changes: u64,
    has_ended: bool,
    late: Option<Batch>,
}

impl OnceFaulty {
    pub(super) fn new(inner: MemoryStore, fault: Option<Fault>, flaw: Option<Flaw>) -> Self {
        Self { inner, fault, flaw, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The calls that there were.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// How many commits without a fault have changed something.
    pub(super) fn changes(&self) -> u64 {
        self.state().changes
    }

    /// Whether the process has ended since this was asked last.
    pub(super) fn has_ended(&self) -> bool {
        std::mem::take(&mut self.state().has_ended)
    }

    /// Judges the commit that is late, if that is how it fails.
    pub(super) fn land(&self, way: Way) {
        if self.fault.is_none_or(|fault| fault.way != way) {
            return;
        }
        let Some(mut batch) = self.state().late.take() else { return };
        if self.flaw == Some(Flaw::ForgetsPreconditions) {
            batch.preconditions.clear();
        }
        // Whether it is applied or refused: nobody waits for it.
        let _ = pollster::block_on(self.inner.commit(batch)).unwrap();
    }

    /// Counts a call, and tells how it fails.
    fn begin(&self, call: Call) -> Option<Way> {
        let mut state = self.state();
        let nth = state.calls.len();
        assert!(nth < TOO_MANY, "a request that never ends");
        state.calls.push(call);
        self.fault.filter(|fault| fault.nth == nth).map(|fault| fault.way)
    }

    async fn end<T>(&self) -> T {
        self.state().has_ended = true;
        std::future::pending().await
    }

    async fn read<T: Send>(
        &self,
        answer: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        match self.begin(Call::Read) {
            None => answer.await,
            Some(Way::Corrupt) => Err(StoreError::corrupt("corrupt on purpose")),
            Some(Way::EndsBefore) => self.end().await,
            Some(_) => Err(StoreError::unavailable("refused on purpose")),
        }
    }
}

#[async_trait]
impl Store for OnceFaulty {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.read(self.inner.get(keys)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.read(self.inner.scan(scan)).await
    }

    async fn commit(&self, mut batch: Batch) -> Result<Commit, StoreError> {
        let way = self.begin(Call::Commit);
        if self.flaw == Some(Flaw::LosesRecords) {
            batch.changes.retain(|change| change.key().table().name() != "record");
        }
        let unknown = || StoreError::indeterminate("nobody knows, on purpose");
        match way {
            None => {
                let has_changes = !batch.changes.is_empty();
                let commit = self.inner.commit(batch).await?;
                let changes = has_changes && matches!(commit, Commit::Committed(_));
                self.state().changes += u64::from(changes);
                Ok(commit)
            }
            Some(Way::Refused) => {
                if self.flaw == Some(Flaw::KeepsErrors) {
                    self.keep_an_error(&batch).await?;
                }
                Err(StoreError::unavailable("refused on purpose"))
            }
            Some(Way::Corrupt) => Err(StoreError::corrupt("corrupt on purpose")),
            Some(Way::EndsBefore) => self.end().await,
            Some(Way::Lost) => self.inner.commit(batch).await.and(Err(unknown())),
            Some(Way::Dropped) => {
                if self.flaw == Some(Flaw::TearsCommits) {
                    batch.changes.drain(..batch.changes.len() / 2);
                    self.inner.commit(batch).await?;
                }
                Err(unknown())
            }
            Some(Way::Late | Way::TooLate) => {
                self.state().late = Some(batch);
                Err(unknown())
            }
            Some(Way::EndsAfter) => {
                self.inner.commit(batch).await?;
                self.end().await
            }
        }
    }
}

impl OnceFaulty {
    /// Keeps the record of a batch, as if a server error had been answered.
    async fn keep_an_error(&self, batch: &Batch) -> Result<(), StoreError> {
        let record = batch.changes.iter().find_map(|change| match change {
            Change::Put(key, document) if key.table().name() == "record" => Some((key, document)),
            _ => None,
        });
        let Some((key, document)) = record else { return Ok(()) };
        let inline = "\"inline\":\"";
        let at = document.as_str().find(inline).unwrap() + inline.len();
        let mut text = document.as_str().to_owned();
        text.replace_range(at..at + 3, "500");
        let document = Document::parse(text).unwrap();
        self.inner.commit(Batch::new().put(key.clone(), document)).await.map(drop)
    }
}
