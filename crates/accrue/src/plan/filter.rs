use super::PlanStatus;
use crate::InstantRange;

/// Filter of a list of plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanFilter {
    /// Range of the instants at which they were created.
    pub created: InstantRange,
    /// Status that they have; any where none is given.
    pub status: Option<PlanStatus>,
}
