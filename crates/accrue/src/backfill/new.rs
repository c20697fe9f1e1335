use serde::Serialize;

use crate::{CustomerId, IdOr, Timeframe, Timestamp, expression::Expression};

/// A backfill to create (wire 3.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewBackfill {
    /// Where its events lie: from the start, up to the end and without it.
    pub timeframe: Timeframe,
    /// Whose events it has; all customers' where none is named.
    pub customer: Option<IdOr<CustomerId>>,
    /// Whether the events that are there stop counting once it is reflected.
    pub replace_existing_events: bool,
    /// Which of them do; all where there is none.
    pub deprecation_filter: Option<Expression>,
    /// When it closes by itself; a day after its creation where none is given.
    pub close_time: Option<Timestamp>,
}

impl NewBackfill {
    /// A backfill for all customers that replaces what is there, and closes within a day.
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
}
