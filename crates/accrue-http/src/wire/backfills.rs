use accrue::{
    CustomerId, ExternalId, IdOr, Timeframe,
    backfill::{self, BackfillFilter, BackfillStatus},
    expression::Expression,
};

use super::{costs::ends_after_its_start, customers::names_one_customer_at_most, pages::Sought};
use crate::{
    problem::{Problem, Violations},
    shape::{Fields, Moment, Reader, Whole, choices, request, response},
};

request! {
    /// A backfill to create.
    pub(crate) struct NewBackfill => its_rules {
        /// From when on its events lie.
        timeframe_start: Moment,
        /// Until before when.
        timeframe_end: Moment,
        /// When it closes by itself; a day after its creation where it is not given.
        close_time: Option<Moment>,
        /// Whose events it has; all customers' where none is named.
        customer_id: Option<CustomerId>,
        /// Whose events it has, by the caller's own alias.
        external_customer_id: Option<ExternalId>,
        /// Whether the events that are there stop counting; they do where it is not given.
        replace_existing_events: Option<bool>,
        /// Which of them do: a condition over their properties; all where there is none.
        deprecation_filter: Option<Expression>,
    }

    /// Which page of the backfills, and which of them.
    pub(crate) struct BackfillListQuery {
        /// How many rows a page has at most.
        limit: Option<Whole<1, 100>>,
        /// Where the page begins: `next_cursor` of the one before.
        cursor: Option<String>,
        /// For one customer; those for all customers are not among them.
        customer_id: Option<Sought<CustomerId>>,
        /// Only those of one status.
        status: Option<BackfillStatus>,
    }
}

response! {
    /// A backfill: events that are added to a timeframe, or take the place of those in it (wire 3.2).
    pub(crate) struct Backfill {
        /// Its id: what its events are ingested with.
        id: String,
        /// Where it stands.
        status: BackfillStatus,
        /// When it was created.
        created_at: Moment,
        /// From when on its events lie.
        timeframe_start: Moment,
        /// Until before when.
        timeframe_end: Moment,
        /// How many events were ingested in it.
        events_ingested: u64,
        /// When it will close by itself, or when it was closed; null where it was reverted before.
        close_time: Option<Moment>,
        /// When it was reverted.
        reverted_at: Option<Moment>,
        /// Whose events it has; null where it is for all customers.
        customer_id: Option<String>,
        /// Whether the events that are there stop counting once it is reflected.
        replace_existing_events: bool,
        /// Which of them do; null where all do.
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
    ends_after_its_start(fields, reader);
}

impl TryFrom<NewBackfill> for backfill::NewBackfill {
    type Error = Problem;

    fn try_from(new: NewBackfill) -> Result<Self, Problem> {
        let timeframe = Timeframe::new(new.timeframe_start.0, new.timeframe_end.0);
        // Told already.
        let timeframe =
            timeframe.map_err(|error| Violations::one("/timeframe_end", error.to_string()))?;
        let mut backfill = Self::new(timeframe);
        backfill.customer =
            new.customer_id.map(IdOr::Id).or(new.external_customer_id.map(IdOr::External));
        if let Some(replaces) = new.replace_existing_events {
            backfill.replace_existing_events = replaces;
        }
        backfill.deprecation_filter = new.deprecation_filter;
        backfill.close_time = new.close_time.map(|at| at.0);
        Ok(backfill)
    }
}

impl BackfillListQuery {
    /// Returns what is asked for; `None` where there can be no such backfill.
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
