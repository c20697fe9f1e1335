//! Prices and filters as the engine takes them.

use accrue::{
    Decimal, Fraction, ItemId, MetricId, PriceId, PricingUnit, PropertyName,
    price::{
        self, Adjustment, BillingMode, FilterOperator, FilterValues, NewAdjustment, NewPrice,
        PriceClass, PriceFilter,
    },
};
use bigdecimal::BigDecimal;

use super::{Adjustments, Charge, Discount, Filter, Model, Named, Price, Tier};
use crate::host::{name, number};

impl Price {
    pub(super) fn to_engine(&self, items: &[ItemId], metrics: &[MetricId]) -> NewPrice {
        let unit = PricingUnit::parse(self.currency).unwrap();
        let new = NewPrice::builder(name("price"), items[self.item]).billed(self.cadence, unit);
        let mut new = match &self.charge {
            Charge::Usage { metric, model } => new.usage(metrics[*metric], model.to_engine()),
            Charge::Fee { quantity, model, in_advance } => {
                let billing_mode = match in_advance {
                    true => BillingMode::InAdvance,
                    false => BillingMode::InArrear,
                };
                let (quantity, model) = (decimal(quantity), model.to_engine());
                new.charge(price::Charge::Fixed { quantity, model, billing_mode })
            }
        };
        new.conversion_rate = self.conversion_rate.as_ref().map(|rate| decimal(rate).into());
        if self.adjustments.are_of_plan {
            return new;
        }
        new.adjustments.minimum = self.adjustments.minimum.as_ref().map(decimal);
        new.adjustments.maximum = self.adjustments.maximum.as_ref().map(decimal);
        let discounts = self.adjustments.discounts.iter().map(Discount::to_engine);
        new.adjustments.discounts = discounts.collect();
        new
    }
}

impl Price {
    /// The adjustments that its plan has over it.
    pub(super) fn of_plan(&self, id: PriceId, item: ItemId) -> Vec<NewAdjustment> {
        let Adjustments { discounts, minimum, maximum, are_of_plan } = &self.adjustments;
        let discounts = discounts.iter().map(|of| Adjustment::Discount(of.to_engine()));
        let minimum = minimum.iter().map(|of| Adjustment::Minimum(decimal(of)));
        let maximum = maximum.iter().map(|of| Adjustment::Maximum(decimal(of)));
        let all = maximum.chain(discounts).chain(minimum).filter(|_| *are_of_plan);
        let of_price = |adjustment| NewAdjustment {
            filters: vec![PriceFilter {
                operator: FilterOperator::Includes,
                values: FilterValues::PriceId([id].into()),
            }],
            item_id: Some(item),
            is_invoice_level: !id.to_string().ends_with(['0', '1', '2', '3', '4', '5', '6', '7']),
            ..NewAdjustment::new(adjustment)
        };
        all.map(of_price).collect()
    }
}

impl Discount {
    fn to_engine(&self) -> price::Discount {
        let fraction = |of: &BigDecimal| Fraction::try_from(decimal(of)).unwrap();
        match self {
            Self::Fraction(of) => price::Discount::Percentage(fraction(of)),
            Self::Amount(off) => price::Discount::Amount(decimal(off)),
            Self::Units(off) => price::Discount::Usage(decimal(off)),
            Self::Bands(bands) => {
                let mut lower_bound = Decimal::zero();
                let tiers = bands.iter().map(|Tier { until, each }| {
                    let upper_bound = until.as_ref().map(decimal);
                    let next = upper_bound.clone().unwrap_or_default();
                    let lower_bound = std::mem::replace(&mut lower_bound, next);
                    let percentage = fraction(each);
                    price::DiscountTier { lower_bound, upper_bound, percentage }
                });
                price::Discount::TieredPercentage(tiers.collect())
            }
        }
    }
}

impl Model {
    fn to_engine(&self) -> price::Model {
        match self {
            Self::Unit(each) => price::Model::Unit(price::Unit::new(decimal(each))),
            Self::Package(each, size) => {
                price::Model::Package(price::Package::new(decimal(each), *size))
            }
            Self::Tiered(tiers) => {
                let begins = [Decimal::zero()].into_iter().chain(tiers.iter().filter_map(end));
                let tiers = tiers.iter().zip(begins).map(|(tier, first_unit)| {
                    price::Tier::new(first_unit, end(tier), decimal(&tier.each))
                });
                price::Model::Tiered(price::Tiered::new(tiers))
            }
            Self::Bulk(tiers) => {
                let tiers =
                    tiers.iter().map(|tier| price::BulkTier::new(end(tier), decimal(&tier.each)));
                price::Model::Bulk(price::Bulk::new(tiers))
            }
            Self::Matrix { dimensions, others, cells } => {
                let cells = cells.iter().map(|(values, each)| {
                    price::MatrixCell::new(
                        values.iter().map(|of| of.map(str::to_owned)),
                        decimal(each),
                    )
                });
                let dimensions = dimensions.iter().map(|of| PropertyName::parse(*of).unwrap());
                price::Model::Matrix(price::Matrix::new(dimensions, decimal(others), cells))
            }
        }
    }
}

impl Filter {
    pub(super) fn to_engine(&self, prices: &[PriceId], items: &[ItemId]) -> PriceFilter {
        PriceFilter {
            operator: match self.includes {
                true => FilterOperator::Includes,
                false => FilterOperator::Excludes,
            },
            values: match &self.named {
                Named::Prices(of) => {
                    FilterValues::PriceId(of.iter().map(|index| prices[*index]).collect())
                }
                Named::Items(of) => {
                    FilterValues::ItemId(of.iter().map(|index| items[*index]).collect())
                }
                Named::Fees(true) => FilterValues::PriceType([PriceClass::Fixed].into()),
                Named::Fees(false) => FilterValues::PriceType([PriceClass::Usage].into()),
            },
        }
    }
}

fn end(tier: &Tier) -> Option<Decimal> {
    tier.until.as_ref().map(decimal)
}

pub(super) fn decimal(exact: &BigDecimal) -> Decimal {
    number(&exact.to_plain_string())
}
