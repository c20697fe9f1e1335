use super::{Backfill, BackfillStatus};
use crate::{Error, Timestamp};

/// Transitions of a backfill (wire 3.3).
impl Backfill {
    /// Tells whether it takes events.
    pub(crate) fn is_taking(&self, now: Timestamp) -> bool {
        let is_to_close = self.close_time.is_some_and(|close_time| now < close_time);
        self.status == BackfillStatus::Pending && is_to_close
    }

    /// Checks that it takes events, and can be closed.
    pub(crate) fn check_taking(&self, now: Timestamp) -> Result<(), Error> {
        match self.status {
            _ if self.is_taking(now) => Ok(()),
            BackfillStatus::Pending | BackfillStatus::Reflected => Err(self.is_closed()),
            BackfillStatus::PendingRevert | BackfillStatus::Reverted => Err(self.is_reverted()),
        }
    }

    /// Closes it.
    pub(crate) fn close(self, now: Timestamp) -> Result<Self, Error> {
        self.check_taking(now)?;
        Ok(Self { close_time: Some(now), ..self })
    }

    /// Reverts it: at once where it takes events, and where it counts only once it counts no longer.
    /// Its corrections up to now are done.
    pub(crate) fn revert(self, now: Timestamp) -> Result<Self, Error> {
        let (status, close_time) = match self.status {
            BackfillStatus::Pending if self.is_taking(now) => (BackfillStatus::Reverted, None),
            BackfillStatus::Reflected => (BackfillStatus::PendingRevert, self.close_time),
            BackfillStatus::Pending => return Err(self.is_closed()),
            BackfillStatus::PendingRevert | BackfillStatus::Reverted => {
                return Err(self.is_reverted());
            }
        };
        Ok(Self { status, close_time, reverted_at: Some(now), ..self })
    }

    /// Tells whether the number of its events is still kept by customer, and not with it: as long
    /// as it was not reflected.
    pub(crate) const fn is_counted_by_customer(&self) -> bool {
        match self.status {
            BackfillStatus::Pending => true,
            BackfillStatus::Reverted => self.close_time.is_none(),
            BackfillStatus::Reflected | BackfillStatus::PendingRevert => false,
        }
    }

    pub(crate) fn is_closed(&self) -> Error {
        Error::constraint(format!("the backfill {} is closed already", self.id))
    }

    fn is_reverted(&self) -> Error {
        Error::constraint(format!("the backfill {} is reverted already", self.id))
    }
}
