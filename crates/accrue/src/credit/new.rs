use serde::Serialize;

use super::{InvoiceSettings, VoidReason};
use crate::{
    CreditBlockId, Decimal, Description, Error, Metadata, PricingUnit, Timestamp, WrittenDecimal,
    metadata,
    price::{PriceFilter, check_filters},
};

/// An entry to add to a customer's ledger (wire 4.4).
///
/// ```
/// use accrue::{Decimal, PricingUnit, credit::NewLedgerEntry};
///
/// let credits = PricingUnit::parse("credits")?;
/// let five = NewLedgerEntry::increment(credits, Decimal::from(5));
/// assert_eq!(five.description, None);
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewLedgerEntry {
    /// Currency or pricing unit of the ledger. The first entry in one creates the ledger.
    pub currency: PricingUnit,
    /// Change that it makes.
    pub change: LedgerChange,
    /// Description in the caller's own words.
    pub description: Option<Description>,
    /// The caller's own strings: of the entry, and of the block that an increment makes.
    pub metadata: Metadata,
}

/// Change that an entry of the caller makes (wire 4.4). Amounts are above zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LedgerChange {
    /// Grant of a new block, which first pays off the overdraft.
    Increment(NewBlock),
    /// Decrement: an amount is taken from the blocks that usage would draw on next. The balance may
    /// go below zero.
    Decrement {
        /// Amount to take.
        amount: Decimal,
    },
    /// Move of the rest of a block, or a part of it, to a new block with another expiry date.
    ExpirationChange {
        /// Instant at which the new block expires.
        target_expiry_date: Timestamp,
        /// Amount to move; all that is left where none is given.
        amount: Option<Decimal>,
        /// The block; where none is given, the only one that has the expiry date.
        block_id: Option<CreditBlockId>,
        /// Instant at which the block expires; any where none is given.
        expiry_date: Option<Timestamp>,
    },
    /// Void of an amount that is left of a block.
    Void {
        /// Amount to make void.
        amount: Decimal,
        /// The block.
        block_id: CreditBlockId,
        /// Reason of the void.
        void_reason: Option<VoidReason>,
    },
    /// Return of credits to the block from which they were taken.
    Amendment {
        /// Amount to return.
        amount: Decimal,
        /// The block.
        block_id: CreditBlockId,
    },
}

/// A credit block to give (wire 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewBlock {
    /// Amount to give.
    pub amount: Decimal,
    /// Instant from which usage draws on it; now where none is given.
    pub effective_date: Option<Timestamp>,
    /// Instant at which the rest of it is lost, if ever.
    pub expiry_date: Option<Timestamp>,
    /// Cost basis: the amount that the customer paid for one of the credits, zero or more.
    pub per_unit_cost_basis: Option<WrittenDecimal>,
    /// Filters of the prices that it pays for: those that pass all of them; every price where there are
    /// none. A block with filters is drawn on before those without, and pays no overdraft off.
    pub filters: Vec<PriceFilter>,
    /// How it is invoiced, where it is bought: what somebody else has billed has a price of its own and no
    /// settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoice: Option<InvoiceSettings>,
}

impl NewBlock {
    /// Creates a block that usage can draw on from now on, and that never expires.
    #[must_use]
    pub const fn new(amount: Decimal) -> Self {
        Self {
            amount,
            effective_date: None,
            expiry_date: None,
            per_unit_cost_basis: None,
            filters: Vec::new(),
            invoice: None,
        }
    }
}

impl LedgerChange {
    /// Returns the filters of the block that it gives.
    pub(crate) fn filters(&self) -> &[PriceFilter] {
        match self {
            Self::Increment(new) => &new.filters,
            _ => &[],
        }
    }

    /// Returns the id of the block that it names.
    pub(crate) const fn block_id(&self) -> Option<CreditBlockId> {
        match self {
            Self::ExpirationChange { block_id, .. } => *block_id,
            Self::Void { block_id, .. } | Self::Amendment { block_id, .. } => Some(*block_id),
            Self::Increment(_) | Self::Decrement { .. } => None,
        }
    }
}

impl NewLedgerEntry {
    /// Creates an entry that makes a change.
    #[must_use]
    pub const fn new(currency: PricingUnit, change: LedgerChange) -> Self {
        Self { currency, change, description: None, metadata: Metadata::new() }
    }

    /// Creates an entry that gives a block, which usage can draw on from now on, and which never
    /// expires.
    #[must_use]
    pub const fn increment(currency: PricingUnit, amount: Decimal) -> Self {
        Self::new(currency, LedgerChange::Increment(NewBlock::new(amount)))
    }

    /// Creates an entry that gives a block, which usage can draw on from now on, until it expires.
    #[must_use]
    pub fn expiring(currency: PricingUnit, amount: Decimal, expiry_date: Timestamp) -> Self {
        let block = NewBlock { expiry_date: Some(expiry_date), ..NewBlock::new(amount) };
        Self::new(currency, LedgerChange::Increment(block))
    }

    /// Creates an entry that takes an amount.
    #[must_use]
    pub const fn decrement(currency: PricingUnit, amount: Decimal) -> Self {
        Self::new(currency, LedgerChange::Decrement { amount })
    }

    /// Creates an entry that makes an amount that is left of a block void.
    #[must_use]
    pub const fn void(currency: PricingUnit, amount: Decimal, block_id: CreditBlockId) -> Self {
        Self::new(currency, LedgerChange::Void { amount, block_id, void_reason: None })
    }

    /// Creates an entry that returns an amount to the block from which it was taken.
    #[must_use]
    pub const fn amendment(
        currency: PricingUnit,
        amount: Decimal,
        block_id: CreditBlockId,
    ) -> Self {
        Self::new(currency, LedgerChange::Amendment { amount, block_id })
    }

    /// Creates an entry that gives all that is left of a block another expiry date.
    #[must_use]
    pub const fn expiration_change(
        currency: PricingUnit,
        block_id: CreditBlockId,
        target_expiry_date: Timestamp,
    ) -> Self {
        let (amount, block_id, expiry_date) = (None, Some(block_id), None);
        let change =
            LedgerChange::ExpirationChange { target_expiry_date, amount, block_id, expiry_date };
        Self::new(currency, change)
    }

    /// Checks it by itself, whatever the ledger holds.
    pub(crate) fn check(&self) -> Result<(), Error> {
        metadata::check(&self.metadata)?;
        match &self.change {
            LedgerChange::Increment(new) => {
                check_amount(&new.amount)?;
                check_filters("filters", &new.filters)?;
                let basis = new.per_unit_cost_basis.as_ref().map(WrittenDecimal::number);
                basis.map_or(Ok(()), check_cost_basis)?;
                new.invoice.as_ref().map_or(Ok(()), |settings| settings.check(basis))
            }
            LedgerChange::ExpirationChange { amount, .. } => {
                amount.as_ref().map_or(Ok(()), check_amount)
            }
            LedgerChange::Decrement { amount }
            | LedgerChange::Void { amount, .. }
            | LedgerChange::Amendment { amount, .. } => check_amount(amount),
        }
    }
}

fn check_amount(amount: &Decimal) -> Result<(), Error> {
    if !amount.could_come_in() {
        return Err(Error::invalid("amount", "the number has more digits than come in"));
    }
    if *amount > Decimal::zero() {
        return Ok(());
    }
    Err(Error::invalid("amount", format!("found {amount}, expected more than zero")))
}

fn check_cost_basis(basis: &Decimal) -> Result<(), Error> {
    let field = "per_unit_cost_basis";
    if !basis.could_come_in() {
        return Err(Error::invalid(field, "the number has more digits than come in"));
    }
    if *basis >= Decimal::zero() {
        return Ok(());
    }
    Err(Error::invalid(field, format!("found {basis}, expected zero or more")))
}
