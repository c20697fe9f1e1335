use super::MetricStatus;
use crate::InstantRange;

/// Filter of a list of metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricFilter {
    /// Range of the instants at which they were created.
    pub created: InstantRange,
    /// Status that they have; any where none is given.
    pub status: Option<MetricStatus>,
}
