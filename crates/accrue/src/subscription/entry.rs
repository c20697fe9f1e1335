use std::{collections::BTreeSet, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Invoicing, InvoicingStep, PlanInterval, Subscription, SubscriptionStatus};
use crate::{AlertId, Timeframe, Timestamp, price::PricedUsage};

/// Subscription, with the values that the engine keeps beside it in the same row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubscriptionEntry {
    pub(crate) subscription: Subscription,
    /// Its own alerts.
    pub(crate) alerts: Vec<AlertId>,
    /// The alerts of its plan version, and of the account, that are disabled for it alone.
    pub(crate) muted: BTreeSet<AlertId>,
    /// The last revision of its plan version's alerts that it has applied.
    pub(crate) revision: u64,
    /// The last revision of the account's alerts that it has applied.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) account_revision: u64,
    /// Part of its life that was notified of.
    pub(crate) notified: Notified,
    /// End of its trial that was told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trial_told: Option<Timestamp>,
    /// The last turn that it has applied.
    pub(crate) rated_until: Option<Timestamp>,
    /// The last end of a period whose grace is over as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) closed_until: Option<Timestamp>,
    /// Start of the latest billing period in which something was used, where prices have different
    /// periods: up to there their states are kept in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parts_until: Option<Timestamp>,
    /// How far its invoices have come; `None` where it is not invoiced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) invoicing: Option<Invoicing>,
    /// The usage that its prices are of, where they are not those of its plan version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) priced: Option<PricedUsage>,
    /// Start of the plan, or of the phase or version of it, that it is on, where that is not the first one: those after
    /// it are still to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plan_since: Option<Timestamp>,
    /// Number of rows that its intervals are in: here they are joined with it.
    #[serde(default)]
    pub(crate) terms_parts: u16,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
const fn is_zero(revision: &u64) -> bool {
    *revision == 0
}

/// Part of a life that was notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Notified {
    Created,
    Started,
    Ended,
}

impl SubscriptionEntry {
    /// Returns the next instant at which something is due, where events are taken for so long behind a
    /// period.
    pub(crate) fn deadline(&self, grace: Duration) -> Option<Timestamp> {
        let notified = self.next_notified().map(|(at, _)| at);
        let trial = self.next_trial_end();
        let plan = self.next_plan().map(|of| of.start_date);
        let closing = self.next_closing().map(|end| end.saturating_add(grace));
        let invoicing = self.next_invoicing(grace).map(|(at, _)| at);
        let turns = [self.next_turn(), self.next_given(), self.next_refilled()];
        turns.into_iter().chain([notified, trial, plan, closing, invoicing]).flatten().min()
    }

    /// Returns what time brings its invoices next.
    pub(crate) fn next_invoicing(&self, grace: Duration) -> Option<(Timestamp, InvoicingStep)> {
        self.invoicing.as_ref()?.next(grace)
    }

    /// Returns the plan, or the phase or version of it, that it goes on with next: one within its life.
    pub(crate) fn next_plan(&self) -> Option<&PlanInterval> {
        let of = &self.subscription;
        let since = self.plan_since.unwrap_or(of.start_date);
        let next = of.plan_intervals.iter().find(|of| since < of.start_date);
        next.filter(|next| of.covers(next.start_date))
    }

    /// Returns the instant of the next charge: the begin or the end of a period of its prices or of a
    /// billing period, or another quantity of a fee.
    pub(crate) fn next_turn(&self) -> Option<Timestamp> {
        let of = &self.subscription;
        let Some(rated_until) = self.rated_until else {
            let is_lived = of.end_date.is_none_or(|end| of.start_date < end);
            return is_lived.then_some(of.start_date);
        };
        let begins = of.price_intervals.iter().map(|interval| interval.start_date);
        let begins = begins.filter(|at| rated_until < *at && of.covers(*at));
        let next = self.next_end(rated_until).into_iter().chain(begins);
        next.chain(of.next_fee_change(rated_until)).min()
    }

    /// Returns the next end of a period to be left behind for good: a grace period after it, when no
    /// more events are taken for the period.
    pub(crate) fn next_closing(&self) -> Option<Timestamp> {
        self.next_end(self.closed_until.unwrap_or(self.subscription.start_date))
    }

    /// Returns the next end of a period of its prices, or of a billing period.
    fn next_end(&self, after: Timestamp) -> Option<Timestamp> {
        let of = &self.subscription;
        let grids = of.grids(|_| true).into_iter().chain([of.periods()]);
        let later = Timeframe::nothing_at(after).until(Timestamp::MAX);
        grids.filter_map(|grid| grid.overlapping(later).next()).map(Timeframe::end).min()
    }

    /// Returns the status that messages last told of.
    pub(crate) const fn status_notified(&self) -> SubscriptionStatus {
        match self.notified {
            Notified::Created => SubscriptionStatus::Upcoming,
            Notified::Started => SubscriptionStatus::Active,
            Notified::Ended => SubscriptionStatus::Ended,
        }
    }

    /// Returns the next part of its life, with its instant: its start or its end.
    pub(crate) fn next_notified(&self) -> Option<(Timestamp, Notified)> {
        let Subscription { start_date, end_date, .. } = self.subscription;
        match self.notified {
            Notified::Created => match end_date {
                Some(end) if end <= start_date => Some((end, Notified::Ended)),
                _ => Some((start_date, Notified::Started)),
            },
            Notified::Started => end_date.map(|end| (end, Notified::Ended)),
            Notified::Ended => None,
        }
    }

    /// Returns the end of its trial, where that has not been told of.
    pub(crate) fn next_trial_end(&self) -> Option<Timestamp> {
        let end = self.subscription.trial_end()?;
        let is_reached = self.subscription.end_date.is_none_or(|last| end <= last);
        (is_reached && self.trial_told != Some(end)).then_some(end)
    }

    /// Tells whether no event that is still taken can be its own.
    pub(crate) fn is_past(&self, oldest_open: Timestamp) -> bool {
        self.subscription.end_date.is_some_and(|end| end <= oldest_open)
            && self.notified == Notified::Ended
            && self.next_closing().is_none()
            && self.invoicing.as_ref().is_none_or(|of| of.drafts.is_empty())
    }
}
