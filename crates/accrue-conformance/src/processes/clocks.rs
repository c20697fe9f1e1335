//! Clocks of processes that differ by seconds and by minutes: each decides as of its own, and nothing is lost or
//! counted twice.

use std::{collections::BTreeMap, time::Duration};

use accrue::ErrorKind;

use crate::{
    Processes,
    peers::{NOON, Peer, Peers, Shop, at, customer, fired, hour, started, used},
};

const DAY: u64 = 24 * 60 * 60;

/// Two processes, the second of which is ahead.
struct Apart<'a> {
    peers: Peers<'a>,
    shop: Shop,
}

impl<'a> Apart<'a> {
    fn by(processes: &'a dyn Processes, seconds: u64) -> Self {
        let peers = Peers::of(processes, 2);
        let shop = Shop::opened_by(peers.peer(0));
        peers.peer(1).clock.advance(Duration::from_secs(seconds));
        Self { peers, shop }
    }

    fn behind(&self) -> &Peer<'a> {
        self.peers.peer(0)
    }

    fn ahead(&self) -> &Peer<'a> {
        self.peers.peer(1)
    }

    /// Sets the clocks, so that they stay apart.
    fn set(&self, behind: &str, seconds: u64) {
        self.behind().set(behind);
        self.ahead().clock.set(at(behind).saturating_add(Duration::from_secs(seconds)));
    }
}

/// An event that is too old for one process is taken by one that is behind it, and then is there for both; one that is
/// yet to come for one is taken by one that is ahead of it.
pub fn events_at_the_edges_are_taken_by_the_clock_of_the_process(processes: &dyn Processes) {
    let apart = Apart::by(processes, 0);
    for (seconds, name) in [(30, "ada"), (4 * 60, "bob")] {
        apart.set(NOON, seconds);
        edges(&apart, seconds, name);
    }
}

fn edges(apart: &Apart<'_>, seconds: u64, name: &str) {
    let (behind, ahead) = (apart.behind(), apart.ahead());
    let ada = apart.shop.subscriber(behind, name).customer_id;
    let old = used(name, &format!("{name} old"), behind.ago(DAY - seconds / 2), 1);
    let soon = behind.now().saturating_add(Duration::from_secs(5 * 60 + seconds / 2));
    let soon = used(name, &format!("{name} soon"), soon, 1);
    let takes = |peer: &Peer<'_>, event| match peer.try_run(peer.account.ingest([event])) {
        Ok(ingestion) => Some((ingestion.ingested, ingestion.duplicates)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::RequestValidation);
            None
        }
    };
    for (event, refusing, taking) in [(&old, ahead, behind), (&soon, behind, ahead)] {
        assert_eq!(takes(refusing, event.clone()), None);
        assert_eq!(takes(taking, event.clone()), Some((1, 0)));
        for peer in [refusing, taking] {
            assert_eq!(takes(peer, event.clone()), Some((0, 1)), "a key is judged first");
        }
    }
    for peer in [behind, ahead] {
        let days = hour("2026-03-09T00:00:00Z", "2026-03-12T00:00:00Z");
        assert_eq!(apart.shop.usage(peer, ada, days), 2);
    }
}

/// A record that one process has written is found by one that is behind it, or ahead, also where a period of 48 hours ends
/// between them.
pub fn records_are_found_across_the_end_of_an_epoch(processes: &dyn Processes) {
    let seconds = 20 * 60;
    let apart = Apart::by(processes, seconds);
    let ada = apart.shop.subscriber(apart.behind(), "ada").customer_id;
    // Epochs end at midnight of every other day.
    for day in [12, 13, 14] {
        apart.set(&format!("2026-03-{day}T23:50:00Z"), seconds);
        for (first, then) in [(0, 1), (1, 0)] {
            let key = format!("{day} {first}");
            let grant = |number: usize| {
                let peer = apart.peers.peer(number);
                peer.settled(|| peer.account.create_ledger_entry(ada, apart.shop.grant(1)), &key)
            };
            assert!(!grant(first).is_replayed());
            assert!(grant(then).is_replayed(), "a second effect");
            assert!(grant(first).is_replayed(), "a second effect");
        }
    }
    assert_eq!(apart.shop.balance(apart.ahead(), ada), 6);
}

/// A record holds for 48 hours by the clock of whoever is asked: one that is ahead forgets it first, and removes nothing that
/// the others need.
pub fn records_end_by_the_clock_of_the_process(processes: &dyn Processes) {
    let seconds = 30 * 60;
    let apart = Apart::by(processes, seconds);
    let ada = apart.shop.subscriber(apart.behind(), "ada").customer_id;
    // Written just before the end of an epoch: as late as can be for what is removed with it.
    apart.set("2026-03-11T23:58:00Z", 0);
    let grant = |peer: &Peer<'_>, key: &str| {
        peer.settled(|| peer.account.create_ledger_entry(ada, apart.shop.grant(1)), key)
    };
    for key in ["one", "other"] {
        assert!(!grant(apart.behind(), key).is_replayed());
    }
    apart.set("2026-03-13T23:50:00Z", seconds);
    let billing = apart.ahead().account.billing();
    apart.ahead().read(billing.collect_garbage(1_000));
    assert!(grant(apart.behind(), "one").is_replayed(), "a record was removed too early");
    assert!(!grant(apart.ahead(), "other").is_replayed(), "a record of more than 48 hours");
    assert!(grant(apart.behind(), "other").is_replayed(), "the record of whoever is ahead");
    for peer in apart.peers.iter() {
        assert_eq!(apart.shop.balance(peer, ada), 3);
    }
}

/// At the boundary of a billing period, each event counts in the period of its own instant, whichever process has turned it,
/// and alerts fire once in each.
pub fn events_at_a_boundary_count_in_their_own_periods(processes: &dyn Processes) {
    let apart = Apart::by(processes, 60);
    boundary(&apart, 0, "ada", ["2026-03-01", "2026-03-31", "2026-04-01", "2026-05-01"]);
    boundary(&apart, 1, "bob", ["2026-04-01", "2026-04-30", "2026-05-01", "2026-06-01"]);
}

/// Has events come on both sides of the end of a month, first through one process: its days are the first and the last of the
/// month, and the first of the next two.
fn boundary(apart: &Apart<'_>, process: usize, name: &str, days: [&str; 4]) {
    let [first, last, next, end] = days;
    let midnight = |day: &str| format!("{day}T00:00:00Z");
    let behind = apart.behind();
    let pro = apart.shop.subscriber(behind, name);
    behind.run(behind.account.create_subscription_alert(pro.id, apart.shop.alert(&[2])));
    apart.set(&format!("{last}T23:59:30Z"), 60);
    for round in 0..4 {
        let peer = apart.peers.peer(process + round);
        for instant in [format!("{last}T23:59:20Z"), format!("{next}T00:00:10Z")] {
            let event = used(name, &format!("{name} {instant} {round}"), at(&instant), 1);
            assert_eq!(peer.run(peer.account.ingest([event])).ingested, 1);
        }
        peer.tick();
    }
    apart.set(&format!("{next}T00:10:00Z"), 60);
    for peer in apart.peers.iter() {
        peer.tick();
        let ended = hour(&midnight(first), &midnight(next));
        let current = hour(&midnight(next), &midnight(end));
        for month in [ended, current] {
            assert_eq!(apart.shop.usage(peer, pro.customer_id, month), 4);
        }
        let usage = peer.read(peer.account.subscription_usage(pro.id));
        assert_eq!(usage.timeframe, current);
        let fired = fired(&peer.waiting()).remove(&pro.id);
        assert_eq!(fired, Some(vec![2, 2]), "once in each period");
    }
}

/// What is due is applied once, as of the clock of the process that applies it: by one that is ahead first, and by one that
/// is behind not again.
pub fn what_is_due_is_applied_once_whoever_is_ahead(processes: &dyn Processes) {
    let seconds = 90;
    let apart = Apart::by(processes, seconds);
    let (behind, ahead) = (apart.behind(), apart.ahead());
    let start = at("2026-03-12T00:00:00Z");
    let subscriptions = ["ada", "bob", "eve"].map(|name| {
        let customer = customer(behind, name).id;
        behind.run(behind.account.create_subscription(apart.shop.subscription(customer, start))).id
    });
    apart.set("2026-03-11T23:59:00Z", seconds);
    assert_eq!(behind.tick(), 0, "nothing is due yet");
    assert_eq!(started(&behind.waiting()), []);
    assert!(ahead.tick() > 0, "it is due for the one that is ahead");
    let expected = |peer: &Peer<'_>| {
        let mut found = started(&peer.waiting());
        found.sort_unstable();
        let mut all = subscriptions.to_vec();
        all.sort_unstable();
        assert_eq!(found, all, "each is told of once");
    };
    expected(behind);
    for (number, name) in ["ada", "bob", "eve"].into_iter().enumerate() {
        let peer = apart.peers.peer(number);
        peer.run(peer.account.ingest([used(name, name, peer.now(), 1)]));
    }
    assert_eq!(behind.tick(), 0, "it has been applied");
    apart.set("2026-03-12T00:10:00Z", seconds);
    for peer in apart.peers.iter() {
        peer.tick();
        expected(peer);
    }
    let told: BTreeMap<_, _> = behind.waiting().into_iter().map(|of| (of.id, of)).collect();
    assert_eq!(told.len(), behind.waiting().len(), "a message is there once");
}
