use std::time::Duration;

use accrue_load_tests::{Catalogue, Outcome, Request, before_now, event, id, ingest};
use serde_json::json;

use super::{Attacks, Setting};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Events that one request brings.
const BATCH: usize = 1_000;

/// Fills a backfill and closes it, and ingests an event for the same customer, who has its own
/// connection. Each backfill takes the place of the one before.
pub(super) async fn prepare(setting: &mut Setting<'_>) -> Outcome<Attacks> {
    let Setting { options, client, catalogue, .. } = setting;
    for connection in 0..options.connections {
        let start = before_now(HOUR * 24);
        catalogue.subscribe(client, &customer(connection), Catalogue::PLAN, start).await?;
    }
    let batches = options.backfilled.div_ceil(BATCH);
    let batch = options.backfilled.min(BATCH);
    Ok(Box::new(move |connection| {
        let (customer, mut backfill, mut step, mut round) = (customer(connection), None, 0, 0);
        Box::new(move |before| {
            if step == 1 {
                backfill = before.and_then(|answer| id(&answer.json().ok()?).ok());
            }
            // Without one, its turn is over.
            let Some(id) = backfill.as_ref().filter(|_| step > 0) else {
                (step, round) = (1, round + 1);
                return new_backfill(&customer);
            };
            step += 1;
            let key = format!("{customer}-{round}-{step}");
            match step - 2 {
                filled if filled < batches => fill(id, &customer, &key, batch),
                filled if filled == batches => {
                    Request::post("close", format!("/events/backfills/{id}/close"), "")
                }
                _ => {
                    step = 0;
                    let at = before_now(Duration::from_secs(1));
                    let event = event(&key, &customer, at, &json!({"tokens": 1}));
                    ingest("ingest, same customer", &[event])
                }
            }
        })
    }))
}

fn customer(connection: usize) -> String {
    format!("late-{connection}")
}

fn new_backfill(customer: &str) -> Request {
    let [start, end] = [HOUR * 3, HOUR].map(|ago| before_now(ago).to_string());
    let new = json!({
        "timeframe_start": start, "timeframe_end": end, "external_customer_id": customer,
        "replace_existing_events": true,
    });
    Request::post("new backfill", "/events/backfills", new.to_string())
}

fn fill(backfill: &str, customer: &str, key: &str, batch: usize) -> Request {
    let at = before_now(HOUR * 2);
    let event =
        |nth: usize| event(&format!("{key}-{nth}"), customer, at, &json!({"tokens": nth % 10}));
    let events: Vec<_> = (0..batch).map(event).collect();
    let request = ingest("filling", &events);
    Request { path: format!("/ingest?backfill_id={backfill}"), ..request }
}
