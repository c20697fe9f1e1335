//! Groups that alerts watch in a period: how many there are, and which thresholds have fired for each
//! (`docs/decisions/alerts-by-group.md`).

use std::collections::BTreeMap;

use super::period_groups::Touched;
use crate::{
    AccountId, AlertId, Error, SubscriptionId, Timeframe, Timestamp,
    alert::{Fired, WatchedGroups},
    engine::kernel::{Guard, Transaction},
    limits,
    meter::CellHash,
    period::{Periods, Watches},
    rating::GroupValues,
    schema::{self, AlertGroupCount, AlertGroupEntry, CustomerHead, Slot},
    store::Key,
};

/// Names the rows that tell of the groups that events are in, of the periods that share an instant with billing periods.
pub(super) fn keys(
    account: &AccountId,
    id: SubscriptionId,
    billing: &[Timeframe],
    watches: &Watches,
    touched: Option<&Touched>,
) -> Vec<Key> {
    let groups = touched.map(|touched| touched.watched(watches)).unwrap_or_default();
    let mut keys = Vec::new();
    for (alert, period) in watches.periods_in(billing.iter().copied()) {
        let start = period.start();
        keys.push(schema::alert_group_count(account, id, start, alert).key().clone());
        let own = groups.iter().filter(|(of, _)| *of == alert);
        keys.extend(own.map(|(_, of)| group(account, (id, start), alert, of).key().clone()));
    }
    keys
}

/// Reads the groups of each alert in its periods that share an instant with billing periods: of those that events are in,
/// or else of all, what has fired.
pub(super) async fn load(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    (id, billing): (SubscriptionId, &[Timeframe]),
    watches: &Watches,
    touched: Option<&Touched>,
) -> Result<BTreeMap<(AlertId, Timestamp), WatchedGroups>, Error> {
    let account = tx.account;
    let touched = touched.map(|touched| touched.watched(watches));
    let mut found = BTreeMap::new();
    for (alert, period) in watches.periods_in(billing.iter().copied()) {
        let start = period.start();
        let count = guard.get(tx, &schema::alert_group_count(account, id, start, alert)).await?;
        let entries: Vec<AlertGroupEntry> = match &touched {
            Some(touched) => {
                let own = touched.iter().filter(|(of, _)| *of == alert);
                let slots: Vec<_> =
                    own.map(|(_, of)| group(account, (id, start), alert, of)).collect();
                guard.get_all(tx, &slots).await?.into_iter().flatten().collect()
            }
            None => {
                let scan = schema::alert_groups(account, id, start, alert, limits::SCAN_ROWS);
                let rows = guard.range_all(tx, scan).await?;
                let rows = rows.iter().map(|(key, of)| schema::read_alert_group(key, of));
                rows.collect::<Result<_, _>>()?
            }
        };
        let fired: BTreeMap<GroupValues, Fired> =
            entries.into_iter().map(|of| (of.values, of.fired)).collect();
        let count = count.map_or(0, |of| of.groups);
        found.insert((alert, start), WatchedGroups::new(count, fired));
    }
    Ok(found)
}

/// Writes what has moved of the groups that alerts watch.
pub(super) fn save(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    periods: &Periods,
) -> Result<(), Error> {
    let id = periods.subscription_id;
    for ((alert, start), groups) in &periods.groups {
        if groups.count_has_moved {
            let slot = schema::alert_group_count(tx.account, id, *start, *alert);
            guard.put(tx, &slot, &AlertGroupCount { groups: groups.count })?;
        }
        for (values, fired) in groups.moved() {
            let slot = group(tx.account, (id, *start), *alert, values);
            let (values, fired) = (values.clone(), fired.clone());
            guard.put(tx, &slot, &AlertGroupEntry { values, fired })?;
        }
    }
    Ok(())
}

fn group(
    account: &AccountId,
    (id, start): (SubscriptionId, Timestamp),
    alert: AlertId,
    values: &GroupValues,
) -> Slot<AlertGroupEntry, CustomerHead> {
    schema::alert_group(account, id, start, alert, CellHash::of_watched(values))
}
