use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Invoice, InvoiceStatus};
use crate::{InvoiceId, Timestamp};

/// Schedule of retries after a failed payment (invoicing 8.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DunningSchedule {
    /// Invoice that is collected.
    pub invoice_id: InvoiceId,
    /// Its status.
    pub status: DunningStatus,
    /// Instant of the failure that began it.
    pub created_at: Timestamp,
    /// Instant at which it last changed.
    pub modified_at: Timestamp,
    /// Instant at which it ended.
    pub completed_at: Option<Timestamp>,
    /// Its steps, in order.
    pub steps: Vec<DunningStep>,
}

/// Retry of a payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DunningStep {
    /// Its number: 1, 2, 3, …
    pub step_number: u32,
    /// Its status.
    pub status: DunningStepStatus,
    /// Instant for which it is planned.
    pub planned_at: Timestamp,
    /// Instant at which it was executed.
    pub executed_at: Option<Timestamp>,
}

/// Status of a schedule of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DunningStatus {
    /// Retries follow.
    Active,
    /// The invoice is to be collected no longer.
    Completed,
    /// The last retry has failed.
    Exhausted,
}

/// Status of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DunningStepStatus {
    /// It is to come.
    Scheduled,
    /// It has begun.
    Executed,
    /// It was needed no longer.
    Skipped,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a change of a schedule is told of as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dunned {
    Created(DunningSchedule),
    /// It has taken the place of one that has ended.
    Reset {
        schedule: DunningSchedule,
        previous: DunningSchedule,
    },
    Executed(DunningStep),
    Ended(DunningSchedule),
}

impl DunningSchedule {
    fn after(invoice_id: InvoiceId, days: &[u32], at: Timestamp) -> Self {
        let steps = (1..).zip(days).map(|(step_number, days)| {
            let wait = DAY.saturating_mul(*days);
            let planned_at = at.saturating_add(wait);
            let status = DunningStepStatus::Scheduled;
            DunningStep { step_number, status, planned_at, executed_at: None }
        });
        Self {
            invoice_id,
            status: DunningStatus::Active,
            created_at: at,
            modified_at: at,
            completed_at: None,
            steps: steps.collect(),
        }
    }

    fn next(&mut self) -> Option<&mut DunningStep> {
        self.steps.iter_mut().find(|step| step.status == DunningStepStatus::Scheduled)
    }

    fn end(&mut self, status: DunningStatus, at: Timestamp) {
        (self.status, self.modified_at, self.completed_at) = (status, at, Some(at));
        while let Some(step) = self.next() {
            step.status = DunningStepStatus::Skipped;
        }
    }
}

impl Invoice {
    /// Begins the next retry, where an attempt that begins by itself is one.
    pub(crate) fn retry(&mut self, at: Timestamp) -> Option<Dunned> {
        let schedule = self.dunning.as_mut().filter(|of| of.status == DunningStatus::Active)?;
        schedule.modified_at = at;
        let step = schedule.next()?;
        (step.status, step.executed_at) = (DunningStepStatus::Executed, Some(at));
        Some(Dunned::Executed(step.clone()))
    }

    /// Plans the next retry of a payment that has failed, so many days after the first failure, or ends the schedule
    /// after the last.
    pub(crate) fn dun(&mut self, days: &[u32], at: Timestamp) -> Option<Dunned> {
        if self.status != InvoiceStatus::Issued {
            return None;
        }
        let is_first = self.dunning.is_none();
        let id = self.id;
        let schedule = self.dunning.get_or_insert_with(|| DunningSchedule::after(id, days, at));
        if schedule.status != DunningStatus::Active {
            return None;
        }
        let next = schedule.next().map(|step| step.planned_at);
        self.auto_collection.next_attempt_at = next.map(|next| next.max(at));
        match next {
            Some(_) if is_first => {
                let schedule = schedule.clone();
                Some(match self.previous_dunning.take() {
                    Some(previous) => Dunned::Reset { schedule, previous },
                    None => Dunned::Created(schedule),
                })
            }
            Some(_) => None,
            None => {
                schedule.end(DunningStatus::Exhausted, at);
                Some(Dunned::Ended(schedule.clone()))
            }
        }
    }

    /// Ends what collects an invoice by itself, where that is paid or owed no longer.
    pub(crate) fn conclude(&mut self, at: Timestamp) -> Option<Dunned> {
        if self.status == InvoiceStatus::Issued {
            return None;
        }
        self.auto_collection.next_attempt_at = None;
        let schedule = self.dunning.as_mut().filter(|of| of.status == DunningStatus::Active)?;
        schedule.end(DunningStatus::Completed, at);
        Some(Dunned::Ended(schedule.clone()))
    }
}
