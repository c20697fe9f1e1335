//! Credits that are bought: how their invoices are made (invoicing 13.1).

use serde::Serialize;

use crate::{Decimal, Description, Error, ItemId, Timestamp};

/// When an invoice is to be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PaymentTerms {
    /// So many days behind its date.
    Days(u32),
    /// By an instant.
    DueDate(Timestamp),
}

/// How the invoice is made for credits that are bought.
///
/// ```
/// use accrue::{credit::InvoiceSettings, invoice::PaymentTerms};
///
/// let settings = InvoiceSettings {
///     require_successful_payment: true,
///     ..InvoiceSettings::new(PaymentTerms::Days(14))
/// };
/// assert!(!settings.mark_as_paid);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvoiceSettings {
    /// Whether it is collected without a request.
    pub auto_collection: bool,
    /// When it is to be paid.
    pub terms: PaymentTerms,
    /// Date that it bears: the effective date of the block where there is none.
    pub invoice_date: Option<Timestamp>,
    /// Text for the customer.
    pub memo: Option<Description>,
    /// Item of its line: the one named "Credits" where there is none, which is made when it is first needed.
    pub item_id: Option<ItemId>,
    /// Whether usage draws on the block only once the invoice is paid (invoicing 13.2).
    pub require_successful_payment: bool,
    /// Whether it is issued and paid at once, because it was paid elsewhere: neither the balance of the
    /// customer nor a gateway is asked.
    pub mark_as_paid: bool,
}

impl InvoiceSettings {
    /// Creates settings with nothing but when the invoice is to be paid.
    #[must_use]
    pub const fn new(terms: PaymentTerms) -> Self {
        Self {
            auto_collection: false,
            terms,
            invoice_date: None,
            memo: None,
            item_id: None,
            require_successful_payment: false,
            mark_as_paid: false,
        }
    }

    /// Refuses settings without a price of the credits.
    pub(super) fn check(&self, cost_basis: Option<&Decimal>) -> Result<(), Error> {
        if cost_basis.is_some() {
            return Ok(());
        }
        let message =
            "is missing, expected the price of a credit beside the settings of its invoice";
        Err(Error::invalid("per_unit_cost_basis", message))
    }
}
