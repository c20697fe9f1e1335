//! Whatever is sent, in whatever order, over a store that fails: beside a naive model, a key has at
//! most one effect in 48 hours, and its answer is the same to the byte.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use accrue::store::MemoryStore;
use accrue_conformance::{Calls, Fault, FaultyStore};
use bytes::Bytes;
use proptest::prelude::*;

use crate::support::{Answer, Host};

const KEYS: [&str; 3] = ["one", "two", "three"];
const LIFETIME: u64 = 48 * 60 * 60 * 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    Create(&'static str),
    /// Equal to the first by its tree.
    Respelled,
    Archive,
    Search,
    Invalid,
}

const PAYLOADS: [Payload; 6] = [
    Payload::Create("A"),
    Payload::Create("B"),
    Payload::Respelled,
    Payload::Archive,
    Payload::Search,
    Payload::Invalid,
];

impl Payload {
    fn send(self, host: &Host, item: &str, key: Option<&str>) -> Answer {
        let archive = format!("/v1/items/{item}/archive");
        let (path, body) = match self {
            Self::Create("A") => ("/v1/items", r#"{"name":"A","metadata":{}}"#),
            Self::Create(_) => ("/v1/items", r#"{"name":"B"}"#),
            Self::Respelled => ("/v1/items", r#" {"metadata": {}, "name":"\u0041"}"#),
            Self::Archive => (archive.as_str(), ""),
            Self::Search => ("/v1/events/search", r#"{"event_ids":["a"]}"#),
            Self::Invalid => ("/v1/items", r#"{"name":""}"#),
        };
        match key {
            Some(key) => host.keyed("POST", path, key, body),
            None => host.post(path, body),
        }
    }

    /// What it is the same as.
    fn meaning(self) -> Self {
        if self == Self::Respelled { Self::Create("A") } else { self }
    }
}

#[derive(Clone, Debug)]
struct Step {
    key: Option<usize>,
    payload: Payload,
    /// Microseconds that pass before it.
    later: u64,
    fault: Option<(Calls, u64, Fault)>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kinds = prop::sample::select(vec![Calls::Gets, Calls::Commits]);
    let faults = vec![Fault::Refused, Fault::Lost, Fault::Dropped, Fault::Corrupt];
    let fault = (kinds, 0_u64..3, prop::sample::select(faults));
    let later = prop_oneof![
        4 => Just(0),
        2 => 1..LIFETIME,
        1 => Just(LIFETIME),
        1 => Just(LIFETIME + 1),
    ];
    let step = (
        prop::option::weighted(0.9, 0..KEYS.len()),
        prop::sample::select(PAYLOADS.to_vec()),
        later,
        prop::option::weighted(0.3, fault),
    );
    let step = step.prop_map(|(key, payload, later, fault)| Step { key, payload, later, fault });
    prop::collection::vec(step, 1..30)
}

/// What the model knows of a key.
struct Kept {
    payload: Payload,
    /// None where the client never saw it.
    answer: Option<(u16, Bytes)>,
    at: u64,
}

/// What requests have done: items there are, and whether the one is archived.
fn effects(host: &Host, item: &str) -> usize {
    let fetched = host.get(&format!("/v1/items/{item}")).ok(http::StatusCode::OK);
    host.items() + usize::from(!fetched["archived_at"].is_null())
}

fn run(steps: &[Step]) {
    let store = Arc::new(FaultyStore::new(MemoryStore::new()));
    let host = Host::over(Arc::clone(&store));
    let item = host.item("Archived");
    let mut model: BTreeMap<usize, Kept> = BTreeMap::new();
    let (mut now, mut before, mut is_archived) = (0, effects(&host, &item), false);
    for step in steps {
        now += step.later;
        host.clock.advance(Duration::from_micros(step.later));
        let next = [Calls::Gets, Calls::Commits].map(|calls| store.calls(calls));
        if let Some((calls, nth, fault)) = step.fault {
            store.fail_nth(calls, store.calls(calls) + nth, fault);
        }
        let answer = step.payload.send(&host, &item, step.key.map(|key| KEYS[key]));
        // A fault that was not reached must not be met by who looks.
        let is_hit = match step.fault {
            None => false,
            Some((calls, nth, _)) => {
                let begin = next[usize::from(calls == Calls::Commits)];
                let is_hit = store.calls(calls) > begin + nth;
                while store.calls(calls) <= begin + nth {
                    skip(&store, calls);
                }
                is_hit
            }
        };
        let after = effects(&host, &item);
        let effect = after - before;
        before = after;
        assert!(effect <= 1, "{step:?} {answer:?}");
        if answer.status == 500 {
            assert!(is_hit, "{step:?} {answer:?}");
        }

        let payload = step.payload.meaning();
        let live =
            step.key.and_then(|key| model.get(&key)).filter(|kept| now - kept.at <= LIFETIME);
        let was_new = live.is_none();
        match live {
            Some(kept) => {
                assert_eq!(effect, 0, "{step:?} {answer:?}");
                if answer.status == 500 {
                    continue;
                }
                if kept.payload != payload {
                    answer.is_reused();
                } else if payload == Payload::Search {
                    assert_eq!(answer.is_fresh().status, 200);
                } else {
                    assert_eq!(answer.header("idempotent-replayed"), Some("true"), "{step:?}");
                    if let Some(first) = &kept.answer {
                        assert_eq!((answer.status, &answer.bytes), (first.0, &first.1), "{step:?}");
                    }
                }
            }
            None => {
                answer.is_fresh();
                let expect = match payload {
                    Payload::Invalid => (400, 0),
                    Payload::Search => (200, 0),
                    Payload::Archive if is_archived => (400, 0),
                    Payload::Archive => (200, 1),
                    _ => (201, 1),
                };
                if answer.status != 500 {
                    assert_eq!((answer.status, effect), expect, "{step:?} {answer:?}");
                } else if step.key.is_none() && answer.header("transient-error").is_some() {
                    assert_eq!(effect, 0, "a retry would double it: {step:?}");
                }
            }
        }
        is_archived |= payload == Payload::Archive && effect == 1;
        // What a 500 without an effect has kept is seen by what comes after.
        let seen = answer.status != 500 && payload != Payload::Invalid;
        if let (Some(key), true) = (step.key, was_new) {
            if seen {
                let answer = Some((answer.status, answer.bytes.clone()));
                model.insert(key, Kept { payload, answer, at: now });
            } else if effect == 1 {
                model.insert(key, Kept { payload, answer: None, at: now });
            } else if answer.status == 500 {
                learn(&mut model, &host, &item, key, payload, now);
            }
        }
    }
}

/// Finds out whether a request that failed has taken its key, by an invalid one under it.
fn learn(
    model: &mut BTreeMap<usize, Kept>,
    host: &Host,
    item: &str,
    key: usize,
    payload: Payload,
    now: u64,
) {
    let probe = Payload::Invalid.send(host, item, Some(KEYS[key]));
    if probe.status == 409 {
        model.insert(key, Kept { payload, answer: None, at: now });
    } else {
        assert_eq!(probe.status, 400, "{probe:?}");
        model.remove(&key);
    }
}

/// Makes a call that may fail, and has no effect.
fn skip(store: &FaultyStore<MemoryStore>, calls: Calls) {
    use accrue::store::{Batch, Store};
    match calls {
        Calls::Gets => drop(pollster::block_on(store.get(&[]))),
        _ => drop(pollster::block_on(store.commit(Batch::new()))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_key_has_one_effect_and_one_answer(steps in steps()) {
        run(&steps);
    }
}
