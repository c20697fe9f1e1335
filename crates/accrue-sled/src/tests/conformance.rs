//! The suite for all backends, on a disk that fails when the suite asks for it.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use accrue::store::Store;
use accrue_conformance::{Durability, Harness};
use tempfile::TempDir;

use crate::{
    SledOptions, SledStore,
    sync::{DiskSync, Sync},
};

#[derive(Debug)]
struct OnDisk {
    directory: TempDir,
    failing: Arc<AtomicBool>,
}

impl Default for OnDisk {
    fn default() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), failing: Arc::default() }
    }
}

impl Harness for OnDisk {
    fn open(&self) -> Arc<dyn Store> {
        let (opened, disk) = SledOptions::new().prepare(self.directory.path()).unwrap();
        let sync = FailingSync { disk, failing: Arc::clone(&self.failing) };
        Arc::new(SledStore::start(opened, Box::new(sync)).unwrap())
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

#[derive(Debug)]
struct FailingSync {
    disk: DiskSync,
    failing: Arc<AtomicBool>,
}

impl Sync for FailingSync {
    fn sync(&mut self) -> io::Result<()> {
        if self.failing.load(Ordering::SeqCst) {
            return Err(io::Error::other("injected"));
        }
        self.disk.sync()
    }
}

accrue_conformance::suite!(OnDisk::default());
