use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Adjustment, Cadence, Charge, Discount, PhaseOrder, Price, PriceFilter, References,
    check_filters,
};
use crate::{AdjustmentId, Error, ItemId, PricingUnit, Timestamp, limits};

/// Adjustment to give to a plan or a subscription, over prices of it (invoicing 14.1).
///
/// ```
/// use accrue::{Decimal, Fraction, price::{Adjustment, Discount, NewAdjustment}};
///
/// let half = Discount::Percentage(Fraction::parse("0.5")?);
/// let over_all = NewAdjustment::new(Adjustment::Discount(half));
/// assert!(over_all.is_invoice_level && over_all.filters.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAdjustment {
    /// The adjustment.
    pub adjustment: Adjustment,
    /// Filters of the prices that it is over: those that pass all of them, and every price without any.
    pub filters: Vec<PriceFilter>,
    /// Prices that the same request makes, by what it calls them ([`NewPrice::reference_id`](super::NewPrice)): they
    /// pass the filter by ids, and no others where there is none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub reference_ids: BTreeSet<String>,
    /// Item whose revenue is what a minimum adds. Without an effect on figures.
    pub item_id: Option<ItemId>,
    /// True where it is over an invoice, and false where it is of one price by itself.
    pub is_invoice_level: bool,
    /// Phase of the plan that it is of, where that has phases: it is over prices of that, and in force while a
    /// subscription is in it. Where it replaces another, it is of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase_order: Option<PhaseOrder>,
}

/// Adjustment of a plan or a subscription, over prices of it (invoicing 14.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScopedAdjustment {
    /// The adjustment.
    pub adjustment: Adjustment,
    /// Its id, and the prices that it is over.
    pub scope: AdjustmentScope,
}

/// Scope of an adjustment: the prices that it is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AdjustmentScope {
    /// Id of the adjustment.
    pub id: AdjustmentId,
    /// Filters of the prices that it is over: those that pass all of them, and every price without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<PriceFilter>,
    /// Item whose revenue is what a minimum adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<ItemId>,
    /// True where it is over an invoice, and false where it is of one price by itself.
    pub is_invoice_level: bool,
    /// Adjustment whose place it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces_adjustment_id: Option<AdjustmentId>,
    /// Phase of the plan that it is of, where that has phases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase_order: Option<PhaseOrder>,
}

impl NewAdjustment {
    /// Prepares an adjustment over every price, at the level of the invoice.
    #[must_use]
    pub const fn new(adjustment: Adjustment) -> Self {
        Self {
            adjustment,
            filters: Vec::new(),
            reference_ids: BTreeSet::new(),
            item_id: None,
            is_invoice_level: true,
            plan_phase_order: None,
        }
    }

    /// Says everything that is wrong with it, whatever prices there are.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.adjustment.check_value()?;
        check_filters("filters", &self.filters)?;
        match (&self.adjustment, self.item_id) {
            (Adjustment::Minimum(_), None) => {
                Err(Error::invalid("item_id", "is missing, expected the item of the minimum"))
            }
            _ => Ok(()),
        }
    }

    /// Makes it that of a plan or a subscription with some prices, where it is [right](Self::check) by itself.
    pub(crate) fn decide(
        &self,
        id: AdjustmentId,
        replaces_adjustment_id: Option<AdjustmentId>,
        (prices, references): (&[Price], &References),
    ) -> Result<ScopedAdjustment, Error> {
        let filters = references.resolve(self.filters.clone(), &self.reference_ids)?;
        let (adjustment, item_id) = (self.adjustment.clone(), self.item_id);
        let is_invoice_level = self.is_invoice_level;
        let scope = AdjustmentScope {
            id,
            filters,
            item_id,
            is_invoice_level,
            replaces_adjustment_id,
            plan_phase_order: self.plan_phase_order,
        };
        let new = ScopedAdjustment { adjustment, scope };
        let found = new.reached(prices).count();
        if !is_invoice_level && found != 1 {
            let detail = format!("the adjustment is of one price by itself, and is over {found}");
            return Err(Error::constraint(detail));
        }
        new.check_over(prices)?;
        Ok(new)
    }
}

impl AdjustmentScope {
    /// Tells whether it is over a price: none of another phase.
    #[must_use]
    pub fn holds(&self, price: &Price) -> bool {
        let phases = self.plan_phase_order.zip(price.plan_phase_order);
        phases.is_none_or(|(own, of)| own == of) && PriceFilter::all_pass(&self.filters, price)
    }
}

impl ScopedAdjustment {
    /// Returns the prices among some that it is over.
    pub fn reached<'a>(&'a self, prices: &'a [Price]) -> impl Iterator<Item = &'a Price> {
        prices.iter().filter(|price| self.scope.holds(price))
    }

    /// Refuses prices that it cannot be over (invoicing 7.4): their amounts must be in one currency, and
    /// fall due together, where it is spread over them.
    pub(crate) fn check_over(&self, prices: &[Price]) -> Result<(), Error> {
        let mut first: Option<&Price> = None;
        for price in self.reached(prices) {
            self.check_of(price)?;
            let first = *first.get_or_insert(price);
            if self.adjustment.is_spread() && terms(first) != terms(price) {
                let detail = format!(
                    "the adjustment is over the prices {} and {}, which do not fall due together: \
                     expected one cadence, billing mode and currency",
                    first.id, price.id
                );
                return Err(Error::constraint(detail));
            }
        }
        Ok(())
    }

    /// Refuses a price whose amounts it cannot adjust.
    fn check_of(&self, price: &Price) -> Result<(), Error> {
        let id = price.id;
        let Some(currency) = price.currency.currency() else {
            let unit = &price.currency;
            let detail = format!("the price {id} is in {unit}, which is no currency");
            return Err(Error::constraint(detail));
        };
        if let Some(amount) = self.adjustment.amount().filter(|of| of.places() > currency.places())
        {
            let (found, most) = (amount.places(), currency.places());
            let message = format!(
                "found {amount}, with {found} digits behind the point, expected at most {most} of \
                 {currency}"
            );
            return Err(Error::invalid(self.adjustment.field(), message));
        }
        match (&self.adjustment, &price.charge) {
            (Adjustment::Discount(Discount::Usage(_)), Charge::Fixed { .. }) => {
                Err(Error::constraint(format!("a discount of units is over the fee {id}")))
            }
            (Adjustment::Discount(Discount::Usage(_)), Charge::Composite { .. }) => {
                let detail = format!("a discount of units is over {id}, which is of other prices");
                Err(Error::constraint(detail))
            }
            (Adjustment::Discount(Discount::Usage(_)), Charge::Usage { model, .. })
                if model.is_divided() =>
            {
                let model = model.model_type();
                Err(Error::constraint(format!(
                    "a discount of units is over the {model} {id}, whose units are not alike"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Returns what decides when a price falls due, and in what.
fn terms(price: &Price) -> (Cadence, super::BillingMode, &PricingUnit) {
    (price.cadence, price.charge.billing_mode(), &price.currency)
}

/// Refuses more adjustments than a plan or a subscription can have.
pub(crate) fn check_adjustments(all: &[ScopedAdjustment]) -> Result<(), Error> {
    let (found, most) = (all.len(), limits::ADJUSTMENTS);
    if found > most {
        let detail = format!("there would be {found} adjustments, expected at most {most}");
        return Err(Error::constraint(detail));
    }
    let text = serde_json::to_string(all).map_err(|error| Error::corrupt(error.to_string()))?;
    let (bytes, most) = (text.len(), limits::ADJUSTMENT_BYTES);
    if bytes > most {
        let detail = format!("the adjustments would have {bytes} bytes, expected at most {most}");
        return Err(Error::too_large(detail));
    }
    Ok(())
}

/// Ids of the adjustments that one operation makes.
#[derive(Debug)]
pub(crate) struct AdjustmentIds<'a> {
    owner: &'a [u8; 16],
    version: u32,
    at: Timestamp,
    made: u32,
}

impl<'a> AdjustmentIds<'a> {
    /// Makes ids of the adjustments of a version of a plan or of a subscription, at an instant.
    pub(crate) const fn new(owner: &'a [u8; 16], version: u32, at: Timestamp) -> Self {
        Self { owner, version, at, made: 0 }
    }

    pub(crate) fn next(&mut self) -> AdjustmentId {
        self.made = self.made.saturating_add(1);
        let [version, made] = [self.version, self.made].map(u32::to_be_bytes);
        let names = [b"adjustment".as_slice(), self.owner, &version, &made];
        AdjustmentId::derived(self.at, &names)
    }
}

/// Returns the adjustments that stay of some, each replaced one with its replacement in its place.
pub(crate) fn remaining(
    all: &[ScopedAdjustment],
    remove: &[AdjustmentId],
    replace: &[(AdjustmentId, NewAdjustment)],
    ids: &mut AdjustmentIds<'_>,
    made: (&[Price], &References),
) -> Result<Vec<ScopedAdjustment>, Error> {
    let mut gone = BTreeSet::new();
    for id in remove.iter().chain(replace.iter().map(|(id, _)| id)) {
        if !all.iter().any(|of| of.scope.id == *id) {
            return Err(Error::not_found("adjustment", id));
        }
        if !gone.insert(*id) {
            let message = format!("the adjustment {id} is removed or replaced twice");
            return Err(Error::invalid("replace_adjustments", message));
        }
    }
    let mut left = Vec::with_capacity(all.len());
    for of in all {
        let id = of.scope.id;
        match replace.iter().enumerate().find(|(_, (old, _))| *old == id) {
            Some((index, (_, new))) => {
                let at = format!("replace_adjustments[{index}].adjustment");
                let phase = of.scope.plan_phase_order;
                let plan_phase_order = same_phase(new.plan_phase_order, phase, &id)?;
                let new = NewAdjustment { plan_phase_order, ..new.clone() };
                let new = new.decide(ids.next(), Some(id), made);
                left.push(new.map_err(|error| error.within(&at))?);
            }
            None if gone.contains(&id) => {}
            None => left.push(of.clone()),
        }
    }
    Ok(left)
}

/// Returns the phase of what is to go or to be replaced, and refuses that which is said to be another.
pub(crate) fn same_phase(
    said: Option<PhaseOrder>,
    phase: Option<PhaseOrder>,
    of: &impl std::fmt::Display,
) -> Result<Option<PhaseOrder>, Error> {
    match (said, phase) {
        (Some(said), Some(phase)) if said != phase => {
            Err(Error::constraint(format!("{of} is of {phase}, not of {said}")))
        }
        (Some(said), None) => Err(Error::constraint(format!("{of} is of no phase, not of {said}"))),
        _ => Ok(phase),
    }
}
