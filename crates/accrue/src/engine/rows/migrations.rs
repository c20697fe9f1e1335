//! Migrations of plans, and where they are found.

use crate::{
    Error, MigrationId, PlanId, Timestamp,
    engine::kernel::Transaction,
    plan::Migration,
    schema::{self, Deadline, Nothing, Owner},
};

/// Returns a migration of a plan.
pub(in crate::engine) async fn migration(
    tx: &mut Transaction<'_>,
    plan: PlanId,
    id: MigrationId,
) -> Result<Migration, Error> {
    let found = tx.get(&schema::migration(tx.account, id)).await?;
    found.filter(|of| of.plan_id == plan).ok_or_else(|| Error::not_found("migration", id))
}

/// Writes a migration that is new, which is due at once.
pub(in crate::engine) fn save_new(tx: &mut Transaction<'_>, new: &Migration) -> Result<(), Error> {
    tx.put(&schema::migration_by_plan(tx.account, new), &Nothing {})?;
    save_due(tx, new, new.created_at)
}

/// Writes a migration of which there is more to do, from the first of its subscriptions on.
pub(in crate::engine) fn save_due(
    tx: &mut Transaction<'_>,
    of: &Migration,
    at: Timestamp,
) -> Result<(), Error> {
    let owner = Owner::Migration(of.id);
    let deadline = Deadline { at, account: tx.account.clone(), owner, cursor: None };
    tx.put(&schema::deadline(at, tx.account, owner), &deadline)?;
    save(tx, of)
}

/// Writes a migration.
pub(in crate::engine) fn save(tx: &mut Transaction<'_>, of: &Migration) -> Result<(), Error> {
    tx.put(&schema::migration(tx.account, of.id), of)
}
