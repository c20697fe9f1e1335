use std::time::Duration;

use accrue::limits;
use accrue_load_tests::{before_now, event, ingest};
use serde_json::{Value, json};

use super::{Attacks, numbered};
use crate::options::Options;

/// Batches of events that are as large as is allowed.
pub(super) fn large(options: &Options) -> Attacks {
    batches("large batch", options.events, options.event_bytes)
}

/// Batches of events that are a fifth larger.
pub(super) fn refused(options: &Options) -> Attacks {
    batches("refused batch", options.events, options.event_bytes * 6 / 5)
}

fn batches(label: &'static str, events: usize, event_bytes: usize) -> Attacks {
    let properties = properties(event_bytes);
    numbered(move |connection, nth| {
        let at = before_now(Duration::from_secs(1));
        let customer = format!("large-{connection}");
        let event = |event_nth: usize| {
            let key = format!("{label}-{connection}-{nth}-{event_nth}");
            event(&key, &customer, at, &properties)
        };
        ingest(label, &(0..events).map(event).collect::<Vec<_>>())
    })
}

/// Texts of so many bytes together, each as long as is allowed.
fn properties(bytes: usize) -> Value {
    let whole = (0..bytes / limits::PROPERTY_VALUE_BYTES).map(|_| limits::PROPERTY_VALUE_BYTES);
    let lengths = whole.chain([bytes % limits::PROPERTY_VALUE_BYTES]).enumerate();
    lengths.map(|(nth, length)| (format!("text{nth}"), json!("x".repeat(length)))).collect()
}
