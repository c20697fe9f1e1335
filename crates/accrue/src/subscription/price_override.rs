use std::mem::discriminant;

use serde::{Deserialize, Serialize};

use super::{PriceInterval, Subscription};
use crate::{
    Decimal, Error, IdOr, Patch, PriceId, PricingUnit,
    price::{
        Adjustment, Charge, ConversionRate, Discount, Model, NewCharge,
        NewDimensionalPriceConfiguration, NewPrice, Price, ScopedAdjustment,
    },
};

/// Kinds of adjustments of a price that its override says, or that there are none of: those of the plan version over the
/// price by itself are not in force then (subscriptions 1.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Overridden {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    minimum: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    maximum: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    discount: bool,
}

impl Subscription {
    /// Returns the intervals of prices that are overrides, with those that wait for the end of the trial.
    pub(crate) fn overrides(&self) -> impl Iterator<Item = &PriceInterval> {
        let waiting = self.waiting.iter().flat_map(|of| &of.price_intervals);
        self.price_intervals.iter().chain(waiting).filter(|of| of.overridden.is_some())
    }
}

impl Overridden {
    /// Has an adjustment of a plan version follow from a price that it is over to the override of that, and tells whether
    /// it is still in force.
    pub(super) fn follow(self, of: &mut ScopedAdjustment, old: PriceId, by: &Price) -> bool {
        of.scope.filters.iter_mut().for_each(|filter| filter.rename(&old, by.id));
        let is_said = match of.adjustment {
            Adjustment::Minimum(_) => self.minimum,
            Adjustment::Maximum(_) => self.maximum,
            Adjustment::Discount(_) => self.discount,
        };
        of.scope.is_invoice_level || !is_said || !of.scope.holds(by)
    }
}

/// Override of the numbers of a price of a plan version for one subscription (subscriptions 1.6): all else stays as it
/// is there, and what the version adjusts it by goes on doing so. Where the override says a minimum, a maximum or a
/// discount, or that there is none, that takes the place of those that the version has over the price by itself.
///
/// ```
/// use accrue::{Decimal, Patch, PriceId, price::{Model, Unit}};
/// use accrue::subscription::{PriceChanges, PriceOverride, ReplacedPrice};
///
/// # fn changes(usage: PriceId) {
/// let model = Some(Model::Unit(Unit::new(Decimal::from(3))));
/// let minimum = Patch::Set(Decimal::from(50));
/// let cheaper = PriceOverride { model, minimum, ..PriceOverride::default() };
/// let mut changes = PriceChanges::default();
/// changes.replace = vec![ReplacedPrice::overridden(usage, cheaper)];
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceOverride {
    /// Its model with other numbers; as in the plan where none is given.
    pub model: Option<Model>,
    /// Its quantity: of a fee.
    pub quantity: Option<Decimal>,
    /// Least amount of a billing period.
    pub minimum: Patch<Decimal>,
    /// Greatest amount of a billing period.
    pub maximum: Patch<Decimal>,
    /// The only discount that it has.
    pub discount: Patch<Discount>,
    /// How much of the invoicing currency one of its unit is worth.
    pub conversion_rate: Option<Decimal>,
    /// Its currency or pricing unit, as the caller knows it: another one is refused.
    pub currency: Option<PricingUnit>,
}

impl PriceOverride {
    /// Returns the quantity, where only that is another one: the price itself stays then.
    pub(super) fn quantity_alone(&self) -> Option<&Decimal> {
        let Self { quantity, currency, .. } = self;
        let alone =
            Self { quantity: quantity.clone(), currency: currency.clone(), ..Self::default() };
        quantity.as_ref().filter(|_| *self == alone)
    }

    /// Returns what it says of the adjustments of the price.
    pub(super) fn overridden(&self) -> Overridden {
        let Self { minimum, maximum, discount, .. } = self;
        Overridden {
            minimum: *minimum != Patch::Keep,
            maximum: *maximum != Patch::Keep,
            discount: *discount != Patch::Keep,
        }
    }

    /// Refuses the override of a price in another currency than it says.
    pub(super) fn check_currency(&self, old: &Price) -> Result<(), Error> {
        match self.currency.as_ref().filter(|of| **of != old.currency) {
            Some(other) => {
                let detail = format!("the price {} is in {}, not in {other}", old.id, old.currency);
                Err(Error::constraint(detail))
            }
            None => Ok(()),
        }
    }

    /// Makes the price that takes the place of one.
    pub(super) fn of(&self, old: &Price) -> Result<NewPrice, Error> {
        old.check_gives_no_credits()?;
        let mut charge = old.charge.clone();
        let (Charge::Usage { model, .. }
        | Charge::Fixed { model, .. }
        | Charge::Composite { model }) = &mut charge;
        if let Some(own) = &self.model {
            if discriminant(own) != discriminant(model) {
                let (found, expected) = (own.model_type(), model.model_type());
                let detail =
                    format!("the price {} is of the model {expected}, not of {found}", old.id);
                return Err(Error::constraint(detail));
            }
            model.clone_from(own);
        }
        match (&self.quantity, &mut charge) {
            (Some(own), Charge::Fixed { quantity, .. }) => quantity.clone_from(own),
            (Some(_), Charge::Usage { .. } | Charge::Composite { .. }) => {
                return Err(no_quantity(old));
            }
            (None, _) => {}
        }
        let mut adjustments = old.adjustments.clone();
        self.minimum.clone().apply(&mut adjustments.minimum);
        self.maximum.clone().apply(&mut adjustments.maximum);
        match &self.discount {
            Patch::Keep => {}
            Patch::Clear => adjustments.discounts.clear(),
            Patch::Set(discount) => adjustments.discounts = vec![discount.clone()],
        }
        let group = old.dimensional_price_configuration.as_ref().map(|of| {
            let group = IdOr::Id(of.dimensional_price_group_id);
            NewDimensionalPriceConfiguration::new(group, of.dimension_values.clone())
        });
        Ok(NewPrice {
            name: old.name.clone(),
            item_id: old.item_id,
            currency: old.currency.clone(),
            cadence: old.cadence,
            charge: NewCharge::Of(charge),
            adjustments,
            invoice_grouping_key: old.invoice_grouping_key.clone(),
            dimensional_price_configuration: group,
            license_type_id: old.license_type_id,
            license_allocations: old.license_allocations.clone(),
            conversion_rate: self
                .conversion_rate
                .clone()
                .map(ConversionRate::Unit)
                .or(old.conversion_rate.clone()),
            external_price_id: None,
            reference_id: None,
            plan_phase_order: old.plan_phase_order,
            metadata: old.metadata.clone(),
            carried: match &self.conversion_rate {
                Some(_) => old.carried.without("conversion_rate_config"),
                None => old.carried.clone(),
            },
        })
    }
}

pub(super) fn no_quantity(price: &Price) -> Error {
    let of = if price.charge.is_composite() { "other prices" } else { "usage" };
    Error::constraint(format!("the price {} is of {of}, which has no quantity", price.id))
}
