use super::{
    Adjustments, BillingMode, Cadence, Charge, Model, NewCharge, NewDimensionalPriceConfiguration,
    NewPrice, Unit,
};
use crate::{Carried, Decimal, ItemId, Metadata, MetricId, Name, PricingUnit};

/// Builder of a price, which begins with its name and its item.
///
/// Each step takes values that belong together and have no default; the last one takes the charge and
/// makes the [`NewPrice`]. Optional values are fields of that.
///
/// ```
/// use accrue::{Currency, Decimal, ExternalId, ItemId, MetricId, Name};
/// use accrue::price::{Cadence, Model, NewPrice, Unit};
///
/// # fn prices(item_id: ItemId, metric_id: MetricId) -> Result<(), Box<dyn std::error::Error>> {
/// let usd = Currency::parse("USD")?;
/// let each = Model::Unit(Unit::new(Decimal::parse("0.00001")?));
/// let mut tokens = NewPrice::builder(Name::parse("Output tokens")?, item_id)
///     .billed(Cadence::Monthly, usd)
///     .usage(metric_id, each);
/// tokens.external_price_id = Some(ExternalId::parse("output-tokens")?);
///
/// let seat = NewPrice::builder(Name::parse("Seat")?, item_id)
///     .billed(Cadence::Annual, usd)
///     .fee_in_advance(Decimal::from(120));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PriceBuilder {
    pub(super) name: Name,
    pub(super) item_id: ItemId,
}

impl PriceBuilder {
    /// Sets the cadence of the price, and the currency or pricing unit of its amounts.
    pub fn billed(self, cadence: Cadence, currency: impl Into<PricingUnit>) -> BilledPriceBuilder {
        let Self { name, item_id } = self;
        BilledPriceBuilder { name, item_id, cadence, currency: currency.into() }
    }
}

/// Builder of a price that lacks only its charge.
#[derive(Clone, Debug)]
#[must_use]
pub struct BilledPriceBuilder {
    name: Name,
    item_id: ItemId,
    cadence: Cadence,
    currency: PricingUnit,
}

impl BilledPriceBuilder {
    /// Returns a price of the usage that a metric measures.
    #[must_use]
    pub fn usage(self, metric_id: MetricId, model: Model) -> NewPrice {
        self.charge(Charge::Usage { metric_id, model })
    }

    /// Returns a price of the usage of one combination of a dimensional price group, which the metric of the
    /// group measures.
    #[must_use]
    pub fn usage_of(self, of: NewDimensionalPriceConfiguration, model: Model) -> NewPrice {
        let price = self.new_charge(NewCharge::UsageOfGroup(model));
        NewPrice { dimensional_price_configuration: Some(of), ..price }
    }

    /// Returns a price of what the other prices of a subscription in its currency come to (price models 6): of the
    /// model [`Percent`](super::Percent) or [`MinimumComposite`](super::MinimumComposite).
    ///
    /// ```
    /// # use accrue::{Currency, Decimal, ItemId, Name};
    /// use accrue::price::{Cadence, Model, NewPrice, Percent};
    ///
    /// # fn price(item_id: ItemId) -> Result<NewPrice, Box<dyn std::error::Error>> {
    /// let usd = Currency::parse("USD")?;
    /// let mut support = Percent::new(Decimal::parse("0.08")?);
    /// support.minimum_amount = Some(Decimal::from(100).into());
    /// let support = NewPrice::builder(Name::parse("Support")?, item_id)
    ///     .billed(Cadence::Monthly, usd)
    ///     .composite(Model::Percent(support));
    /// # Ok(support)
    /// # }
    /// ```
    #[must_use]
    pub fn composite(self, model: Model) -> NewPrice {
        self.charge(Charge::Composite { model })
    }

    /// Returns a fee of one unit that falls due when its billing period begins.
    #[must_use]
    pub fn fee_in_advance(self, unit_amount: Decimal) -> NewPrice {
        self.fee(unit_amount, BillingMode::InAdvance)
    }

    /// Returns a fee of one unit that falls due when its billing period ends.
    #[must_use]
    pub fn fee_in_arrears(self, unit_amount: Decimal) -> NewPrice {
        self.fee(unit_amount, BillingMode::InArrear)
    }

    /// Returns a price of any charge, such as a fee of several units.
    #[must_use]
    pub fn charge(self, charge: Charge) -> NewPrice {
        self.new_charge(charge.into())
    }

    fn new_charge(self, charge: NewCharge) -> NewPrice {
        let Self { name, item_id, cadence, currency } = self;
        NewPrice {
            name,
            item_id,
            currency,
            cadence,
            charge,
            adjustments: Adjustments::default(),
            invoice_grouping_key: None,
            dimensional_price_configuration: None,
            license_type_id: None,
            license_allocations: Vec::new(),
            conversion_rate: None,
            external_price_id: None,
            reference_id: None,
            plan_phase_order: None,
            metadata: Metadata::new(),
            carried: Carried::NONE,
        }
    }

    fn fee(self, unit_amount: Decimal, billing_mode: BillingMode) -> NewPrice {
        let model = Model::Unit(Unit::new(unit_amount));
        self.charge(Charge::Fixed { quantity: Decimal::from(1), model, billing_mode })
    }
}
