//! Rating: what the prices in force come to, line by line.
//!
//! There is one rater, [`rate`]. Costs, alerts on cost, what credits pay for and previews read its
//! lines. [`Running`] follows it event by event, and is held to it by a property
//! (`docs/decisions/one-rater.md`).

mod card;
mod fees;
mod line;
mod running;
#[cfg(test)]
mod tests;
mod until;

use self::until::Until;
pub(crate) use self::{
    card::{RateCard, RatedInterval, evaluate},
    line::{Amounts, Line},
    running::{Moved, Running},
};
use crate::{Decimal, Timeframe, Timestamp, usage::MeterId};

/// What was used: the figure of a meter from the start of a period up to an instant; none where
/// nothing was.
pub(crate) type Used<'a> = dyn Fn(Timeframe, Timestamp, MeterId) -> Option<Decimal> + 'a;

/// Rates what a card comes to in a timeframe, as of an instant: a line for each interval.
///
/// It is the cumulative amount at the end of the timeframe less that at its start, period by period of
/// each price, so that timeframes that adjoin add up. A fee in advance falls on the first instant of
/// its period or on that of another quantity; a fee in arrears, and what a minimum adds, on the end.
/// What falls behind the instant is not yet there.
pub(crate) fn rate(
    card: &RateCard,
    used: &Used<'_>,
    timeframe: Timeframe,
    at: Timestamp,
) -> Vec<Line> {
    rate_each(card, used, std::slice::from_ref(&timeframe), at).pop().unwrap_or_default()
}

/// Rates timeframes, in order.
pub(crate) fn rate_each(
    card: &RateCard,
    used: &Used<'_>,
    timeframes: &[Timeframe],
    at: Timestamp,
) -> Vec<Vec<Line>> {
    let mut all = vec![vec![Line::default(); card.intervals.len()]; timeframes.len()];
    let ends = timeframes.first().zip(timeframes.last());
    let Some(whole) = ends.and_then(|(first, last)| Timeframe::new(first.start(), last.end()).ok())
    else {
        return all;
    };
    for (index, interval) in card.intervals.iter().enumerate() {
        for period in interval.periods_in(whole) {
            let first = timeframes.partition_point(|of| of.end() <= period.start());
            let touched = timeframes.iter().zip(&mut all).skip(first);
            let mut known: Option<(Timestamp, Line)> = None;
            for (timeframe, lines) in touched.take_while(|(of, _)| of.start() < period.end()) {
                let cumulative = |to| interval.cumulative(period, used, Until::before(to, at));
                let before = match known.take() {
                    Some((to, line)) if to == timeframe.start() => line,
                    _ => cumulative(timeframe.start()),
                };
                let after = cumulative(timeframe.end());
                if let Some(line) = lines.get_mut(index) {
                    line.add(&after, &before);
                }
                known = Some((timeframe.end(), after));
            }
        }
    }
    all
}
