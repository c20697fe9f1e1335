//! A transition, and the order of those of one instant.

use crate::{CreditBlockId, Timestamp};

/// A transition and its instant: in the order in which they are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Transition {
    pub(super) at: Timestamp,
    pub(super) kind: TransitionKind,
}

/// What time brings, in the order in which it is applied at one instant. A change comes
/// after what its instant brought: so it does where somebody has applied that before the change was
/// made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TransitionKind {
    /// A subscription began.
    Began,
    /// Its trial ended.
    TrialEnded,
    /// It ended.
    Ended,
    /// It changed its plan.
    PlanChanged,
    /// A billing period began or ended, or the quantity of a fee changed, and fees fell due.
    Turn,
    /// Credits were given with a period of an allocation: before those of the last one expire.
    Gave,
    /// The pools of licenses were full again.
    Refilled,
    /// Some time ago a period ended, and no more events are taken for it.
    Closed,
    /// The boundary of a draft passed.
    Passed,
    /// A block of credits expired.
    Expired(CreditBlockId),
    /// A top-up began to watch a balance.
    ToppedUp,
    /// A draft is issued: with all that its periods were brought by then.
    Issued,
    /// The date of a one-off draft passed, or an invoice was to be collected: what was issued at that instant
    /// as well.
    Collected,
    /// An alert of a subscription's plan changed.
    Changed,
}
