//! Alerts of a plan version: each change is a revision, which its subscriptions apply one by one
//! (`docs/decisions/fees-are-judged-when-due.md`).

use crate::{
    Error, PlanId,
    alert::Alert,
    engine::{
        commands::alerts::stored,
        kernel::Transaction,
        rows::{account, alerts},
    },
    limits,
    plan::PlanVersion,
    schema::{self, AlertRevision, Deadline, Owner},
};

/// Writes an alert of a plan version, and the change that its subscriptions have to apply.
pub(super) async fn save_plan_alert(
    tx: &mut Transaction<'_>,
    plan_id: PlanId,
    version: PlanVersion,
    alert: &Alert,
) -> Result<(), Error> {
    tx.make_due(Owner::Plan(plan_id, version));
    let slot = schema::plan_version(tx.account, plan_id, version);
    let guard = account::guard(tx).await?;
    let mut entry = guard.get(tx, &slot).await?.unwrap_or_default();
    if entry.revision.saturating_sub(entry.applied) >= limits::PENDING_CHANGES {
        let most = limits::PENDING_CHANGES;
        let detail = format!("{most} changes to the alerts of the version wait for a tick");
        return Err(Error::constraint(detail));
    }
    entry.revision = entry.revision.saturating_add(1);
    if !entry.alerts.contains(&alert.id) {
        entry.alerts.push(alert.id);
    }
    let owner = Owner::Plan(plan_id, version);
    if let Some(at) = entry.deadline.replace(tx.now) {
        tx.delete(&schema::deadline(at, tx.account, owner));
    }
    let at = tx.now;
    let deadline = Deadline { at, account: tx.account.clone(), owner, cursor: None };
    tx.put(&schema::deadline(at, tx.account, owner), &deadline)?;
    let number = entry.revision;
    let before = alerts::entry(tx, alert).await?.map(|before| before.alert);
    let revision = AlertRevision { at, alert: alert.clone(), before };
    let place = schema::alert_revision(tx.account, plan_id, version, number);
    tx.put(&place, &revision)?;
    guard.put(tx, &slot, &entry)?;
    stored::save_alert(tx, alert).await
}
