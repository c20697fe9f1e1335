use std::{
    future::Future,
    io,
    path::Path,
    pin::Pin,
    sync::mpsc::{self, Receiver, Sender},
    task::{Context, Poll, Waker},
};

use accrue::store::{Batch, Document, Expected, Key, Table};

use crate::{
    SledOptions, SledStore,
    sync::{DiskSync, Sync},
};

/// What a paused sync does next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    Go,
    Fail,
    Panic,
}

/// Holds every sync of a store until the test decides on it.
#[derive(Debug)]
pub(super) struct Gate {
    begun: Receiver<()>,
    verdicts: Sender<Verdict>,
}

impl Gate {
    /// Opens a store whose syncs wait at the gate.
    pub(super) fn open(path: &Path) -> (SledStore, Self) {
        let (begin, begun) = mpsc::channel();
        let (verdicts, decided) = mpsc::channel();
        let (opened, disk) = SledOptions::new().prepare(path).unwrap();
        let sync = GatedSync { disk, begin, decided };
        (SledStore::start(opened, Box::new(sync)).unwrap(), Self { begun, verdicts })
    }

    /// Waits until a sync has begun. It stays paused.
    pub(super) fn wait(&self) {
        self.begun.recv().unwrap();
    }

    pub(super) fn decide(&self, verdict: Verdict) {
        self.verdicts.send(verdict).unwrap();
    }

    /// Tells how many further syncs have begun.
    pub(super) fn count(&self) -> usize {
        self.begun.try_iter().count()
    }
}

#[derive(Debug)]
struct GatedSync {
    disk: DiskSync,
    begin: Sender<()>,
    decided: Receiver<Verdict>,
}

impl Sync for GatedSync {
    fn sync(&mut self) -> io::Result<()> {
        // A test that has dropped its gate wants no more pauses.
        let _ = self.begin.send(());
        match self.decided.recv().unwrap_or(Verdict::Go) {
            Verdict::Go => self.disk.sync(),
            Verdict::Fail => Err(io::Error::other("injected")),
            Verdict::Panic => panic!("injected"),
        }
    }
}

pub(super) const TABLE: Table = Table::new("item");

pub(super) fn key(bytes: &[u8]) -> Key {
    Key::new(TABLE, bytes)
}

pub(super) fn put(bytes: &[u8]) -> Batch {
    Batch::new().put(key(bytes), Document::parse(r#"{"v":1}"#).unwrap())
}

pub(super) fn insert(bytes: &[u8]) -> Batch {
    put(bytes).expect(key(bytes), Expected::Absent)
}

/// Polls once: the answer, if it is there already.
pub(super) fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
