//! Requests under keys that wait for one customer, run together in one commit.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    super::{
        Account,
        apply::{Applied, Work, apply},
        together::{Waiter, Waiters},
        transaction::{Stop, Transaction},
    },
    work::Member,
};
use crate::{
    Error, Timestamp, limits,
    store::{Key, Version},
};

/// Returns the request that waits.
fn member(waiter: &Waiter) -> Result<&Member, Error> {
    waiter.request::<Member>().ok_or_else(|| Error::corrupt("something else waits"))
}

/// Runs requests together. Each gets an outcome, also where the caller of this goes away.
pub(super) async fn run(account: &Account, waiting: Waiters) {
    let mut group = Group { members: waiting, answers: Vec::new() };
    for _ in 0..limits::DISMISSED {
        // One that is left goes alone.
        if group.members.len() < 2 {
            return;
        }
        match apply(account, &mut group).await {
            Ok(Applied::Done(Ok(()))) => {
                let answers = std::mem::take(&mut group.answers);
                for (waiter, answer) in group.members.drain(..).zip(answers) {
                    waiter.tell(Some(answer));
                }
                return;
            }
            Ok(Applied::Done(Err(error))) if !error.can_be_retried() && group.dismiss_failed() => {}
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
    /// Answers of those that have succeeded, which the one that has failed comes after.
    answers: Vec<String>,
}

impl Group {
    /// Has the member that has failed go alone, and tells whether one has.
    fn dismiss_failed(&mut self) -> bool {
        self.dismiss(self.answers.len())
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
impl Work for Group {
    fn name(&self) -> &'static str {
        "together"
    }

    async fn run(&mut self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        self.answers.clear();
        for waiter in &self.members {
            self.answers.push(member(waiter)?.run(tx).await?);
        }
        Ok(())
    }

    fn records(&self, now: Timestamp) -> Vec<(Key, Option<Version>)> {
        let members = self.members.iter().filter_map(|waiter| member(waiter).ok());
        members.flat_map(|member| member.records(now)).collect()
    }

    fn is_unasked(&self) -> bool {
        true
    }
}
