//! Invoices for credits that are bought (invoicing 13.1).

use super::{Invoice, Receivables, Terms, by_hand::Made};
use crate::{
    CreditBlockId, Currency, Decimal, Error, InvoiceId, ItemId, Name, PriceId, Timeframe,
    Timestamp,
    account::Configuration,
    credit::{CreditBlock, InvoiceSettings},
    customer::Customer,
    price::Price,
};

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
        account: &Configuration,
        receivables: &Receivables,
        now: Timestamp,
    ) -> Result<(Invoice, Price), Error> {
        let Self { block_id, item_id, name, quantity, cost_basis, period } = self;
        let names: [&[u8]; 2] = [b"invoice", block_id.as_bytes()];
        let id = InvoiceId::derived(now, &names);
        let date = settings.invoice_date.unwrap_or(period.start());
        let whose = (customer.id, currency);
        let terms = Terms::of_customer(customer, account);
        let mut invoice = Invoice::draft_of(id, whose, date, terms, receivables, now);
        invoice.will_auto_issue = terms.auto_issuance();
        let memo = settings.memo.as_ref().or(account.default_invoice_memo.as_ref());
        invoice.memo = memo.map(ToString::to_string);
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

/// A credit block, and the invoices that bought it (invoicing 13.3).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInvoices {
    /// The block.
    pub block: CreditBlock,
    /// The invoices, oldest first: void ones too, none for credits that were given away.
    pub invoices: Vec<Invoice>,
}
