use serde::{Deserialize, Serialize};

use super::Prepayment;
use crate::{
    BalanceTransactionId, CreditNoteId, Currency, CustomerId, Decimal, Description, Error,
    InvoiceId, Timestamp, customer::Customer,
};

/// Transaction of a customer's balance (invoicing 12.1).
///
/// A positive balance is the customer's, and pays for the next invoice; a negative one is added to that.
/// It is money in the currency of the customer, apart from prepaid credits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BalanceTransaction {
    /// Its id.
    pub id: BalanceTransactionId,
    /// Number among those of its customer: 1, 2, 3, …
    pub number: u64,
    /// Customer whose balance it moved.
    pub customer_id: CustomerId,
    /// Currency of its amounts.
    pub currency: Currency,
    /// Instant at which it was made.
    pub created_at: Timestamp,
    /// Amount, zero or above.
    pub amount: Decimal,
    /// Direction in which it moved the balance.
    pub direction: BalanceDirection,
    /// Action that made it.
    pub action: BalanceAction,
    /// Balance before it.
    pub starting_balance: Decimal,
    /// Balance after it.
    pub ending_balance: Decimal,
    /// Description in the caller's own words.
    pub description: Option<Description>,
    /// Invoice that it is of, if it is.
    pub invoice_id: Option<InvoiceId>,
    /// Credit note that it is of, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit_note_id: Option<CreditNoteId>,
}

/// Direction in which a balance moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BalanceDirection {
    /// In the customer's favour.
    Increment,
    /// To the customer's debit.
    Decrement,
}

/// Action that moves a balance (invoicing 12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BalanceAction {
    /// An invoice was issued.
    AppliedToInvoice,
    /// The caller moved it.
    ManualAdjustment,
    /// A credit note was made.
    CreditNoteApplied,
    /// A credit note was made void.
    CreditNoteVoided,
    /// Money came for an invoice of which nothing was left to pay.
    OverpaymentRefund,
    /// An invoice was made void.
    ReturnFromVoiding,
    /// An invoice came to less than can be charged.
    SmallInvoiceCarryover,
    /// Money was collected elsewhere for a change of a subscription (invoicing 12.3).
    ExternalPayment,
}

/// Transaction to make by hand (invoicing 12.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewBalanceTransaction {
    /// Amount, above zero, with no more digits than the minor unit of the currency.
    pub amount: Decimal,
    /// Direction in which it moves the balance.
    pub direction: BalanceDirection,
    /// Description in the caller's own words.
    pub description: Option<Description>,
}

/// How many invoices a customer was given, and how often its balance has moved: their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receivables {
    /// Letters that the numbers of its invoices begin with.
    pub(crate) prefix: String,
    /// Number of invoices that were issued.
    pub(crate) invoices: u64,
    /// Number of credit notes that were made.
    #[serde(default)]
    pub(crate) credit_notes: u64,
    /// Number of transactions that have moved the balance.
    pub(crate) transactions: u64,
    /// Instant of the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) latest: Option<Timestamp>,
    /// Payment of what a change of a subscription issues, while that is applied: no row that is stored has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prepaid: Option<Prepayment>,
}

/// A move of a balance: what a transaction says beside its place.
#[derive(Clone, Debug)]
pub(crate) struct Movement {
    pub(crate) by: Decimal,
    pub(crate) currency: Currency,
    pub(crate) action: BalanceAction,
    pub(crate) description: Option<Description>,
    pub(crate) invoice_id: Option<InvoiceId>,
    pub(crate) credit_note_id: Option<CreditNoteId>,
}

impl BalanceDirection {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Increment => "increment",
            Self::Decrement => "decrement",
        }
    }
}

impl BalanceAction {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AppliedToInvoice => "applied_to_invoice",
            Self::ManualAdjustment => "manual_adjustment",
            Self::CreditNoteApplied => "credit_note_applied",
            Self::CreditNoteVoided => "credit_note_voided",
            Self::OverpaymentRefund => "overpayment_refund",
            Self::ReturnFromVoiding => "return_from_voiding",
            Self::SmallInvoiceCarryover => "small_invoice_carryover",
            Self::ExternalPayment => "external_payment",
        }
    }
}

impl NewBalanceTransaction {
    pub(crate) fn decide(self, currency: Currency) -> Result<Movement, Error> {
        check_money("amount", &self.amount, currency)?;
        if self.amount <= Decimal::zero() {
            let message = format!("found {}, expected an amount above 0", self.amount);
            return Err(Error::invalid("amount", message));
        }
        let by = match self.direction {
            BalanceDirection::Increment => self.amount,
            BalanceDirection::Decrement => -self.amount,
        };
        let (action, description) = (BalanceAction::ManualAdjustment, self.description);
        Ok(Movement { by, currency, action, description, invoice_id: None, credit_note_id: None })
    }
}

impl Receivables {
    /// Creates those of a customer that has none.
    pub(crate) fn new(random: [u8; 6]) -> Self {
        let letter = |byte: u8| char::from(b'A'.saturating_add(byte % 26));
        let prefix = random.into_iter().map(letter).collect();
        Self { prefix, invoices: 0, credit_notes: 0, transactions: 0, latest: None, prepaid: None }
    }

    /// Returns the number that drafts show.
    pub(crate) fn draft_number(&self) -> String {
        format!("{}-DRAFT", self.prefix)
    }

    /// Takes the next number of an invoice.
    pub(crate) fn next_number(&mut self) -> String {
        self.invoices = self.invoices.saturating_add(1);
        format!("{}-{:05}", self.prefix, self.invoices)
    }

    /// Takes the next number of a credit note.
    pub(crate) fn next_note_number(&mut self) -> String {
        self.credit_notes = self.credit_notes.saturating_add(1);
        format!("{}-CN-{:05}", self.prefix, self.credit_notes)
    }

    /// Moves the balance of a customer.
    pub(crate) fn book(
        &mut self,
        customer: &mut Customer,
        id: BalanceTransactionId,
        movement: Movement,
        at: Timestamp,
    ) -> BalanceTransaction {
        let Movement { by, currency, action, description, invoice_id, credit_note_id } = movement;
        let starting_balance = customer.balance.clone();
        customer.balance += &by;
        self.transactions = self.transactions.saturating_add(1);
        // Never before the one before it: who began earlier and lost a race comes behind.
        let at = self.latest.map_or(at, |latest| at.max(latest));
        self.latest = Some(at);
        let (direction, amount) = match by.is_negative() {
            true => (BalanceDirection::Decrement, -by),
            false => (BalanceDirection::Increment, by),
        };
        BalanceTransaction {
            id,
            number: self.transactions,
            customer_id: customer.id,
            currency,
            created_at: at,
            amount,
            direction,
            action,
            starting_balance,
            ending_balance: customer.balance.clone(),
            description,
            invoice_id,
            credit_note_id,
        }
    }
}

/// Refuses an amount of money that comes in with more digits than its currency has (invoicing 1).
pub(super) fn check_money(field: &str, amount: &Decimal, currency: Currency) -> Result<(), Error> {
    amount.check_bounds().map_err(|error| Error::invalid(field, error.to_string()))?;
    let (places, code) = (currency.places(), currency.code());
    if amount.round(places) != *amount {
        let message =
            format!("found {amount}, expected at most {places} digits behind the point in {code}");
        return Err(Error::invalid(field, message));
    }
    Ok(())
}
