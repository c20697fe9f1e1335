//! What of the engine is held against the model.

use super::*;

impl World {
    /// Compares the usage of all subscriptions.
    pub(super) fn check_figures(&self) {
        for (index, id) in self.subscriptions.iter().enumerate() {
            let usage = block_on(self.host.account.subscription_usage(*id)).unwrap();
            let (period, figures) = self.model.usage(index);
            let timeframe = (usage.timeframe.start().micros(), usage.timeframe.end().micros());
            assert_eq!(timeframe, period, "the period of subscription {index}");
            let found: Vec<_> = usage.metrics.into_iter().map(|metric| metric.quantity).collect();
            let found: Vec<_> = found.iter().map(|figure| figure.as_ref().map(big)).collect();
            assert_eq!(found, figures, "the figures of subscription {index}");
        }
    }

    pub(super) fn check_between(&self, customer: usize, metric: usize, ends: [When; 2]) {
        let mut ends = ends.map(|end| self.resolve(end).max(0));
        ends.sort_unstable();
        let [from, until] = ends;
        let timeframe = Timeframe::new(micros(from), micros(until)).unwrap();
        let by = external(&alias(customer));
        let found = block_on(self.host.account.usage_between(by, self.metrics[metric], timeframe));
        if self.model.customers[customer].exists {
            let expected = self.model.usage_between(metric, customer, (from, until));
            let found = found.unwrap();
            assert_eq!(found.as_ref().map(big), expected, "{timeframe:?} of metric {metric}");
        } else {
            assert!(found.unwrap_err().is_not_found());
        }
    }

    /// Compares the messages of each subscription, in their order.
    pub(super) fn check_messages(&self) {
        let mut found: BTreeMap<usize, Vec<model::Message>> = BTreeMap::new();
        for message in self.host.drain() {
            if let Some(message) = self.to_model(&message) {
                found.entry(message.subscription).or_default().push(message);
            }
        }
        let mut expected: BTreeMap<usize, Vec<model::Message>> = BTreeMap::new();
        for message in &self.model.messages {
            expected.entry(message.subscription).or_default().push(message.clone());
        }
        assert_eq!(found, expected);
    }

    fn to_model(&self, message: &webhook::Message) -> Option<model::Message> {
        let subscription = self.find(&self.subscriptions, message.body.subscription_id()?);
        let body = match &message.body {
            webhook::Body::SubscriptionCreated { .. } => model::Body::Created,
            webhook::Body::SubscriptionStarted { .. } => model::Body::Started,
            webhook::Body::SubscriptionEnded { .. } => model::Body::Ended,
            webhook::Body::SubscriptionCancellationScheduled { cancellation_date, .. } => {
                model::Body::CancellationScheduled(cancellation_date.micros())
            }
            webhook::Body::UsageExceeded(exceeded) => {
                let alert = self.find(&self.alerts, exceeded.alert.id);
                assert!(exceeded.alert.enabled);
                let metric = self.metrics[self.model.alerts[alert].metric];
                assert_eq!(exceeded.alert.condition.metric_id(), Some(metric));
                let frame = exceeded.timeframe;
                model::Body::Exceeded {
                    alert,
                    before: exceeded.value_before.as_ref().map(big),
                    after: big(&exceeded.value_after),
                    threshold: big(&exceeded.threshold),
                    thresholds: exceeded.thresholds.iter().map(big).collect(),
                    period: (frame.start().micros(), frame.end().micros()),
                    cause: match &exceeded.cause {
                        alert::Cause::Event { idempotency_key, timestamp } => {
                            model::Cause::Event(idempotency_key.to_string(), timestamp.micros())
                        }
                        alert::Cause::Configuration { alert_id } => {
                            assert_eq!(*alert_id, exceeded.alert.id);
                            model::Cause::Configuration
                        }
                        alert::Cause::Subscription { subscription_id } => {
                            assert_eq!(*subscription_id, exceeded.subscription_id);
                            model::Cause::Subscription
                        }
                        other => panic!("{other:?} is not known here"),
                    },
                }
            }
            _ => return None,
        };
        Some(model::Message { at: message.created_at.micros(), subscription, body })
    }

    fn find<Id: PartialEq + std::fmt::Debug>(&self, ids: &[Id], id: Id) -> usize {
        let found = ids.iter().position(|known| *known == id);
        found.unwrap_or_else(|| panic!("{id:?} is nobody's id"))
    }
}

pub(crate) fn big(number: &Decimal) -> BigDecimal {
    number.to_string().parse().unwrap()
}
