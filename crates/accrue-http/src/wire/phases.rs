//! Phases and trials of plans, and of the subscriptions on them (subscriptions 1.7, 1.8, 5.1, 5.3).

use accrue::{
    Currency, Zone,
    plan::{self, NewPhase, PhaseDuration, PhaseOrder, PhaseUnit, PricedVersion},
    subscription::{TrialEnd, TrialUpdate as Update},
};

use super::{
    adjustments::{PlanDiscount, PlanMaximum, PlanMinimum},
    amounts::Amount,
    dates::Date,
};
use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{Describe, Nothing, Read, Reader, Schema, Whole, choices, request, response},
};

/// Number of a phase of a plan.
pub(crate) type PhaseNumber = Whole<1, 4_294_967_295>;

request! {
    /// A phase of a plan to create. Phases are numbered 1, 2, 3 and so on.
    pub(crate) struct NewPlanPhase {
        /// Its number.
        order: PhaseNumber,
        /// How long it lasts, in units: only the last phase needs none.
        duration: Option<Whole<1, 4_294_967_295>>,
        /// Unit of the duration.
        duration_unit: Option<PhaseUnit>,
        /// True if billing periods begin anew with it.
        align_billing_with_phase_start_date: Option<bool>,
    }

    /// The begin of the next phase of the plan of a subscription.
    pub(crate) struct TriggerPhase {
        /// Day on which it begins, in the customer's zone: today where none is given.
        effective_date: Option<Date>,
        /// False if it is refused where an issued invoice would be void or credited.
        allow_invoice_credit_or_void: Option<bool>,
    }

    /// Another end of the trial of a subscription.
    pub(crate) struct UpdateTrial {
        /// Date at which it ends, without an offset in the customer's zone, or the word `immediate`.
        trial_end_date: TrialEndDate,
        /// True if all that comes later moves by the same time.
        shift: Option<bool>,
    }
}

response! {
    /// A phase of a plan.
    pub(crate) struct PlanPhase {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// Always null.
        description: Nothing,
        /// Its number.
        order: u32,
        /// How long it lasts, in units; null where it has no end.
        duration: Option<u32>,
        /// Unit of the duration.
        duration_unit: Option<PhaseUnit>,
        /// The first discount of its adjustments.
        discount: Option<PlanDiscount>,
        /// The first minimum of its adjustments.
        minimum: Option<PlanMinimum>,
        /// Amount of that minimum.
        minimum_amount: Option<Amount>,
        /// The first maximum of its adjustments.
        maximum: Option<PlanMaximum>,
        /// Amount of that maximum.
        maximum_amount: Option<Amount>,
    }

    /// A phase of a version of a plan.
    pub(crate) struct PlanVersionPhase {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// Always null.
        description: Nothing,
        /// Its number.
        order: u32,
        /// How long it lasts, in units; null where it has no end.
        duration: Option<u32>,
        /// Unit of the duration.
        duration_unit: Option<PhaseUnit>,
    }

    /// The trial that a plan begins with.
    pub(crate) struct TrialConfig {
        /// Length of the trial; null where there is none.
        trial_period: Option<u32>,
        /// Unit of the length.
        trial_period_unit: TrialUnit,
    }
}

/// The unit of the length of a trial.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrialUnit {
    Days,
}

choices! {
    "PhaseDurationUnit" PhaseUnit {
        "daily" => PhaseUnit::Daily,
        "monthly" => PhaseUnit::Monthly,
        "quarterly" => PhaseUnit::Quarterly,
        "semi_annual" => PhaseUnit::SemiAnnual,
        "annual" => PhaseUnit::Annual,
    }
    TrialEndWord {
        "immediate" => TrialEndWord::Immediate,
    }
    TrialUnit {
        "days" => TrialUnit::Days,
    }
}

/// The end of a trial: a date or a word.
#[derive(Clone, Debug)]
pub(crate) enum TrialEndDate {
    Word(TrialEndWord),
    At(Date),
}

/// A word for the end of a trial.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TrialEndWord {
    Immediate,
}

impl Read for TrialEndDate {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::String(word) if word == "immediate" => Some(Self::Word(TrialEndWord::Immediate)),
            _ => Date::read(json, at, reader).map(Self::At),
        }
    }
}

impl Describe for TrialEndDate {
    fn schema() -> Schema {
        Schema::AnyOf(vec![Date::schema(), TrialEndWord::schema()])
    }
}

/// Returns the phase that has a number.
pub(crate) fn phase(number: PhaseNumber) -> PhaseOrder {
    PhaseOrder::new(number.count())
}

/// Makes the phases of a plan to create, in the order of their numbers.
pub(crate) fn phases(given: Option<Vec<NewPlanPhase>>) -> Result<Vec<NewPhase>, Problem> {
    let Some(mut given) = given else { return Ok(Vec::new()) };
    let mut violations = Violations::default();
    if given.is_empty() {
        violations.push("/plan_phases", "is empty, expected one phase or more");
    }
    for (place, of) in given.iter().enumerate() {
        if of.duration.is_some() && of.duration_unit.is_none() {
            let at = format!("/plan_phases/{place}/duration_unit");
            violations.push(at, "is missing, which the duration needs");
        }
    }
    if !violations.is_empty() {
        return Err(violations.into());
    }
    given.sort_by_key(|of| of.order.0);
    for (of, number) in given.iter().zip(1..) {
        if of.order.0 != number {
            let found = of.order.0;
            let detail = format!("the phases have the number {found}, expected {number} there");
            return Err(Problem::constraint_violation(detail));
        }
    }
    let phases = given.into_iter().map(|of| NewPhase {
        duration: of
            .duration
            .zip(of.duration_unit)
            .map(|(count, unit)| PhaseDuration { count: count.count(), unit }),
        aligns_billing: of.align_billing_with_phase_start_date == Some(true),
    });
    Ok(phases.collect())
}

impl TriggerPhase {
    /// Tells whether issued invoices are to stay as they are.
    pub(crate) fn leaves_invoices(&self) -> bool {
        self.allow_invoice_credit_or_void == Some(false)
    }

    /// Returns its date.
    pub(crate) const fn date(&self) -> Option<&Date> {
        self.effective_date.as_ref()
    }
}

impl UpdateTrial {
    /// Tells whether its date is one of the customer's zone.
    pub(crate) fn has_local_date(&self) -> bool {
        matches!(&self.trial_end_date, TrialEndDate::At(date) if date.is_local())
    }

    /// Makes the update for the engine, where dates are those of a zone.
    pub(crate) fn into_update(self, zone: &Zone) -> Result<Update, Problem> {
        let end = match self.trial_end_date {
            TrialEndDate::Word(TrialEndWord::Immediate) => TrialEnd::Immediate,
            TrialEndDate::At(date) => TrialEnd::At(date.in_zone(zone, "/trial_end_date")?),
        };
        Ok(Update { end, shift: self.shift == Some(true) })
    }
}

impl PlanPhase {
    /// Writes the phases of a plan, with the adjustments of one of its versions; none where it has no phases.
    pub(crate) fn all(
        of: &plan::Plan,
        version: Option<&PricedVersion>,
        currency: Currency,
    ) -> Option<Vec<Self>> {
        let phases = of.phases.iter().map(|phase| Self::of(phase, version, currency));
        Some(phases.collect()).filter(|phases: &Vec<_>| !phases.is_empty())
    }

    fn of(phase: &plan::PlanPhase, version: Option<&PricedVersion>, currency: Currency) -> Self {
        let own = Some(phase.order);
        let minimum = version.and_then(|version| PlanMinimum::first(version, own, currency));
        let maximum = version.and_then(|version| PlanMaximum::first(version, own, currency));
        Self {
            id: phase.id.to_string(),
            name: name(phase),
            description: Nothing,
            order: phase.order.number(),
            duration: phase.duration.map(|of| of.count),
            duration_unit: phase.duration.map(|of| of.unit),
            discount: version.and_then(|version| PlanDiscount::first(version, own, currency)),
            minimum_amount: minimum.as_ref().map(|of| of.minimum_amount.clone()),
            minimum,
            maximum_amount: maximum.as_ref().map(|of| of.maximum_amount.clone()),
            maximum,
        }
    }
}

impl PlanVersionPhase {
    /// Writes the phases of a plan; none where it has no phases.
    pub(crate) fn all(of: &plan::Plan) -> Option<Vec<Self>> {
        let phases = of.phases.iter().map(|phase| Self {
            id: phase.id.to_string(),
            name: name(phase),
            description: Nothing,
            order: phase.order.number(),
            duration: phase.duration.map(|of| of.count),
            duration_unit: phase.duration.map(|of| of.unit),
        });
        Some(phases.collect()).filter(|phases: &Vec<_>| !phases.is_empty())
    }
}

impl TrialConfig {
    /// Writes the trial that a plan begins with.
    pub(crate) fn of(plan: &plan::Plan) -> Self {
        let trial_period = plan.trial.as_ref().map(|trial| trial.days);
        Self { trial_period, trial_period_unit: TrialUnit::Days }
    }
}

/// Returns the name of a phase: phases of the API have none of their own (subscriptions 5.1).
fn name(phase: &plan::PlanPhase) -> String {
    format!("Phase {}", phase.order.number())
}
