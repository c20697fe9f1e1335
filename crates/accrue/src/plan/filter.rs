use super::PlanStatus;
use crate::InstantRange;

/// Which plans of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanFilter {
    /// When they were created.
    pub created: InstantRange,
    /// Of one status.
    pub status: Option<PlanStatus>,
}
