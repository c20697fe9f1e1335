//! Under injected faults of the store, an operation with a key has exactly one effect.

use std::sync::Arc;

use accrue::{Error, Tick, store::MemoryStore};
use accrue_conformance::{Calls, Fault, FaultyStore, Odds};
use accrue_tests::{
    cases,
    host::{Host, key},
    operation::{OPERATIONS, Operation, Scene, shape},
};
use pollster::block_on;
use proptest::prelude::*;

type Faulty = Arc<FaultyStore<MemoryStore>>;

const FAULTS: &[Fault] = &[Fault::Refused, Fault::Lost, Fault::Dropped, Fault::Corrupt];

fn faulty() -> (Faulty, Host) {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    (Arc::clone(&store), Host::on(store))
}

/// Does it again under its key until it succeeds.
fn insist(host: &Host, scene: &Scene, operation: Operation, by: &str, first: bool) {
    for tries in 1..1_000 {
        match block_on(operation.call(&host.account, scene, key(by), 0)) {
            // Also where the answer of the commit was lost: it is read again, and it is its own.
            Ok(answered) if tries == 1 => {
                assert!(!answered.replayed || !first, "{operation:?} was replayed at first");
                return;
            }
            Ok(_) => return,
            Err(error) => {
                let retry = error.can_be_retried();
                assert_eq!(error.kind(), accrue::ErrorKind::Internal, "{operation:?}: {error:?}");
                assert!(retry || error.to_string().contains("corrupt"), "{operation:?}: {error:?}");
            }
        }
    }
    panic!("{operation:?} never succeeds");
}

#[test]
fn a_retry_after_any_one_fault_has_one_effect() {
    for operation in OPERATIONS {
        let (store, host) = faulty();
        let scene = Scene::set(&host);
        let before = store.calls(Calls::All);
        insist(&host, &scene, *operation, "k", true);
        let calls = store.calls(Calls::All) - before;
        let expected = shape(&host, &scene);
        for nth in 0..calls {
            for fault in FAULTS {
                let (store, host) = faulty();
                let scene = Scene::set(&host);
                store.fail_nth(Calls::All, store.calls(Calls::All) + nth, *fault);
                insist(&host, &scene, *operation, "k", true);
                let found = shape(&host, &scene);
                assert_eq!(found, expected, "{operation:?}, call {nth} of {calls}, {fault:?}");
            }
        }
    }
}

#[test]
fn a_tick_that_fails_is_made_up_for_by_the_next() {
    let (store, host) = faulty();
    let scene = Scene::set(&host);
    let before = store.calls(Calls::All);
    host.tick();
    let calls = store.calls(Calls::All) - before;
    let expected = shape(&host, &scene);
    for nth in 0..calls {
        for fault in FAULTS {
            let (store, host) = faulty();
            let scene = Scene::set(&host);
            store.fail_nth(Calls::All, store.calls(Calls::All) + nth, *fault);
            let has_failed = |tick: Result<Tick, Error>| !tick.is_ok_and(|tick| tick.failed == 0);
            let failed = (0..calls).any(|_| has_failed(block_on(host.billing.tick(1))));
            assert!(failed || *fault == Fault::Lost, "call {nth} of {calls}, {fault:?}");
            assert_eq!(shape(&host, &scene), expected, "call {nth} of {calls}, {fault:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    /// Effects equal distinct keys, whatever fails, and figures and messages are those of a store
    /// that never fails.
    #[test]
    fn effects_equal_distinct_keys_under_random_faults(
        seed in any::<u64>(),
        operations in prop::collection::vec((0_usize..3, 0_usize..6), 1..12),
        refused in 0_u16..60, lost in 0_u16..60, dropped in 0_u16..60, corrupt in 0_u16..30,
    ) {
        const REPEATABLE: [Operation; 3] =
            [Operation::Ingest, Operation::CreateSubscription, Operation::UpdateCustomer];
        let run = |odds: Odds| {
            let store = Arc::new(FaultyStore::seeded(MemoryStore::new(), seed, Odds::NONE));
            let host = Host::on(Arc::clone(&store));
            let scene = Scene::set(&host);
            store.set_odds(odds);
            for (operation, by) in &operations {
                let operation = REPEATABLE[*operation];
                insist(&host, &scene, operation, &format!("{operation:?}-{by}"), false);
            }
            store.set_odds(Odds::NONE);
            shape(&host, &scene)
        };
        let odds = Odds { refused, lost, dropped, corrupt };
        prop_assert_eq!(run(odds), run(Odds::NONE));
    }
}
