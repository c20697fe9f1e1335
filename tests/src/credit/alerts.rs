//! Alerts on balances, and the messages that come of ledgers.

use std::collections::BTreeSet;

use bigdecimal::{BigDecimal, Zero as _};

use super::{Bank, Place};
use crate::model::{At, Instant};

#[derive(Clone, Debug)]
pub struct BalanceAlert {
    pub place: Place,
    pub kind: Kind,
    /// None where the kind takes none.
    pub thresholds: Vec<BigDecimal>,
    pub enabled: bool,
    pub deleted: bool,
    /// The thresholds that it has fired for, and that the balance was not above since.
    in_alert: BTreeSet<BigDecimal>,
}

/// In the order in which they are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Dropped,
    Depleted,
    Recovered,
}

/// A message about a ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub at: Instant,
    pub place: Place,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Incremented {
        block: At,
    },
    Crossed {
        alert: At,
        before: Option<BigDecimal>,
        after: BigDecimal,
        /// Smallest first.
        thresholds: Vec<BigDecimal>,
        cause: Cause,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    Event(String, Instant),
    Configuration,
    Subscription(At),
    /// The entry that is the answer.
    Credit(At),
    Expiry(At),
}

impl BalanceAlert {
    #[must_use]
    pub const fn new(place: Place, kind: Kind, thresholds: Vec<BigDecimal>) -> Self {
        let in_alert = BTreeSet::new();
        Self { place, kind, thresholds, enabled: true, deleted: false, in_alert }
    }

    /// Says which thresholds a balance crosses that moves; none where it does not fire.
    fn judge(
        &mut self,
        before: Option<&BigDecimal>,
        after: &BigDecimal,
    ) -> Option<Vec<BigDecimal>> {
        let zero = BigDecimal::zero();
        if self.kind == Kind::Recovered {
            let recovers = before.is_some_and(|before| *before <= zero) && *after > zero;
            return (recovers && self.enabled).then(Vec::new);
        }
        self.in_alert.retain(|threshold| after <= threshold);
        let watched =
            if self.kind == Kind::Depleted { vec![zero] } else { self.thresholds.clone() };
        let mut crossed: Vec<_> = watched.iter().map(BigDecimal::normalized).collect();
        crossed.retain(|threshold| after <= threshold && !self.in_alert.contains(threshold));
        crossed.sort();
        if crossed.is_empty() || !self.enabled {
            return None;
        }
        self.in_alert.extend(crossed.iter().cloned());
        Some(if self.kind == Kind::Depleted { Vec::new() } else { crossed })
    }
}

impl Bank {
    /// The alert of a kind that watches a ledger.
    #[must_use]
    pub fn alert_on(&self, place: Place, kind: Kind) -> Option<At> {
        let mut alerts = self.alerts.iter();
        alerts.position(|alert| alert.place == place && alert.kind == kind && !alert.deleted)
    }

    /// Judges the alerts on a ledger whose balance may have moved.
    pub(super) fn judge(
        &mut self,
        place: Place,
        before: Option<BigDecimal>,
        at: Instant,
        cause: &Cause,
    ) {
        let Some(after) = self.balance(place) else { return };
        for kind in [Kind::Dropped, Kind::Depleted, Kind::Recovered] {
            if let Some(alert) = self.alert_on(place, kind)
                && let Some(thresholds) = self.alerts[alert].judge(before.as_ref(), &after)
            {
                let (before, after, cause) = (before.clone(), after.clone(), cause.clone());
                let body = Body::Crossed { alert, before, after, thresholds, cause };
                self.messages.push(Message { at, place, body });
            }
        }
    }

    /// Judges an alert that was created, enabled or changed, on the balance that there is.
    pub(super) fn configured(&mut self, alert: At) {
        let BalanceAlert { place, kind, .. } = self.alerts[alert];
        let Some(balance) = self.balance(place).filter(|_| kind != Kind::Recovered) else { return };
        if let Some(thresholds) = self.alerts[alert].judge(None, &balance) {
            let (before, after, cause) = (Some(balance.clone()), balance, Cause::Configuration);
            let body = Body::Crossed { alert, before, after, thresholds, cause };
            self.messages.push(Message { at: self.now, place, body });
        }
    }
}
