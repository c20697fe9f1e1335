//! Alerts on usage, cost and spend, and the messages that come of them.

use std::collections::BTreeSet;

use accrue::BackfillId;
use bigdecimal::BigDecimal;

use super::{Charge, Price, Span};
use crate::model::{At, Instant, Scope};

#[derive(Clone, Debug)]
pub struct Alert {
    pub scope: Scope,
    pub condition: Condition,
    pub thresholds: Vec<BigDecimal>,
    pub enabled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Usage(At),
    Cost(&'static str),
    Spend(&'static str, BTreeSet<Filter>),
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
        self == other || matches!((self, other), (Self::Cost(_), Self::Cost(_)))
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
    Exceeded {
        alert: At,
        before: Option<BigDecimal>,
        after: BigDecimal,
        thresholds: Vec<BigDecimal>,
        period: Span,
        cause: Cause,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    Event(String, Instant),
    Configuration,
    Subscription,
    Period(Instant),
    Backfill(BackfillId),
}
