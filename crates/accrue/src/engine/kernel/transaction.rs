//! One run of an operation: what it reads, what it writes, and the commit that ends it.

mod bounds;
mod fetch;
mod now;
mod reads;
mod write;

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

pub(in crate::engine) use self::reads::Touched;
use self::{
    bounds::check_bounds,
    reads::{Reads, Writes, expected},
};
pub(super) use self::{now::Part, reads::Findings};
use super::{
    Shared,
    known::Said,
    stripes::{Held, of_customer, of_queue},
    trace::RowsRead,
};
use crate::{
    AccountId, CustomerId, Entropy, Error, IdOr, Pace, SeededEntropy, Timestamp, WebhookEndpointId,
    schema::{self, CustomerHead, Guards as _, Owner},
    store::{Batch, Change, Commit, Key, Precondition, Table, Version},
};

/// Unit of work: one run of an operation.
///
/// Every row read through it becomes a precondition, or is read under a [`Guard`](super::Guard) that is
/// one; every write is buffered, and one commit ends it. So the decision of an operation holds at the
/// instant of its commit, or the operation is run again.
pub(in crate::engine) struct Transaction<'a> {
    pub(in crate::engine) account: &'a AccountId,
    pub(in crate::engine) now: Timestamp,
    pub(in crate::engine) pace: Pace,
    pub(in crate::engine) rows_read: RowsRead,
    shared: &'a Shared,
    held: Held<'a>,
    /// Source of ids of a transaction that is never committed: such a one takes nothing from the host's
    /// entropy, and no locks.
    dry: Option<SeededEntropy>,
    /// Whether it takes what it reads from copies: whoever asks it then asks the store whether that holds.
    uses_copies: bool,
    /// Whether it takes names that callers choose for new ones, which the commit judges.
    trust: Trust,
    /// Owners for whom it has made something due.
    made_due: BTreeSet<Owner>,
    /// Whether there is something to send once it is committed.
    pub(in crate::engine) has_to_send: bool,
    reads: Reads,
    /// Writes, in the order of the first write of each key.
    writes: Vec<Change>,
    /// What each of them says, where that is known and kept.
    said: Vec<Option<Said>>,
    /// Place of a key in `writes`.
    written: HashMap<Key, usize, RandomState>,
    /// Buffer that documents are written in.
    text: Vec<u8>,
}

/// Whether a run takes the names that its caller chooses, each once, for new ones: it does not read what
/// is there, and its commit [inserts](Change::Insert).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// It reads what is there.
    Nobody,
    /// It may.
    Caller,
    /// It has done so for rows of this table. Unless it is committed, it has decided nothing.
    Given(Table),
}

/// Reason why a run ended without a decision.
pub(in crate::engine) enum Stop {
    /// The run failed.
    Error(Error),
    /// Owners whose transitions come first.
    First(Vec<Owner>),
    /// Locks that the run needs, all of them from the beginning.
    Locks(BTreeSet<usize>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl<'a> Transaction<'a> {
    pub(in crate::engine) fn new(
        shared: &'a Shared,
        account: &'a AccountId,
        now: Timestamp,
        held: Held<'a>,
    ) -> Self {
        Self {
            account,
            now,
            pace: Pace::new(),
            rows_read: RowsRead::default(),
            shared,
            held,
            dry: None,
            uses_copies: true,
            trust: Trust::Nobody,
            made_due: BTreeSet::new(),
            has_to_send: false,
            reads: Reads::default(),
            writes: Vec::new(),
            said: Vec::new(),
            written: HashMap::default(),
            text: Vec::new(),
        }
    }

    /// Begins a transaction that is never committed.
    pub(in crate::engine) fn dry(shared: &'a Shared, account: &'a AccountId) -> Self {
        let tx = Self::new(shared, account, shared.now(), shared.stripes.hold_none());
        Self { dry: Some(SeededEntropy::new(0)), uses_copies: false, ..tx }
    }

    /// Begins a transaction that takes guards as they were known last: it says nothing unless it
    /// [holds](Self::holds).
    pub(in crate::engine) fn using_copies(self) -> Self {
        Self { uses_copies: true, ..self }
    }

    /// Begins a transaction that takes the names that its caller chooses for new ones.
    pub(super) fn trusting(self) -> Self {
        Self { trust: Trust::Caller, ..self }
    }

    /// Tells whether names that the caller chooses are taken for new ones: their rows, of a table, are not
    /// to be read, but [inserted](Self::insert).
    pub(in crate::engine) fn trust_caller(&mut self, table: Table) -> bool {
        if self.trust == Trust::Caller {
            self.trust = Trust::Given(table);
        }
        self.trust == Trust::Given(table)
    }

    /// Returns the table of the rows that were taken for new ones.
    pub(super) const fn trusted(&self) -> Option<Table> {
        match self.trust {
            Trust::Given(table) => Some(table),
            Trust::Nobody | Trust::Caller => None,
        }
    }

    pub(in crate::engine) fn entropy(&self) -> &dyn Entropy {
        match &self.dry {
            Some(entropy) => entropy,
            None => &*self.shared.entropy,
        }
    }

    /// Tells whether it is of the host, and of no account.
    pub(in crate::engine::kernel) fn is_of_host(&self) -> bool {
        std::ptr::eq(self.account.as_str(), self.shared.host.as_str())
    }

    /// Makes the other writers of these customers in this process wait.
    ///
    /// One that is yet to get its id is locked by its external id: another run would draw another.
    pub(in crate::engine) async fn lock(
        &mut self,
        customers: &[IdOr<CustomerId>],
    ) -> Result<(), Stop> {
        let places = customers.iter().map(|customer| of_customer(self.account, customer));
        let heads = customers.iter().filter_map(|customer| match customer {
            IdOr::Id(id) => Some(CustomerHead::slot(self.account, *id).key().clone()),
            // It is yet to get its id.
            IdOr::External(_) => None,
        });
        self.take_locks(places.collect(), heads.collect()).await
    }

    /// Makes those wait who send the messages of these endpoints in this process, or add to them.
    pub(in crate::engine) async fn lock_queues(
        &mut self,
        endpoints: impl Iterator<Item = WebhookEndpointId> + Clone + Send,
    ) -> Result<(), Stop> {
        let places = endpoints.clone().map(|id| of_queue(self.account, id)).collect();
        let heads = endpoints.map(|id| schema::endpoint_queue(self.account, id).key().clone());
        self.take_locks(places, heads.collect()).await
    }

    /// Takes locks; `heads` are the rows that those who have them write.
    async fn take_locks(&mut self, places: Vec<usize>, heads: Vec<Key>) -> Result<(), Stop> {
        if self.dry.is_some() {
            return Ok(());
        }
        match self.held.missing(places) {
            None => {}
            Some(wanted) if self.held.is_empty() => {
                self.held.take(wanted.clone()).await;
                if self.reads.are_left_behind(&self.shared.residents) {
                    return Err(Stop::Locks(wanted));
                }
            }
            Some(wanted) => return Err(Stop::Locks(wanted)),
        }
        self.read_after_others(&heads)
    }

    /// Has rows read that another process, which was waited for, has written, most likely.
    fn read_after_others(&mut self, heads: &[Key]) -> Result<(), Stop> {
        if !self.held.comes_after_others() {
            return Ok(());
        }
        heads.iter().for_each(|head| self.shared.residents.doubt(head));
        match heads.iter().any(|head| self.reads.guard(head).is_some()) {
            true => Err(Stop::Locks(self.held.all())),
            false => Ok(()),
        }
    }

    /// Tells whether all rows that were read still are as they were read: all of them at one instant.
    ///
    /// Rows that were written here, to read as if they were there, are dropped.
    pub(in crate::engine) async fn holds(mut self) -> Result<bool, Error> {
        let shared = self.shared;
        self.discard_writes();
        let rows_read = self.rows_read.clone();
        let Ended { batch, findings, .. } = self.into_batch(&[])?;
        if batch.preconditions.is_empty() {
            return Ok(true);
        }
        match shared.store.commit(batch).await {
            Ok(Commit::Committed(version)) => {
                findings.keep(&shared.residents, version);
                Ok(true)
            }
            Ok(Commit::Conflict(_)) => {
                findings.refresh(&shared.residents, &*shared.store, &rows_read).await?;
                Ok(false)
            }
            // Nothing was to be changed, so asking again doubles nothing.
            Err(error) => Err(Error::from(error).retry_doubles_nothing()),
        }
    }

    /// Ends the transaction: returns the batch to commit, and what goes on.
    ///
    /// `first` are listed first, so that a race for an idempotency key is told from any other.
    pub(in crate::engine) fn into_batch(
        mut self,
        first: &[(Key, Option<Version>)],
    ) -> Result<Ended<'a>, Error> {
        self.write_heads()?;
        let first = first.iter().map(|(key, version)| {
            let (key, expected) = (key.clone(), expected(*version));
            Precondition { key, expected }
        });
        let writes = Writes { changes: &self.writes, said: &self.said, places: &self.written };
        let (read, findings) = self.reads.into_preconditions(writes);
        let batch = Batch { preconditions: first.chain(read).collect(), changes: self.writes };
        // The changes have been looked at.
        check_bounds(batch.preconditions.len(), &[])?;
        Ok(Ended { batch, findings, locks: self.held })
    }

    /// Ends the transaction without a commit: others come first, and move on.
    pub(in crate::engine) fn into_doubts(self) -> Held<'a> {
        let writes = Writes { changes: &[], said: &[], places: &self.written };
        let (_, findings) = self.reads.into_preconditions(writes);
        findings.doubt(&self.shared.residents);
        self.held
    }

    /// Ends the transaction without a commit.
    pub(in crate::engine) fn into_held(self) -> Held<'a> {
        self.held
    }
}

/// Transaction that has ended.
pub(in crate::engine) struct Ended<'a> {
    /// Batch to commit.
    pub(in crate::engine) batch: Batch,
    /// What copies learn of it then.
    pub(in crate::engine) findings: Findings,
    /// Locks that go on to be held.
    pub(in crate::engine) locks: Held<'a>,
}
