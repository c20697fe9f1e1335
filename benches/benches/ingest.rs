//! Ingest of 500-event batches beside the same rows written straight to the backend, and of requests
//! over HTTP beside the same call of the library.

use std::{sync::Arc, time::Duration};

use accrue::{
    IdempotencyKey,
    store::{MemoryStore, Store},
    usage::Event,
};
use accrue_benches::{BATCH, Shape, Tap, Watch, Workload, event_json, now, write_raw};
use accrue_fjall::FjallStore;
use accrue_http::{Api, FixedKey};
use accrue_sled::SledStore;
use axum::{body::Body, http::Request};
use criterion::{Criterion, Throughput};

fn ingest(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder for the stores");
    let fjall =
        |name: &str| FjallStore::open(folder.path().join("fjall").join(name)).expect("a new store");
    let sled = |name: &str| SledStore::open(folder.path().join(name)).expect("a new store");
    let memory = [MemoryStore::new(), MemoryStore::new(), MemoryStore::new()];
    compare(criterion, "memory", memory, MemoryStore::new());
    compare(criterion, "fjall", [fjall("usage"), fjall("cost"), fjall("credits")], fjall("raw"));
    compare(criterion, "sled", [sled("usage"), sled("cost"), sled("credits")], sled("raw"));
}

fn compare<S: Store>(criterion: &mut Criterion, name: &str, ours: [S; 3], raw: S) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(BATCH)).sample_size(20);
    group.measurement_time(Duration::from_secs(10));
    let watched = [
        ("ingest", Watch::Usage),
        ("ingest with cost alerts", Watch::UsageAndCost),
        ("ingest with draw-down", Watch::UsageAndCredits),
    ];
    for (store, (what, watch)) in ours.into_iter().zip(watched) {
        let mut workload = Workload::new(store, Shape::new(watch)).expect("a working store");
        group.bench_function(what, |bench| {
            bench.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    let batch = workload.next_batch().expect("a batch");
                    let start = now();
                    workload.ingest(batch).expect("a working store");
                    spent += start.elapsed();
                }
                spent
            });
        });
    }
    let tap = Arc::new(Tap::new(MemoryStore::new()));
    let mut source =
        Workload::new(Arc::clone(&tap), Shape::new(Watch::Usage)).expect("a working store");
    group.bench_function("raw", |bench| {
        bench.iter_custom(|rounds| {
            let mut spent = Duration::ZERO;
            for _ in 0..rounds {
                let batch = source.next_batch().expect("a batch");
                source.ingest(batch).expect("a working store");
                for batch in tap.take() {
                    let start = now();
                    write_raw(&raw, batch).expect("a working store");
                    spent += start.elapsed();
                }
            }
            spent
        });
    });
    group.finish();
}

/// Keyed requests, in the process: no socket and no framework.
fn request(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("request of 100 in memory");
    group.throughput(Throughput::Elements(100)).sample_size(20);
    let new = || {
        let store = MemoryStore::new();
        Workload::new(store, Shape::new(Watch::Usage)).expect("a working store")
    };
    let mut next = 0_u64;
    let mut key = || {
        next += 1;
        format!("call-{next}")
    };
    let mut ours = new();
    group.bench_function("library", |bench| {
        let account = ours.account().clone();
        let send = |(key, events)| {
            let key = IdempotencyKey::parse(key).expect("a key");
            pollster::block_on(account.ingest::<Event>(events).keyed(key).into_future())
                .expect("a working store")
        };
        bench.iter_custom(|rounds| {
            timed(rounds, || (key(), ours.next_hundred().expect("events")), send)
        });
    });
    let mut ours = new();
    let token = FixedKey::new("bench", ours.account().id().clone());
    let api = Api::builder(ours.account().billing().clone(), token).build();
    group.bench_function("over HTTP", |bench| {
        let mut request = || {
            let events = ours.next_hundred().expect("events");
            let events = events.iter().map(|event| event_json(event).expect("an event"));
            let body = format!(r#"{{"events":[{}]}}"#, events.collect::<Vec<_>>().join(","));
            let request = Request::post("/v1/ingest").header("authorization", "Bearer bench");
            let request = request.header("idempotency-key", key());
            let request = request.header("content-type", "application/json");
            request.body(Body::from(body)).expect("a request")
        };
        let send = |request| assert_eq!(pollster::block_on(api.handle(request)).status(), 200);
        bench.iter_custom(|rounds| timed(rounds, &mut request, send));
    });
    group.finish();
}

/// Times how long it takes to answer so many requests, and not to make them.
fn timed<R, A>(rounds: u64, mut request: impl FnMut() -> R, answer: impl Fn(R) -> A) -> Duration {
    let mut spent = Duration::ZERO;
    for _ in 0..rounds {
        let request = request();
        let start = now();
        answer(request);
        spent += start.elapsed();
    }
    spent
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    ingest(&mut criterion);
    request(&mut criterion);
    criterion.final_summary();
}
