use serde::{Deserialize, Serialize};

use crate::{
    AlertId, BackfillId, CreditBlockId, EventKey, LedgerEntryId, SubscriptionId, Timestamp,
};

/// Cause that made an alert fire, with its id.
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
    /// A change to the alert: it was created, enabled, or given other thresholds.
    Configuration {
        /// The alert.
        alert_id: AlertId,
    },
    /// The start or end of a billing period, or another quantity of a fee, at which fees or a
    /// minimum fell due.
    Period {
        /// Its instant.
        timestamp: Timestamp,
    },
    /// A change to the subscription: it was created over existing usage, its end was moved or taken
    /// back, the quantity of a fee changed at once, or, in a preview, it has another price.
    Subscription {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// An entry that a caller added to a credit ledger.
    Credit {
        /// The entry.
        entry_id: LedgerEntryId,
    },
    /// The expiry of a credit block.
    Expiry {
        /// The block.
        block_id: CreditBlockId,
    },
}
