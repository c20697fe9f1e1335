//! Prices.

use std::sync::Arc;

use crate::{
    Error, IdOr, PriceId, engine::kernel::Transaction, price::Price, rating::RateCard, schema,
    subscription::SubscriptionEntry,
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
    tx.get(&schema::price(tx.account, price_id)).await?.ok_or_else(unknown)
}

/// Returns the prices of a subscription's plan version, ready to rate what it uses.
pub(in crate::engine) async fn card(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Arc<RateCard>, Error> {
    let intervals = entry.subscription.price_intervals.iter();
    let ids: Vec<_> = intervals.map(|interval| interval.price_id).collect();
    let prices = prices(tx, &ids).await?.into_iter().map(Arc::new).collect();
    Ok(Arc::new(RateCard::new(&entry.subscription, prices)))
}

/// Reads the prices of a version of a plan.
pub(in crate::engine) async fn prices(
    tx: &mut Transaction<'_>,
    ids: &[PriceId],
) -> Result<Vec<Price>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::price(tx.account, *id)).collect();
    let prices: Option<Vec<_>> = tx.get_all(&slots).await?.into_iter().collect();
    prices.ok_or_else(|| Error::corrupt("a price of a plan version is missing"))
}
