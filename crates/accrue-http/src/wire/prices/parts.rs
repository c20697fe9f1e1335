//! The rules of a price's fields beside each other: judged as far as each field could be read, so that
//! all that is wrong is listed.

use accrue::{
    Decimal, JsonNumber, MetricId,
    price::{
        BillingMode, Cadence, Charge, ConversionRate, Cycle, Model, NewCharge,
        NewDimensionalPriceConfiguration, Tier,
    },
};

use super::{
    CadenceWord, CycleUnit,
    dimensional::DimensionalPriceConfigurationIn,
    models::{Both, Configs, ModelType},
    rates::ConversionRateType,
};
use crate::{
    json::Json,
    shape::{Fields, Read, Reader, Source, Whole, member, request},
    wire::carried::Kept,
};

/// A field that may be left out; `None` where it is there and could not be read, which was told.
type Part<T> = Option<Option<T>>;

/// The fields of a price that have rules beside each other.
pub(super) struct Parts<'a> {
    at: &'a str,
    cadence: Option<CadenceWord>,
    cycle: Part<CycleConfigurationIn>,
    model_type: Option<ModelType>,
    models: Configs,
    metric_id: Part<MetricId>,
    group: Part<DimensionalPriceConfigurationIn>,
    quantity: Part<JsonNumber>,
    billed_in_advance: Option<bool>,
    rate: Part<JsonNumber>,
    rate_config: Part<Kept<ConversionRateConfig>>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(json: &'a Json, at: &'a str) -> Option<Self> {
        let fields = Reader::new().fields(json, at, &[], false)?;
        Some(Self {
            at,
            cadence: fields.peek("cadence", Source::Body),
            cycle: part(&fields, "billing_cycle_configuration"),
            model_type: fields.peek("model_type", Source::Body),
            models: Configs::peek(&fields),
            metric_id: part(&fields, "billable_metric_id"),
            group: part(&fields, "dimensional_price_configuration"),
            quantity: part(&fields, "fixed_price_quantity"),
            billed_in_advance: part(&fields, "billed_in_advance").flatten(),
            rate: part(&fields, "conversion_rate"),
            rate_config: part(&fields, "conversion_rate_config"),
        })
    }

    /// Reads the cadence of a price: a length of its own belongs to the cadence `custom`.
    pub(super) fn cadence(&self, reader: &mut Reader) -> Option<Cadence> {
        let given = self.cycle.as_ref()?.as_ref().map(CycleConfigurationIn::cycle);
        let pointer = member(self.at, "billing_cycle_configuration");
        let cadence = match (self.cadence?, given) {
            (CadenceWord::OneTime, _) => Cadence::OneTime,
            (CadenceWord::Monthly, _) => Cadence::Monthly,
            (CadenceWord::Quarterly, _) => Cadence::Quarterly,
            (CadenceWord::SemiAnnual, _) => Cadence::SemiAnnual,
            (CadenceWord::Annual, _) => Cadence::Annual,
            (CadenceWord::Custom, Some(cycle)) => return Some(Cadence::Custom(cycle)),
            (CadenceWord::Custom, None) => {
                return reader.wrong(&pointer, "is missing, which the cadence custom needs");
            }
        };
        match (given, cadence.cycle()) {
            (Some(given), Some(own)) if given != own => reader
                .wrong(&pointer, format!("found {given}, expected {own}: the cadence says so")),
            _ => Some(cadence),
        }
    }

    /// Returns the combination of a dimensional price group that a price is for.
    pub(super) fn group(&self) -> Part<NewDimensionalPriceConfiguration> {
        self.group.clone().map(|of| of.and_then(DimensionalPriceConfigurationIn::into_new))
    }

    /// Reads the charge of a price: usage that a metric measures, its own or that of its dimensional price group,
    /// or else a quantity of a fee.
    pub(super) fn charge(&self, reader: &mut Reader) -> Option<NewCharge> {
        let model = self.model(reader);
        if self.model_type.is_some_and(ModelType::is_composite) {
            return self.composite(model, reader);
        }
        if !matches!(self.metric_id, Some(None)) && !matches!(self.quantity, Some(None)) {
            return reader.wrong(
                &member(self.at, "fixed_price_quantity"),
                "is there beside billable_metric_id, expected one of the two",
            );
        }
        let (metric_id, quantity) = (self.metric_id?, self.quantity.as_ref()?);
        let is_of_group = self.group.as_ref()?.is_some() && quantity.is_none();
        match metric_id {
            metric_id if metric_id.is_some() || is_of_group => {
                if self.billed_in_advance == Some(true) {
                    return reader.unavailable("usage that is billed in advance is not available");
                }
                Some(match metric_id {
                    Some(metric_id) => Charge::Usage { metric_id, model: model? }.into(),
                    None => NewCharge::UsageOfGroup(model?),
                })
            }
            _ => Some(NewCharge::from(Charge::Fixed {
                quantity: quantity.clone().map_or_else(|| Decimal::from(1), |number| number.0),
                model: model?,
                billing_mode: match self.billed_in_advance {
                    Some(false) => BillingMode::InArrear,
                    Some(true) | None => BillingMode::InAdvance,
                },
            })),
        }
    }

    /// Reads the charge of a price that rates other prices: it has neither usage nor a quantity.
    fn composite(&self, model: Option<Model>, reader: &mut Reader) -> Option<NewCharge> {
        let given = [
            ("billable_metric_id", !matches!(self.metric_id, Some(None))),
            ("fixed_price_quantity", !matches!(self.quantity, Some(None))),
            ("billed_in_advance", self.billed_in_advance == Some(true)),
        ];
        for (name, _) in given.iter().filter(|(_, is_given)| *is_given) {
            let message = "is there, and the model rates what other prices have come to";
            let _: Option<()> = reader.wrong(&member(self.at, name), message);
        }
        let is_right = given.iter().all(|(_, is_given)| !is_given);
        Some(Charge::Composite { model: model.filter(|_| is_right)? }.into())
    }

    /// Reads the model where its type is given; none where it is not, and no object of a model is there either.
    pub(super) fn own_model(&self, reader: &mut Reader) -> Option<Option<Model>> {
        if self.model_type.is_some() {
            return self.model(reader).map(Some);
        }
        let given = self.models.each().find(|(_, _, model)| !matches!(model, Some(None)));
        match given {
            Some((_, name, _)) => {
                reader.wrong(&member(self.at, name), "is there, and model_type is missing")
            }
            None => Some(None),
        }
    }

    /// Reads the object of the model; those of other models have no business there.
    fn model(&self, reader: &mut Reader) -> Option<Model> {
        let own_type = self.model_type?;
        let mut own = None;
        let mut is_wrong = false;
        for (model_type, name, model) in self.models.each() {
            match (model_type == own_type, model) {
                (true, Some(Some(model))) => own = Some(model.clone()),
                (true, Some(None)) => {
                    let _: Option<()> = reader.wrong(&member(self.at, name), "is missing");
                }
                (true, None) | (false, Some(None)) => {}
                (false, Some(Some(_)) | None) => {
                    is_wrong = true;
                    let message = "is there, but the model is another one";
                    let _: Option<()> = reader.wrong(&member(self.at, name), message);
                }
            }
        }
        own.filter(|_| !is_wrong)
    }

    /// Reads the conversion rate of a price, from the number or from the object.
    pub(super) fn rate(&self, reader: &mut Reader) -> Part<ConversionRate> {
        let number = self.rate.clone().flatten().map(|JsonNumber(rate)| rate);
        let Some(config) = self.rate_config.as_ref()? else {
            return Some(number.map(ConversionRate::Unit));
        };
        let pointer = member(self.at, "conversion_rate_config");
        let ConversionRateConfig { conversion_rate_type, unit_config, tiered_config } =
            &config.value;
        let (own, other) = match conversion_rate_type {
            ConversionRateType::Unit => {
                ("unit_config", tiered_config.as_ref().map(|_| "tiered_config"))
            }
            ConversionRateType::Tiered => {
                ("tiered_config", unit_config.as_ref().map(|_| "unit_config"))
            }
        };
        if let Some(other) = other {
            return reader.wrong(&member(&pointer, other), "is there, but the rate is another one");
        }
        match (unit_config, tiered_config, number) {
            (None, None, _) => reader.wrong(&member(&pointer, own), "is missing"),
            (None, Some(_), Some(_)) => reader
                .wrong(&member(self.at, "conversion_rate"), "is there, but the rates are in tiers"),
            (Some(UnitRate { unit_amount }), _, Some(number)) if number != *unit_amount => reader
                .wrong(
                    &pointer,
                    format!("found {unit_amount}, expected the conversion_rate of {number}"),
                ),
            (Some(UnitRate { unit_amount }), ..) => {
                Some(Some(ConversionRate::Unit(unit_amount.clone())))
            }
            (None, Some(TieredRate { tiers }), None) => {
                Some(Some(ConversionRate::Tiered(Vec::<Tier>::read(tiers.clone()))))
            }
        }
    }
}

fn part<T: Read>(fields: &Fields<'_>, name: &str) -> Part<T> {
    fields.peek(name, Source::Body)
}

request! {
    /// The length of a period.
    pub(crate) struct CycleConfigurationIn {
        /// Number of units.
        duration: Whole<1, 3_660>,
        /// Unit: days or months.
        duration_unit: CycleUnit,
    }

    /// The conversion rate of a price.
    pub(super) struct ConversionRateConfig {
        /// Type of the rate: one rate for all, or rates in tiers.
        conversion_rate_type: ConversionRateType,
        /// Rate, of the type `unit`.
        unit_config: Option<UnitRate>,
        /// Rates in tiers, of the type `tiered`. `conversion_rate` is left out beside them.
        tiered_config: Option<TieredRate>,
    }

    /// One conversion rate for all.
    pub(super) struct UnitRate {
        /// Amount of the invoicing currency that one unit is worth, more than 0.
        unit_amount: Decimal,
    }

    /// Conversion rates in graduated tiers, of what a price comes to in a billing period.
    pub(super) struct TieredRate {
        /// Tiers, each from where the one before ends: each converts the amount that lies in it, and is at least 0.
        tiers: Vec<<Tier as Both>::In>,
    }
}

impl CycleConfigurationIn {
    pub(super) fn cycle(&self) -> Cycle {
        let duration = u16::try_from(self.duration.0).unwrap_or(u16::MAX);
        match self.duration_unit {
            CycleUnit::Day => Cycle::Days(duration),
            CycleUnit::Month => Cycle::Months(duration),
        }
    }
}
