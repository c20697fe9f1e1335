//! Acceptance of new events, by their timestamps and customers.

use crate::{
    CustomerId, Error, Timestamp,
    backfill::Backfill,
    engine::{kernel::Transaction, rows},
};

/// Bounds of the new events that are taken: their timestamps and their customers.
pub(super) struct Acceptance<'b> {
    newest: Timestamp,
    taker: Taker<'b>,
}

/// Taker of the events.
enum Taker<'b> {
    /// A backfill, however old they are.
    Backfill(&'b Backfill),
    /// No backfill: they are recent.
    Recent { oldest: Timestamp },
}

impl<'b> Acceptance<'b> {
    pub(super) async fn find(
        tx: &mut Transaction<'_>,
        into: Option<&'b Backfill>,
    ) -> Result<Self, Error> {
        let newest = rows::account::newest_taken(tx);
        let taker = match into {
            Some(backfill) => Taker::Backfill(backfill),
            None => Taker::Recent { oldest: rows::account::oldest_taken(tx).await? },
        };
        Ok(Self { newest, taker })
    }

    /// Says why an event is not taken.
    pub(super) fn refuse(&self, at: Timestamp, customer_id: CustomerId) -> Vec<String> {
        let mut reasons = Vec::new();
        match self.taker {
            Taker::Backfill(backfill) => {
                let (start, end) = (backfill.timeframe.start(), backfill.timeframe.end());
                if !backfill.timeframe.contains(at) {
                    reasons.push(format!(
                        "timestamp: {at} is outside of the backfill's timeframe, from {start} up to \
                         {end}"
                    ));
                }
                if let Some(own) = backfill.customer_id.filter(|own| *own != customer_id) {
                    reasons.push(format!(
                        "customer_id: {customer_id} is another customer than the backfill's, {own}"
                    ));
                }
            }
            Taker::Recent { oldest } if at < oldest => reasons.push(format!(
                "timestamp: {at} is too old, the oldest that is taken now is {oldest}"
            )),
            Taker::Recent { .. } => {}
        }
        let newest = self.newest;
        if at > newest {
            reasons.push(format!(
                "timestamp: {at} is in the future, the newest that is taken now is {newest}"
            ));
        }
        reasons
    }
}
