use std::collections::BTreeSet;

use accrue::{
    AdjustmentId, Currency, Decimal, Fraction, ItemId, JsonNumber, PriceId, PricingUnit,
    price::{
        Adjustment, Discount, DiscountTier, FilterOperator, FilterValues, NewAdjustment,
        PriceClass, PriceFilter,
    },
};

use super::AdjustmentType;
use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema, request},
    wire::{dates::Date, phases::PhaseNumber, price_filters::DiscountFilterIn},
};

request! {
    /// An adjustment over prices. It needs the member that its type is named after.
    struct NewAdjustmentFields open {
        /// Type of the adjustment.
        adjustment_type: AdjustmentType,
        /// Fraction that is taken off, from 0 to 1.
        percentage_discount: Option<JsonNumber>,
        /// Number of units that are taken off before they are rated.
        usage_discount: Option<JsonNumber>,
        /// Amount that is taken off, once in each billing period.
        amount_discount: Option<Decimal>,
        /// Least amount of a billing period.
        minimum_amount: Option<Decimal>,
        /// Greatest amount of a billing period.
        maximum_amount: Option<Decimal>,
        /// Fractions that are taken off bands of the amount.
        tiers: Option<Vec<PercentageTierIn>>,
        /// Item whose revenue a minimum is.
        item_id: Option<ItemId>,
        /// True if it is over every price.
        applies_to_all: Option<bool>,
        /// Items whose prices it is over.
        applies_to_item_ids: Option<Vec<ItemId>>,
        /// Prices that it is over: by their ids, or by what the request that makes them calls them.
        applies_to_price_ids: Option<Vec<PriceName>>,
        /// Filters of the prices that it is over.
        filters: Option<Vec<DiscountFilterIn>>,
        /// Currency of the prices that it is over: any where none is given.
        currency: Option<Currency>,
        /// Type of the prices that it is over: any where none is given.
        price_type: Option<PriceClass>,
        /// False if it is of one price by itself, and not over the invoice.
        is_invoice_level: Option<bool>,
    }

    /// A band of an amount.
    pub(crate) struct PercentageTierIn open {
        /// Lower bound, excluded.
        lower_bound: JsonNumber,
        /// Upper bound, included; null for the last band.
        upper_bound: Option<JsonNumber>,
        /// Fraction that is taken off.
        percentage: JsonNumber,
    }

    /// An adjustment of a version of a plan to create.
    pub(crate) struct NewPlanAdjustment {
        /// Adjustment.
        adjustment: AdjustmentIn,
        /// Number of the phase that it is of, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
    }

    /// An adjustment to remove.
    pub(crate) struct RemovedAdjustment {
        /// Id of the adjustment.
        adjustment_id: AdjustmentId,
        /// Number of the phase that it is of, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
    }

    /// An adjustment to add to a subscription.
    pub(crate) struct AddedAdjustmentIn open {
        /// Adjustment.
        adjustment: AdjustmentIn,
        /// Its first instant: that of the subscription where none is given.
        start_date: Option<Date>,
        /// First instant after it: none where none is given.
        end_date: Option<Date>,
        /// Number of the phase that it is of, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
    }

    /// An adjustment of the plan to leave out.
    pub(crate) struct LeftOutAdjustment open {
        /// Id of the adjustment.
        adjustment_id: AdjustmentId,
    }

    /// An adjustment of the plan to replace by another.
    pub(crate) struct ReplacingAdjustment open {
        /// Id of the adjustment to replace.
        replaces_adjustment_id: AdjustmentId,
        /// Adjustment that takes its place.
        adjustment: AdjustmentIn,
    }

    /// An adjustment to replace by another.
    pub(crate) struct ReplacedAdjustment {
        /// Id of the adjustment to replace.
        replaces_adjustment_id: AdjustmentId,
        /// Adjustment that takes its place.
        adjustment: AdjustmentIn,
        /// Number of the phase that it is of, where the plan has phases.
        plan_phase_order: Option<PhaseNumber>,
    }
}

/// The id of a price, or what the request that makes it calls it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PriceName {
    Id(PriceId),
    Reference(String),
}

impl PriceName {
    const fn is_id(&self) -> bool {
        matches!(self, Self::Id(_))
    }

    fn id(self) -> Option<PriceId> {
        match self {
            Self::Id(id) => Some(id),
            Self::Reference(_) => None,
        }
    }
}

impl Read for PriceName {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let name = String::read(json, at, reader)?;
        Some(name.parse().map_or(Self::Reference(name), Self::Id))
    }
}

impl Describe for PriceName {
    fn schema() -> Schema {
        String::schema()
    }
}

/// An adjustment to give to a plan or a subscription.
#[derive(Clone, Debug)]
pub(crate) struct AdjustmentIn(pub(crate) NewAdjustment);

impl Describe for AdjustmentIn {
    fn schema() -> Schema {
        NewAdjustmentFields::schema()
    }
}

impl Read for AdjustmentIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let mut fields = NewAdjustmentFields::read(json, at, reader)?;
        let adjustment = fields.adjustment(at, reader);
        let references = fields.references();
        let selection = fields.selection(at, reader);
        let mut new = NewAdjustment::new(adjustment?);
        new.filters = selection?;
        new.reference_ids = references;
        new.item_id = fields.item_id;
        new.is_invoice_level = fields.is_invoice_level.unwrap_or(true);
        Some(Self(new))
    }
}

impl NewAdjustmentFields {
    /// Makes the adjustment that its type names.
    fn adjustment(&mut self, at: &str, reader: &mut Reader) -> Option<Adjustment> {
        let field = |name: &str| format!("{at}/{name}");
        let missing = "is missing, which its type needs";
        let wanted = match self.adjustment_type {
            AdjustmentType::UsageDiscount => {
                let units = self.usage_discount.take();
                units.map(|JsonNumber(units)| Adjustment::Discount(Discount::Usage(units)))
            }
            AdjustmentType::AmountDiscount => {
                let amount = self.amount_discount.take();
                amount.map(|amount| Adjustment::Discount(Discount::Amount(amount)))
            }
            AdjustmentType::Minimum => self.minimum_amount.take().map(Adjustment::Minimum),
            AdjustmentType::Maximum => self.maximum_amount.take().map(Adjustment::Maximum),
            AdjustmentType::PercentageDiscount => match self.percentage_discount.take() {
                Some(off) => {
                    let off = fraction(&field("percentage_discount"), off, reader)?;
                    Some(Adjustment::Discount(Discount::Percentage(off)))
                }
                None => None,
            },
            AdjustmentType::TieredPercentageDiscount => match self.tiers.take() {
                Some(tiers) => {
                    let tiers = tiers.into_iter().enumerate();
                    let tiers = tiers.map(|(place, tier)| {
                        tier.tier(&format!("{}/{place}", field("tiers")), reader)
                    });
                    let tiers: Vec<_> = tiers.collect();
                    let tiers: Option<_> = tiers.into_iter().collect();
                    Some(Adjustment::Discount(Discount::TieredPercentage(tiers?)))
                }
                None => None,
            },
        };
        wanted.or_else(|| reader.wrong(&field(self.adjustment_type.member()), missing))
    }

    /// Returns the names of prices that are none of their ids.
    fn references(&self) -> BTreeSet<String> {
        let names = self.applies_to_price_ids.iter().flatten();
        let references = names.filter_map(|name| match name {
            PriceName::Reference(name) => Some(name.clone()),
            PriceName::Id(_) => None,
        });
        references.collect()
    }

    /// Makes the filters of the prices that it is over, named in one way (invoicing 14.1).
    fn selection(&mut self, at: &str, reader: &mut Reader) -> Option<Vec<PriceFilter>> {
        if self.applies_to_all == Some(false) {
            return reader.wrong(&format!("{at}/applies_to_all"), "expected true");
        }
        let includes = |values| PriceFilter { operator: FilterOperator::Includes, values };
        let items = self.applies_to_item_ids.take();
        let items = items.map(|ids| distinct(ids, &format!("{at}/applies_to_item_ids"), reader));
        let prices = self.applies_to_price_ids.take();
        let prices = prices.map(|of| distinct(of, &format!("{at}/applies_to_price_ids"), reader));
        let named = [
            self.applies_to_all.map(|_| Some(Vec::new())),
            items.map(|ids| Some(vec![includes(FilterValues::ItemId(ids?))])),
            prices.map(|names| {
                let names = names?;
                let is_by_id = names.is_empty() || names.iter().any(|of| of.is_id());
                let ids = names.into_iter().filter_map(PriceName::id);
                let by_id = is_by_id.then(|| includes(FilterValues::PriceId(ids.collect())));
                Some(by_id.into_iter().collect())
            }),
            self.filters
                .take()
                .map(|all| Some(all.into_iter().map(|DiscountFilterIn(filter)| filter).collect())),
        ];
        let currency =
            self.currency.map(|of| FilterValues::Currency([PricingUnit::from(of)].into()));
        let price_type = self.price_type.map(|of| FilterValues::PriceType([of].into()));
        let narrowed = currency.into_iter().chain(price_type).map(includes);
        let mut named = named.into_iter().flatten();
        let is_narrowed = self.currency.is_some() || self.price_type.is_some();
        let filters = match (named.next(), named.next()) {
            (Some(filters), None) => filters?,
            (None, _) if is_narrowed => Vec::new(),
            (first, _) => {
                let message = match first {
                    Some(_) => "names its prices in several ways, expected one",
                    None => {
                        "names no prices, expected one of applies_to_all, applies_to_item_ids, \
                         applies_to_price_ids and filters"
                    }
                };
                return reader.wrong(at, message);
            }
        };
        Some(filters.into_iter().chain(narrowed).collect())
    }
}

/// Returns ids that are each there once.
fn distinct<Id: Ord>(ids: Vec<Id>, at: &str, reader: &mut Reader) -> Option<BTreeSet<Id>> {
    let count = ids.len();
    let ids: BTreeSet<_> = ids.into_iter().collect();
    match ids.len() == count {
        true => Some(ids),
        false => reader.wrong(at, "has an id twice"),
    }
}

fn fraction(at: &str, JsonNumber(number): JsonNumber, reader: &mut Reader) -> Option<Fraction> {
    match Fraction::try_from(number) {
        Ok(fraction) => Some(fraction),
        Err(error) => reader.wrong(at, error.to_string()),
    }
}

impl PercentageTierIn {
    fn tier(self, at: &str, reader: &mut Reader) -> Option<DiscountTier> {
        Some(DiscountTier {
            lower_bound: self.lower_bound.0,
            upper_bound: self.upper_bound.map(|JsonNumber(bound)| bound),
            percentage: fraction(&format!("{at}/percentage"), self.percentage, reader)?,
        })
    }
}
