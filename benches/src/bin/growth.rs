//! Prints what ingesting costs per event while the history grows, beside the same rows written
//! straight to the same kind of store: `growth [memory|fjall|sled] [EVENTS]`.

use std::{sync::Arc, time::Duration};

use accrue::store::{MemoryStore, Store};
use accrue_benches::{BATCH, Log, Outcome, Tap, Watch, Workload, now, write_raw};
use accrue_fjall::FjallStore;
use accrue_sled::SledStore;

/// How many events each line of the table is measured over.
const WINDOW: u64 = 10_000;

#[expect(clippy::print_stdout, reason = "this prints a table")]
fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let backend = arguments.next().unwrap_or_else(|| "memory".to_owned());
    let events: u64 = arguments.next().as_deref().unwrap_or("1000000").parse()?;
    let folder = tempfile::tempdir()?;
    let (ours, raw): (Arc<dyn Store>, Arc<dyn Store>) = match backend.as_str() {
        "memory" => (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new())),
        "fjall" => (
            Arc::new(FjallStore::open(folder.path().join("ours"))?),
            Arc::new(FjallStore::open(folder.path().join("raw"))?),
        ),
        "sled" => (
            Arc::new(SledStore::open(folder.path().join("ours"))?),
            Arc::new(SledStore::open(folder.path().join("raw"))?),
        ),
        other => return Err(format!("found {other:?}, expected memory, fjall or sled").into()),
    };
    println!("{backend}, per event in ns over {WINDOW} events, by events stored");
    println!(
        "{:>10} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "stored", "ingest", "store", "own", "raw", "x raw"
    );
    let tap = Arc::new(Tap::new(ours));
    let mut workload = Workload::new(Arc::clone(&tap), Watch::Usage)?;
    let Log { batches, .. } = tap.take();
    for batch in batches {
        write_raw(&raw, batch)?;
    }
    let mut window = Window::default();
    let mut stored = 0;
    while stored < events {
        let batch = workload.next_batch()?;
        let start = now();
        workload.ingest(batch)?;
        window.ingest += start.elapsed();
        let Log { batches, in_store } = tap.take();
        window.in_store += in_store;
        let start = now();
        for batch in batches {
            write_raw(&raw, batch)?;
        }
        window.raw += start.elapsed();
        stored += BATCH;
        if stored % WINDOW == 0 {
            if is_a_mark(stored) || stored >= events {
                println!("{stored:>10} {window}");
            }
            window = Window::default();
        }
    }
    Ok(())
}

/// Powers of ten, and half of them.
fn is_a_mark(stored: u64) -> bool {
    (4..9).map(|power| 10_u64.pow(power)).any(|mark| stored == mark || stored * 2 == mark)
}

#[derive(Default)]
struct Window {
    ingest: Duration,
    in_store: Duration,
    raw: Duration,
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let per_event = |span: Duration| span.as_nanos() / u128::from(WINDOW);
        let own = self.ingest.saturating_sub(self.in_store);
        let hundredths = self.ingest.as_nanos() * 100 / self.raw.as_nanos().max(1);
        for span in [self.ingest, self.in_store, own, self.raw] {
            write!(f, "{:>8} ", per_event(span))?;
        }
        write!(f, "{:>5}.{:02}", hundredths / 100, hundredths % 100)
    }
}
