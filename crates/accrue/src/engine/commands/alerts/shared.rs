//! Changes to alerts that several subscriptions share: each is a revision, which the subscriptions apply one by one
//! (`docs/decisions/fees-are-judged-when-due.md`).

use crate::{
    Error,
    alert::Alert,
    engine::{
        commands::alerts::stored,
        kernel::Transaction,
        rows::{alerts, shared_alerts::Sharer},
    },
    limits,
    schema::{self, AlertRevision, Deadline},
};

/// Writes an alert that several subscriptions share, and the change that they have to apply.
pub(super) async fn save_shared_alert(
    tx: &mut Transaction<'_>,
    sharer: Sharer,
    alert: &Alert,
) -> Result<(), Error> {
    let owner = sharer.owner();
    tx.make_due(owner);
    let mut shared = sharer.alerts(tx).await?;
    if shared.revision.saturating_sub(shared.applied) >= limits::PENDING_CHANGES {
        let most = limits::PENDING_CHANGES;
        let whose = match sharer {
            Sharer::Plan(..) => "version",
            Sharer::Account => "account",
        };
        let detail = format!("{most} changes to the alerts of the {whose} wait for a tick");
        return Err(Error::constraint(detail));
    }
    shared.revision = shared.revision.saturating_add(1);
    if !shared.alerts.contains(&alert.id) {
        shared.alerts.push(alert.id);
    }
    if let Some(at) = shared.deadline.replace(tx.now) {
        tx.delete(&schema::deadline(at, tx.account, owner));
    }
    let at = tx.now;
    let deadline = Deadline { at, account: tx.account.clone(), owner, cursor: None };
    tx.put(&schema::deadline(at, tx.account, owner), &deadline)?;
    let before = alerts::entry(tx, alert).await?.map(|before| before.alert);
    let revision = AlertRevision { at, alert: alert.clone(), before };
    let place = sharer.revision(tx, shared.revision);
    tx.put(&place, &revision)?;
    sharer.save(tx, shared).await?;
    stored::save_alert(tx, alert).await
}
