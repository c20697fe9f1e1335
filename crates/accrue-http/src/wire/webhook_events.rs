//! Messages that were sent to webhook endpoints, on the wire (subscriptions 10.2).

use accrue::{
    Zone,
    webhook::{Answer, Delivery, DeliveryAttempt, SentMessage, SentMessageFilter},
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    dates::{Date, created},
    pages::Limit,
    webhook_endpoints::MessageType,
};
use crate::{
    problem::Problem,
    shape::{Describe, Moment, Schema, Sparse, request, response},
};

request! {
    /// Filters and page of a list of messages.
    pub(crate) struct WebhookEventListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// True for those that every endpoint has taken, false for the others.
        delivery_success: Option<bool>,
        /// Type of the messages.
        event_type: Option<MessageType>,
        /// False if payloads are left out.
        include_payload: Option<bool>,
        /// Rows created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Rows created after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Rows created before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Rows created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }
}

created!(WebhookEventListQuery);

response! {
    /// A message that is sent to webhook endpoints.
    pub(crate) struct WebhookEvent {
        /// Its id.
        id: String,
        /// Its type.
        "type" event_type: String,
        /// Instant at which it came up.
        created_at: Moment,
        /// True if every endpoint that it was meant for has answered 2xx.
        is_delivered: bool,
        /// Body as it is sent in expanded style, unless it is left out.
        payload: Sparse<Payload>,
        /// Attempts to deliver it, newest first.
        delivery_attempts: Vec<WebhookDeliveryAttempt>,
    }

    /// An attempt to deliver a message to an endpoint.
    pub(crate) struct WebhookDeliveryAttempt {
        /// Its id.
        id: String,
        /// Address that it was sent to.
        endpoint_url: String,
        /// True if the endpoint has answered 2xx.
        is_success: bool,
        /// Status of the answer; null where none came.
        response_status_code: Option<u32>,
        /// Milliseconds until the answer was there; null where none came.
        elapsed_ms: Option<u64>,
        /// Instant at which it began.
        created_at: Moment,
    }
}

/// The body of a message, as it is sent.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Payload(Box<RawValue>);

impl Describe for Payload {
    fn schema() -> Schema {
        Schema::Map(Box::new(Schema::Any))
    }
}

impl WebhookEventListQuery {
    pub(crate) fn filter(&self) -> Result<SentMessageFilter, Problem> {
        Ok(SentMessageFilter {
            is_delivered: self.delivery_success,
            message_type: self.event_type.map(|of| of.0),
            created: self.created().range(&Zone::UTC)?,
            without_payload: self.include_payload == Some(false),
        })
    }
}

impl WebhookEvent {
    pub(crate) fn of(message: SentMessage) -> Self {
        let SentMessage { id, message_type, created_at, is_delivered, payload, deliveries, .. } =
            message;
        let attempts = deliveries.into_iter().flat_map(|Delivery { attempts, .. }| attempts);
        let mut attempts: Vec<_> = attempts.collect();
        attempts.sort_by_key(|of| std::cmp::Reverse((of.at, of.id)));
        Self {
            id: id.to_string(),
            event_type: message_type,
            created_at: created_at.into(),
            is_delivered,
            payload: Sparse(payload.and_then(|of| RawValue::from_string(of).ok()).map(Payload)),
            delivery_attempts: attempts.iter().map(WebhookDeliveryAttempt::of).collect(),
        }
    }
}

impl WebhookDeliveryAttempt {
    fn of(attempt: &DeliveryAttempt) -> Self {
        let (status, elapsed_ms) = match &attempt.answer {
            Answer::Status { code, elapsed_ms, .. } => (Some(u32::from(*code)), Some(*elapsed_ms)),
            _ => (None, None),
        };
        Self {
            id: attempt.id.to_string(),
            endpoint_url: attempt.url.to_string(),
            is_success: attempt.answer.is_success(),
            response_status_code: status,
            elapsed_ms,
            created_at: attempt.at.into(),
        }
    }
}
