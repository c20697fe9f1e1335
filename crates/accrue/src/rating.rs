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
    card::{RateCard, RatedInterval},
    line::{Amounts, Line},
    running::{Moved, Running},
};
use crate::{Decimal, Timeframe, Timestamp, meter::CellId};

/// What was used: the figure of a cell from the start of a period up to an instant; none where
/// nothing was.
pub(crate) type Used<'a> = dyn Fn(Timeframe, Timestamp, CellId) -> Option<Decimal> + 'a;

/// Rates what a card comes to in timeframes, which are in order, as of an instant: for each of them a
/// line for each interval.
///
/// It is the cumulative amount at the end of the timeframe less that at its start, period by period of
/// each price, so that timeframes that adjoin add up. A fee in advance falls on the first instant of
/// its period or on that of another quantity; a fee in arrears, and what a minimum adds, on the end.
/// What falls behind the instant is not yet there.
pub(crate) fn rate(
    card: &RateCard,
    used: &Used<'_>,
    timeframes: &[Timeframe],
    at: Timestamp,
) -> Vec<Vec<Line>> {
    let mut all = vec![Vec::with_capacity(card.intervals.len()); timeframes.len()];
    for interval in &card.intervals {
        let lines = interval.rate(used, timeframes, at);
        all.iter_mut().zip(lines).for_each(|(all, line)| all.push(line));
    }
    all
}

impl RatedInterval {
    fn rate(&self, used: &Used<'_>, timeframes: &[Timeframe], at: Timestamp) -> Vec<Line> {
        let mut lines = vec![Line::default(); timeframes.len()];
        let Some((first, last)) = timeframes.first().zip(timeframes.last()) else { return lines };
        let whole = Timeframe::nothing_at(first.start()).until(last.end());
        for period in self.periods_in(whole) {
            let first = timeframes.partition_point(|of| of.end() <= period.start());
            let touched = timeframes.iter().zip(&mut lines).skip(first);
            let mut known: Option<(Timestamp, Line)> = None;
            for (timeframe, line) in touched.take_while(|(of, _)| of.start() < period.end()) {
                let cumulative = |to| self.cumulative(period, used, Until::before(to, at));
                let before = match known.take() {
                    Some((to, line)) if to == timeframe.start() => line,
                    _ => cumulative(timeframe.start()),
                };
                let after = cumulative(timeframe.end());
                line.add(&after, &before);
                known = Some((timeframe.end(), after));
            }
        }
        lines
    }
}
