use super::{
    AdjustmentChanges, AgreedPrice, AgreedPrices, Cut, PriceInterval, Subscription,
    adjustment_changes::agreed, phases::Stretch,
};
use crate::{
    Currency, Error, PriceIntervalId,
    expression::Expression,
    meter::UsageCustomers,
    plan::{PhaseOrder, Plan, PlanPhase, PlanTrial, PlanVersion},
    price::ScopedAdjustment,
};

/// Version of a plan that a subscription is on from some instant on, with the prices that were agreed on: those alone
/// where it is a contract.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) plan: Option<&'a Plan>,
    pub(crate) plan_version: PlanVersion,
    pub(crate) currency: Currency,
    pub(crate) prices: &'a AgreedPrices,
    /// Adjustments of the version, and changes to them (subscriptions 1.3).
    pub(crate) adjustments: (&'a [ScopedAdjustment], &'a AdjustmentChanges),
    /// Phase of the plan that it begins with: the first one where none is given.
    pub(crate) initial_phase: Option<PhaseOrder>,
    /// Number of days of its trial: as the plan says where none is given.
    pub(crate) trial_days: Option<u32>,
    /// Condition on the events that count.
    pub(crate) filter: Option<&'a Expression>,
    /// Customers whose usage counts.
    pub(crate) usage_customers: Option<&'a UsageCustomers>,
}

impl Subscription {
    /// Cuts all that it is charged by some terms, in each phase of the plan what is of that, and agrees on its trial.
    pub(super) fn begin(&mut self, cut: &Cut, terms: &Terms<'_>) -> Result<(), Error> {
        let stretches = self.enter_phases(cut, terms)?;
        let had = self.price_intervals.len();
        for (place, of) in (0_u32..).zip(&terms.prices.all) {
            let stretch = Stretch::of(of.price.plan_phase_order, &stretches);
            match (&of.given_in, stretch) {
                (None, Some(stretch)) => {
                    let cut = stretch.cut(cut);
                    let interval =
                        PriceInterval { end_date: stretch.end, ..cut.interval(&of.price) };
                    let own = cut.adjustments(&of.price);
                    let until = |of| super::AdjustmentInterval { end_date: stretch.end, ..of };
                    self.adjustment_intervals.extend(own.map(until));
                    self.price_intervals.push(interval);
                }
                // It begins with a later phase.
                (None, None) => {}
                (Some(_), None) if of.is_of_version => {}
                (Some(at), stretch) => {
                    terms.check_phase(of.price.plan_phase_order, at, stretch.is_some())?;
                    let Some(stretch) = stretch else { continue };
                    let added = self.begin_given(&stretch.cut(cut), place, of, stretch);
                    added.map_err(|error| error.within(at))?;
                }
            }
        }
        let begun = self.price_intervals.iter_mut().skip(had);
        begun.for_each(|of| {
            of.filter = terms.filter.cloned();
            of.usage_customers = terms.usage_customers.cloned();
        });
        let prices = terms.prices.prices();
        let made = (prices.as_slice(), &terms.prices.references);
        let given = agreed(terms, cut, &stretches, made, self.end_date)?;
        self.adjustment_intervals.extend(given);
        self.agree_trial(cut, terms)
    }

    /// Cuts the interval of a price that is none of the plan version, within a stretch.
    fn begin_given(
        &mut self,
        cut: &Cut,
        place: u32,
        of: &AgreedPrice,
        stretch: &Stretch,
    ) -> Result<(), Error> {
        let interval = cut.agreed_interval(place, of);
        if of.is_of_version {
            // It takes the life of what it replaces, whatever the subscription's.
            let interval = PriceInterval { end_date: stretch.end, ..interval };
            self.check_priced(&of.price, &of.adjustments)?;
            self.push_priced(cut, interval, &of.price, &of.adjustments);
            return Ok(());
        }
        let had = self.adjustment_intervals.len();
        let life = (interval.start_date, interval.end_date);
        self.add_priced(cut, interval, &of.price, &of.adjustments)?;
        stretch.check(life)?;
        if of.end_date.is_none() {
            let added = self.price_intervals.last_mut().map(|of| &mut of.end_date);
            let own = self.adjustment_intervals.iter_mut().skip(had).map(|of| &mut of.end_date);
            added.into_iter().chain(own).for_each(|end| *end = stretch.end);
        }
        Ok(())
    }
}

impl Terms<'_> {
    /// Returns the phases of the plan.
    pub(super) fn phases(&self) -> &[PlanPhase] {
        self.plan.map_or(&[], |plan| &plan.phases)
    }

    /// Returns the trial of the plan.
    pub(super) fn trial(&self) -> Option<&PlanTrial> {
        self.plan?.trial.as_ref()
    }

    /// Refuses a price or an adjustment of no phase of the plan, or of one that is over with the begin.
    pub(super) fn check_phase(
        &self,
        phase: Option<PhaseOrder>,
        at: &str,
        is_there: bool,
    ) -> Result<(), Error> {
        match phase {
            Some(phase) if self.phases().is_empty() => {
                let message = format!("found {phase}, and the plan has no phases");
                Err(Error::invalid(format!("{at}.plan_phase_order"), message))
            }
            _ if is_there => Ok(()),
            None => Err(Error::constraint(format!("{at} is of no phase, and the plan has some"))),
            Some(phase) => {
                let detail = format!("{at} is of {phase}, which the subscription does not enter");
                Err(Error::constraint(detail))
            }
        }
    }
}

impl Cut {
    /// Cuts the interval of a price that is none of the plan version.
    fn agreed_interval(&self, place: u32, of: &AgreedPrice) -> PriceInterval {
        let names = [self.seed.as_bytes().as_slice(), of.price.id.as_bytes(), &place.to_be_bytes()];
        let start_date = of.start_date.unwrap_or(self.start_date);
        let mut interval = PriceInterval {
            id: PriceIntervalId::derived(self.created_at, &names),
            replaces_price_id: of.replaces,
            overridden: of.overridden,
            end_date: of.end_date,
            ..Self { start_date, ..*self }.interval(&of.price)
        };
        if let Some(quantity) = &of.quantity {
            interval.quantities = [(start_date, quantity.clone())].into();
        }
        interval
    }
}
