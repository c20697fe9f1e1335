use smallvec::SmallVec;

use super::{Owner, Slot};
use crate::{
    AccountId, AdjustmentId, AlertId, ApiKeyId, AuditEntryId, BackfillId, CouponId, CreditBlockId,
    CreditNoteId, CustomerId, DimensionalPriceGroupId, Error, EventKey, ExternalId, IdempotencyKey,
    InvitationId, InvoiceId, ItemId, LicenseId, LicenseTypeId, MessageId, MetricId, MigrationId,
    PersonId, PlanId, PriceId, PricingUnit, RedemptionCode, SessionId, SubscriptionChangeId,
    SubscriptionId, Timeframe, Timestamp, TopUpId, WebhookEndpointId,
    backfill::BackfillStatus,
    coupon::CouponStatus,
    credit::EntryKind,
    invoice::InvoiceStatus,
    meter::{CellHash, CellId, MeterId},
    plan::PlanVersion,
    store::{Key, Scan, Table},
    subscription::{ChangeStatus, SubscriptionStatus},
    usage::{BucketSlot, Digest, Stretch},
    webhook::{PayloadStyle, Queue},
};

/// A key of no more bytes is put together without an allocation.
const USUAL_BYTES: usize = 128;

/// The bytes of a key, or the first of it, part by part.
#[derive(Default)]
pub(super) struct KeyBytes(SmallVec<[u8; USUAL_BYTES]>);

impl KeyBytes {
    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn slot<T, G>(self, table: Table) -> Slot<T, G> {
        Slot::new(Key::new(table, &*self.0))
    }

    /// All rows that begin so.
    pub(super) fn scan(self, table: Table, limit: usize) -> Scan {
        Scan::prefix(table, &self.0, limit)
    }

    /// Of the rows that begin so, those whose next part is an instant of a timeframe.
    pub(super) fn range(&self, table: Table, within: Timeframe, limit: usize) -> Scan {
        let [from, until] =
            [within.start(), within.end()].map(|at| self.then(&at.micros().to_be_bytes()));
        Scan::range(table, &from, &until, limit)
    }

    pub(super) fn then(&self, bytes: &[u8]) -> Vec<u8> {
        [&self.0, bytes].concat()
    }
}

/// What keys consist of.
pub(super) trait Part {
    fn add_to(&self, key: &mut KeyBytes);
}

impl<T: Part + ?Sized> Part for &T {
    fn add_to(&self, key: &mut KeyBytes) {
        T::add_to(self, key);
    }
}

/// Says which bytes a part has.
macro_rules! parts {
    ($($($type:ty),*: |$part:ident| $bytes:expr;)*) => {$($(
        impl Part for $type {
            #[inline]
            fn add_to(&self, key: &mut KeyBytes) {
                let $part = self;
                key.push($bytes);
            }
        }
    )*)*};
}

parts! {
    AdjustmentId, AlertId, ApiKeyId, BackfillId, CouponId, CreditBlockId, CreditNoteId, CustomerId, InvoiceId,
    DimensionalPriceGroupId,
    ItemId, CellId, MetricId, MigrationId, PlanId, PriceId, Queue, MeterId, CellHash, MessageId, SubscriptionChangeId, SubscriptionId, TopUpId, WebhookEndpointId, AuditEntryId, InvitationId, PersonId, LicenseId, LicenseTypeId,
    SessionId: |id| id.as_bytes();
    u16, u32, u64, u128: |number| &number.to_be_bytes();
    PlanVersion: |version| &version.number().to_be_bytes();
    BucketSlot: |slot| &[slot.byte()];
    // None is before 1970, so that bytes and instants have one order.
    Timestamp: |at| &at.micros().to_be_bytes();
    // What must be the last part.
    str, EventKey, ExternalId, IdempotencyKey: |text| text.as_bytes();
    // A byte is never used for something else.
    SubscriptionStatus: |status| match status {
        Self::Upcoming => b"u",
        Self::Active => b"a",
        Self::Ended => b"e",
    };
    ChangeStatus: |status| match status {
        Self::Pending => b"p",
        Self::Applied => b"a",
        Self::Cancelled => b"c",
    };
    CouponStatus: |status| match status {
        Self::Active => b"a",
        Self::Archived => b"x",
    };
    InvoiceStatus: |status| match status {
        Self::Draft => b"d",
        Self::Issued => b"i",
        Self::Paid => b"p",
        Self::Synced => b"s",
        Self::Void => b"v",
    };
    BackfillStatus: |status| match status {
        Self::Pending => b"p",
        Self::Reflected => b"f",
        Self::PendingRevert => b"q",
        Self::Reverted => b"r",
    };
    PayloadStyle: |style| match style {
        Self::Expanded => b"e",
        Self::Standard => b"s",
    };
    EntryKind: |kind| match kind {
        Self::Increment => b"i",
        Self::Decrement => b"d",
        Self::ExpirationChange => b"c",
        Self::CreditBlockExpiry => b"e",
        Self::VoidInitiated => b"n",
        Self::Void => b"v",
        Self::Amendment => b"a",
    };
}

impl Part for AccountId {
    #[inline]
    fn add_to(&self, key: &mut KeyBytes) {
        key.push(self.as_str().as_bytes());
        key.push(&[0]);
    }
}

/// Reads the account that a key begins with.
pub(crate) fn account_of(key: &Key) -> Result<AccountId, Error> {
    let end = key.bytes().iter().position(|byte| *byte == 0);
    let bytes = end.and_then(|end| key.bytes().get(..end));
    let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let account = text.and_then(|text| AccountId::parse(text).ok());
    account.ok_or_else(|| Error::corrupt(format!("the key {key} begins with no account")))
}

/// Returns bytes that lie behind all keys that begin with an account, and before those of the next one: an
/// account has no control character.
pub(crate) fn behind_account(account: &AccountId) -> Vec<u8> {
    [account.as_str().as_bytes(), &[1]].concat()
}

/// It has no control character, and no zero byte: what ends it.
impl Part for PricingUnit {
    fn add_to(&self, key: &mut KeyBytes) {
        (self.as_str(), [0]).add_to(key);
    }
}

/// The same.
impl Part for RedemptionCode {
    fn add_to(&self, key: &mut KeyBytes) {
        (self.as_str(), [0]).add_to(key);
    }
}

impl<const N: usize> Part for [u8; N] {
    fn add_to(&self, key: &mut KeyBytes) {
        key.push(self);
    }
}

impl<const MINUTES: i64> Part for Stretch<MINUTES> {
    fn add_to(&self, key: &mut KeyBytes) {
        self.start().add_to(key);
    }
}

impl Part for Owner {
    fn add_to(&self, key: &mut KeyBytes) {
        match self {
            Self::Customer(id) => (b"c", id).add_to(key),
            Self::Plan(id, version) => (b"p", (id, version)).add_to(key),
            Self::Alerts => b"a".add_to(key),
            Self::Backfill(id) => (b"b", id).add_to(key),
            Self::Metrics => b"m".add_to(key),
            Self::DueDates => b"d".add_to(key),
            Self::Migration(id) => (b"g", id).add_to(key),
            Self::SubscriptionChange(id) => (b"s", id).add_to(key),
        }
    }
}

impl<A: Part, B: Part> Part for (A, B) {
    fn add_to(&self, key: &mut KeyBytes) {
        self.0.add_to(key);
        self.1.add_to(key);
    }
}

/// Reads parts of a key of a table: all of it is read, so that no other layout passes for its own.
pub(super) fn read_key<T>(
    key: &Key,
    table: Table,
    read: impl FnOnce(&mut &[u8]) -> Option<T>,
) -> Result<T, Error> {
    let mut rest = key.bytes();
    let read = if key.table() == table { read(&mut rest) } else { None };
    let read = read.filter(|_| rest.is_empty());
    read.ok_or_else(|| Error::corrupt(format!("the key {key} is none of table {table}")))
}

/// A part that is read back from keys.
pub(super) trait ReadPart {
    type Read;

    /// Takes it from the front.
    fn read(rest: &mut &[u8]) -> Option<Self::Read>;
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    rest.split_off(..N)?.first_chunk().copied()
}

/// Says what is read, and how.
macro_rules! read_parts {
    ($($(#[$doc:meta])* $type:ty => $read:ty: |$rest:ident| $value:expr;)*) => {$(
        impl ReadPart for $type {
            $(#[$doc])*
            type Read = $read;

            fn read($rest: &mut &[u8]) -> Option<$read> {
                $value
            }
        }
    )*};
}

read_parts! {
    /// Whoever reads a key knows it.
    &AccountId => (): |rest| {
        let end = rest.iter().position(|byte| *byte == 0)?;
        rest.split_off(..=end).map(|_| ())
    };
    BackfillId => Self: |rest| take(rest).map(Self::from_bytes);
    CustomerId => Self: |rest| take(rest).map(Self::from_bytes);
    InvoiceId => Self: |rest| take(rest).map(Self::from_bytes);
    PersonId => Self: |rest| take(rest).map(Self::from_bytes);
    SessionId => Self: |rest| take(rest).map(Self::from_bytes);
    InvitationId => Self: |rest| take(rest).map(Self::from_bytes);
    Timestamp => Self: |rest| Self::from_micros(i64::from_be_bytes(take(rest)?)).ok();
    TopUpId => Self: |rest| take(rest).map(Self::from_bytes);
    /// The id of a metric or of a cell: the bytes do not tell which.
    CellId => [u8; 16]: |rest| take(rest);
    &Digest => Digest: |rest| take(rest);
    u64 => Self: |rest| take(rest).map(Self::from_be_bytes);
    BucketSlot => Self: |rest| {
        let [byte] = take(rest)?;
        [Self::A, Self::B].into_iter().find(|slot| slot.byte() == byte)
    };
}

impl<const MINUTES: i64> ReadPart for Stretch<MINUTES> {
    type Read = Self;

    fn read(rest: &mut &[u8]) -> Option<Self> {
        let at = Timestamp::from_micros(i64::from_be_bytes(take(rest)?));
        at.ok().map(Self::of)
    }
}
