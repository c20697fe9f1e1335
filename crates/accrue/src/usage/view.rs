use crate::{
    Error, Timeframe, Timestamp, Zone, limits,
    price::Cycle,
    subscription::{BillingAnchor, BillingPeriods},
    time::INSTANT,
};

/// View of a timeframe: how it is cut. A day is one of the customer's time zone, and begins at the time
/// of day at which the timeframe does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum View {
    /// The timeframe as a whole.
    #[default]
    Whole,
    /// Slots from its beginning to the end of each day.
    Cumulative,
    /// Slots of one day each.
    Periodic,
}

/// Cuts a timeframe into slots that adjoin: into days, or not at all.
fn cut(timeframe: Timeframe, view: View, zone: &Zone) -> Result<Vec<Timeframe>, Error> {
    if view == View::Whole {
        return Ok(vec![timeframe]);
    }
    let days = days(timeframe.start(), Some(timeframe.end()), zone);
    let days: Vec<_> = days.overlapping(timeframe).take(limits::RESULT_ROWS + 1).collect();
    if days.len() > limits::RESULT_ROWS {
        let most = limits::RESULT_ROWS;
        return Err(Error::too_many(format!("the timeframe has more than {most} days")));
    }
    Ok(days)
}

/// Returns the days from an instant on.
fn days(start: Timestamp, end: Option<Timestamp>, zone: &Zone) -> BillingPeriods {
    BillingPeriods::new(Cycle::Days(1), BillingAnchor::SubscriptionStart, zone.clone(), start, end)
}

/// Timeframe of a query for costs or usage: either end may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryTimeframe {
    /// Current billing period: as far as now, with what happens at this very instant, where it is cut
    /// into days; the whole of it, also what is behind now, where it is not.
    #[default]
    Current,
    /// From an instant to now, with what happens at this very instant.
    From(Timestamp),
    /// From the start of the current billing period to an instant.
    To(Timestamp),
    /// Any timeframe, also behind now.
    Between(Timeframe),
}

impl From<Timeframe> for QueryTimeframe {
    fn from(timeframe: Timeframe) -> Self {
        Self::Between(timeframe)
    }
}

impl From<Option<Timeframe>> for QueryTimeframe {
    /// Asks for the current billing period where there is no timeframe.
    fn from(timeframe: Option<Timeframe>) -> Self {
        timeframe.map_or(Self::Current, Self::Between)
    }
}

/// Slots that a query is answered by.
pub(crate) struct Slots {
    pub(crate) slots: Vec<Timeframe>,
    /// Now, where that is the end.
    open: Option<Timestamp>,
}

impl Slots {
    /// Cuts the timeframe of a query.
    pub(crate) fn of(
        query: QueryTimeframe,
        view: View,
        current: Timeframe,
        now: Timestamp,
        zone: &Zone,
    ) -> Result<Self, Error> {
        let (start, end) = match query {
            QueryTimeframe::Current if view == View::Whole || current.end() <= now => {
                (current.start(), Some(current.end()))
            }
            QueryTimeframe::Current => (current.start(), None),
            QueryTimeframe::From(start) if start > now => {
                let message = format!("found {start}, expected at most {now}, or an end");
                return Err(Error::invalid("timeframe.start", message));
            }
            QueryTimeframe::From(start) => (start, None),
            QueryTimeframe::To(end) => (current.start(), Some(end)),
            QueryTimeframe::Between(timeframe) => (timeframe.start(), Some(timeframe.end())),
        };
        let Some(end) = end else { return Self::open(start, view, now, zone) };
        let timeframe = Timeframe::new(start, end)
            .map_err(|error| Error::invalid("timeframe.end", error.to_string()))?;
        Ok(Self { slots: cut(timeframe, view, zone)?, open: None })
    }

    /// Cuts a timeframe that ends now, with what happens now. What begins now has a day.
    fn open(start: Timestamp, view: View, now: Timestamp, zone: &Zone) -> Result<Self, Error> {
        if start < now {
            let end = now.saturating_add(INSTANT);
            let mut slots = cut(Timeframe::nothing_at(start).until(end), view, zone)?;
            // What happens now has no slot of its own.
            slots.pop_if(|last| last.start() == now);
            slots.last_mut().into_iter().for_each(|last| *last = last.until(end));
            return Ok(Self { slots, open: Some(now) });
        }
        let day = days(start, None, zone).containing(start).filter(|day| day.contains(now));
        Ok(Self { slots: day.into_iter().collect(), open: None })
    }

    /// Returns a timeframe as it is shown: to now, and not to the instant behind it.
    pub(crate) fn shown(&self, timeframe: Timeframe) -> Timeframe {
        match self.open {
            Some(now) => timeframe.within(Timeframe::before(now)),
            None => timeframe,
        }
    }
}
