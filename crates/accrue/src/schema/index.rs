//! Lists: where the rows of one are, and where one of them stands.

use super::key::KeyBytes;
use crate::{
    CustomerId, Error, Timeframe, Timestamp,
    credit::LedgerEntry,
    page::Position,
    store::{Key, Scan, Table},
    usage::Hour,
    webhook::{Place, Queue},
};

/// Where the rows of a list are: a table, and the bytes that their keys begin with.
pub(crate) struct Index {
    table: Table,
    prefix: KeyBytes,
}

impl Index {
    pub(super) const fn new(table: Table, prefix: KeyBytes) -> Self {
        Self { table, prefix }
    }

    /// The rows created from one instant up to another, oldest first.
    pub(crate) fn scan(&self, from: Timestamp, until: Timestamp, limit: usize) -> Scan {
        self.prefix.range(self.table, Timeframe::nothing_at(from).until(until), limit)
    }

    /// The table of its rows.
    pub(crate) const fn table(&self) -> Table {
        self.table
    }

    /// The key of a row that stands at a position.
    pub(crate) fn key_at(&self, position: &[u8]) -> Vec<u8> {
        self.prefix.then(position)
    }
}

/// Reads where a row of a list or of the outbox stands.
pub(crate) fn position(key: &Key) -> Result<Position, Error> {
    let position = key.bytes().last_chunk::<24>().copied();
    position.ok_or_else(|| Error::corrupt(format!("the key {key} has no position")))
}

/// Where a row stands in a list.
pub(crate) fn position_of(created_at: Timestamp, id: &[u8; 16]) -> Position {
    let mut position = [0; 24];
    let bytes = created_at.micros().to_be_bytes().into_iter().chain(*id);
    position.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    position
}

/// Where an hour stands in the list of event volumes.
pub(crate) fn position_of_hour(hour: Hour) -> Position {
    position_of(hour.start(), &[0; 16])
}

/// The instant that a position begins with.
pub(crate) fn instant_at(position: &Position) -> Option<Timestamp> {
    let micros = position.first_chunk::<8>().copied().map(i64::from_be_bytes)?;
    Timestamp::from_micros(micros).ok()
}

/// The hour that stands at a position.
pub(crate) fn hour_at(position: &Position) -> Option<Hour> {
    instant_at(position).map(Hour::of)
}

/// The id of the row that stands at a position.
pub(crate) fn id_at(position: &Position) -> [u8; 16] {
    position.last_chunk::<16>().copied().unwrap_or_default()
}

/// Where an entry stands in its ledger.
pub(crate) fn place_of(entry: &LedgerEntry) -> Position {
    position_of(entry.created_at, &u128::from(entry.ledger_sequence_number).to_be_bytes())
}

/// The number of the ledger's entry that stands at a position.
pub(crate) fn number_at(position: &Position) -> u64 {
    position.last_chunk::<8>().copied().map_or(0, u64::from_be_bytes)
}

/// The place in the outbox that stands at a position. Queues of both kinds have keys of one form.
pub(crate) fn place_at(position: &Position) -> Place {
    let queue = Queue::Customer(CustomerId::from_bytes(
        position.first_chunk().copied().unwrap_or_default(),
    ));
    Place { queue, number: number_at(position) }
}
