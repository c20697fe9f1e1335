use crate::{
    Error, Timeframe, Timestamp, Zone, limits,
    price::Cycle,
    subscription::{BillingAnchor, BillingPeriods},
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
pub(crate) fn cut(timeframe: Timeframe, view: View, zone: &Zone) -> Result<Vec<Timeframe>, Error> {
    if view == View::Whole {
        return Ok(vec![timeframe]);
    }
    let (start, end) = (timeframe.start(), Some(timeframe.end()));
    let (day, anchor) = (Cycle::Days(1), BillingAnchor::SubscriptionStart);
    let days = BillingPeriods::new(day, anchor, zone.clone(), start, end);
    let days: Vec<_> = days.overlapping(timeframe).take(limits::RESULT_ROWS + 1).collect();
    if days.len() > limits::RESULT_ROWS {
        let most = limits::RESULT_ROWS;
        return Err(Error::too_many(format!("the timeframe has more than {most} days")));
    }
    Ok(days)
}

/// Cuts a timeframe that nobody has asked for: the current billing period, of which nothing is shown
/// that is behind now.
pub(crate) fn cut_until(
    now: Timestamp,
    timeframe: Timeframe,
    view: View,
    zone: &Zone,
) -> Result<Vec<Timeframe>, Error> {
    let mut slots = cut(timeframe, view, zone)?;
    if view != View::Whole {
        slots.retain(|slot| slot.start() <= now);
        let last = slots.last_mut().filter(|last| last.start() < now);
        last.into_iter().for_each(|last| *last = last.within(Timeframe::before(now)));
    }
    Ok(slots)
}
