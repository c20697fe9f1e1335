use crate::Timestamp;

/// End up to which usage and charges count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// Instant before which usage counts.
    pub(super) used: Timestamp,
    /// Instant before which charges in advance count, and up to and including which those in arrears do.
    charged: Timestamp,
    /// True where charges in advance at that very instant count too.
    is_inclusive: bool,
}

impl Until {
    /// Counts up to the end of a timeframe; of charges, those of the future are not there.
    pub(super) fn before(end: Timestamp, now: Timestamp) -> Self {
        Self { used: end, charged: end.min(now), is_inclusive: now < end }
    }

    /// Counts up to an instant, with all that falls due at it.
    pub(super) fn through(at: Timestamp) -> Self {
        Self { used: at, charged: at, is_inclusive: true }
    }

    /// Counts no further than right before an instant, with what falls due in arrears at it.
    pub(super) fn no_later_than(self, at: Timestamp) -> Self {
        Self {
            used: self.used.min(at),
            charged: self.charged.min(at),
            is_inclusive: self.is_inclusive && self.charged < at,
        }
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
