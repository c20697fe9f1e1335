//! One-off invoices and lines by hand, as they come in (invoicing 9.1, 9.6).

use accrue::{
    Currency, CustomerId, Decimal, Description, ExternalId, Fraction, IdOr, InvoiceId, ItemId,
    JsonNumber, Name, PriceId, Zone,
    invoice::{self, LineSubject, NewInvoiceDiscount, NewInvoiceLine, NewOneOffLine, PaymentTerms},
    price::{Discount, DiscountTier, FilterOperator, FilterValues},
};

use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{Describe, MetadataIn, Read, Reader, Schema, Whole, choices, new_metadata, request},
    wire::{
        adjustments::PercentageTierIn,
        dates::{Date, Day, any_is_local},
        price_filters::DiscountFilterIn,
        subscriptions::one_of,
    },
};

request! {
    /// A one-off invoice to make.
    pub(crate) struct CreateInvoice {
        /// Customer that it is for.
        customer_id: Option<CustomerId>,
        /// External id of the customer.
        external_customer_id: Option<ExternalId>,
        /// Currency of its amounts: that of the customer.
        currency: Currency,
        /// Date that it bears, at most a year ahead: its day in the zone of the customer.
        invoice_date: Date,
        /// Lines, one at least.
        line_items: Vec<OneOffLineIn>,
        /// Text for the customer.
        memo: Option<Description>,
        /// True if it is issued without a request: at once, or on its date.
        will_auto_issue: Option<bool>,
        /// Number of days between its date and its due date.
        net_terms: Option<Whole<0, 36_500>>,
        /// Due date, in place of one that follows from the number of days.
        due_date: Option<Date>,
        /// True if it is collected without a request: as its customer says where nothing is said.
        auto_collection: Option<bool>,
        /// Discount over it.
        discount: Option<InvoiceDiscountIn>,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }

    /// A line of a one-off invoice to make.
    pub(crate) struct OneOffLineIn {
        /// Day that begins its service period.
        start_date: Day,
        /// Day that ends it: the period is over with its midnight.
        end_date: Day,
        /// Quantity.
        quantity: JsonNumber,
        /// Its name.
        name: Name,
        /// Item that it is for.
        item_id: ItemId,
        /// Model of its price: `unit`.
        model_type: OneOffModel,
        /// Configuration of the model.
        unit_config: OneOffUnit,
    }

    /// One amount for every unit.
    pub(crate) struct OneOffUnit {
        /// Amount for a unit, which may be below zero.
        unit_amount: Decimal,
        /// Without an effect: a line by hand is never prorated.
        prorated: Option<bool>,
    }

    /// A line to add to a draft.
    pub(crate) struct CreateInvoiceLine {
        /// Draft that it is added to.
        invoice_id: InvoiceId,
        /// Day that begins its service period.
        start_date: Day,
        /// Day that ends it: the period is over with its midnight.
        end_date: Day,
        /// Quantity, above zero.
        quantity: JsonNumber,
        /// Amount of the whole line.
        amount: Decimal,
        /// Its name: that of the item where none is given.
        name: Option<Name>,
        /// Item that it is for: the one of its name where none is given.
        item_id: Option<ItemId>,
    }

    /// A discount of a fraction of each line.
    pub(crate) struct InvoicePercentageDiscountIn open {
        /// Type of the discount: `percentage`.
        discount_type: InvoiceDiscountType,
        /// Fraction, from 0 to 1.
        percentage_discount: JsonNumber,
        /// Always empty: lines that are made have no price ids before.
        applies_to_price_ids: Option<Vec<PriceId>>,
        /// Filters of the lines that it applies to.
        filters: Option<Vec<DiscountFilterIn>>,
        /// Reason for it.
        reason: Option<Description>,
    }

    /// A discount of an amount.
    pub(crate) struct InvoiceAmountDiscountIn open {
        /// Type of the discount: `amount`.
        discount_type: InvoiceDiscountType,
        /// Amount in the currency of the invoice.
        amount_discount: Decimal,
        /// Always empty: lines that are made have no price ids before.
        applies_to_price_ids: Option<Vec<PriceId>>,
        /// Filters of the lines that it applies to.
        filters: Option<Vec<DiscountFilterIn>>,
        /// Reason for it.
        reason: Option<Description>,
    }

    /// A discount of a fraction of each band of the sum of the lines.
    pub(crate) struct InvoiceTieredDiscountIn open {
        /// Type of the discount: `tiered_percentage`.
        discount_type: InvoiceDiscountType,
        /// Bands, from zero on.
        tiers: Vec<PercentageTierIn>,
        /// Always empty: lines that are made have no price ids before.
        applies_to_price_ids: Option<Vec<PriceId>>,
        /// Filters of the lines that it applies to.
        filters: Option<Vec<DiscountFilterIn>>,
        /// Reason for it.
        reason: Option<Description>,
    }

    /// A discount of units, which is not for invoices.
    pub(crate) struct InvoiceUsageDiscountIn open {
        /// Type of the discount: `usage`.
        discount_type: InvoiceDiscountType,
        /// Number of units.
        usage_discount: JsonNumber,
    }
}

/// The type of a discount over an invoice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InvoiceDiscountType {
    Percentage,
    Amount,
    TieredPercentage,
    Usage,
}

/// The model of a line of a one-off invoice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OneOffModel {
    Unit,
}

choices! {
    "NewInvoiceDiscountType" InvoiceDiscountType {
        "percentage" => InvoiceDiscountType::Percentage,
        "amount" => InvoiceDiscountType::Amount,
        "tiered_percentage" => InvoiceDiscountType::TieredPercentage,
        "usage" => InvoiceDiscountType::Usage,
    }
    "OneOffModelType" OneOffModel {
        "unit" => OneOffModel::Unit,
    }
}

/// A discount over an invoice, with the field of its type.
#[derive(Clone, Debug)]
pub(crate) enum InvoiceDiscountIn {
    Percentage(InvoicePercentageDiscountIn),
    Amount(InvoiceAmountDiscountIn),
    TieredPercentage(InvoiceTieredDiscountIn),
    Usage(InvoiceUsageDiscountIn),
}

impl Read for InvoiceDiscountIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let fields = reader.fields(json, at, &[], false)?;
        match fields.read::<InvoiceDiscountType>("discount_type", reader)? {
            InvoiceDiscountType::Percentage => Read::read(json, at, reader).map(Self::Percentage),
            InvoiceDiscountType::Amount => Read::read(json, at, reader).map(Self::Amount),
            InvoiceDiscountType::TieredPercentage => {
                Read::read(json, at, reader).map(Self::TieredPercentage)
            }
            InvoiceDiscountType::Usage => Read::read(json, at, reader).map(Self::Usage),
        }
    }
}

impl Describe for InvoiceDiscountIn {
    fn schema() -> Schema {
        let tag = "discount_type";
        let variant = |word, schema: Schema| (word, schema.told_by(tag, word));
        let variants = vec![
            variant("percentage", InvoicePercentageDiscountIn::schema()),
            variant("amount", InvoiceAmountDiscountIn::schema()),
            variant("tiered_percentage", InvoiceTieredDiscountIn::schema()),
            variant("usage", InvoiceUsageDiscountIn::schema()),
        ];
        Schema::OneOf { name: "NewInvoiceDiscount", tag, variants }
    }
}

impl CreateInvoice {
    /// Returns the customer whose zone its dates depend on, if they do.
    pub(crate) fn customer_of_dates(&self) -> Option<IdOr<CustomerId>> {
        let is_local = self.invoice_date.is_local() || any_is_local([&self.due_date]);
        let external = self.external_customer_id.clone().map(IdOr::External);
        self.customer_id.map(IdOr::Id).or(external).filter(|_| is_local)
    }

    /// Makes the invoice to create, where dates are those of a zone.
    pub(crate) fn into_new(self, zone: &Zone) -> Result<invoice::NewInvoice, Problem> {
        let mut violations = Violations::default();
        let customer =
            one_of("customer", self.customer_id, self.external_customer_id, &mut violations);
        let Some(customer) = customer else { return Err(violations.into()) };
        let date = self.invoice_date.in_zone(zone, "/invoice_date")?;
        let mut new = invoice::NewInvoice::new(customer, self.currency, date);
        new.terms = match (self.net_terms, self.due_date) {
            (Some(_), Some(_)) => {
                let message = "is there beside net_terms, expected one of the two";
                return Err(Violations::one("/due_date", message).into());
            }
            (Some(days), None) => Some(PaymentTerms::Days(days.count())),
            (None, Some(date)) => Some(PaymentTerms::DueDate(date.in_zone(zone, "/due_date")?)),
            (None, None) => None,
        };
        new.lines = self.line_items.into_iter().map(NewOneOffLine::from).collect();
        new.memo = self.memo;
        new.will_auto_issue = self.will_auto_issue.unwrap_or_default();
        new.auto_collection = self.auto_collection;
        new.discount = self.discount.map(NewInvoiceDiscount::try_from).transpose()?;
        new.metadata = new_metadata(self.metadata);
        Ok(new)
    }
}

impl From<OneOffLineIn> for NewOneOffLine {
    fn from(line: OneOffLineIn) -> Self {
        let (Day(start_date), Day(end_date), JsonNumber(quantity)) =
            (line.start_date, line.end_date, line.quantity);
        Self {
            name: line.name,
            item_id: line.item_id,
            start_date,
            end_date,
            quantity,
            unit_amount: line.unit_config.unit_amount,
        }
    }
}

impl TryFrom<InvoiceDiscountIn> for NewInvoiceDiscount {
    type Error = Problem;

    fn try_from(discount: InvoiceDiscountIn) -> Result<Self, Problem> {
        let (discount, prices, filters, reason) = match discount {
            InvoiceDiscountIn::Percentage(of) => {
                let off = fraction("/discount/percentage_discount", of.percentage_discount)?;
                let discount = Discount::Percentage(off);
                (discount, of.applies_to_price_ids, of.filters, of.reason)
            }
            InvoiceDiscountIn::Amount(of) => {
                let discount = Discount::Amount(of.amount_discount);
                (discount, of.applies_to_price_ids, of.filters, of.reason)
            }
            InvoiceDiscountIn::TieredPercentage(of) => {
                let tiers = of.tiers.into_iter().enumerate().map(|(place, tier)| {
                    let pointer = format!("/discount/tiers/{place}/percentage");
                    Ok(DiscountTier {
                        lower_bound: tier.lower_bound.0,
                        upper_bound: tier.upper_bound.map(|JsonNumber(bound)| bound),
                        percentage: fraction(&pointer, tier.percentage)?,
                    })
                });
                let tiers: Result<_, Problem> = tiers.collect();
                let discount = Discount::TieredPercentage(tiers?);
                (discount, of.applies_to_price_ids, of.filters, of.reason)
            }
            InvoiceDiscountIn::Usage(of) => {
                let JsonNumber(units) = of.usage_discount;
                (Discount::Usage(units), None, None, None)
            }
        };
        let filters = filters.into_iter().flatten().map(|DiscountFilterIn(filter)| filter);
        let prices = prices.filter(|ids| !ids.is_empty()).map(|ids| accrue::price::PriceFilter {
            operator: FilterOperator::Includes,
            values: FilterValues::PriceId(ids.into_iter().collect()),
        });
        Ok(Self { discount, filters: filters.chain(prices).collect(), reason })
    }
}

fn fraction(pointer: &str, JsonNumber(number): JsonNumber) -> Result<Fraction, Problem> {
    let wrong = |error: accrue::FractionError| Violations::one(pointer, error.to_string());
    Ok(Fraction::try_from(number).map_err(wrong)?)
}

impl CreateInvoiceLine {
    /// Makes the line, and names the draft that it is added to.
    pub(crate) fn into_new(self) -> Result<(InvoiceId, NewInvoiceLine), Problem> {
        let subject = match (self.item_id, self.name) {
            (Some(id), None) => LineSubject::Item(id),
            (None, Some(name)) => LineSubject::Named(name),
            (Some(id), Some(name)) => LineSubject::ItemNamed(id, name),
            (None, None) => {
                let message = "is missing, as is item_id: expected one of the two, or both";
                return Err(Violations::one("/name", message).into());
            }
        };
        let (Day(start_date), Day(end_date), JsonNumber(quantity)) =
            (self.start_date, self.end_date, self.quantity);
        let amount = self.amount;
        Ok((self.invoice_id, NewInvoiceLine { subject, start_date, end_date, quantity, amount }))
    }
}
