//! Rating: amounts of the prices in force, line by line.
//!
//! There is one rater, [`rate`]. Costs, alerts on cost, draws on credits and previews read its lines.
//! [`Running`] follows it event by event, and is held to it by a property
//! (`docs/decisions/one-rater.md`).

mod card;
mod composite;
mod deferred;
mod discounts;
mod due;
mod fees;
mod group;
mod groups;
mod interval;
mod joint;
mod line;
mod pools;
mod price_move;
mod running;
mod sides;
mod step;
#[cfg(test)]
mod tests;
mod until;
mod watched;
mod watched_pools;

#[cfg(test)]
pub(crate) use self::due::DueStep;
pub(crate) use self::{
    card::RateCard,
    due::{Due, DueLine, Earlier},
    interval::RatedInterval,
    line::{Amounts, Line},
    price_move::PriceMove,
    running::{Moved, Running},
    step::apply_adjustment,
    watched::{GroupValues, Watched, WatchedPrices},
    watched_pools::{LicenseGroup, WatchedPools},
};
use std::borrow::Cow;

use self::{group::Group, until::Until};
use crate::{Timeframe, Timestamp, usage::Total};

/// Usage: what it adds up to from the start of a period up to an instant; none where nothing was used.
pub(crate) type Used<'a> = dyn Fn(Timeframe, Timestamp) -> Option<Cow<'a, Total>> + 'a;

/// Rates a card in timeframes, which are in order, as of an instant: for each timeframe a line for each
/// interval.
///
/// An amount is the cumulative one at the end of the timeframe less that at its start, period by period
/// of each price, so that timeframes that adjoin add up. A fee in advance falls on the first instant of
/// its period or on that of another quantity; a fee in arrears, and the addition of a minimum, on the
/// end. Amounts that fall behind the instant are not yet there.
pub(crate) fn rate(
    card: &RateCard,
    used: &Used<'_>,
    timeframes: &[Timeframe],
    at: Timestamp,
) -> Vec<Vec<Line>> {
    let mut all = vec![vec![Line::default(); card.intervals.len()]; timeframes.len()];
    for group in &card.groups {
        group.rate(card, used, timeframes, at, &mut all);
    }
    all
}

impl Group {
    /// Adds the lines of its members.
    fn rate(
        &self,
        card: &RateCard,
        used: &Used<'_>,
        timeframes: &[Timeframe],
        at: Timestamp,
        all: &mut [Vec<Line>],
    ) {
        let Some((first, last)) = timeframes.first().zip(timeframes.last()) else { return };
        let whole = Timeframe::nothing_at(first.start()).until(last.end());
        for joint in self.joints(card, whole) {
            let first = timeframes.partition_point(|of| of.end() <= joint.timeframe.start());
            let touched = timeframes.iter().zip(all.iter_mut()).skip(first);
            let mut known: Option<(Timestamp, Vec<Line>)> = None;
            for (timeframe, lines) in
                touched.take_while(|(of, _)| of.start() < joint.timeframe.end())
            {
                let cumulative = |to| joint.cumulative(card, used, Until::before(to, at));
                let before = match known.take() {
                    Some((to, lines)) if to == timeframe.start() => lines,
                    _ if timeframe.start() <= joint.timeframe.start() => {
                        vec![Line::default(); joint.members.len()]
                    }
                    _ => cumulative(timeframe.start()),
                };
                let after = cumulative(timeframe.end());
                for (member, (after, before)) in joint.members.iter().zip(after.iter().zip(&before))
                {
                    let line = lines.get_mut(member.interval);
                    line.into_iter().for_each(|line| line.add(after, before));
                }
                known = Some((timeframe.end(), after));
            }
        }
    }
}
