//! Another end of the trial of a subscription (subscriptions 3.5).

use serde::{Deserialize, Serialize};

use super::{PlanInterval, PriceInterval, Subscription, trial::Tried};
use crate::{Error, Timestamp};

/// Change of the end of the trial of a subscription (subscriptions 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialUpdate {
    /// When it ends.
    pub end: TrialEnd,
    /// True where all that comes later moves by the same time: intervals of prices and adjustments, phases and changes
    /// of plan. Otherwise only what begins or ends with the trial does.
    pub shift: bool,
}

/// End of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TrialEnd {
    /// Now.
    Immediate,
    /// A date.
    At(Timestamp),
}

impl TrialUpdate {
    /// Lets the trial end at a date, and leaves the rest as it is.
    #[must_use]
    pub const fn at(date: Timestamp) -> Self {
        Self { end: TrialEnd::At(date), shift: false }
    }
}

impl Subscription {
    /// Moves the end of its trial.
    pub(crate) fn update_trial(
        &mut self,
        update: TrialUpdate,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.check_not_ended(now)?;
        let from = now.max(self.start_date);
        let begin = self.change_before(from);
        let Some(tried) = self.tried().filter(|of| of.start == begin) else {
            let detail = "the plan that the subscription is on began without a trial";
            return Err(Error::constraint(detail));
        };
        let to = match update.end {
            TrialEnd::At(at) => at,
            TrialEnd::Immediate => from,
        };
        self.check_trial_end(tried, to, update.shift)?;
        let (was, zone) = (tried.end, self.timezone.clone());
        // What begins or ends with another plan, phase or version does so because of that.
        let goes_with = update.shift || self.plan_intervals.iter().all(|of| of.start_date != was);
        let moved = |at: Timestamp| match at {
            at if at == was && goes_with => to,
            at if was < at && update.shift => zone.moved(at, was, to),
            at => at,
        };
        if update.shift {
            self.check_no_pending_move(now)?;
            self.check_shifted(was, moved, from)?;
        }
        self.without_trial(|of| {
            if update.shift {
                of.move_plans(moved)?;
            }
            of.move_intervals(moved, update.shift);
            if let Some(trial) = &mut of.trial {
                trial.end_date = if update.shift { moved(trial.end_date) } else { to };
            }
            if to <= tried.start {
                of.drop_trial();
            }
            of.check_lives()
        })?;
        self.check_intervals()?;
        self.check_size()
    }

    /// Refuses an end that is not within the plan that the trial is of.
    fn check_trial_end(&self, of: Tried, to: Timestamp, shift: bool) -> Result<(), Error> {
        let first = of.start;
        if to < first {
            let detail = format!("the trial would end at {to}, and cannot before {first}");
            return Err(Error::constraint(detail));
        }
        let next = self.changes_plan_after(first).filter(|_| !shift);
        match next.into_iter().chain(self.end_date).min().filter(|end| *end < to) {
            Some(end) => {
                let detail = format!("the trial would end at {to}, and cannot behind {end}");
                Err(Error::constraint(detail))
            }
            None => Ok(()),
        }
    }

    /// Refuses to move what has happened: migrations, and changes of plan to where they would have.
    fn check_shifted(
        &self,
        was: Timestamp,
        moved: impl Fn(Timestamp) -> Timestamp,
        now: Timestamp,
    ) -> Result<(), Error> {
        let later = self.plan_intervals.iter().filter(|of| was <= of.start_date);
        if let Some(of) = later.clone().find(|of| of.moved.is_some()) {
            let at = of.start_date;
            let detail = format!("a migration has moved the subscription at {at}, since then");
            return Err(Error::constraint(detail));
        }
        match later.filter(|of| of.is_change()).find(|of| moved(of.start_date) <= now) {
            Some(of) => {
                let detail = format!("the change of plan at {} would have been", of.start_date);
                Err(Error::constraint(detail))
            }
            None => Ok(()),
        }
    }

    /// Moves instants of its intervals. What coupons take off begins and ends as before where it has begun, or where only
    /// the trial moves.
    fn move_intervals(&mut self, moved: impl Fn(Timestamp) -> Timestamp, with_coupons: bool) {
        self.price_intervals.iter_mut().for_each(|of| of.moved(&moved));
        for of in self.adjustment_intervals.iter_mut().filter(|of| !of.is_trial) {
            let start_date = moved(of.start_date);
            if of.coupon_id.is_none() || start_date != of.start_date && with_coupons {
                (of.start_date, of.end_date) = (start_date, of.end_date.map(&moved));
            }
        }
    }

    /// Moves the begins of its phases and of changes of plan.
    fn move_plans(&mut self, moved: impl Fn(Timestamp) -> Timestamp) -> Result<(), Error> {
        for of in &mut self.plan_intervals {
            (of.start_date, of.anchored_at) = (moved(of.start_date), moved(of.anchored_at));
        }
        match self.plan_intervals.is_sorted_by(|one, next| one.start_date < next.start_date) {
            true => Ok(()),
            false => Err(Error::constraint("a phase would begin before one that stays")),
        }
    }

    /// Refuses intervals that would end before they begin.
    fn check_lives(&self) -> Result<(), Error> {
        let is_over = |of: &&PriceInterval| of.end_date.is_some_and(|end| end <= of.start_date);
        let adjustments = self.adjustment_intervals.iter();
        let mut adjustments =
            adjustments.filter(|of| of.end_date.is_some_and(|end| end <= of.start_date));
        let detail = match (self.price_intervals.iter().find(is_over), adjustments.next()) {
            (Some(of), _) => format!("the price interval {} would end before it begins", of.id),
            (None, Some(of)) => {
                format!("the adjustment interval {} would end before it begins", of.id)
            }
            (None, None) => return Ok(()),
        };
        Err(Error::constraint(detail))
    }

    /// Refuses a change that moves what a migration is still to move.
    pub(super) fn check_no_pending_move(&self, now: Timestamp) -> Result<(), Error> {
        let pending = |of: &&PlanInterval| now < of.start_date && of.moved.is_some();
        match self.plan_intervals.iter().find(pending) {
            Some(of) => {
                let at = of.start_date;
                let detail = format!("a migration moves the subscription at {at}");
                Err(Error::constraint(detail))
            }
            None => Ok(()),
        }
    }
}

impl PriceInterval {
    fn moved(&mut self, moved: impl Fn(Timestamp) -> Timestamp) {
        let (start_date, first) = (moved(self.start_date), self.quantities.pop_first());
        let quantities = std::mem::take(&mut self.quantities).into_iter();
        self.quantities = quantities.map(|(at, of)| (moved(at), of)).collect();
        let has_begun = self.quantities.range(..=start_date).next().is_some();
        if let Some((_, first)) = first.filter(|_| !has_begun) {
            self.quantities.insert(start_date, first);
        }
        self.end_date = self.end_date.map(moved);
        self.begin_at(start_date);
    }
}
