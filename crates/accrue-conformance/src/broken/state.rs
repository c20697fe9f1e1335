use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    mem,
};

use accrue::store::{Change, Document, Key, Row, Table, Version};

use super::{Flaw, documents};

/// The rows of a broken store, and what it needs to forget or to remember wrongly.
#[derive(Debug, Default)]
pub(super) struct State {
    /// By address: the key as the store tells keys apart.
    pub(super) rows: BTreeMap<Key, Row>,
    /// The rows before the last commit.
    pub(super) stale: BTreeMap<Key, Row>,
    deleted: BTreeMap<Key, Row>,
    /// How many versions were given.
    versions: u64,
    /// How many versions were given before it was opened.
    opened_at: u64,
    /// How many commits and gets there were.
    pub(super) calls: u64,
    /// How many commits there were that were not in conflict.
    pub(super) commits: u64,
}

impl State {
    pub(super) fn reopen(&mut self, flaw: Flaw) {
        match flaw {
            Flaw::LosesRows => self.rows.clear(),
            Flaw::ResurrectsRows => self.rows.append(&mut self.deleted),
            Flaw::LosesLastCommit => self.rows = mem::take(&mut self.stale),
            Flaw::RenumbersVersions => {
                for row in self.rows.values_mut() {
                    row.version = Version::new(row.version.number().wrapping_add(1_000_000));
                }
                self.versions = self.versions.wrapping_add(1_000_000);
            }
            Flaw::RestartsVersions => self.versions = 0,
            Flaw::ForgetsInserts => self.opened_at = self.versions,
            _ => {}
        }
    }

    pub(super) fn row(&self, flaw: Flaw, key: &Key) -> Option<Row> {
        let rows = if flaw == Flaw::StaleGet { &self.stale } else { &self.rows };
        let row = rows.get(&address(flaw, key))?;
        Some(Row { key: key.clone(), ..row.clone() })
    }

    pub(super) fn version(&self, flaw: Flaw, key: &Key) -> Option<Version> {
        self.rows.get(&address(flaw, key)).map(|row| row.version)
    }

    pub(super) fn was_deleted(&self, key: &Key) -> bool {
        self.deleted.contains_key(key)
    }

    /// Tells whether a version was given since the store was opened.
    pub(super) fn is_since_opening(&self, version: Version) -> bool {
        version.number() > self.opened_at
    }

    /// Begins a commit: it has a version of its own.
    pub(super) fn begin(&mut self, flaw: Flaw) {
        self.versions = self.versions.wrapping_add(1);
        if matches!(flaw, Flaw::StaleGet | Flaw::StaleScan | Flaw::LosesLastCommit) {
            self.stale = self.rows.clone();
        }
    }

    /// Applies one change of the commit that was begun, and returns the version that it made.
    pub(super) fn apply(&mut self, flaw: Flaw, change: Change) -> Version {
        let address = address(flaw, change.key());
        match change {
            Change::Put(key, document) | Change::Insert(key, document) => {
                let version = self.next_version(flaw, &address, &document);
                let document = documents::stored(flaw, document);
                self.rows.insert(address, Row { key, document, version });
                version
            }
            Change::Delete(_) => {
                if flaw != Flaw::ForgetsDeletes
                    && let Some(row) = self.rows.remove(&address)
                {
                    self.deleted.insert(address, row);
                }
                Version::new(self.versions)
            }
        }
    }

    pub(super) fn current_version(&self) -> Version {
        Version::new(self.versions)
    }

    fn next_version(&mut self, flaw: Flaw, address: &Key, document: &Document) -> Version {
        let before = self.rows.get(address).map(|row| row.version);
        match flaw {
            Flaw::VersionsPerChange => self.versions = self.versions.wrapping_add(1),
            Flaw::KeepsVersions => return before.unwrap_or(Version::new(self.versions)),
            Flaw::VersionsByContent => {
                let mut hasher = DefaultHasher::new();
                document.as_str().hash(&mut hasher);
                return Version::new(hasher.finish());
            }
            Flaw::WrapsVersions => self.versions %= 64,
            Flaw::VersionsPerRow => {
                let number = before.map_or(0, Version::number);
                return Version::new(number.wrapping_add(1));
            }
            _ => {}
        }
        Version::new(self.versions)
    }
}

/// The key as the store tells keys apart.
fn address(flaw: Flaw, key: &Key) -> Key {
    let bytes = key.bytes();
    match flaw {
        Flaw::JoinsTableAndKey => Key::new(JOINED, [key.table().name().as_bytes(), bytes].concat()),
        Flaw::CutsKeysAtZero => {
            let text: Vec<u8> = bytes.iter().copied().take_while(|byte| *byte != 0).collect();
            Key::new(key.table(), text)
        }
        Flaw::FoldsCase => Key::new(key.table(), bytes.to_ascii_lowercase()),
        Flaw::CutsLongKeys => {
            Key::new(key.table(), bytes.iter().copied().take(255).collect::<Vec<_>>())
        }
        _ => key.clone(),
    }
}

/// The table of all rows where keys are joined to the names of their tables.
pub(super) const JOINED: Table = Table::new("joined");
