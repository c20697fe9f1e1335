use std::{
    future::Future,
    io,
    path::Path,
    pin::Pin,
    sync::mpsc::{self, Receiver, Sender},
    task::{Context, Poll, Waker},
};

use accrue::store::{Batch, Document, Expected, Key, Table};
use fjall::OwnedWriteBatch;

use crate::{FjallOptions, FjallStore, step::Step};

/// What a paused step does next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    Go,
    Fail,
    Panic,
}

/// Holds every step of a store until the test decides on it.
#[derive(Debug)]
pub(super) struct Gate {
    begun: Receiver<()>,
    verdicts: Sender<Verdict>,
}

impl Gate {
    /// Opens a store whose steps wait at the gate.
    pub(super) fn open(path: &Path) -> (FjallStore, Self) {
        let (begin, begun) = mpsc::channel();
        let (verdicts, decided) = mpsc::channel();
        let (opened, disk) = FjallOptions::new().prepare(path).unwrap();
        let step = GatedStep { disk, begin, decided };
        (FjallStore::start(opened, Box::new(step)).unwrap(), Self { begun, verdicts })
    }

    /// Waits until a step has begun. It stays paused.
    pub(super) fn wait(&self) {
        self.begun.recv().unwrap();
    }

    pub(super) fn decide(&self, verdict: Verdict) {
        self.verdicts.send(verdict).unwrap();
    }

    /// Tells how many further steps have begun.
    pub(super) fn count(&self) -> usize {
        self.begun.try_iter().count()
    }
}

#[derive(Debug)]
struct GatedStep<S> {
    disk: S,
    begin: Sender<()>,
    decided: Receiver<Verdict>,
}

impl<S: Step> Step for GatedStep<S> {
    fn commit(&mut self, batch: OwnedWriteBatch) -> fjall::Result<()> {
        // A test that has dropped its gate wants no more pauses.
        let _ = self.begin.send(());
        match self.decided.recv().unwrap_or(Verdict::Go) {
            Verdict::Go => self.disk.commit(batch),
            Verdict::Fail => Err(io::Error::other("injected").into()),
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
