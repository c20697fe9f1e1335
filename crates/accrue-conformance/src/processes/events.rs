//! Events of one customer that come through several processes at once.

use std::collections::BTreeMap;

use crate::{
    Processes,
    peers::{Peers, Shop, fired, hour, used},
    races::at_once,
};

/// Single events under keys of their own are each counted once, however processes commit them together, and each has
/// its record, which every process answers with.
pub fn single_events_are_counted_once_each(processes: &dyn Processes) {
    let (callers, each) = (16, 4);
    let peers = Peers::of(processes, 4);
    let shop = Shop::opened_by(peers.peer(0));
    let pro = shop.subscriber(peers.peer(0), "ada");
    let ingest = |process: usize, caller: usize, number: usize| {
        let peer = peers.peer(process);
        let key = format!("{caller} {number}");
        let event = used("ada", &key, peer.now(), 1);
        peer.settled(|| peer.account.ingest([event.clone()]), &key)
    };
    at_once(callers, |caller| {
        for number in 0..each {
            let answer = ingest(caller, caller, number);
            assert_eq!((answer.outcome.ingested, answer.is_replayed()), (1, false));
        }
    });
    let day = hour("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    let count = u64::try_from(callers * each).expect("they are few");
    for peer in peers.iter() {
        assert_eq!(shop.usage(peer, pro.customer_id, day), count);
    }
    for caller in 0..callers {
        for number in 0..each {
            let again = ingest(caller + 1, caller, number);
            assert_eq!((again.outcome.ingested, again.is_replayed()), (1, true));
        }
    }
    assert_eq!(shop.usage(peers.peer(0), pro.customer_id, day), count);
}

/// An event that comes through all processes at once, without an idempotency key of its request, counts once.
pub fn an_event_that_comes_through_all_processes_counts_once(processes: &dyn Processes) {
    let peers = Peers::of(processes, 4);
    let shop = Shop::opened_by(peers.peer(0));
    let pro = shop.subscriber(peers.peer(0), "ada");
    let day = hour("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    for round in 1..=5 {
        let key = format!("event {round}");
        let ingested: usize = at_once(peers.count(), |caller| {
            let peer = peers.peer(caller);
            peer.run(peer.account.ingest([used("ada", &key, peer.now(), 1)])).ingested
        })
        .into_iter()
        .sum();
        assert_eq!(ingested, 1, "{key} was new {ingested} times");
        for peer in peers.iter() {
            assert_eq!(shop.usage(peer, pro.customer_id, day), round);
        }
    }
}

/// Each threshold is told of once, in their order, though all processes bring usage up to it at once.
pub fn alerts_that_several_processes_reach_fire_once(processes: &dyn Processes) {
    let peers = Peers::of(processes, 4);
    let shop = Shop::opened_by(peers.peer(0));
    let pro = shop.subscriber(peers.peer(0), "ada");
    let (first, account) = (peers.peer(0), &peers.peer(0).account);
    first.run(account.create_subscription_alert(pro.id, shop.alert(&[3, 8, 20, 29, 100])));
    at_once(8, |caller| {
        let peer = peers.peer(caller);
        for number in 0..4 {
            let event = used("ada", &format!("{caller} {number}"), peer.now(), 1);
            peer.run(peer.account.ingest([event]));
        }
    });
    for peer in peers.iter() {
        assert_eq!(fired(&peer.waiting()), BTreeMap::from([(pro.id, vec![3, 8, 20, 29])]));
    }
}

/// Batches that several processes write for several customers at once are each there as a whole: nobody waits in a
/// circle.
pub fn batches_of_several_customers_are_counted_once_each(processes: &dyn Processes) {
    let (names, callers, each) = (["ada", "bob", "eve"], 8, 4);
    let peers = Peers::of(processes, 4);
    let shop = Shop::opened_by(peers.peer(0));
    let customers = names.map(|name| shop.subscriber(peers.peer(0), name).customer_id);
    let share = |caller: usize, number: usize| {
        let chosen = 1 + (caller + number) % 7;
        names.iter().enumerate().filter(move |(at, _)| chosen >> at & 1 == 1)
    };
    at_once(callers, |caller| {
        let peer = peers.peer(caller);
        for number in 0..each {
            let event =
                |name: &str| used(name, &format!("{name} {caller} {number}"), peer.now(), 1);
            peer.run(peer.account.ingest(share(caller, number).map(|(_, name)| event(name))));
        }
    });
    let day = hour("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    for (place, customer) in customers.into_iter().enumerate() {
        let all = (0..callers).flat_map(|caller| (0..each).map(move |number| (caller, number)));
        let of = |(caller, number)| share(caller, number).filter(|(at, _)| *at == place).count();
        let count = u64::try_from(all.map(of).sum::<usize>()).expect("they are few");
        for peer in peers.iter() {
            assert_eq!(shop.usage(peer, customer, day), count);
        }
    }
}
