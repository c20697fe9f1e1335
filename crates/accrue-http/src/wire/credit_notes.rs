//! Credit notes on the wire (invoicing 10).

use accrue::{
    CustomerId, Decimal, Description, ExternalId, IdOr, InvoiceLineId, JsonNumber, PricingUnit,
    SubscriptionId, Zone,
    invoice::{
        self, CreditNoteEffect, CreditNoteFilter, CreditNoteReason, LineAdjustment,
        NewCreditNoteLine, ServiceDays,
    },
    price::{Adjustment, Discount},
    related::Related,
};
use serde::Serialize;

use super::{
    amounts::Amount,
    customers::CustomerMinified,
    dates::{Date, Day, created},
    pages::{Limit, Sought},
    taxes::TaxAmount,
};
use crate::{
    links::Links,
    problem::{Problem, Violations},
    shape::{Moment, Nothing, Sparse, choices, request, response},
};

request! {
    /// A credit note to make.
    pub(crate) struct CreateCreditNote {
        /// Lines of one invoice, with the amounts to take back.
        line_items: Vec<CreditNoteLineIn>,
        /// Reason for it.
        reason: CreditNoteReason,
        /// Text for the customer.
        memo: Option<Description>,
        /// First day of service that is credited, on all lines.
        start_date: Option<Day>,
        /// Last day of service that is credited, on all lines.
        end_date: Option<Day>,
    }

    /// A line of a credit note to make.
    pub(crate) struct CreditNoteLineIn open {
        /// Line of the invoice.
        invoice_line_item_id: InvoiceLineId,
        /// Amount, above zero, at most what is left of the line.
        amount: Decimal,
        /// First day of service that is credited.
        start_date: Option<Day>,
        /// Last day of service that is credited.
        end_date: Option<Day>,
    }

    /// Filters and page of a list of credit notes.
    pub(crate) struct CreditNoteListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Customer of the invoices.
        customer_id: Option<Sought<CustomerId>>,
        /// External id of the customer.
        external_customer_id: Option<ExternalId>,
        /// Subscription that the invoices bill.
        subscription_id: Option<Sought<SubscriptionId>>,
        /// Notes made at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Notes made after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Notes made before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Notes made at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }
}

created!(CreditNoteListQuery);

response! {
    /// A credit note.
    pub(crate) struct CreditNote {
        /// Its id.
        id: String,
        /// Number that it bears.
        credit_note_number: String,
        /// Instant at which it was made.
        created_at: Moment,
        /// Instant at which it became void.
        voided_at: Option<Moment>,
        /// Invoice that it is of.
        invoice_id: String,
        /// Customer of that.
        customer: CustomerMinified,
        /// Effect: an adjustment lowers what is due, a refund raises the customer's balance.
        "type" effect: CreditNoteEffect,
        /// Reason for it.
        reason: Option<ReasonText>,
        /// Text for the customer.
        memo: Option<Description>,
        /// Sum of the amounts of its lines.
        subtotal: Amount,
        /// What it takes back in all.
        total: Amount,
        /// Share of a minimum over the invoice.
        minimum_amount_refunded: Option<Amount>,
        /// Share of a maximum over the invoice.
        maximum_amount_adjustment: Option<CreditNoteDiscount>,
        /// Shares of discounts over the invoice.
        discounts: Vec<CreditNoteDiscount>,
        /// Lines.
        line_items: Vec<CreditNoteLineItem>,
        /// Address of it as a file; null where the host makes none.
        credit_note_pdf: Option<String>,
    }

    /// A share of an adjustment over an invoice.
    pub(crate) struct CreditNoteDiscount {
        /// Always `percentage`.
        discount_type: PercentageType,
        /// Fraction that it takes off.
        percentage_discount: JsonNumber,
        /// Amount that it takes off.
        amount_applied: Amount,
        /// Always null.
        reason: Nothing,
        /// Prices that it applies to.
        applies_to_prices: Vec<PriceName>,
    }

    /// A price by its name.
    pub(crate) struct PriceName {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
    }

    /// A line of a credit note.
    pub(crate) struct CreditNoteLineItem {
        /// Its id.
        id: String,
        /// Name of the line.
        name: String,
        /// Item of its price.
        item_id: String,
        /// Share of the line's subtotal.
        subtotal: Amount,
        /// Amount after the line's own adjustments.
        amount: Amount,
        /// Always null.
        quantity: Nothing,
        /// Shares of the line's taxes.
        tax_amounts: Vec<TaxAmount>,
        /// Shares of the line's own discounts.
        discounts: Vec<CreditNoteLineDiscount>,
        /// Start of the service period that is credited, included.
        start_time_inclusive: Option<Moment>,
        /// End of the service period that is credited, excluded.
        end_time_exclusive: Option<Moment>,
    }

    /// A share of a line's own discount.
    pub(crate) struct CreditNoteLineDiscount {
        /// Its id.
        id: String,
        /// Type of the discount.
        discount_type: LineDiscountType,
        /// Fraction that it takes off; 0 for an amount.
        percentage_discount: JsonNumber,
        /// Amount that it takes off.
        amount_applied: Amount,
        /// Ids of the prices that it applies to.
        applies_to_price_ids: Vec<String>,
        /// Amount, where it is one.
        amount_discount: Sparse<Amount>,
        /// Always null.
        reason: Nothing,
    }

    /// A credit note as part of its invoice.
    pub(crate) struct CreditNoteSummary {
        /// Its id.
        id: String,
        /// Number that it bears.
        credit_note_number: String,
        /// Effect that it has.
        "type" effect: CreditNoteEffect,
        /// What it takes back in all.
        total: Amount,
        /// Reason for it.
        reason: ReasonText,
        /// Text for the customer.
        memo: Option<Description>,
        /// Instant at which it became void.
        voided_at: Option<Moment>,
    }
}

/// A reason as answers write it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) enum ReasonText {
    Duplicate,
    Fraudulent,
    #[serde(rename = "Order change")]
    OrderChange,
    #[serde(rename = "Product unsatisfactory")]
    ProductUnsatisfactory,
}

/// The one type that shares of discounts over an invoice have.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PercentageType {
    Percentage,
}

/// The type of a line's own discount.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineDiscountType {
    Percentage,
    Amount,
}

choices! {
    CreditNoteEffect {
        "adjustment" => CreditNoteEffect::Adjustment,
        "refund" => CreditNoteEffect::Refund,
    }
    CreditNoteReason {
        "duplicate" => CreditNoteReason::Duplicate,
        "fraudulent" => CreditNoteReason::Fraudulent,
        "order_change" => CreditNoteReason::OrderChange,
        "product_unsatisfactory" => CreditNoteReason::ProductUnsatisfactory,
    }
    "CreditNoteReasonText" ReasonText {
        "Duplicate" => ReasonText::Duplicate,
        "Fraudulent" => ReasonText::Fraudulent,
        "Order change" => ReasonText::OrderChange,
        "Product unsatisfactory" => ReasonText::ProductUnsatisfactory,
    }
    "CreditNoteDiscountType" PercentageType {
        "percentage" => PercentageType::Percentage,
    }
    "CreditNoteLineDiscountType" LineDiscountType {
        "percentage" => LineDiscountType::Percentage,
        "amount" => LineDiscountType::Amount,
    }
}

impl CreateCreditNote {
    pub(crate) fn into_note(self) -> Result<invoice::NewCreditNote, Problem> {
        let lines = self.line_items.into_iter().enumerate().map(|(place, line)| {
            let at = format!("/line_items/{place}");
            Ok(NewCreditNoteLine {
                invoice_line_id: line.invoice_line_item_id,
                amount: line.amount,
                days: days(line.start_date, line.end_date, &at)?,
            })
        });
        Ok(invoice::NewCreditNote {
            lines: lines.collect::<Result<_, Problem>>()?,
            reason: self.reason,
            memo: self.memo,
            days: days(self.start_date, self.end_date, "")?,
        })
    }
}

/// Makes the days of service of two dates: both are given, or neither.
fn days(first: Option<Day>, last: Option<Day>, at: &str) -> Result<Option<ServiceDays>, Problem> {
    match (first, last) {
        (Some(Day(first)), Some(Day(last))) => Ok(Some(ServiceDays { first, last })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(half(at, "end_date", "start_date")),
        (None, Some(_)) => Err(half(at, "start_date", "end_date")),
    }
}

fn half(at: &str, missing: &str, given: &str) -> Problem {
    let text = format!("found none, expected a date beside {given}");
    Violations::one(format!("{at}/{missing}"), text).into()
}

impl CreditNoteListQuery {
    /// Makes the filter; none where it names what cannot be there.
    pub(crate) fn filter(&self) -> Result<Option<CreditNoteFilter>, Problem> {
        let mut filter =
            CreditNoteFilter { created: self.created().range(&Zone::UTC)?, ..Default::default() };
        match self.customer_id {
            Some(Sought(Some(id))) => filter.customers.push(IdOr::Id(id)),
            Some(Sought(None)) => return Ok(None),
            None => {}
        }
        filter.customers.extend(self.external_customer_id.clone().map(IdOr::External));
        match self.subscription_id {
            Some(Sought(None)) => return Ok(None),
            Some(Sought(id)) => filter.subscription = id,
            None => {}
        }
        Ok(Some(filter))
    }
}

impl CreditNote {
    pub(crate) fn of(note: &invoice::CreditNote, related: &Related, links: &Links) -> Self {
        let unit = PricingUnit::from(note.currency);
        let over_invoice = note.adjustments_over_invoice();
        let shares = |is_kind: fn(&Adjustment) -> bool| {
            let of_kind = over_invoice.iter().filter(move |(of, _)| is_kind(&of.adjustment));
            of_kind.map(|(of, fraction)| CreditNoteDiscount::of(of, fraction, note, related))
        };
        let minimum: Option<Decimal> = over_invoice
            .iter()
            .filter(|(of, _)| matches!(of.adjustment, Adjustment::Minimum(_)))
            .map(|(of, _)| of.amount.clone())
            .reduce(|sum, of| sum + of);
        Self {
            id: note.id.to_string(),
            credit_note_number: note.credit_note_number.clone(),
            created_at: note.created_at.into(),
            voided_at: note.voided_at.map(Moment::from),
            invoice_id: note.invoice_id.to_string(),
            customer: CustomerMinified::of(note.customer_id, related.customer(note.customer_id)),
            effect: note.effect,
            reason: Some(note.reason.into()),
            memo: note.memo.clone(),
            subtotal: Amount::of(&note.subtotal, &unit),
            total: Amount::of(&note.total, &unit),
            minimum_amount_refunded: minimum.map(|of| Amount::of(&of, &unit)),
            maximum_amount_adjustment: shares(|of| matches!(of, Adjustment::Maximum(_))).next(),
            discounts: shares(|of| matches!(of, Adjustment::Discount(_))).collect(),
            line_items: note
                .lines
                .iter()
                .map(|line| CreditNoteLineItem::of(line, &unit, related))
                .collect(),
            credit_note_pdf: links.credit_note_pdf(note),
        }
    }
}

impl CreditNoteDiscount {
    fn of(
        of: &LineAdjustment,
        fraction: &Decimal,
        note: &invoice::CreditNote,
        related: &Related,
    ) -> Self {
        let percentage = match &of.adjustment {
            Adjustment::Discount(Discount::Percentage(off)) => off.as_decimal(),
            _ => fraction,
        };
        let name = |id| related.price(id).map(|price| price.name.to_string()).unwrap_or_default();
        let prices = of.price_ids.iter();
        Self {
            discount_type: PercentageType::Percentage,
            percentage_discount: JsonNumber(percentage.clone()),
            amount_applied: Amount::of(&of.amount.abs(), &note.currency.into()),
            reason: Nothing,
            applies_to_prices: prices
                .map(|id| PriceName { id: id.to_string(), name: name(*id) })
                .collect(),
        }
    }
}

impl CreditNoteLineItem {
    fn of(line: &invoice::CreditNoteLine, unit: &PricingUnit, related: &Related) -> Self {
        let price = related.price(line.price_id);
        let own = line.adjustments.iter().filter(|of| !of.is_invoice_level());
        Self {
            id: line.id.to_string(),
            name: line.name.to_string(),
            item_id: price.map(|price| price.item_id.to_string()).unwrap_or_default(),
            subtotal: Amount::of(&line.subtotal, unit),
            amount: Amount::of(&line.amount, unit),
            quantity: Nothing,
            tax_amounts: line.tax_amounts.iter().map(|of| TaxAmount::of(of, unit)).collect(),
            discounts: own.filter_map(|of| CreditNoteLineDiscount::of(of, unit)).collect(),
            start_time_inclusive: Some(line.period.start().into()),
            end_time_exclusive: Some(line.period.end().into()),
        }
    }
}

impl CreditNoteLineDiscount {
    fn of(of: &LineAdjustment, unit: &PricingUnit) -> Option<Self> {
        let Adjustment::Discount(discount) = &of.adjustment else { return None };
        let (discount_type, percentage, amount) = match discount {
            Discount::Percentage(off) => {
                (LineDiscountType::Percentage, off.as_decimal().clone(), None)
            }
            Discount::Amount(off) => {
                (LineDiscountType::Amount, Decimal::zero(), Some(Amount::of(off, unit)))
            }
            _ => (LineDiscountType::Amount, Decimal::zero(), None),
        };
        Some(Self {
            id: of.id.to_string(),
            discount_type,
            percentage_discount: JsonNumber(percentage),
            amount_applied: Amount::of(&of.amount.abs(), unit),
            applies_to_price_ids: of.price_ids.iter().map(ToString::to_string).collect(),
            amount_discount: Sparse(amount),
            reason: Nothing,
        })
    }
}

impl From<&invoice::CreditNote> for CreditNoteSummary {
    fn from(note: &invoice::CreditNote) -> Self {
        Self {
            id: note.id.to_string(),
            credit_note_number: note.credit_note_number.clone(),
            effect: note.effect,
            total: Amount::of(&note.total, &note.currency.into()),
            reason: note.reason.into(),
            memo: note.memo.clone(),
            voided_at: note.voided_at.map(Moment::from),
        }
    }
}

impl From<CreditNoteReason> for ReasonText {
    fn from(reason: CreditNoteReason) -> Self {
        match reason {
            CreditNoteReason::Duplicate => Self::Duplicate,
            CreditNoteReason::Fraudulent => Self::Fraudulent,
            CreditNoteReason::ProductUnsatisfactory => Self::ProductUnsatisfactory,
            _ => Self::OrderChange,
        }
    }
}
