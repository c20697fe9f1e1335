//! Dimensional price groups, and where they and their prices are found.

use crate::{
    DimensionalPriceGroupId, Error, ExternalId, IdOr,
    engine::kernel::Transaction,
    price::{DimensionalPriceGroup, Price},
    schema::{self, DimensionalPriceGroupAlias, Nothing},
};

/// Returns a group that exists.
pub(in crate::engine) async fn group(
    tx: &mut Transaction<'_>,
    id: &IdOr<DimensionalPriceGroupId>,
) -> Result<DimensionalPriceGroup, Error> {
    let unknown = || Error::not_found("dimensional price group", id);
    let group_id = match id {
        IdOr::Id(id) => *id,
        IdOr::External(external) => {
            let slot = schema::price_group_external(tx.account, external);
            tx.get(&slot).await?.ok_or_else(unknown)?.group_id
        }
    };
    let found = tx.get(&schema::price_group(tx.account, group_id)).await?;
    found.ok_or_else(unknown)
}

/// Writes a group that is new, and where it is found.
pub(in crate::engine) async fn put_new(
    tx: &mut Transaction<'_>,
    group: &DimensionalPriceGroup,
) -> Result<(), Error> {
    if let Some(external) = &group.external_dimensional_price_group_id {
        name(tx, external, group.id).await?;
    }
    tx.put(&schema::price_group_by_metric(tx.account, group), &Nothing {})?;
    tx.put(&schema::price_group_by_time(tx.account, group), &Nothing {})?;
    tx.put(&schema::price_group(tx.account, group.id), group)
}

/// Writes a group that was read and has changed since.
pub(in crate::engine) async fn save(
    tx: &mut Transaction<'_>,
    before: &DimensionalPriceGroup,
    after: &DimensionalPriceGroup,
) -> Result<(), Error> {
    let external = |of: &DimensionalPriceGroup| of.external_dimensional_price_group_id.clone();
    if external(before) != external(after) {
        if let Some(external) = external(before) {
            let alias = schema::price_group_external(tx.account, &external);
            tx.get(&alias).await?;
            tx.delete(&alias);
        }
        if let Some(external) = external(after) {
            name(tx, &external, after.id).await?;
        }
    }
    tx.put(&schema::price_group(tx.account, after.id), after)
}

/// Adds a new price to its group, which was read.
pub(in crate::engine) fn add(
    tx: &mut Transaction<'_>,
    group: DimensionalPriceGroup,
    price: &Price,
) -> Result<(), Error> {
    let price_count = group.price_count.saturating_add(1);
    let group = DimensionalPriceGroup { price_count, ..group };
    tx.put(&schema::price_by_group(tx.account, group.id, price), &Nothing {})?;
    tx.put(&schema::price_group(tx.account, group.id), &group)
}

/// Makes an external id that of a group, where no group has it.
async fn name(
    tx: &mut Transaction<'_>,
    external: &ExternalId,
    group_id: DimensionalPriceGroupId,
) -> Result<(), Error> {
    let alias = schema::price_group_external(tx.account, external);
    if tx.get(&alias).await?.is_some() {
        let detail =
            format!("a dimensional price group with external id {external} exists already");
        return Err(Error::duplicate(detail));
    }
    tx.put(&alias, &DimensionalPriceGroupAlias { group_id })
}
