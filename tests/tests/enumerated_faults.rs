//! Every operation that is served, but for those that get: the n-th call of the store fails in each
//! way, for all n. Whoever sends the request again then has one effect.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by a panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use accrue::{AccountId, store::Store};
use accrue_conformance::{Calls, Fault, FaultyStore};
use accrue_tests::{
    served::{Case, Scene, cases},
    stores::dump,
};
use pollster::block_on;

const FAULTS: &[Fault] = &[Fault::Refused, Fault::Lost, Fault::Dropped, Fault::Corrupt];

/// The ids in a text, where they begin.
fn ids(text: &str) -> Vec<usize> {
    const LENGTH: usize = 36;
    let is_id = |bytes: &[u8]| {
        bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let windows = text.as_bytes().windows(LENGTH).enumerate();
    windows.filter(|(_, bytes)| is_id(bytes)).map(|(at, _)| at).collect()
}

/// A text without the ids and marks that were drawn since the scene was set.
fn without_new(text: &str, known: &BTreeSet<String>) -> String {
    let mut masked = text.to_owned();
    for at in ids(text) {
        if !known.contains(&text[at..at + 36]) {
            masked.replace_range(at..at + 36, "------------------------------------");
        }
    }
    if let Some(at) = masked.find("\"mark\":\"") {
        let (from, to) = (at + 8, at + 8 + 32);
        masked.replace_range(from..to, "");
    }
    masked
}

/// What there is, by table, without what was drawn.
type Shape = BTreeMap<String, Vec<String>>;

fn shape(store: &dyn Store, known: &BTreeSet<String>) -> Shape {
    let mut shape = Shape::new();
    for (key, row) in dump(store) {
        let (table, _) = key.split_once(':').unwrap();
        shape.entry(table.to_owned()).or_default().push(without_new(&row, known));
    }
    shape.values_mut().for_each(|rows| rows.sort());
    shape
}

fn known_ids(store: &dyn Store) -> BTreeSet<String> {
    let rows = dump(store).into_values();
    rows.flat_map(|row| {
        ids(&row).into_iter().map(|at| row[at..at + 36].to_owned()).collect::<Vec<_>>()
    })
    .collect()
}

/// What came of a case: what it was answered at last, what there is then, and how many calls the
/// store had.
struct Outcome {
    status: u16,
    body: String,
    shape: Shape,
    calls: u64,
    is_replayed: bool,
}

/// Asks until there is an answer, where one call fails, and settles what is due.
fn insist(scene: &Scene, case: &Case, fault: Option<(u64, Fault)>) -> Outcome {
    let store = Arc::new(FaultyStore::new(scene.copy()));
    let known = known_ids(store.inner());
    let door = Scene::door(Arc::clone(&store));
    let before = store.calls(Calls::All);
    if let Some((nth, fault)) = fault {
        store.fail_nth(Calls::All, before + nth, fault);
    }
    let mut answer = door.send(case, "key");
    let calls = store.calls(Calls::All) - before;
    for _ in 0..3 {
        if answer.status().as_u16() < 500 {
            break;
        }
        assert_eq!(answer.headers().get("idempotent-replayed"), None);
        answer = door.send(case, "key");
    }
    let (status, is_replayed) =
        (answer.status().as_u16(), answer.headers().contains_key("idempotent-replayed"));
    let body = without_new(std::str::from_utf8(answer.body()).unwrap(), &known);
    if case.takes_key() && status < 300 {
        // And once more: it has no second effect.
        // On a copy: a fault that is still to come strikes nobody there.
        let copy = Arc::new(copy_of(store.inner()));
        let before = shape(&*copy, &known);
        let again = Scene::door(Arc::clone(&copy)).send(case, "key");
        assert_eq!(again.body(), answer.body(), "{case:?}");
        assert_eq!(shape(&*copy, &known), before, "{case:?}");
    }
    // A fault that is left strikes no more.
    let quiet = Scene::door(copy_of(store.inner()));
    quiet.tick();
    let messages =
        block_on(quiet.billing.account(AccountId::parse("acme").unwrap()).messages(1_000));
    let numbers: BTreeSet<_> = messages.unwrap().iter().map(|message| message.id).collect();
    let ticked = Arc::new(copy_of(store.inner()));
    let door = Scene::door(Arc::clone(&ticked));
    door.tick();
    let shape = shape(&*ticked, &known);
    assert_eq!(numbers.len(), shape.get("outbox").map_or(0, Vec::len), "{case:?}");
    Outcome { status, body, shape, calls, is_replayed }
}

fn copy_of(store: &dyn Store) -> accrue::store::MemoryStore {
    accrue_tests::stores::copied(store)
}

#[test]
fn every_operation_that_is_served_has_a_case() {
    let scene = Scene::set();
    let served: BTreeSet<_> = Scene::door(scene.copy()).served().into_iter().collect();
    let have: BTreeSet<_> = cases(&scene).iter().map(|case| case.operation.to_owned()).collect();
    assert_eq!(served.difference(&have).collect::<Vec<_>>(), Vec::<&String>::new(), "no case");
    assert_eq!(have.difference(&served).collect::<Vec<_>>(), Vec::<&String>::new(), "not served");
}

#[test]
fn a_retry_after_any_one_fault_of_any_operation_has_one_effect() {
    let scene = Scene::set();
    let mut runs = 0;
    for case in cases(&scene) {
        let expected = insist(&scene, &case, None);
        assert_eq!(expected.status, case.status, "{case:?}: {}", expected.body);
        for fault in FAULTS {
            for nth in 0.. {
                let found = insist(&scene, &case, Some((nth, *fault)));
                runs += 1;
                let at = format!("{case:?}, call {nth}, {fault:?}");
                compare(&case, &expected, &found, *fault, &at);
                // The one before was the last call.
                if found.calls <= nth {
                    break;
                }
            }
        }
    }
    assert!(runs > 1_000, "only {runs} faults");
}

fn compare(case: &Case, expected: &Outcome, found: &Outcome, fault: Fault, at: &str) {
    // Without a key an answer that is lost is no answer to the next attempt, which deletes what is
    // gone already.
    let is_gone = case.method() == "DELETE" && fault == Fault::Lost && found.status == 404;
    if !is_gone {
        assert_eq!(found.status, expected.status, "{at}: {}", found.body);
        assert_eq!(found.body, expected.body, "{at}");
    }
    for (table, rows) in &expected.shape {
        let others = found.shape.get(table);
        // An amendment that is made a second time is counted a second time.
        if table == "amendments" && !case.takes_key() && fault == Fault::Lost {
            continue;
        }
        assert_eq!(others, Some(rows), "{at}: table {table}");
    }
    assert_eq!(found.shape.len(), expected.shape.len(), "{at}");
    assert!(!found.is_replayed || case.takes_key(), "{at}");
}
