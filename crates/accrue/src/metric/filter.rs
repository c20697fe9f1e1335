use super::MetricStatus;
use crate::InstantRange;

/// Which metrics of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetricFilter {
    /// When they were created.
    pub created: InstantRange,
    /// Of one status.
    pub status: Option<MetricStatus>,
}
