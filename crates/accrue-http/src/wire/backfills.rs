use accrue::{
    CustomerId, ExternalId, IdOr, Zone,
    backfill::{self, BackfillFilter, BackfillStatus},
    expression::Expression,
};

use super::{
    customers::names_one_customer_at_most,
    dates::{Date, dates_are_in_order, timeframe},
    pages::Sought,
};
use crate::{
    problem::Problem,
    shape::{Fields, Moment, Reader, Whole, choices, request, response},
};

request! {
    /// A backfill to create.
    pub(crate) struct NewBackfill => its_rules {
        /// Start of its timeframe, included.
        timeframe_start: Date,
        /// End of its timeframe, excluded. Dates without an offset are in the customer's zone, and in UTC where it
        /// is for all customers.
        timeframe_end: Date,
        /// Instant at which it closes by itself; a day after its creation where it is not given.
        close_time: Option<Date>,
        /// Customer of its events; all customers where none is named.
        customer_id: Option<CustomerId>,
        /// External id of that customer.
        external_customer_id: Option<ExternalId>,
        /// True if existing events of the timeframe stop counting; true where it is not given.
        replace_existing_events: Option<bool>,
        /// Condition over the properties of the events that stop counting; all stop where there is
        /// none.
        deprecation_filter: Option<Expression>,
    }

    /// Filters and page of a list of backfills.
    pub(crate) struct BackfillListQuery {
        /// Maximum number of rows on a page.
        limit: Option<Whole<1, 100>>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Customer of the backfills; those for all customers are not among them.
        customer_id: Option<Sought<CustomerId>>,
        /// Status of the backfills.
        status: Option<BackfillStatus>,
    }
}

response! {
    /// A backfill: events that are added to a timeframe, or take the place of those in it (wire 3.2).
    pub(crate) struct Backfill {
        /// Its id: its events are ingested with it.
        id: String,
        /// Its status.
        status: BackfillStatus,
        /// Instant of its creation.
        created_at: Moment,
        /// Start of its timeframe, included.
        timeframe_start: Moment,
        /// End of its timeframe, excluded.
        timeframe_end: Moment,
        /// Number of events that were ingested in it.
        events_ingested: u64,
        /// Instant at which it will close by itself, or was closed; null where it was reverted
        /// before.
        close_time: Option<Moment>,
        /// Instant at which it was reverted.
        reverted_at: Option<Moment>,
        /// Customer of its events; null where it is for all customers.
        customer_id: Option<String>,
        /// True if existing events of the timeframe stop counting once it is reflected.
        replace_existing_events: bool,
        /// Condition over the properties of the events that stop counting; null where all do.
        deprecation_filter: Option<String>,
    }
}

choices! {
    BackfillStatus {
        "pending" => BackfillStatus::Pending,
        "reflected" => BackfillStatus::Reflected,
        "pending_revert" => BackfillStatus::PendingRevert,
        "reverted" => BackfillStatus::Reverted,
    }
}

fn its_rules(fields: &Fields<'_>, reader: &mut Reader) {
    names_one_customer_at_most(fields, reader);
    dates_are_in_order(fields, reader);
}

impl NewBackfill {
    /// Returns the customer whose zone its dates are in, where they need one.
    pub(crate) fn customer_of_dates(&self) -> Option<IdOr<CustomerId>> {
        let dates = [&self.timeframe_start, &self.timeframe_end];
        let is_local = dates.into_iter().chain(&self.close_time).any(Date::is_local);
        self.customer().filter(|_| is_local)
    }

    fn customer(&self) -> Option<IdOr<CustomerId>> {
        let external = self.external_customer_id.clone().map(IdOr::External);
        self.customer_id.map(IdOr::Id).or(external)
    }

    /// Makes the backfill to create, where dates are those of a zone.
    pub(crate) fn into_new(self, zone: &Zone) -> Result<backfill::NewBackfill, Problem> {
        let start = self.timeframe_start.in_zone(zone, "/timeframe_start")?;
        let end = self.timeframe_end.in_zone(zone, "/timeframe_end")?;
        let mut backfill = backfill::NewBackfill::new(timeframe(start, end)?);
        backfill.customer = self.customer();
        if let Some(replaces) = self.replace_existing_events {
            backfill.replace_existing_events = replaces;
        }
        backfill.deprecation_filter = self.deprecation_filter;
        let close_time = self.close_time.map(|date| date.in_zone(zone, "/close_time"));
        backfill.close_time = close_time.transpose()?;
        Ok(backfill)
    }
}

impl BackfillListQuery {
    /// Returns the filter of the list; `None` where there can be no such backfill.
    pub(crate) fn filter(&self) -> Option<BackfillFilter> {
        let customer = match self.customer_id {
            Some(Sought(None)) => return None,
            Some(Sought(Some(id))) => Some(IdOr::Id(id)),
            None => None,
        };
        Some(BackfillFilter { customer, status: self.status })
    }
}

impl Backfill {
    /// Writes a backfill.
    pub(crate) fn of(backfill: &backfill::Backfill) -> Self {
        Self {
            id: backfill.id.to_string(),
            status: backfill.status,
            created_at: backfill.created_at.into(),
            timeframe_start: backfill.timeframe.start().into(),
            timeframe_end: backfill.timeframe.end().into(),
            events_ingested: backfill.events_ingested,
            close_time: backfill.close_time.map(Moment::from),
            reverted_at: backfill.reverted_at.map(Moment::from),
            customer_id: backfill.customer_id.map(|id| id.to_string()),
            replace_existing_events: backfill.replace_existing_events,
            deprecation_filter: backfill.deprecation_filter.as_ref().map(ToString::to_string),
        }
    }
}
