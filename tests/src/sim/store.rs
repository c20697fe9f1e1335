//! The store of a simulation: one that all processes share, that is late, fails as it is told, and
//! notes what was committed and by whom.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use accrue::store::{
    Batch, Change, Commit, Document, Key, MemoryStore, Row, Scan, Store, StoreError,
};
use async_trait::async_trait;

use super::{pause::pause, plan::DAY, random::Random};
use crate::model::Instant;

/// What goes wrong with a call of the store, or with the process that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Nothing is applied, and that is said.
    Refused,
    /// The commit is applied, and its answer is lost.
    Lost,
    /// The commit is not applied, and nobody knows.
    Dropped,
    /// The commit is on its way still when its answer is given up: it is judged later.
    Late,
    /// The call takes long.
    Slow,
    /// The process ends right before the call.
    CrashBefore,
    /// The process ends when the call is done, before it is answered.
    CrashAfter,
}

impl Fault {
    pub const ALL: &[Self] = &[
        Self::Refused,
        Self::Lost,
        Self::Dropped,
        Self::Late,
        Self::Slow,
        Self::CrashBefore,
        Self::CrashAfter,
    ];

    /// Whether it can only befall a commit.
    const fn is_of_commits(self) -> bool {
        matches!(self, Self::Lost | Self::Dropped | Self::Late)
    }
}

/// How a store is wrong on purpose, to see that it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It does not look whether a key was used meanwhile.
    ForgetsKeys,
    /// It acknowledges a commit that it drops.
    AcknowledgesWhatItDrops,
    /// It loses the messages of alerts.
    LosesAlerts,
    /// It keeps messages twice.
    TellsTwice,
    /// It loses what a billing period came to.
    LosesTotals,
    /// It loses what a correction gives back.
    LosesEntries,
    /// It loses the messages of alerts on balances.
    LosesFalls,
    /// It loses which alerts on balances have fired.
    ForgetsFalls,
    /// It loses what is changed of customers.
    LosesNames,
    /// It loses which metrics there are.
    LosesMetrics,
    /// It takes alerts of the plan that are created or changed for disabled ones.
    DisablesPlanAlerts,
    /// It loses that invoices are issued.
    LosesInvoices,
    /// It keeps the transactions of balances twice.
    BooksTwice,
    /// It loses which plans subscriptions are on after the first.
    LosesPlans,
}

impl Flaw {
    pub const ALL: &[Self] = &[
        Self::ForgetsKeys,
        Self::AcknowledgesWhatItDrops,
        Self::LosesAlerts,
        Self::TellsTwice,
        Self::LosesTotals,
        Self::LosesEntries,
        Self::LosesFalls,
        Self::ForgetsFalls,
        Self::LosesNames,
        Self::LosesMetrics,
        Self::DisablesPlanAlerts,
        Self::LosesInvoices,
        Self::BooksTwice,
        Self::LosesPlans,
    ];

    /// Does to a batch what it does.
    fn spoil(self, batch: &mut Batch) {
        let of = |change: &Change, table: &str, word: &str| {
            let document = change.document().filter(|_| change.key().table().name() == table);
            document.is_some_and(|document| document.as_str().contains(word))
        };
        match self {
            Self::ForgetsKeys => {
                batch.preconditions.retain(|of| of.key.table().name() != "record");
            }
            Self::AcknowledgesWhatItDrops => {}
            Self::LosesAlerts => {
                batch.changes.retain(|change| !of(change, "outbox", "usage_exceeded"));
            }
            Self::TellsTwice | Self::BooksTwice => {
                let table = if self == Self::BooksTwice { "balance_transaction" } else { "outbox" };
                let doubled = batch.changes.iter().filter(|change| of(change, table, ""));
                let again = doubled.filter_map(|change| {
                    let bytes = [change.key().bytes(), &[0]].concat();
                    let key = Key::new(change.key().table(), bytes);
                    Some(Change::Put(key, change.document()?.clone()))
                });
                let again: Vec<_> = again.collect();
                batch.changes.extend(again);
            }
            Self::LosesPlans => {
                batch.changes.retain(|change| !of(change, "subscription", "plan_intervals"));
            }
            Self::LosesTotals => {
                batch.changes.retain(|change| !of(change, "total", ""));
                batch.changes.iter_mut().for_each(lose_open_totals);
            }
            Self::LosesEntries => {
                batch.changes.retain(|change| !of(change, "ledger_entry", "amendment"));
            }
            Self::LosesFalls => {
                batch.changes.retain(|change| !of(change, "outbox", "credit_balance_"));
            }
            Self::ForgetsFalls => {
                batch.changes.retain(|change| !of(change, "balance_alert_state", ""));
            }
            Self::LosesNames => {
                batch.changes.retain(|change| !of(change, "customer", "\"name-"));
            }
            Self::LosesMetrics => {
                batch.changes.retain(|change| !of(change, "metric_catalogue", ""));
            }
            Self::LosesInvoices => {
                batch.changes.retain(|change| !of(change, "invoice", "\"status\":\"issued\""));
            }
            Self::DisablesPlanAlerts => {
                for change in &mut batch.changes {
                    if of(&*change, "alert_revision", "")
                        && let Change::Put(_, document) = change
                    {
                        let text =
                            document.as_str().replace("\"enabled\":true", "\"enabled\":false");
                        *document = Document::from_stored(text.as_bytes()).expect("it is text");
                    }
                }
            }
        }
    }
}

/// Takes what billing periods come to out of the head of a customer.
fn lose_open_totals(change: &mut Change) {
    let Change::Put(key, document) = change else { return };
    if key.table().name() != "customer_head" {
        return;
    }
    let mut head: serde_json::Value = serde_json::from_str(document.as_str()).unwrap();
    if let Some(usage) = head.get_mut("usage").and_then(serde_json::Value::as_object_mut) {
        usage.remove("totals");
        *document = Document::parse(head.to_string()).unwrap();
    }
}

/// Who calls: so-many-th task of the simulation.
pub(super) type TaskId = usize;

/// What a commit has changed of the tables that the simulation looks into.
#[derive(Clone, Debug)]
pub(super) struct Applied {
    pub(super) task: TaskId,
    pub(super) changes: Vec<(Key, Option<Document>)>,
}

/// What a task has met with, which excuses that it fails.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trouble {
    pub(super) faults: u64,
    pub(super) conflicts: u64,
}

/// The tables that the simulation looks into: where the effect of a request can be told from.
const WATCHED: &[&str] = &[
    "alert",
    "amendments",
    "balance_transaction",
    "credit_note",
    "customer",
    "customer_external",
    "customer_head",
    "invoice",
    "invoice_lines",
    "ledger_entry",
    "migration",
    "outbox",
    "overlay",
    "payment_attempt",
    "plan_alert",
    "record",
    "subscription",
];

#[derive(Debug)]
pub(super) struct SimStore {
    pub(super) inner: Arc<MemoryStore>,
    flaw: Option<Flaw>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: Random,
    /// Who is being polled.
    task: TaskId,
    /// The faults to come: after so many more calls, and which.
    faults: Vec<(u64, Fault)>,
    /// Commits that are on their way, since an instant.
    late: Vec<(TaskId, Batch, Instant)>,
    now: Instant,
    applied: Vec<Applied>,
    trouble: BTreeMap<TaskId, Trouble>,
    /// Whose process has ended.
    crashed: Vec<TaskId>,
    injected: BTreeMap<Fault, u64>,
    /// How often a commit expected a head as it was no longer.
    stale_heads: u64,
    calls: u64,
    /// How many calls the task has made that is polled.
    in_a_row: u64,
    is_calm: bool,
}

/// More calls than any task makes between two polls, of which each sees a call or two in a storm.
const TOO_MANY_IN_A_ROW: u64 = 4_000;

impl SimStore {
    pub(super) fn new(flaw: Option<Flaw>) -> Self {
        let state = State {
            random: Random::new(0),
            task: 0,
            faults: Vec::new(),
            late: Vec::new(),
            now: 0,
            applied: Vec::new(),
            trouble: BTreeMap::new(),
            crashed: Vec::new(),
            injected: BTreeMap::new(),
            calls: 0,
            stale_heads: 0,
            in_a_row: 0,
            is_calm: true,
        };
        Self { inner: Arc::new(MemoryStore::new()), flaw, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// How long calls take from now on is drawn from this seed.
    pub(super) fn reseed(&self, seed: u64) {
        self.state().random = Random::new(seed);
    }

    pub(super) fn is_polled(&self, task: TaskId) {
        let mut state = self.state();
        (state.task, state.in_a_row) = (task, 0);
    }

    /// Whether the task that was polled last goes on and on.
    pub(super) fn has_run_away(&self) -> bool {
        self.state().in_a_row > TOO_MANY_IN_A_ROW
    }

    pub(super) fn fail(&self, after: u64, fault: Fault) {
        self.state().faults.push((after, fault));
    }

    /// From now on nothing fails and nothing is late; or again it does.
    pub(super) fn calm(&self, is_calm: bool) {
        let mut state = self.state();
        state.is_calm = is_calm;
        state.faults.clear();
    }

    pub(super) fn draw(&self, percent: usize) -> bool {
        let mut state = self.state();
        !state.is_calm && state.random.percent(percent)
    }

    /// Whose process has ended since the last time.
    pub(super) fn take_crashed(&self) -> Vec<TaskId> {
        std::mem::take(&mut self.state().crashed)
    }

    pub(super) fn take_applied(&self) -> Vec<Applied> {
        std::mem::take(&mut self.state().applied)
    }

    pub(super) fn trouble(&self, task: TaskId) -> Trouble {
        self.state().trouble.get(&task).copied().unwrap_or_default()
    }

    pub(super) fn injected(&self) -> BTreeMap<Fault, u64> {
        self.state().injected.clone()
    }

    /// How often a commit expected a head as it was no longer.
    pub(super) fn stale_heads(&self) -> u64 {
        self.state().stale_heads
    }

    pub(super) fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Tells it the time.
    pub(super) fn set(&self, now: Instant) {
        self.state().now = now;
    }

    /// Lets the commits arrive that are late: all of them, or each by chance.
    pub(super) fn let_arrive(&self, all: bool) {
        let late = {
            let mut state = self.state();
            let (late, now) = (std::mem::take(&mut state.late), state.now);
            let on_its_way = late.into_iter().filter(|(.., since)| is_on_its_way(*since, now));
            let (now, later): (Vec<_>, Vec<_>) =
                on_its_way.partition(|_| all || state.random.percent(30));
            state.late = later;
            now
        };
        for (task, batch, _) in late {
            let _ = pollster::block_on(self.apply(task, batch));
        }
    }

    async fn apply(&self, task: TaskId, mut batch: Batch) -> Result<Commit, StoreError> {
        // What an account has from the beginning is right.
        if let Some(flaw) = self.flaw.filter(|_| !self.state().is_calm) {
            flaw.spoil(&mut batch);
        }
        let watched = batch.changes.iter().filter_map(|change| {
            let is_watched = WATCHED.contains(&change.key().table().name());
            is_watched.then(|| change.clone().into_row())
        });
        let changes: Vec<_> = watched.collect();
        let commit = self.inner.commit(batch).await?;
        let mut state = self.state();
        match &commit {
            Commit::Committed(_) if !changes.is_empty() => {
                state.applied.push(Applied { task, changes });
            }
            Commit::Committed(_) => {}
            Commit::Conflict(key) => {
                state.trouble.entry(task).or_default().conflicts += 1;
                let is_head = ["customer_head", "account_head"].contains(&key.table().name());
                state.stale_heads += u64::from(is_head);
            }
        }
        Ok(commit)
    }

    /// Counts a call: says who makes it, what goes wrong, and how often it is pending before and
    /// after.
    fn begin(&self, is_commit: bool) -> (TaskId, Option<Fault>, [usize; 2]) {
        let mut state = self.state();
        state.calls += 1;
        state.in_a_row += 1;
        let task = state.task;
        if state.in_a_row > TOO_MANY_IN_A_ROW {
            return (task, None, [1, 0]);
        }
        if state.is_calm {
            return (task, None, [0, 0]);
        }
        let mut due = None;
        for (index, (after, fault)) in state.faults.iter_mut().enumerate() {
            let has_transitions = *after == 0 && (is_commit || !fault.is_of_commits());
            *after = after.saturating_sub(1);
            if has_transitions && due.is_none() {
                due = Some(index);
            }
        }
        let fault = due.map(|index| state.faults.remove(index).1);
        if let Some(fault) = fault {
            *state.injected.entry(fault).or_default() += 1;
            state.trouble.entry(task).or_default().faults += 1;
        }
        let pauses = match fault {
            Some(Fault::Slow) => [20 + state.random.below(60), state.random.below(40)],
            _ => [0, 0].map(|least: usize| least + [0, 0, 0, 1, 1, 2, 5][state.random.below(7)]),
        };
        (task, fault, pauses)
    }

    /// The process of a task ends: the task goes no further.
    async fn crash<T>(&self, task: TaskId) -> T {
        self.state().crashed.push(task);
        std::future::pending().await
    }

    async fn read<T, F>(&self, answer: F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>> + Send,
        T: Send,
    {
        let (task, fault, [before, after]) = self.begin(false);
        pause(before).await;
        match fault {
            Some(Fault::Refused) => return Err(StoreError::unavailable("refused on purpose")),
            Some(Fault::CrashBefore | Fault::CrashAfter) => return self.crash(task).await,
            _ => {}
        }
        let answer = answer.await;
        pause(after).await;
        answer
    }
}

#[async_trait]
impl Store for SimStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.read(self.inner.get(keys)).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        self.read(self.inner.scan(scan)).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        let since = self.state().now;
        let (task, fault, [before, after]) = self.begin(true);
        pause(before).await;
        let lost = || StoreError::indeterminate("nobody knows, on purpose");
        {
            let mut state = self.state();
            if !is_on_its_way(since, state.now) {
                state.trouble.entry(task).or_default().faults += 1;
                return Err(lost());
            }
        }
        match fault {
            Some(Fault::Refused) => return Err(StoreError::unavailable("refused on purpose")),
            Some(Fault::Dropped) if self.flaw == Some(Flaw::AcknowledgesWhatItDrops) => {
                return self.inner.commit(Batch::new()).await;
            }
            Some(Fault::Dropped) => return Err(lost()),
            Some(Fault::Late) => {
                self.state().late.push((task, batch, since));
                return Err(lost());
            }
            Some(Fault::CrashBefore) => return self.crash(task).await,
            _ => {}
        }
        let commit = self.apply(task, batch).await;
        pause(after).await;
        match fault {
            Some(Fault::Lost) => Err(lost()),
            Some(Fault::CrashAfter) => self.crash(task).await,
            _ => commit,
        }
    }
}

/// Whether a commit that was asked for at an instant may arrive still: within a day or never, as the contract of a
/// store says.
fn is_on_its_way(since: Instant, now: Instant) -> bool {
    now - since < DAY
}
