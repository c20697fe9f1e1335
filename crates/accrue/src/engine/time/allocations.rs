//! Credits that subscriptions give with the periods of allocations (subscriptions 9.3).

use std::collections::BTreeMap;

use super::{balances, buying};
use crate::{
    Error, Timestamp,
    alert::Cause,
    credit::BlockAllocation,
    engine::{
        kernel::Transaction,
        rows::{account, ledgers, prices},
    },
    limits,
    price::{Charge, Model},
    schema::{self, CustomerHead},
    subscription::{Given, SubscriptionEntry},
};

/// Gives the credits of the periods that begin by an instant, the next of each price, and tells of them at another.
pub(in crate::engine) async fn give(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    begun_by: Timestamp,
    at: Timestamp,
) -> Result<(), Error> {
    for place in 0..entry.subscription.price_intervals.len() {
        let of = &mut entry.subscription;
        let Some(interval) = of.price_intervals.get(place) else { continue };
        let next = of.next_to_give(interval).filter(|period| period.start() <= begun_by);
        let Some(period) = next else { continue };
        let (price_id, given_at) = (interval.price_id, period.start());
        let price_interval_id = interval.id;
        if let Some(interval) = of.price_intervals.get_mut(place) {
            interval.given = Some(Given { until: Some(given_at) });
        }
        let of = &entry.subscription;
        let price = prices::price(tx, &price_id.into()).await?;
        let (Some(terms), Charge::Fixed { quantity, model: Model::Unit(unit), .. }) =
            (&price.credit_allocation, &price.charge)
        else {
            continue;
        };
        let allocation = BlockAllocation {
            subscription_id: of.id,
            price_id,
            price_interval_id,
            item_id: price.item_id,
            given_at,
            expiry_date: terms.expiry.of(given_at, period.end(), &of.timezone),
            terms: terms.clone(),
        };
        let expiry = expiry(entry, &allocation);
        let customer = of.customer_id;
        let mut ledger = ledgers::ledger_or_new(tx, customer, &terms.currency).await?;
        // What is configured at this instant comes after what the instant brings.
        ledger.has_alerts = account::had_alerts_until(tx, at).await?;
        let before = ledger.book.balance().cloned();
        let cost_basis = unit.unit_amount.clone();
        let given = ledger.book.give(quantity.clone(), cost_basis, allocation, expiry);
        buying::tell_of(tx, &ledger, given.credit_block.id, at).await?;
        let cause = Cause::Credit { entry_id: given.id };
        balances::judge_at(tx, &mut ledger, before, &cause, at).await?;
        ledgers::save_ledgers(tx, customer, std::iter::once(&ledger)).await?;
    }
    Ok(())
}

/// Gives the credits of all periods that have begun: before anything draws on them.
pub(in crate::engine) async fn give_begun(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let now = tx.now;
    for _ in 0..limits::REWOUND {
        match entry.next_given().filter(|at| *at <= now) {
            Some(begun) => give(tx, entry, begun, now).await?,
            None => break,
        }
    }
    Ok(())
}

/// Lets the credits that a subscription has given last as long as its prices do, which have changed.
pub(in crate::engine) async fn follow(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    entry: &SubscriptionEntry,
) -> Result<(), Error> {
    let gives = |of: &SubscriptionEntry| {
        of.subscription.price_intervals.iter().any(|own| own.given.is_some())
    };
    if !gives(before) && !gives(entry) {
        return Ok(());
    }
    let (customer, now) = (entry.subscription.customer_id, tx.now);
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer)).await?.unwrap_or_default();
    let units: Vec<_> = credits.units.into_keys().collect();
    let named: Vec<_> = units.iter().map(|unit| (customer, unit)).collect();
    ledgers::fetch_ledgers(tx, &named).await?;
    let mut moved = BTreeMap::new();
    for unit in units {
        let Some(mut ledger) = ledgers::fetched_ledger(tx, customer, &unit).await? else {
            continue;
        };
        let mut has_moved = false;
        for (block_id, allocation) in ledger.book.given_by(entry.subscription.id) {
            let expiry = expiry(entry, &allocation).map(|at| at.max(now));
            if !ledger.book.let_expire(block_id, expiry) {
                continue;
            }
            has_moved = true;
            if expiry == Some(now) {
                let before = ledger.book.balance().cloned();
                ledger.book.expire(block_id);
                let cause = Cause::Expiry { block_id };
                balances::judge(tx, &mut ledger, before, &cause).await?;
            }
        }
        if has_moved {
            moved.insert(unit, ledger);
        }
    }
    ledgers::save_ledgers(tx, customer, moved.values()).await
}

/// Returns when credits expire: as their allocation says, and with its end.
fn expiry(entry: &SubscriptionEntry, of: &BlockAllocation) -> Option<Timestamp> {
    let end = entry.subscription.lasts_until(of.price_interval_id, of.given_at);
    of.expiry_date.into_iter().chain(end).min()
}
