//! Changes of a subscription by another price.

use async_trait::async_trait;

use super::{Preview, preview};
use crate::{
    Error, IdOr, PriceId, PricingUnit, SubscriptionId,
    alert::Cause,
    cost::Cost,
    engine::{
        Account,
        commands::{costs, plan_versions, prices},
        kernel::{Command, Stop, Transaction},
        rows::{
            self, active, ledgers,
            periods::{self, Wanted},
        },
        time::{
            current, drawing,
            recount::{self, SummedBy},
        },
    },
    period::Change,
    plan::{Agreed, Placed, PlanPrice},
    price::NewPrice,
    subscription::{PriceInterval, SubscriptionEntry},
};

/// Cost of a subscription in its current billing period, now and with another price.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostChange {
    /// Cost now.
    pub before: Cost,
    /// Cost that it would have.
    pub after: Cost,
}

impl Account {
    /// Previews another price in the place of one of a subscription's own, from the begin of its
    /// current billing period on: returns the cost that it would have, the alerts that would fire, and
    /// the balances that would move. Nothing is written.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the subscription has no
    /// such price or ended long ago, or the new one cannot be in one version with the others or has another
    /// billing cycle;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such subscription or price;
    /// errors of creating the price;
    /// [`FeatureNotAvailable`](crate::ErrorKind::FeatureNotAvailable) where the account has no
    /// previews.
    pub async fn preview_price(
        &self,
        id: SubscriptionId,
        replaced: impl Into<IdOr<PriceId>>,
        new: NewPrice,
    ) -> Result<Preview<CostChange>, Error> {
        preview(self, &ReplacePrice { id, replaced: replaced.into(), new }).await
    }
}

/// Command that puts another price in the place of one. It is only ever rehearsed.
struct ReplacePrice {
    id: SubscriptionId,
    replaced: IdOr<PriceId>,
    new: NewPrice,
}

#[async_trait]
impl Command for ReplacePrice {
    type Outcome = CostChange;

    fn name(&self) -> &'static str {
        "replace_price"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<CostChange, Stop> {
        let before = current::current_subscription(tx, self.id).await?;
        if before.is_past(rows::account::oldest_open(tx)) {
            let detail = format!("subscription {} has ended", self.id);
            return Err(Error::constraint(detail).into());
        }
        let now = tx.now;
        let period = costs::current_period(tx, &before);
        let currency = PricingUnit::from(before.subscription.currency);
        let alerts = active::watching(tx, &before).await?;
        let wanted = Wanted {
            alerts: &alerts,
            draws_in: &ledgers::draws_in(tx, &before).await?,
            ..Wanted::default()
        };
        let mut periods = periods::periods(tx, &before, &[period], wanted, now).await?;
        let earlier = costs::costs(tx, &before, &[period], &currency).await?;

        let after = self.repriced(tx, &before).await?;
        let wanted = Wanted {
            alerts: &alerts,
            draws_in: &ledgers::draws_in(tx, &after).await?,
            ..Wanted::default()
        };
        let mut next = periods::periods(tx, &after, &[period], wanted, now).await?;
        recount::sum_anew(tx, &after, &mut next, SummedBy::All).await?;
        periods::rate_periods(tx, &after, &mut next, now).await?;
        let guard = tx.guard(before.subscription.customer_id).await?;
        periods::save_periods(tx, &guard, &next).await?;
        let later = costs::costs(tx, &after, &[period], &currency).await?;
        let cause = Cause::Subscription { subscription_id: self.id };
        let next = Change::Next { next: Box::new(next), cause: &cause };
        let customer_id = before.subscription.customer_id;
        let told = periods::advance(tx, customer_id, &mut periods, next, now).await?;
        drawing::draw_alone(tx, customer_id, &told.draw_downs, &cause, now).await?;
        match (earlier.into_iter().next(), later.into_iter().next()) {
            (Some(before), Some(after)) => Ok(CostChange { before, after }),
            _ => Err(Error::corrupt("a billing period has no cost").into()),
        }
    }
}

impl ReplacePrice {
    /// Puts the subscription on a version of its plan that has the other price.
    async fn repriced(
        &self,
        tx: &mut Transaction<'_>,
        of: &SubscriptionEntry,
    ) -> Result<SubscriptionEntry, Error> {
        let Some(plan_id) = of.subscription.plan_id else {
            let detail = format!("subscription {} is on no plan whose price could differ", self.id);
            return Err(Error::constraint(detail));
        };
        let mut ids = Vec::new();
        for PriceInterval { price_id, .. } in &of.subscription.price_intervals {
            if !ids.contains(price_id) {
                ids.push(*price_id);
            }
        }
        let named = match &self.replaced {
            IdOr::Id(id) => *id,
            external => rows::prices::price(tx, external).await?.id,
        };
        if !ids.contains(&named) {
            let detail = format!("subscription {} has no price {}", self.id, self.replaced);
            return Err(Error::constraint(detail));
        }
        let replaced = rows::prices::price(tx, &named.into()).await?;
        self.new.check()?;
        let prices = ids.iter().map(|id| match *id == named {
            true => {
                let plan_phase_order = replaced.plan_phase_order;
                PlanPrice::from(NewPrice { plan_phase_order, ..self.new.clone() })
            }
            false => PlanPrice::from(*id),
        });
        let plan = rows::plans::plan(tx, &plan_id.into()).await?;
        let version = plan.latest_version.next()?;
        let prices: Vec<_> = prices.collect();
        let (prices, agreed) = (Placed::all(&prices), Agreed::default());
        let priced = plan_versions::create_version(tx, &plan, version, &prices, agreed).await?;
        let mut after = of.clone();
        after.subscription.plan_version = version;
        let price = ids.iter().position(|id| *id == named).and_then(|at| priced.prices.get(at));
        let price = price.ok_or_else(|| Error::corrupt("a version of a plan has no such price"))?;
        after.subscription.replace_price(&replaced, price, version);
        prices::note_usage(tx, &mut after).await?;
        let (found, cycle) = (after.subscription.billing_cycle(), of.subscription.billing_cycle());
        if found != cycle {
            let detail =
                format!("the subscription would bill every {found}, it bills every {cycle}");
            return Err(Error::constraint(detail));
        }
        rows::subscriptions::put_subscription(tx, &after, of.terms_parts).await?;
        Ok(after)
    }
}
