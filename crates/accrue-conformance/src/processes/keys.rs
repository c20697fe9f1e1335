//! Idempotency keys that several processes are asked with (§4.5): one effect, and one answer.

use accrue::{ErrorKind, item::NewItem};

use crate::{
    FaultyStore, Odds, Processes,
    peers::{Peers, Shop, hour, name, new_customer, used},
    races::at_once,
};

/// Of the same request to all processes at once, several times to each, one has an effect, and all have its answer.
pub fn one_key_in_all_processes_has_one_effect(processes: &dyn Processes) {
    let peers = Peers::of(processes, 4);
    let shop = Shop::opened_by(peers.peer(0));
    let ada = shop.subscriber(peers.peer(0), "ada").customer_id;
    for round in 1..=5 {
        let key = format!("grant {round}");
        let answers = at_once(2 * peers.count(), |caller| {
            let peer = peers.peer(caller);
            peer.settled(|| peer.account.create_ledger_entry(ada, shop.grant(3)), &key)
        });
        let fresh = answers.iter().filter(|answer| !answer.is_replayed()).count();
        assert_eq!(fresh, 1, "{fresh} of the answers are fresh");
        let ids: Vec<_> = answers.iter().map(|answer| answer.outcome.id).collect();
        assert!(ids.iter().all(|id| ids.first() == Some(id)), "several answers: {ids:?}");
        for peer in peers.iter() {
            assert_eq!(shop.balance(peer, ada), 3 * round);
        }
    }
}

/// A key that one process has used is answered by all as it was answered there, an error too.
pub fn an_answer_is_replayed_by_every_process(processes: &dyn Processes) {
    let peers = Peers::of(processes, 3);
    let shop = Shop::opened_by(peers.peer(0));
    shop.subscriber(peers.peer(0), "ada");
    let event = used("ada", "event", peers.peer(0).now(), 7);
    let twice = new_customer("ada");
    for first in 0..3 {
        let (ingested, refused) = (format!("ingest {first}"), format!("create {first}"));
        let mut answers = Vec::new();
        for caller in first..first + 3 {
            let peer = peers.peer(caller);
            let answer = peer.keyed(peer.account.ingest([event.clone()]), &ingested);
            let answer = answer.expect("an event is ingested");
            answers.push((answer.outcome, answer.is_replayed()));
            let error = peer.keyed(peer.account.create_customer(twice.clone()), &refused);
            let error = error.expect_err("the external id is used");
            assert_eq!(error.kind(), ErrorKind::DuplicateResource);
            assert_eq!(error.is_replayed(), caller > first, "{error}");
        }
        let outcomes: Vec<_> = answers.iter().map(|(outcome, _)| *outcome).collect();
        assert!(outcomes.windows(2).all(|pair| pair.first() == pair.last()), "{outcomes:?}");
        let replayed: Vec<_> = answers.iter().map(|(_, is_replayed)| *is_replayed).collect();
        assert_eq!(replayed, [false, true, true]);
    }
}

/// A key that one process has used for one request is a conflict in all others for another one.
pub fn a_key_that_another_process_used_is_taken(processes: &dyn Processes) {
    let peers = Peers::of(processes, 3);
    for first in 0..3 {
        let key = format!("key {first}");
        let create = |caller: usize, item: &str| {
            let account = &peers.peer(caller).account;
            peers.peer(caller).keyed(account.create_item(NewItem::new(name(item))), &key)
        };
        create(first, "one").expect("an item is created");
        for caller in first + 1..first + 3 {
            let error = create(caller, "other").expect_err("the key is taken");
            assert_eq!(error.kind(), ErrorKind::ResourceConflict);
            assert!(!error.can_be_retried(), "{error}");
            let again = create(caller, "one").expect("it is answered as before");
            assert!(again.is_replayed(), "a second effect");
        }
    }
}

/// A request of which one process does not know whether it was done is finished by another, and done once.
pub fn an_unknown_outcome_is_found_out_by_another_process(processes: &dyn Processes) {
    let odds = Odds { refused: 150, lost: 150, dropped: 150, corrupt: 0 };
    let calm = Odds::NONE;
    let peers = Peers::wrapping(processes, 2, |number, store| {
        FaultyStore::seeded(store, 5, if number == 0 { calm } else { odds })
    });
    let (sound, troubled) = (peers.peer(0), peers.peer(1));
    let shop = Shop::opened_by(sound);
    let ada = shop.subscriber(sound, "ada").customer_id;
    let requests = 40;
    for number in 0..requests {
        let key = format!("request {number}");
        let event = used("ada", &key, sound.now(), 1);
        let first = troubled.keyed(troubled.account.ingest([event.clone()]), &key);
        if let Err(error) = &first {
            assert!(error.can_be_retried(), "{error}");
        }
        let again = sound.settled(|| sound.account.ingest([event.clone()]), &key);
        assert_eq!(again.outcome.ingested, 1);
        assert!(first.is_err() || again.is_replayed(), "{key} had two effects");
        sound.settled(
            || sound.account.create_ledger_entry(ada, shop.grant(1)),
            &format!("{key} grant"),
        );
    }
    let day = hour("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    assert_eq!(shop.usage(sound, ada, day), requests);
    assert_eq!(shop.balance(sound, ada), requests);
}
