use crate::Timestamp;

/// Up to where something counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// Usage before it.
    pub(super) used: Timestamp,
    /// Charges in advance before it, those in arrears up to and including it.
    charged: Timestamp,
    /// Whether charges in advance at that very instant count too.
    is_inclusive: bool,
}

impl Until {
    /// Up to the end of a timeframe; of charges, those of the future are not there.
    pub(super) fn before(end: Timestamp, now: Timestamp) -> Self {
        Self { used: end, charged: end.min(now), is_inclusive: now < end }
    }

    /// Tells whether a charge in advance counts.
    pub(super) fn has_begun(self, at: Timestamp) -> bool {
        at < self.charged || self.is_inclusive && at == self.charged
    }

    /// Tells whether a charge in arrears counts.
    pub(super) fn has_ended(self, at: Timestamp) -> bool {
        at <= self.charged
    }
}
