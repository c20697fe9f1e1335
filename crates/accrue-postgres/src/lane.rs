use std::{collections::BTreeMap, sync::Arc, time::Duration};

use deadpool_postgres::Object;
use tokio::time::{sleep, timeout};
use tokio_postgres::{Error, Row, types::ToSql};

use crate::{
    encode::lock,
    failure::{Failure, Meaning},
    options::Isolation,
    queue::{Answer, Judged, Waiting},
    shared::{AGAIN, Canceled, LOST, Shared},
};

/// How long a commit in doubt waits before it asks again.
const PAUSE: Duration = Duration::from_millis(50);
/// How many calls that were answered are left in the table of calls, for each lane.
const ANSWERED: usize = 64;

/// One of several who take the batches that wait, and commit them in one call.
#[derive(Debug)]
pub(crate) struct Lane {
    shared: Arc<Shared>,
    /// Calls that were answered, and stand in the table of calls for nothing.
    answered: Vec<i64>,
}

/// What a call locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Locking {
    Nothing,
    Keys,
    Store,
}

/// Why a call was not answered.
enum Unanswered {
    Statement(Error),
    /// It was, before a standby had what it says.
    Canceled,
}

/// What became of a call without an answer.
enum Settled {
    Applied(Vec<Judged>),
    NotApplied,
}

impl Lane {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, answered: Vec::new() }
    }

    pub(crate) async fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        while let Some(together) = shared.queue.next(shared.most_locks).await {
            self.serve(together).await;
        }
    }

    /// Answers each batch by itself: where a call was refused, another batch may be why.
    async fn serve(&mut self, together: Vec<Waiting>) {
        match self.call(&together).await {
            Ok(judged) => {
                for (waiting, judged) in together.into_iter().zip(judged) {
                    answer(waiting, Ok(judged));
                }
            }
            Err(refused) if refused.is_refusal() && together.len() > 1 => {
                for waiting in together {
                    let alone = self.call(std::slice::from_ref(&waiting)).await;
                    let first =
                        |judged: Vec<Judged>| judged.first().copied().ok_or(refused.clone());
                    answer(waiting, alone.and_then(first));
                }
            }
            Err(failure) => {
                together.into_iter().for_each(|waiting| answer(waiting, Err(failure.clone())));
            }
        }
    }

    async fn call(&mut self, together: &[Waiting]) -> Result<Vec<Judged>, Failure> {
        let mut locking = self.locking(together);
        let (mut again, mut lost) = (0, 0);
        loop {
            let client = self.shared.client().await?;
            let number = self.shared.next_version(&client).await?;
            let error = match self.send(&client, number, together, locking).await {
                Ok(judged) => {
                    self.answered.push(number);
                    return Ok(judged);
                }
                Err(error) => error,
            };
            match error.meaning() {
                Meaning::Again if again < AGAIN => again += 1,
                Meaning::NoLocks if locking == Locking::Keys => locking = Locking::Store,
                Meaning::Elsewhere if lost < LOST => {
                    lost += 1;
                    drop(Object::take(client));
                }
                Meaning::Doubtful => {
                    drop(Object::take(client));
                    match self.settle(number, together).await {
                        Some(Settled::Applied(judged)) => return Ok(judged),
                        Some(Settled::NotApplied) if lost < LOST => lost += 1,
                        Some(Settled::NotApplied) => return Err(error.not_applied()),
                        None => return Err(error.unknown()),
                    }
                }
                _ => return Err(error.not_applied()),
            }
        }
    }

    /// The greatest commits lock the store instead of their keys: a server has room for so many locks.
    fn locking(&self, together: &[Waiting]) -> Locking {
        let locks: usize = together.iter().map(|waiting| waiting.batch.locks.len()).sum();
        match self.shared.isolation {
            Isolation::Serializable => Locking::Nothing,
            Isolation::Locks if locks > self.shared.most_locks => Locking::Store,
            Isolation::Locks => Locking::Keys,
        }
    }

    async fn send(
        &mut self,
        client: &Object,
        number: i64,
        together: &[Waiting],
        locking: Locking,
    ) -> Result<Vec<Judged>, Unanswered> {
        let (locks, alone) = locks(together, locking, self.shared.seed);
        let columns = Columns::of(together);
        let count = i32::try_from(together.len()).unwrap_or(i32::MAX);
        let forgotten = if self.answered.len() < ANSWERED { &[][..] } else { &self.answered[..] };
        let mut parameters: Parameters<'_> = vec![&number, &forgotten, &count, &locks, &alone];
        columns.add_to(&mut parameters);
        let statement = client.prepare_cached(&self.shared.statements.apply).await;
        let statement = statement.map_err(Unanswered::Statement)?;
        let waits = self.shared.waits.count();
        let rows = client.query(&statement, &parameters).await.map_err(Unanswered::Statement)?;
        if waits != self.shared.waits.count() {
            return Err(Unanswered::Canceled);
        }
        let lost: Vec<_> = rows.iter().filter_map(failed).collect();
        if !forgotten.is_empty() && lost.len() < together.len() {
            self.answered.clear();
        }
        Ok(judged(together, number, &lost))
    }

    /// Finds out what became of a call. It may be under way still: who asks waits for it, or keeps it from being
    /// applied.
    async fn settle(&self, number: i64, together: &[Waiting]) -> Option<Settled> {
        let ask = async {
            loop {
                if let Ok(row) = self.ask(number).await {
                    return row;
                }
                sleep(PAUSE).await;
            }
        };
        let Ok(row) = timeout(self.shared.patience, ask).await else {
            self.shared.doubt(number);
            return None;
        };
        if !row.get::<_, bool>(1) {
            return Some(Settled::NotApplied);
        }
        let batches = row.get::<_, Option<Vec<i32>>>(2).unwrap_or_default();
        let places = row.get::<_, Option<Vec<i64>>>(3).unwrap_or_default();
        let lost: Vec<_> = batches.into_iter().zip(places).filter_map(failed_at).collect();
        Some(Settled::Applied(judged(together, number, &lost)))
    }

    async fn ask(&self, number: i64) -> Result<Row, Failure> {
        let client = self.shared.client().await?;
        let asked = self.shared.settle(&client, &[number]).await;
        let row = asked.and_then(|rows| {
            let row = rows.into_iter().next();
            row.ok_or_else(|| Failure::not_applied("the server does not say", Canceled))
        });
        if row.is_err() {
            drop(Object::take(client));
        }
        row
    }
}

impl Unanswered {
    fn meaning(&self) -> Meaning {
        match self {
            Self::Statement(error) => Meaning::of(error),
            Self::Canceled => Meaning::Doubtful,
        }
    }

    fn not_applied(self) -> Failure {
        match self {
            Self::Statement(error) => Failure::of_commit(error),
            Self::Canceled => Failure::not_applied("the commit was taken back", Canceled),
        }
    }

    fn unknown(self) -> Failure {
        let reason = "the connection was lost";
        match self {
            Self::Statement(error) => Failure::unknown(reason, error),
            Self::Canceled => Failure::unknown("the wait for the standby was canceled", Canceled),
        }
    }
}

/// A caller who has gone wants no answer.
fn answer(waiting: Waiting, answer: Answer) {
    drop(waiting.caller.send(answer));
}

/// Returns the locks of a call, in one order for all: that of the store first.
fn locks(together: &[Waiting], locking: Locking, seed: u64) -> (Vec<i64>, Vec<bool>) {
    let store = lock(&[], seed);
    match locking {
        Locking::Nothing => (Vec::new(), Vec::new()),
        Locking::Store => (vec![store], vec![true]),
        Locking::Keys => {
            let mut keys: BTreeMap<i64, bool> = BTreeMap::new();
            for (lock, writes) in together.iter().flat_map(|waiting| &waiting.batch.locks) {
                *keys.entry(*lock).or_default() |= writes;
            }
            std::iter::once((store, false)).chain(keys).unzip()
        }
    }
}

/// Batch that failed, and the place among the expectations of all.
fn failed(row: &Row) -> Option<(usize, usize)> {
    failed_at((row.get(0), row.get(1)))
}

fn failed_at((batch, place): (i32, i64)) -> Option<(usize, usize)> {
    // The database counts places from one.
    let place = place.checked_sub(1)?;
    Some((usize::try_from(batch).ok()?, usize::try_from(place).ok()?))
}

fn judged(together: &[Waiting], number: i64, lost: &[(usize, usize)]) -> Vec<Judged> {
    let mut begin = 0_usize;
    let judge = |(at, waiting): (usize, &Waiting)| {
        let first = begin;
        begin = begin.saturating_add(waiting.batch.judged.len());
        match lost.iter().find(|(batch, _)| *batch == at) {
            Some((_, place)) => Judged::Failed(place.saturating_sub(first)),
            None => Judged::Applied(number),
        }
    };
    together.iter().enumerate().map(judge).collect()
}

/// Parameters of a statement.
type Parameters<'a> = Vec<&'a (dyn ToSql + Sync)>;

/// Batches of a call, column by column: each item with the place of its batch.
#[derive(Default)]
struct Columns<'a> {
    judged: Items<'a, Option<i64>>,
    new: Items<'a, &'a str>,
    kept: Items<'a, &'a str>,
    put: Items<'a, &'a str>,
    gone: Items<'a, ()>,
}

/// Items with the places of their batches, their keys, and what belongs to each.
#[derive(Default)]
struct Items<'a, T> {
    of: Vec<i32>,
    keys: Vec<&'a [u8]>,
    values: Vec<T>,
}

impl<'a> Columns<'a> {
    fn of(together: &'a [Waiting]) -> Self {
        let mut columns = Self::default();
        for (at, waiting) in (0..).zip(together) {
            let batch = &waiting.batch;
            batch.judged.iter().for_each(|(key, version)| columns.judged.add(at, key, *version));
            batch.new.iter().for_each(|(key, text)| columns.new.add(at, key, text.as_str()));
            batch.kept.iter().for_each(|(key, text)| columns.kept.add(at, key, text.as_str()));
            batch.put.iter().for_each(|(key, text)| columns.put.add(at, key, text.as_str()));
            batch.gone.iter().for_each(|key| columns.gone.add(at, key, ()));
        }
        columns
    }

    /// Adds them in the order in which the function has them.
    fn add_to<'b>(&'b self, parameters: &mut Parameters<'b>) {
        self.judged.add_to(parameters);
        parameters.push(&self.judged.values);
        for written in [&self.new, &self.kept, &self.put] {
            written.add_to(parameters);
            parameters.push(&written.values);
        }
        self.gone.add_to(parameters);
    }
}

impl<'a, T> Items<'a, T> {
    fn add(&mut self, of: i32, key: &'a [u8], value: T) {
        self.of.push(of);
        self.keys.push(key);
        self.values.push(value);
    }

    fn add_to<'b>(&'b self, parameters: &mut Parameters<'b>) {
        parameters.push(&self.of);
        parameters.push(&self.keys);
    }
}
