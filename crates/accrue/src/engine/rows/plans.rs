//! Plans by the names that callers give, and what a version of one says.

use std::sync::Arc;

use crate::{
    Carried, Error, IdOr, PlanId,
    engine::{
        kernel::{Guard, Transaction},
        rows::{account, prices},
    },
    plan::{Plan, PlanVersion},
    price::PricedUsage,
    schema::{self, PlanVersionEntry},
    subscription::{Subscription, SubscriptionEntry},
};

/// Returns a plan that exists.
pub(in crate::engine) async fn plan(
    tx: &mut Transaction<'_>,
    id: &IdOr<PlanId>,
) -> Result<Plan, Error> {
    let unknown = || Error::not_found("plan", id);
    let plan_id = match id {
        IdOr::Id(id) => *id,
        IdOr::External(external) => {
            let alias = tx.get(&schema::plan_external(tx.account, external)).await?;
            alias.ok_or_else(unknown)?.plan_id
        }
    };
    tx.get(&schema::plan(tx.account, plan_id)).await?.ok_or_else(unknown)
}

/// Returns the row of a version of a plan that exists.
pub(in crate::engine) async fn plan_version(
    tx: &mut Transaction<'_>,
    plan_id: PlanId,
    version: PlanVersion,
) -> Result<PlanVersionEntry, Error> {
    let slot = schema::plan_version(tx.account, plan_id, version);
    let found = account::guard(tx).await?.get(tx, &slot).await?;
    found.ok_or_else(|| Error::not_found("plan version", version.number()))
}

/// Returns the fields of the plan of a subscription that are carried: none of a contract.
pub(in crate::engine) async fn carried_of(
    tx: &mut Transaction<'_>,
    of: &Subscription,
) -> Result<Carried, Error> {
    let Some(id) = of.plan_id else { return Ok(Carried::NONE) };
    Ok(plan(tx, &id.into()).await?.carried)
}

/// Returns what a subscription's plan version says: nothing for a contract.
pub(in crate::engine) async fn plan_version_of(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Arc<PlanVersionEntry>, Error> {
    let Subscription { plan_id, plan_version, .. } = entry.subscription;
    let Some(plan_id) = plan_id else { return Ok(Arc::default()) };
    let slot = schema::plan_version(tx.account, plan_id, plan_version);
    Ok(account::guard(tx).await?.get_shared(tx, &slot).await?.unwrap_or_default())
}

/// Notes the usage that the prices of a subscription are of, where they are not those of its plan version.
pub(in crate::engine) async fn note_usage(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let prices = prices::prices_of(tx, &entry.subscription).await?;
    let intervals = entry.subscription.all_price_intervals();
    let usage = PricedUsage::of(intervals.filter_map(|of| {
        let price = prices.iter().find(|price| price.id == of.price_id)?;
        Some((price, of.filter.as_ref()))
    }));
    let version = plan_version_of(tx, entry).await?;
    entry.priced = (usage != version.priced).then_some(usage);
    Ok(())
}

/// Reads the plan versions of some subscriptions, all in one call of the store.
pub(in crate::engine) async fn fetch_plan_versions<'e>(
    tx: &mut Transaction<'_>,
    entries: impl Iterator<Item = &'e SubscriptionEntry> + Send,
) -> Result<(), Error> {
    let versions = entries.map(|entry| &entry.subscription);
    let versions = versions.filter_map(|of| Some((of.plan_id?, of.plan_version)));
    let slots = versions.map(|(plan, version)| schema::plan_version(tx.account, plan, version));
    let slots: Vec<_> = slots.collect();
    let guard = account::guard(tx).await?;
    Guard::fetch(tx, slots.iter().map(|slot| (&guard, slot.key()))).await
}
