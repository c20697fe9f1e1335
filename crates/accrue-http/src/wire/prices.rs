//! Prices on the wire (wire 5.2).

mod allocation;
mod dimensional;
mod discount;
mod evaluation;
mod license_price;
mod licenses;
mod models;
mod new;
mod overrides;
mod parts;
mod rates;

use accrue::{
    Decimal, ExternalId, JsonNumber, Metadata, Name, PriceId, PricingUnit,
    price::{self, BillingMode, Charge, ConversionRate, Cycle, PhaseOrder, PriceType},
    related::Related,
};
use serde::Serialize;

pub(crate) use self::{
    allocation::{CreditAllocation, NewAllocationPriceIn},
    evaluation::{
        Evaluate, EvaluateMultiple, EvaluatePreviewEvents, EvaluatedGroup, EvaluatedPrice,
        EvaluationsIn, PriceEvaluationIn,
    },
    license_price::LicensePriceIn,
    new::{FloatingPrice, PlanPriceIn},
    overrides::PriceOverrideIn,
};
use self::{
    dimensional::DimensionalPriceConfiguration,
    discount::PriceDiscount,
    models::{Config, MODELS, ModelType},
    rates::StoredRate,
};
use crate::{
    shape::{
        Describe, MetadataIn, Moment, Nothing, Object, Property, Schema, Word, choices, request,
        response,
    },
    wire::{carried::Stored, licenses::LicenseType, price_filters::PriceFilter},
};

/// A price. Its model is told by `model_type`; the model's object is beside it, under its own name.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Price {
    #[serde(flatten)]
    common: CommonPrice,
    #[serde(flatten)]
    config: Option<Config>,
}

/// A price that a cost or a line of an invoice names. It is always there: prices are never deleted.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ItsPrice(Option<Price>);

impl ItsPrice {
    pub(crate) fn of(price: Option<&price::Price>, related: &Related) -> Self {
        Self(price.map(|price| Price::of(price, related)))
    }
}

impl Describe for ItsPrice {
    fn schema() -> Schema {
        Price::schema()
    }
}

response! {
    /// The fields of every price.
    struct CommonPrice {
        /// Its id.
        id: String,
        /// External id: the caller's own alias.
        external_price_id: Option<ExternalId>,
        /// Its name.
        name: Name,
        /// Its type: a price of usage, a fee, or a price of what others come to.
        price_type: PriceType,
        /// Type of its model.
        model_type: Word<ModelType>,
        /// Instant of its creation.
        created_at: Moment,
        /// Cadence at which it bills.
        cadence: CadenceWord,
        /// Length of its billing periods.
        billing_cycle_configuration: CycleConfiguration,
        /// Length of the periods that it is invoiced in, as the caller gave it.
        invoicing_cycle_configuration: Stored<CycleConfiguration>,
        /// Time of a billing period at which it falls due.
        billing_mode: BillingMode,
        /// Item that it sells.
        item: PriceItem,
        /// Metric that measures its usage; null for others.
        billable_metric: Option<PriceMetric>,
        /// Number of units of a fee; null for others.
        fixed_price_quantity: Option<JsonNumber>,
        /// Currency or pricing unit of its amounts.
        currency: PricingUnit,
        /// Amount of the invoicing currency that one unit of its currency is worth; null where the rates are in
        /// tiers.
        conversion_rate: Option<JsonNumber>,
        /// Conversion rate, as the caller gave it.
        conversion_rate_config: Stored<StoredRate>,
        /// Discount of a billing period.
        discount: Option<PriceDiscount>,
        /// Minimum of a billing period.
        minimum: Option<PriceMinimum>,
        /// Minimum amount of a billing period.
        minimum_amount: Option<Decimal>,
        /// Maximum of a billing period.
        maximum: Option<PriceMaximum>,
        /// Maximum amount of a billing period.
        maximum_amount: Option<Decimal>,
        /// Property of the events by whose values invoices break its usage down.
        invoice_grouping_key: Option<String>,
        /// Combination of a dimensional price group whose usage it charges.
        dimensional_price_configuration: Option<DimensionalPriceConfiguration>,
        /// Type of the licenses that it is for.
        license_type: Option<LicenseType>,
        /// Credits that it gives with each of its periods, where it is an allocation.
        credit_allocation: Option<CreditAllocation>,
        /// Always null: a price of what others come to is of all of them.
        composite_price_filters: Nothing,
        /// Number of the phase that it is of, where its plan has phases.
        plan_phase_order: Option<u32>,
        /// Id of the price whose place it takes, for a subscription or in a version of a plan.
        replaces_price_id: Option<String>,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
    }

    /// The length of a billing period.
    pub(crate) struct CycleConfiguration {
        /// Number of units.
        duration: u32,
        /// Unit: days or months.
        duration_unit: CycleUnit,
    }

    /// The item that a price sells.
    pub(crate) struct PriceItem {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
    }

    /// The metric that measures the usage of a price.
    pub(crate) struct PriceMetric {
        /// Its id.
        id: String,
    }

    /// The minimum of a billing period.
    pub(crate) struct PriceMinimum {
        /// Id of the price itself.
        applies_to_price_ids: Vec<String>,
        /// Always empty.
        filters: Vec<PriceFilter>,
        /// Amount.
        minimum_amount: Decimal,
    }

    /// The maximum of a billing period.
    pub(crate) struct PriceMaximum {
        /// Id of the price itself.
        applies_to_price_ids: Vec<String>,
        /// Always empty.
        filters: Vec<PriceFilter>,
        /// Amount.
        maximum_amount: Decimal,
    }
}

request! {
    /// Changes to a price.
    pub(crate) struct UpdatePrice {
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
    }
}

/// The cadence of a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CadenceWord {
    OneTime,
    Monthly,
    Quarterly,
    SemiAnnual,
    Annual,
    Custom,
}

/// The unit of the length of a billing period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CycleUnit {
    Day,
    Month,
}

choices! {
    "Cadence" CadenceWord {
        "one_time" => CadenceWord::OneTime,
        "monthly" => CadenceWord::Monthly,
        "quarterly" => CadenceWord::Quarterly,
        "semi_annual" => CadenceWord::SemiAnnual,
        "annual" => CadenceWord::Annual,
        "custom" => CadenceWord::Custom,
    }
    "DurationUnit" CycleUnit {
        "day" => CycleUnit::Day,
        "month" => CycleUnit::Month,
    }
    PriceType {
        "usage_price" => PriceType::Usage,
        "fixed_price" => PriceType::Fixed,
        "composite_price" => PriceType::Composite,
    }
    BillingMode {
        "in_advance" => BillingMode::InAdvance,
        "in_arrear" => BillingMode::InArrear,
    }
}

impl Price {
    /// Writes a price, with the resources that it names.
    pub(crate) fn of(price: &price::Price, related: &Related) -> Self {
        let adjustments = &price.adjustments;
        let own = || vec![price.id.to_string()];
        let (billing_mode, metric, quantity) = match &price.charge {
            Charge::Fixed { quantity, billing_mode, .. } => {
                (*billing_mode, None, Some(JsonNumber(quantity.clone())))
            }
            Charge::Usage { metric_id, .. } => {
                (BillingMode::InArrear, Some(PriceMetric { id: metric_id.to_string() }), None)
            }
            _ => (BillingMode::InArrear, None, None),
        };
        let item = related.item(price.item_id);
        let rate = price.conversion_rate.as_ref();
        let common = CommonPrice {
            id: price.id.to_string(),
            external_price_id: price.external_price_id.clone(),
            name: price.name.clone(),
            price_type: price.charge.price_type(),
            model_type: Word::of(price.charge.model().model_type()),
            created_at: price.created_at.into(),
            cadence: CadenceWord::of(price.cadence),
            billing_cycle_configuration: CycleConfiguration::of(price.cadence.cycle()),
            invoicing_cycle_configuration: Stored::of(
                &price.carried,
                "invoicing_cycle_configuration",
            ),
            billing_mode,
            item: PriceItem {
                id: price.item_id.to_string(),
                name: item.map(|item| item.name.to_string()).unwrap_or_default(),
            },
            billable_metric: metric,
            fixed_price_quantity: quantity,
            currency: price.currency.clone(),
            conversion_rate: rate.and_then(ConversionRate::unit).cloned().map(JsonNumber),
            conversion_rate_config: Stored::of(&price.carried, "conversion_rate_config")
                .or(rate.and_then(StoredRate::of)),
            discount: adjustments.discounts.iter().find_map(PriceDiscount::of),
            minimum: adjustments.minimum.clone().map(|minimum_amount| PriceMinimum {
                applies_to_price_ids: own(),
                filters: Vec::new(),
                minimum_amount,
            }),
            minimum_amount: adjustments.minimum.clone(),
            maximum: adjustments.maximum.clone().map(|maximum_amount| PriceMaximum {
                applies_to_price_ids: own(),
                filters: Vec::new(),
                maximum_amount,
            }),
            maximum_amount: adjustments.maximum.clone(),
            invoice_grouping_key: price.invoice_grouping_key.as_ref().map(ToString::to_string),
            dimensional_price_configuration: price
                .dimensional_price_configuration
                .as_ref()
                .map(DimensionalPriceConfiguration::of),
            license_type: price
                .license_type_id
                .and_then(|id| related.license_type(id))
                .map(LicenseType::from),
            credit_allocation: price
                .credit_allocation
                .as_ref()
                .map(|of| CreditAllocation::of(of, None)),
            composite_price_filters: Nothing,
            plan_phase_order: price.plan_phase_order.map(PhaseOrder::number),
            replaces_price_id: None,
            metadata: price.metadata.clone(),
        };
        Self { common, config: Config::of(price.charge.model()) }
    }

    /// Shows the phase of a plan that a subscription is charged it in.
    pub(crate) fn in_phase(mut self, phase: Option<PhaseOrder>) -> Self {
        self.common.plan_phase_order = phase.map(PhaseOrder::number);
        self
    }

    /// Shows the discount of a trial.
    pub(crate) fn on_trial(mut self, discount: Option<&price::Adjustment>) -> Self {
        self.common.discount = discount.and_then(PriceDiscount::of_trial).or(self.common.discount);
        self
    }

    /// Shows the price whose place it takes.
    pub(crate) fn in_place_of(mut self, replaced: Option<PriceId>) -> Self {
        self.common.replaces_price_id = replaced.map(|id| id.to_string());
        self
    }
}

/// One schema for each model, told apart by `model_type`.
impl Describe for Price {
    fn schema() -> Schema {
        let Schema::Object(common) = CommonPrice::schema() else { return Schema::Any };
        let variants = MODELS.iter().map(|model| {
            let (model_type, [name, ..]) = (model.model_type, model.names);
            let mut properties = common.properties.clone();
            properties.push(Property {
                name: model.config,
                description: "Configuration of the model.".to_owned(),
                schema: (model.shown)(),
                is_required: true,
            });
            let description = format!("A price of the model `{model_type}`.");
            let object = Object { name, description, is_closed: false, properties };
            (model_type, Schema::Object(object).told_by("model_type", model_type))
        });
        Schema::OneOf { name: "Price", tag: "model_type", variants: variants.collect() }
    }
}

impl CadenceWord {
    const fn of(cadence: price::Cadence) -> Self {
        match cadence {
            price::Cadence::OneTime => Self::OneTime,
            price::Cadence::Monthly => Self::Monthly,
            price::Cadence::Quarterly => Self::Quarterly,
            price::Cadence::SemiAnnual => Self::SemiAnnual,
            price::Cadence::Annual => Self::Annual,
            _ => Self::Custom,
        }
    }
}

impl CycleConfiguration {
    /// A fee that is charged once has no cycle: the wire has a month there.
    fn of(cycle: Option<Cycle>) -> Self {
        match cycle {
            Some(Cycle::Days(days)) => {
                Self { duration: days.into(), duration_unit: CycleUnit::Day }
            }
            Some(Cycle::Months(months)) => {
                Self { duration: months.into(), duration_unit: CycleUnit::Month }
            }
            _ => Self { duration: 1, duration_unit: CycleUnit::Month },
        }
    }
}
