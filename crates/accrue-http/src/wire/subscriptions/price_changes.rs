use accrue::{
    Currency, ExternalId, IdOr, JsonNumber, PriceId, Zone,
    plan::PlanPrice,
    price::Adjustments,
    subscription::{AddedPrice, PriceChanges, ReplacedPrice, Replacement},
};

use super::interval_changes::{IntervalDiscountIn, adjustments, unnamed};
use crate::{
    problem::{Problem, Violations},
    shape::{Fields, LooseAmount, Reader, request},
    wire::{
        dates::{Date, any_is_local},
        parameters::NoParameters,
        phases::{PhaseNumber, phase},
        prices::{NewAllocationPriceIn, PlanPriceIn, PriceOverrideIn},
    },
};

request! {
    /// A price to add to a subscription.
    pub(crate) struct AddedPriceIn open => names_one_price {
        /// Id of a price that came with no plan.
        price_id: Option<PriceId>,
        /// External id of such a price.
        external_price_id: Option<ExternalId>,
        /// Price that is made for the subscription. Its `reference_id` names it in the adjustments of the request.
        price: Option<PlanPriceIn>,
        /// Credits that are given with each period, in place of a price.
        allocation_price: Option<NewAllocationPriceIn>,
        /// Its first instant: that of the subscription, or of its plan, where none is given.
        start_date: Option<Date>,
        /// First instant after it: none where none is given.
        end_date: Option<Date>,
        /// Number of the phase that it is charged in, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
        /// Discounts of it in this subscription alone.
        discounts: Option<Vec<IntervalDiscountIn>>,
        /// Least amount of a billing period, likewise.
        minimum_amount: Option<LooseAmount>,
        /// Greatest amount of a billing period, likewise.
        maximum_amount: Option<LooseAmount>,
        /// Values of parameters of the metric: no metric has any.
        metric_parameter_overrides: Option<NoParameters>,
    }

    /// A price of the plan to leave out.
    pub(crate) struct LeftOutPrice open => names_one_of_the_plan {
        /// Id of the price.
        price_id: Option<PriceId>,
        /// External id of the price.
        external_price_id: Option<ExternalId>,
    }

    /// A price of the plan to replace by another, or a fee by another quantity of it.
    pub(crate) struct ReplacingPrice open => names_one_replacement {
        /// Id of the price to replace.
        replaces_price_id: PriceId,
        /// Id of a price that came with no plan.
        price_id: Option<PriceId>,
        /// External id of such a price.
        external_price_id: Option<ExternalId>,
        /// Price that is made for the subscription.
        price: Option<PlanPriceIn>,
        /// Credits that are given with each period, in place of a price.
        allocation_price: Option<NewAllocationPriceIn>,
        /// Quantity of the fee, which stays.
        fixed_price_quantity: Option<JsonNumber>,
        /// Discounts of it in this subscription alone.
        discounts: Option<Vec<IntervalDiscountIn>>,
        /// Least amount of a billing period, likewise.
        minimum_amount: Option<LooseAmount>,
        /// Greatest amount of a billing period, likewise.
        maximum_amount: Option<LooseAmount>,
        /// Values of parameters of the metric: no metric has any.
        metric_parameter_overrides: Option<NoParameters>,
    }
}

fn names_one_price(fields: &Fields<'_>, reader: &mut Reader) {
    fields.names_one_of(&["price_id", "external_price_id", "price", "allocation_price"], reader);
}

fn names_one_of_the_plan(fields: &Fields<'_>, reader: &mut Reader) {
    fields.names_one_of(&["price_id", "external_price_id"], reader);
}

fn names_one_replacement(fields: &Fields<'_>, reader: &mut Reader) {
    let names =
        ["price_id", "external_price_id", "price", "allocation_price", "fixed_price_quantity"];
    fields.names_one_of(&names, reader);
}

/// The changes to the prices of a plan that a request has.
#[derive(Clone, Debug)]
pub(crate) struct PriceChangesIn {
    pub(super) add: Option<Vec<AddedPriceIn>>,
    pub(super) remove: Option<Vec<LeftOutPrice>>,
    pub(super) replace: Option<Vec<ReplacingPrice>>,
    pub(super) overrides: Option<Vec<PriceOverrideIn>>,
}

/// Tells whether a date of added prices is one of the customer's zone.
pub(super) fn has_local_date(add: Option<&Vec<AddedPriceIn>>) -> bool {
    let mut add = add.into_iter().flatten();
    add.any(|of| any_is_local([&of.start_date, &of.end_date]))
}

/// Tells whether a price says no currency, and so has the plan's.
pub(super) fn needs_currency(
    add: Option<&Vec<AddedPriceIn>>,
    replace: Option<&Vec<ReplacingPrice>>,
) -> bool {
    let add = add.into_iter().flatten().filter_map(|of| of.price.as_ref());
    let replace = replace.into_iter().flatten().filter_map(|of| of.price.as_ref());
    add.chain(replace).any(|price| !price.says_currency())
}

/// Refuses overrides beside what has taken their place (subscriptions 1.6).
pub(super) fn check_overrides(
    overrides: Option<&Vec<PriceOverrideIn>>,
    others: [(&str, bool); 6],
    violations: &mut Violations,
) {
    if let Some((other, _)) = others.iter().find(|(_, is_there)| *is_there && overrides.is_some()) {
        let message = format!("is there beside {other}, expected one of the two");
        violations.push("/price_overrides", message);
    }
}

impl PriceChangesIn {
    /// Makes the changes for the engine, where dates are those of a zone, and prices have the currency of the plan
    /// unless they say another.
    pub(super) fn into_changes(
        self,
        zone: &Zone,
        currency: Option<Currency>,
    ) -> Result<PriceChanges, Problem> {
        let mut changes = PriceChanges::default();
        for (index, of) in self.add.into_iter().flatten().enumerate() {
            let at = format!("/add_prices/{index}");
            let date = |date: Option<Date>, name: &str| {
                date.map(|date| date.in_zone(zone, &format!("{at}/{name}"))).transpose()
            };
            let named = (of.price_id, of.external_price_id);
            let new = (of.price, of.allocation_price);
            changes.add.push(AddedPrice {
                start_date: date(of.start_date, "start_date")?,
                end_date: date(of.end_date, "end_date")?,
                plan_phase_order: of.plan_phase_order.map(phase),
                adjustments: adjustments(of.discounts, of.minimum_amount, of.maximum_amount),
                ..AddedPrice::new(price(named, new, currency, &at)?.ok_or_else(|| unnamed(&at))?)
            });
        }
        for of in self.remove.into_iter().flatten() {
            let id = of.price_id.map(IdOr::Id);
            changes.remove.extend(id.or(of.external_price_id.map(IdOr::External)));
        }
        for (index, of) in self.replace.into_iter().flatten().enumerate() {
            let at = format!("/replace_prices/{index}");
            let named = (of.price_id, of.external_price_id);
            let new = (of.price, of.allocation_price);
            let by = match (price(named, new, currency, &at)?, of.fixed_price_quantity) {
                (Some(price), _) => Replacement::Price(price),
                (None, Some(JsonNumber(quantity))) => Replacement::Quantity(quantity),
                (None, None) => return Err(unnamed(&at)),
            };
            let adjustments: Adjustments =
                adjustments(of.discounts, of.minimum_amount, of.maximum_amount);
            let replaces = of.replaces_price_id;
            changes.replace.push(ReplacedPrice { replaces, by, adjustments });
        }
        let overrides = self.overrides.into_iter().flatten();
        changes.replace.extend(overrides.map(PriceOverrideIn::into_replaced));
        Ok(changes)
    }
}

/// Makes the price that an entry names, or that is made for it.
fn price(
    (id, external): (Option<PriceId>, Option<ExternalId>),
    (new, allocation): (Option<PlanPriceIn>, Option<NewAllocationPriceIn>),
    currency: Option<Currency>,
    at: &str,
) -> Result<Option<PlanPrice>, Problem> {
    if let Some(stored) = id.map(PlanPrice::from).or(external.map(PlanPrice::from)) {
        return Ok(Some(stored));
    }
    let missing = || Violations::one(format!("{at}/price/currency"), "is missing");
    match new {
        Some(new) => Ok(Some(new.into_price_of(currency).ok_or_else(missing)?.into())),
        None => Ok(allocation.map(|new| new.into_price().into())),
    }
}
