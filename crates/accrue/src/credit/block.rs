use serde::{Deserialize, Serialize};

use crate::{
    CreditBlockId, CustomerId, Decimal, InvoiceId, ItemId, Metadata, PriceId, PriceIntervalId,
    PricingUnit, SubscriptionId, Timestamp, TopUpId, WrittenDecimal,
    price::{CreditAllocation, PriceFilter},
};

/// A credit block (wire 4.4): credits that were given at once, and what is left of them.
///
/// Credits that are taken beyond the last block stand in a block of their own, the overdraft: its
/// balance is zero or below, and it has no dates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreditBlock {
    /// Its id.
    pub id: CreditBlockId,
    /// Currency or pricing unit that it is in.
    pub currency: PricingUnit,
    /// Balance: the credits that are left of it.
    pub balance: Decimal,
    /// Instant from which usage draws on it. `None` for an overdraft.
    pub effective_date: Option<Timestamp>,
    /// Instant at which the rest of it is lost, if ever.
    pub expiry_date: Option<Timestamp>,
    /// Cost basis: the amount that the customer paid for one of the credits.
    pub per_unit_cost_basis: Option<WrittenDecimal>,
    /// Amount that was given. `None` for an overdraft.
    pub maximum_initial_balance: Option<Decimal>,
    /// Filters of the prices that it pays for: those that pass all of them; every price where there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<PriceFilter>,
    /// The caller's own strings.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// Whether usage draws on it.
    #[serde(default, skip_serializing_if = "BlockStatus::is_active")]
    pub status: BlockStatus,
    /// Where the credits come from.
    #[serde(default, skip_serializing_if = "BlockSource::is_manual")]
    pub source: BlockSource,
    /// The allocation that gave it, where one did (subscriptions 9.3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Box<BlockAllocation>>,
}

/// The allocation that has given a credit block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlockAllocation {
    /// Subscription whose price it is.
    pub subscription_id: SubscriptionId,
    /// Price that gives the credits.
    pub price_id: PriceId,
    /// Interval of the subscription in which it does.
    pub price_interval_id: PriceIntervalId,
    /// Item that the price sells.
    pub item_id: ItemId,
    /// Instant at which the block was given: the begin of a period of the price.
    pub given_at: Timestamp,
    /// Instant at which it expires as long as the price is in force, if ever.
    pub expiry_date: Option<Timestamp>,
    /// What the price gives.
    pub terms: CreditAllocation,
}

/// Whether usage draws on a credit block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockStatus {
    /// It is part of the balance, and usage draws on it.
    #[default]
    Active,
    /// It waits for the invoice that bought it to be paid: it is no part of the balance (invoicing 13.2).
    PendingPayment,
}

/// Where the credits of a block come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockSource {
    /// An increment that somebody asked for.
    #[default]
    Manual,
    /// A top-up (invoicing 13.4).
    TopUp,
    /// An allocation of a subscription (subscriptions 9.3).
    Allocation,
}

impl BlockStatus {
    const fn is_active(&self) -> bool {
        matches!(self, Self::Active)
    }
}

impl BlockSource {
    const fn is_manual(&self) -> bool {
        matches!(self, Self::Manual)
    }
}

impl CreditBlock {
    /// Tells whether it is the overdraft: credits that were taken beyond the last block.
    #[must_use]
    pub const fn is_overdraft(&self) -> bool {
        self.maximum_initial_balance.is_none()
    }

    /// Tells whether it waits for a payment.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        matches!(self.status, BlockStatus::PendingPayment)
    }

    /// Tells whether what is left of it is lost at an instant.
    pub(crate) fn has_expired(&self, at: Timestamp) -> bool {
        self.expiry_date.is_some_and(|expiry| expiry <= at)
    }
}

/// A block, and what the engine keeps beside it in the same row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    pub(crate) block: CreditBlock,
    pub(crate) customer_id: CustomerId,
    /// The number of the entry that made it: of two blocks, the one with the lower number is older.
    pub(crate) number: u64,
    /// Amount that was taken from it and not given back: the most that can be.
    pub(crate) drawn: Decimal,
    /// Deletion, if it was deleted. Its entries still name it, and usage that drew from it
    /// remembers so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deletion: Option<Deletion>,
    /// How it was bought, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) purchase: Option<Purchase>,
}

/// How a block was bought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Purchase {
    /// The invoice for it.
    pub(crate) invoice_id: InvoiceId,
    /// The top-up that bought it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) top_up: Option<TopUpId>,
}

/// Where a new block comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) source: BlockSource,
    pub(crate) purchase: Option<Purchase>,
}

/// Deletion of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Deletion {
    pub(crate) at: Timestamp,
    /// Amounts drawn anew, block by block, instead of those that had been drawn from it, and not
    /// given back since.
    pub(crate) instead: Vec<(CreditBlockId, Decimal)>,
}

impl Block {
    /// Lists the blocks that were drawn from instead of this one.
    pub(crate) fn instead(&self) -> &[(CreditBlockId, Decimal)] {
        self.deletion.as_ref().map(|deletion| deletion.instead.as_slice()).unwrap_or_default()
    }

    /// Tells whether something is left of it: what is left is booked out when it expires.
    pub(crate) fn is_open(&self) -> bool {
        self.block.status.is_active() && self.block.balance > Decimal::zero()
    }
}
