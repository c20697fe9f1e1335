//! Items: operations and lists.

use async_trait::async_trait;

use super::{
    Account, Call,
    apply::{Command, Request, fingerprint},
    transaction::{Stop, Transaction},
};
use crate::{
    Error, ItemId, ListFilter, Page, PageRequest,
    idempotency::Fingerprint,
    item::{Item, ItemUpdate, NewItem},
    schema::{self, Index, Nothing},
};

impl Account {
    /// Creates an item (wire 2.1).
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, item::NewItem, store::MemoryStore};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let item = account.create_item(NewItem::new(Name::parse("API requests")?)).await?;
    /// assert_eq!(account.fetch_item(item.id).await?, item);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_item(&self, new: NewItem) -> Call<Item> {
        Call::new(self, CreateItem { new })
    }

    /// Changes an item (§4.3).
    pub fn update_item(&self, id: ItemId, update: ItemUpdate) -> Call<Item> {
        Call::new(self, UpdateItem { id, update })
    }

    /// Archives an item; a second time is a constraint violation.
    pub fn archive_item(&self, id: ItemId) -> Call<Item> {
        Call::new(self, ArchiveItem { id })
    }

    /// Returns an item.
    pub async fn fetch_item(&self, id: ItemId) -> Result<Item, Error> {
        self.reading().item(id).await
    }

    /// Lists the items, newest first, archived ones too.
    pub async fn list_items(
        &self,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Item>, Error> {
        let slot = |id| schema::item(self.id(), ItemId::from_bytes(id));
        self.list("items", Index::items(self.id()), filter, page, slot, Some).await
    }
}

impl Transaction<'_> {
    pub(super) async fn item(&mut self, id: ItemId) -> Result<Item, Error> {
        let found = self.get(&schema::item(self.account, id)).await?;
        found.ok_or_else(|| Error::not_found("item", id))
    }
}

struct CreateItem {
    new: NewItem,
}

#[async_trait]
impl Command for CreateItem {
    type Outcome = Item;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Item, Stop> {
        let id = ItemId::generate(tx.now, tx.entropy());
        let item = self.new.clone().decide(id, tx.now)?;
        tx.put(&schema::item(tx.account, id), &item)?;
        tx.put(&schema::item_by_time(tx.account, &item), &Nothing {})?;
        Ok(item)
    }
}

impl Request for CreateItem {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_item", &self.new)
    }
}

struct UpdateItem {
    id: ItemId,
    update: ItemUpdate,
}

#[async_trait]
impl Command for UpdateItem {
    type Outcome = Item;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Item, Stop> {
        let item = self.update.clone().decide(tx.item(self.id).await?)?;
        tx.put(&schema::item(tx.account, self.id), &item)?;
        Ok(item)
    }
}

impl Request for UpdateItem {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("update_item", &(self.id, &self.update))
    }
}

struct ArchiveItem {
    id: ItemId,
}

#[async_trait]
impl Command for ArchiveItem {
    type Outcome = Item;

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Item, Stop> {
        let item = tx.item(self.id).await?.archive(tx.now)?;
        tx.put(&schema::item(tx.account, self.id), &item)?;
        Ok(item)
    }
}

impl Request for ArchiveItem {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("archive_item", &self.id)
    }
}
