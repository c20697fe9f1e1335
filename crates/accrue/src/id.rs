//! Identifiers: one newtype for each kind of thing that has one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::{Entropy, Timestamp, text::ExternalId};

/// Declares id newtypes.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        ///
        /// 48 bits of milliseconds and random bits behind them, in the form of a version 7 UUID. Ids
        /// are unique; their order means nothing.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            #[allow(dead_code, reason = "not every kind of id is made by the engine")]
            pub(crate) fn generate(now: Timestamp, entropy: &dyn Entropy) -> Self {
                Self(generate(now, entropy))
            }

            /// Creates the id of what is known by other names already: the same names, the same id.
            #[allow(dead_code, reason = "most kinds of id are drawn")]
            pub(crate) fn derived(at: Timestamp, names: &[&[u8]]) -> Self {
                Self(derived(at, names))
            }

            /// Creates the id of a part of what has an id: it begins with as much of that as finds it again.
            #[allow(dead_code, reason = "most kinds of id are no part of another")]
            pub(crate) fn part_of(whole: &[u8; 16], names: &[&[u8]]) -> Self {
                Self(part_of(whole, names))
            }

            #[allow(dead_code, reason = "not every kind of id is part of a key")]
            pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            #[allow(dead_code, reason = "not every kind of id is read from a key")]
            pub(crate) const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text).map(Self)
            }
        }
    )*};
}

ids! {
    /// Id of an alert.
    AlertId,
    /// Id of an API key.
    ApiKeyId,
    /// Id of an entry of the audit log.
    AuditEntryId,
    /// Id of a backfill.
    BackfillId,
    /// Id of a coupon.
    CouponId,
    /// Id of a credit note.
    CreditNoteId,
    /// Id of a line of a credit note.
    CreditNoteLineId,
    /// Id of a credit block.
    CreditBlockId,
    /// Id of a customer.
    CustomerId,
    /// Id of a transaction of a customer's balance.
    BalanceTransactionId,
    /// Id of a dimensional price group.
    DimensionalPriceGroupId,
    /// Id of an invitation of a person.
    InvitationId,
    /// Id of an invoice.
    InvoiceId,
    /// Id of a line of an invoice.
    InvoiceLineId,
    /// Id of an item.
    ItemId,
    /// Id of an entry of a credit ledger.
    LedgerEntryId,
    /// Id of a license.
    LicenseId,
    /// Id of a license type.
    LicenseTypeId,
    /// Id of an attempt to deliver a message to an endpoint.
    DeliveryAttemptId,
    /// Id of a webhook message.
    MessageId,
    /// Id of a metric.
    MetricId,
    /// Id of a migration of a plan's subscriptions.
    MigrationId,
    /// Id of an attempt to collect an invoice.
    PaymentAttemptId,
    /// Id of a payment method.
    PaymentMethodId,
    /// Id of a person.
    PersonId,
    /// Id of a plan.
    PlanId,
    /// Id of a phase of a plan.
    PlanPhaseId,
    /// Id of a session in the portal.
    PortalSessionId,
    /// Id of a price.
    PriceId,
    /// Id of an adjustment of a plan or a subscription.
    AdjustmentId,
    /// Id of an adjustment interval: an adjustment while it is in force for a subscription.
    AdjustmentIntervalId,
    /// Id of a price interval: a price while it is in force for a subscription.
    PriceIntervalId,
    /// Id of a session of a person.
    SessionId,
    /// Id of a subscription.
    SubscriptionId,
    /// Id of a change of a subscription that waits to be applied, or did.
    SubscriptionChangeId,
    /// Id of a top-up.
    TopUpId,
    /// Id of an endpoint that messages are sent to.
    WebhookEndpointId,
}

fn generate(now: Timestamp, entropy: &dyn Entropy) -> Uuid {
    let mut random = [0; 10];
    entropy.fill(&mut random);
    at(now, &random)
}

/// Bytes that the id of a part has in common with that of the whole.
pub(crate) const OF_THE_WHOLE: usize = 10;

fn part_of(whole: &[u8; 16], names: &[&[u8]]) -> Uuid {
    let mut bytes = *whole;
    let rest = bytes.iter_mut().skip(OF_THE_WHOLE);
    rest.zip(digest(names)).for_each(|(byte, found)| *byte = found);
    Uuid::from_bytes(bytes)
}

fn derived(now: Timestamp, names: &[&[u8]]) -> Uuid {
    let mut bytes = [0; 10];
    bytes.iter_mut().zip(digest(names)).for_each(|(byte, found)| *byte = found);
    at(now, &bytes)
}

pub(crate) fn digest(names: &[&[u8]]) -> [u8; 32] {
    let mut sha = Sha256::new();
    for name in names {
        sha.update(u64::try_from(name.len()).unwrap_or(u64::MAX).to_be_bytes());
        sha.update(name);
    }
    sha.finalize().into()
}

fn at(now: Timestamp, random: &[u8; 10]) -> Uuid {
    let millis = u64::try_from(now.micros() / 1_000).unwrap_or(0);
    Builder::from_unix_timestamp_millis(millis, random).into_uuid()
}

/// Reads the one form that ids are written in: 36 characters, lower case, with hyphens.
fn parse(text: &str) -> Result<Uuid, IdError> {
    let canonical = text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase());
    Uuid::try_parse(text).ok().filter(|_| canonical).ok_or(IdError)
}

/// Error for a text that is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
#[non_exhaustive]
pub struct IdError;

/// Id, or the caller's external alias for it.
///
/// ```
/// use accrue::{CustomerId, ExternalId, IdOr};
///
/// let by_alias: IdOr<CustomerId> = ExternalId::parse("acme")?.into();
/// assert!(matches!(by_alias, IdOr::External(_)));
/// # Ok::<(), accrue::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdOr<Id> {
    /// The id.
    Id(Id),
    /// The caller's alias.
    External(ExternalId),
}

impl<Id> From<ExternalId> for IdOr<Id> {
    fn from(external: ExternalId) -> Self {
        Self::External(external)
    }
}

impl From<CustomerId> for IdOr<CustomerId> {
    fn from(id: CustomerId) -> Self {
        Self::Id(id)
    }
}

impl From<DimensionalPriceGroupId> for IdOr<DimensionalPriceGroupId> {
    fn from(id: DimensionalPriceGroupId) -> Self {
        Self::Id(id)
    }
}

impl From<PlanId> for IdOr<PlanId> {
    fn from(id: PlanId) -> Self {
        Self::Id(id)
    }
}

impl From<PriceId> for IdOr<PriceId> {
    fn from(id: PriceId) -> Self {
        Self::Id(id)
    }
}

impl<Id: fmt::Display> fmt::Display for IdOr<Id> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::External(external) => external.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededEntropy;

    #[test]
    fn ids_carry_their_millisecond_and_read_back() {
        let now = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
        let id = ItemId::generate(now, &SeededEntropy::new(1));
        assert_eq!(id.to_string().parse(), Ok(id));
        let millis = id.as_bytes()[..6].iter().fold(0, |n: i64, byte| n << 8 | i64::from(*byte));
        assert_eq!(millis, now.micros() / 1_000);
        assert_ne!(id, ItemId::generate(now, &SeededEntropy::new(2)));
    }

    #[test]
    fn other_spellings_are_no_ids() {
        let id = ItemId::generate(Timestamp::MIN, &SeededEntropy::new(1)).to_string();
        for text in [id.to_uppercase(), id.replace('-', ""), format!("{{{id}}}"), String::new()] {
            assert_eq!(text.parse::<ItemId>(), Err(IdError), "{text}");
        }
    }
}
