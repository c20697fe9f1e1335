//! The adapter answers whatever is sent: what a fuzzer kept, and random bytes.

use std::{
    fs,
    path::Path,
    sync::{LazyLock, Mutex, PoisonError},
};

use accrue_tests::requests::{Asked, Target};
use proptest::prelude::*;

#[test]
fn what_a_fuzzer_kept_is_answered() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/handle");
    let mut target = Target::default();
    let mut inputs = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        target.run(&fs::read(entry.unwrap().path()).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "there is no corpus");
}

const fn asked<'a>(method: &'a str, path: &'a str, body: &'a str) -> Asked<'a> {
    Asked { method, path, parameter: None, query: "", body }
}

const EVENTS: &str = r#"{"events":[{"idempotency_key":"a","event_name":"b","timestamp":"2026-03-10T11:00:00Z","properties":{"n":1.50},"external_customer_id":"c"}]}"#;
const AMENDED: &str = r#"{"event_name":"b","timestamp":"2026-03-10T11:00:00Z","properties":{"n":2},"external_customer_id":"c"}"#;
const CUSTOMER: &str = r#"{"name":"Ada","email":"ada@example.com","external_customer_id":"c"}"#;
const BACKFILL: &str = r#"{"timeframe_start":"2026-03-10T10:00:00Z","timeframe_end":"2026-03-10T11:30:00Z","close_time":null,"deprecation_filter":"n > 1"}"#;

/// Events are amended, deprecated and replaced, and that is taken back.
const CORRECTIONS: &[Asked<'_>] = &[
    asked("POST", "/v1/customers", CUSTOMER),
    asked("POST", "/v1/ingest", EVENTS),
    Asked { parameter: Some("a"), ..asked("PUT", "/v1/events/{event_id}", AMENDED) },
    asked("POST", "/v1/events/backfills", BACKFILL),
    asked("POST", "/v1/events/backfills/{backfill_id}/close", ""),
    asked("POST", "/v1/events/backfills/{backfill_id}/revert", ""),
    Asked { query: "?limit=1&status=reverted", ..asked("GET", "/v1/events/backfills", "") },
    Asked { parameter: Some("a"), ..asked("PUT", "/v1/events/{event_id}/deprecate", "") },
];

#[test]
fn a_seed_says_the_requests_that_it_is_made_of() {
    let mut target = Target::default();
    let seed = target.seed(CORRECTIONS);
    assert_eq!(target.statuses(&seed), [201, 200, 200, 200, 200, 200, 200, 200]);
}

proptest! {
    #[test]
    fn any_bytes_are_answered(inputs in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..20)) {
        // Each input has an account of its own.
        static TARGET: LazyLock<Mutex<Target>> = LazyLock::new(Mutex::default);
        let mut target = TARGET.lock().unwrap_or_else(PoisonError::into_inner);
        for input in inputs {
            target.run(&input);
        }
    }
}
