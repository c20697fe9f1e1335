//! Items: the sellable products that metrics and prices belong to.

use serde::{Deserialize, Serialize};

use crate::{Error, ItemId, Metadata, MetadataUpdate, Name, Timestamp, metadata};

/// Item: a sellable product (§2.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// Its name.
    pub name: Name,
    /// Instant at which it was created.
    pub created_at: Timestamp,
    /// The caller's own strings.
    pub metadata: Metadata,
    /// Its names in other systems.
    pub external_connections: Vec<ExternalConnection>,
    /// Instant at which it was archived; `None` where it is not.
    pub archived_at: Option<Timestamp>,
}

/// Name of an item in another system (wire 2.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalConnection {
    /// System that the name belongs to.
    pub external_connection_name: ExternalSystem,
    /// Identifier of the item there.
    pub external_entity_id: Name,
}

/// System for invoices or taxes (wire 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExternalSystem {
    /// `stripe`
    Stripe,
    /// `quickbooks`
    Quickbooks,
    /// `bill.com`
    #[serde(rename = "bill.com")]
    BillCom,
    /// `netsuite`
    Netsuite,
    /// `taxjar`
    Taxjar,
    /// `avalara`
    Avalara,
    /// `anrok`
    Anrok,
    /// `numeral`
    Numeral,
    /// `stripe_tax`
    StripeTax,
}

/// Item to create (wire 2.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewItem {
    /// Its name.
    pub name: Name,
    /// The caller's own strings.
    pub metadata: Metadata,
}

impl NewItem {
    /// Prepares an item without metadata.
    #[must_use]
    pub const fn new(name: Name) -> Self {
        Self { name, metadata: Metadata::new() }
    }

    pub(crate) fn decide(self, id: ItemId, now: Timestamp) -> Result<Item, Error> {
        metadata::check(&self.metadata)?;
        Ok(Item {
            id,
            name: self.name,
            created_at: now,
            metadata: self.metadata,
            external_connections: Vec::new(),
            archived_at: None,
        })
    }
}

/// Changes to an item (§4.3, wire 2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ItemUpdate {
    /// A new name.
    pub name: Option<Name>,
    /// Changes to its metadata.
    pub metadata: MetadataUpdate,
    /// Whole list of connections, in place of the present one.
    pub external_connections: Option<Vec<ExternalConnection>>,
}

impl ItemUpdate {
    pub(crate) fn decide(self, mut item: Item) -> Result<Item, Error> {
        item.name = self.name.unwrap_or(item.name);
        item.external_connections = self.external_connections.unwrap_or(item.external_connections);
        self.metadata.apply(&mut item.metadata)?;
        Ok(item)
    }
}

impl Item {
    /// Returns what its name comes to where it is part of a key: names are longer than those.
    pub(crate) fn name_digest(&self) -> [u8; 32] {
        crate::id::digest(&[self.name.as_bytes()])
    }

    pub(crate) fn archive(mut self, now: Timestamp) -> Result<Self, Error> {
        if self.archived_at.is_some() {
            return Err(Error::constraint("the item is archived already"));
        }
        self.archived_at = Some(now);
        Ok(self)
    }
}
