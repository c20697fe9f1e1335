//! What customers prepay, and the alerts on what is left of it.

use accrue::{Account, CustomerId, alert::NewBalanceAlert, credit::NewLedgerEntry};

use super::words::{credits, decimal, thresholds};

/// What every customer is given before the first event. It never expires.
const GIVEN: &str = "5";
const LOW: [&str; 2] = ["2.5", "1"];

/// Gives a customer its credits, and watches them.
pub(super) async fn give(account: &Account, customer: CustomerId) -> Result<(), accrue::Error> {
    let given = NewLedgerEntry::increment(credits(), decimal(GIVEN));
    account.create_ledger_entry(customer, given).await?;
    watch(account, customer, &LOW).await
}

/// Creates the three alerts on a balance of credits: that it is low, gone, and there again.
pub(crate) async fn watch(
    account: &Account,
    customer: CustomerId,
    low: &[&str],
) -> Result<(), accrue::Error> {
    let alerts = [
        NewBalanceAlert::credit_balance_dropped(credits(), thresholds(low)?),
        NewBalanceAlert::credit_balance_depleted(credits()),
        NewBalanceAlert::credit_balance_recovered(credits()),
    ];
    for alert in alerts {
        account.create_customer_alert(customer, alert).await?;
    }
    Ok(())
}
