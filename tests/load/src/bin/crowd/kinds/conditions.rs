use std::time::Duration;

use accrue::limits;
use accrue_load_tests::{Outcome, Request, before_now, event, ingest, metric};
use serde_json::json;

use super::{Attacks, Setting, condition::Condition, numbered};
use crate::largest::largest;

/// What stands before the condition of a metric.
const SELECT: &str = "SELECT count(*) FROM events WHERE ";

/// Ingests batches under metrics with conditions that no event meets.
pub(super) async fn prepare(setting: &mut Setting<'_>) -> Outcome<Attacks> {
    let Setting { options, client, catalogue, .. } = setting;
    let fitting = Condition::fitting(limits::EXPRESSION_BYTES - SELECT.len());
    // A metric has one more, that of its function.
    let allowed = limits::METRIC_TERMS / options.metrics.max(1) - 1;
    let comparisons = options.ors.min(fitting).min(allowed);
    for nth in 0..options.metrics {
        // Equal conditions would be held against an event once.
        let condition = Condition { first: 100 + nth, comparisons };
        let sql = format!("{SELECT}{condition}");
        client.ask(&metric(&format!("Metric {nth}"), &catalogue.item, &sql)).await?;
    }
    let make = |connection: usize, nth: usize, count: usize| {
        let at = before_now(Duration::from_secs(1));
        let customer = format!("conditions-{connection}");
        let event = |event_nth: usize| {
            let key = format!("conditions-{connection}-{nth}-{count}-{event_nth}");
            event(&key, &customer, at, &json!({"n": 0}))
        };
        let events: Vec<_> = (0..count).map(event).collect();
        ingest("ingest under conditions", &events)
    };
    let probe = |count| -> Request { make(usize::MAX, 0, count) };
    let most = largest(client, options.events, probe).await?;
    let metrics = options.metrics;
    setting.notes.push(format!("{comparisons} ORs under {metrics} metrics, {most} events a batch"));
    Ok(numbered(move |connection, nth| make(connection, nth, most)))
}
