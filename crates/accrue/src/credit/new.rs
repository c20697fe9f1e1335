use serde::Serialize;

use super::VoidReason;
use crate::{
    CreditBlockId, Decimal, Description, Error, Metadata, PricingUnit, Timestamp, metadata,
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
    /// The currency or pricing unit of the ledger. The first entry in one makes it.
    pub currency: PricingUnit,
    /// What it does.
    pub change: LedgerChange,
    /// The caller's own words.
    pub description: Option<Description>,
    /// The caller's own strings: of the entry, and of the block that an increment makes.
    pub metadata: Metadata,
}

/// What an entry that the caller adds does (wire 4.4). Amounts are above zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LedgerChange {
    /// Gives a new block. What was overdrawn is paid off with it first.
    Increment(NewBlock),
    /// Takes something, from the blocks that usage would draw on next. The balance may go below
    /// zero.
    Decrement {
        /// How much.
        amount: Decimal,
    },
    /// Gives what is left of a block, or a part of it, another expiry date: as a new block.
    ExpirationChange {
        /// When it expires from now on.
        target_expiry_date: Timestamp,
        /// How much; all that is left where nothing is given.
        amount: Option<Decimal>,
        /// The block; where none is given, the only one that has the expiry date.
        block_id: Option<CreditBlockId>,
        /// When the block expires; any where nothing is given.
        expiry_date: Option<Timestamp>,
    },
    /// Makes something of what is left of a block void.
    Void {
        /// How much.
        amount: Decimal,
        /// The block.
        block_id: CreditBlockId,
        /// Why.
        void_reason: Option<VoidReason>,
    },
    /// Gives something back to a block that was taken from it.
    Amendment {
        /// How much.
        amount: Decimal,
        /// The block.
        block_id: CreditBlockId,
    },
}

/// A block of credits to give (wire 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewBlock {
    /// How much.
    pub amount: Decimal,
    /// From when on usage draws on it; now where nothing is given.
    pub effective_date: Option<Timestamp>,
    /// When what is left of it is lost, if ever.
    pub expiry_date: Option<Timestamp>,
    /// What the customer paid for one of them: zero or more.
    pub per_unit_cost_basis: Option<Decimal>,
}

impl NewBlock {
    /// A block that usage can draw on from now on, and that never expires.
    #[must_use]
    pub const fn new(amount: Decimal) -> Self {
        Self { amount, effective_date: None, expiry_date: None, per_unit_cost_basis: None }
    }
}

impl LedgerChange {
    /// Returns the block that it names.
    pub(crate) const fn block_id(&self) -> Option<CreditBlockId> {
        match self {
            Self::ExpirationChange { block_id, .. } => *block_id,
            Self::Void { block_id, .. } | Self::Amendment { block_id, .. } => Some(*block_id),
            Self::Increment(_) | Self::Decrement { .. } => None,
        }
    }
}

impl NewLedgerEntry {
    /// An entry that does something.
    #[must_use]
    pub const fn new(currency: PricingUnit, change: LedgerChange) -> Self {
        Self { currency, change, description: None, metadata: Metadata::new() }
    }

    /// A block that usage can draw on from now on, and that never expires.
    #[must_use]
    pub const fn increment(currency: PricingUnit, amount: Decimal) -> Self {
        Self::new(currency, LedgerChange::Increment(NewBlock::new(amount)))
    }

    /// A block that usage can draw on from now on, until it expires.
    #[must_use]
    pub fn expiring(currency: PricingUnit, amount: Decimal, expiry_date: Timestamp) -> Self {
        let block = NewBlock { expiry_date: Some(expiry_date), ..NewBlock::new(amount) };
        Self::new(currency, LedgerChange::Increment(block))
    }

    /// Takes something.
    #[must_use]
    pub const fn decrement(currency: PricingUnit, amount: Decimal) -> Self {
        Self::new(currency, LedgerChange::Decrement { amount })
    }

    /// Makes something of what is left of a block void.
    #[must_use]
    pub const fn void(currency: PricingUnit, amount: Decimal, block_id: CreditBlockId) -> Self {
        Self::new(currency, LedgerChange::Void { amount, block_id, void_reason: None })
    }

    /// Gives something back to a block that was taken from it.
    #[must_use]
    pub const fn amendment(
        currency: PricingUnit,
        amount: Decimal,
        block_id: CreditBlockId,
    ) -> Self {
        Self::new(currency, LedgerChange::Amendment { amount, block_id })
    }

    /// Gives all that is left of a block another expiry date.
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

    /// Says what is wrong with it, whatever the ledger holds.
    pub(crate) fn check(&self) -> Result<(), Error> {
        metadata::check(&self.metadata)?;
        match &self.change {
            LedgerChange::Increment(NewBlock { amount, per_unit_cost_basis, .. }) => {
                check_amount(amount)?;
                per_unit_cost_basis.as_ref().map_or(Ok(()), check_cost_basis)
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
