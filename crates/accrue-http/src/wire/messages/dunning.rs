//! Retries of payments, as messages tell of them (invoicing 8.7).

use accrue::invoice::{DunningSchedule, DunningStatus, DunningStep, DunningStepStatus};
use serde::Serialize;

use crate::shape::Moment;

/// A schedule of retries.
#[derive(Debug, Serialize)]
pub(super) struct Schedule {
    invoice_id: String,
    status: DunningStatus,
    start_time: Moment,
    completion_time: Option<Moment>,
    created_at: Moment,
    modified_at: Moment,
}

/// A retry.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    status: DunningStepStatus,
    actions: [&'static str; 1],
    step_number: u32,
    timestamp: Moment,
    execution_time: Option<Moment>,
    manually_triggered_at: Option<Moment>,
    created_at: Option<Moment>,
    modified_at: Option<Moment>,
}

impl Schedule {
    pub(super) fn of(of: &DunningSchedule) -> Self {
        Self {
            invoice_id: of.invoice_id.to_string(),
            status: of.status,
            start_time: of.created_at.into(),
            completion_time: of.completed_at.map(Moment::from),
            created_at: of.created_at.into(),
            modified_at: of.modified_at.into(),
        }
    }
}

impl Step {
    pub(super) fn of(of: &DunningStep) -> Self {
        Self {
            status: of.status,
            actions: ["retry_payment"],
            step_number: of.step_number,
            timestamp: of.planned_at.into(),
            execution_time: of.executed_at.map(Moment::from),
            manually_triggered_at: None,
            created_at: None,
            modified_at: None,
        }
    }
}
