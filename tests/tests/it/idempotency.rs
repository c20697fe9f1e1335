//! §4.5: effects equal distinct keys, and no replay differs by a byte.

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::Barrier,
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

use accrue::{
    Error, ErrorKind,
    item::{ExternalConnection, ExternalSystem, ItemUpdate, NewItem},
    store::{MemoryStore, Store},
};
use accrue_fjall::FjallStore;
use accrue_sled::SledStore;
use accrue_tests::{
    cases,
    host::{Host, customer, event, key, name},
    operation::{Answered, OPERATIONS, Operation, Scene, shape, told},
    stores::{PendingStore, dump},
};
use pollster::block_on;
use proptest::prelude::*;

const HOURS_48: Duration = Duration::from_secs(48 * 60 * 60);

fn call(host: &Host, scene: &Scene, operation: Operation, by: &str) -> Result<Answered, Error> {
    block_on(operation.call(&host.account, scene, key(by), 0))
}

/// Lets callers race for one key, and says what each was answered.
fn race(
    hosts: &[Host],
    scene: &Scene,
    operation: Operation,
    variants: &[u64],
) -> Vec<Result<Answered, Error>> {
    let barrier = Barrier::new(variants.len());
    thread::scope(|scope| {
        let callers = variants.iter().enumerate().map(|(index, variant)| {
            let (host, barrier) = (&hosts[index % hosts.len()], &barrier);
            scope.spawn(move || {
                barrier.wait();
                block_on(operation.call(&host.account, scene, key("raced"), *variant))
            })
        });
        let callers: Vec<_> = callers.collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

/// Runs a race, and compares its effect with that of one caller alone.
fn check_race(
    store: impl Store,
    alone: impl Store,
    operation: Operation,
    processes: u64,
    variants: &[u64],
) {
    let host = Host::on(store);
    let scene = Scene::set(&host);
    let hosts: Vec<_> = (0..processes).map(|n| host.another(100 + n)).collect();
    let answers = race(&hosts, &scene, operation, variants);

    let mut texts = BTreeSet::new();
    let mut winner = None;
    for (answer, variant) in answers.iter().zip(variants) {
        match answer {
            Ok(answered) => {
                texts.insert(answered.text.clone());
                winner = Some(*variant);
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::ResourceConflict, "{error:?}"),
        }
    }
    assert_eq!(texts.len(), 1, "{operation:?} was answered in several ways");
    let fresh = answers.iter().flatten().filter(|answered| !answered.replayed).count();
    assert_eq!(fresh, 1, "{operation:?} ran {fresh} times");
    let winner = winner.unwrap();
    // With several payloads a loser may have met another one that was in flight, and lost as well.
    if variants.iter().all(|variant| *variant == winner) {
        let conflicts = answers.iter().filter_map(|answer| answer.as_ref().err());
        conflicts.for_each(|error| assert!(error.can_be_retried(), "{error:?}"));
    }

    for (host, variant) in hosts.iter().zip(variants.iter().cycle()) {
        let again = block_on(operation.call(&host.account, &scene, key("raced"), *variant));
        match again {
            Ok(again) if *variant == winner || !operation.has_variants() => {
                assert!(again.replayed);
                assert!(texts.contains(&again.text), "a replay differs: {}", again.text);
            }
            Err(error) if *variant != winner => {
                assert_eq!(error.kind(), ErrorKind::ResourceConflict);
                assert!(!error.can_be_retried());
            }
            other => panic!("{other:?}"),
        }
    }

    let single = Host::on(alone);
    let single_scene = Scene::set(&single);
    let account = &single.account;
    block_on(operation.call(account, &single_scene, key("raced"), winner)).unwrap();
    assert_eq!(shape(&host, &scene), shape(&single, &single_scene));
}

proptest! {
    #![proptest_config(cases(100))]

    /// §4.5.6 to §4.5.8, for 2 to 64 callers in one process and in several.
    #[test]
    fn racing_callers_have_one_effect_in_memory(
        operation in prop::sample::select(OPERATIONS),
        callers in prop_oneof![2_u64..8, Just(64)],
        processes in 1_u64..5,
        payloads in 1_u64..3,
    ) {
        let payloads = if operation.has_variants() { payloads } else { 1 };
        let variants: Vec<u64> = (0..callers).map(|caller| caller % payloads).collect();
        check_race(MemoryStore::new(), MemoryStore::new(), operation, processes, &variants);
    }
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn racing_callers_have_one_effect_on_sled(
        operation in prop::sample::select(OPERATIONS),
        callers in prop_oneof![2_usize..8, Just(64)],
        processes in 1_u64..5,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let store = SledStore::open(directory.path()).unwrap();
        let variants = vec![0; callers];
        check_race(store, MemoryStore::new(), operation, processes, &variants);
    }
}

proptest! {
    #![proptest_config(cases(10))]

    #[test]
    fn racing_callers_have_one_effect_on_fjall(
        operation in prop::sample::select(OPERATIONS),
        callers in prop_oneof![2_usize..8, Just(64)],
        processes in 1_u64..5,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let store = FjallStore::open(directory.path()).unwrap();
        let variants = vec![0; callers];
        check_race(store, MemoryStore::new(), operation, processes, &variants);
    }
}

#[test]
fn s4_5_4_a_key_is_good_for_48_hours_to_the_instant() {
    let host = Host::on(MemoryStore::new());
    let scene = Scene::set(&host);
    let create = || call(&host, &scene, Operation::CreateSubscription, "k");
    let first = create().unwrap();
    host.clock.advance(HOURS_48);
    let again = create().unwrap();
    assert!(again.replayed && again.text == first.text);
    let other = Operation::CreateSubscription.call(&host.account, &scene, key("k"), 1);
    let error = block_on(other).unwrap_err();
    assert!(error.is_conflict() && !error.can_be_retried());
    let other_operation = call(&host, &scene, Operation::UpdateCustomer, "k").unwrap_err();
    assert!(other_operation.is_conflict() && !other_operation.can_be_retried());
    host.clock.advance(Duration::from_micros(1));
    let anew = create().unwrap();
    assert!(!anew.replayed && anew.text != first.text);
    // And from then on for another 48 hours.
    host.clock.advance(HOURS_48);
    assert_eq!(create().unwrap(), Answered { replayed: true, ..anew });
}

#[test]
fn a_business_error_is_an_answer_and_is_replayed() {
    let host = Host::on(MemoryStore::new());
    block_on(async {
        host.account.create_customer(customer("ada")).await.unwrap();
        let again = || host.account.create_customer(customer("ada")).keyed(key("k"));
        let first = again().await.unwrap_err();
        assert_eq!(first.kind(), ErrorKind::DuplicateResource);
        let before = dump(&*host.store);
        let id = host.account.fetch_customer(accrue_tests::host::external("ada")).await;
        host.account.delete_customer(id.unwrap().id).await.unwrap();
        // The reason is gone, and the answer stays.
        let second = again().await.unwrap_err();
        assert_eq!(told(&first), told(&second));
        assert!(before.keys().any(|key| key.starts_with("record:")));
        assert!(again().await.is_err());
        host.account.create_customer(customer("ada")).keyed(key("other")).await.unwrap();
    });
}

#[test]
fn what_is_invalid_burns_no_key() {
    let host = Host::on(MemoryStore::new());
    let now = host.clock.clone();
    let now = accrue::Clock::now(&now);
    block_on(async {
        let before = dump(&*host.store);
        let future = now.saturating_add(Duration::from_secs(301));
        let ingest = |at| host.account.ingest([event("ada", "e", at, &[])]).keyed(key("k"));
        let refused = ingest(future).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::RequestValidation);
        assert_eq!(dump(&*host.store), before);
        assert_eq!(ingest(now).await.unwrap().outcome.ingested, 1);

        let item = |size: usize| {
            let mut new = NewItem::new(name("item"));
            new.metadata.insert("key".to_owned(), "x".repeat(size));
            host.account.create_item(new).keyed(key("item"))
        };
        assert_eq!(item(513).await.unwrap_err().kind(), ErrorKind::RequestValidation);
        assert!(!item(512).await.unwrap().is_replayed());
    });
}

#[test]
fn large_answers_lie_in_parts_and_replay() {
    let host = Host::on(MemoryStore::new());
    block_on(async {
        let item = host.account.create_item(NewItem::new(name("item"))).await.unwrap().id;
        let update = |letter: char, count: usize| {
            let connection = ExternalConnection {
                external_connection_name: ExternalSystem::Stripe,
                external_entity_id: name(&letter.to_string().repeat(500)),
            };
            let external_connections = Some(vec![connection; count]);
            let update = ItemUpdate { external_connections, ..ItemUpdate::default() };
            host.account.update_item(item, update).keyed(key("k"))
        };
        let parts = || {
            let rows = dump(&*host.store).into_keys();
            rows.filter(|key| key.starts_with("record_part:")).count()
        };
        let first = update('x', 95).await.unwrap();
        assert!(parts() >= 2);
        let second = update('x', 95).await.unwrap();
        assert!(second.is_replayed() && second.outcome == first.outcome);
        // What a shorter answer leaves behind goes with the garbage.
        host.clock.advance(HOURS_48 + Duration::from_secs(1));
        assert!(!update('y', 1).await.unwrap().is_replayed());
        host.clock.advance(HOURS_48 + Duration::from_secs(60 * 60));
        host.billing.collect_garbage(100).await.unwrap();
        assert_eq!(parts(), 0);
        host.clock.advance(HOURS_48 + Duration::from_secs(1));
        update('"', 50).await.unwrap();
        assert!(update('"', 50).await.unwrap().is_replayed());
        // Beyond the bound of a document: nothing of it is done.
        host.clock.advance(HOURS_48 + Duration::from_secs(1));
        let error = update('z', 500).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourceTooLarge);
        let kept = host.account.fetch_item(item).await.unwrap();
        assert_eq!(kept.external_connections.len(), 50);
    });
}

#[test]
fn garbage_is_what_has_expired_and_nothing_else() {
    let host = Host::on(MemoryStore::new());
    let scene = Scene::set(&host);
    for number in 0..5 {
        call(&host, &scene, Operation::CreateSubscription, &format!("old-{number}")).unwrap();
    }
    // Two epochs later, and what clocks may differ by.
    host.clock.advance(Duration::from_secs(98 * 60 * 60));
    // One of them is used again, and is young again.
    let renewed = call(&host, &scene, Operation::CreateSubscription, "old-0").unwrap();
    let young = call(&host, &scene, Operation::UpdateCustomer, "young").unwrap();
    let before = dump(&*host.store);
    let mut removed = 0;
    loop {
        let collected = block_on(host.billing.collect_garbage(2)).unwrap();
        removed += collected.removed;
        if !collected.more {
            break;
        }
    }
    assert_eq!(removed, 5);
    let after = dump(&*host.store);
    let gone: Vec<_> = before.keys().filter(|key| !after.contains_key(*key)).collect();
    assert!(gone.iter().all(|key| key.starts_with("record")), "{gone:?}");
    assert_eq!(gone.len(), 5);
    assert!(after.iter().all(|(key, document)| before.get(key) == Some(document)));
    let again = |operation, by| call(&host, &scene, operation, by).unwrap();
    let renewed = Answered { replayed: true, ..renewed };
    assert_eq!(again(Operation::CreateSubscription, "old-0"), renewed);
    assert_eq!(again(Operation::UpdateCustomer, "young"), Answered { replayed: true, ..young });
    assert_eq!(block_on(host.billing.collect_garbage(100)).unwrap().removed, 0);
}

/// §4.5: a caller that goes away at any await leaves all of the effect or nothing, and its key is
/// free again.
#[test]
fn a_caller_can_go_away_at_every_await() {
    for operation in OPERATIONS {
        let expected = {
            let host = Host::on(MemoryStore::new());
            let scene = Scene::set(&host);
            call(&host, &scene, *operation, "k").unwrap();
            shape(&host, &scene)
        };
        for polls in 0.. {
            let host = Host::on(PendingStore(MemoryStore::new()));
            let scene = Scene::set(&host);
            let untouched = dump(&*host.store);
            let is_done = {
                let mut future = pin!(operation.call(&host.account, &scene, key("k"), 0));
                let mut context = Context::from_waker(Waker::noop());
                (0..polls).any(|_| match future.as_mut().poll(&mut context) {
                    Poll::Ready(answer) => {
                        answer.unwrap();
                        true
                    }
                    Poll::Pending => false,
                })
            };
            let has_record = dump(&*host.store).keys().any(|key| key.starts_with("record:"));
            assert!(!untouched.keys().any(|key| key.starts_with("record:")));
            let again = call(&host, &scene, *operation, "k").unwrap();
            assert_eq!(again.replayed, has_record, "{operation:?} after {polls} polls");
            assert_eq!(shape(&host, &scene), expected, "{operation:?} after {polls} polls");
            if is_done {
                break;
            }
        }
    }
}
