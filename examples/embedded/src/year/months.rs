use std::collections::BTreeMap;

use accrue::{
    Account, Decimal, ExternalId, Timeframe, Zone,
    cost::CostQuery,
    credit::{EntryKind, LedgerEntry},
    invoice::Invoice,
};

use super::{Books, customer::Customer, setup::Setup};
use crate::{
    CustomerCredits, Error, FiredAlert, credits, error::Doing as _, invoices, setup::CREDITS,
};

/// What the year of one customer has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomerYear {
    /// Who it is.
    pub external_customer_id: ExternalId,
    /// Where its months begin and end.
    pub timezone: Zone,
    /// Its months.
    pub months: Vec<Month>,
    /// What it has of its credits when the year is over.
    pub credits: CustomerCredits,
}

/// What one month has come to. What falls on the instant between two of them is the later one's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Month {
    /// From when to when.
    pub timeframe: Timeframe,
    /// How many requests there were.
    pub requests: Decimal,
    /// What they cost in credits.
    pub credits_cost: Decimal,
    /// What the month costs in USD.
    pub cost: Decimal,
    /// The credits that were given or bought.
    pub granted: Decimal,
    /// The credits that usage has drawn.
    pub drawn: Decimal,
    /// The credits that were lost.
    pub expired: Decimal,
    /// What was left at its end.
    pub balance: Decimal,
    /// Its invoices and payments.
    pub books: Books,
    /// The alerts that fired.
    pub alerts: Vec<FiredAlert>,
}

/// Asks for the months of all customers.
pub(super) async fn of_all(
    account: &Account,
    setup: &Setup,
    alerts: &BTreeMap<ExternalId, Vec<FiredAlert>>,
) -> Result<Vec<CustomerYear>, Error> {
    let mut all = Vec::new();
    for customer in &setup.customers {
        let alerts = alerts.get(&customer.external).map(Vec::as_slice).unwrap_or_default();
        all.push(CustomerYear::of(account, customer, alerts).await.doing("read a year")?);
    }
    Ok(all)
}

impl CustomerYear {
    async fn of(
        account: &Account,
        customer: &Customer,
        alerts: &[FiredAlert],
    ) -> Result<Self, accrue::Error> {
        let ledger = credits::entries(account, &customer.id.into()).await?;
        let invoices = invoices::issued(account, customer.id).await?;
        let mut months = Vec::new();
        for month in customer.months() {
            months.push(Month::of(account, customer, month, &ledger, &invoices, alerts).await?);
        }
        Ok(Self {
            external_customer_id: customer.external.clone(),
            timezone: customer.subscription.timezone.clone(),
            months,
            credits: CustomerCredits::of(account, customer.id).await?,
        })
    }
}

impl Month {
    async fn of(
        account: &Account,
        customer: &Customer,
        month: Timeframe,
        ledger: &[LedgerEntry],
        invoices: &[Invoice],
        alerts: &[FiredAlert],
    ) -> Result<Self, accrue::Error> {
        let query = CostQuery { timeframe: month.into(), ..CostQuery::default() };
        let costs = account.subscription_costs(customer.subscription.id, &query).await?;
        let cost = costs.into_iter().next().expect("a month that is not cut has one cost");
        let in_credits = || cost.lines.iter().filter(|line| line.currency.as_str() == CREDITS);
        let moved = |kind| {
            let here = ledger.iter().filter(|entry| month.contains(entry.created_at));
            let of_kind = here.filter(|entry| entry.entry_type.kind() == kind);
            of_kind.map(|entry| entry.amount.clone()).sum::<Decimal>()
        };
        let last = ledger.iter().rfind(|entry| entry.created_at < month.end());
        Ok(Self {
            timeframe: month,
            requests: in_credits().map(|line| line.quantity.clone()).sum(),
            credits_cost: in_credits().map(|line| line.total.clone()).sum(),
            cost: cost.total.clone(),
            granted: moved(EntryKind::Increment),
            drawn: -moved(EntryKind::Decrement),
            expired: -moved(EntryKind::CreditBlockExpiry),
            balance: last.map(|entry| entry.ending_balance.clone()).unwrap_or_default(),
            books: Books::of(month, invoices),
            alerts: alerts.iter().filter(|alert| month.contains(alert.at)).cloned().collect(),
        })
    }
}
