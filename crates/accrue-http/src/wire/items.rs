use accrue::{
    Metadata, Name,
    item::{self, ExternalSystem, ItemUpdate},
};

use crate::shape::{
    Maybe, MetadataIn, Moment, choices, metadata_update, new_metadata, request, response,
};

request! {
    /// An item to create.
    pub(crate) struct NewItem {
        /// Its name.
        name: Name,
        /// Metadata: the caller's own key-value pairs.
        metadata: MetadataIn,
    }

    /// Changes to an item.
    pub(crate) struct UpdateItem {
        /// Its name from now on.
        name: Option<Name>,
        /// Metadata to set, or to remove where a value is null; null removes all.
        metadata: MetadataIn,
        /// All connections to other systems: they replace those there were. Null removes them.
        external_connections: Maybe<Vec<ConnectionIn>>,
    }

    /// A connection to another system.
    pub(crate) struct ConnectionIn open {
        /// Name of the system.
        external_connection_name: ExternalSystem,
        /// Id of the item there.
        external_entity_id: Name,
    }
}

response! {
    /// A sellable product or good (§2.2).
    pub(crate) struct Item {
        /// Its id.
        id: String,
        /// Its name.
        name: Name,
        /// Instant of its creation.
        created_at: Moment,
        /// Metadata: the caller's own key-value pairs.
        metadata: Metadata,
        /// Its connections to other systems.
        external_connections: Vec<Connection>,
        /// Instant at which it was archived.
        archived_at: Option<Moment>,
    }

    /// A connection to another system.
    pub(crate) struct Connection {
        /// Name of the system.
        external_connection_name: ExternalSystem,
        /// Id of the item there.
        external_entity_id: Name,
    }
}

choices! {
    ExternalSystem {
        "stripe" => ExternalSystem::Stripe,
        "quickbooks" => ExternalSystem::Quickbooks,
        "bill.com" => ExternalSystem::BillCom,
        "netsuite" => ExternalSystem::Netsuite,
        "taxjar" => ExternalSystem::Taxjar,
        "avalara" => ExternalSystem::Avalara,
        "anrok" => ExternalSystem::Anrok,
        "numeral" => ExternalSystem::Numeral,
        "stripe_tax" => ExternalSystem::StripeTax,
    }
}

impl From<NewItem> for item::NewItem {
    fn from(new: NewItem) -> Self {
        let mut item = Self::new(new.name);
        item.metadata = new_metadata(new.metadata);
        item
    }
}

impl From<UpdateItem> for ItemUpdate {
    fn from(update: UpdateItem) -> Self {
        let connections = |connections: Vec<ConnectionIn>| {
            let connections = connections.into_iter().map(|connection| item::ExternalConnection {
                external_connection_name: connection.external_connection_name,
                external_entity_id: connection.external_entity_id,
            });
            connections.collect()
        };
        Self {
            name: update.name,
            metadata: metadata_update(update.metadata),
            external_connections: match update.external_connections {
                Maybe::Absent => None,
                Maybe::Null => Some(Vec::new()),
                Maybe::Value(list) => Some(connections(list)),
            },
        }
    }
}

impl From<&item::Item> for Item {
    fn from(item: &item::Item) -> Self {
        let connections = item.external_connections.iter().map(|connection| Connection {
            external_connection_name: connection.external_connection_name,
            external_entity_id: connection.external_entity_id.clone(),
        });
        Self {
            id: item.id.to_string(),
            name: item.name.clone(),
            created_at: item.created_at.into(),
            metadata: item.metadata.clone(),
            external_connections: connections.collect(),
            archived_at: item.archived_at.map(Moment::from),
        }
    }
}
