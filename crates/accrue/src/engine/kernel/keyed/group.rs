//! Requests under keys that wait for one customer, run together in one commit.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use async_trait::async_trait;

use super::super::{
    Account,
    apply::{Applied, Command, Decided, Door, apply},
    together::{Waiter, Waiters},
    transaction::{Stop, Transaction},
};
use crate::{
    Error, Timestamp, limits,
    store::{Key, Version},
};

/// Request that others of its customer can be committed with.
#[async_trait]
pub(super) trait Member: Send + Sync {
    /// Runs it as if its key were new, writes its record, and returns its answer.
    async fn run(&self, tx: &mut Transaction<'_>) -> Result<String, Stop>;

    /// Names the rows in which a record of its key may lie.
    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)>;
}

/// Returns the request that waits.
fn member(waiter: &Waiter) -> Result<&dyn Member, Error> {
    let member = waiter.request::<Box<dyn Member>>();
    member.map(|member| &**member).ok_or_else(|| Error::corrupt("something else waits"))
}

/// Runs requests together. Each gets an outcome, also where the caller of this goes away.
pub(super) async fn run(account: &Account, waiting: Waiters) {
    let mut group = Group { members: waiting, failed: AtomicUsize::new(usize::MAX) };
    for _ in 0..limits::DISMISSED {
        // One that is left goes alone.
        if group.members.len() < 2 {
            return;
        }
        match apply(account, &group, Some(&group)).await {
            Ok(Applied::Done(Decided { result: Ok(answers), .. })) => {
                for (waiter, answer) in group.members.drain(..).zip(answers) {
                    waiter.tell(Some(answer));
                }
                return;
            }
            Ok(Applied::Done(Decided { result: Err(error), .. }))
                if !error.can_be_retried() && group.dismiss_failed() => {}
            Ok(Applied::LostTheKey(Some(record)))
                if group.dismiss_used(&record, account.shared().now()) => {}
            // Nobody knows: each finds out by itself.
            _ => return,
        }
    }
}

/// Requests that run one after the other, in one commit.
struct Group {
    members: Waiters,
    /// Place of the member that has failed last.
    failed: AtomicUsize,
}

impl Group {
    /// Has the member that has failed go alone, and tells whether one has.
    fn dismiss_failed(&mut self) -> bool {
        let failed = std::mem::replace(self.failed.get_mut(), usize::MAX);
        self.dismiss(failed)
    }

    /// Has the member go alone whose key has a record, and tells whether it is one's.
    fn dismiss_used(&mut self, record: &Key, now: Timestamp) -> bool {
        let has_it = |waiter: &Arc<Waiter>| {
            let records = member(waiter).map(|member| member.records(now)).unwrap_or_default();
            records.iter().any(|(row, _)| row == record)
        };
        let used = self.members.iter().position(has_it);
        used.is_some_and(|place| self.dismiss(place))
    }

    fn dismiss(&mut self, place: usize) -> bool {
        let is_one = place < self.members.len();
        if is_one {
            self.members.remove(place).tell(None);
        }
        is_one
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
            answers.push(member(waiter)?.run(tx).await?);
        }
        self.failed.store(usize::MAX, Relaxed);
        Ok(answers)
    }
}

impl Door<Vec<String>> for Group {
    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        let members = self.members.iter().filter_map(|waiter| member(waiter).ok());
        members.flat_map(|member| member.records(now)).collect()
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
