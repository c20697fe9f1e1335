//! Deliveries: one message to one endpoint, attempt by attempt.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{EndpointUrl, Schedule};
use crate::{DeliveryAttemptId, MessageId, Timestamp, WebhookEndpointId, limits};

/// Delivery of a message to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delivery {
    /// Endpoint that the message is for.
    pub endpoint_id: WebhookEndpointId,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// Attempts so far, the oldest first: the last [20](crate::limits::KEPT_ATTEMPTS).
    pub attempts: Vec<DeliveryAttempt>,
    /// Number of attempts since it was to be sent, or sent again.
    pub(crate) tries: u32,
    /// Number of attempts at all.
    pub(crate) made: u32,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryStatus {
    /// It waits for an attempt.
    Waiting {
        /// Instant of the next attempt; `None` where another message comes first.
        due_at: Option<Timestamp>,
    },
    /// The endpoint has answered 2xx.
    Delivered,
    /// No attempt of the schedule succeeded.
    GivenUp,
    /// The endpoint was disabled or deleted.
    Canceled,
}

/// Attempt to deliver a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryAttempt {
    /// Its id.
    pub id: DeliveryAttemptId,
    /// Address that it was sent to.
    pub url: EndpointUrl,
    /// Instant at which it began.
    pub at: Timestamp,
    /// What came back.
    pub answer: Answer,
}

/// What came back of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// An answer.
    Status {
        /// Its status.
        code: u16,
        /// Milliseconds until it was there.
        elapsed_ms: u64,
        /// The first [KiB](crate::limits::KEPT_ANSWER_BYTES) of its body.
        body: String,
    },
    /// Nothing.
    Nothing {
        /// Why that is.
        reason: String,
    },
}

impl Answer {
    /// Tells whether the message is delivered: a redirection is no success.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Status { code: 200..=299, .. })
    }

    /// Tells whether the endpoint says that it is gone for good.
    pub(crate) const fn is_gone(&self) -> bool {
        matches!(self, Self::Status { code: 410, .. })
    }

    /// Cuts what is longer than is kept.
    fn cut(self) -> Self {
        let cut = |text: String| {
            // What JSON writes in many bytes says nothing to whoever reads it.
            let text = text.replace(char::is_control, " ");
            let mut end = text.len().min(limits::KEPT_ANSWER_BYTES);
            while !text.is_char_boundary(end) {
                end = end.saturating_sub(1);
            }
            text.get(..end).unwrap_or_default().to_owned()
        };
        match self {
            Self::Status { code, elapsed_ms, body } => {
                Self::Status { code, elapsed_ms, body: cut(body) }
            }
            Self::Nothing { reason } => Self::Nothing { reason: cut(reason) },
        }
    }
}

impl DeliveryAttempt {
    /// Returns how many bytes it has at most, as JSON.
    fn bytes(&self) -> usize {
        const REST: usize = 256;
        let text = match &self.answer {
            Answer::Status { body, .. } => body,
            Answer::Nothing { reason } => reason,
        };
        REST.saturating_add(self.url.as_str().len()).saturating_add(text.len().saturating_mul(2))
    }
}

impl Delivery {
    pub(crate) const fn new(endpoint_id: WebhookEndpointId, due_at: Option<Timestamp>) -> Self {
        let status = DeliveryStatus::Waiting { due_at };
        Self { endpoint_id, status, attempts: Vec::new(), tries: 0, made: 0 }
    }

    /// Tells whether it waits for an attempt.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        matches!(self.status, DeliveryStatus::Waiting { .. })
    }

    /// Returns the instant at which it waits for an attempt.
    pub(crate) const fn due_at(&self) -> Option<Timestamp> {
        match self.status {
            DeliveryStatus::Waiting { due_at } => due_at,
            _ => None,
        }
    }

    /// Tells whether an attempt was noted that began at an instant.
    pub(crate) fn has_noted(&self, at: Timestamp) -> bool {
        self.attempts.iter().any(|of| of.at == at)
    }

    /// Notes an attempt. What follows from it is another matter.
    pub(crate) fn note(&mut self, of: MessageId, attempt: Attempted) {
        let Attempted { url, at, answer } = attempt;
        self.made = self.made.saturating_add(1);
        let names =
            [of.as_bytes().as_slice(), self.endpoint_id.as_bytes(), &self.made.to_be_bytes()];
        let id = DeliveryAttemptId::derived(at, &names);
        self.attempts.push(DeliveryAttempt { id, url, at, answer: answer.cut() });
        let is_much = |attempts: &[DeliveryAttempt]| {
            attempts.len() > limits::KEPT_ATTEMPTS
                || attempts.iter().map(DeliveryAttempt::bytes).sum::<usize>() > limits::TERMS_BYTES
        };
        while is_much(&self.attempts) {
            self.attempts.remove(0);
        }
    }

    /// Says what follows from an attempt: after a failure another one by the schedule, or when the endpoint
    /// asks for it.
    pub(crate) fn go_on(
        &mut self,
        is_success: bool,
        retry_after: Option<Duration>,
        plan: &Plan<'_>,
    ) {
        self.tries = self.tries.saturating_add(1);
        self.status = match is_success {
            true => DeliveryStatus::Delivered,
            false => match plan.schedule.after(self.tries, plan.draw) {
                None => DeliveryStatus::GivenUp,
                Some(delay) => {
                    let asked = retry_after.unwrap_or_default().min(limits::RETRY_AFTER);
                    let due_at = plan.now.saturating_add(delay.max(asked));
                    DeliveryStatus::Waiting { due_at: Some(due_at) }
                }
            },
        };
    }

    /// Has it sent once more, by the schedule from its beginning.
    pub(crate) fn again(&mut self, due_at: Option<Timestamp>) {
        self.status = DeliveryStatus::Waiting { due_at };
        self.tries = 0;
    }
}

/// An attempt that was made.
#[derive(Clone, Debug)]
pub(crate) struct Attempted {
    pub(crate) url: EndpointUrl,
    pub(crate) at: Timestamp,
    pub(crate) answer: Answer,
}

/// What the next attempt is planned by.
pub(crate) struct Plan<'a> {
    pub(crate) schedule: &'a Schedule,
    pub(crate) now: Timestamp,
    /// What the jitter is made of.
    pub(crate) draw: u16,
}
