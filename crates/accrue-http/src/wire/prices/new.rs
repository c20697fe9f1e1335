use accrue::{
    Currency, Decimal, Error, ExternalId, ItemId, JsonNumber, MetricId, Name, PricingUnit,
    price::{Adjustments, BillingMode, Cadence, Charge, Cycle, Model, NewPrice},
};

use super::{
    CadenceWord, CycleUnit,
    model::{
        BulkConfigIn, MatrixConfigIn, NOT_BUILT, PackageConfigIn, TieredConfigIn, UnitConfigIn,
    },
};
use crate::{
    json::Json,
    shape::{
        Describe, MetadataIn, Read, Reader, Schema, Whole, choices, member, new_metadata, request,
    },
    wire::{
        carried::{Kept, carried},
        not_built::NotBuilt,
    },
};

/// A price to create that is not one of a plan yet: it says its currency.
#[derive(Clone, Debug)]
pub(crate) struct FloatingPrice(NewPrice);

/// A price to create with a plan: where it says no currency, it has the plan's.
#[derive(Clone, Debug)]
pub(crate) struct PlanPriceIn {
    fields: PriceFields,
    terms: Terms,
}

/// What the fields of a price come to.
#[derive(Clone, Debug)]
struct Terms {
    cadence: Cadence,
    charge: Charge,
    conversion_rate: Option<Decimal>,
    carried: accrue::Carried,
}

request! {
    /// A price to create. Of the objects of models it has the one that its type names.
    struct PriceFields {
        /// What people call it.
        name: Name,
        /// What it sells.
        item_id: ItemId,
        /// How often it bills.
        cadence: CadenceWord,
        /// How its quantity becomes an amount.
        model_type: ModelType,
        /// The object of the model `unit`.
        unit_config: Option<UnitConfigIn>,
        /// The object of the model `package`.
        package_config: Option<PackageConfigIn>,
        /// The object of the model `tiered`.
        tiered_config: Option<TieredConfigIn>,
        /// The object of the model `bulk`.
        bulk_config: Option<BulkConfigIn>,
        /// The object of the model `matrix`.
        matrix_config: Option<MatrixConfigIn>,
        /// What its amounts are in.
        currency: Option<PricingUnit>,
        /// What it measures: a price of usage has one.
        billable_metric_id: Option<MetricId>,
        /// How many units there are: a fee says so.
        fixed_price_quantity: Option<JsonNumber>,
        /// Whether a fee falls due when its billing period begins, and not when it ends: it does
        /// where nothing is said.
        billed_in_advance: Option<bool>,
        /// How long its billing periods are, for the cadence `custom`.
        billing_cycle_configuration: Option<CycleConfigurationIn>,
        /// How long the periods are that it is invoiced in: stored and given back.
        invoicing_cycle_configuration: Option<Kept<CycleConfigurationIn>>,
        /// How much of the invoicing currency one of its unit is worth.
        conversion_rate: Option<JsonNumber>,
        /// The same as an object.
        conversion_rate_config: Option<Kept<ConversionRateConfig>>,
        /// What it is grouped by on invoices: stored and given back.
        invoice_grouping_key: Option<Kept<GroupingKey>>,
        /// The caller's alias for its id.
        external_price_id: Option<ExternalId>,
        /// A name of the caller's for it within the request: stored.
        reference_id: Option<Kept<String>>,
        /// Not available with a value.
        dimensional_price_configuration: Option<NotBuilt>,
        /// Not available with a value.
        license_type_id: Option<NotBuilt>,
        /// Texts of the caller's own.
        metadata: MetadataIn,
    }

    /// How long a period is.
    pub(crate) struct CycleConfigurationIn {
        /// How many of the unit.
        duration: Whole<1, 3_660>,
        /// Days or months.
        duration_unit: CycleUnit,
    }

    /// What the unit of a price is worth.
    struct ConversionRateConfig {
        /// One rate for all.
        conversion_rate_type: ConversionRateType,
        /// The rate.
        unit_config: Option<ConversionRate>,
        /// Rates in tiers are not available.
        tiered_config: Option<NotBuilt>,
    }

    /// A rate.
    struct ConversionRate {
        /// How much of the invoicing currency one unit is worth.
        unit_amount: Decimal,
    }
}

/// The types of model that are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelType {
    Unit,
    Package,
    Tiered,
    Bulk,
    Matrix,
}

/// How a unit is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConversionRateType {
    Unit,
    Tiered,
}

choices! {
    ModelType {
        "unit" => ModelType::Unit,
        "package" => ModelType::Package,
        "tiered" => ModelType::Tiered,
        "bulk" => ModelType::Bulk,
        "matrix" => ModelType::Matrix,
    }
    ConversionRateType {
        "unit" => ConversionRateType::Unit,
        "tiered" => ConversionRateType::Tiered,
    }
}

/// What prices are grouped by on invoices: a text that is not empty (wire 5.2).
#[derive(Clone, Copy, Debug)]
struct GroupingKey;

impl Read for GroupingKey {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let text = String::read(json, at, reader)?;
        if text.is_empty() {
            return reader.wrong(at, "is empty, expected at least one character");
        }
        Some(Self)
    }
}

impl Describe for GroupingKey {
    fn schema() -> Schema {
        Schema::String { least: 1, most: None, format: None, pattern: None }
    }
}

impl FloatingPrice {
    pub(crate) fn into_price(self) -> NewPrice {
        self.0
    }
}

impl Read for FloatingPrice {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let PlanPriceIn { fields, terms } = PlanPriceIn::read(json, at, reader)?;
        if fields.reference_id.is_some() {
            return reader.wrong(&member(at, "reference_id"), "is unknown");
        }
        let Some(currency) = fields.currency.clone() else {
            return reader.wrong(&member(at, "currency"), "is missing");
        };
        Some(Self(new_price(fields, terms, currency)))
    }
}

impl Describe for FloatingPrice {
    fn schema() -> Schema {
        PlanPriceIn::schema()
    }
}

impl PlanPriceIn {
    pub(crate) fn into_price(self, currency: Currency) -> NewPrice {
        let currency = self.fields.currency.clone().unwrap_or_else(|| currency.into());
        new_price(self.fields, self.terms, currency)
    }
}

impl Read for PlanPriceIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        if let Some(model_type) = model_type(json).filter(|name| NOT_BUILT.contains(name)) {
            return reader.unavailable(format!("the model {model_type} is not available"));
        }
        let fields = PriceFields::read(json, at, reader)?;
        let cadence = read_cadence(&fields, at, reader);
        let charge = read_charge(&fields, at, reader);
        let rate = read_rate(&fields, at, reader);
        let carried = match fields.carried() {
            Ok(carried) => Some(carried),
            Err(error) => reader.wrong(at, error.to_string()),
        };
        let ((cadence, charge), (conversion_rate, carried)) =
            cadence.zip(charge).zip(rate.zip(carried))?;
        Some(Self { fields, terms: Terms { cadence, charge, conversion_rate, carried } })
    }
}

impl Describe for PlanPriceIn {
    fn schema() -> Schema {
        PriceFields::schema()
    }
}

fn new_price(fields: PriceFields, terms: Terms, currency: PricingUnit) -> NewPrice {
    // With a value they were refused.
    let _ = (fields.dimensional_price_configuration, fields.license_type_id);
    NewPrice {
        name: fields.name,
        item_id: fields.item_id,
        currency,
        cadence: terms.cadence,
        charge: terms.charge,
        adjustments: Adjustments::default(),
        conversion_rate: terms.conversion_rate,
        external_price_id: fields.external_price_id,
        metadata: new_metadata(fields.metadata),
        carried: terms.carried,
    }
}

impl PriceFields {
    fn carried(&self) -> Result<accrue::Carried, Error> {
        carried(&[
            (
                "invoicing_cycle_configuration",
                self.invoicing_cycle_configuration.as_ref().map(Kept::text),
            ),
            ("conversion_rate_config", self.conversion_rate_config.as_ref().map(Kept::text)),
            ("invoice_grouping_key", self.invoice_grouping_key.as_ref().map(Kept::text)),
            ("reference_id", self.reference_id.as_ref().map(Kept::text)),
        ])
    }
}

fn model_type(json: &Json) -> Option<&str> {
    let Json::Object(members) = json else { return None };
    members.iter().find_map(|(name, value)| match value {
        Json::String(text) if name == "model_type" => Some(text.as_str()),
        _ => None,
    })
}

/// Reads how often a price bills: a length of its own belongs to the cadence `custom`.
fn read_cadence(fields: &PriceFields, at: &str, reader: &mut Reader) -> Option<Cadence> {
    let cadence = match fields.cadence {
        CadenceWord::OneTime => Cadence::OneTime,
        CadenceWord::Monthly => Cadence::Monthly,
        CadenceWord::Quarterly => Cadence::Quarterly,
        CadenceWord::SemiAnnual => Cadence::SemiAnnual,
        CadenceWord::Annual => Cadence::Annual,
        CadenceWord::Custom => match &fields.billing_cycle_configuration {
            Some(configuration) => return Some(Cadence::Custom(configuration.cycle())),
            None => {
                let pointer = member(at, "billing_cycle_configuration");
                return reader.wrong(&pointer, "is missing, which the cadence custom needs");
            }
        },
    };
    let given = fields.billing_cycle_configuration.as_ref().map(CycleConfigurationIn::cycle);
    match (given, cadence.cycle()) {
        (Some(given), Some(own)) if given != own => reader.wrong(
            &member(at, "billing_cycle_configuration"),
            format!("found {given}, expected {own}: the cadence says so"),
        ),
        _ => Some(cadence),
    }
}

impl CycleConfigurationIn {
    fn cycle(&self) -> Cycle {
        let duration = u16::try_from(self.duration.0).unwrap_or(u16::MAX);
        match self.duration_unit {
            CycleUnit::Day => Cycle::Days(duration),
            CycleUnit::Month => Cycle::Months(duration),
        }
    }
}

/// Reads what a price charges for: what a metric measures, or so many of a fee.
fn read_charge(fields: &PriceFields, at: &str, reader: &mut Reader) -> Option<Charge> {
    let model = read_model(fields, at, reader)?;
    let prorated = fields.prorated();
    match (fields.billable_metric_id, &fields.fixed_price_quantity) {
        (Some(_), _) if fields.billed_in_advance == Some(true) => {
            reader.unavailable("usage that is billed in advance is not available")
        }
        (Some(_), None) if prorated == Some(true) => {
            reader.unavailable("usage that is prorated by days is not available")
        }
        (Some(metric_id), None) => Some(Charge::Usage { metric_id, model }),
        (None, Some(_)) if prorated == Some(false) => {
            reader.unavailable("fees that are not prorated by days are not available")
        }
        (None, Some(JsonNumber(quantity))) => Some(Charge::Fixed {
            quantity: quantity.clone(),
            model,
            billing_mode: match fields.billed_in_advance {
                Some(false) => BillingMode::InArrear,
                Some(true) | None => BillingMode::InAdvance,
            },
        }),
        (Some(_), Some(_)) => reader.wrong(
            &member(at, "fixed_price_quantity"),
            "is there beside billable_metric_id, expected one of the two",
        ),
        (None, None) => reader.wrong(
            &member(at, "billable_metric_id"),
            "is missing, as is fixed_price_quantity: expected one of the two",
        ),
    }
}

impl PriceFields {
    fn prorated(&self) -> Option<bool> {
        let unit = self.unit_config.as_ref().and_then(|config| config.prorated);
        unit.or_else(|| self.tiered_config.as_ref().and_then(|config| config.prorated))
    }
}

/// Reads the object of the model; those of other models have no business there.
fn read_model(fields: &PriceFields, at: &str, reader: &mut Reader) -> Option<Model> {
    let models = [
        (ModelType::Unit, "unit_config", fields.unit_config.clone().map(Model::from)),
        (ModelType::Package, "package_config", fields.package_config.clone().map(Model::from)),
        (ModelType::Tiered, "tiered_config", fields.tiered_config.clone().map(Model::from)),
        (ModelType::Bulk, "bulk_config", fields.bulk_config.clone().map(Model::from)),
        (ModelType::Matrix, "matrix_config", fields.matrix_config.clone().map(Model::from)),
    ];
    let mut own = None;
    let mut is_wrong = false;
    for (model_type, name, model) in models {
        match (model_type == fields.model_type, model) {
            (true, Some(model)) => own = Some(model),
            (true, None) => {
                let _: Option<()> = reader.wrong(&member(at, name), "is missing");
            }
            (false, None) => {}
            (false, Some(_)) => {
                is_wrong = true;
                let _: Option<()> =
                    reader.wrong(&member(at, name), "is there, but the model is another one");
            }
        }
    }
    own.filter(|_| !is_wrong)
}

/// Reads what the unit of a price is worth, from the number or from the object.
fn read_rate(fields: &PriceFields, at: &str, reader: &mut Reader) -> Option<Option<Decimal>> {
    let number = fields.conversion_rate.clone().map(|JsonNumber(rate)| rate);
    let Some(config) = &fields.conversion_rate_config else { return Some(number) };
    let pointer = member(at, "conversion_rate_config");
    // With a value it was refused.
    let _ = config.value.tiered_config;
    match (config.value.conversion_rate_type, &config.value.unit_config) {
        (ConversionRateType::Tiered, _) => {
            reader.unavailable("conversion rates in tiers are not available")
        }
        (ConversionRateType::Unit, None) => {
            reader.wrong(&member(&pointer, "unit_config"), "is missing")
        }
        (ConversionRateType::Unit, Some(ConversionRate { unit_amount })) => match number {
            Some(number) if number != *unit_amount => reader.wrong(
                &pointer,
                format!("found {unit_amount}, expected the conversion_rate of {number}"),
            ),
            _ => Some(Some(unit_amount.clone())),
        },
    }
}
