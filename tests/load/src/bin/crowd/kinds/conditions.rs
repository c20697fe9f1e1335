use std::time::Duration;

use accrue::limits;
use accrue_load_tests::{Outcome, Request, before_now, event, ingest, metric};
use serde_json::json;

use super::{Attacks, Setting, numbered};
use crate::largest::largest;

/// What stands before the condition of a metric.
const SELECT: &str = "SELECT count(*) FROM events WHERE ";

/// Ingests batches under metrics with conditions that no event meets.
pub(super) async fn prepare(setting: &mut Setting<'_>) -> Outcome<Attacks> {
    let Setting { options, client, catalogue } = setting;
    for nth in 0..options.metrics {
        // Equal conditions would be held against an event once.
        let begin = format!("{SELECT}n=1{nth} OR ");
        let rest = ors(options.ors.saturating_sub(1), limits::EXPRESSION_BYTES - begin.len());
        let sql = format!("{begin}{rest}");
        client.ask(&metric(&format!("Metric {nth}"), &catalogue.item, &sql)).await?;
    }
    let make = |connection: usize, nth: usize, count: usize| {
        let at = before_now(Duration::from_secs(1));
        let event = |event_nth: usize| {
            let key = format!("conditions-{connection}-{nth}-{count}-{event_nth}");
            event(&key, "conditions", at, &json!({"n": 0}))
        };
        let events: Vec<_> = (0..count).map(event).collect();
        ingest("ingest under conditions", &events)
    };
    let probe = |count| -> Request { make(usize::MAX, 0, count) };
    let most = largest(client, options.events, probe).await?;
    eprintln!("conditions: {} ORs under {} metrics, {most} events", options.ors, options.metrics);
    Ok(numbered(move |connection, nth| make(connection, nth, most)))
}

/// A condition of so many comparisons, or as many as fit so many bytes, that hold for no event.
pub(super) fn ors(count: usize, bytes: usize) -> String {
    const OR: &str = " OR ";
    let one = |nth: usize| format!("n={}", 1 + nth % 9);
    let fitting = (bytes + OR.len()) / (one(0).len() + OR.len());
    (0..count.min(fitting)).map(one).collect::<Vec<_>>().join(OR)
}
