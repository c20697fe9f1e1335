//! Rows of subscriptions: an entry each, and beside it the terms, in as many parts as they need.

use crate::{
    CustomerId, Error, IdOr, SubscriptionId, Timestamp,
    engine::{
        kernel::{Guard, Transaction},
        rows::{customers, parts::Parts, usage_customers},
    },
    limits,
    schema::{self, CustomerHead, Nothing, Slot, SubscriptionOf, Terms},
    store::Key,
    subscription::SubscriptionEntry,
};

/// Names the rows that every subscription has.
pub(in crate::engine) fn keys(account: &crate::AccountId, id: SubscriptionId) -> [Key; 2] {
    let entry = schema::subscription(account, id).key().clone();
    [entry, schema::terms(account, id, 0).key().clone()]
}

/// Reads every subscription that a customer has, or had.
pub(in crate::engine) async fn every_subscription(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Vec<SubscriptionEntry>, Error> {
    let index = schema::Index::subscriptions_of_customer(tx.account, customer);
    let scan = index.scan(Timestamp::MIN, Timestamp::MAX, limits::SCAN_ROWS);
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let mut ids = Vec::new();
    for (key, _) in guard.range_all(tx, scan).await? {
        let id = SubscriptionId::from_bytes(schema::id_at(&schema::position(&key)?));
        ids.push((&guard, id));
    }
    let found: Option<Vec<_>> = subscriptions_under(tx, &ids).await?.into_iter().collect();
    found.ok_or_else(|| Error::corrupt("a list names no subscription"))
}

/// Reads every subscription that the usage of a customer counts for, or counted.
pub(in crate::engine) async fn every_counting(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
) -> Result<Vec<SubscriptionEntry>, Error> {
    let mut found = Vec::new();
    for subscriber in usage_customers::subscribers(tx, customer).await? {
        let all = every_subscription(tx, subscriber).await?.into_iter();
        found.extend(all.filter(|of| of.subscription.counts_usage_of(customer)));
    }
    Ok(found)
}

/// Reads a subscription.
pub(in crate::engine) async fn subscription(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
) -> Result<Option<SubscriptionEntry>, Error> {
    tx.find_first(&keys(tx.account, id)).await?;
    let Some(entry) = tx.row(&schema::subscription(tx.account, id))? else { return Ok(None) };
    let parts = tx.find_rows(&terms_slots(tx, &entry)).await?;
    join(entry, parts).map(Some)
}

/// Returns a subscription that exists, and whose customer is not deleted.
pub(in crate::engine) async fn subscription_entry(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
) -> Result<SubscriptionEntry, Error> {
    let unknown = || Error::not_found("subscription", id);
    let found = subscription(tx, id).await?;
    let entry = found.ok_or_else(unknown)?;
    let customer = IdOr::Id(entry.subscription.customer_id);
    match customers::customer(tx, &customer).await {
        Ok(_) => {
            let guard = tx.guard::<CustomerHead>(entry.subscription.customer_id).await?;
            guard.adopt(tx, &schema::subscription(tx.account, id));
            terms_slots(tx, &entry).iter().for_each(|terms| guard.adopt(tx, terms));
            Ok(entry)
        }
        Err(error) if error.is_not_found() => Err(unknown()),
        Err(error) => Err(error),
    }
}

/// Reads subscriptions under the guards of their customers, in the order asked.
pub(in crate::engine) async fn subscriptions_under(
    tx: &mut Transaction<'_>,
    wanted: &[(&Guard<CustomerHead>, SubscriptionId)],
) -> Result<Vec<Option<SubscriptionEntry>>, Error> {
    let account = tx.account;
    let keys = wanted.iter().map(|(guard, id)| (*guard, keys(account, *id)));
    let keys: Vec<_> =
        keys.flat_map(|(guard, [entry, first])| [(guard, entry), (guard, first)]).collect();
    Guard::fetch(tx, keys.iter().map(|(guard, key)| (*guard, key))).await?;
    let mut found = Vec::with_capacity(wanted.len());
    for (guard, id) in wanted {
        let Some(entry) = tx.row(&schema::subscription(account, *id))? else {
            found.push(None);
            continue;
        };
        let parts = guard.get_all(tx, &terms_slots(tx, &entry)).await?;
        found.push(Some(join(entry, parts)?));
    }
    Ok(found)
}

/// Reads subscriptions as they are now, and keeps none.
pub(in crate::engine) async fn peek_subscriptions(
    tx: &Transaction<'_>,
    ids: &[SubscriptionId],
) -> Result<Vec<Option<SubscriptionEntry>>, Error> {
    let account = tx.account;
    let slots: Vec<_> = ids.iter().map(|id| schema::subscription(account, *id)).collect();
    let first: Vec<_> = ids.iter().map(|id| schema::terms(account, *id, 0)).collect();
    let mut found = Vec::with_capacity(ids.len());
    for (entry, first) in tx.peek_both(&slots, &first).await? {
        let Some(entry) = entry else {
            found.push(None);
            continue;
        };
        let mut parts = vec![first];
        if let Some(rest) = terms_slots(tx, &entry).get(1..).filter(|rest| !rest.is_empty()) {
            parts.extend(tx.peek(rest).await?);
        }
        found.push(Some(join(entry, parts)?));
    }
    Ok(found)
}

fn terms_slots(tx: &Transaction<'_>, entry: &SubscriptionEntry) -> Vec<Slot<Terms, CustomerHead>> {
    let id = entry.subscription.id;
    (0..entry.terms_parts).map(|part| schema::terms(tx.account, id, part)).collect()
}

/// The row that says when time brings it another status, where it does.
fn change_slot(tx: &Transaction<'_>, of: &SubscriptionEntry) -> Option<Slot<Nothing>> {
    let (at, _) = of.next_notified()?;
    Some(schema::subscription_by_change(tx.account, at, of))
}

/// The row that finds it by its plan, where it is on one.
fn plan_slot(tx: &Transaction<'_>, of: &SubscriptionEntry) -> Option<Slot<SubscriptionOf>> {
    let plan_id = of.subscription.plan_id?;
    Some(schema::subscription_by_plan(tx.account, plan_id, of))
}

/// Writes a subscription that was read, and where it is found by its status.
pub(in crate::engine) async fn save_subscription(
    tx: &mut Transaction<'_>,
    after: &SubscriptionEntry,
) -> Result<(), Error> {
    let (account, slot) = (tx.account, schema::subscription(tx.account, after.subscription.id));
    let missing = || Error::corrupt("a subscription that is written was not there");
    let before = tx.row(&slot)?.ok_or_else(missing)?;
    let before_ends = before.next_notified();
    let statuses = [&before, after].map(|of| schema::subscription_by_status(account, of));
    let changes = [&before, after].map(|of| change_slot(tx, of));
    let plans = [&before, after].map(|of| of.subscription.plan_id);
    if plans.first() != plans.last() {
        plan_slot(tx, &before).iter().for_each(|old| tx.delete(old));
        let of = SubscriptionOf { customer_id: after.subscription.customer_id };
        plan_slot(tx, after).iter().try_for_each(|new| tx.put(new, &of))?;
    }
    if before.notified != after.notified {
        let [old, new] = statuses;
        tx.delete(&old);
        tx.put(&new, &Nothing {})?;
    }
    if before_ends != after.next_notified() {
        let [old, new] = changes;
        old.iter().for_each(|old| tx.delete(old));
        new.iter().try_for_each(|new| tx.put(new, &Nothing {}))?;
    }
    put_subscription(tx, after, before.terms_parts).await
}

/// Writes a subscription that is new, and where it is found.
pub(in crate::engine) async fn save_new_subscription(
    tx: &mut Transaction<'_>,
    new: &SubscriptionEntry,
) -> Result<(), Error> {
    let (account, of) = (tx.account, SubscriptionOf { customer_id: new.subscription.customer_id });
    tx.put(&schema::subscription_by_time(account, new), &of)?;
    tx.put(&schema::subscription_by_customer(account, new), &of)?;
    plan_slot(tx, new).iter().try_for_each(|slot| tx.put(slot, &of))?;
    tx.put(&schema::subscription_by_status(account, new), &Nothing {})?;
    if let Some(change) = change_slot(tx, new) {
        tx.put(&change, &Nothing {})?;
    }
    put_subscription(tx, new, 0).await
}

/// Writes a subscription and its terms, of which there were so many parts.
pub(in crate::engine) async fn put_subscription(
    tx: &mut Transaction<'_>,
    of: &SubscriptionEntry,
    parts_before: u16,
) -> Result<(), Error> {
    let id = of.subscription.id;
    let guard = tx.guard::<CustomerHead>(of.subscription.customer_id).await?;
    let mut entry = of.clone();
    let all = Terms {
        price_intervals: std::mem::take(&mut entry.subscription.price_intervals),
        adjustment_intervals: std::mem::take(&mut entry.subscription.adjustment_intervals),
    };
    entry.terms_parts = 0;
    for terms in parts(all)? {
        let slot = schema::terms(tx.account, id, entry.terms_parts);
        let is_known = entry.terms_parts < parts_before;
        if !is_known || tx.row(&slot)?.as_ref() != Some(&terms) {
            guard.put(tx, &slot, &terms)?;
        }
        entry.terms_parts = entry.terms_parts.saturating_add(1);
    }
    for part in entry.terms_parts..parts_before {
        guard.delete(tx, &schema::terms(tx.account, id, part))?;
    }
    guard.put(tx, &schema::subscription(tx.account, id), &entry)
}

/// Joins an entry with its terms.
fn join(
    mut entry: SubscriptionEntry,
    parts: Vec<Option<Terms>>,
) -> Result<SubscriptionEntry, Error> {
    let parts: Option<Vec<_>> = parts.into_iter().take(entry.terms_parts.into()).collect();
    let parts = parts.ok_or_else(|| Error::corrupt("the terms of a subscription are missing"))?;
    for terms in parts {
        entry.subscription.price_intervals.extend(terms.price_intervals);
        entry.subscription.adjustment_intervals.extend(terms.adjustment_intervals);
    }
    Ok(entry)
}

/// Cuts terms into parts that each fit a row.
fn parts(all: Terms) -> Result<Vec<Terms>, Error> {
    let mut parts = Parts::<Terms>::default();
    for interval in all.price_intervals {
        let part = parts.with_room(&interval)?;
        part.price_intervals.push(interval);
    }
    for interval in all.adjustment_intervals {
        let part = parts.with_room(&interval)?;
        part.adjustment_intervals.push(interval);
    }
    Ok(parts.all)
}
