//! The writer on an engine in memory, whose writes the test lets go or breaks.

use std::{
    collections::HashMap,
    future::Future,
    io,
    pin::Pin,
    sync::mpsc::{self, Receiver, Sender},
    task::{Context, Poll, Waker},
};

use accrue::store::{Batch, Commit, Document, Expected, Key, StoreError, Table, Version};
use pollster::block_on;

use crate::{Engine, Group, WriteError, Writer};

#[derive(Clone, Copy, Debug)]
enum Verdict {
    Go,
    Fail,
    Panic,
}

#[derive(Debug)]
struct Gated {
    rows: HashMap<Key, Version>,
    begin: Sender<Group>,
    decided: Receiver<Verdict>,
    closed: Sender<&'static str>,
}

impl Engine for Gated {
    fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
        if key.bytes() == b"unreadable" {
            return Err(StoreError::corrupt("row is unreadable"));
        }
        Ok(self.rows.get(key).copied())
    }

    fn write(&mut self, group: Group) -> Result<(), WriteError> {
        let rows = group.rows.clone();
        let _ = self.begin.send(group);
        match self.decided.recv().unwrap_or(Verdict::Go) {
            Verdict::Go => {}
            Verdict::Fail => {
                return Err(WriteError::new("failed", io::Error::other("injected")));
            }
            Verdict::Panic => panic!("injected"),
        }
        for (key, row) in rows {
            match row {
                Some((version, _)) => self.rows.insert(key, version),
                None => self.rows.remove(&key),
            };
        }
        Ok(())
    }

    fn abandon(&mut self) {
        self.closed.send("abandoned").unwrap();
    }

    fn close(self) {
        self.closed.send("closed").unwrap();
    }
}

struct Gate {
    begun: Receiver<Group>,
    verdicts: Sender<Verdict>,
    closed: Receiver<&'static str>,
}

fn start(ceiling: u64) -> (Writer, Gate) {
    let (begin, begun) = mpsc::channel();
    let (verdicts, decided) = mpsc::channel();
    let (close, closed) = mpsc::channel();
    let engine = Gated { rows: HashMap::new(), begin, decided, closed: close };
    (Writer::start("test", engine, ceiling).unwrap(), Gate { begun, verdicts, closed })
}

fn key(bytes: &[u8]) -> Key {
    Key::new(Table::new("item"), bytes)
}

fn put(bytes: &[u8]) -> Batch {
    Batch::new().put(key(bytes), Document::parse(r#"{"v":1}"#).unwrap())
}

fn insert(bytes: &[u8]) -> Batch {
    put(bytes).expect(key(bytes), Expected::Absent)
}

fn poll<F: Future>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Keeps the writer busy with a first group, so that what is sent meanwhile shares the second.
macro_rules! busy {
    ($writer:ident, $gate:ident, $busy:ident) => {
        let mut $busy = Box::pin($writer.commit(put(b"busy")));
        assert!(poll(&mut $busy).is_none());
        assert_eq!($gate.begun.recv().unwrap().rows.len(), 1);
    };
}

#[test]
fn a_group_has_the_last_change_of_each_row() {
    let (writer, gate) = start(0);
    busy!(writer, gate, busy);
    let delete = || Batch::new().delete(key(b"a"));
    let (mut one, mut two) =
        (Box::pin(writer.commit(put(b"a"))), Box::pin(writer.commit(delete())));
    let (mut three, mut four) =
        (Box::pin(writer.commit(insert(b"a"))), Box::pin(writer.commit(put(b"b"))));
    assert!(poll(&mut one).is_none() && poll(&mut two).is_none());
    assert!(poll(&mut three).is_none() && poll(&mut four).is_none());
    gate.verdicts.send(Verdict::Go).unwrap();
    block_on(busy).unwrap();

    let group = gate.begun.recv().unwrap();
    gate.verdicts.send(Verdict::Go).unwrap();
    let Commit::Committed(version) = block_on(three).unwrap() else { panic!("a conflict") };
    assert_eq!(group.rows.len(), 2);
    let a = group.rows.iter().find(|(of, _)| *of == key(b"a")).unwrap().1.as_ref().unwrap();
    assert_eq!(a.0, version);
    assert!(matches!(block_on(four), Ok(Commit::Committed(_))));
}

#[test]
fn the_ceiling_is_in_the_group_that_passes_it() {
    let (writer, gate) = start(7);
    busy!(writer, gate, busy);
    gate.verdicts.send(Verdict::Go).unwrap();
    let Commit::Committed(version) = block_on(busy).unwrap() else { panic!("a conflict") };
    assert_eq!(version.number(), 8);

    let mut next = Box::pin(writer.commit(put(b"a")));
    assert!(poll(&mut next).is_none());
    assert_eq!(gate.begun.recv().unwrap().ceiling, None);
    gate.verdicts.send(Verdict::Go).unwrap();
    block_on(next).unwrap();
    drop(writer);
    let (writer, gate) = start(9);
    let mut first = Box::pin(writer.commit(put(b"a")));
    assert!(poll(&mut first).is_none());
    assert!(gate.begun.recv().unwrap().ceiling.unwrap() > 9);
    gate.verdicts.send(Verdict::Go).unwrap();
    block_on(first).unwrap();
}

/// One that changes, one that lost to it, one that changes nothing, and one whose row cannot be read.
#[test]
fn a_write_that_failed_has_an_unknown_outcome_for_those_who_change() {
    let (writer, gate) = start(0);
    busy!(writer, gate, busy);
    let mut winner = Box::pin(writer.commit(insert(b"a")));
    let mut loser = Box::pin(writer.commit(insert(b"a")));
    let mut check = Box::pin(writer.commit(Batch::new().expect(key(b"b"), Expected::Absent)));
    let mut unreadable = Box::pin(writer.commit(insert(b"unreadable")));
    let mut settled = Box::pin(writer.settled());
    assert!(poll(&mut winner).is_none() && poll(&mut loser).is_none());
    assert!(poll(&mut check).is_none() && poll(&mut unreadable).is_none());
    gate.verdicts.send(Verdict::Go).unwrap();
    block_on(busy).unwrap();
    gate.begun.recv().unwrap();
    assert!(poll(&mut settled).is_none());
    gate.verdicts.send(Verdict::Fail).unwrap();

    let unavailable = |error: &StoreError| matches!(error, StoreError::Unavailable { .. });
    let error = block_on(winner).unwrap_err();
    assert!(matches!(error, StoreError::Indeterminate { .. }), "{error:?}");
    assert!(unavailable(&block_on(loser).unwrap_err()));
    assert!(unavailable(&block_on(check).unwrap_err()));
    let error = block_on(unreadable).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(unavailable(&block_on(settled).unwrap_err()));

    assert!(unavailable(&writer.check().unwrap_err()));
    assert!(unavailable(&block_on(writer.commit(put(b"later"))).unwrap_err()));
    assert!(unavailable(&block_on(writer.commit(Batch::new())).unwrap_err()));
    drop(writer);
    assert_eq!(gate.closed.iter().collect::<Vec<_>>(), ["closed"]);
    assert_eq!(gate.begun.iter().count(), 0, "nothing is written after a failure");
}

#[test]
fn a_panic_is_an_unknown_outcome_and_abandons_the_engine() {
    let (writer, gate) = start(0);
    busy!(writer, gate, busy);
    let mut settled = Box::pin(writer.settled());
    assert!(poll(&mut settled).is_none());
    gate.verdicts.send(Verdict::Panic).unwrap();
    assert!(matches!(block_on(busy), Err(StoreError::Indeterminate { .. })));
    assert!(matches!(block_on(settled), Err(StoreError::Unavailable { .. })));
    assert!(matches!(block_on(writer.commit(put(b"a"))), Err(StoreError::Unavailable { .. })));
    drop(writer);
    assert_eq!(gate.closed.iter().collect::<Vec<_>>(), ["abandoned", "closed"]);
}

#[test]
fn a_check_writes_nothing() {
    let (writer, gate) = start(0);
    let check = || Batch::new().expect(key(b"a"), Expected::Absent);
    assert!(matches!(block_on(writer.commit(check())), Ok(Commit::Committed(_))));
    drop(writer);
    assert_eq!(gate.begun.iter().count(), 0);
}
