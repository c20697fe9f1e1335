//! Transactions of a customer's balance on the wire (invoicing 12).

use accrue::{
    Decimal, Description, PricingUnit,
    invoice::{self, BalanceAction, BalanceDirection, NewBalanceTransaction},
};

use super::{
    amounts::Amount,
    dates::{Bounds, Date},
    pages::Limit,
};
use crate::shape::{Moment, choices, request, response};

request! {
    /// A transaction to make by hand.
    pub(crate) struct CreateBalanceTransaction {
        /// Amount, above zero.
        amount: Decimal,
        /// Direction: an increment is in the customer's favour.
        "type" direction: BalanceDirection,
        /// Description in the caller's own words.
        description: Option<Description>,
    }

    /// Filters and page of a list of transactions.
    pub(crate) struct BalanceTransactionListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Transactions made at this instant or later.
        "operation_time[gte]" operation_time_gte: Option<Date>,
        /// Transactions made after this instant.
        "operation_time[gt]" operation_time_gt: Option<Date>,
        /// Transactions made before this instant.
        "operation_time[lt]" operation_time_lt: Option<Date>,
        /// Transactions made at this instant or earlier.
        "operation_time[lte]" operation_time_lte: Option<Date>,
    }
}

response! {
    /// A transaction of a customer's balance.
    pub(crate) struct BalanceTransaction {
        /// Its id.
        id: String,
        /// Instant at which it was made.
        created_at: Moment,
        /// Amount, zero or above.
        amount: Amount,
        /// Direction: an increment is in the customer's favour.
        "type" direction: BalanceDirection,
        /// Action that made it.
        action: BalanceAction,
        /// Balance before it.
        starting_balance: Amount,
        /// Balance after it.
        ending_balance: Amount,
        /// Description in the caller's own words.
        description: Option<Description>,
        /// Invoice that it is of.
        invoice: Option<InvoiceTiny>,
        /// Credit note that it is of.
        credit_note: Option<CreditNoteTiny>,
    }

    /// A credit note by its id.
    pub(crate) struct CreditNoteTiny {
        /// Its id.
        id: String,
    }

    /// An invoice by its id.
    pub(crate) struct InvoiceTiny {
        /// Its id.
        id: String,
    }
}

choices! {
    BalanceDirection {
        "increment" => BalanceDirection::Increment,
        "decrement" => BalanceDirection::Decrement,
    }
    BalanceAction {
        "applied_to_invoice" => BalanceAction::AppliedToInvoice,
        "manual_adjustment" => BalanceAction::ManualAdjustment,
        "credit_note_applied" => BalanceAction::CreditNoteApplied,
        "credit_note_voided" => BalanceAction::CreditNoteVoided,
        "overpayment_refund" => BalanceAction::OverpaymentRefund,
        "return_from_voiding" => BalanceAction::ReturnFromVoiding,
        "small_invoice_carryover" => BalanceAction::SmallInvoiceCarryover,
        "external_payment" => BalanceAction::ExternalPayment,
    }
}

impl BalanceTransactionListQuery {
    /// Returns the bounds of the instants at which they were made.
    pub(crate) const fn made(&self) -> Bounds<'_> {
        Bounds {
            field: "operation_time",
            gte: &self.operation_time_gte,
            gt: &self.operation_time_gt,
            lt: &self.operation_time_lt,
            lte: &self.operation_time_lte,
        }
    }
}

impl From<CreateBalanceTransaction> for NewBalanceTransaction {
    fn from(new: CreateBalanceTransaction) -> Self {
        let CreateBalanceTransaction { amount, direction, description } = new;
        Self { amount, direction, description }
    }
}

impl From<&invoice::BalanceTransaction> for BalanceTransaction {
    fn from(of: &invoice::BalanceTransaction) -> Self {
        let unit = PricingUnit::from(of.currency);
        let amount = |amount| Amount::of(amount, &unit);
        Self {
            id: of.id.to_string(),
            created_at: of.created_at.into(),
            amount: amount(&of.amount),
            direction: of.direction,
            action: of.action,
            starting_balance: amount(&of.starting_balance),
            ending_balance: amount(&of.ending_balance),
            description: of.description.clone(),
            invoice: of.invoice_id.map(|id| InvoiceTiny { id: id.to_string() }),
            credit_note: of.credit_note_id.map(|id| CreditNoteTiny { id: id.to_string() }),
        }
    }
}
