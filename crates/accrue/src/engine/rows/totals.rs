//! Totals: what the stretches of a subscription add up to.

use std::collections::BTreeMap;

use crate::{
    Error, SubscriptionId, Timeframe,
    engine::{
        kernel::{Guard, Transaction},
        rows::{period_groups, plans},
    },
    meter::SumId,
    period::{OpenTotal, PeriodState, Stored, Stretch},
    price::GroupSum,
    schema::{self, CellTotalEntry, CustomerHead, PlanVersionEntry, TotalEntry},
    subscription::{PeriodKey, SubscriptionEntry},
    usage::Total,
};

/// Returns what a stretch adds up to.
///
/// There is a row for the metrics, and one for the cells of matrices, so that each fits a document however
/// many there are.
pub(in crate::engine) async fn total(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    key: PeriodKey,
) -> Result<Total, Error> {
    let id = entry.subscription.id;
    let guard = tx.guard::<CustomerHead>(entry.subscription.customer_id).await?;
    let mut total = total_without_groups(tx, entry, key).await?;
    let version = plans::plan_version_of(tx, entry).await?;
    if !version.priced_of(entry).grouped.is_empty() {
        total.groups = period_groups::load(tx, &guard, (id, key), None, None).await?;
    }
    Ok(total)
}

async fn total_without_groups(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    key: PeriodKey,
) -> Result<Total, Error> {
    let guard = tx.guard::<CustomerHead>(entry.subscription.customer_id).await?;
    let version = plans::plan_version_of(tx, entry).await?;
    let has_cells = has_cells(&version, entry);
    Ok(total_under(tx, &guard, entry.subscription.id, key, has_cells).await?.0)
}

/// Returns what a stretch adds up to without its groups, and which of its rows there are.
pub(super) async fn total_under(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: SubscriptionId,
    key: PeriodKey,
    has_cells: bool,
) -> Result<(Total, Stored), Error> {
    if let Some(open) = guard.head(tx)?.usage.total(id, key) {
        return Ok((open.clone(), Stored::default()));
    }
    let metrics = guard.get(tx, &schema::total(tx.account, id, key)).await?;
    let cells = match has_cells {
        true => guard.get(tx, &schema::cell_total(tx.account, id, key)).await?,
        false => None,
    };
    let (has_metrics, has_cells) = (metrics.is_some(), cells.is_some());
    let stored = Stored { metrics: has_metrics, cells: has_cells, ..Stored::default() };
    let (metrics, cells) = (metrics.unwrap_or_default(), cells.unwrap_or_default());
    Ok((Total { metrics: metrics.total, cells: cells.cells, ..Total::default() }, stored))
}

/// Returns what a billing period adds up to, without its groups.
pub(in crate::engine) async fn billing_total(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    period: Timeframe,
) -> Result<Total, Error> {
    let key = Stretch::whole(&entry.subscription.periods(), period).key;
    total_without_groups(tx, entry, key).await
}

/// Writes what a stretch adds up to, which was read, and what prices make of its groups.
pub(in crate::engine) fn save_total(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: SubscriptionId,
    key: PeriodKey,
    state: &PeriodState,
    sums: BTreeMap<SumId, GroupSum>,
) -> Result<(), Error> {
    period_groups::save(tx, guard, (id, key), state, sums)?;
    let PeriodState { timeframe, total, stored, .. } = state;
    let usage = &mut guard.head_mut(tx)?.usage;
    if let Some(open) = usage.total_mut(id, key) {
        *open = total.without_groups();
        return Ok(());
    }
    let begins = !stored.metrics && !stored.cells && total.count() > 0;
    if begins && usage.has_room(total.count()) {
        let open = OpenTotal { end: timeframe.end(), total: total.without_groups() };
        usage.open_total(id, key, open);
        return Ok(());
    }
    put_total(tx, guard, id, key, stored, total)
}

/// Writes the rows of a stretch, of which there are such, and removes what is empty.
pub(super) fn put_total(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: SubscriptionId,
    key: PeriodKey,
    stored: &Stored,
    total: &Total,
) -> Result<(), Error> {
    let metrics = schema::total(tx.account, id, key);
    if !total.metrics.is_empty() {
        guard.put(tx, &metrics, &TotalEntry { total: total.metrics.clone() })?;
    } else if stored.metrics {
        guard.delete(tx, &metrics)?;
    }
    let cells = schema::cell_total(tx.account, id, key);
    if !total.cells.is_empty() {
        guard.put(tx, &cells, &CellTotalEntry { cells: total.cells.clone() })?;
    } else if stored.cells {
        guard.delete(tx, &cells)?;
    }
    Ok(())
}

/// Tells whether anything of a subscription is added up in cells.
pub(super) fn has_cells(version: &PlanVersionEntry, entry: &SubscriptionEntry) -> bool {
    !version.priced_of(entry).meters.is_empty() || entry.subscription.has_usage_customers()
}
