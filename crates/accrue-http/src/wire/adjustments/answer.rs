use accrue::{
    Currency, Decimal, JsonNumber, PricingUnit,
    plan::{PhaseOrder, PricedVersion},
    price::{
        self, AdjustmentScope, Discount, DiscountTier, FilterOperator, FilterValues,
        ScopedAdjustment,
    },
    related::Related,
    subscription::AdjustmentInterval,
};
use serde::Serialize;

use crate::{
    shape::{Nothing, Sparse, choices, response},
    wire::{amounts::Amount, price_filters::PriceFilter},
};

response! {
    /// An adjustment over prices. It has the member that its type is named after.
    pub(crate) struct Adjustment {
        /// Its id.
        id: String,
        /// Type of the adjustment.
        adjustment_type: AdjustmentType,
        /// Number of units that are taken off.
        usage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off, once in each billing period.
        amount_discount: Sparse<Amount>,
        /// Fraction that is taken off, from 0 to 1.
        percentage_discount: Sparse<JsonNumber>,
        /// Fractions that are taken off bands of the amount.
        tiers: Sparse<Vec<PercentageTier>>,
        /// Least amount of a billing period.
        minimum_amount: Sparse<Amount>,
        /// Item whose revenue a minimum is.
        item_id: Sparse<String>,
        /// Greatest amount of a billing period.
        maximum_amount: Sparse<Amount>,
        /// True if it is over the whole invoice.
        is_invoice_level: bool,
        /// Filters of the prices that it is over: every price where there are none.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it is over.
        applies_to_price_ids: Vec<String>,
        /// Always null.
        reason: Nothing,
        /// Id of the adjustment whose place it took.
        replaces_adjustment_id: Option<String>,
        /// Number of the phase that it is of, where the plan has phases.
        plan_phase_order: Option<u32>,
    }

    /// A band of an amount.
    pub(crate) struct PercentageTier {
        /// Lower bound, excluded.
        lower_bound: JsonNumber,
        /// Upper bound, included; null for the last band.
        upper_bound: Option<JsonNumber>,
        /// Fraction that is taken off.
        percentage: JsonNumber,
    }

    /// The first discount of a plan. It has the member that its type is named after.
    pub(crate) struct PlanDiscount {
        /// Type of the discount.
        discount_type: AnyDiscountType,
        /// Number of units that are taken off.
        usage_discount: Sparse<JsonNumber>,
        /// Amount that is taken off.
        amount_discount: Sparse<Amount>,
        /// Fraction that is taken off, from 0 to 1.
        percentage_discount: Sparse<JsonNumber>,
        /// Fractions that are taken off bands of the amount.
        tiers: Sparse<Vec<PercentageTier>>,
        /// Ids of the prices that it is over.
        applies_to_price_ids: Vec<String>,
        /// Filters of the prices that it is over.
        filters: Vec<PriceFilter>,
        /// Always null.
        reason: Nothing,
    }

    /// The first minimum of a plan.
    pub(crate) struct PlanMinimum {
        /// Least amount of a billing period.
        minimum_amount: Amount,
        /// Filters of the prices that it is over.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it is over.
        applies_to_price_ids: Vec<String>,
    }

    /// The first maximum of a plan.
    pub(crate) struct PlanMaximum {
        /// Greatest amount of a billing period.
        maximum_amount: Amount,
        /// Filters of the prices that it is over.
        filters: Vec<PriceFilter>,
        /// Ids of the prices that it is over.
        applies_to_price_ids: Vec<String>,
    }
}

/// The type of an adjustment.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AdjustmentType {
    UsageDiscount,
    AmountDiscount,
    PercentageDiscount,
    TieredPercentageDiscount,
    Minimum,
    Maximum,
}

/// The type of a discount of whatever kind.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnyDiscountType {
    Usage,
    Amount,
    Percentage,
    TieredPercentage,
}

choices! {
    "AdjustmentType" AdjustmentType {
        "usage_discount" => AdjustmentType::UsageDiscount,
        "amount_discount" => AdjustmentType::AmountDiscount,
        "percentage_discount" => AdjustmentType::PercentageDiscount,
        "tiered_percentage_discount" => AdjustmentType::TieredPercentageDiscount,
        "minimum" => AdjustmentType::Minimum,
        "maximum" => AdjustmentType::Maximum,
    }
    "DiscountTypeOfAdjustment" AnyDiscountType {
        "usage" => AnyDiscountType::Usage,
        "amount" => AnyDiscountType::Amount,
        "percentage" => AnyDiscountType::Percentage,
        "tiered_percentage" => AnyDiscountType::TieredPercentage,
    }
}

impl AdjustmentType {
    /// Names the member that says how much it is.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::UsageDiscount => "usage_discount",
            Self::AmountDiscount => "amount_discount",
            Self::PercentageDiscount => "percentage_discount",
            Self::TieredPercentageDiscount => "tiers",
            Self::Minimum => "minimum_amount",
            Self::Maximum => "maximum_amount",
        }
    }
}

/// How much an adjustment is: one of the members.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) usage: Option<JsonNumber>,
    pub(crate) amount: Option<Amount>,
    pub(crate) percentage: Option<JsonNumber>,
    pub(crate) tiers: Option<Vec<PercentageTier>>,
    pub(crate) minimum: Option<Amount>,
    pub(crate) maximum: Option<Amount>,
}

impl Values {
    /// Takes an adjustment in a currency apart, with its type.
    pub(crate) fn of(of: &price::Adjustment, currency: Currency) -> Option<(AdjustmentType, Self)> {
        let money = |amount: &Decimal| Some(Amount::of(amount, &PricingUnit::from(currency)));
        let none = Self::default();
        Some(match of {
            price::Adjustment::Discount(Discount::Usage(units)) => {
                let usage = Some(JsonNumber(units.clone()));
                (AdjustmentType::UsageDiscount, Self { usage, ..none })
            }
            price::Adjustment::Discount(Discount::Amount(off)) => {
                (AdjustmentType::AmountDiscount, Self { amount: money(off), ..none })
            }
            price::Adjustment::Discount(Discount::Percentage(off)) => {
                let percentage = Some(JsonNumber(off.as_decimal().clone()));
                (AdjustmentType::PercentageDiscount, Self { percentage, ..none })
            }
            price::Adjustment::Discount(Discount::TieredPercentage(tiers)) => {
                let tiers = Some(tiers.iter().map(PercentageTier::from).collect());
                (AdjustmentType::TieredPercentageDiscount, Self { tiers, ..none })
            }
            price::Adjustment::Minimum(least) => {
                (AdjustmentType::Minimum, Self { minimum: money(least), ..none })
            }
            price::Adjustment::Maximum(most) => {
                (AdjustmentType::Maximum, Self { maximum: money(most), ..none })
            }
            _ => return None,
        })
    }
}

impl AnyDiscountType {
    /// Returns the type of a discount; none for a minimum or a maximum.
    pub(crate) const fn of(of: AdjustmentType) -> Option<Self> {
        Some(match of {
            AdjustmentType::UsageDiscount => Self::Usage,
            AdjustmentType::AmountDiscount => Self::Amount,
            AdjustmentType::PercentageDiscount => Self::Percentage,
            AdjustmentType::TieredPercentageDiscount => Self::TieredPercentage,
            AdjustmentType::Minimum | AdjustmentType::Maximum => return None,
        })
    }
}

impl Adjustment {
    /// Writes the adjustments of a version of a plan, in a currency.
    pub(crate) fn of_version(version: &PricedVersion, currency: Currency) -> Vec<Self> {
        let adjustments = version.adjustments.iter();
        let adjustments = adjustments.filter_map(|of| {
            let ids = ids(of, version);
            Self::new(&of.adjustment, currency, Some(&of.scope), ids, None)
        });
        adjustments.collect()
    }

    /// Writes the adjustment of an interval of a subscription, in a currency.
    pub(crate) fn of_interval(
        of: &AdjustmentInterval,
        currency: Currency,
        related: &Related,
    ) -> Option<Self> {
        let ids = of.price_ids.iter().map(ToString::to_string).collect();
        let price = of.price_ids.first().and_then(|id| related.price(*id));
        let item = price.map(|price| price.item_id.to_string());
        let shown = Self::new(&of.adjustment, currency, of.scope.as_deref(), ids, item)?;
        Some(match of.scope {
            Some(_) => shown,
            // A price's own, or a coupon's: the interval is all that there is of it.
            None => Self {
                id: of.id.to_string(),
                is_invoice_level: of.is_invoice_level(),
                filters: filters_of(of),
                ..shown
            },
        })
    }

    fn new(
        of: &price::Adjustment,
        currency: Currency,
        scope: Option<&AdjustmentScope>,
        applies_to_price_ids: Vec<String>,
        item: Option<String>,
    ) -> Option<Self> {
        let (adjustment_type, values) = Values::of(of, currency)?;
        let is_minimum = matches!(adjustment_type, AdjustmentType::Minimum);
        let item = scope.and_then(|of| of.item_id).map(|id| id.to_string()).or(item);
        let replaces = scope.and_then(|of| of.replaces_adjustment_id);
        let phase = scope.and_then(|of| of.plan_phase_order);
        Some(Self {
            id: scope.map(|of| of.id.to_string()).unwrap_or_default(),
            adjustment_type,
            usage_discount: Sparse(values.usage),
            amount_discount: Sparse(values.amount),
            percentage_discount: Sparse(values.percentage),
            tiers: Sparse(values.tiers),
            minimum_amount: Sparse(values.minimum),
            item_id: Sparse(item.filter(|_| is_minimum)),
            maximum_amount: Sparse(values.maximum),
            is_invoice_level: scope.is_some_and(|of| of.is_invoice_level),
            filters: scope.map(filters).unwrap_or_default(),
            applies_to_price_ids,
            reason: Nothing,
            replaces_adjustment_id: replaces.map(|id| id.to_string()),
            plan_phase_order: phase.map(PhaseOrder::number),
        })
    }
}

/// Returns the ids of the prices of a version that an adjustment is over.
fn ids(of: &ScopedAdjustment, version: &PricedVersion) -> Vec<String> {
    of.reached(&version.prices).map(|price| price.id.to_string()).collect()
}

fn filters(of: &AdjustmentScope) -> Vec<PriceFilter> {
    of.filters.iter().map(PriceFilter::from).collect()
}

/// Returns the filters of the prices that an interval reaches: those that it was given, or one by ids.
pub(crate) fn filters_of(of: &AdjustmentInterval) -> Vec<PriceFilter> {
    if let Some(scope) = &of.scope {
        return filters(scope);
    }
    let values = FilterValues::PriceId(of.price_ids.clone());
    vec![PriceFilter::from(&price::PriceFilter { operator: FilterOperator::Includes, values })]
}

/// Returns the adjustments of a version, or of one of its phases.
fn of_phase(
    version: &PricedVersion,
    phase: Option<PhaseOrder>,
) -> impl Iterator<Item = &ScopedAdjustment> {
    let all = version.adjustments.iter();
    all.filter(move |of| phase.is_none() || of.scope.plan_phase_order == phase)
}

impl PlanDiscount {
    /// Writes the first discount of a version, or of one of its phases.
    pub(crate) fn first(
        version: &PricedVersion,
        phase: Option<PhaseOrder>,
        currency: Currency,
    ) -> Option<Self> {
        of_phase(version, phase).find_map(|of| {
            let (kind, values) = Values::of(&of.adjustment, currency)?;
            Some(Self {
                discount_type: AnyDiscountType::of(kind)?,
                usage_discount: Sparse(values.usage),
                amount_discount: Sparse(values.amount),
                percentage_discount: Sparse(values.percentage),
                tiers: Sparse(values.tiers),
                applies_to_price_ids: ids(of, version),
                filters: filters(&of.scope),
                reason: Nothing,
            })
        })
    }
}

impl PlanMinimum {
    /// Writes the first minimum of a version, or of one of its phases.
    pub(crate) fn first(
        version: &PricedVersion,
        phase: Option<PhaseOrder>,
        currency: Currency,
    ) -> Option<Self> {
        of_phase(version, phase).find_map(|of| {
            let (_, Values { minimum, .. }) = Values::of(&of.adjustment, currency)?;
            let (filters, applies_to_price_ids) = (filters(&of.scope), ids(of, version));
            minimum.map(|minimum_amount| Self { minimum_amount, filters, applies_to_price_ids })
        })
    }
}

impl PlanMaximum {
    /// Writes the first maximum of a version, or of one of its phases.
    pub(crate) fn first(
        version: &PricedVersion,
        phase: Option<PhaseOrder>,
        currency: Currency,
    ) -> Option<Self> {
        of_phase(version, phase).find_map(|of| {
            let (_, Values { maximum, .. }) = Values::of(&of.adjustment, currency)?;
            let (filters, applies_to_price_ids) = (filters(&of.scope), ids(of, version));
            maximum.map(|maximum_amount| Self { maximum_amount, filters, applies_to_price_ids })
        })
    }
}

impl From<&DiscountTier> for PercentageTier {
    fn from(tier: &DiscountTier) -> Self {
        Self {
            lower_bound: JsonNumber(tier.lower_bound.clone()),
            upper_bound: tier.upper_bound.clone().map(JsonNumber),
            percentage: JsonNumber(tier.percentage.as_decimal().clone()),
        }
    }
}
