//! Random calls, compared with the store in memory.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use accrue::store::{
    Batch, Change, Commit, Expected, Key, MemoryStore, Order, Row, Scan, Table, Version,
};

use crate::{
    Durability, Harness,
    fixtures::{document, number},
    split_mix::SplitMix,
    subject::Subject,
};

const CALLS: usize = 2_000;

/// Random gets, scans, commits and reopenings answer what a store in memory answers.
///
/// Versions are numbers of a store's own choice: what is compared is which are the same.
pub fn random_calls_agree_with_a_store_in_memory(harness: &dyn Harness) {
    let mut pair = Pair {
        tested: Subject::open(harness),
        model: Subject::through(harness, Arc::new(MemoryStore::new())),
        keys: keys(),
        written: BTreeMap::new(),
        versions: HashMap::new(),
        used: HashSet::new(),
    };
    let mut random = SplitMix::new(0x00AC_C12E);
    for call in 0..CALLS {
        match random.below(100) {
            0..50 => pair.commit(&mut random, call),
            50..70 => pair.get(&mut random),
            70..99 => pair.scan(&mut random),
            _ => match harness.durability() {
                Durability::Durable => pair.tested = pair.tested.reopen(),
                Durability::Volatile => {}
            },
        }
    }
}

/// The store under test, the one that it is compared with, and what ties their versions together.
struct Pair<'a> {
    tested: Subject<'a>,
    model: Subject<'a>,
    keys: Vec<Key>,
    /// Every version of the model that a key ever had.
    written: BTreeMap<Key, Vec<Version>>,
    /// The version of the store under test for each of the model's.
    versions: HashMap<Version, Version>,
    used: HashSet<(Key, Version)>,
}

impl Pair<'_> {
    fn commit(&mut self, random: &mut SplitMix, number: usize) {
        let (mut tested, mut model) = (Batch::new(), Batch::new());
        for _ in 0..random.below(4) {
            let (key, expected) = self.precondition(random);
            model = model.expect(key.clone(), expected);
            tested = tested.expect(key, self.translated(expected));
        }
        let mut put = Vec::new();
        // Each key once, in the order drawn: the calls are the same in every run.
        let mut changed = HashSet::new();
        for key in self.some_keys(random, 6) {
            if !changed.insert(key.clone()) {
                continue;
            }
            let document = document(number);
            let change = match random.below(20) {
                0..11 => Change::Put(key, document),
                // One that finds a row ends the commit: rather one that finds none.
                11..14 if self.model.row(&key).is_none() => Change::Insert(key, document),
                14 => Change::Insert(key, document),
                _ => Change::Delete(key),
            };
            if change.document().is_some() {
                put.push(change.key().clone());
            }
            model.changes.push(change.clone());
            tested.changes.push(change);
        }
        let changes_something = !model.changes.is_empty();

        match (self.tested.commit(tested), self.model.commit(model)) {
            (Commit::Committed(tested), Commit::Committed(model)) if changes_something => {
                self.versions.insert(model, tested);
                for key in put {
                    let new = self.used.insert((key.clone(), tested));
                    assert!(new, "{key} had {tested:?} before");
                    self.written.entry(key).or_default().push(model);
                }
            }
            (Commit::Committed(_), Commit::Committed(_)) => {}
            (tested, model) => assert_eq!(tested, model),
        }
    }

    fn get(&self, random: &mut SplitMix) {
        let keys = self.some_keys(random, 20);
        let (tested, model) = (self.tested.get(&keys), self.model.get(&keys));
        for (tested, model) in tested.iter().zip(&model) {
            self.same(tested.as_ref(), model.as_ref());
        }
    }

    fn scan(&self, random: &mut SplitMix) {
        let mut bound = || random.pick(&self.keys).map(Key::shared_bytes).unwrap_or_default();
        let (from, until) = (bound(), bound());
        let scan = Scan {
            table: random.pick(&self.keys).map_or(Table::new("none"), Key::table),
            from,
            until: random.happens(700).then_some(until),
            order: if random.happens(500) { Order::Ascending } else { Order::Descending },
            limit: random.below(12),
        };
        let (tested, model) = (self.tested.scan(&scan), self.model.scan(&scan));
        assert_eq!(tested.len(), model.len(), "{scan:?} gave {tested:?}, expected {model:?}");
        for (tested, model) in tested.iter().zip(&model) {
            self.same(Some(tested), Some(model));
        }
    }

    /// A precondition that holds, more often than not.
    fn precondition(&self, random: &mut SplitMix) -> (Key, Expected) {
        let key = random.pick(&self.keys).expect("there are keys").clone();
        let current = match self.model.row(&key) {
            Some(row) => Expected::Version(row.version),
            None => Expected::Absent,
        };
        let past = self.written.get(&key).and_then(|versions| random.pick(versions)).copied();
        let expected = match (random.below(10), past) {
            (0, _) => Expected::Absent,
            (1, Some(version)) => Expected::Version(version),
            _ => current,
        };
        (key, expected)
    }

    fn translated(&self, expected: Expected) -> Expected {
        match expected {
            Expected::Absent => Expected::Absent,
            Expected::Version(model) => {
                let tested = self.versions.get(&model);
                Expected::Version(*tested.expect("the version was given by a commit of both"))
            }
        }
    }

    fn some_keys(&self, random: &mut SplitMix, most: usize) -> Vec<Key> {
        let count = random.below(most);
        (0..count).filter_map(|_| random.pick(&self.keys).cloned()).collect()
    }

    fn same(&self, tested: Option<&Row>, model: Option<&Row>) {
        let seen = tested.map(|row| (&row.key, number(row), Some(row.version)));
        let expected =
            model.map(|row| (&row.key, number(row), self.versions.get(&row.version).copied()));
        assert_eq!(seen, expected);
    }
}

fn keys() -> Vec<Key> {
    let tables = ["a", "a_", "aa"].map(Table::new);
    let bytes: [&[u8]; 9] =
        [b"", b"\x00", b"a", b"a\x00", b"a\x00\xFF", b"a\xFF", b"aa", b"\xFF", b"\xFF\xFF"];
    let key = |table| bytes.map(|bytes| Key::new(table, bytes));
    tables.into_iter().flat_map(key).collect()
}
