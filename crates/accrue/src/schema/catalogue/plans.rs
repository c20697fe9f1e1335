//! The rows of plans: their versions, the prices of these, and how subscriptions get from one to another.

use crate::{
    AccountId, AlertId, DimensionalPriceGroupId, ExternalId, MetricId, MigrationId, PlanId,
    PriceId,
    plan::{Migration, Plan, PlanVersion},
    price::{DimensionalPriceGroup, Price},
    schema::{
        documents::*,
        index::Index,
        key::{KeyBytes, Part as _},
        slot::Slot,
    },
    store::Table,
};

tables! {
    /// A migration of the subscriptions of a plan.
    migration(account, migration: MigrationId) -> Migration;

    /// The migrations of a plan, by when they were created.
    migration_by_plan(account, of: &Migration)
        = (account, of.plan_id, of.created_at, of.id) -> Nothing {
        list migrations_of_plan(account, plan: PlanId);
    }

    /// A plan.
    plan(account, plan: PlanId) -> Plan, read_often;

    /// An alert of a version of a plan, or of the whole account.
    plan_alert(account, alert: AlertId)
        -> AlertEntry [guarded by AccountHead], read_often, resident;

    /// Plans, by when they were created.
    plan_by_time(account, of: &Plan) = (account, of.created_at, of.id) -> Nothing {
        list plans(account);
    }

    /// A plan by its alias.
    plan_external(account, alias: &ExternalId) -> PlanAlias, read_often;

    /// The prices and the alerts of a version of a plan.
    plan_version(account, plan: PlanId, version: PlanVersion)
        -> PlanVersionEntry [guarded by AccountHead], read_often, resident;

    /// A price.
    price(account, price: PriceId) -> Price [guarded by AccountHead], read_often, resident;

    /// The prices of a dimensional price group, by when they were created.
    price_by_group(account, group: DimensionalPriceGroupId, of: &Price)
        = (account, group, of.created_at, of.id) -> Nothing {
        list prices_of_group(account, group: DimensionalPriceGroupId);
    }

    /// Prices, by when they were created.
    price_by_time(account, of: &Price) = (account, of.created_at, of.id) -> Nothing {
        list prices(account);
    }

    /// A price by its alias.
    price_external(account, alias: &ExternalId) -> PriceAlias, read_often;

    /// A dimensional price group.
    price_group(account, group: DimensionalPriceGroupId) -> DimensionalPriceGroup, read_often;

    /// The dimensional price groups of a metric, by when they were created.
    price_group_by_metric(account, of: &DimensionalPriceGroup)
        = (account, of.metric_id, of.created_at, of.id) -> Nothing {
        list dimensional_price_groups_of_metric(account, metric: MetricId);
    }

    /// Dimensional price groups, by when they were created.
    price_group_by_time(account, of: &DimensionalPriceGroup)
        = (account, of.created_at, of.id) -> Nothing {
        list dimensional_price_groups(account);
    }

    /// A dimensional price group by its alias.
    price_group_external(account, alias: &ExternalId) -> DimensionalPriceGroupAlias, read_often;
}
