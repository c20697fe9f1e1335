use crate::{CreditBlockId, Timestamp};

/// What came due, and when: in the order in which it is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: Timestamp,
    pub(super) what: What,
}

/// What came due, in the order in which it is settled at one instant. A change comes
/// after what its instant brought: so it does where somebody has settled that before the change was
/// made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A subscription began.
    Began,
    /// It ended.
    Ended,
    /// A billing period began or ended, or the quantity of a fee changed, and fees fell due.
    Turn,
    /// A block of credits expired.
    Expired(CreditBlockId),
    /// An alert of a subscription's plan changed.
    Changed,
}
