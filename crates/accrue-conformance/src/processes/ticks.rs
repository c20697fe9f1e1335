//! Ticks of several processes at once.

use crate::{
    Processes,
    peers::{Peers, Shop, at, customer, started, used},
    races::at_once,
};

const CUSTOMERS: usize = 48;

/// Processes that tick at once apply all that is due, each of it once, and leave nothing.
pub fn ticks_of_several_processes_apply_all_once(processes: &dyn Processes) {
    let peers = Peers::of(processes, 4);
    let shop = Shop::opened_by(peers.peer(0));
    let start = at("2026-03-12T00:00:00Z");
    let per_process = at_once(peers.count(), |number| {
        let peer = peers.peer(number);
        let subscribe = |of: usize| {
            let customer = customer(peer, &format!("customer {of}")).id;
            peer.run(peer.account.create_subscription(shop.subscription(customer, start))).id
        };
        (number..CUSTOMERS).step_by(peers.count()).map(subscribe).collect::<Vec<_>>()
    });
    let mut all: Vec<_> = per_process.into_iter().flatten().collect();
    all.sort_unstable();
    peers.set("2026-03-12T00:00:10Z");
    at_once(peers.count(), |number| peers.peer(number).tick());
    for peer in peers.iter() {
        let mut told = started(&peer.waiting());
        told.sort_unstable();
        assert_eq!(told, all, "each subscription begins once");
        assert_eq!(peer.tick(), 0, "something was left");
        let next = peer.read(peer.account.billing().next_deadline());
        assert!(next.is_none_or(|next| next > peer.now()), "{next:?} is due");
    }
}

/// A tick beside requests for the same customers: each transition is told of once, and every request is answered.
pub fn ticks_beside_requests_apply_all_once(processes: &dyn Processes) {
    let peers = Peers::of(processes, 4);
    let shop = Shop::opened_by(peers.peer(0));
    let start = at("2026-03-12T00:00:00Z");
    let names: Vec<_> = (0..12).map(|number| format!("customer {number}")).collect();
    let mut all: Vec<_> = names
        .iter()
        .map(|name| {
            let peer = peers.peer(0);
            let customer = customer(peer, name).id;
            peer.run(peer.account.create_subscription(shop.subscription(customer, start))).id
        })
        .collect();
    all.sort_unstable();
    peers.set("2026-03-12T00:00:10Z");
    at_once(peers.count(), |number| {
        let peer = peers.peer(number);
        if number % 2 == 0 {
            peer.tick();
            return;
        }
        for name in &names {
            let event = used(name, &format!("{name} {number}"), peer.now(), 1);
            peer.run(peer.account.ingest([event]));
        }
    });
    for peer in peers.iter() {
        let mut told = started(&peer.waiting());
        told.sort_unstable();
        assert_eq!(told, all, "each subscription begins once");
        assert_eq!(peer.tick(), 0, "something was left");
    }
}
