use accrue::{
    Account, CustomerId, Decimal, IdOr, Name, PageRequest,
    invoice::{Invoice, InvoiceFilter, InvoiceLine},
    limits,
};
use serde::Serialize;

use crate::{Money, pages::oldest_first};

/// An invoice that was issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvoiceReport {
    /// Its lines, without those that come to nothing.
    pub lines: Vec<BilledLine>,
    /// What they come to before adjustments.
    pub subtotal: Money,
    /// What they come to.
    pub total: Money,
    /// What the customer has to pay of it.
    pub amount_due: Money,
}

/// What one price comes to on an invoice, to the minor unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BilledLine {
    /// The name of the price.
    pub price: Name,
    /// How many units it charges for.
    pub quantity: Decimal,
    /// What they cost.
    pub amount: Money,
}

impl From<&Invoice> for InvoiceReport {
    fn from(invoice: &Invoice) -> Self {
        let money = |amount: &Decimal| Money { amount: amount.clone(), currency: invoice.currency };
        let billed = |line: &InvoiceLine| BilledLine {
            price: line.name.clone(),
            quantity: line.quantity.clone(),
            amount: money(&line.amount),
        };
        let lines = invoice.lines.iter().filter(|line| !line.amount.is_zero());
        Self {
            lines: lines.map(billed).collect(),
            subtotal: money(&invoice.subtotal),
            total: money(&invoice.total),
            amount_due: money(&invoice.amount_due),
        }
    }
}

/// Lists the invoices of a customer that were issued, oldest first.
pub(crate) async fn issued(
    account: &Account,
    customer: impl Into<IdOr<CustomerId>>,
) -> Result<Vec<Invoice>, accrue::Error> {
    let filter = InvoiceFilter { customers: vec![customer.into()], ..InvoiceFilter::default() };
    let first = PageRequest::first(limits::PAGE_ROWS)?;
    oldest_first(first, async |page| account.list_invoices(&filter, page).await).await
}
