//! Alerts on balances of credits: which watch a ledger, and what they have fired.

#[cfg(test)]
mod tests;

use crate::{
    AlertId, CustomerId, Error, PricingUnit,
    alert::{Alert, BalanceWatch},
    engine::kernel::Transaction,
    schema::{self, BalanceAlertState, Credits, CreditsIn, Slot},
};

impl Transaction<'_> {
    /// Reads what it takes to watch some ledgers, in two calls of the store.
    pub(in crate::engine) async fn fetch_balance_watches(
        &mut self,
        ledgers: &[(CustomerId, &PricingUnit)],
    ) -> Result<(), Error> {
        let account = self.account;
        let credits: Vec<_> = ledgers.iter().map(|(id, _)| schema::credits(account, *id)).collect();
        self.fetch(credits.iter().map(Slot::key).collect::<Vec<_>>()).await?;
        let mut keys = Vec::new();
        for (customer_id, unit) in ledgers {
            for id in self.balance_alert_ids(*customer_id, unit)? {
                keys.push(schema::alert(account, id).key().clone());
                keys.push(schema::balance_alert_state(account, id).key().clone());
            }
        }
        self.fetch(&keys).await
    }

    /// Returns the alerts on a ledger, the disabled ones too, and what of them is in alert.
    pub(in crate::engine) async fn balance_watch(
        &mut self,
        customer_id: CustomerId,
        unit: &PricingUnit,
    ) -> Result<BalanceWatch, Error> {
        self.fetch_balance_watches(&[(customer_id, unit)]).await?;
        let alerts = self.alerts(&self.balance_alert_ids(customer_id, unit)?).await?;
        let watched = alerts.into_iter().map(|alert| {
            let state = self.row(&schema::balance_alert_state(self.account, alert.id))?;
            Ok((alert, state.unwrap_or_default().in_alert))
        });
        Ok(BalanceWatch::new(watched.collect::<Result<Vec<_>, Error>>()?))
    }

    /// Writes what of some alerts came in alert or was armed again.
    pub(in crate::engine) fn save_balance_watch(
        &mut self,
        watch: &BalanceWatch,
    ) -> Result<(), Error> {
        for (id, in_alert) in watch.moved() {
            let slot = schema::balance_alert_state(self.account, id);
            self.put(&slot, &BalanceAlertState { in_alert: in_alert.clone() })?;
        }
        Ok(())
    }

    /// Judges an alert on the balance that there is now.
    pub(in crate::engine) async fn judge_balance_at_once(
        &mut self,
        customer_id: CustomerId,
        alert: &Alert,
    ) -> Result<(), Error> {
        let Some(unit) = alert.condition.ledger() else { return Ok(()) };
        let ledger = self.get(&schema::ledger(self.account, customer_id, unit)).await?;
        let Some(ledger) = ledger else { return Ok(()) };
        if !self.had_alerts(self.now).await? {
            return Ok(());
        }
        let mut watch = self.balance_watch(customer_id, unit).await?;
        if let Some(crossed) = watch.judge_at_once(customer_id, alert.id, &ledger.balance) {
            self.tell(customer_id, self.now, crossed.into()).await?;
        }
        self.save_balance_watch(&watch)
    }

    /// Returns the alerts on all ledgers of a customer.
    pub(in crate::engine) async fn balance_alerts(
        &mut self,
        customer_id: CustomerId,
    ) -> Result<Vec<Alert>, Error> {
        let credits = self.get(&schema::credits(self.account, customer_id)).await?;
        let units = credits.unwrap_or_default().units.into_values();
        let ids: Vec<_> = units.flat_map(|credits| credits.alerts).collect();
        self.alerts(&ids).await
    }

    /// Returns the alerts on one ledger of a customer.
    pub(in crate::engine) async fn balance_alerts_in(
        &mut self,
        customer_id: CustomerId,
        unit: &PricingUnit,
    ) -> Result<Vec<Alert>, Error> {
        self.fetch([schema::credits(self.account, customer_id).key()]).await?;
        self.alerts(&self.balance_alert_ids(customer_id, unit)?).await
    }

    /// Reads which alerts there are on a ledger of a customer whose credits were fetched.
    fn balance_alert_ids(
        &self,
        customer_id: CustomerId,
        unit: &PricingUnit,
    ) -> Result<Vec<AlertId>, Error> {
        let credits = self.row(&schema::credits(self.account, customer_id))?;
        let credits = credits.unwrap_or_default().units.remove(unit);
        Ok(credits.unwrap_or_default().alerts)
    }

    /// Adds an alert to those on a ledger of a customer.
    pub(in crate::engine) async fn add_balance_alert(
        &mut self,
        customer_id: CustomerId,
        unit: &PricingUnit,
        id: AlertId,
    ) -> Result<(), Error> {
        let slot = schema::credits(self.account, customer_id);
        let Credits { mut units } = self.get(&slot).await?.unwrap_or_default();
        units.entry(unit.clone()).or_default().alerts.push(id);
        self.put_credits(customer_id, &Credits { units })
    }

    /// Removes an alert from those on a ledger of a customer, with what of it is in alert.
    pub(in crate::engine) async fn remove_balance_alert(
        &mut self,
        customer_id: CustomerId,
        alert: &Alert,
    ) -> Result<(), Error> {
        let slot = schema::credits(self.account, customer_id);
        let Credits { mut units } = self.get(&slot).await?.unwrap_or_default();
        for credits in units.values_mut() {
            credits.alerts.retain(|id| *id != alert.id);
        }
        let is_used = |credits: &CreditsIn| credits.has_ledger || !credits.alerts.is_empty();
        units.retain(|_, credits| is_used(credits));
        self.put(&slot, &Credits { units })?;
        let state = schema::balance_alert_state(self.account, alert.id);
        self.get(&state).await?;
        self.delete(&state);
        Ok(())
    }
}
