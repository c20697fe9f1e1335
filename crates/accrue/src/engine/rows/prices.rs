//! Prices.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::{
    AdjustmentId, Error, IdOr, PriceId,
    engine::{
        kernel::{Guard, Transaction},
        rows::account,
    },
    invoice::InvoiceLine,
    price::{FilterValues, NewAdjustment, Price, PriceFilter, ScopedAdjustment},
    rating::RateCard,
    schema,
    subscription::{Subscription, SubscriptionEntry},
};

/// Returns a price that exists.
pub(in crate::engine) async fn price(
    tx: &mut Transaction<'_>,
    id: &IdOr<PriceId>,
) -> Result<Price, Error> {
    let unknown = || Error::not_found("price", id);
    let price_id = match id {
        IdOr::Id(id) => *id,
        IdOr::External(external) => {
            let alias = tx.get(&schema::price_external(tx.account, external)).await?;
            alias.ok_or_else(unknown)?.price_id
        }
    };
    let found = account::guard(tx).await?.get(tx, &schema::price(tx.account, price_id)).await?;
    found.ok_or_else(unknown)
}

/// Returns the prices of a subscription's plan version, ready to rate what it uses.
pub(in crate::engine) async fn card(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Arc<RateCard>, Error> {
    let intervals = entry.subscription.price_intervals.iter();
    let slots = intervals.map(|interval| schema::price(tx.account, interval.price_id));
    let slots: Vec<_> = slots.collect();
    let guard = account::guard(tx).await?;
    Guard::fetch(tx, slots.iter().map(|slot| (&guard, slot.key()))).await?;
    let mut prices = Vec::with_capacity(slots.len());
    for slot in &slots {
        prices.push(guard.get_shared(tx, slot).await?.ok_or_else(missing)?);
    }
    Ok(Arc::new(RateCard::new(&entry.subscription, prices)))
}

/// Reads prices, those of lines by hand too.
pub(in crate::engine) async fn prices_of_lines(
    tx: &mut Transaction<'_>,
    ids: &[PriceId],
) -> Result<Vec<Price>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::price(tx.account, *id)).collect();
    let guard = account::guard(tx).await?;
    let (mut prices, mut others) = (Vec::with_capacity(ids.len()), Vec::new());
    for (id, price) in ids.iter().zip(guard.get_all(tx, &slots).await?) {
        match price {
            Some(price) => prices.push(price),
            None => others.push(schema::line_price(tx.account, *id)),
        }
    }
    let others: Option<Vec<_>> = tx.find_rows(&others).await?.into_iter().collect();
    prices.extend(others.ok_or_else(missing)?);
    Ok(prices)
}

/// Returns the prices of lines by hand among those of some lines: they are of these alone.
pub(in crate::engine) async fn by_hand(
    tx: &mut Transaction<'_>,
    lines: &[InvoiceLine],
) -> Result<BTreeSet<PriceId>, Error> {
    let ids: BTreeSet<_> = lines.iter().map(|line| line.price_id).collect();
    let slots: Vec<_> = ids.iter().map(|id| schema::price(tx.account, *id)).collect();
    let found = account::guard(tx).await?.get_all(tx, &slots).await?;
    let by_hand = ids.into_iter().zip(found).filter(|(_, price)| price.is_none());
    Ok(by_hand.map(|(id, _)| id).collect())
}

/// Reads the prices of a version of a plan.
pub(in crate::engine) async fn prices(
    tx: &mut Transaction<'_>,
    ids: &[PriceId],
) -> Result<Vec<Price>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::price(tx.account, *id)).collect();
    let guard = account::guard(tx).await?;
    let prices: Option<Vec<_>> = guard.get_all(tx, &slots).await?.into_iter().collect();
    prices.ok_or_else(missing)
}

/// Reads the prices of a subscription, each once.
pub(in crate::engine) async fn prices_of(
    tx: &mut Transaction<'_>,
    of: &Subscription,
) -> Result<Vec<Price>, Error> {
    let ids: BTreeSet<_> = of.price_ids().collect();
    prices(tx, &ids.into_iter().collect::<Vec<_>>()).await
}

fn missing() -> Error {
    Error::corrupt("a price of a plan version is missing")
}

/// Checks that the prices and items that filters name exist: one by a mistyped id would let no price
/// pass.
pub(in crate::engine) async fn check_filters(
    tx: &mut Transaction<'_>,
    filters: &[PriceFilter],
) -> Result<(), Error> {
    let account = tx.account;
    let guard = account::guard(tx).await?;
    for filter in filters {
        match &filter.values {
            FilterValues::PriceId(ids) => {
                let slots: Vec<_> = ids.iter().map(|id| schema::price(account, *id)).collect();
                check_there("price", ids, guard.get_all(tx, &slots).await?)?;
            }
            FilterValues::ItemId(ids) => {
                let slots: Vec<_> = ids.iter().map(|id| schema::item(account, *id)).collect();
                check_there("item", ids, tx.get_all(&slots).await?)?;
            }
            FilterValues::PriceType(_) | FilterValues::Currency(_) => {}
        }
    }
    Ok(())
}

/// Checks adjustments to give, each in some field, and that the prices and items exist that they name.
pub(in crate::engine) async fn check_adjusted(
    tx: &mut Transaction<'_>,
    adjustments: &[(String, &NewAdjustment)],
) -> Result<(), Error> {
    for (at, new) in adjustments {
        new.check().map_err(|error| error.within(at))?;
        check_filters(tx, &new.filters).await?;
        if let Some(item) = new.item_id {
            let slot = schema::item(tx.account, item);
            tx.get(&slot).await?.ok_or_else(|| Error::not_found("item", item))?;
        }
    }
    Ok(())
}

/// Returns an adjustment that a plan or a subscription was given.
pub(in crate::engine) async fn adjustment(
    tx: &mut Transaction<'_>,
    id: AdjustmentId,
) -> Result<ScopedAdjustment, Error> {
    let found = tx.get(&schema::adjustment(tx.account, id)).await?;
    found.ok_or_else(|| Error::not_found("adjustment", id))
}

/// Writes the adjustments among some that are none of those before, to be found by their ids.
pub(in crate::engine) fn save_adjustments<'a>(
    tx: &mut Transaction<'_>,
    all: impl IntoIterator<Item = &'a ScopedAdjustment>,
    before: &[ScopedAdjustment],
) -> Result<(), Error> {
    for of in all {
        if before.iter().all(|known| known.scope.id != of.scope.id) {
            tx.put(&schema::adjustment(tx.account, of.scope.id), of)?;
        }
    }
    Ok(())
}

/// Checks that each of some resources was found.
fn check_there<I: fmt::Display, T>(
    what: &str,
    ids: &BTreeSet<I>,
    found: Vec<Option<T>>,
) -> Result<(), Error> {
    match ids.iter().zip(found).find(|(_, found)| found.is_none()) {
        Some((id, _)) => Err(Error::not_found(what, id)),
        None => Ok(()),
    }
}
