//! Groups of meters: which there are (`docs/decisions/open-groups.md`).

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

#[cfg(test)]
mod tests;

use crate::{
    CustomerId, Error, Timeframe,
    engine::{
        kernel::{Guard, Transaction},
        rows::metrics,
    },
    limits,
    meter::{CellHash, Meter, MeterId, Values},
    schema::{self, CustomerHead, GroupCount, GroupEntry},
    store::Key,
    usage::{FourWeeks, Groups, Meters},
};

/// Names the rows of a group in four weeks.
pub(in crate::engine) fn group_keys(
    tx: &Transaction<'_>,
    customer: CustomerId,
    meter: MeterId,
    weeks: FourWeeks,
    group: CellHash,
) -> [Key; 2] {
    let slot = schema::group(tx.account, customer, meter, weeks, group);
    let count = schema::group_count(tx.account, customer, meter, weeks);
    [slot.key().clone(), count.key().clone()]
}

/// Writes which groups have events.
pub(in crate::engine) async fn save_groups(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    groups: &Groups,
) -> Result<(), Error> {
    if groups.is_empty() {
        return Ok(());
    }
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let keys =
        groups.keys().flat_map(|(meter, weeks, id)| group_keys(tx, customer, *meter, *weeks, *id));
    let keys: Vec<_> = keys.collect();
    Guard::fetch(tx, keys.iter().map(|key| (&guard, key))).await?;
    let slot = |(meter, weeks, id): &(MeterId, FourWeeks, CellHash)| {
        schema::group(tx.account, customer, *meter, *weeks, *id)
    };
    let slots: Vec<_> = groups.keys().map(slot).collect();
    let found = guard.get_all(tx, &slots).await?;
    let mut more = BTreeMap::<_, u64>::new();
    for (((meter, weeks, _), values), (slot, found)) in groups.iter().zip(slots.iter().zip(found)) {
        if found.is_none() {
            guard.put(tx, slot, &GroupEntry { values: values.clone() })?;
            let more = more.entry((*meter, *weeks)).or_default();
            *more = more.saturating_add(1);
        }
    }
    for ((meter, weeks), more) in more {
        let slot = schema::group_count(tx.account, customer, meter, weeks);
        let GroupCount { groups } = guard.get(tx, &slot).await?.unwrap_or_default();
        let groups = groups.saturating_add(more);
        let most = limits::GROUPS;
        if groups > most && !metrics::meters(tx).await?.is_watched(meter) {
            return Err(Error::constraint(format!(
                "the usage of a customer would be in more than {most} groups of one meter in \
                 four weeks"
            )));
        }
        guard.put(tx, &slot, &GroupCount { groups })?;
    }
    Ok(())
}

/// Returns the most groups that one of some meters has in four weeks that a timeframe touches.
pub(in crate::engine) async fn most_in_four_weeks(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    meters: &[MeterId],
    timeframe: Timeframe,
) -> Result<u64, Error> {
    let guard = tx.guard::<CustomerHead>(customer).await?;
    let account = tx.account;
    let slots = FourWeeks::touched_by(timeframe).flat_map(|weeks| {
        meters.iter().map(move |meter| schema::group_count(account, customer, *meter, weeks))
    });
    let slots: Vec<_> = slots.collect();
    let counts = guard.get_all(tx, &slots).await?.into_iter().flatten();
    Ok(counts.map(|of| of.groups).max().unwrap_or_default())
}

/// Adds to meters which groups of a customer they have in a timeframe.
pub(in crate::engine) async fn with_groups<'m>(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    meters: &'m Meters,
    timeframe: Timeframe,
) -> Result<Cow<'m, Meters>, Error> {
    let mut known = BTreeMap::new();
    let grouped = meters.divided.iter().filter(|meter| meter.has_groups());
    for meter in grouped.flat_map(Meter::parts) {
        let guard = tx.guard::<CustomerHead>(customer).await?;
        let scan = schema::groups(tx.account, customer, meter, timeframe, limits::SCAN_ROWS);
        let mut groups = BTreeSet::<Values>::new();
        for (key, document) in guard.range_all(tx, scan).await? {
            groups.insert(schema::read_group(&key, &document)?.values);
        }
        known.insert(meter, groups);
    }
    if known.is_empty() {
        return Ok(Cow::Borrowed(meters));
    }
    Ok(Cow::Owned(meters.clone().in_groups(known)))
}
