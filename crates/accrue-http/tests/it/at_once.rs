//! Requests under one key at the same time, in one process and in two.

use std::thread;

use accrue::{AccountId, IdempotencyKey, idempotency::Fingerprint, limits};
use http::StatusCode;
use serde_json::json;

use crate::{
    stores::HookedStore,
    support::{Answer, Host},
};

fn send(host: &Host, name: &str) -> Answer {
    host.keyed("POST", "/v1/items", "k", json!({"name": name}))
}

#[test]
fn in_flight_here_the_same_payload_waits_and_another_never_will_do() {
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    thread::scope(|scope| {
        let gate = store.gate();
        let original = scope.spawn(|| send(&host, "Tokens"));
        gate.wait();
        send(&host, "Tokens").is_in_flight();
        send(&host, "Other").is_reused();
        // Another payload by its operation, and one that is invalid.
        host.keyed("POST", "/v1/events/search", "k", json!({"event_ids": ["a"]})).is_reused();
        host.keyed("POST", "/v1/items", "k", "[").is_reused();
        // Other keys, and those of other methods, are not held up.
        host.keyed("POST", "/v1/items", "other", json!({"name": "O"})).ok(StatusCode::CREATED);
        host.keyed("GET", "/v1/items", "k", ()).ok(StatusCode::OK);
        gate.open();
        let original = original.join().unwrap();
        original.is_fresh().ok(StatusCode::CREATED);
        send(&host, "Tokens").replays(&original);
    });
    assert_eq!(host.items(), 2);
}

#[test]
fn a_search_holds_its_key_until_it_is_answered() {
    let store = HookedStore::new();
    let host = Host::over(store.clone());
    let search = || host.keyed("POST", "/v1/events/search", "s", json!({"event_ids": ["a"]}));
    thread::scope(|scope| {
        let gate = store.gate();
        let original = scope.spawn(search);
        gate.wait();
        search().is_in_flight();
        gate.open();
        original.join().unwrap().ok(StatusCode::OK);
    });
    search().is_fresh().ok(StatusCode::OK);
}

/// Lets another process have the key before the commit of this one.
fn lose_the_key(other_name: &'static str) -> (HookedStore, Host, Host) {
    let store = HookedStore::new();
    let (here, there) = (Host::over(store.clone()), Host::another(store.inner.clone()));
    let faster = Host::another(store.inner.clone());
    store.before_commit(move |_| {
        send(&faster, other_name).is_fresh().ok(StatusCode::CREATED);
        None
    });
    (store, here, there)
}

#[test]
fn who_loses_the_key_to_another_process_is_answered_as_that_was_and_has_no_effect() {
    let (_, here, there) = lose_the_key("Tokens");
    send(&here, "Tokens").replays(&send(&there, "Tokens").unmarked());
    assert_eq!(here.items(), 1);
}

#[test]
fn who_loses_the_key_to_another_payload_is_409() {
    let (_, here, there) = lose_the_key("Other");
    send(&here, "Tokens").is_reused();
    send(&there, "Other").ok(StatusCode::CREATED);
    assert_eq!(here.items(), 1);
}

#[test]
fn who_loses_the_key_of_a_search_is_409() {
    let store = HookedStore::new();
    let (here, there) = (Host::over(store.clone()), Host::another(store.inner.clone()));
    store.before_commit(move |_| {
        send(&there, "Tokens").ok(StatusCode::CREATED);
        None
    });
    here.keyed("POST", "/v1/events/search", "k", json!({"event_ids": ["a"]})).is_reused();
    send(&here, "Tokens").ok(StatusCode::CREATED);
}

/// Lets another process move the row that is archived, before so many commits.
fn contend(times: usize) -> (Host, String) {
    let store = HookedStore::new();
    let (here, there) = (Host::over(store.clone()), Host::another(store.inner.clone()));
    let item = here.item("Tokens");
    let path = format!("/v1/items/{item}");
    let left = std::sync::atomic::AtomicUsize::new(times);
    store.hook(move |call| {
        use std::sync::atomic::Ordering::SeqCst;
        let is_commit = matches!(call, crate::stores::Call::Commit(_));
        if is_commit && left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            let name = format!("Tokens {}", left.load(SeqCst));
            there.put(&path, json!({"name": name})).ok(StatusCode::OK);
        }
        None
    });
    (here, item)
}

#[test]
fn another_race_that_is_lost_is_run_again_and_not_without_end() {
    let archive =
        |host: &Host, item: &str| host.keyed("POST", &format!("/v1/items/{item}/archive"), "k", ());
    let (host, item) = contend(limits::RUNS - 1);
    let archived = archive(&host, &item);
    assert_eq!(archived.is_fresh().ok(StatusCode::OK)["name"], "Tokens 0");
    archive(&host, &item).replays(&archived);

    let (host, item) = contend(limits::RUNS);
    archive(&host, &item).failed(Some("true"));
    let fetched = host.get(&format!("/v1/items/{item}")).ok(StatusCode::OK);
    assert_eq!(fetched["archived_at"], json!(null));
    // Nothing was kept: the retry is a first attempt.
    archive(&host, &item).is_fresh().ok(StatusCode::OK);
}

#[test]
fn a_full_map_of_keys_in_flight_is_429_and_nothing_is_kept() {
    let host = Host::new();
    let account = host.billing.account(AccountId::parse("crowd").unwrap());
    let payload = Fingerprint::of(["payload"]);
    let enter = |n: usize| {
        let key = IdempotencyKey::parse(n.to_string()).unwrap();
        account.admit(key, payload).unwrap()
    };
    let mut admitted: Vec<_> = (1..limits::IN_FLIGHT).map(enter).collect();
    send(&host, "Tokens").ok(StatusCode::CREATED);
    admitted.push(enter(0));
    let full = host.keyed("POST", "/v1/items", "one more", json!({"name": "Tokens"}));
    full.error(429, "429-too-many-requests");
    assert_eq!(full.header("retry-after"), Some("1"));
    assert_eq!(full.header("idempotency-key"), Some("one more"));
    // Who needs no place is served.
    host.post("/v1/items", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
    drop(admitted);
    let again = host.keyed("POST", "/v1/items", "one more", json!({"name": "Tokens"}));
    again.is_fresh().ok(StatusCode::CREATED);
    assert_eq!(host.items(), 3);
}

#[test]
fn many_threads_with_one_key_in_two_processes_have_one_effect() {
    for round in 0..50 {
        let store = std::sync::Arc::new(accrue::store::MemoryStore::new());
        let hosts = [Host::over(store.clone()), Host::another(store)];
        let barrier = std::sync::Barrier::new(8);
        let answers: Vec<_> = thread::scope(|scope| {
            let callers: Vec<_> = (0..8)
                .map(|n| {
                    let (host, barrier) = (&hosts[n % 2], &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        send(host, "Tokens")
                    })
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).collect()
        });
        assert_eq!(hosts[0].items(), 1, "round {round}");
        let (answered, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answer| answer.status == 201);
        refused.iter().for_each(|answer| answer.is_in_flight());
        let fresh = answered.iter().filter(|it| it.header("idempotent-replayed").is_none());
        assert_eq!(fresh.count(), 1, "round {round}");
        assert!(answered.iter().all(|it| it.bytes == answered[0].bytes));
    }
}
