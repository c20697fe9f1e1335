use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use accrue::store::{MemoryStore, Store};
use accrue_benches::{BATCH, Backend, Outcome, Shape, Stopwatch, Watch, Workload, event_json};
use serde::Serialize;

use crate::{
    probe::{self, Probed},
    size,
    span::Span,
};

/// An account on a backend, and what its operations cost.
pub(crate) struct GrowingAccount {
    workload: Workload,
    store: Arc<Stopwatch<Arc<dyn Store>>>,
    backend: Backend,
    folder: PathBuf,
    /// What the process had before the first event, in bytes.
    memory: Option<u64>,
}

/// What was found when so many events were stored.
#[derive(Debug, Serialize)]
pub(crate) struct Stage {
    pub(crate) stored: u64,
    /// Of an event of a batch.
    pub(crate) ingest: Span,
    pub(crate) operations: Vec<Probed>,
    /// Bytes of an event, as a client sends it.
    pub(crate) json: f64,
    /// Bytes of memory for each event that is stored.
    pub(crate) memory: Option<f64>,
    /// Bytes on disk for each event that is stored, where they are kept there.
    pub(crate) disk: Option<f64>,
}

/// Over how many events an ingest is measured.
const WINDOW: u64 = 10_000;

impl GrowingAccount {
    pub(crate) fn new(backend: Backend, folder: &Path, watch: Watch) -> Outcome<Self> {
        let folder = folder.join("store");
        let store = Arc::new(Stopwatch::new(backend.open(&folder)?));
        let workload = Workload::new(Arc::clone(&store), Shape::new(watch))?;
        probe::set_up(workload.account())?;
        Ok(Self { workload, store, backend, folder, memory: size::in_memory() })
    }

    /// Ingests until so many events are stored, and measures.
    pub(crate) fn grow_to(&mut self, stored: u64) -> Outcome<Stage> {
        let window = WINDOW.min(stored / 2).next_multiple_of(BATCH);
        self.workload.ingest_until(stored.saturating_sub(window))?;
        let (mut spans, mut json) = (Vec::new(), 0);
        let first = self.workload.events();
        while self.workload.events() < stored {
            let batch = self.workload.next_batch()?;
            for event in &batch {
                json += event_json(event)?.len();
            }
            spans.push(Span::of(&self.store, || self.workload.ingest(batch))?);
        }
        let count = self.workload.events() - first;
        let operations = probe::operations(&mut self.workload, &self.store)?;
        // Some more than at the mark, since the operations were measured.
        let events = self.workload.events() as f64;
        let of_each = |bytes: u64| bytes as f64 / events;
        let memory = size::in_memory().zip(self.memory);
        let memory = memory.map(|(now, before)| of_each(now.saturating_sub(before)));
        Ok(Stage {
            stored,
            ingest: Span::each(&spans, count),
            operations,
            json: json as f64 / count as f64,
            memory,
            disk: self.on_disk()?.map(of_each),
        })
    }

    /// The bytes that the store takes on the disk once it is closed. It is opened again.
    fn on_disk(&mut self) -> Outcome<Option<u64>> {
        if !self.backend.is_durable() {
            return Ok(None);
        }
        self.workload.move_to(MemoryStore::new())?;
        self.store = Arc::new(Stopwatch::new(Arc::new(MemoryStore::new())));
        let bytes = size::on_disk(&self.folder)?;
        self.store = Arc::new(Stopwatch::new(self.backend.open(&self.folder)?));
        self.workload.move_to(Arc::clone(&self.store))?;
        Ok(Some(bytes))
    }
}
