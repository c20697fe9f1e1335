//! Terms of payment: from the invoice, the subscription, the plan and the customer (invoicing 4.4, 5.1).

use super::Invoice;
use crate::{
    Carried, Timestamp, Zone,
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
}

impl<'a> Terms<'a> {
    /// Makes the terms of a subscription, its plan and its customer.
    pub(crate) fn new(
        subscription: &'a Carried,
        plan: &'a Carried,
        customer: &'a Customer,
    ) -> Self {
        Self {
            subscription,
            plan,
            customer: &customer.carried,
            timezone: &customer.timezone,
            has_gateway: customer.payment_provider.is_some_and(PaymentProvider::is_gateway),
        }
    }

    /// Makes the terms of a customer alone: those of a one-off invoice.
    pub(crate) fn of_customer(customer: &'a Customer) -> Self {
        const NONE: &Carried = &Carried::NONE;
        Self::new(NONE, NONE, customer)
    }

    /// Returns the days that the customer has to pay: its subscription's, its plan's, or none.
    pub(crate) fn net_terms(&self) -> u32 {
        let days = |of: &Carried| of.get("net_terms").and_then(|text| text.parse().ok());
        days(self.subscription).or_else(|| days(self.plan)).unwrap_or_default()
    }

    /// Tells whether an invoice is issued by itself: as the subscription says, else the customer.
    pub(crate) fn auto_issuance(&self) -> bool {
        let says = |of: &Carried| of.get("auto_issuance").and_then(|text| text.parse().ok());
        says(self.subscription).or_else(|| says(self.customer)).unwrap_or(true)
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

    /// Returns the instant by which an invoice is to be paid: midnight, so many days behind its date.
    pub(crate) fn due_date(&self, invoice: &Invoice) -> Timestamp {
        if let Some(date) = invoice.custom_due_date {
            return date;
        }
        let days = invoice.net_terms.unwrap_or_else(|| self.net_terms());
        self.timezone.midnight_after(invoice.invoice_date, days)
    }
}
