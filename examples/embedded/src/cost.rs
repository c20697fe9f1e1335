use accrue::{Account, Decimal, Name, PricingUnit, SubscriptionId, cost::CostQuery};
use serde::Serialize;

/// What one customer owes for the current billing period, not rounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CustomerCost {
    /// One line for each price of the plan.
    pub lines: Vec<CostLine>,
    /// What they come to in the currency of the plan.
    pub total: Decimal,
}

/// What one price comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostLine {
    /// The name of the price.
    pub price: Name,
    /// What its amount is in.
    pub currency: PricingUnit,
    /// How many units it charges for.
    pub quantity: Decimal,
    /// What they cost.
    pub amount: Decimal,
}

impl CostLine {
    /// Tells whether it counts for the total: what is drawn from credits does not.
    pub(crate) fn counts(&self) -> bool {
        self.currency.currency().is_some()
    }
}

impl CustomerCost {
    pub(crate) async fn of(
        account: &Account,
        subscription: SubscriptionId,
    ) -> Result<Self, accrue::Error> {
        let costs = account.subscription_costs(subscription, &CostQuery::default()).await?;
        let cost = costs.into_iter().next().expect("a period that is not cut has one cost");
        let lines = cost.lines.into_iter().map(|line| CostLine {
            price: line.name,
            currency: line.currency,
            quantity: line.quantity,
            amount: line.total,
        });
        Ok(Self { lines: lines.collect(), total: cost.total })
    }
}
