use serde::{Deserialize, Serialize};

use super::{
    BillingMode, Cadence, Charge, Cycle, FilterValues, Model, NewPrice, PhaseOrder, Price,
    PriceFilter, Unit, check_bounds, check_filters, check_not_negative, new::check_length,
};
use crate::{
    Currency, Decimal, Error, ItemId, LicenseTypeId, Metadata, Name, PricingUnit, Timestamp,
    WrittenDecimal, Zone, item::Item,
};

/// Allocation to create: a price that gives credits at the begin of each of its periods (subscriptions 9.3).
///
/// It is a fee in advance of the model unit, whose quantity is what it gives and whose unit amount is what one of the
/// credits costs. A first or a last period that is a part of a cycle gives and costs as much as a whole one.
///
/// ```
/// use accrue::{
///     Decimal, PricingUnit,
///     price::{AllocationExpiry, Cadence, NewAllocationPrice},
/// };
///
/// let credits = PricingUnit::parse("credits")?;
/// let mut new = NewAllocationPrice::new(credits, Decimal::from(500), Cadence::Monthly);
/// new.expiry = AllocationExpiry::EndOfCadence;
/// new.per_unit_cost_basis = Decimal::parse("0.02")?.into();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAllocationPrice {
    /// Currency or pricing unit of the credits.
    pub currency: PricingUnit,
    /// Amount that each period gives, above zero.
    pub amount: Decimal,
    /// Cadence: how often it gives. A custom one is not possible.
    pub cadence: Cadence,
    /// When what is left of a period's credits is lost.
    pub expiry: AllocationExpiry,
    /// Filters of the prices that the credits pay for, by their items: every price where there are none.
    pub filters: Vec<PriceFilter>,
    /// Cost basis: the amount that the customer pays for one of the credits, in the currency that the plan or the
    /// subscription is invoiced in; zero or more. What costs nothing is on no invoice.
    pub per_unit_cost_basis: WrittenDecimal,
    /// Item that it sells: one named after the credits, which all such allocations share, where none is given.
    pub item_id: Option<ItemId>,
    /// Type of the licenses that it is for.
    pub license_type_id: Option<LicenseTypeId>,
    /// Phase of its plan that it gives in: of an allocation that is made with a plan that has phases, and of no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_phase_order: Option<PhaseOrder>,
    /// The caller's own strings.
    pub metadata: Metadata,
}

/// Credits that a price gives with each of its periods. How many is its quantity, and what one of them costs is its
/// unit amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreditAllocation {
    /// Currency or pricing unit of the credits.
    pub currency: PricingUnit,
    /// When what is left of a period's credits is lost.
    pub expiry: AllocationExpiry,
    /// Filters of the prices that the credits pay for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<PriceFilter>,
    /// Type of the licenses that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license_type_id: Option<LicenseTypeId>,
}

/// When what is left of an allocation's credits is lost. The end of the price in a subscription, and of the
/// subscription, ends them as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AllocationExpiry {
    /// Never: it rolls over.
    Never,
    /// With the period that gave them.
    EndOfCadence,
    /// So many days or months of the customer's zone after they were given.
    After(Cycle),
}

impl NewAllocationPrice {
    /// Creates an allocation that rolls over, costs nothing and pays for every price.
    #[must_use]
    pub fn new(currency: PricingUnit, amount: Decimal, cadence: Cadence) -> Self {
        Self {
            currency,
            amount,
            cadence,
            expiry: AllocationExpiry::Never,
            filters: Vec::new(),
            per_unit_cost_basis: Decimal::zero().into(),
            item_id: None,
            license_type_id: None,
            plan_phase_order: None,
            metadata: Metadata::new(),
        }
    }

    /// Says everything that is wrong with it by itself.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_bounds("amount", &self.amount)?;
        if self.amount <= Decimal::zero() {
            let message = format!("found {}, expected more than zero", self.amount);
            return Err(Error::invalid("amount", message));
        }
        check_not_negative("per_unit_cost_basis", self.per_unit_cost_basis.number())?;
        if matches!(self.cadence, Cadence::Custom(_)) {
            return Err(Error::invalid("cadence", "found custom, expected one that has a name"));
        }
        self.expiry.check(self.cadence)?;
        check_filters("filters", &self.filters)?;
        let is_by_item = |of: &PriceFilter| matches!(of.values, FilterValues::ItemId(_));
        if let Some(place) = self.filters.iter().position(|of| !is_by_item(of)) {
            let field = format!("filters[{place}].field");
            return Err(Error::invalid(field, "found another field, expected item_id"));
        }
        Ok(())
    }

    /// Returns the name of the item that it sells where it names none.
    pub(crate) fn item_name(&self) -> Result<Name, Error> {
        let name = format!("Included Allocation ({})", self.currency);
        Name::parse(name).map_err(|error| Error::invalid("currency", error.to_string()))
    }

    /// Makes the price that gives the credits, of an item and in a currency, and what it gives.
    pub(crate) fn into_price(
        self,
        item: &Item,
        currency: Currency,
    ) -> (NewPrice, CreditAllocation) {
        let charge = Charge::Fixed {
            quantity: self.amount,
            model: Model::Unit(Unit::new(self.per_unit_cost_basis)),
            billing_mode: BillingMode::InAdvance,
        };
        let new = NewPrice::builder(item.name.clone(), item.id).billed(self.cadence, currency);
        let price = NewPrice {
            plan_phase_order: self.plan_phase_order,
            metadata: self.metadata,
            ..new.charge(charge)
        };
        let allocation = CreditAllocation {
            currency: self.currency,
            expiry: self.expiry,
            filters: self.filters,
            license_type_id: self.license_type_id,
        };
        (price, allocation)
    }
}

impl CreditAllocation {
    /// Tells whether what is left at the end of a period is there in the next one.
    #[must_use]
    pub const fn allows_rollover(&self) -> bool {
        !matches!(self.expiry, AllocationExpiry::EndOfCadence)
    }
}

impl AllocationExpiry {
    fn check(self, cadence: Cadence) -> Result<(), Error> {
        match self {
            Self::Never => Ok(()),
            Self::EndOfCadence if cadence.cycle().is_none() => {
                let message = "found true with the cadence one_time, which has no end";
                Err(Error::invalid("expires_at_end_of_cadence", message))
            }
            Self::EndOfCadence => Ok(()),
            Self::After(time) => check_length("custom_expiration.duration", time),
        }
    }

    /// Returns when credits are lost that were given at an instant, with a period that ends at another.
    pub(crate) fn of(self, given: Timestamp, end: Timestamp, zone: &Zone) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::EndOfCadence => Some(end),
            Self::After(Cycle::Days(days)) => Some(zone.after(given, days.into(), 0)),
            Self::After(Cycle::Months(months)) => Some(zone.after(given, 0, months.into())),
        }
    }
}

impl Price {
    /// Refuses another quantity, or other numbers, of a price that gives credits.
    pub(crate) fn check_gives_no_credits(&self) -> Result<(), Error> {
        match &self.credit_allocation {
            None => Ok(()),
            Some(_) => {
                let detail = format!(
                    "the price {} gives credits, which are as many as it says: another allocation can take its place",
                    self.id
                );
                Err(Error::constraint(detail))
            }
        }
    }

    /// Tells whether it gives credits that cost nothing: it is charged nowhere.
    pub(crate) fn is_free_allocation(&self) -> bool {
        let Model::Unit(unit) = self.charge.model() else { return false };
        self.credit_allocation.is_some() && unit.unit_amount.number().is_zero()
    }
}
