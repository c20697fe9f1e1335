//! Prices.

use std::sync::Arc;

use crate::{
    Error, IdOr, PriceId, engine::kernel::Transaction, price::Price, rating::RateCard, schema,
    subscription::SubscriptionEntry,
};

impl Transaction<'_> {
    /// Returns a price that exists.
    pub(in crate::engine) async fn price(&mut self, id: &IdOr<PriceId>) -> Result<Price, Error> {
        let unknown = || Error::not_found("price", id);
        let price_id = match id {
            IdOr::Id(id) => *id,
            IdOr::External(external) => {
                let alias = self.get(&schema::price_external(self.account, external)).await?;
                alias.ok_or_else(unknown)?.price_id
            }
        };
        self.get(&schema::price(self.account, price_id)).await?.ok_or_else(unknown)
    }

    /// Returns the prices of a subscription's plan version, ready to rate what it uses.
    pub(in crate::engine) async fn card(
        &mut self,
        entry: &SubscriptionEntry,
    ) -> Result<Arc<RateCard>, Error> {
        let intervals = entry.subscription.price_intervals.iter();
        let ids: Vec<_> = intervals.map(|interval| interval.price_id).collect();
        let prices = self.prices(&ids).await?.into_iter().map(Arc::new).collect();
        Ok(Arc::new(RateCard::new(&entry.subscription, prices)))
    }

    /// Reads the prices of a version of a plan.
    pub(in crate::engine) async fn prices(&mut self, ids: &[PriceId]) -> Result<Vec<Price>, Error> {
        let slots: Vec<_> = ids.iter().map(|id| schema::price(self.account, *id)).collect();
        let prices: Option<Vec<_>> = self.get_all(&slots).await?.into_iter().collect();
        prices.ok_or_else(|| Error::corrupt("a price of a plan version is missing"))
    }
}
