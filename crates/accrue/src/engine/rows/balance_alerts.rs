//! Alerts on balances of credits: which watch a ledger, and what they have fired.

#[cfg(test)]
mod tests;

use crate::{
    AlertId, CustomerId, Error, PricingUnit,
    alert::{Alert, BalanceWatch},
    engine::{
        kernel::{Guard, Transaction},
        rows::{account, alerts, credits, outbox, top_ups},
    },
    schema::{self, BalanceAlertState, Credits, CustomerHead, Slot},
};

/// Reads what it takes to watch some ledgers, in two calls of the store.
pub(in crate::engine) async fn fetch_balance_watches(
    tx: &mut Transaction<'_>,
    ledgers: &[(CustomerId, &PricingUnit)],
) -> Result<(), Error> {
    let account = tx.account;
    let guards = tx.guards::<CustomerHead>(ledgers.iter().map(|(id, _)| *id)).await?;
    let credits: Vec<_> = ledgers.iter().map(|(id, _)| schema::credits(account, *id)).collect();
    Guard::fetch(tx, guards.iter().zip(credits.iter().map(Slot::key))).await?;
    let mut keys = Vec::new();
    for (guard, (customer_id, unit)) in guards.iter().zip(ledgers) {
        if let Some(id) = top_ups::active(tx, *customer_id, unit)? {
            keys.push((guard, schema::top_up(account, id).key().clone()));
        }
        for id in balance_alert_ids(tx, *customer_id, unit)? {
            keys.push((guard, schema::alert(account, id).key().clone()));
            keys.push((guard, schema::balance_alert_state(account, id).key().clone()));
        }
    }
    Guard::fetch(tx, keys.iter().map(|(guard, key)| (*guard, key))).await
}

/// Returns the alerts on a ledger, the disabled ones too, and what of them is in alert. They were
/// [fetched](fetch_balance_watches).
pub(in crate::engine) async fn balance_watch(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    unit: &PricingUnit,
) -> Result<BalanceWatch, Error> {
    let ids = balance_alert_ids(tx, customer_id, unit)?;
    let alerts = alerts::own(tx, customer_id, &ids).await?;
    let watched = alerts.into_iter().map(|alert| {
        let state = tx.row(&schema::balance_alert_state(tx.account, alert.id))?;
        Ok((alert, state.unwrap_or_default().in_alert))
    });
    Ok(BalanceWatch::new(watched.collect::<Result<Vec<_>, Error>>()?))
}

/// Writes what of some alerts came in alert or was armed again.
pub(in crate::engine) fn save_balance_watch(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    watch: &BalanceWatch,
) -> Result<(), Error> {
    for (id, in_alert) in watch.moved() {
        let slot = schema::balance_alert_state(tx.account, id);
        guard.put(tx, &slot, &BalanceAlertState { in_alert: in_alert.clone() })?;
    }
    Ok(())
}

/// Judges an alert on the balance that there is now.
pub(in crate::engine) async fn judge_balance_at_once(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    alert: &Alert,
) -> Result<(), Error> {
    let Some(unit) = alert.condition.ledger() else { return Ok(()) };
    let guard = tx.guard(customer_id).await?;
    let ledger = guard.get(tx, &schema::ledger(tx.account, customer_id, unit)).await?;
    let Some(ledger) = ledger else { return Ok(()) };
    if !account::had_alerts(tx, tx.now).await? {
        return Ok(());
    }
    fetch_balance_watches(tx, &[(customer_id, unit)]).await?;
    let mut watch = balance_watch(tx, customer_id, unit).await?;
    if let Some(crossed) = watch.judge_at_once(customer_id, alert.id, &ledger.balance) {
        outbox::tell(tx, customer_id, tx.now, crossed.into()).await?;
    }
    save_balance_watch(tx, &guard, &watch)
}

/// Returns the alerts on all ledgers of a customer.
pub(in crate::engine) async fn balance_alerts(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
) -> Result<Vec<Alert>, Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer_id)).await?;
    let units = credits.unwrap_or_default().units.into_values();
    let ids: Vec<_> = units.flat_map(|credits| credits.alerts).collect();
    alerts::own(tx, customer_id, &ids).await
}

/// Returns the alerts on one ledger of a customer.
pub(in crate::engine) async fn balance_alerts_in(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    unit: &PricingUnit,
) -> Result<Vec<Alert>, Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    guard.get(tx, &schema::credits(tx.account, customer_id)).await?;
    let ids = balance_alert_ids(tx, customer_id, unit)?;
    alerts::own(tx, customer_id, &ids).await
}

/// Reads which alerts there are on a ledger of a customer whose credits were fetched.
fn balance_alert_ids(
    tx: &Transaction<'_>,
    customer_id: CustomerId,
    unit: &PricingUnit,
) -> Result<Vec<AlertId>, Error> {
    let credits = tx.row(&schema::credits(tx.account, customer_id))?;
    let credits = credits.unwrap_or_default().units.remove(unit);
    Ok(credits.unwrap_or_default().alerts)
}

/// Adds an alert to those on a ledger of a customer.
pub(in crate::engine) async fn add_balance_alert(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    unit: &PricingUnit,
    id: AlertId,
) -> Result<(), Error> {
    let guard = tx.guard(customer_id).await?;
    let slot = schema::credits(tx.account, customer_id);
    let Credits { mut units } = guard.get(tx, &slot).await?.unwrap_or_default();
    units.entry(unit.clone()).or_default().alerts.push(id);
    credits::put_credits(tx, &guard, &Credits { units })
}

/// Removes an alert from those on a ledger of a customer, with what of it is in alert.
pub(in crate::engine) async fn remove_balance_alert(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    alert: &Alert,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let slot = schema::credits(tx.account, customer_id);
    let Credits { mut units } = guard.get(tx, &slot).await?.unwrap_or_default();
    for credits in units.values_mut() {
        credits.alerts.retain(|id| *id != alert.id);
    }
    units.retain(|_, credits| credits.is_used());
    guard.put(tx, &slot, &Credits { units })?;
    let state = schema::balance_alert_state(tx.account, alert.id);
    guard.delete(tx, &state)
}
