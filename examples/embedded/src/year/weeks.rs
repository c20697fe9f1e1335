use std::time::Duration;

use accrue::{Account, Decimal, Timeframe, cost::CostQuery};

use super::{
    calendar::{eve, first_new_year},
    setup::Setup,
};
use crate::{Error, error::Doing as _, setup::credits};

const WEEKS: u32 = 52;
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What one week has come to, of all customers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Week {
    /// From when to when.
    pub timeframe: Timeframe,
    /// What it costs in USD.
    pub cost: Decimal,
    /// What was left of all credits at its end.
    pub balance: Decimal,
}

/// The weeks of the year. The last one is longer, until it is the next year somewhere.
pub(super) fn all() -> impl Iterator<Item = Timeframe> {
    let start = |number| eve().saturating_add(WEEK.saturating_mul(number));
    (0..WEEKS).map(move |number| {
        let end = if number + 1 == WEEKS { first_new_year() } else { start(number + 1) };
        Timeframe::new(start(number), end).expect("a week ends after it starts")
    })
}

impl Week {
    /// Asks for the week that ends now.
    pub(super) async fn of(
        account: &Account,
        setup: &Setup,
        timeframe: Timeframe,
    ) -> Result<Self, Error> {
        let query = CostQuery { timeframe: timeframe.into(), ..CostQuery::default() };
        let mut week = Self { timeframe, cost: Decimal::zero(), balance: Decimal::zero() };
        for customer in &setup.customers {
            let costs = account.customer_costs(customer.id, &query).await;
            week.cost +=
                costs.doing("read the cost")?.into_iter().map(|cost| cost.total).sum::<Decimal>();
            let balance = account.credit_balance(customer.id, &credits()).await;
            week.balance += balance.doing("read the credits")?.balance.unwrap_or_default();
        }
        Ok(week)
    }
}
