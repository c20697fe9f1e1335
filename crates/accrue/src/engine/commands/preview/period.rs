//! Changes of billing periods by a correction.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{
    CustomerId, Decimal, Error, MetricId, PricingUnit, SubscriptionId, Timeframe,
    backfill::{Backfill, BackfillStatus, Effect},
    engine::{
        commands::costs,
        kernel::Transaction,
        rows::{self, totals, visible},
        time::corrections,
    },
    limits,
    usage::Day,
};

/// Change of a billing period of a subscription that an operation would correct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PeriodChange {
    /// Customer of the subscription.
    pub customer_id: CustomerId,
    /// Subscription that has the billing period.
    pub subscription_id: SubscriptionId,
    /// Billing period that would be corrected.
    pub timeframe: Timeframe,
    /// Usage of each metric that would move.
    pub usage: Vec<UsageChange>,
    /// Currency of the subscription, which the costs are in.
    pub currency: PricingUnit,
    /// Cost now, after adjustments and before credits.
    pub cost_before: Decimal,
    /// Cost that it would have.
    pub cost_after: Decimal,
}

/// Change of the usage of a metric in a billing period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UsageChange {
    /// Metric that would move.
    pub metric_id: MetricId,
    /// Figure now; `None` where nothing was measured.
    pub before: Option<Decimal>,
    /// Figure that it would have.
    pub after: Option<Decimal>,
}

/// Figures of a billing period.
pub(super) struct PeriodFigures {
    customer_id: CustomerId,
    subscription_id: SubscriptionId,
    timeframe: Timeframe,
    usage: BTreeMap<MetricId, Decimal>,
    currency: PricingUnit,
    cost: Decimal,
}

impl PeriodChange {
    /// Compares the same billing periods: those of which something has moved.
    pub(super) fn between(before: Vec<PeriodFigures>, after: Vec<PeriodFigures>) -> Vec<Self> {
        let changes = before.into_iter().zip(after).filter_map(|(before, after)| {
            let metrics = before.usage.keys().chain(after.usage.keys());
            let metrics: BTreeSet<_> = metrics.copied().collect();
            let usage = metrics.into_iter().filter_map(|metric_id| {
                let of = |figures: &PeriodFigures| figures.usage.get(&metric_id).cloned();
                let (before, after) = (of(&before), of(&after));
                (before != after).then_some(UsageChange { metric_id, before, after })
            });
            let usage: Vec<_> = usage.collect();
            let has_moved = !usage.is_empty() || before.cost != after.cost;
            has_moved.then_some(Self {
                customer_id: before.customer_id,
                subscription_id: before.subscription_id,
                timeframe: before.timeframe,
                usage,
                currency: before.currency,
                cost_before: before.cost,
                cost_after: after.cost,
            })
        });
        changes.collect()
    }
}

/// Finds the customers that a backfill concerns, as long as a preview can look at them.
pub(super) async fn corrected_customers(
    tx: &mut Transaction<'_>,
    backfill: &Backfill,
) -> Result<Vec<CustomerId>, Error> {
    let effect = match backfill.status {
        BackfillStatus::PendingRevert => Effect::Revert,
        _ => Effect::Reflect,
    };
    let mut customers: BTreeSet<_> = backfill.customer_id.into_iter().collect();
    let (mut cursor, mut has_more) = (None, customers.is_empty());
    while has_more {
        let (more, next) = corrections::concerned(tx, backfill, effect, cursor).await?;
        customers.extend(more);
        if customers.len() >= limits::PREVIEWED {
            let most = limits::PREVIEWED;
            return Err(Error::too_many(format!(
                "a preview takes a backfill that concerns fewer than {most} customers"
            )));
        }
        has_more = next.is_some();
        cursor = next;
    }
    let (days, mut events) = (Day::covering(backfill.timeframe), 0_usize);
    for customer in &customers {
        let mut overlays = visible::overlays(tx, *customer, days).await?;
        overlays.correct(backfill, Effect::Reflect, 0);
        let mut walk = visible::walk_events_under(tx, overlays, *customer, days, None).await?;
        loop {
            let walked = visible::walk_on(tx, &mut walk).await?.len();
            events = events.saturating_add(walked);
            if events > limits::PREVIEWED_EVENTS {
                let most = limits::PREVIEWED_EVENTS;
                return Err(Error::too_many(format!(
                    "a preview takes a backfill of days with at most {most} events"
                )));
            }
            if walked == 0 {
                break;
            }
        }
    }
    Ok(customers.into_iter().collect())
}

/// Returns the figures of the billing periods of some customers that overlap a timeframe.
pub(super) async fn period_figures(
    tx: &mut Transaction<'_>,
    customers: &[CustomerId],
    timeframe: Timeframe,
) -> Result<Vec<PeriodFigures>, Error> {
    let mut found = Vec::new();
    let metrics = rows::metrics::meters(tx).await?.only_metrics().metrics;
    let mut seen = BTreeSet::new();
    for customer_id in customers {
        for entry in rows::subscriptions::every_counting(tx, *customer_id).await? {
            let of = &entry.subscription;
            if !seen.insert(of.id) {
                continue;
            }
            let currency = PricingUnit::from(of.currency);
            let periods: Vec<_> = of.periods().overlapping(timeframe).collect();
            for period in periods {
                let total = totals::billing_total(tx, &entry, period).await?;
                let figure = |id| Some((id, total.figure(of.usage_cell(id))?));
                let usage = metrics.iter().filter_map(|metric| figure(metric.id));
                let costs = costs::costs(tx, &entry, &[period], &currency).await?;
                let cost = costs.into_iter().next().map(|cost| cost.total);
                found.push(PeriodFigures {
                    customer_id: of.customer_id,
                    subscription_id: entry.subscription.id,
                    timeframe: period,
                    usage: usage.collect(),
                    currency: currency.clone(),
                    cost: cost.ok_or_else(|| Error::corrupt("a period has no cost"))?,
                });
            }
        }
    }
    Ok(found)
}
