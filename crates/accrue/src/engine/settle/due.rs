use crate::{CreditBlockId, Timestamp, alert::Alert};

/// What came due, and when.
pub(super) struct Due {
    pub(super) at: Timestamp,
    pub(super) what: What,
}

/// What came due: for a subscription, or for a ledger.
pub(super) enum What {
    /// It began.
    Began,
    /// It ended.
    Ended,
    /// A billing period began or ended, and with it fees fell due.
    Turn,
    /// A block of credits expired.
    Expired(CreditBlockId),
    /// An alert of its plan changed: the number of the change, its own instant, and what it left.
    Changed(u64, Timestamp, Box<Alert>),
}

impl Due {
    /// The order in which things are settled. A change comes after what its instant brought: so it
    /// does where somebody has settled that before the change was made.
    pub(super) const fn order(&self) -> (Timestamp, u8) {
        let rank = match self.what {
            What::Began => 0,
            What::Ended => 1,
            What::Turn => 2,
            What::Expired(_) => 3,
            What::Changed(..) => 4,
        };
        (self.at, rank)
    }
}
