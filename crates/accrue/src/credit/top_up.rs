//! Top-ups: credits that are bought whenever a balance has fallen to a threshold (invoicing 13.4).

use serde::{Deserialize, Serialize};

use super::{InvoiceSettings, LedgerChange, NewBlock, NewLedgerEntry, purchase::PaymentTerms};
use crate::{
    CreditBlockId, CustomerId, Decimal, Description, Error, ItemId, Metadata, PricingUnit,
    Timestamp, TopUpId, WrittenDecimal, Zone, limits,
};

/// A top-up: it buys credits whenever the balance of a ledger has fallen to a threshold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TopUp {
    /// Its id.
    pub id: TopUpId,
    /// Customer whose balance it watches.
    pub customer_id: CustomerId,
    /// Currency or pricing unit of the ledger.
    pub currency: PricingUnit,
    /// Balance at or below which it buys.
    pub threshold: Decimal,
    /// Credits that it buys at once.
    pub amount: Decimal,
    /// Price of a credit, in the currency of the customer: nothing is invoiced where it is zero.
    pub per_unit_cost_basis: WrittenDecimal,
    /// How its invoices are made.
    pub invoice: TopUpInvoice,
    /// When what it has bought expires, if ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after: Option<TopUpExpiry>,
    /// Instant from which it buys.
    pub active_from: Timestamp,
    /// Instant of its creation.
    pub created_at: Timestamp,
}

/// A top-up to create.
///
/// ```
/// use accrue::{PricingUnit, credit::{NewTopUp, TopUpInvoice}};
///
/// let invoice = TopUpInvoice { net_terms: 30, ..TopUpInvoice::default() };
/// let new = NewTopUp::new(PricingUnit::parse("credits")?, 5, 50, "1.00".parse()?, invoice);
/// assert_eq!(new.active_from, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewTopUp {
    /// Currency or pricing unit of the ledger.
    pub currency: PricingUnit,
    /// Balance at or below which it buys, zero or above.
    pub threshold: Decimal,
    /// Credits that it buys at once, above zero.
    pub amount: Decimal,
    /// Price of a credit, zero or above.
    pub per_unit_cost_basis: WrittenDecimal,
    /// How its invoices are made.
    pub invoice: TopUpInvoice,
    /// When what it buys expires, if ever.
    pub expires_after: Option<TopUpExpiry>,
    /// Instant from which it buys, at most ten days ago: now where there is none.
    pub active_from: Option<Timestamp>,
}

/// How the invoices of a top-up are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUpInvoice {
    /// Whether they are collected without a request.
    pub auto_collection: bool,
    /// Days that the customer has to pay.
    pub net_terms: u32,
    /// Text for the customer.
    pub memo: Option<Description>,
    /// Whether usage draws on what was bought only once it is paid.
    pub require_successful_payment: bool,
}

/// How long after it was bought a block expires: at midnight in the zone of the customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUpExpiry {
    /// Count of the units, above zero.
    pub after: u32,
    /// Unit of time.
    pub unit: ExpiryUnit,
}

/// Unit of the time after which credits expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExpiryUnit {
    /// Days of the customer's zone.
    Day,
    /// Months, by the calendar.
    Month,
}

/// A top-up, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopUpState {
    pub(crate) top_up: TopUp,
    /// Item of the lines of its invoices.
    pub(crate) item_id: ItemId,
    /// When it was deleted, replaced, or an invoice of it became void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deactivated_at: Option<Timestamp>,
    /// Block that waits for its payment: nothing is bought before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) awaits: Option<CreditBlockId>,
    /// Whether the balance was still at or below the threshold when as much was bought as one commit may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_more: bool,
}

impl NewTopUp {
    /// Creates a top-up that buys from now on what does not expire.
    #[must_use]
    pub fn new(
        currency: PricingUnit,
        threshold: impl Into<Decimal>,
        amount: impl Into<Decimal>,
        per_unit_cost_basis: WrittenDecimal,
        invoice: TopUpInvoice,
    ) -> Self {
        let (threshold, amount) = (threshold.into(), amount.into());
        let (expires_after, active_from) = (None, None);
        Self {
            currency,
            threshold,
            amount,
            per_unit_cost_basis,
            invoice,
            expires_after,
            active_from,
        }
    }

    /// Refuses what no top-up is made of.
    pub(crate) fn check(&self, now: Timestamp) -> Result<(), Error> {
        check_number("threshold", &self.threshold, Least::Zero)?;
        check_number("amount", &self.amount, Least::AboveZero)?;
        check_number("per_unit_cost_basis", self.per_unit_cost_basis.number(), Least::Zero)?;
        if let Some(currency) = self.currency.currency() {
            for (field, money) in [("threshold", &self.threshold), ("amount", &self.amount)] {
                if money.round(currency.places()) != *money {
                    let message = format!(
                        "found {money}, expected at most {} digits behind the point in {}",
                        currency.places(),
                        currency.code()
                    );
                    return Err(Error::invalid(field, message));
                }
            }
        }
        if self.expires_after.is_some_and(|of| of.after == 0) {
            return Err(Error::invalid("expires_after", "found 0, expected more than zero"));
        }
        let earliest = now.saturating_sub(limits::TOP_UP_BACK);
        match self.active_from {
            Some(from) if from < earliest => {
                let message = format!("found {from}, expected at most ten days ago, {earliest}");
                Err(Error::invalid("active_from", message))
            }
            _ => Ok(()),
        }
    }

    /// Makes the top-up.
    pub(crate) fn decide(self, id: TopUpId, customer_id: CustomerId, now: Timestamp) -> TopUp {
        TopUp {
            id,
            customer_id,
            currency: self.currency,
            threshold: self.threshold,
            amount: self.amount,
            per_unit_cost_basis: self.per_unit_cost_basis,
            invoice: self.invoice,
            expires_after: self.expires_after,
            active_from: self.active_from.unwrap_or(now),
            created_at: now,
        }
    }
}

impl TopUpState {
    pub(crate) const fn new(top_up: TopUp, item_id: ItemId) -> Self {
        Self { top_up, item_id, deactivated_at: None, awaits: None, has_more: false }
    }

    /// Tells whether it buys where a balance falls to its threshold.
    pub(crate) fn is_watching(&self, at: Timestamp) -> bool {
        self.deactivated_at.is_none() && self.awaits.is_none() && self.top_up.active_from <= at
    }

    /// Tells whether a balance is at or below the threshold.
    pub(crate) fn is_reached_by(&self, balance: &Decimal) -> bool {
        *balance <= self.top_up.threshold
    }

    /// Tells whether it may buy when a balance has fallen to one.
    pub(crate) fn may_buy(&self, balance: Option<&Decimal>, at: Timestamp) -> bool {
        let is_reached = balance.is_none_or(|balance| self.is_reached_by(balance));
        self.is_watching(at) && (self.has_more || is_reached)
    }

    /// Makes the entry that buys once, with an instant of its expiry in a zone.
    pub(crate) fn entry(&self, zone: &Zone, at: Timestamp) -> NewLedgerEntry {
        let TopUp { currency, amount, per_unit_cost_basis, invoice, expires_after, .. } =
            &self.top_up;
        let settings = InvoiceSettings {
            auto_collection: invoice.auto_collection,
            memo: invoice.memo.clone(),
            item_id: Some(self.item_id),
            require_successful_payment: invoice.require_successful_payment,
            ..InvoiceSettings::new(PaymentTerms::Days(invoice.net_terms))
        };
        let block = NewBlock {
            effective_date: Some(at),
            expiry_date: expires_after.map(|of| of.from(at, zone)),
            per_unit_cost_basis: Some(per_unit_cost_basis.clone()),
            invoice: Some(settings),
            ..NewBlock::new(amount.clone())
        };
        NewLedgerEntry {
            currency: currency.clone(),
            change: LedgerChange::Increment(block),
            description: None,
            metadata: Metadata::new(),
        }
    }
}

impl TopUpExpiry {
    fn from(self, at: Timestamp, zone: &Zone) -> Timestamp {
        match self.unit {
            ExpiryUnit::Day => zone.midnight_after(at, self.after),
            ExpiryUnit::Month => zone.begin_of_day_of(zone.after(at, 0, self.after)),
        }
    }
}

#[derive(Clone, Copy)]
enum Least {
    Zero,
    AboveZero,
}

fn check_number(field: &str, number: &Decimal, least: Least) -> Result<(), Error> {
    if !number.could_come_in() {
        return Err(Error::invalid(field, "the number has more digits than come in"));
    }
    let (is_enough, expected) = match least {
        Least::Zero => (!number.is_negative(), "zero or more"),
        Least::AboveZero => (*number > Decimal::zero(), "more than zero"),
    };
    if is_enough {
        return Ok(());
    }
    Err(Error::invalid(field, format!("found {number}, expected {expected}")))
}
