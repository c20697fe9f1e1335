use accrue::{
    Currency, Error, ExternalId, ItemId, JsonNumber, LicenseTypeId, MetricId, Name, PricingUnit,
    PropertyName,
    price::{
        Adjustments, Cadence, ConversionRate, Model, NewCharge, NewDimensionalPriceConfiguration,
        NewPrice,
    },
};

use super::{
    CadenceWord,
    dimensional::DimensionalPriceConfigurationIn,
    licenses::{LicenseAllocationIn, allocations},
    models::{Configs, MODELS, ModelType, WireModel},
    parts::{ConversionRateConfig, CycleConfigurationIn, Parts},
};
use crate::{
    json::Json,
    shape::{Describe, MetadataIn, Object, Read, Reader, Schema, new_metadata, request},
    wire::carried::{Kept, carried},
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

/// The terms that the fields of a price come to.
#[derive(Clone, Debug)]
struct Terms {
    cadence: Cadence,
    charge: NewCharge,
    group: Option<NewDimensionalPriceConfiguration>,
    conversion_rate: Option<ConversionRate>,
    carried: accrue::Carried,
}

request! {
    /// A price to create. Of the objects of models it has the one that its type names.
    struct PriceFields + models: Configs {
        /// Its name.
        name: Name,
        /// Id of the item that it sells.
        item_id: ItemId,
        /// Cadence at which it bills.
        cadence: CadenceWord,
        /// Type of the model that makes an amount of its quantity, or of what other prices come to.
        model_type: ModelType,
        /// Currency or pricing unit of its amounts.
        currency: Option<PricingUnit>,
        /// Id of the metric that measures its usage: a price of usage has one, and others have none.
        billable_metric_id: Option<MetricId>,
        /// Number of units of a fee: one where nothing is said.
        fixed_price_quantity: Option<JsonNumber>,
        /// True if a fee falls due when its billing period begins, and not when it ends: true where
        /// nothing is said. Of usage, true is not available until usage can be billed in advance; a price of
        /// other prices never is.
        billed_in_advance: Option<bool>,
        /// Length of its billing periods, for the cadence `custom`.
        billing_cycle_configuration: Option<CycleConfigurationIn>,
        /// Length of the periods within a billing period at whose ends usage is invoiced.
        invoicing_cycle_configuration: Option<Kept<CycleConfigurationIn>>,
        /// Amount of the invoicing currency that one unit of its currency is worth.
        conversion_rate: Option<JsonNumber>,
        /// Conversion rate, as an object.
        conversion_rate_config: Option<Kept<ConversionRateConfig>>,
        /// Property of the events by whose values invoices break its usage down: of a metric that counts or
        /// sums.
        invoice_grouping_key: Option<PropertyName>,
        /// External id: the caller's own alias.
        external_price_id: Option<ExternalId>,
        /// Name that the caller gives it within the request, for adjustments of the same request.
        reference_id: Option<String>,
        /// Combination of a dimensional price group whose usage it charges: the metric is that of the group,
        /// also where none is given.
        dimensional_price_configuration: Option<DimensionalPriceConfigurationIn>,
        /// Id of the type of the licenses that it is for: of a fee, whose quantity is how many there are, or of
        /// usage, of the model `unit`.
        license_type_id: Option<LicenseTypeId>,
        /// Credits that each license may use in a period: of a price that is given as that of licenses.
        license_allocations: Option<Vec<LicenseAllocationIn>>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }
}

impl FloatingPrice {
    pub(crate) fn into_price(self) -> NewPrice {
        self.0
    }
}

impl Read for FloatingPrice {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let price = PlanPriceIn::read(json, at, reader);
        refuse("reference_id", json, at, reader)?;
        let fields = reader.fields(json, at, &[], false)?;
        if !fields.has("currency") {
            let _: Option<()> = reader.wrong(&fields.pointer("currency"), "is missing");
        }
        let PlanPriceIn { fields, terms } = price?;
        let currency = fields.currency.clone()?;
        Some(Self(new_price(fields, terms, currency)))
    }
}

impl Describe for FloatingPrice {
    fn schema() -> Schema {
        let prices = MODELS.iter().map(|model| {
            let [_, name, _] = model.names;
            let mut price = of_model(model, name);
            leave_out(&mut price, "reference_id");
            demand(&mut price, "currency");
            (model.model_type, Schema::Object(price).told_by("model_type", model.model_type))
        });
        Schema::OneOf { name: "NewPrice", tag: "model_type", variants: prices.collect() }
    }
}

impl PlanPriceIn {
    pub(crate) fn into_price(self, currency: Currency) -> NewPrice {
        let currency = self.fields.currency.clone().unwrap_or_else(|| currency.into());
        new_price(self.fields, self.terms, currency)
    }

    /// Makes the price, in the currency of a plan where it says none of its own.
    pub(crate) fn into_price_of(self, currency: Option<Currency>) -> Option<NewPrice> {
        let currency = self.fields.currency.clone().or(currency.map(PricingUnit::from))?;
        Some(new_price(self.fields, self.terms, currency))
    }

    pub(crate) const fn says_currency(&self) -> bool {
        self.fields.currency.is_some()
    }

    pub(super) const fn is_unit(&self) -> bool {
        matches!(self.terms.charge.model(), Model::Unit(_))
    }

    /// Reads a price, with the allocations of its licenses where it has some.
    pub(super) fn read_any(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let fields = PriceFields::read(json, at, reader);
        let parts = Parts::of(json, at)?;
        let cadence = parts.cadence(reader);
        let charge = parts.charge(reader);
        let (group, rate) = (parts.group(), parts.rate(reader));
        let fields = fields?;
        let carried = match fields.carried() {
            Ok(carried) => Some(carried),
            Err(error) => reader.wrong(at, error.to_string()),
        };
        let ((cadence, charge), (conversion_rate, carried)) =
            cadence.zip(charge).zip(rate.zip(carried))?;
        let terms = Terms { cadence, charge, group: group?, conversion_rate, carried };
        Some(Self { fields, terms })
    }
}

impl Read for PlanPriceIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        refuse("license_allocations", json, at, reader)?;
        Self::read_any(json, at, reader)
    }
}

impl Describe for PlanPriceIn {
    fn schema() -> Schema {
        let prices = MODELS.iter().map(|model| {
            let [_, _, name] = model.names;
            let price = Schema::Object(of_model(model, name));
            (model.model_type, price.told_by("model_type", model.model_type))
        });
        Schema::OneOf { name: "NewPriceOfPlan", tag: "model_type", variants: prices.collect() }
    }
}

/// Describes a price of one model: with its object, and without those of the others.
fn of_model(model: &WireModel, name: &'static str) -> Object {
    let mut price = with_licenses(model, name);
    leave_out(&mut price, "license_allocations");
    price
}

/// Describes a price of licenses that has allocations, of the model `unit`.
pub(super) fn of_licenses(name: &'static str) -> Object {
    let unit = MODELS.iter().find(|model| model.model_type == "unit");
    let mut price = unit.map(|model| with_licenses(model, name)).unwrap_or_default();
    for needed in ["license_allocations", "license_type_id"] {
        demand(&mut price, needed);
    }
    price
}

fn with_licenses(model: &WireModel, name: &'static str) -> Object {
    let WireModel { model_type, config, .. } = model;
    let others: Vec<_> = MODELS.iter().map(|of| of.config).collect();
    let Schema::Object(fields) = PriceFields::schema() else { return Object::default() };
    let mut price = Object { name, ..fields };
    price.properties.retain(|of| of.name == *config || !others.contains(&of.name));
    price.description = format!("A price to create, of the model `{model_type}`.");
    demand(&mut price, config);
    price
}

/// Refuses a member that only another form of a price has.
fn refuse(name: &str, json: &Json, at: &str, reader: &mut Reader) -> Option<()> {
    let fields = reader.fields(json, at, &[], false)?;
    if fields.has(name) {
        let _: Option<()> = reader.wrong(&fields.pointer(name), "is unknown");
    }
    Some(())
}

fn leave_out(object: &mut Object, name: &str) {
    object.properties.retain(|property| property.name != name);
}

/// Makes a member one that has to be given.
fn demand(object: &mut Object, name: &str) {
    for property in object.properties.iter_mut().filter(|property| property.name == name) {
        property.is_required = true;
        if let Schema::Nullable(inner) = &property.schema {
            property.schema = inner.as_ref().clone();
        }
    }
}

fn new_price(fields: PriceFields, terms: Terms, currency: PricingUnit) -> NewPrice {
    NewPrice {
        name: fields.name,
        item_id: fields.item_id,
        currency,
        cadence: terms.cadence,
        charge: terms.charge,
        adjustments: Adjustments::default(),
        invoice_grouping_key: fields.invoice_grouping_key,
        dimensional_price_configuration: terms.group,
        license_type_id: fields.license_type_id,
        license_allocations: allocations(fields.license_allocations),
        plan_phase_order: None,
        conversion_rate: terms.conversion_rate,
        external_price_id: fields.external_price_id,
        reference_id: fields.reference_id,
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
        ])
    }
}
