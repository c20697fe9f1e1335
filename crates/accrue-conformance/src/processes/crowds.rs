//! Crowds of callers in several processes on one customer, who wait for their [turns](accrue::store::Turns). They do not
//! apply where the backend has none: there a caller may lose more races than it is allowed.

use std::sync::Arc;

use crate::{
    Calls, FaultyStore, Processes,
    peers::{Peers, Shop, hour, used},
    races::at_once,
};

const PROCESSES: usize = 4;
const CALLERS: usize = 16;
const EACH: usize = 2;

/// Of four processes with 16 callers each on one customer nobody starves: every call is answered, and until a caller is done
/// there are at most three times as many calls of the store as in the mean.
pub fn of_a_crowd_on_one_customer_nobody_starves(processes: &dyn Processes) {
    if processes.open().turns.is_none() {
        return;
    }
    let mut stores = Vec::new();
    let peers = Peers::wrapping(processes, PROCESSES, |_, store| {
        let counted = Arc::new(FaultyStore::new(store));
        stores.push(Arc::<FaultyStore<_>>::clone(&counted));
        counted
    });
    let shop = Shop::opened_by(peers.peer(0));
    let ada = shop.subscriber(peers.peer(0), "ada").customer_id;
    let calls = || stores.iter().map(|store| store.calls(Calls::All)).sum::<u64>();
    let before = calls();
    let took = at_once(PROCESSES * CALLERS, |caller| {
        let peer = peers.peer(caller);
        for number in 0..EACH {
            let event = used("ada", &format!("{caller} {number}"), peer.now(), 1);
            let ingested = peer.run(peer.account.ingest([event])).ingested;
            assert_eq!(ingested, 1);
        }
        calls() - before
    });
    let all = u64::try_from(PROCESSES * CALLERS * EACH).expect("they are few");
    for peer in peers.iter() {
        let day = hour("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
        assert_eq!(shop.usage(peer, ada, day), all);
    }
    let callers = u64::try_from(took.len()).expect("they are few");
    let mean = took.iter().sum::<u64>() / callers;
    let most = took.iter().max().copied().unwrap_or_default();
    assert!(most <= 3 * mean, "{most} calls of the store, {mean} in the mean");
}
