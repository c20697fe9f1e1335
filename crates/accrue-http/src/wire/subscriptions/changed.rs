use accrue::{invoice, price::BillingMode, price::Charge, related::Related};

use crate::{
    links::Links,
    shape::response,
    wire::{
        credit_notes::CreditNote,
        invoices::{CreatedInvoice, Invoice},
    },
};

response! {
    /// Invoices and credit notes that a change of a subscription has made, or made void.
    pub(crate) struct ChangedResources {
        /// Invoices that it made, drafts too.
        created_invoices: Vec<CreatedInvoice>,
        /// Invoices that it made void.
        voided_invoices: Vec<Invoice>,
        /// Credit notes that it made.
        created_credit_notes: Vec<CreditNote>,
        /// Credit notes that it made void.
        voided_credit_notes: Vec<CreditNote>,
    }
}

/// Which of the resources are answered that a change of a subscription makes, or makes void.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChangedWanted {
    #[default]
    None,
    /// Invoices that are payable at once, and nothing else.
    PayableInvoices,
    All,
}

impl ChangedWanted {
    /// Wants all where nothing is said.
    pub(crate) fn or_all(self) -> Self {
        if self == Self::None { Self::All } else { self }
    }
}

impl ChangedResources {
    pub(crate) fn of(
        changed: &accrue::ChangedResources,
        wanted: ChangedWanted,
        related: &Related,
        links: &Links,
    ) -> Self {
        let is_all = wanted != ChangedWanted::PayableInvoices;
        let notes = |of: &[invoice::CreditNote]| -> Vec<_> {
            let of = of.iter().filter(|_| is_all);
            of.map(|note| CreditNote::of(note, related, links)).collect()
        };
        let invoices = changed.created_invoices.iter();
        let invoices = invoices.map(|of| (of, is_payable_now(of, related)));
        let invoices = invoices.filter(|(_, is_payable)| is_all || *is_payable);
        Self {
            created_invoices: invoices
                .map(|(of, is_payable)| CreatedInvoice::of(of, is_payable, related, links))
                .collect(),
            voided_invoices: changed
                .voided_invoices
                .iter()
                .filter(|_| is_all)
                .map(|of| Invoice::of(of, related, links))
                .collect(),
            created_credit_notes: notes(&changed.created_credit_notes),
            voided_credit_notes: notes(&changed.voided_credit_notes),
        }
    }
}

/// Tells whether an invoice is of fees in advance alone, and issued.
fn is_payable_now(invoice: &invoice::Invoice, related: &Related) -> bool {
    let is_in_advance = |charge: &Charge| {
        matches!(charge, Charge::Fixed { billing_mode: BillingMode::InAdvance, .. })
    };
    let mut prices = invoice.lines.iter().map(|line| related.price(line.price_id));
    invoice.issued_at.is_some()
        && prices.all(|price| price.is_some_and(|price| is_in_advance(&price.charge)))
}
