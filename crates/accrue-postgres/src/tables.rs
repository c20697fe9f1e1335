use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use accrue::store::{Key, Table};

/// Numbers of the tables that are known. A number is given once, and never changes.
#[derive(Debug, Default)]
pub(crate) struct Tables(RwLock<Arc<Numbers>>);

/// Numbers of tables, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers(HashMap<String, i16>);

impl Tables {
    pub(crate) fn numbers(&self) -> Arc<Numbers> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn add(&self, found: impl IntoIterator<Item = (String, i16)>) {
        let mut shared = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut shared).0.extend(found);
    }
}

impl Numbers {
    /// Returns the tables that have no number as yet, each once.
    pub(crate) fn missing(&self, tables: impl Iterator<Item = Table>) -> Vec<&'static str> {
        let names = tables.map(Table::name).filter(|name| !self.0.contains_key(*name));
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the bytes that a key has among all rows. Its table has a number.
    pub(crate) fn bytes(&self, key: &Key) -> Vec<u8> {
        self.bytes_in(key.table(), key.bytes())
    }

    pub(crate) fn bytes_in(&self, table: Table, key: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(key.len().saturating_add(2));
        bytes.extend(self.number(table).to_be_bytes());
        bytes.extend(key);
        bytes
    }

    /// Returns the first key behind those of a table.
    pub(crate) fn end(&self, table: Table) -> Vec<u8> {
        self.number(table).saturating_add(1).to_be_bytes().to_vec()
    }

    fn number(&self, table: Table) -> i16 {
        self.0.get(table.name()).copied().unwrap_or(i16::MAX)
    }
}
