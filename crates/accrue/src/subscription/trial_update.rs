//! Another end of the trial of a subscription (subscriptions 3.5).

use serde::{Deserialize, Serialize};

use super::{PlanInterval, PriceInterval, Subscription, Trial};
use crate::{Error, Timestamp, time::INSTANT};

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
    /// Moves the end of its trial. Returns the first instant from which anything is different.
    pub(crate) fn update_trial(
        &mut self,
        update: TrialUpdate,
        now: Timestamp,
    ) -> Result<Timestamp, Error> {
        self.check_not_ended(now)?;
        let from = now.max(self.start_date);
        let begin = self.change_before(from);
        let Some(trial) = self.trial.filter(|of| of.start_date == begin) else {
            let detail = "the plan that the subscription is on began without a trial";
            return Err(Error::constraint(detail));
        };
        let to = match update.end {
            TrialEnd::At(at) => at,
            TrialEnd::Immediate => from,
        };
        self.check_no_pending_move(now)?;
        self.check_trial_end(trial, to, update.shift)?;
        let was = trial.end_date;
        if update.shift {
            let moved = self.plan_intervals.iter().filter(|of| of.moved.is_some());
            if let Some(of) = moved.clone().find(|of| was <= of.start_date) {
                let at = of.start_date;
                let detail = format!("a migration has moved the subscription at {at}, since then");
                return Err(Error::constraint(detail));
            }
        }
        let zone = self.timezone.clone();
        let moved = |at: Timestamp| match at {
            at if at == was => to,
            at if was < at && update.shift => zone.moved(at, was, to),
            at => at,
        };
        self.move_intervals(&moved);
        if update.shift {
            self.move_plans(&moved);
        }
        let is_gone = to <= trial.start_date;
        self.trial = Some(Trial { end_date: to, ..trial }).filter(|_| !is_gone);
        let lives = |start: Timestamp, end: Option<Timestamp>| end.is_none_or(|end| start < end);
        self.price_intervals.retain(|of| !of.is_trial || lives(of.start_date, of.end_date));
        self.adjustment_intervals.retain(|of| !of.is_trial || lives(of.start_date, of.end_date));
        let ended = self.price_intervals.iter().find(|of| !lives(of.start_date, of.end_date));
        if let Some(PriceInterval { id, .. }) = ended {
            let detail = format!("the price interval {id} would end before the trial does");
            return Err(Error::constraint(detail));
        }
        self.adjustment_intervals.retain(|of| lives(of.start_date, of.end_date));
        self.plan_intervals.sort_by_key(|of| of.start_date);
        self.check_intervals()?;
        Ok(was.min(to))
    }

    /// Refuses an end that is not within the plan, and the phase, that the trial ends in.
    fn check_trial_end(&self, trial: Trial, to: Timestamp, shift: bool) -> Result<(), Error> {
        let last = trial.end_date.saturating_sub(INSTANT);
        let splits = self.plan_intervals.iter().filter(|of| of.splits()).map(|of| of.start_date);
        let first = splits.clone().rfind(|at| *at <= last).unwrap_or(self.start_date);
        let first = first.max(trial.start_date);
        if to < first {
            let detail = format!("the trial would end at {to}, and cannot before {first}");
            return Err(Error::constraint(detail));
        }
        let mut later = splits.filter(|at| !shift && trial.end_date <= *at);
        let next = later.next();
        if let Some(at) = next.filter(|at| *at == trial.end_date && *at != to) {
            let detail = format!("the trial ends with its plan or phase, at {at}: all must move");
            return Err(Error::constraint(detail));
        }
        match next.into_iter().chain(self.end_date).min().filter(|end| *end < to) {
            Some(end) => {
                let detail = format!("the trial would end at {to}, and cannot behind {end}");
                Err(Error::constraint(detail))
            }
            None => Ok(()),
        }
    }

    /// Moves instants of its intervals; what coupons take off lasts as long as before.
    fn move_intervals(&mut self, moved: &impl Fn(Timestamp) -> Timestamp) {
        self.price_intervals.iter_mut().for_each(|of| of.moved(moved));
        for of in &mut self.adjustment_intervals {
            let start_date = moved(of.start_date);
            if of.coupon_id.is_none() || start_date != of.start_date {
                (of.start_date, of.end_date) = (start_date, of.end_date.map(moved));
            }
        }
    }

    /// Moves the begins of its phases and of changes of plan, and what these have cut.
    fn move_plans(&mut self, moved: &impl Fn(Timestamp) -> Timestamp) {
        for of in &mut self.plan_intervals {
            of.start_date = moved(of.start_date);
            of.anchored_at = moved(of.anchored_at);
            if let Some(cut) = &mut of.cut_trial {
                cut.end_date = moved(cut.end_date);
                cut.price_intervals.iter_mut().for_each(|of| of.moved(moved));
                for of in &mut cut.adjustment_intervals {
                    (of.start_date, of.end_date) = (moved(of.start_date), of.end_date.map(moved));
                }
            }
        }
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
    fn moved(&mut self, moved: &impl Fn(Timestamp) -> Timestamp) {
        let (start_date, first) = (moved(self.start_date), self.quantities.pop_first());
        let quantities = std::mem::take(&mut self.quantities).into_iter();
        self.quantities = quantities.map(|(at, of)| (moved(at), of)).collect();
        let has_begun = self.quantities.range(..=start_date).next().is_some();
        if let Some((_, first)) = first.filter(|_| !has_begun) {
            self.quantities.insert(start_date, first);
        }
        (self.start_date, self.end_date) = (start_date, self.end_date.map(moved));
        self.begin_quantities();
    }
}
