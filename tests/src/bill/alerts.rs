//! Alerts on usage, cost and spend, and the messages that come of them.

use std::collections::{BTreeMap, BTreeSet};

use accrue::BackfillId;
use bigdecimal::BigDecimal;

use super::{Charge, Price, Span};
use crate::model::{At, Instant, Scope};

#[derive(Clone, Debug)]
pub struct Alert {
    pub scope: Scope,
    pub condition: Condition,
    pub thresholds: Vec<BigDecimal>,
    pub overrides: Vec<Override>,
    pub enabled: bool,
}

/// Thresholds that some groups have in place of those: of some keys, with these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    pub of: BTreeMap<&'static str, &'static str>,
    pub thresholds: Vec<BigDecimal>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Usage(At),
    Cost(&'static str),
    Spend(&'static str, BTreeSet<Filter>),
    /// The cost of each group of some properties.
    Groups(Vec<&'static str>, &'static str, BTreeSet<Filter>),
}

/// Which prices of a plan count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filter {
    pub includes: bool,
    pub named: Named,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// By their places in the plan.
    Prices(BTreeSet<At>),
    Items(BTreeSet<At>),
    /// The fees, or all others.
    Fees(bool),
}

impl Filter {
    pub(super) fn passes(&self, index: At, price: &Price) -> bool {
        let is_named = match &self.named {
            Named::Prices(of) => of.contains(&index),
            Named::Items(of) => of.contains(&price.item),
            Named::Fees(fees) => matches!(price.charge, Charge::Fee { .. }) == *fees,
        };
        is_named == self.includes
    }
}

impl Condition {
    /// Whether there can be only one of the two.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cost(_), Self::Cost(_)) => true,
            (Self::Groups(keys, unit, filters), Self::Groups(other, others, of)) => {
                let sorted = |keys: &[&'static str]| BTreeSet::from_iter(keys.iter().copied());
                sorted(keys) == sorted(other) && (unit, filters) == (others, of)
            }
            _ => self == other,
        }
    }

    pub(super) fn is_on_groups(&self) -> bool {
        matches!(self, Self::Groups(..))
    }
}

impl Alert {
    /// The thresholds of a group, by the values of some keys: those of the override that names the most of them, the
    /// first of several.
    pub(super) fn thresholds_of(&self, keys: &[&'static str], group: &[String]) -> &[BigDecimal] {
        let is_for = |of: &&Override| {
            let mut named = keys.iter().zip(group).filter(|(key, _)| of.of.contains_key(*key));
            named.all(|(key, value)| of.of[key] == value)
        };
        let mut best: Option<&Override> = None;
        for of in self.overrides.iter().filter(is_for) {
            if best.is_none_or(|best| best.of.len() < of.of.len()) {
                best = Some(of);
            }
        }
        best.map_or(&self.thresholds, |of| &of.thresholds)
    }
}

/// A message about a subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub at: Instant,
    pub subscription: At,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Created,
    Started,
    Ended,
    CancellationScheduled(Instant),
    CancellationUnscheduled(Instant),
    QuantityUpdated {
        price: At,
        at: Instant,
        new: BigDecimal,
        old: BigDecimal,
    },
    GroupsExceeded {
        alert: At,
        groups: Vec<Group>,
        period: Span,
        cause: Cause,
    },
    Exceeded {
        alert: At,
        before: Option<BigDecimal>,
        after: BigDecimal,
        thresholds: Vec<BigDecimal>,
        period: Span,
        cause: Cause,
    },
}

/// A group that has come to a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub values: Vec<String>,
    pub before: Option<BigDecimal>,
    pub after: BigDecimal,
    pub thresholds: Vec<BigDecimal>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    Event(String, Instant),
    Configuration,
    Subscription,
    Period(Instant),
    Backfill(BackfillId),
}
