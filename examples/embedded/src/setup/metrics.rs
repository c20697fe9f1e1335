//! What is measured.

use accrue::{
    Account, ItemId, MetricId,
    metric::{MetricQuery, NewMetric},
};

use super::words::name;

/// A metric of the example.
#[derive(Debug)]
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) total: Total,
    sql: &'static str,
}

/// What the figures of all customers come to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Total {
    Sum,
    Largest,
    /// The figures do not say: customers may have values in common.
    Unknown,
}

/// The metrics, in the order in which they are shown.
pub(crate) const METRICS: [Metric; 5] = [
    Metric { name: REQUESTS, total: Total::Sum, sql: "SELECT count(*) FROM events" },
    Metric { name: INPUT_TOKENS, total: Total::Sum, sql: "SELECT sum(input_tokens) FROM events" },
    Metric { name: OUTPUT_TOKENS, total: Total::Sum, sql: "SELECT sum(output_tokens) FROM events" },
    Metric {
        name: "largest request",
        total: Total::Largest,
        sql: "SELECT max(input_tokens) FROM events",
    },
    Metric {
        name: "distinct output sizes",
        total: Total::Unknown,
        sql: "SELECT count(DISTINCT output_tokens) FROM events",
    },
];

pub(crate) const REQUESTS: &str = "requests";
pub(super) const INPUT_TOKENS: &str = "input tokens";
pub(crate) const OUTPUT_TOKENS: &str = "output tokens";

/// The metrics that were created.
#[derive(Debug)]
pub(crate) struct Metrics(Vec<(MetricId, &'static str)>);

impl Metrics {
    pub(crate) async fn create(account: &Account, item: ItemId) -> Result<Self, accrue::Error> {
        let mut metrics = Vec::new();
        for metric in &METRICS {
            let sql = MetricQuery::parse(metric.sql).expect("the example's SQL is that of metrics");
            let new = NewMetric::new(name(metric.name), item, sql);
            metrics.push((account.create_metric(new).await?.id, metric.name));
        }
        Ok(Self(metrics))
    }

    /// Returns them with their names, in the order in which they are shown.
    pub(crate) fn all(&self) -> &[(MetricId, &'static str)] {
        &self.0
    }

    /// Returns the name of a metric; none where it is not one of them.
    pub(crate) fn name(&self, id: MetricId) -> Option<&'static str> {
        self.0.iter().find(|(other, _)| *other == id).map(|(_, name)| *name)
    }

    pub(crate) fn id(&self, name: &str) -> MetricId {
        let metric = self.0.iter().find(|(_, other)| *other == name);
        metric.map(|(id, _)| *id).expect("the name is that of a metric of the example")
    }
}
