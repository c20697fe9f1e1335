//! Plans by the names that callers give, and what a version of one says.

use std::sync::Arc;

use crate::{
    Error, IdOr, PlanId, engine::kernel::Transaction, plan::Plan, schema,
    subscription::SubscriptionEntry,
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

/// Returns what a subscription's plan version says.
pub(in crate::engine) async fn plan_version_of(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Arc<schema::PlanVersionEntry>, Error> {
    let subscription = &entry.subscription;
    let (plan_id, version) = (subscription.plan_id, subscription.plan_version);
    let slot = schema::plan_version(tx.account, plan_id, version);
    Ok(tx.get_shared(&slot).await?.unwrap_or_default())
}
