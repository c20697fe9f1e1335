use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    Currency, Decimal, Error, PlanId, PlanPhaseId, Timestamp, Zone, limits, price::PhaseOrder,
};

/// Phase of a plan to create (subscriptions 1.8, 5.1): phases follow each other in the order in which they are given.
///
/// ```
/// use accrue::plan::{NewPhase, PhaseDuration};
///
/// let phases = [NewPhase::lasting(PhaseDuration::months(2)), NewPhase::evergreen()];
/// assert!(phases[1].duration.is_none(), "the last one has no end");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NewPhase {
    /// How long it lasts. Only the last one needs none, and none is followed by nothing: it goes on whatever is said.
    pub duration: Option<PhaseDuration>,
    /// True where billing periods begin anew with it.
    pub aligns_billing: bool,
}

impl NewPhase {
    /// Prepares a phase that lasts for some time, and leaves billing periods as they are.
    #[must_use]
    pub const fn lasting(duration: PhaseDuration) -> Self {
        Self { duration: Some(duration), aligns_billing: false }
    }

    /// Prepares a last phase, without an end.
    #[must_use]
    pub const fn evergreen() -> Self {
        Self { duration: None, aligns_billing: false }
    }
}

/// Phase of a plan, which has prices and adjustments of its own (subscriptions 1.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanPhase {
    /// Its id.
    pub id: PlanPhaseId,
    /// Its number.
    pub order: PhaseOrder,
    /// How long it lasts, where something follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<PhaseDuration>,
    /// True where billing periods begin anew with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aligns_billing: bool,
}

/// Duration of a phase, in the calendar of the customer's zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseDuration {
    /// Number of units, from 1.
    pub count: u32,
    /// The unit.
    pub unit: PhaseUnit,
}

/// Unit of the duration of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PhaseUnit {
    /// One day.
    Daily,
    /// One month.
    Monthly,
    /// Three months.
    Quarterly,
    /// Six months.
    SemiAnnual,
    /// Twelve months.
    Annual,
}

impl PhaseDuration {
    /// Creates a duration of some months.
    #[must_use]
    pub const fn months(count: u32) -> Self {
        Self { count, unit: PhaseUnit::Monthly }
    }

    /// Returns the instant so long after another one, by the clocks of a zone.
    pub(crate) fn after(self, start: Timestamp, zone: &Zone) -> Timestamp {
        let months = |each: u32| zone.after(start, 0, self.count.saturating_mul(each));
        match self.unit {
            PhaseUnit::Daily => zone.after(start, self.count, 0),
            PhaseUnit::Monthly => months(1),
            PhaseUnit::Quarterly => months(3),
            PhaseUnit::SemiAnnual => months(6),
            PhaseUnit::Annual => months(12),
        }
    }
}

/// Trial that the subscriptions of a plan begin with (subscriptions 1.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTrial {
    /// Number of days that it lasts, from 1.
    pub days: u32,
    /// Amount up to which usage is free that falls due together, above zero: all of it where none is given. It does with
    /// the trial's end, or with that of a phase or a version within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_amount: Option<Decimal>,
}

impl PlanTrial {
    /// Prepares a trial of some days, in which all usage is free.
    #[must_use]
    pub const fn of_days(days: u32) -> Self {
        Self { days, maximum_amount: None }
    }

    /// Says everything that is wrong with that of a plan in a currency.
    pub(super) fn check(&self, currency: Currency) -> Result<(), Error> {
        check_days("trial.days", self.days)?;
        if self.days == 0 {
            return Err(Error::invalid("trial.days", "expected one day or more"));
        }
        let Some(amount) = &self.maximum_amount else { return Ok(()) };
        if *amount <= Decimal::zero() || amount.places() > currency.places() {
            let message = format!("found {amount}, expected an amount in {currency} above zero");
            return Err(Error::invalid("trial.maximum_amount", message));
        }
        Ok(())
    }
}

/// Refuses a trial that is longer than any may be.
pub(crate) fn check_days(at: &str, days: u32) -> Result<(), Error> {
    if days <= limits::TRIAL_DAYS {
        return Ok(());
    }
    let message = format!("found {days}, expected at most {}", limits::TRIAL_DAYS);
    Err(Error::invalid(at, message))
}

/// Decides the phases of a plan.
pub(super) fn decide_phases(
    plan_id: PlanId,
    new: &[NewPhase],
    now: Timestamp,
) -> Result<Vec<PlanPhase>, Error> {
    if new.len() > limits::PHASES {
        let message = format!("has {} phases, expected at most {}", new.len(), limits::PHASES);
        return Err(Error::invalid("phases", message));
    }
    let mut phases = Vec::with_capacity(new.len());
    for (place, NewPhase { duration, aligns_billing }) in new.iter().enumerate() {
        let at = format!("phases[{place}].duration");
        if duration.is_some_and(|of| of.count == 0) {
            return Err(Error::invalid(at, "expected one or more of its unit"));
        }
        if duration.is_none() && place.saturating_add(1) < new.len() {
            let detail = format!("{} has no end, and others follow", PhaseOrder::at(place));
            return Err(Error::constraint(detail));
        }
        let order = PhaseOrder::at(place);
        let names = [plan_id.as_bytes().as_slice(), &order.number().to_be_bytes()];
        phases.push(PlanPhase {
            id: PlanPhaseId::derived(now, &names),
            order,
            duration: *duration,
            aligns_billing: *aligns_billing,
        });
    }
    Ok(phases)
}

/// Refuses a price or an adjustment that is of no phase of a plan, and one of a phase where there are none
/// (subscriptions 5.1).
pub(crate) fn check_phase(
    of: Option<PhaseOrder>,
    phases: &[PlanPhase],
    what: impl fmt::Display,
) -> Result<(), Error> {
    let detail = match of {
        None if phases.is_empty() => return Ok(()),
        None => format!("{what} is of no phase, and the plan has {}", phases.len()),
        Some(order) if phases.iter().any(|phase| phase.order == order) => return Ok(()),
        Some(order) => format!("{what} is of {order}, and the plan has {}", phases.len()),
    };
    Err(Error::constraint(detail))
}
