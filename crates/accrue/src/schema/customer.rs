//! Documents of customers.

use serde::{Deserialize, Serialize};

use super::{Guards, Slot, TABLES};
use crate::{
    AccountId, CustomerId, SubscriptionId, Timestamp,
    customer::Customer,
    hex, limits,
    period::OpenUsage,
    store::Key,
    usage::{Hour, Window},
};

/// A customer, and the mark that deletes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CustomerEntry {
    pub(crate) customer: Customer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted_at: Option<Timestamp>,
}

/// Whose alias it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CustomerAlias {
    pub(crate) customer_id: CustomerId,
    /// Events wait under it for a customer that is yet to be created.
    pub(crate) reserved: bool,
}

/// Rows of a customer that an ingest has asked for: a guess of what the next one asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Footprint {
    customer_id: CustomerId,
    /// Each as the name of its table and the digits of its key.
    rows: Vec<(String, String)>,
}

impl Footprint {
    /// Takes rows, each once; those behind the [most](limits::FOOTPRINT_ROWS) are left out.
    pub(crate) fn new<'k>(
        customer_id: CustomerId,
        rows: impl IntoIterator<Item = &'k Key>,
    ) -> Self {
        let row = |key: &Key| (key.table().name().to_owned(), hex::encode(key.bytes()));
        let rows = rows.into_iter().take(limits::FOOTPRINT_ROWS).map(row).collect();
        Self { customer_id, rows }
    }

    /// Returns its rows; none where it is of another customer, who had the name before.
    pub(crate) fn rows_of(&self, customer_id: CustomerId) -> Vec<Key> {
        let key = |(table, digits): &(String, String)| {
            let table = TABLES.iter().find(|of| of.name() == table)?;
            Some(Key::new(*table, hex::decode(digits)?))
        };
        let rows = self.rows.iter().filter(|_| self.customer_id == customer_id);
        rows.filter_map(key).collect()
    }
}

/// What guards and numbers everything of one customer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CustomerHead {
    /// How many messages it was given.
    pub(crate) messages: u64,
    /// When time brings the next thing: for a subscription, a ledger or a correction, also one of a customer whose usage
    /// counts for its subscriptions.
    pub(crate) deadline: Option<Timestamp>,
    /// How many events of it were accepted, those of backfills among them.
    pub(crate) accepted: u64,
    /// The revision of the account's metrics that its events are measured by.
    pub(crate) measured: u64,
    /// Whether it ever was corrected, so that the calendar and the overlays are read.
    pub(crate) is_corrected: bool,
    /// Customers whose subscriptions count its usage too, or have counted it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) counted_by: Vec<CustomerId>,
    /// Whether its subscriptions count the usage of others: by what it is measured, those are as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) counts_others: bool,
    /// Usage that events still move.
    #[serde(default, skip_serializing_if = "OpenUsage::is_empty")]
    pub(crate) usage: OpenUsage,
}

impl CustomerHead {
    /// Tells whether a window would begin: nothing is there of it.
    pub(crate) fn begins_window(&self, window: Window) -> bool {
        self.knows_usage() && self.usage.begins_window(window)
    }

    /// Tells whether an hour would begin: nothing is there of it.
    pub(crate) fn begins_hour(&self, hour: Hour) -> bool {
        self.knows_usage() && self.usage.begins_hour(hour)
    }

    /// Makes sure that it is known from when on usage can be open. Where there are events and nothing is
    /// known, there may be rows of everything up to the newest event that is taken.
    pub(crate) fn begin_usage(&mut self, newest_taken: Timestamp) {
        if !self.knows_usage() {
            self.usage.begin_behind(newest_taken);
        }
    }

    fn knows_usage(&self) -> bool {
        self.accepted == 0 || self.usage.has_begun()
    }
}

impl Guards for CustomerHead {
    type Of = CustomerId;

    fn slot(account: &AccountId, of: CustomerId) -> Slot<Self> {
        super::customer_head(account, of)
    }

    fn owner(of: CustomerId) -> [u8; 16] {
        *of.as_bytes()
    }
}

/// The subscriptions of a customer that events may still count for: its own, and those of whom they list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActiveIds {
    pub(crate) subscriptions: Vec<SubscriptionId>,
    /// When time brings the next thing for one of them.
    pub(crate) deadline: Option<Timestamp>,
    /// When it brings the next thing for an invoice that is to be collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) collection: Option<Timestamp>,
    /// The other customers whose usage counts for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) counted: Vec<CustomerId>,
}
