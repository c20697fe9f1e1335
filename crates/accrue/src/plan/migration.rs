use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::PlanVersion;
use crate::{CivilDate, Error, MigrationId, PlanId, SubscriptionId, Timestamp, limits};

/// Migration of the subscriptions of a plan to one of its versions, to create (subscriptions 5.5).
///
/// ```
/// use accrue::plan::{MigrationTiming, NewMigration, PlanVersion};
///
/// let mut new = NewMigration::to(PlanVersion::new(2));
/// new.when = MigrationTiming::EndOfTerm;
/// assert!(new.subscriptions.is_none(), "all of the plan");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMigration {
    /// Version that they move to.
    pub version: PlanVersion,
    /// When each of them does.
    pub when: MigrationTiming,
    /// The subscriptions, at most [1,000](crate::limits::MIGRATED): all that are on another version where none are given.
    pub subscriptions: Option<Vec<SubscriptionId>>,
}

/// Timing of a migration: when each subscription moves (subscriptions 5.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MigrationTiming {
    /// Instant at which the migration is created.
    #[default]
    Immediate,
    /// Instant, also one in its current billing period.
    At(Timestamp),
    /// Midnight of a day in the zone of its customer.
    OnDate(CivilDate),
    /// End of its current billing period.
    EndOfTerm,
    /// End of its current billing period, with the invoice of that.
    EndOfInvoice,
}

/// Migration of the subscriptions of a plan to one of its versions (subscriptions 5.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Migration {
    /// Its id.
    pub id: MigrationId,
    /// The plan.
    pub plan_id: PlanId,
    /// Version that subscriptions move to.
    pub version: PlanVersion,
    /// When each of them does.
    pub when: MigrationTiming,
    /// The subscriptions: all that were on another version where none are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscriptions: Option<Vec<SubscriptionId>>,
    /// Number of subscriptions that were moved, or were planned to move.
    pub moved: u64,
    /// Number of subscriptions that could not be: a change of theirs waits, or the version breaks a rule for them.
    pub refused: u64,
    /// Instant at which the first of them moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_move: Option<Timestamp>,
    /// Instant at which the last one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_move: Option<Timestamp>,
    /// Instant at which it was canceled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canceled_at: Option<Timestamp>,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// Whether every subscription has been looked at.
    pub(crate) is_planned: bool,
}

/// Status of a migration (subscriptions 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MigrationStatus {
    /// No subscription has moved yet.
    NotStarted,
    /// Some have.
    InProgress,
    /// All have.
    Completed,
    /// All have but some that could not.
    ActionNeeded,
    /// It was canceled: those that had moved stay moved.
    Canceled,
}

/// What a step of a migration has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// The subscription moves at an instant.
    At(Timestamp),
    /// It cannot.
    Refused,
    /// It is none of those that move.
    No,
}

impl NewMigration {
    /// Moves all subscriptions of the plan to a version, at once.
    #[must_use]
    pub const fn to(version: PlanVersion) -> Self {
        Self { version, when: MigrationTiming::Immediate, subscriptions: None }
    }

    /// Decides the migration.
    pub(crate) fn decide(
        self,
        id: MigrationId,
        plan_id: PlanId,
        now: Timestamp,
    ) -> Result<Migration, Error> {
        let (found, most) = (self.subscriptions.as_ref().map_or(0, Vec::len), limits::MIGRATED);
        if found > most {
            let message = format!("has {found} subscriptions, expected at most {most}");
            return Err(Error::invalid("subscriptions", message));
        }
        let Self { version, when, mut subscriptions } = self;
        let mut known = BTreeSet::new();
        subscriptions.iter_mut().for_each(|ids| ids.retain(|id| known.insert(*id)));
        Ok(Migration {
            id,
            plan_id,
            version,
            when,
            subscriptions,
            moved: 0,
            refused: 0,
            first_move: None,
            last_move: None,
            canceled_at: None,
            created_at: now,
            is_planned: false,
        })
    }
}

impl Migration {
    /// Returns its status at an instant.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> MigrationStatus {
        let has_begun = self.first_move.is_some_and(|first| first <= now);
        let is_over = self.is_planned && self.last_move.is_none_or(|last| last <= now);
        match (self.canceled_at, is_over) {
            (Some(_), _) => MigrationStatus::Canceled,
            (None, true) if self.refused > 0 => MigrationStatus::ActionNeeded,
            (None, true) => MigrationStatus::Completed,
            (None, false) if has_begun => MigrationStatus::InProgress,
            (None, false) => MigrationStatus::NotStarted,
        }
    }

    /// Cancels it at an instant: those that are still to move stay.
    pub(crate) fn cancel(&mut self, now: Timestamp) -> Result<(), Error> {
        match self.status(now) {
            status @ (MigrationStatus::Completed | MigrationStatus::Canceled) => {
                let detail = format!("the migration is {} already", status.name());
                Err(Error::constraint(detail))
            }
            _ => {
                self.canceled_at = Some(now);
                Ok(())
            }
        }
    }

    /// Notes what a step has found.
    pub(crate) fn note(&mut self, moved: Moved) {
        match moved {
            Moved::At(at) => {
                self.moved = self.moved.saturating_add(1);
                self.first_move = Some(self.first_move.map_or(at, |first| first.min(at)));
                self.last_move = Some(self.last_move.map_or(at, |last| last.max(at)));
            }
            Moved::Refused => self.refused = self.refused.saturating_add(1),
            Moved::No => {}
        }
    }
}

impl MigrationStatus {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::ActionNeeded => "action_needed",
            Self::Canceled => "canceled",
        }
    }
}
