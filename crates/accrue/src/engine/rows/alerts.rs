//! Rows of alerts: those of a customer's subscriptions and balances are the customer's, those that several
//! subscriptions share are the account's.

use crate::{
    AlertId, CustomerId, Error,
    alert::{Alert, Scope},
    engine::{kernel::Transaction, rows::account},
    schema::{self, AlertEntry, CustomerHead},
};

/// Reads some alerts of a customer.
pub(in crate::engine) async fn own(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    ids: &[AlertId],
) -> Result<Vec<Alert>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::alert(tx.account, *id)).collect();
    let guard = tx.guard::<CustomerHead>(customer).await?;
    Ok(alerts(guard.get_all(tx, &slots).await?))
}

/// Reads some alerts of plan versions, or of the account.
pub(in crate::engine) async fn shared(
    tx: &mut Transaction<'_>,
    ids: &[AlertId],
) -> Result<Vec<Alert>, Error> {
    let slots: Vec<_> = ids.iter().map(|id| schema::plan_alert(tx.account, *id)).collect();
    Ok(alerts(account::guard(tx).await?.get_all(tx, &slots).await?))
}

fn alerts(entries: Vec<Option<AlertEntry>>) -> Vec<Alert> {
    entries.into_iter().flatten().map(|entry| entry.alert).collect()
}

/// Reads an alert, whosever it is, with the mark that deletes it.
pub(in crate::engine) async fn any(
    tx: &mut Transaction<'_>,
    id: AlertId,
) -> Result<Option<AlertEntry>, Error> {
    let (own, shared) = (schema::alert(tx.account, id), schema::plan_alert(tx.account, id));
    tx.fetch([own.key(), shared.key()]).await?;
    Ok(tx.row(&own)?.or(tx.row(&shared)?))
}

/// Reads an alert as it is kept, under the guard of whose it is.
pub(in crate::engine) async fn entry(
    tx: &mut Transaction<'_>,
    alert: &Alert,
) -> Result<Option<AlertEntry>, Error> {
    match alert.scope {
        Scope::Plan { .. } | Scope::Account => {
            let slot = schema::plan_alert(tx.account, alert.id);
            account::guard(tx).await?.get(tx, &slot).await
        }
        Scope::Subscription { customer_id, .. } | Scope::Customer { customer_id } => {
            let slot = schema::alert(tx.account, alert.id);
            tx.guard::<CustomerHead>(customer_id).await?.get(tx, &slot).await
        }
    }
}

/// Writes an alert.
pub(in crate::engine) async fn put(
    tx: &mut Transaction<'_>,
    entry: &AlertEntry,
) -> Result<(), Error> {
    let id = entry.alert.id;
    match entry.alert.scope {
        Scope::Plan { .. } | Scope::Account => {
            let slot = schema::plan_alert(tx.account, id);
            account::guard(tx).await?.put(tx, &slot, entry)
        }
        Scope::Subscription { customer_id, .. } | Scope::Customer { customer_id } => {
            let slot = schema::alert(tx.account, id);
            tx.guard::<CustomerHead>(customer_id).await?.put(tx, &slot, entry)
        }
    }
}
