use serde::{Deserialize, Serialize};

use crate::{
    AlertId, BackfillId, CreditBlockId, EventKey, LedgerEntryId, SubscriptionId, Timestamp,
};

/// What made an alert fire, with its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// A usage event.
    Event {
        /// Its key.
        idempotency_key: EventKey,
        /// Its instant.
        timestamp: Timestamp,
    },
    /// A backfill that was reflected or reverted.
    Backfill {
        /// The backfill.
        backfill_id: BackfillId,
    },
    /// The alert was created, enabled, or given other thresholds.
    Configuration {
        /// The alert.
        alert_id: AlertId,
    },
    /// A billing period began or ended, or the quantity of a fee changed, and fees or a minimum fell
    /// due.
    Period {
        /// When.
        timestamp: Timestamp,
    },
    /// The subscription was created over usage that there was already, its end was moved or taken
    /// back, the quantity of a fee changed at once, or, in a preview, it has another price.
    Subscription {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// An entry that a caller added to a ledger of credits.
    Credit {
        /// The entry.
        entry_id: LedgerEntryId,
    },
    /// A block of credits expired.
    Expiry {
        /// The block.
        block_id: CreditBlockId,
    },
}
