//! What a cost query costs, with a short history and with a long one.

use std::time::Duration;

use accrue::{cost::CostQuery, store::MemoryStore, usage::View};
use accrue_benches::{Shape, Watch, Workload};
use criterion::{BenchmarkId, Criterion};

/// Between one event and the next: a million of them fill most of a month.
const STEP: Duration = Duration::from_millis(2_400);
const HISTORIES: [u64; 2] = [10_000, 1_000_000];

fn cost(criterion: &mut Criterion) {
    let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
    // The shorter history ends after 6 hours and 40 minutes.
    let hours = Workload::timeframe(minutes(10), minutes(6 * 60 + 10)).expect("a timeframe");
    let queries = [
        ("current period", CostQuery::default()),
        ("six hours", CostQuery { timeframe: hours.into(), ..CostQuery::default() }),
        ("current period by day", CostQuery { view: View::Periodic, ..CostQuery::default() }),
    ];
    let mut group = criterion.benchmark_group("cost");
    for events in HISTORIES {
        let store = MemoryStore::new();
        let shape = Shape { step: STEP, ..Shape::new(Watch::UsageAndCost) };
        let mut workload = Workload::new(store, shape).expect("a working store");
        workload.ingest_until(events).expect("a working store");
        for (name, query) in &queries {
            group.bench_function(BenchmarkId::new(*name, events), |bench| {
                bench.iter(|| workload.costs(query).expect("a working store"));
            });
        }
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    cost(&mut criterion);
    criterion.final_summary();
}
