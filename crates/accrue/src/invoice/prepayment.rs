//! What was paid for a change elsewhere, and invoices that were paid before they are issued (invoicing 12.3).

use serde::{Deserialize, Serialize};

use super::{
    BalanceAction, BalanceTransaction, Invoice, InvoiceStatus, Movement, Payment,
    balance::check_money, life::Issue,
};
use crate::{Currency, Decimal, Description, Error};

/// What was paid elsewhere for a change of a subscription that is applied (subscriptions 4.6).
///
/// ```
/// use accrue::{Decimal, Timestamp, invoice::{PaidElsewhere, Payment}};
///
/// let mut at_the_till = PaidElsewhere::default();
/// at_the_till.collected = Some(Decimal::parse("120.00")?);
/// at_the_till.paid = Some(Payment::new(Timestamp::parse("2026-03-01T00:00:00Z")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PaidElsewhere {
    /// Amount that was collected before, zero or more and with no more digits than the minor unit of the currency: it
    /// goes to the customer's balance, less what its invoices come to where these are paid.
    pub collected: Option<Decimal>,
    /// Payment of the invoices of fees in advance that the change makes: they are issued as paid, and the balance does
    /// not pay for them.
    pub paid: Option<Payment>,
    /// Description of the transaction of the balance.
    pub description: Option<Description>,
}

/// Payment of an invoice that is yet to be issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prepayment {
    pub(crate) payment: Payment,
    /// Whether the money was given to the balance of the customer, which then owes what the invoice comes to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_of_balance: bool,
}

impl PaidElsewhere {
    /// Says everything that is wrong with it, whatever it is of.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.collected.as_ref().filter(|amount| amount.is_negative()) {
            Some(amount) => {
                let message = format!("found {amount}, expected an amount from 0 on");
                Err(Error::invalid("previously_collected_amount", message))
            }
            None => Ok(()),
        }
    }

    /// Returns the amount that was collected, where it is above zero.
    pub(crate) fn collected(&self) -> Option<&Decimal> {
        self.collected.as_ref().filter(|amount| !amount.is_zero())
    }

    /// Returns the move of a balance by the amount, less what was paid of it.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where it has more digits than the currency.
    pub(crate) fn movement(
        &self,
        paid: &Decimal,
        currency: Currency,
    ) -> Result<Option<Movement>, Error> {
        let Some(collected) = self.collected() else { return Ok(None) };
        check_money("previously_collected_amount", collected, currency)?;
        let by = collected - paid;
        let moves = !by.is_zero();
        Ok(moves.then(|| Movement::external(by, currency, self.description.clone())))
    }
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
