use std::ops::Deref;

use smallvec::SmallVec;

use super::{Owner, Slot};
use crate::{
    AccountId, CustomerId, PlanId, PricingUnit, Timestamp,
    backfill::BackfillStatus,
    credit::{EntryKind, LedgerEntry},
    plan::PlanVersion,
    store::{Key, Table},
    subscription::{SubscriptionEntry, SubscriptionStatus},
    usage::{BucketSlot, MeterId, Minute, Window},
};

/// A key of no more bytes is put together without an allocation.
const USUAL_BYTES: usize = 128;

/// The bytes of a key, part by part.
#[derive(Default)]
pub(super) struct KeyBytes(SmallVec<[u8; USUAL_BYTES]>);

impl KeyBytes {
    pub(super) fn of(account: &AccountId) -> Self {
        Self::default().account(account)
    }

    pub(super) fn account(self, account: &AccountId) -> Self {
        self.bytes(account.as_str().as_bytes()).bytes(&[0])
    }

    /// Adds a part of a fixed length.
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a text, which must be the last part or be ended.
    pub(super) fn text(self, text: &impl Deref<Target = str>) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds an instant. None is before 1970, so that bytes and instants have one order.
    pub(super) fn instant(self, at: Timestamp) -> Self {
        self.bytes(&at.micros().to_be_bytes())
    }

    pub(super) fn listed(self, created_at: Timestamp, id: &[u8; 16]) -> Self {
        self.instant(created_at).bytes(id)
    }

    pub(super) fn subscription(self, of: &SubscriptionEntry) -> Self {
        self.listed(of.subscription.created_at, of.subscription.id.as_bytes())
    }

    pub(super) fn subscription_status(self, status: SubscriptionStatus) -> Self {
        self.bytes(match status {
            SubscriptionStatus::Upcoming => b"u",
            SubscriptionStatus::Active => b"a",
            SubscriptionStatus::Ended => b"e",
        })
    }

    pub(super) fn meter_of(self, customer: CustomerId, meter: MeterId) -> Self {
        self.bytes(customer.as_bytes()).bytes(meter.as_bytes())
    }

    pub(super) fn event_block(self, minute: Minute, number: u64) -> Self {
        self.instant(minute.start()).bytes(&number.to_be_bytes())
    }

    pub(super) fn window(self, window: Window, bucket_slot: BucketSlot) -> Self {
        self.instant(window.start()).bytes(&[bucket_slot.byte()])
    }

    /// Adds where a backfill stands. A byte is never used for another status.
    pub(super) fn backfill_status(self, status: BackfillStatus) -> Self {
        self.bytes(match status {
            BackfillStatus::Pending => b"p",
            BackfillStatus::Reflected => b"f",
            BackfillStatus::PendingRevert => b"q",
            BackfillStatus::Reverted => b"r",
        })
    }

    pub(super) fn plan_version(self, id: PlanId, version: PlanVersion) -> Self {
        self.bytes(id.as_bytes()).bytes(&version.number().to_be_bytes())
    }

    /// Adds whose ledger it is. A currency or pricing unit has no control character, and no zero byte.
    pub(super) fn ledger(self, customer: CustomerId, unit: &PricingUnit) -> Self {
        self.bytes(customer.as_bytes()).text(unit).bytes(&[0])
    }

    /// Adds when an entry was made, and its number in as many bytes as an id has.
    pub(super) fn entry(self, entry: &LedgerEntry) -> Self {
        self.bytes(&super::place_of(entry))
    }

    /// Adds what an entry is. A byte is never used for another kind.
    pub(super) fn kind(self, kind: EntryKind) -> Self {
        self.bytes(match kind {
            EntryKind::Increment => b"i",
            EntryKind::Decrement => b"d",
            EntryKind::ExpirationChange => b"c",
            EntryKind::CreditBlockExpiry => b"e",
            EntryKind::VoidInitiated => b"n",
            EntryKind::Void => b"v",
            EntryKind::Amendment => b"a",
        })
    }

    pub(super) fn owner(self, owner: Owner) -> Self {
        match owner {
            Owner::Customer(id) => self.bytes(b"c").bytes(id.as_bytes()),
            Owner::Plan(id, version) => self.bytes(b"p").plan_version(id, version),
            Owner::Backfill(id) => self.bytes(b"b").bytes(id.as_bytes()),
            Owner::Metrics => self.bytes(b"m"),
        }
    }

    pub(super) fn slot<T>(self, table: Table) -> Slot<T> {
        Slot::new(Key::new(table, &*self.0))
    }

    pub(super) fn into_vec(self) -> Vec<u8> {
        self.0.into_vec()
    }
}
