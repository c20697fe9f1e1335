//! Messages that the pools of licenses are full again (subscriptions 7.4.12).

use crate::{
    Error, Timestamp,
    engine::{
        kernel::Transaction,
        rows::{outbox, prices},
    },
    subscription::{Refilled, SubscriptionEntry},
    webhook::{Body, RefilledPool},
};

/// Tells of the pools of the periods that an instant brings: of all types in one message for each period.
pub(in crate::engine) async fn tell(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    at: Timestamp,
) -> Result<(), Error> {
    let mut pools = Vec::new();
    let mut timeframe = None;
    for place in 0..entry.subscription.price_intervals.len() {
        let of = &mut entry.subscription;
        let Some(interval) = of.price_intervals.get(place) else { continue };
        let next = of.next_to_refill(interval).filter(|(due, _)| *due <= at);
        let Some((_, period)) = next.filter(|(_, of)| timeframe.is_none_or(|first| first == *of))
        else {
            continue;
        };
        let price_id = interval.price_id;
        if let Some(Refilled { until, .. }) =
            of.price_intervals.get_mut(place).and_then(|own| own.refilled.as_mut())
        {
            *until = Some(period.start());
        }
        timeframe = Some(period);
        let fee = prices::price(tx, &price_id.into()).await?;
        let Some(license_type_id) = fee.license_fee() else { continue };
        pools.extend(fee.license_allocations.into_iter().map(|of| RefilledPool {
            license_type_id,
            currency: of.currency,
            amount: of.amount,
        }));
    }
    let Some(timeframe) = timeframe else { return Ok(()) };
    let (subscription_id, customer) = (entry.subscription.id, entry.subscription.customer_id);
    let body = Body::LicenseAllocationReset { subscription_id, timeframe, pools };
    outbox::tell(tx, customer, at, body).await
}
