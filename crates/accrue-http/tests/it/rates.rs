//! Rate limits (wire 6.7).

use std::{num::NonZeroU32, time::Duration};

use accrue::{AccountId, Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
use accrue_http::{Category, Exceeded, Quota, Quotas, RateLimit, RateLimits};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Host, event};

fn engine() -> (Billing, ManualClock) {
    let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
    (Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1)), clock)
}

fn account(name: &str) -> AccountId {
    AccountId::parse(name).unwrap()
}

fn amount(amount: u32) -> NonZeroU32 {
    NonZeroU32::new(amount).unwrap()
}

const CATEGORIES: [Category; 6] = [
    Category::Analytics,
    Category::Ledger,
    Category::Reads,
    Category::Writes,
    Category::IngestRequests,
    Category::IngestEvents,
];

#[test]
fn wire_6_7_each_category_has_its_own_bound() {
    let check = |quotas: Quotas, expect: [u32; 6]| {
        let (billing, clock) = engine();
        let limits = RateLimits::new(&billing, quotas);
        let acme = account("acme");
        for (category, most) in CATEGORIES.into_iter().zip(expect) {
            let period = if category == Category::IngestEvents { 60 } else { 1 };
            let each = Duration::from_secs(period) / most;
            for _ in 0..most {
                assert_eq!(limits.take(&acme, category, NonZeroU32::MIN), Ok(()), "{category:?}");
            }
            let refused = Err(Exceeded::Wait(each));
            assert_eq!(limits.take(&acme, category, NonZeroU32::MIN), refused, "{category:?}");
            // One comes back after its part of the period, and no more than one.
            clock.advance(each + Duration::from_micros(1));
            assert_eq!(limits.take(&acme, category, NonZeroU32::MIN), Ok(()), "{category:?}");
            assert!(limits.take(&acme, category, NonZeroU32::MIN).is_err(), "{category:?}");
            // After a period all of them, and no more.
            clock.advance(Duration::from_secs(period));
            assert_eq!(limits.take(&acme, category, amount(most)), Ok(()), "{category:?}");
            assert!(limits.take(&acme, category, NonZeroU32::MIN).is_err(), "{category:?}");
        }
    };
    check(Quotas::live(), [10, 10, 100, 50, 100, 10_000]);
    check(Quotas::test(), [5, 5, 50, 5, 10, 2_000]);
    check(Quotas::trial(), [1, 1, 10, 1, 2, 100]);
}

#[test]
fn accounts_are_limited_apart() {
    let (billing, _) = engine();
    let limits = RateLimits::new(&billing, Quotas::trial());
    let take = |name| limits.take(&account(name), Category::Writes, NonZeroU32::MIN);
    assert_eq!(take("acme"), Ok(()));
    assert!(take("acme").is_err());
    assert_eq!(take("other"), Ok(()));
}

#[test]
fn more_at_once_than_ever_passes_is_not_told_to_wait() {
    let (billing, _) = engine();
    let limits = RateLimits::new(&billing, Quotas::trial());
    let take = |events| limits.take(&account("acme"), Category::IngestEvents, amount(events));
    assert_eq!(take(101), Err(Exceeded::TooMuch { most: amount(100) }));
    // Nothing was taken.
    assert_eq!(take(100), Ok(()));
    assert!(matches!(take(1), Err(Exceeded::Wait(_))));
}

#[test]
fn quotas_of_ones_own_limit_what_they_name() {
    let (billing, clock) = engine();
    let writes = Some(Quota::per_hour(amount(2)));
    let limits = RateLimits::new(&billing, Quotas { writes, ..Quotas::default() });
    let take = |category| limits.take(&account("acme"), category, NonZeroU32::MIN);
    for _ in 0..1_000 {
        assert_eq!(take(Category::Reads), Ok(()));
    }
    assert_eq!((take(Category::Writes), take(Category::Writes)), (Ok(()), Ok(())));
    let half_an_hour = Duration::from_secs(1_800);
    assert_eq!(take(Category::Writes), Err(Exceeded::Wait(half_an_hour)));
    clock.advance(half_an_hour);
    assert_eq!(take(Category::Writes), Ok(()));
}

#[test]
fn nothing_is_limited_where_nothing_is_said() {
    let host = Host::new();
    for _ in 0..200 {
        host.get("/v1/ping").ok(StatusCode::OK);
    }
}

#[test]
fn wire_6_7_beyond_its_rate_a_request_is_429_with_retry_after() {
    let host = Host::with_engine(|builder, billing| {
        builder.rate_limit(RateLimits::new(billing, Quotas::trial()))
    });
    // What is not there counts as well.
    for path in ["/v1/ping", "/v1/nothing"].into_iter().cycle().take(10) {
        assert_ne!(host.get(path).status, 429);
    }
    let refused = host.get("/v1/ping");
    refused.error(429, "429-too-many-requests");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Writes are counted apart; one that was refused has had no effect and took no key.
    let create = |key| host.keyed("POST", "/v1/items", key, json!({"name": "Tokens"}));
    create("one").ok(StatusCode::CREATED);
    let refused = create("two");
    refused.error(429, "429-too-many-requests");
    assert_eq!(refused.header("idempotency-key"), Some("two"));
    host.clock.advance(Duration::from_secs(1));
    assert_eq!(create("two").header("idempotent-replayed"), None);
    host.clock.advance(Duration::from_secs(1));
    assert_eq!(host.get("/v1/items").ok(StatusCode::OK)["data"].as_array().unwrap().len(), 2);
}

/// A limit of the host's own.
struct Always(Exceeded);

impl RateLimit for Always {
    fn take(&self, _: &AccountId, _: Category, _: NonZeroU32) -> Result<(), Exceeded> {
        Err(self.0)
    }
}

#[test]
fn a_limit_of_ones_own_says_how_long_or_never() {
    let answer =
        |exceeded| Host::with(|builder| builder.rate_limit(Always(exceeded))).get("/v1/ping");
    let check = |wait, expect| {
        let refused = answer(Exceeded::Wait(wait));
        refused.error(429, "429-too-many-requests");
        assert_eq!(refused.header("retry-after"), Some(expect), "{wait:?}");
    };
    check(Duration::ZERO, "1");
    check(Duration::from_millis(1), "1");
    check(Duration::from_secs(1), "1");
    check(Duration::from_millis(90_001), "91");
    let refused = answer(Exceeded::TooMuch { most: amount(100) });
    refused.error(413, "413-resource-too-large");
    assert_eq!(refused.header("retry-after"), None);
}

#[test]
fn a_batch_that_is_refused_gives_its_events_back() {
    let quotas = Quotas { ingest_events: Some(Quota::per_minute(amount(2))), ..Quotas::default() };
    let host =
        Host::with_engine(|builder, billing| builder.rate_limit(RateLimits::new(billing, quotas)));
    let ingest = |events: Vec<Value>| host.post("/v1/ingest", json!({"events": events}));
    let mut nameless = event("b");
    nameless["event_name"] = json!("");
    // Refused by the adapter, and by the engine: two of the quota each time.
    for other in [nameless, event("a")] {
        let mut late = event("c");
        late["timestamp"] = json!("2020-01-01T00:00:00Z");
        ingest(vec![other, late]).error(400, "400-request-validation-errors");
    }
    ingest(vec![event("a"), event("b")]).ok(StatusCode::OK);
    ingest(vec![event("c")]).error(429, "429-too-many-requests");
}
