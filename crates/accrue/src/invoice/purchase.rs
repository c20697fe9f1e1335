//! Invoices for credits that are bought (invoicing 13.1).

use serde::Serialize;

use super::{Invoice, PaymentTerms, Receivables, Terms, by_hand::Made};
use crate::{
    CreditBlockId, Currency, Decimal, Description, Error, InvoiceId, ItemId, Name, PriceId,
    Timeframe, Timestamp, customer::Customer, price::Price,
};

/// How the invoice is made for credits that are bought.
///
/// ```
/// use accrue::invoice::{InvoiceSettings, PaymentTerms};
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
    pub(crate) fn check(&self, cost_basis: Option<&Decimal>) -> Result<(), Error> {
        if cost_basis.is_some() {
            return Ok(());
        }
        let message =
            "is missing, expected the price of a credit beside the settings of its invoice";
        Err(Error::invalid("per_unit_cost_basis", message))
    }
}

/// Credits that are bought: what the line of their invoice says.
pub(crate) struct Bought {
    pub(crate) block_id: CreditBlockId,
    pub(crate) item_id: ItemId,
    pub(crate) name: Name,
    pub(crate) quantity: Decimal,
    pub(crate) cost_basis: Decimal,
    /// From the instant that the block is effective to its expiry, or nothing at that instant.
    pub(crate) period: Timeframe,
}

impl Bought {
    /// Makes the draft of the invoice, with the price of its line.
    ///
    /// # Errors
    ///
    /// Where it would be dated more than a year ahead, or due before its date.
    pub(crate) fn invoice(
        self,
        settings: &InvoiceSettings,
        (customer, currency): (&Customer, Currency),
        receivables: &Receivables,
        now: Timestamp,
    ) -> Result<(Invoice, Price), Error> {
        let Self { block_id, item_id, name, quantity, cost_basis, period } = self;
        let names: [&[u8]; 2] = [b"invoice", block_id.as_bytes()];
        let id = InvoiceId::derived(now, &names);
        let date = settings.invoice_date.unwrap_or(period.start());
        let whose = (customer.id, currency);
        let terms = Terms::of_customer(customer);
        let mut invoice = Invoice::draft_of(id, whose, date, terms, receivables, now);
        invoice.will_auto_issue = terms.auto_issuance();
        invoice.memo = settings.memo.as_ref().map(ToString::to_string);
        invoice.auto_collection.enabled = settings.auto_collection;
        invoice.set_terms(settings.terms);
        invoice.date(date, &customer.timezone, now)?;
        invoice.check_due_date(&customer.timezone)?;
        invoice.bought = Some(block_id);
        let amount = &quantity * &cost_basis;
        let made = Made { name, item_id, period, quantity, unit_amount: cost_basis, amount };
        let price_id = PriceId::derived(now, &[b"price", block_id.as_bytes()]);
        let price = invoice.add_by_hand(made, price_id, now);
        Ok((invoice, price))
    }
}
