use accrue::{Account, Timeframe, invoice::Invoice};

use crate::{
    CustomerCost, CustomerCredits, Error, Figures, error::Doing as _, invoices, setup::Setup,
};

/// What the account says of one customer when it is asked: after the first pass, after the second,
/// and of a store that was opened again. It has to be the same each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) metrics: Figures,
    pub(crate) cost: CustomerCost,
    pub(crate) credits: CustomerCredits,
    /// Those that were issued, oldest first.
    pub(crate) invoices: Vec<Invoice>,
}

impl Reading {
    /// Asks for every customer, over all of a timeframe.
    pub(crate) async fn of_all(
        account: &Account,
        setup: &Setup,
        timeframe: Timeframe,
    ) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        for (customer, subscription) in setup.customers() {
            let metrics = Figures::of(account, setup, timeframe, &customer).await;
            let cost = CustomerCost::of(account, subscription).await;
            let credits = CustomerCredits::of(account, customer.clone()).await;
            let invoices = invoices::issued(account, customer).await;
            all.push(Self {
                metrics: metrics.doing("read the figures")?,
                cost: cost.doing("read the cost")?,
                credits: credits.doing("read the credits")?,
                invoices: invoices.doing("read the invoices")?,
            });
        }
        Ok(all)
    }
}
