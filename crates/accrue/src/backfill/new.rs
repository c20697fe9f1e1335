use std::time::Duration;

use serde::Serialize;

use super::{Backfill, BackfillStatus};
use crate::{
    BackfillId, CustomerId, Error, IdOr, Timeframe, Timestamp, expression::Expression, limits,
};

/// A backfill to create (wire 3.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewBackfill {
    /// Timeframe in which its events lie: from the start, up to the end and without it.
    pub timeframe: Timeframe,
    /// Customer whose events it has; all customers where none is named.
    pub customer: Option<IdOr<CustomerId>>,
    /// True if the existing events of the timeframe stop counting once it is reflected.
    pub replace_existing_events: bool,
    /// Filter of the existing events that stop counting; all do where there is none.
    pub deprecation_filter: Option<Expression>,
    /// Instant at which it closes by itself; a day after its creation where none is given.
    pub close_time: Option<Timestamp>,
}

impl NewBackfill {
    /// Creates a backfill for all customers that replaces the existing events, and closes within a
    /// day.
    #[must_use]
    pub const fn new(timeframe: Timeframe) -> Self {
        Self {
            timeframe,
            customer: None,
            replace_existing_events: true,
            deprecation_filter: None,
            close_time: None,
        }
    }
    /// Checks that it can be created now, in an account whose backfills have at most so many days.
    pub(crate) fn check(&self, days: u32, now: Timestamp) -> Result<(), Error> {
        let (start, end) = (self.timeframe.start(), self.timeframe.end());
        let latest = start.saturating_add(DAY.saturating_mul(days));
        if start == end {
            let message = format!("found {end}, expected an instant later than the start");
            return Err(Error::invalid("timeframe.end", message));
        }
        if end > latest {
            let message = format!(
                "found {end}, expected at most {latest}: {days} days after the start {start}"
            );
            return Err(Error::invalid("timeframe.end", message));
        }
        if let Some(close_time) = self.close_time.filter(|close_time| *close_time <= now) {
            let message = format!("found {close_time}, expected an instant later than now, {now}");
            return Err(Error::invalid("close_time", message));
        }
        if self.deprecation_filter.is_some() && !self.replace_existing_events {
            let message = "found a filter, expected none where no existing events are replaced";
            return Err(Error::invalid("deprecation_filter", message));
        }
        Ok(())
    }

    /// Creates the backfill, for the customer that was found by its name.
    pub(crate) fn decide(
        self,
        id: BackfillId,
        customer_id: Option<CustomerId>,
        now: Timestamp,
    ) -> Backfill {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let hours = u32::try_from(limits::BACKFILL_HOURS).unwrap_or(u32::MAX);
        let closes_by_itself = now.saturating_add(HOUR.saturating_mul(hours));
        Backfill {
            id,
            status: BackfillStatus::Pending,
            created_at: now,
            timeframe: self.timeframe,
            events_ingested: 0,
            close_time: Some(self.close_time.unwrap_or(closes_by_itself)),
            reverted_at: None,
            customer_id,
            replace_existing_events: self.replace_existing_events,
            deprecation_filter: self.deprecation_filter,
        }
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
