use accrue::{
    Decimal, EventKey, Timestamp,
    alert::{Cause, Exceeded},
    webhook::{Body, Message},
};
use serde::Serialize;

use crate::setup::Setup;

/// An alert that fired, as its message tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FiredAlert {
    /// Its type on the wire.
    #[serde(rename = "type")]
    pub alert_type: &'static str,
    /// The name of the metric that it watches.
    pub metric: Option<&'static str>,
    /// The threshold that was crossed: the most advanced one.
    pub threshold: Option<Decimal>,
    /// The value right before.
    pub value_before: Decimal,
    /// The value right after.
    pub value_after: Decimal,
    /// The key of the event that made it fire.
    pub event: Option<EventKey>,
    /// The instant of that event.
    pub at: Timestamp,
}

impl FiredAlert {
    /// Reads a message; none where it does not tell of an alert.
    pub(crate) fn read(message: &Message, setup: &Setup) -> Option<Self> {
        match &message.body {
            Body::UsageExceeded(exceeded)
            | Body::CostExceeded(exceeded)
            | Body::SpendExceeded(exceeded) => Some(Self::of(message, exceeded, setup)),
            _ => None,
        }
    }

    fn of(message: &Message, exceeded: &Exceeded, setup: &Setup) -> Self {
        let (event, at) = match &exceeded.cause {
            Cause::Event { idempotency_key, timestamp } => {
                (Some(idempotency_key.clone()), *timestamp)
            }
            _ => (None, message.created_at),
        };
        Self {
            alert_type: exceeded.alert.condition.alert_type(),
            metric: exceeded.alert.condition.metric_id().and_then(|id| setup.metric_name(id)),
            threshold: Some(exceeded.threshold.clone()),
            value_before: exceeded.value_before.clone().unwrap_or_default(),
            value_after: exceeded.value_after.clone(),
            event,
            at,
        }
    }
}
