//! Invoices that were paid before they are issued (invoicing 12.3).

use serde::{Deserialize, Serialize};

use super::{
    BalanceAction, BalanceTransaction, Invoice, InvoiceStatus, Movement, Payment, life::Issue,
};
use crate::{Currency, Decimal, Description};

/// Payment of an invoice that is yet to be issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prepayment {
    pub(crate) payment: Payment,
    /// Whether the money was given to the balance of the customer, which then owes what the invoice comes to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_of_balance: bool,
}

impl Movement {
    /// Moves a balance by money that was collected elsewhere.
    pub(crate) const fn external(
        by: Decimal,
        currency: Currency,
        description: Option<Description>,
    ) -> Self {
        let action = BalanceAction::ExternalPayment;
        Self { by, currency, action, description, invoice_id: None, credit_note_id: None }
    }
}

impl Invoice {
    /// Issues it as paid: no provider takes it, and the balance of the customer does not pay for it.
    pub(super) fn issue_prepaid(
        &mut self,
        issue: Issue<'_>,
        prepaid: &Prepayment,
    ) -> Vec<BalanceTransaction> {
        let Issue { at, .. } = issue;
        self.payment_received_at = Some(prepaid.payment.received_at);
        (self.status, self.is_marked_as_paid) = (InvoiceStatus::Paid, true);
        (self.paid_at, self.sync_from) = (Some(at), None);
        if !prepaid.is_of_balance || self.total.is_zero() {
            return Vec::new();
        }
        let movement = self.movement(-&self.total, BalanceAction::ExternalPayment);
        let Issue { customer, receivables, transaction_ids, .. } = issue;
        let transaction = receivables.book(customer, transaction_ids(), movement, at);
        self.balance_transactions.push(transaction.clone());
        vec![transaction]
    }
}
