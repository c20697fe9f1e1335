//! Items: operations and lists.

use crate::{
    Error, ItemId, ListFilter, Page, PageRequest,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::items,
    },
    item::{Item, ItemUpdate, NewItem},
    schema::{self, Index},
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
        Call::new(self, Op::new("create_item", new, |tx, new| create_item(tx, new)))
    }

    /// Changes an item (§4.3).
    pub fn update_item(&self, id: ItemId, update: ItemUpdate) -> Call<Item> {
        Call::new(
            self,
            Op::new("update_item", (id, update), |tx, (id, update)| update_item(tx, *id, update)),
        )
    }

    /// Archives an item; a second time is a constraint violation.
    pub fn archive_item(&self, id: ItemId) -> Call<Item> {
        Call::new(self, Op::new("archive_item", id, |tx, id| archive_item(tx, *id)))
    }

    /// Returns an item.
    pub async fn fetch_item(&self, id: ItemId) -> Result<Item, Error> {
        items::item(&mut self.reading(), id).await
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

#[boxed]
async fn create_item(tx: &mut Transaction<'_>, new: &NewItem) -> Result<Item, Stop> {
    let id = ItemId::generate(tx.now, tx.entropy());
    let item = new.clone().decide(id, tx.now)?;
    items::put_new(tx, &item)?;
    Ok(item)
}

#[boxed]
async fn update_item(
    tx: &mut Transaction<'_>,
    id: ItemId,
    update: &ItemUpdate,
) -> Result<Item, Stop> {
    let before = items::item(tx, id).await?;
    let item = update.clone().decide(before.clone())?;
    items::save(tx, &before, &item)?;
    Ok(item)
}

#[boxed]
async fn archive_item(tx: &mut Transaction<'_>, id: ItemId) -> Result<Item, Stop> {
    let before = items::item(tx, id).await?;
    let item = before.clone().archive(tx.now)?;
    items::save(tx, &before, &item)?;
    Ok(item)
}
