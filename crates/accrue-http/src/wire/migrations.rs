//! Migrations of plans on the wire (subscriptions 5.4).

use accrue::{
    CivilDate, Timestamp,
    plan::{self, MigrationStatus, MigrationTiming},
};
use serde::Serialize;

use crate::shape::{Describe, Moment, Schema, choices, response};

response! {
    /// A migration of the subscriptions of a plan to one of its versions.
    pub(crate) struct Migration {
        /// Its id.
        id: String,
        /// Id of the plan.
        plan_id: String,
        /// When each subscription moves: null where that is with the creation of the migration.
        effective_time: Option<EffectiveTime>,
        /// Status of the migration.
        status: MigrationStatus,
    }
}

choices! {
    MigrationStatus {
        "not_started" => MigrationStatus::NotStarted,
        "in_progress" => MigrationStatus::InProgress,
        "completed" => MigrationStatus::Completed,
        "action_needed" => MigrationStatus::ActionNeeded,
        "canceled" => MigrationStatus::Canceled,
    }
    "MigrationTerm" Term {
        "end_of_term" => Term::EndOfTerm,
        "end_of_invoice" => Term::EndOfInvoice,
    }
}

/// When the subscriptions of a migration move: on a day, at an instant, or with the end of a period of each.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum EffectiveTime {
    Day(CivilDate),
    Instant(Moment),
    Term(Term),
}

/// The end of a period.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Term {
    EndOfTerm,
    EndOfInvoice,
}

impl Describe for EffectiveTime {
    fn schema() -> Schema {
        Schema::AnyOf(vec![Schema::formatted("date"), Moment::schema(), Term::schema()])
    }
}

impl EffectiveTime {
    fn of(when: MigrationTiming) -> Option<Self> {
        Some(match when {
            MigrationTiming::OnDate(day) => Self::Day(day),
            MigrationTiming::At(at) => Self::Instant(at.into()),
            MigrationTiming::EndOfTerm => Self::Term(Term::EndOfTerm),
            MigrationTiming::EndOfInvoice => Self::Term(Term::EndOfInvoice),
            _ => return None,
        })
    }
}

impl Migration {
    /// Writes a migration as it stands at `now`.
    pub(crate) fn at(of: &plan::Migration, now: Timestamp) -> Self {
        Self {
            id: of.id.to_string(),
            plan_id: of.plan_id.to_string(),
            effective_time: EffectiveTime::of(of.when),
            status: of.status(now),
        }
    }
}
