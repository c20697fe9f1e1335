//! Alerts of a plan version: each change is a revision, which its subscriptions apply one by one
//! (`docs/decisions/fees-are-judged-when-due.md`).

use crate::{
    Error, PlanId,
    alert::Alert,
    engine::kernel::Transaction,
    limits,
    plan::PlanVersion,
    schema::{self, AlertRevision, Deadline, Owner},
};

impl Transaction<'_> {
    /// Writes an alert of a plan version, and the change that its subscriptions have to apply.
    pub(super) async fn save_plan_alert(
        &mut self,
        plan_id: PlanId,
        version: PlanVersion,
        alert: &Alert,
    ) -> Result<(), Error> {
        self.make_due(Owner::Plan(plan_id, version));
        let slot = schema::plan_version(self.account, plan_id, version);
        let mut entry = self.get(&slot).await?.unwrap_or_default();
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
        if let Some(at) = entry.deadline.replace(self.now) {
            self.delete(&schema::deadline(at, self.account, owner));
        }
        let at = self.now;
        let deadline = Deadline { at, account: self.account.clone(), owner, cursor: None };
        self.put(&schema::deadline(at, self.account, owner), &deadline)?;
        let number = entry.revision;
        let before = self.get(&schema::alert(self.account, alert.id)).await?;
        let before = before.map(|before| before.alert);
        let revision = AlertRevision { at, alert: alert.clone(), before };
        let place = schema::alert_revision(self.account, plan_id, version, number);
        self.put(&place, &revision)?;
        self.put(&slot, &entry)?;
        self.save_alert(alert).await
    }
}
