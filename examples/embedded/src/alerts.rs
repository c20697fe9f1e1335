use accrue::{
    Decimal, EventKey, Timestamp,
    alert::{BalanceCrossed, Cause, Exceeded},
    webhook::{Body, Message},
};
use serde::Serialize;

use crate::setup::Metrics;

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
    pub(crate) fn read(message: &Message, metrics: &Metrics) -> Option<Self> {
        match &message.body {
            Body::UsageExceeded(exceeded)
            | Body::CostExceeded(exceeded)
            | Body::SpendExceeded(exceeded) => {
                Some(Self::on_subscription(message, exceeded, metrics))
            }
            Body::CreditBalanceDepleted(crossed)
            | Body::CreditBalanceDropped(crossed)
            | Body::CreditBalanceRecovered(crossed) => Some(Self::on_balance(message, crossed)),
            _ => None,
        }
    }

    fn on_subscription(message: &Message, exceeded: &Exceeded, metrics: &Metrics) -> Self {
        let Exceeded { alert, value_before, value_after, threshold, cause, .. } = exceeded;
        let (event, at) = caused(message, cause);
        Self {
            alert_type: alert.condition.alert_type(),
            metric: alert.condition.metric_id().and_then(|id| metrics.name(id)),
            threshold: Some(threshold.clone()),
            value_before: value_before.clone().unwrap_or_default(),
            value_after: value_after.clone(),
            event,
            at,
        }
    }

    fn on_balance(message: &Message, crossed: &BalanceCrossed) -> Self {
        let (event, at) = caused(message, &crossed.cause);
        Self {
            alert_type: crossed.alert.condition.alert_type(),
            metric: None,
            threshold: crossed.threshold.clone(),
            value_before: crossed.value_before.clone().unwrap_or_default(),
            value_after: crossed.value_after.clone(),
            event,
            at,
        }
    }

    /// Says in short what happened to the credits of its customer; none where it watches something
    /// else.
    pub(crate) fn on_credits(&self) -> Option<String> {
        let what = self.alert_type.strip_prefix("credit_balance_")?;
        let threshold = self.threshold.as_ref().map(|threshold| format!(" to {threshold}"));
        Some(what.to_owned() + &threshold.unwrap_or_default())
    }
}

/// Returns the event that made an alert fire, and when that was.
fn caused(message: &Message, cause: &Cause) -> (Option<EventKey>, Timestamp) {
    match cause {
        Cause::Event { idempotency_key, timestamp } => (Some(idempotency_key.clone()), *timestamp),
        _ => (None, message.created_at),
    }
}
