//! Webhook messages, written in the commit that causes them.

mod about;
mod alerts;
mod body;
mod delivery;
mod endpoint;
mod event_type;
mod lease;
mod payment;
mod queue;
mod reach;
mod schedule;
mod secret;
mod sent;
mod url;

use serde::{Deserialize, Serialize};

pub use self::{
    body::{Body, PlanVersionStep, RefilledPool},
    delivery::{Answer, Delivery, DeliveryAttempt, DeliveryStatus},
    endpoint::{
        DeliveryOrder, DisableReason, Endpoint, EndpointStatus, EndpointUpdate, NewEndpoint,
    },
    event_type::{EventType, EventTypes},
    lease::{AttemptReport, EndpointLease, Outgoing, Waiting, WaitingDelivery},
    payment::PaymentTold,
    reach::Reach,
    schedule::Schedule,
    secret::{Secret, Secrets, Signatures, WebhookKey},
    sent::{SentMessage, SentMessageFilter},
    url::EndpointUrl,
};
pub(crate) use self::{
    delivery::{Attempted, Plan},
    lease::DueDelivery,
    queue::{EndpointQueue, Holder, Verdict},
};
use crate::{
    BackfillId, CustomerId, MessageId, Timestamp,
    backfill::Backfill,
    customer::Customer,
    invoice::{CreditNote, Invoice},
    plan,
    price::Price,
    subscription::Subscription,
};

/// Webhook message that waits to be delivered.
///
/// Messages of one customer are read in the order in which they were written; there is no order
/// between customers. So are those of a backfill for all customers, and those of the account as a whole,
/// which are no customer's. Its id stays the same however often it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Its id, for once-only processing.
    pub id: MessageId,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// Place where it waits: [`acknowledge`](crate::Account::acknowledge) takes it.
    pub place: Place,
    /// Body: its type and its properties.
    pub body: Body,
    /// Customer that it is about, as it is when the message is read; `None` where it is about a
    /// backfill for all customers, a plan or a price.
    pub customer: Option<Customer>,
    /// Subscription that it is about, as it is when the message is read.
    pub subscription: Option<Subscription>,
    /// Backfill that it is about, as it is when the message is read.
    pub backfill: Option<Backfill>,
    /// Invoice that it is about, as it is when the message is read.
    pub invoice: Option<Invoice>,
    /// Credit note that it is about, as it is when the message is read.
    pub credit_note: Option<CreditNote>,
    /// Plan that it is about, as it is when the message is read.
    pub plan: Option<plan::Plan>,
    /// Price that it is about, as it is when the message is read.
    pub price: Option<Price>,
}

impl Message {
    /// Returns its type on the wire (wire 6.8).
    #[must_use]
    pub const fn message_type(&self) -> &'static str {
        self.body.message_type()
    }
}

/// How much of a resource the payload of a message has (wire 6.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayloadStyle {
    /// All of it.
    #[default]
    Expanded,
    /// A subscription without its prices, an invoice without its lines.
    Standard,
}

/// Place where a message waits: its queue, and its number in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    #[serde(flatten)]
    pub(crate) queue: Queue,
    pub(crate) number: u64,
}

/// Queue in which messages wait in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Queue {
    /// Queue of the messages about a customer.
    #[serde(rename = "customer_id")]
    Customer(CustomerId),
    /// Queue of the messages about a backfill for all customers.
    #[serde(rename = "backfill_id")]
    Backfill(BackfillId),
    /// Queue of the messages about an account as a whole.
    #[serde(rename = "account")]
    Account,
}

impl Queue {
    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        match self {
            Self::Customer(id) => id.as_bytes(),
            Self::Backfill(id) => id.as_bytes(),
            Self::Account => &[0; 16],
        }
    }

    /// Returns the customer that the messages are about.
    pub(crate) const fn customer_id(self) -> Option<CustomerId> {
        match self {
            Self::Customer(id) => Some(id),
            Self::Backfill(_) | Self::Account => None,
        }
    }
}
