use serde::{Deserialize, Serialize};

use super::{LineAdjustment, TaxAmount};
use crate::{
    AdjustmentIntervalId, CivilDate, CreditNoteId, CreditNoteLineId, Currency, CustomerId, Decimal,
    Description, Error, IdOr, InstantRange, InvoiceId, InvoiceLineId, Name, PriceId,
    SubscriptionId, Timeframe, Timestamp, Zone,
    price::{Adjustment, Discount},
};

/// Credit note: what is taken back of an invoice that was issued (invoicing 10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreditNote {
    /// Its id.
    pub id: CreditNoteId,
    /// Number that it bears: `QTRWXB-CN-00001`.
    pub credit_note_number: String,
    /// Invoice that it is of.
    pub invoice_id: InvoiceId,
    /// Subscription of that invoice, if it has one.
    pub subscription_id: Option<SubscriptionId>,
    /// Customer of that invoice.
    pub customer_id: CustomerId,
    /// Currency of its amounts.
    pub currency: Currency,
    /// Effect that it has.
    pub effect: CreditNoteEffect,
    /// Who made it.
    pub source: CreditNoteSource,
    /// Reason for it.
    pub reason: CreditNoteReason,
    /// Text for the customer.
    pub memo: Option<Description>,
    /// Instant at which it was made.
    pub created_at: Timestamp,
    /// Instant at which it became void.
    pub voided_at: Option<Timestamp>,
    /// Sum of the amounts of its lines.
    pub subtotal: Decimal,
    /// What it takes back in all: with the shares of adjustments over the invoice, and of taxes.
    pub total: Decimal,
    /// What of the total went to the customer's balance.
    pub returned: Decimal,
    /// Which fraction each adjustment over the invoice was of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fractions: Vec<(AdjustmentIntervalId, Decimal)>,
    /// Lines; a note that is shown as part of its invoice has none.
    #[serde(skip)]
    pub lines: Vec<CreditNoteLine>,
}

/// Line of a credit note: what it takes back of a line of its invoice. All amounts are in the currency of
/// the invoice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreditNoteLine {
    /// Its id.
    pub id: CreditNoteLineId,
    /// Line of the invoice.
    pub invoice_line_id: InvoiceLineId,
    /// Price of that line.
    pub price_id: PriceId,
    /// Name of that line.
    pub name: Name,
    /// Service period that is credited.
    pub period: Timeframe,
    /// Share of the line's subtotal.
    pub subtotal: Decimal,
    /// Shares of its adjustments, signed as on the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjustments: Vec<LineAdjustment>,
    /// Amount before the shares of adjustments over the invoice.
    pub amount: Decimal,
    /// Shares of its taxes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tax_amounts: Vec<TaxAmount>,
}

/// Effect of a credit note (invoicing 10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CreditNoteEffect {
    /// The invoice was not paid: less is to be.
    Adjustment,
    /// It was: the customer's balance has what it is worth.
    Refund,
}

/// Who makes a credit note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CreditNoteSource {
    /// The caller.
    Hand,
    /// A change of a subscription, which cuts fees in advance short (invoicing 10.6).
    Change,
}

/// Reason for a credit note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CreditNoteReason {
    /// The customer was charged twice.
    Duplicate,
    /// The charge was not the customer's.
    Fraudulent,
    /// The order has changed.
    OrderChange,
    /// The product was not as promised.
    ProductUnsatisfactory,
}

/// Credit note to make (invoicing 10.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewCreditNote {
    /// Lines of one invoice, with the amounts to take back of each.
    pub lines: Vec<NewCreditNoteLine>,
    /// Reason for it.
    pub reason: CreditNoteReason,
    /// Text for the customer.
    pub memo: Option<Description>,
    /// Days of service that are credited, on all lines: without them each line has its own.
    pub days: Option<ServiceDays>,
}

/// Line of a credit note to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewCreditNoteLine {
    /// Line of the invoice.
    pub invoice_line_id: InvoiceLineId,
    /// Amount, above zero, before adjustments over the invoice: at most what is left of the line.
    pub amount: Decimal,
    /// Days of service that are credited: either every line has them or none; without them those of the
    /// invoice's line.
    pub days: Option<ServiceDays>,
}

/// Days of service, both included, in the zone of the customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ServiceDays {
    /// The first day.
    pub first: CivilDate,
    /// The last day.
    pub last: CivilDate,
}

/// Filter of a list of credit notes (invoicing 10.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreditNoteFilter {
    /// Range of the instants at which they were made.
    pub created: InstantRange,
    /// Customers whose notes are listed: all where none are named. Each name must be one customer's.
    pub customers: Vec<IdOr<CustomerId>>,
    /// Subscription whose invoices they are of.
    pub subscription: Option<SubscriptionId>,
}

impl CreditNote {
    /// Returns the adjustments over the invoice that it takes a share of: their amounts on all lines, and
    /// which fraction each is, or was of the invoice, to ten digits (invoicing 10.1).
    #[must_use]
    pub fn adjustments_over_invoice(&self) -> Vec<(LineAdjustment, Decimal)> {
        let mut all: Vec<LineAdjustment> = Vec::new();
        let shares = self.lines.iter().flat_map(|line| &line.adjustments);
        for share in shares.filter(|of| of.is_invoice_level()) {
            match all.iter_mut().find(|of| of.id == share.id) {
                Some(of) => of.amount += &share.amount,
                None => all.push(share.clone()),
            }
        }
        let fraction = |of: &LineAdjustment| match &of.adjustment {
            Adjustment::Discount(Discount::Percentage(off)) => off.as_decimal().clone(),
            _ => {
                let found = self.fractions.iter().find(|(id, _)| *id == of.id);
                found.map(|(_, fraction)| fraction.clone()).unwrap_or_default()
            }
        };
        all.into_iter().map(|of| (of.clone(), fraction(&of))).collect()
    }
}

impl CreditNoteLine {
    /// Returns what it takes back of the amount of the invoice's line.
    pub(crate) fn taken_of_amount(&self) -> Decimal {
        let shares = self.adjustments.iter().filter(|of| of.is_invoice_level());
        shares.fold(self.amount.clone(), |sum, of| sum + &of.amount)
    }
}

impl CreditNoteEffect {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adjustment => "adjustment",
            Self::Refund => "refund",
        }
    }
}

impl NewCreditNote {
    /// Refuses what no invoice could be credited with, and gives every line its days (invoicing 10.2).
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.lines.is_empty() {
            return Err(Error::invalid("lines", "found none, expected at least one"));
        }
        let mut ids: Vec<_> = self.lines.iter().map(|line| line.invoice_line_id).collect();
        ids.sort_unstable();
        let twice = ids.iter().zip(ids.iter().skip(1)).find(|(one, other)| one == other);
        if let Some((id, _)) = twice {
            let message = format!("found the line {id} twice, expected each line once");
            return Err(Error::invalid("lines", message));
        }
        let with_days = self.lines.iter().filter(|line| line.days.is_some()).count();
        let is_mixed = match self.days {
            Some(_) => with_days > 0,
            None => with_days > 0 && with_days < self.lines.len(),
        };
        if is_mixed {
            let message =
                "found service periods on some, expected them for the note or for each line";
            return Err(Error::invalid("lines", message));
        }
        let days = self.lines.iter().filter_map(|line| line.days).chain(self.days);
        days.into_iter().try_for_each(ServiceDays::check)
    }
}

impl ServiceDays {
    fn check(self) -> Result<(), Error> {
        if self.last < self.first {
            let message = "found a last day before the first, expected it no earlier";
            return Err(Error::invalid("end_date", message));
        }
        Ok(())
    }

    /// Returns the time from the midnight that begins them to the one that ends them.
    pub(super) fn in_zone(self, zone: &Zone) -> Result<Timeframe, Error> {
        let day = |date: CivilDate, field| {
            date.in_zone(zone).map_err(|error| Error::invalid(field, error.to_string()))
        };
        let (first, last) = (day(self.first, "start_date")?, day(self.last, "end_date")?);
        Ok(Timeframe::nothing_at(first.start()).until(last.end()))
    }
}
