//! Top-ups of customers.

use crate::{
    CustomerId, Error, PricingUnit, TopUpId,
    credit::{TopUp, TopUpState},
    engine::{
        kernel::{Guard, Transaction},
        rows::{active, credits},
    },
    schema::{self, Credits, CreditsIn, CustomerHead},
};

/// Names the active top-up of a ledger, from a row that was fetched.
pub(super) fn active(
    tx: &Transaction<'_>,
    customer_id: CustomerId,
    unit: &PricingUnit,
) -> Result<Option<TopUpId>, Error> {
    let credits = tx.row(&schema::credits(tx.account, customer_id))?;
    Ok(credits.and_then(|Credits { mut units }| units.remove(unit)).and_then(|of| of.top_up))
}

/// Returns the active top-up of a ledger, from rows that were fetched.
pub(super) fn fetched(
    tx: &Transaction<'_>,
    customer_id: CustomerId,
    unit: &PricingUnit,
) -> Result<Option<TopUpState>, Error> {
    let Some(id) = active(tx, customer_id, unit)? else { return Ok(None) };
    let found = tx.row(&schema::top_up(tx.account, id))?;
    found.map(Some).ok_or_else(|| Error::corrupt("an active top-up is missing"))
}

/// Returns a top-up of a customer, active or not.
pub(in crate::engine) async fn top_up(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    id: TopUpId,
) -> Result<Option<TopUpState>, Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    guard.get(tx, &schema::top_up(tx.account, id)).await
}

/// Reads the active top-ups of a customer.
pub(in crate::engine) async fn all_active(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
) -> Result<Vec<TopUp>, Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let credits = guard.get(tx, &schema::credits(tx.account, customer_id)).await?;
    let units = credits.unwrap_or_default().units.into_values();
    let slots: Vec<_> =
        units.filter_map(|of| of.top_up).map(|id| schema::top_up(tx.account, id)).collect();
    let found: Option<Vec<_>> = guard.get_all(tx, &slots).await?.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("an active top-up is missing"))?;
    Ok(found.into_iter().map(|state| state.top_up).collect())
}

/// Makes a top-up the active one of its ledger, in place of another.
pub(in crate::engine) async fn put_active(
    tx: &mut Transaction<'_>,
    new: &TopUpState,
) -> Result<(), Error> {
    let of = &new.top_up;
    let guard = tx.guard::<CustomerHead>(of.customer_id).await?;
    let slot = schema::credits(tx.account, of.customer_id);
    let Credits { mut units } = guard.get(tx, &slot).await?.unwrap_or_default();
    let known = units.get(&of.currency).and_then(|of| of.top_up);
    if let Some(id) = known
        && let Some(before) = top_up(tx, of.customer_id, id).await?
    {
        retire(tx, &guard, before)?;
    }
    let credits = units.entry(of.currency.clone()).or_default();
    credits.top_up = Some(of.id);
    // What lies in the past begins now.
    credits.top_up_from = Some(of.active_from.max(of.created_at));
    credits::put_credits(tx, &guard, &Credits { units })?;
    save(tx, &guard, new)?;
    active::reschedule(tx, of.customer_id).await
}

/// Ends a top-up that is the active one of its ledger.
pub(in crate::engine) async fn deactivate(
    tx: &mut Transaction<'_>,
    state: TopUpState,
) -> Result<(), Error> {
    let (customer_id, id) = (state.top_up.customer_id, state.top_up.id);
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let slot = schema::credits(tx.account, customer_id);
    let Credits { mut units } = guard.get(tx, &slot).await?.unwrap_or_default();
    if let Some(credits) = units.get_mut(&state.top_up.currency)
        && credits.top_up == Some(id)
    {
        (credits.top_up, credits.top_up_from) = (None, None);
    }
    units.retain(|_, credits| CreditsIn::is_used(credits));
    guard.put(tx, &slot, &Credits { units })?;
    retire(tx, &guard, state)?;
    active::reschedule(tx, customer_id).await
}

fn retire(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    mut state: TopUpState,
) -> Result<(), Error> {
    state.deactivated_at = Some(tx.now);
    save(tx, guard, &state)
}

/// Notes that a top-up has begun to watch the balance.
pub(in crate::engine) async fn begin(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    unit: &PricingUnit,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let slot = schema::credits(tx.account, customer_id);
    let Credits { mut units } = guard.get(tx, &slot).await?.unwrap_or_default();
    if let Some(credits) = units.get_mut(unit) {
        credits.top_up_from = None;
    }
    guard.put(tx, &slot, &Credits { units })?;
    active::reschedule(tx, customer_id).await
}

/// Writes a top-up.
pub(in crate::engine) fn save(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    state: &TopUpState,
) -> Result<(), Error> {
    guard.put(tx, &schema::top_up(tx.account, state.top_up.id), state)
}
