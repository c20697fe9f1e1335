//! Items, and where they are found by their names.

use crate::{
    Error, ItemId, Name, Timestamp,
    engine::{kernel::Transaction, rows::account},
    item::{Item, NewItem},
    schema::{self, Index, Nothing},
};

/// Number of items of a name that are looked at: more than one only where somebody renames them meanwhile.
const CANDIDATES: usize = 10;

/// Returns an item that exists.
pub(in crate::engine) async fn item(tx: &mut Transaction<'_>, id: ItemId) -> Result<Item, Error> {
    let found = tx.get(&schema::item(tx.account, id)).await?;
    found.ok_or_else(|| Error::not_found("item", id))
}

/// Returns the oldest item of a name that is not archived; a new one where there is none (invoicing 9.6).
pub(in crate::engine) async fn item_named(
    tx: &mut Transaction<'_>,
    name: &Name,
) -> Result<Item, Error> {
    let id = ItemId::generate(tx.now, tx.entropy());
    let new = NewItem::new(name.clone()).decide(id, tx.now)?;
    let index = Index::items_of_name(tx.account, &new.name_digest());
    let scan = index.scan(Timestamp::MIN, Timestamp::MAX, CANDIDATES);
    for key in tx.keys_now(&scan).await? {
        let id = ItemId::from_bytes(schema::id_at(&schema::position(&key)?));
        // One that is renamed or archived meanwhile is another precondition that fails, or does not count.
        let found = tx.get(&schema::item(tx.account, id)).await?;
        if let Some(found) = found.filter(|of| of.name == *name && of.archived_at.is_none()) {
            return Ok(found);
        }
    }
    // Two that find none conflict here: the second one finds what the first one has made.
    account::guard(tx).await?.touch(tx);
    put_new(tx, &new)?;
    Ok(new)
}

/// Writes an item that is new, and where it is found.
pub(in crate::engine) fn put_new(tx: &mut Transaction<'_>, item: &Item) -> Result<(), Error> {
    tx.put(&schema::item_by_time(tx.account, item), &Nothing {})?;
    tx.put(&schema::item_by_name(tx.account, item), &Nothing {})?;
    tx.put(&schema::item(tx.account, item.id), item)
}

/// Writes an item that was read and has changed since.
pub(in crate::engine) fn save(
    tx: &mut Transaction<'_>,
    before: &Item,
    after: &Item,
) -> Result<(), Error> {
    let name = |of: &Item| (of.archived_at.is_none()).then(|| of.name.clone());
    if name(before) != name(after) {
        if before.archived_at.is_none() {
            tx.delete(&schema::item_by_name(tx.account, before));
        }
        if after.archived_at.is_none() {
            tx.put(&schema::item_by_name(tx.account, after), &Nothing {})?;
        }
    }
    tx.put(&schema::item(tx.account, after.id), after)
}
