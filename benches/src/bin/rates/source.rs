use std::{collections::BTreeMap, sync::Arc};

use accrue::{
    Account, CustomerId, IdempotencyKey, PageRequest,
    customer::Customer,
    store::{Batch, Change, Document, Key, MemoryStore, Scan, Store},
    usage::Event,
};
use accrue_benches::{Outcome, Shape, Watch, Workload};
use accrue_conformance::{Recorded, RecordingStore};
use pollster::block_on;

use crate::operation::Operation;

/// Where the requests of all sides come from, and what the engine asks its store for to answer them:
/// an engine on a store in memory that remembers it.
pub(crate) struct Source {
    workload: Workload,
    store: Arc<RecordingStore<MemoryStore>>,
    operation: Operation,
    callers: u64,
    calls: u64,
    requests: u64,
    set_up: Vec<Change>,
}

/// What each caller does in a round.
pub(crate) struct Round {
    pub(crate) requests: Vec<Vec<Request>>,
    /// The calls of the store that the engine makes for them.
    pub(crate) calls: Vec<Vec<StoreCall>>,
}

/// What a caller asks the engine for.
#[derive(Clone)]
pub(crate) enum Request {
    Ingest { key: IdempotencyKey, events: Vec<Event> },
    Fetch(CustomerId),
    Page,
}

/// What a caller asks the raw backend for.
#[derive(Clone)]
pub(crate) enum StoreCall {
    Get(Vec<Key>),
    Scan(Scan),
    Commit(Vec<Change>),
}

/// How many rows of the setting up are written at once.
const ROWS: usize = 10_000;
/// How many rows a page has.
pub(crate) const PAGE: usize = 20;

impl Source {
    pub(crate) fn new(operation: Operation, callers: u64, quick: bool) -> Outcome<Self> {
        let calls = operation.calls(callers, quick);
        let store = Arc::new(RecordingStore::new(MemoryStore::new()));
        let shape =
            Shape { customers: operation.customers(callers, quick), ..Shape::new(Watch::Usage) };
        let workload = Workload::new(Arc::clone(&store), shape)?;
        let set_up = last_changes(store.take_log());
        Ok(Self { workload, store, operation, callers, calls, requests: 0, set_up })
    }

    /// How many calls all callers make in a round.
    pub(crate) const fn calls(&self) -> u64 {
        self.callers * self.calls
    }

    /// The account in another store, after the rows of the setting up were written there; once for each handle on it.
    pub(crate) fn accounts_in(&mut self, handles: Vec<Arc<dyn Store>>) -> Outcome<Vec<Account>> {
        self.set_up(&**handles.first().ok_or("found no store")?)?;
        handles.into_iter().map(|store| self.workload.account_in(store)).collect()
    }

    /// Writes what the account has before the first round.
    pub(crate) fn set_up(&self, store: &dyn Store) -> Outcome<()> {
        for changes in self.set_up.chunks(ROWS) {
            block_on(store.commit(Batch { preconditions: Vec::new(), changes: changes.to_vec() }))?;
        }
        Ok(())
    }

    /// The customers of the account.
    pub(crate) fn customers(&self) -> Outcome<Vec<Customer>> {
        let fetch = |id: &CustomerId| block_on(self.workload.account().fetch_customer(*id));
        Ok(self.workload.customers().iter().map(fetch).collect::<Result<_, _>>()?)
    }

    /// Makes the next round, and lets the engine on the store in memory answer it.
    pub(crate) fn round(&mut self) -> Outcome<Round> {
        let mut round = Round { requests: Vec::new(), calls: Vec::new() };
        for caller in 0..self.callers {
            let made = (0..self.calls).map(|_| self.request(caller));
            round.requests.push(made.collect::<Outcome<_>>()?);
        }
        self.store.take_log();
        for requests in &round.requests {
            let mut calls = Vec::new();
            for request in requests {
                block_on(request.clone().run(self.workload.account()))?;
                calls.extend(self.store.take_log().into_iter().filter_map(|call| self.raw(call)));
            }
            round.calls.push(calls);
        }
        Ok(round)
    }

    fn request(&mut self, caller: u64) -> Outcome<Request> {
        let number = self.requests;
        self.requests += 1;
        Ok(match self.operation {
            Operation::Commit | Operation::OneCustomer | Operation::Batch => {
                let customer = if self.operation == Operation::OneCustomer { 0 } else { caller };
                Request::Ingest {
                    key: IdempotencyKey::parse(format!("call-{number:032}"))?,
                    events: self.workload.next_of(customer, self.operation.events())?,
                }
            }
            Operation::Fetch => {
                let customers = self.workload.customers();
                // One after the other, far from where the next caller is.
                let at = usize::try_from(number)? % customers.len();
                Request::Fetch(*customers.get(at).ok_or("found no customers")?)
            }
            Operation::Page => Request::Page,
        })
    }

    /// What the raw backend does of a call: where the operation writes, the writing; where it reads,
    /// the reading.
    fn raw(&self, call: Recorded) -> Option<StoreCall> {
        match call {
            Recorded::Get { keys, .. } if !self.operation.writes() => Some(StoreCall::Get(keys)),
            Recorded::Scan { scan, .. } if !self.operation.writes() => Some(StoreCall::Scan(scan)),
            Recorded::Commit { batch, .. }
                if self.operation.writes() && !batch.changes.is_empty() =>
            {
                Some(StoreCall::Commit(batch.changes))
            }
            _ => None,
        }
    }
}

impl Request {
    pub(crate) async fn run(self, account: &Account) -> Outcome<()> {
        match self {
            Self::Ingest { key, events } => {
                let expected = events.len();
                let answer = account.ingest(events).keyed(key).await?;
                check("new events", answer.outcome.ingested, expected)
            }
            Self::Fetch(id) => account.fetch_customer(id).await.map(drop).map_err(Into::into),
            Self::Page => {
                let page = PageRequest::first(PAGE)?;
                let page = account.list_customers(&accrue::ListFilter::default(), &page).await?;
                check("customers", page.data.len(), PAGE)
            }
        }
    }
}

impl StoreCall {
    pub(crate) async fn run(self, store: &dyn Store) -> Outcome<()> {
        match self {
            Self::Get(keys) => {
                let rows = store.get(&keys).await?;
                check("rows", rows.len(), keys.len())
            }
            Self::Scan(scan) => store.scan(&scan).await.map(drop).map_err(Into::into),
            Self::Commit(changes) => {
                let batch = Batch { preconditions: Vec::new(), changes };
                store.commit(batch).await.map(drop).map_err(Into::into)
            }
        }
    }

    /// The bytes of what it writes: keys and documents.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self::Commit(changes) = self else { return Vec::new() };
        let bytes = changes.iter().flat_map(|change| {
            let document = change.document().map(|document| document.as_str().as_bytes());
            [change.key().bytes(), document.unwrap_or_default()]
        });
        bytes.collect::<Vec<_>>().concat()
    }
}

/// Makes sure that a call did what it was to do.
pub(crate) fn check(what: &str, found: usize, expected: usize) -> Outcome<()> {
    if found == expected {
        return Ok(());
    }
    Err(format!("found {found} {what}, expected {expected}").into())
}

/// What recorded commits made of each row that they changed.
fn last_changes(calls: Vec<Recorded>) -> Vec<Change> {
    let mut rows: BTreeMap<Key, Option<Document>> = BTreeMap::new();
    for call in calls {
        let Recorded::Commit { batch, .. } = call else { continue };
        rows.extend(batch.changes.into_iter().map(Change::into_row));
    }
    let put = |(key, document): (_, Option<_>)| Some(Change::Put(key, document?));
    rows.into_iter().filter_map(put).collect()
}
