//! Messages: what webhooks carry, written in the commit that causes them.

use serde::{Deserialize, Serialize};

use crate::{
    AlertId, CustomerId, Decimal, EventKey, MessageId, MetricId, SubscriptionId, Timeframe,
    Timestamp,
    alert::Alert,
    customer::{Customer, PreviousAttributes},
    subscription::Subscription,
};

/// A message that waits to be delivered.
///
/// Messages of one customer are read in the order in which they were written; there is no order
/// between customers. Its id stays the same however often it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Its id, for once-only processing.
    pub id: MessageId,
    /// When it came about.
    pub created_at: Timestamp,
    /// Where it waits: what [`acknowledge`](crate::Account::acknowledge) takes.
    pub place: Place,
    /// What it says.
    pub body: Body,
    /// The customer that it is about, as it is when the message is read.
    pub customer: Customer,
    /// The subscription that it is about, as it is when the message is read.
    pub subscription: Option<Subscription>,
}

impl Message {
    /// Returns its type on the wire (wire 6.8).
    #[must_use]
    pub const fn message_type(&self) -> &'static str {
        self.body.message_type()
    }
}

/// Where a message waits: its customer, and its number among the messages of that customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub(crate) customer_id: CustomerId,
    pub(crate) number: u64,
}

/// What a message says: its type and its properties (wire 6.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Body {
    /// `customer.created`
    #[serde(rename = "customer.created")]
    CustomerCreated,
    /// `customer.edited`
    #[serde(rename = "customer.edited")]
    CustomerEdited {
        /// The fields that changed, as they were before.
        previous_attributes: PreviousAttributes,
    },
    /// `subscription.created`
    #[serde(rename = "subscription.created")]
    SubscriptionCreated {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// `subscription.started`
    #[serde(rename = "subscription.started")]
    SubscriptionStarted {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// `subscription.ended`
    #[serde(rename = "subscription.ended")]
    SubscriptionEnded {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
    /// `subscription.cancellation_scheduled`
    #[serde(rename = "subscription.cancellation_scheduled")]
    SubscriptionCancellationScheduled {
        /// The subscription.
        subscription_id: SubscriptionId,
        /// When it will end.
        cancellation_date: Timestamp,
    },
    /// `subscription.usage_exceeded`
    #[serde(rename = "subscription.usage_exceeded")]
    UsageExceeded(Box<UsageExceeded>),
}

/// An alert on usage fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UsageExceeded {
    /// The subscription whose usage it is.
    pub subscription_id: SubscriptionId,
    /// The alert as it was when it fired.
    pub alert: Alert,
    /// The metric that it watches.
    pub metric_id: MetricId,
    /// The usage right before; `None` where the period had none yet.
    pub value_before: Option<Decimal>,
    /// The usage right after.
    pub value_after: Decimal,
    /// The most advanced of the thresholds crossed.
    pub threshold: Decimal,
    /// All thresholds crossed, smallest first.
    pub thresholds: Vec<Decimal>,
    /// The billing period whose usage it is.
    pub timeframe: Timeframe,
    /// What made it fire.
    pub cause: Cause,
}

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
    /// The alert was created, enabled, or given other thresholds.
    Configuration {
        /// The alert.
        alert_id: AlertId,
    },
    /// The subscription was created over usage that there was already.
    Subscription {
        /// The subscription.
        subscription_id: SubscriptionId,
    },
}

impl Body {
    /// Returns its type on the wire (wire 6.8).
    #[must_use]
    pub const fn message_type(&self) -> &'static str {
        match self {
            Self::CustomerCreated => "customer.created",
            Self::CustomerEdited { .. } => "customer.edited",
            Self::SubscriptionCreated { .. } => "subscription.created",
            Self::SubscriptionStarted { .. } => "subscription.started",
            Self::SubscriptionEnded { .. } => "subscription.ended",
            Self::SubscriptionCancellationScheduled { .. } => "subscription.cancellation_scheduled",
            Self::UsageExceeded(_) => "subscription.usage_exceeded",
        }
    }

    /// Returns the subscription that it is about.
    #[must_use]
    pub const fn subscription_id(&self) -> Option<SubscriptionId> {
        match self {
            Self::CustomerCreated | Self::CustomerEdited { .. } => None,
            Self::SubscriptionCreated { subscription_id }
            | Self::SubscriptionStarted { subscription_id }
            | Self::SubscriptionEnded { subscription_id }
            | Self::SubscriptionCancellationScheduled { subscription_id, .. } => {
                Some(*subscription_id)
            }
            Self::UsageExceeded(exceeded) => Some(exceeded.subscription_id),
        }
    }
}
