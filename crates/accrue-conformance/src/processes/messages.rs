//! Messages that workers of several processes hand out.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use accrue::{MessageId, PageRequest};

use crate::{
    Processes,
    peers::{Peer, Peers, STEPS, customer},
    races::at_once,
};

const WRITERS: usize = 2;
const EACH: usize = 15;

/// While some processes write messages, workers of all hand them out: each is read at least once, none is there once it was
/// acknowledged, and the messages of a customer come in their order.
pub fn messages_of_several_workers_are_all_handed_out(processes: &dyn Processes) {
    let peers = Peers::of(processes, 4);
    let writers = AtomicUsize::new(WRITERS);
    let read = at_once(peers.count(), |number| {
        let peer = peers.peer(number);
        let mut read = Vec::new();
        if number < WRITERS {
            let _writer = Writer(&writers);
            (0..EACH).for_each(|of| drop(customer(peer, &format!("customer {number} {of}"))));
        }
        let mut steps = 0;
        while steps < STEPS {
            let is_over = writers.load(Ordering::SeqCst) == 0;
            let found = hand_out(peer);
            if is_over && found.is_empty() {
                break;
            }
            steps += usize::from(is_over);
            read.extend(found);
        }
        assert!(steps < STEPS, "messages that were acknowledged come again and again");
        read
    });
    let mut all = BTreeMap::<MessageId, usize>::new();
    for id in read.into_iter().flatten() {
        *all.entry(id).or_default() += 1;
    }
    assert_eq!(all.len(), WRITERS * EACH, "messages were lost");
    for peer in peers.iter() {
        assert_eq!(peer.waiting(), []);
    }
}

/// One who writes, until it is dropped: workers do not wait for one that has failed.
struct Writer<'a>(&'a AtomicUsize);

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let Self(writers) = self;
        writers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads a few messages and acknowledges them.
fn hand_out(peer: &Peer<'_>) -> Vec<MessageId> {
    let page = PageRequest::first_of_messages(4).expect("it is a page");
    let found = peer.read(peer.account.list_messages(&page)).data;
    peer.run(peer.account.acknowledge(found.iter().map(|message| message.place)));
    found.iter().map(|message| message.id).collect()
}

/// What one process has acknowledged is gone for all, and what it has written is read by all, in one order.
pub fn messages_are_read_alike_by_every_process(processes: &dyn Processes) {
    let peers = Peers::of(processes, 3);
    let ids = |peer: &Peer<'_>| peer.waiting().iter().map(|of| of.id).collect::<Vec<_>>();
    for round in 0..6 {
        customer(peers.peer(round), &format!("customer {round}"));
        let expected = ids(peers.peer(round));
        assert_eq!(expected.len(), 1 + round % 2, "one more in each round");
        for peer in peers.iter() {
            assert_eq!(ids(peer), expected);
        }
        if round % 2 == 1 {
            let worker = peers.peer(round + 1);
            let places: Vec<_> = worker.waiting().iter().map(|of| of.place).collect();
            worker.run(worker.account.acknowledge(places.clone()));
            for peer in peers.iter() {
                assert_eq!(ids(peer), []);
                // Whoever comes too late changes nothing.
                peer.run(peer.account.acknowledge(places.clone()));
            }
        }
    }
}
