//! Balances, entry by entry as they are committed, and what the alerts on them make of that.

use std::collections::BTreeSet;

use super::{Alert, Scope, Tenant};
use crate::model::At;

/// When an alert on a balance fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum Rule {
    /// At or below a threshold.
    Dropped,
    /// At or below zero.
    Depleted,
    /// Above zero again.
    Recovered,
}

impl Rule {
    pub(in crate::sim) const ALL: [Self; 3] = [Self::Dropped, Self::Depleted, Self::Recovered];

    /// Its name in the API.
    pub(in crate::sim) const fn name(self) -> &'static str {
        match self {
            Self::Dropped => "credit_balance_dropped",
            Self::Depleted => "credit_balance_depleted",
            Self::Recovered => "credit_balance_recovered",
        }
    }
}

/// An alert on a balance that fired, and at which threshold: zero of one that has none.
pub(in crate::sim) type Fall = (String, i64);

/// An entry of a ledger: which one, and from where to where it moves the balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sim) struct Booked {
    pub(in crate::sim) number: usize,
    pub(in crate::sim) from: i64,
    pub(in crate::sim) to: i64,
}

impl Tenant {
    /// Entries were written, or have grown, which move the balance together: says what fires.
    pub(in crate::sim) fn booked(
        &mut self,
        customer: At,
        together: &[Booked],
    ) -> Result<Vec<Fall>, String> {
        let balance = |of: &Self| of.customers[customer].entries.last().map(|last| last.to);
        let before = balance(self);
        for booked in together {
            self.book(customer, *booked)?;
        }
        let Some(after) = balance(self).filter(|after| before != Some(*after)) else {
            return Ok(Vec::new());
        };
        Ok(self.balance_moved(customer, before, after))
    }

    fn book(&mut self, customer: At, booked: Booked) -> Result<(), String> {
        let entries = &mut self.customers[customer].entries;
        let last = entries.last().copied();
        match last {
            // It has grown, or is only said to grow no more.
            Some(last) if booked.number < last.number => {
                return match entries.contains(&booked) {
                    true => Ok(()),
                    false => Err(format!("entry {booked:?} is new or moved, after {last:?}")),
                };
            }
            Some(last) if booked.number == last.number => {
                if last.from != booked.from {
                    return Err(format!("entry {last:?} becomes {booked:?}"));
                }
                entries.pop();
            }
            _ => {
                let (number, from) = last.map_or((0, 0), |last| (last.number, last.to));
                if (number + 1, from) != (booked.number, booked.from) {
                    return Err(format!("entry {booked:?} follows {last:?}"));
                }
            }
        }
        entries.push(booked);
        Ok(())
    }

    /// A balance moves in one direction: says what fires.
    fn balance_moved(&mut self, customer: At, before: Option<i64>, after: i64) -> Vec<Fall> {
        let mut fell = Vec::new();
        let own = self.alerts.iter_mut().filter(|alert| !alert.deleted);
        for alert in own {
            match alert.scope {
                Scope::Balance(of, Rule::Recovered) if of == customer => {
                    let is_back = before.is_some_and(|before| before <= 0) && after > 0;
                    fell.extend((is_back && alert.enabled).then(|| (alert.id.clone(), 0)));
                }
                Scope::Balance(of, _) if of == customer => {
                    // What it has come back from can fire again, also where it is disabled.
                    alert.in_alert.retain(|threshold| *threshold >= after);
                    fell.extend(alert.falls(|at| after <= at && before.is_none_or(|of| at < of)));
                }
                _ => {}
            }
        }
        fell
    }

    /// What fires at once of an alert on a balance that was created, enabled or changed.
    pub(super) fn configured_balance(&mut self, alert: At) -> Vec<Fall> {
        let Scope::Balance(customer, rule) = self.alerts[alert].scope else { return Vec::new() };
        match self.customers[customer].entries.last() {
            Some(last) if rule != Rule::Recovered => {
                let balance = last.to;
                self.alerts[alert].falls(|at| balance <= at)
            }
            _ => Vec::new(),
        }
    }
}

impl Alert {
    /// Which of its thresholds fire, of those that are crossed: each once until it is armed again.
    fn falls(&mut self, is_crossed: impl Fn(i64) -> bool) -> Vec<Fall> {
        let zero = vec![0];
        let all = match self.scope {
            Scope::Balance(_, Rule::Dropped) => &self.thresholds,
            _ => &zero,
        };
        let all = all.iter().copied().filter(|at| self.enabled && is_crossed(*at));
        let new: BTreeSet<_> = all.filter(|at| !self.in_alert.contains(at)).collect();
        self.in_alert.extend(&new);
        new.into_iter().map(|at| (self.id.clone(), at)).collect()
    }
}

/// Compares what a commit told of balances with what it should have: each once.
pub(in crate::sim) fn check_falls(expected: &[Fall], told: &[Fall]) -> Result<(), String> {
    let sorted = |falls: &[Fall]| {
        let mut falls = falls.to_vec();
        falls.sort();
        falls
    };
    match sorted(expected) == sorted(told) {
        true => Ok(()),
        false => Err(format!("alerts on balances tell {told:?}, expected {expected:?}")),
    }
}
