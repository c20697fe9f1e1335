//! Terms of payment: from the invoice, the subscription, the plan and the customer (invoicing 4.4, 5.1).

use super::{Invoice, InvoiceStatus};
use crate::{
    Carried, Timestamp, Zone,
    account::{Configuration, DueDateBasis},
    customer::{Customer, PaymentProvider},
};

/// Fields of a subscription, its plan and its customer that say how it is invoiced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'a> {
    pub(crate) subscription: &'a Carried,
    pub(crate) plan: &'a Carried,
    pub(crate) customer: &'a Carried,
    pub(crate) timezone: &'a Zone,
    /// Whether the customer pays by a gateway.
    pub(crate) has_gateway: bool,
    /// Whether the account issues invoices by themselves, of whom nothing else is said.
    issues_by_itself: bool,
}

impl<'a> Terms<'a> {
    /// Makes the terms of a subscription, its plan, its customer and the account.
    pub(crate) fn new(
        subscription: &'a Carried,
        plan: &'a Carried,
        customer: &'a Customer,
        account: &Configuration,
    ) -> Self {
        Self {
            subscription,
            plan,
            customer: &customer.carried,
            timezone: &customer.timezone,
            has_gateway: customer.payment_provider.is_some_and(PaymentProvider::is_gateway),
            issues_by_itself: account.auto_issuance,
        }
    }

    /// Makes the terms of a customer alone: those of a one-off invoice.
    pub(crate) fn of_customer(customer: &'a Customer, account: &Configuration) -> Self {
        const NONE: &Carried = &Carried::NONE;
        Self::new(NONE, NONE, customer, account)
    }

    /// Returns the days that the customer has to pay: its subscription's, its plan's, or none.
    pub(crate) fn net_terms(&self) -> u32 {
        let days = |of: &Carried| of.get("net_terms").and_then(|text| text.parse().ok());
        days(self.subscription).or_else(|| days(self.plan)).unwrap_or_default()
    }

    /// Tells whether an invoice is issued by itself: as the subscription says, else the customer, else the account.
    pub(crate) fn auto_issuance(&self) -> bool {
        let says = |of: &Carried| of.get("auto_issuance").and_then(|text| text.parse().ok());
        says(self.subscription).or_else(|| says(self.customer)).unwrap_or(self.issues_by_itself)
    }

    /// Tells whether an invoice is collected by itself: as the subscription says, else the customer, else
    /// whether that pays by a gateway (invoicing 8.1).
    pub(crate) fn auto_collection(&self) -> bool {
        let says = |of: &Carried| of.get("auto_collection").and_then(|text| text.parse().ok());
        says(self.subscription).or_else(|| says(self.customer)).unwrap_or(self.has_gateway)
    }

    /// Returns the text for the customer: the subscription's, else the plan's.
    pub(crate) fn memo(&self) -> Option<String> {
        let text = |of: &Carried| serde_json::from_str(of.get("default_invoice_memo")?).ok();
        text(self.subscription).or_else(|| text(self.plan))
    }

    /// Sets the instant by which an invoice is to be paid that is issued: the one that was chosen for it, or
    /// midnight, so many days behind the day that they are counted from. It keeps their number.
    pub(crate) fn set_due_date(&self, invoice: &mut Invoice, basis: DueDateBasis) {
        if invoice.custom_due_date.is_some() {
            invoice.due_date = invoice.custom_due_date;
            return;
        }
        invoice.net_terms = invoice.net_terms.or_else(|| Some(self.net_terms()));
        invoice.due_date = invoice.due_date_from(basis, self.timezone);
    }
}

impl Invoice {
    /// Returns the due date that follows from its net terms, where it has some.
    fn due_date_from(&self, basis: DueDateBasis, timezone: &Zone) -> Option<Timestamp> {
        let base = match basis {
            DueDateBasis::InvoiceDate => self.invoice_date,
            DueDateBasis::IssueDate => self.issued_at?,
        };
        Some(timezone.midnight_after(base, self.net_terms?))
    }

    /// Moves the due date to where it would be by now, where it follows from net terms and something is left
    /// to pay; and a first attempt to collect it with that (invoicing 5.2). Returns the date of before.
    pub(crate) fn recalculate_due_date(
        &mut self,
        basis: DueDateBasis,
        timezone: &Zone,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let is_open = matches!(self.status, InvoiceStatus::Issued | InvoiceStatus::Synced);
        let is_left = is_open && !self.amount_due.is_zero() && !self.amount_due.is_negative();
        if !is_left || self.custom_due_date.is_some() {
            return None;
        }
        let after = self.due_date_from(basis, timezone)?;
        let before = self.due_date.replace(after).filter(|before| *before != after)?;
        let next = &mut self.auto_collection.next_attempt_at;
        if self.payment_started_at.is_none() && next.is_some() {
            *next = Some(after.max(now));
        }
        Some(before)
    }
}
