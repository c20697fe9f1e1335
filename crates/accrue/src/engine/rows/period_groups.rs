//! Groups of a stretch of a subscription's life: what each adds up to, and what prices make of all of them
//! (`docs/decisions/groups-move-alone.md`).

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    AccountId, AlertId, CustomerId, Error, SubscriptionId, Timeframe,
    engine::kernel::{Guard, Transaction},
    limits,
    meter::{CellHash, CellId, InGroup, MeterId, SumId, Values},
    period::{PeriodState, Periods, Watches},
    price::GroupSum,
    rating::{GroupValues, RateCard},
    schema::{self, CustomerHead, GroupSumsEntry, GroupTotalEntry, Slot},
    store::Key,
    subscription::PeriodKey,
    usage::{GroupCells, GroupFigures, OtherGroups, Reading},
};

/// Groups that events are in.
#[derive(Debug)]
pub(in crate::engine) struct Touched {
    /// With their ids.
    pub(super) groups: BTreeMap<(MeterId, Values), CellHash>,
    /// True where no figure becomes smaller by any of the events.
    only_rises: bool,
}

impl Touched {
    /// Finds the groups that readings are in, of some meters.
    pub(in crate::engine) fn by<'r>(
        readings: impl Iterator<Item = &'r Reading>,
        meters: &[MeterId],
    ) -> Self {
        let mut touched = Self { groups: BTreeMap::new(), only_rises: true };
        let is_own = |of: &&Reading| of.meter.is_some_and(|meter| meters.contains(&meter));
        let mut cells = BTreeSet::new();
        for reading in readings.filter(|of| !meters.is_empty() && is_own(of)) {
            let Some((meter, values)) = reading.place().group else { continue };
            touched.only_rises &= reading.amount.only_rises();
            if cells.insert(reading.cell) {
                let group = touched.groups.entry((meter, values.clone()));
                group.or_insert_with(|| CellHash::of_group(meter, values));
            }
        }
        touched
    }

    /// Adds what the groups of alerts that events are in are made of, beside what the events are in.
    pub(in crate::engine) fn with_watched(mut self, watches: &Watches) -> Self {
        if watches.is_empty() {
            return self;
        }
        for (meter, values) in watches.parts_of(&self.watched(watches)) {
            let id = CellHash::of_group(meter, &values);
            self.groups.entry((meter, values)).or_insert(id);
        }
        self
    }

    /// Returns the groups of alerts that events are in.
    pub(super) fn watched(&self, watches: &Watches) -> BTreeSet<(AlertId, GroupValues)> {
        watches.groups_of(self.groups.iter().map(|((meter, values), id)| InGroup {
            cell: CellId::Cell(*id),
            group: Some((*meter, values)),
        }))
    }

    /// Returns how many there are.
    pub(in crate::engine) fn len(&self) -> usize {
        self.groups.len()
    }
}

/// Names the rows that tell of the groups of a stretch: of the touched ones, where only those are asked for.
pub(in crate::engine) fn keys(
    account: &AccountId,
    id: SubscriptionId,
    key: PeriodKey,
    touched: Option<&Touched>,
) -> Vec<Key> {
    let touched = touched.into_iter().flat_map(|of| &of.groups);
    let slots = touched.map(|((meter, _), group)| row(account, id, key, (*meter, *group)));
    let sums = schema::group_sums(account, id, key.start, key.end);
    slots.map(|slot| slot.key().clone()).chain([sums.key().clone()]).collect()
}

/// Reads the groups of a stretch: the touched ones, where those are enough to go on with, and else all.
pub(in crate::engine) async fn load(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    (id, key): (SubscriptionId, PeriodKey),
    touched: Option<&Touched>,
    card: Option<&RateCard>,
) -> Result<GroupFigures, Error> {
    let stretch = Timeframe::nothing_at(key.start).until(key.end);
    let slot = schema::group_sums(tx.account, id, key.start, key.end);
    let Some(GroupSumsEntry { mut counts, sums }) = guard.get(tx, &slot).await? else {
        return Ok(GroupFigures::default());
    };
    let follows =
        |of: &&Touched| card.is_none_or(|card| card.follows_some(stretch, &sums, of.only_rises));
    let Some(touched) = touched.filter(follows) else {
        let known = all(tx, guard, id, key).await?;
        return Ok(GroupFigures { known, others: None });
    };
    let wanted = touched.groups.iter().filter(|((meter, _), _)| counts.contains_key(meter));
    let slots: Vec<_> =
        wanted.map(|((meter, _), group)| row(tx.account, id, key, (*meter, *group))).collect();
    let found = guard.get_all(tx, &slots).await?;
    let mut groups = GroupFigures { known: by_meter(found.into_iter().flatten()), others: None };
    for (meter, known) in &groups.known {
        let left = counts.entry(*meter).or_default();
        *left = left.saturating_sub(u64::try_from(known.len()).unwrap_or(u64::MAX));
    }
    let sums = card.map(|card| card.others(stretch, &groups, &sums)).unwrap_or_default();
    groups.others = Some(OtherGroups { counts, sums });
    Ok(groups)
}

/// Reads all groups of a stretch.
async fn all(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    id: SubscriptionId,
    key: PeriodKey,
) -> Result<BTreeMap<MeterId, BTreeMap<Values, GroupCells>>, Error> {
    let scan = schema::group_totals(tx.account, id, key.start, key.end, limits::SCAN_ROWS);
    let rows = guard.range_all(tx, scan).await?;
    let rows = rows.iter().map(|(key, document)| schema::read_group_total(key, document));
    Ok(by_meter(rows.collect::<Result<Vec<_>, _>>()?))
}

fn by_meter(
    rows: impl IntoIterator<Item = GroupTotalEntry>,
) -> BTreeMap<MeterId, BTreeMap<Values, GroupCells>> {
    let mut known = BTreeMap::<_, BTreeMap<_, _>>::new();
    for GroupTotalEntry { meter, values, cells } in rows {
        known.entry(meter).or_default().insert(values, cells);
    }
    known
}

/// Reads the groups that were not, in each state.
pub(in crate::engine) async fn know_all(
    tx: &mut Transaction<'_>,
    customer_id: CustomerId,
    periods: &mut Periods,
) -> Result<(), Error> {
    let guard = tx.guard::<CustomerHead>(customer_id).await?;
    let id = periods.subscription_id;
    for (key, state) in &mut periods.states {
        let groups = &mut state.total.groups;
        if groups.others.take().is_none() {
            continue;
        }
        for (meter, stored) in all(tx, &guard, id, *key).await? {
            // What has moved is not written yet.
            let known = groups.known.entry(meter).or_default();
            for (values, cells) in stored {
                known.entry(values).or_insert(cells);
            }
        }
    }
    Ok(())
}

/// Writes the groups of a stretch that are others than those that were read, and what prices make of all.
pub(in crate::engine) fn save(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    (id, key): (SubscriptionId, PeriodKey),
    state: &PeriodState,
    sums: BTreeMap<SumId, GroupSum>,
) -> Result<(), Error> {
    let (groups, stored) = (&state.total.groups, &state.stored.groups);
    if groups == stored {
        return Ok(());
    }
    for (meter, values, cells) in groups.each() {
        if stored.get(meter, values) != Some(cells) {
            let slot = total(tx.account, id, key, meter, values);
            let (values, cells) = (values.clone(), cells.clone());
            guard.put(tx, &slot, &GroupTotalEntry { meter, values, cells })?;
        }
    }
    for (meter, values, _) in stored.each() {
        if groups.get(meter, values).is_none() {
            guard.delete(tx, &total(tx.account, id, key, meter, values))?;
        }
    }
    let slot = schema::group_sums(tx.account, id, key.start, key.end);
    let counts = groups.meters().map(|meter| (meter, groups.count(meter)));
    let counts: BTreeMap<_, _> = counts.filter(|(_, count)| *count > 0).collect();
    match counts.is_empty() {
        true => guard.delete(tx, &slot),
        false => guard.put(tx, &slot, &GroupSumsEntry { counts, sums }),
    }
}

/// Removes the groups of a stretch.
pub(in crate::engine) async fn remove(
    tx: &mut Transaction<'_>,
    guard: &Guard<CustomerHead>,
    (id, key): (SubscriptionId, PeriodKey),
) -> Result<(), Error> {
    let slot = schema::group_sums(tx.account, id, key.start, key.end);
    if guard.get(tx, &slot).await?.is_none() {
        return Ok(());
    }
    for (meter, groups) in all(tx, guard, id, key).await? {
        for values in groups.keys() {
            guard.delete(tx, &total(tx.account, id, key, meter, values))?;
        }
    }
    guard.delete(tx, &slot)
}

fn total(
    account: &AccountId,
    id: SubscriptionId,
    key: PeriodKey,
    meter: MeterId,
    values: &Values,
) -> Slot<GroupTotalEntry, CustomerHead> {
    row(account, id, key, (meter, CellHash::of_group(meter, values)))
}

fn row(
    account: &AccountId,
    id: SubscriptionId,
    PeriodKey { start, end }: PeriodKey,
    (meter, group): (MeterId, CellHash),
) -> Slot<GroupTotalEntry, CustomerHead> {
    schema::group_total(account, id, start, end, meter, group)
}
