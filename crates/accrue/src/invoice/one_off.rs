//! One-off invoices: how they are made and dated (invoicing 9.1, 9.4).

use serde::Serialize;

use super::{
    Invoice, InvoiceDiscount, PaymentTerms, Receivables, Terms,
    balance::check_money,
    by_hand::{Made, check_bounds, period},
};
use crate::{
    AdjustmentIntervalId, CivilDate, Currency, CustomerId, Decimal, Description, Error, IdOr,
    InvoiceId, ItemId, Metadata, Name, PriceId, Timestamp, Zone,
    customer::Customer,
    limits, metadata,
    price::{Discount, FilterValues, Price, PriceFilter, check_filters},
};

/// One-off invoice to make (invoicing 9.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewInvoice {
    /// Customer that it is for.
    pub customer: IdOr<CustomerId>,
    /// Currency of its amounts: that of the customer, which takes it where it has none.
    pub currency: Currency,
    /// Date that it bears: its day in the zone of the customer, at most a year ahead.
    pub invoice_date: Timestamp,
    /// Lines: one at least.
    pub lines: Vec<NewOneOffLine>,
    /// Text for the customer.
    pub memo: Option<Description>,
    /// Whether it is issued by itself: at once, or on its date.
    pub will_auto_issue: bool,
    /// When it is to be paid: on its own day where nothing is said.
    pub terms: Option<PaymentTerms>,
    /// Whether it is collected by itself: as the customer says where nothing is said.
    pub auto_collection: Option<bool>,
    /// Discount over it.
    pub discount: Option<NewInvoiceDiscount>,
    /// The caller's own strings.
    pub metadata: Metadata,
}

/// Line of a one-off invoice to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewOneOffLine {
    /// Its name.
    pub name: Name,
    /// Item that it is for.
    pub item_id: ItemId,
    /// Day that begins its service period.
    pub start_date: CivilDate,
    /// Day that ends it: the period is over with its midnight.
    pub end_date: CivilDate,
    /// Quantity.
    pub quantity: Decimal,
    /// Amount for each unit.
    pub unit_amount: Decimal,
}

/// Discount over a one-off invoice to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewInvoiceDiscount {
    /// The discount: of an amount, or of a fraction.
    pub discount: Discount,
    /// Filters of the lines that it reaches: by item, currency or type of price.
    pub filters: Vec<PriceFilter>,
    /// Reason for it.
    pub reason: Option<Description>,
}

impl NewInvoice {
    /// Prepares a draft without lines, to be issued by hand and paid on its own day.
    #[must_use]
    pub fn new(
        customer: impl Into<IdOr<CustomerId>>,
        currency: Currency,
        invoice_date: Timestamp,
    ) -> Self {
        Self {
            customer: customer.into(),
            currency,
            invoice_date,
            lines: Vec::new(),
            memo: None,
            will_auto_issue: false,
            terms: None,
            auto_collection: None,
            discount: None,
            metadata: Metadata::new(),
        }
    }

    /// Makes the draft, and the price of each of its lines.
    pub(crate) fn decide(
        self,
        id: InvoiceId,
        customer: &Customer,
        terms: Terms<'_>,
        receivables: &Receivables,
        price_id: impl Fn() -> PriceId,
        now: Timestamp,
    ) -> Result<(Invoice, Vec<Price>), Error> {
        metadata::check(&self.metadata)?;
        let currency = self.currency;
        if let Some(of) = customer.currency.filter(|of| *of != currency) {
            let (found, expected) = (currency.code(), of.code());
            let detail = format!("the invoice is in {found}, expected {expected} of the customer");
            return Err(Error::constraint(detail));
        }
        let (found, most) = (self.lines.len(), limits::LINES_BY_HAND);
        if !(1..=most).contains(&found) {
            let message = format!("found {found} lines, expected 1 to {most}");
            return Err(Error::invalid("line_items", message));
        }
        let whose = (customer.id, currency);
        let zone = &customer.timezone;
        let mut invoice = Invoice::draft_of(id, whose, self.invoice_date, terms, receivables, now);
        invoice.will_auto_issue = self.will_auto_issue;
        invoice.memo = self.memo.map(|memo| memo.to_string());
        invoice.metadata = self.metadata;
        if let Some(enabled) = self.auto_collection {
            invoice.auto_collection.enabled = enabled;
        }
        if let Some(terms) = self.terms {
            invoice.set_terms(terms);
        }
        invoice.date(self.invoice_date, zone, now)?;
        invoice.check_due_date(zone)?;
        invoice.discount = self.discount.map(|new| new.decide(currency, id)).transpose()?;
        let mut prices = Vec::with_capacity(found);
        for (place, line) in self.lines.into_iter().enumerate() {
            let made = line.decide(&format!("line_items[{place}]."), zone)?;
            prices.push(invoice.add_by_hand(made, price_id(), now));
        }
        Ok((invoice, prices))
    }
}

impl NewOneOffLine {
    fn decide(self, at: &str, zone: &Zone) -> Result<Made, Error> {
        let Self { name, item_id, start_date, end_date, quantity, unit_amount } = self;
        check_bounds(&format!("{at}quantity"), &quantity)?;
        if quantity.is_negative() {
            let message = format!("found {quantity}, expected 0 or more");
            return Err(Error::invalid(format!("{at}quantity"), message));
        }
        check_bounds(&format!("{at}unit_config.unit_amount"), &unit_amount)?;
        let period = period(at, start_date, end_date, zone)?;
        let amount = &quantity * &unit_amount;
        Ok(Made { name, item_id, period, quantity, unit_amount, amount })
    }
}

impl NewInvoiceDiscount {
    fn decide(self, currency: Currency, invoice: InvoiceId) -> Result<InvoiceDiscount, Error> {
        let Self { discount, filters, reason } = self;
        discount.check_over_invoice("discount")?;
        if let Discount::Amount(off) = &discount {
            check_money("discount.amount_discount", off, currency)?;
        }
        check_filters("discount.filters", &filters)?;
        let price = filters.iter().find_map(|filter| match &filter.values {
            FilterValues::PriceId(ids) => ids.first(),
            _ => None,
        });
        if let Some(id) = price {
            // Prices of lines that are yet to be made have no ids.
            return Err(Error::not_found("price of the invoice", id));
        }
        let id = AdjustmentIntervalId::part_of(invoice.as_bytes(), &[b"discount"]);
        Ok(InvoiceDiscount { id, discount, filters, price_ids: [].into(), reason })
    }
}

impl Invoice {
    /// Chooses when it is to be paid.
    pub(super) const fn set_terms(&mut self, terms: PaymentTerms) {
        match terms {
            PaymentTerms::Days(days) => self.net_terms = Some(days),
            PaymentTerms::DueDate(at) => self.custom_due_date = Some(at),
        }
    }

    /// Dates a one-off draft: by a day of the customer, at most a year ahead (invoicing 9.1, 9.4).
    pub(super) fn date(
        &mut self,
        date: Timestamp,
        zone: &Zone,
        now: Timestamp,
    ) -> Result<(), Error> {
        if !self.is_one_off() {
            return Err(Error::constraint("the invoice is dated by its subscription"));
        }
        let last = zone.after(now, 0, limits::INVOICE_AHEAD_MONTHS);
        if last < date {
            let message = format!("found {date}, expected at most a year ahead, {last}");
            return Err(Error::invalid("invoice_date", message));
        }
        let day = zone.begin_of_day_of(date);
        (self.invoice_date, self.eligible_to_issue_at) = (day, Some(day));
        self.awaits_date = now < day;
        Ok(())
    }

    /// Tells whether it is a one-off draft that is issued by itself, and its date has come.
    pub(crate) fn is_to_be_issued(&self) -> bool {
        self.will_auto_issue && self.is_one_off() && !self.awaits_date
    }

    /// Refuses a due date before the day of the date that it bears (invoicing 5.1).
    pub(super) fn check_due_date(&self, zone: &Zone) -> Result<(), Error> {
        let day = zone.begin_of_day_of(self.invoice_date);
        match self.custom_due_date {
            Some(date) if date < day => {
                let detail = format!("the due date {date} is before the invoice's date {day}");
                Err(Error::constraint(detail))
            }
            _ => Ok(()),
        }
    }

    /// Notes that its date has passed.
    pub(crate) fn elapse(&mut self) {
        self.awaits_date = false;
    }
}
