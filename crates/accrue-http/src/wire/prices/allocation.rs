//! Prices that give credits with their periods (subscriptions 9.3).

use accrue::{
    Decimal, ItemId, LicenseTypeId, PricingUnit, WrittenDecimal,
    price::{self, AllocationExpiry, Cadence, Cycle},
};

use super::{CycleUnit, parts::CycleConfigurationIn};
use crate::{
    shape::{Fields, Given, MetadataIn, Reader, Sparse, choices, new_metadata, request, response},
    wire::price_filters::{BlockFilterIn, PriceFilter},
};

request! {
    /// Credits to give with each period: a fee in advance of the model `unit`, whose quantity they are.
    pub(crate) struct NewAllocationPriceIn open => ends_once {
        /// Currency or pricing unit of the credits.
        currency: PricingUnit,
        /// Amount that each period gives, also one that is a part of a cycle; above zero.
        amount: Decimal,
        /// Cadence at which they are given.
        cadence: AllocationCadence,
        /// True if what is left is lost with the end of each period.
        expires_at_end_of_cadence: Option<bool>,
        /// Time from the begin of a period after which what is left of its credits is lost.
        custom_expiration: Option<CycleConfigurationIn>,
        /// Filters of the prices that the credits pay for, by `item_id`: every price where there are none.
        filters: Option<Vec<BlockFilterIn>>,
        /// Amount that the customer pays for one of them: 0 where nothing is said. What costs nothing is on no invoice.
        per_unit_cost_basis: Given<WrittenDecimal>,
        /// Id of the item that it sells: one that all allocations of these credits share, where none is given.
        item_id: Option<ItemId>,
        /// Id of the type of the licenses that it is for.
        license_type_id: Option<LicenseTypeId>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }
}

response! {
    /// The credits that a price gives with each of its periods.
    pub(crate) struct CreditAllocation {
        /// Currency or pricing unit of the credits.
        currency: PricingUnit,
        /// True if what is left at the end of a period is there in the next one.
        allows_rollover: bool,
        /// Time after which what is left is lost.
        custom_expiration: Option<CustomExpiration>,
        /// Filters of the prices that the credits pay for: every price where there are none.
        filters: Vec<PriceFilter>,
        /// Id of the type of the licenses that it is for.
        license_type_id: Option<String>,
        /// Id of the item of the price that gave a block; absent on a price.
        item_id: Sparse<String>,
    }

    /// A time after which credits are lost.
    pub(crate) struct CustomExpiration {
        /// Number of units.
        duration: u32,
        /// Unit: days or months.
        duration_unit: CycleUnit,
    }
}

/// The cadence of an allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AllocationCadence {
    OneTime,
    Monthly,
    Quarterly,
    SemiAnnual,
    Annual,
}

choices! {
    AllocationCadence {
        "one_time" => AllocationCadence::OneTime,
        "monthly" => AllocationCadence::Monthly,
        "quarterly" => AllocationCadence::Quarterly,
        "semi_annual" => AllocationCadence::SemiAnnual,
        "annual" => AllocationCadence::Annual,
    }
}

/// Refuses two ends.
fn ends_once(fields: &Fields<'_>, reader: &mut Reader) {
    if fields.has("expires_at_end_of_cadence") && fields.has("custom_expiration") {
        let message = "is there beside expires_at_end_of_cadence, expected one of them";
        let _: Option<()> = reader.wrong(&fields.pointer("custom_expiration"), message);
    }
}

impl NewAllocationPriceIn {
    pub(crate) fn into_price(self) -> price::NewAllocationPrice {
        let cadence = match self.cadence {
            AllocationCadence::OneTime => Cadence::OneTime,
            AllocationCadence::Monthly => Cadence::Monthly,
            AllocationCadence::Quarterly => Cadence::Quarterly,
            AllocationCadence::SemiAnnual => Cadence::SemiAnnual,
            AllocationCadence::Annual => Cadence::Annual,
        };
        let mut new = price::NewAllocationPrice::new(self.currency, self.amount, cadence);
        new.expiry = match (self.expires_at_end_of_cadence, &self.custom_expiration) {
            (_, Some(time)) => AllocationExpiry::After(time.cycle()),
            (Some(true), None) => AllocationExpiry::EndOfCadence,
            (Some(false) | None, None) => AllocationExpiry::Never,
        };
        new.filters = self.filters.into_iter().flatten().map(|BlockFilterIn(of)| of).collect();
        if let Given(Some(basis)) = self.per_unit_cost_basis {
            new.per_unit_cost_basis = basis;
        }
        (new.item_id, new.license_type_id) = (self.item_id, self.license_type_id);
        new.metadata = new_metadata(self.metadata);
        new
    }
}

impl CreditAllocation {
    /// Writes what a price gives; of a block, with the item of the price.
    pub(crate) fn of(allocation: &price::CreditAllocation, item: Option<ItemId>) -> Self {
        let time = match allocation.expiry {
            AllocationExpiry::After(Cycle::Days(days)) => Some((days, CycleUnit::Day)),
            AllocationExpiry::After(Cycle::Months(months)) => Some((months, CycleUnit::Month)),
            _ => None,
        };
        Self {
            currency: allocation.currency.clone(),
            allows_rollover: allocation.allows_rollover(),
            custom_expiration: time.map(|(duration, duration_unit)| CustomExpiration {
                duration: duration.into(),
                duration_unit,
            }),
            filters: allocation.filters.iter().map(PriceFilter::from).collect(),
            license_type_id: allocation.license_type_id.map(|id| id.to_string()),
            item_id: Sparse(item.map(|id| id.to_string())),
        }
    }
}
