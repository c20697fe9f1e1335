//! Ingest of 500-event batches beside the same rows written straight to the backend.

use std::{sync::Arc, time::Duration};

use accrue::store::{MemoryStore, Store};
use accrue_benches::{BATCH, Shape, Tap, Watch, Workload, now, write_raw};
use accrue_fjall::FjallStore;
use accrue_sled::SledStore;
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

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    ingest(&mut criterion);
    criterion.final_summary();
}
