//! The suite for all backends, on a disk that fails when the suite asks for it.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use accrue::store::Store;
use accrue_conformance::{Durability, Harness};
use fjall::OwnedWriteBatch;
use tempfile::TempDir;

use crate::{FjallOptions, FjallStore, step::Step};

#[derive(Debug)]
struct OnDisk {
    folder: TempDir,
    failing: Arc<AtomicBool>,
    failures: Arc<AtomicU64>,
}

impl Default for OnDisk {
    fn default() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, failing: Arc::default(), failures: Arc::default() }
    }
}

impl Harness for OnDisk {
    fn open(&self) -> Arc<dyn Store> {
        let (opened, disk) = FjallOptions::new().prepare(self.folder.path()).unwrap();
        // A store fails once, so the count lives on when it is opened again.
        let failures = Arc::clone(&self.failures);
        let step = FailingStep { disk, failing: Arc::clone(&self.failing), failures };
        Arc::new(FjallStore::start(opened, Box::new(step)).unwrap())
    }

    fn durability(&self) -> Durability {
        Durability::Durable
    }

    fn begin_failing(&self) {
        self.failing.store(true, Ordering::SeqCst);
    }

    fn end_failing(&self) {
        self.failing.store(false, Ordering::SeqCst);
    }
}

/// Fails before or after the commit, in turn.
#[derive(Debug)]
struct FailingStep<S> {
    disk: S,
    failing: Arc<AtomicBool>,
    failures: Arc<AtomicU64>,
}

impl<S: Step> Step for FailingStep<S> {
    fn commit(&mut self, batch: OwnedWriteBatch) -> fjall::Result<()> {
        if !self.failing.load(Ordering::SeqCst) {
            return self.disk.commit(batch);
        }
        if self.failures.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            self.disk.commit(batch)?;
        }
        Err(io::Error::other("injected").into())
    }
}

accrue_conformance::suite!(OnDisk::default());
