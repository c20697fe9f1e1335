//! Taxes: what a host is asked for, what it answers, and what that does to a draft (invoicing 16.1).

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Invoice, InvoiceLine, InvoiceStatus};
use crate::{
    Carried, Currency, CustomerId, Decimal, Error, InvoiceId, InvoiceLineId, ItemId, Name, PriceId,
    Timeframe, Timestamp, customer::Customer, limits, price::Price,
};

/// Time after which the tax of a draft is asked for again that was refused (invoicing 4.5).
const RETRY: Duration = Duration::from_secs(60 * 60);

/// Tax of a line (invoicing 3.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaxAmount {
    /// What it is called on the invoice: `VAT`.
    pub description: Name,
    /// Its rate, out of 100, where there is one: 20 is a fifth.
    pub percentage: Option<Decimal>,
    /// Amount, in the currency of the invoice. It is rounded to the minor unit of that, half away from zero.
    pub amount: Decimal,
    /// Why it is what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<TaxReason>,
}

/// Why a tax is what it is (invoicing 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaxReason {
    /// The line is taxed.
    Taxed,
    /// The customer owes the tax to its own authority.
    ReverseCharge,
    /// The customer is exempt.
    CustomerExempt,
    /// The product is exempt.
    ProductExempt,
    /// The seller is not registered where the customer is.
    NotRegistered,
    /// The rate is zero.
    ZeroRated,
    /// Another reason not to tax it.
    NotTaxedOther,
}

/// What a host is asked the taxes of: a draft as it is about to be issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaxRequest {
    /// The draft.
    pub invoice_id: InvoiceId,
    /// Customer that it is for.
    pub customer_id: CustomerId,
    /// Currency of the amounts.
    pub currency: Currency,
    /// Date that it bears.
    pub invoice_date: Timestamp,
    /// Lines.
    pub lines: Vec<TaxedLine>,
    /// `billing_address`, `shipping_address`, `tax_id` and `tax_configuration` of the customer, where it has
    /// them: the JSON text of each.
    pub addressee: Carried,
}

/// Line of a draft whose taxes are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaxedLine {
    /// Its id: the taxes are answered by it.
    pub id: InvoiceLineId,
    /// Price that it charges.
    pub price_id: PriceId,
    /// Item of the price. Its external connections name its tax code, where it has one.
    pub item_id: ItemId,
    /// Its name.
    pub name: Name,
    /// Service period.
    pub period: Timeframe,
    /// Amount before taxes.
    pub amount: Decimal,
}

/// What a host answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum TaxOutcome {
    /// Taxes of the lines. A line that is not named has none.
    Calculated(BTreeMap<InvoiceLineId, Vec<TaxAmount>>),
    /// The taxes cannot be told, for instance because an address is not known.
    Refused {
        /// Why, for a person to read. What is longer than
        /// [500](crate::limits::PROVIDER_CHARACTERS) characters is cut.
        reason: String,
    },
}

/// Taxes that an invoice is issued with, and what they are of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaxAnswer<'a> {
    pub(crate) request: &'a TaxRequest,
    pub(crate) taxes: &'a BTreeMap<InvoiceLineId, Vec<TaxAmount>>,
}

impl TaxReason {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Taxed => "taxed",
            Self::ReverseCharge => "reverse_charge",
            Self::CustomerExempt => "customer_exempt",
            Self::ProductExempt => "product_exempt",
            Self::NotRegistered => "not_registered",
            Self::ZeroRated => "zero_rated",
            Self::NotTaxedOther => "not_taxed_other",
        }
    }
}

impl TaxRequest {
    /// Returns what is asked of a draft with the lines that it shows. Nothing is where the customer is exempt,
    /// or not taxed automatically, or no line comes to anything.
    pub(crate) fn of(invoice: &Invoice, customer: &Customer, prices: &[Price]) -> Option<Self> {
        if !is_taxed(customer) || invoice.lines.iter().all(|line| line.amount.is_zero()) {
            return None;
        }
        let line = |line: &InvoiceLine| {
            let price = prices.iter().find(|price| price.id == line.price_id)?;
            Some(TaxedLine {
                id: line.id,
                price_id: line.price_id,
                item_id: price.item_id,
                name: line.name.clone(),
                period: line.period,
                amount: line.amount.clone(),
            })
        };
        let names = ["billing_address", "shipping_address", "tax_id", "tax_configuration"];
        Some(Self {
            invoice_id: invoice.id,
            customer_id: customer.id,
            currency: invoice.currency,
            invoice_date: invoice.invoice_date,
            lines: invoice.lines.iter().filter_map(line).collect(),
            addressee: customer.carried.only(&names),
        })
    }
}

/// Tells whether the invoices of a customer are taxed.
fn is_taxed(customer: &Customer) -> bool {
    #[derive(Default, Deserialize)]
    struct TaxConfiguration {
        tax_exempt: Option<bool>,
        automatic_tax_enabled: Option<bool>,
    }

    let configuration = customer.carried.get("tax_configuration");
    let configuration: TaxConfiguration =
        configuration.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    configuration.tax_exempt != Some(true) && configuration.automatic_tax_enabled != Some(false)
}

impl Invoice {
    /// Tells whether it is a draft that waits for its tax: it is issued once that is
    /// [known](crate::Account::report_taxes).
    #[must_use]
    pub const fn awaits_tax(&self) -> bool {
        matches!(self.status, InvoiceStatus::Draft) && self.asks_tax_at.is_some()
    }

    /// Lets a draft wait for its tax, which is to be asked for at an instant.
    pub(crate) const fn await_tax(&mut self, at: Timestamp) {
        self.asks_tax_at = Some(at);
    }

    /// Notes that its tax was refused. It is asked for again where it is issued by itself, and else waits for
    /// somebody to issue it (invoicing 4.5).
    pub(crate) fn fail_to_issue(&mut self, at: Timestamp) {
        self.issue_failed_at = Some(at);
        self.asks_tax_at = self.will_auto_issue.then(|| at.saturating_add(RETRY));
    }

    /// Leaves it to somebody to issue a draft that waits for its tax.
    pub(crate) const fn leave_to_somebody(&mut self) {
        (self.will_auto_issue, self.asks_tax_at) = (false, None);
    }

    /// Gives the lines that it shows their taxes, each rounded by itself (invoicing 7.5).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where a line is not one of them, or has more
    /// than [20](crate::limits::TAXES_OF_LINE) taxes.
    pub(crate) fn tax(
        &mut self,
        taxes: &BTreeMap<InvoiceLineId, Vec<TaxAmount>>,
    ) -> Result<(), Error> {
        let places = self.currency.places();
        for (id, of_line) in taxes {
            let line = self.lines.iter_mut().find(|line| line.id == *id);
            let unknown = || Error::invalid("taxes", format!("found {id}, expected a line of it"));
            let line = line.ok_or_else(unknown)?;
            let (count, most) = (of_line.len(), limits::TAXES_OF_LINE);
            if count > most {
                let message = format!("found {count} taxes of {id}, expected at most {most}");
                return Err(Error::invalid("taxes", message));
            }
            let rounded =
                |tax: &TaxAmount| TaxAmount { amount: tax.amount.round(places), ..tax.clone() };
            line.tax_amounts = of_line.iter().map(rounded).collect();
        }
        let (lines, subtotal) = (std::mem::take(&mut self.lines), self.subtotal.clone());
        self.show((lines, subtotal));
        Ok(())
    }
}

impl InvoiceLine {
    /// Returns the sum of its taxes.
    #[must_use]
    pub fn tax(&self) -> Decimal {
        self.tax_amounts.iter().map(|tax| &tax.amount).sum()
    }
}
