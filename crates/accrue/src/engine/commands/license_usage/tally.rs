use std::{collections::BTreeMap, sync::Arc};

use crate::{
    CustomerId, Error, LicenseId, LicenseTypeId, Timeframe, Timestamp,
    engine::{commands::price_evaluation::meters_of, kernel::Transaction, rows::figures::Running},
    license::{Costs, License, LicenseRows, LicenseSlot, Reached},
    price::{Charge, Price},
    rating::{RateCard, RatedInterval},
    usage::{Figures, Meters, Reading},
};

/// A price of the usage of licenses while it is in force.
pub(super) struct Used {
    pub(super) price: Arc<Price>,
    pub(super) meters: Meters,
    /// Interval of it: when events count, and whose.
    interval: RatedInterval,
    figures: Figures,
}

impl Used {
    /// Keeps the prices of usage that are of a type.
    pub(super) async fn all(
        tx: &mut Transaction<'_>,
        card: &RateCard,
        license_type: LicenseTypeId,
    ) -> Result<Vec<Self>, Error> {
        let mut used = Vec::new();
        for interval in &card.intervals {
            let price = &interval.price;
            let Charge::Usage { metric_id, .. } = price.charge else { continue };
            if price.license_type_id != Some(license_type) {
                continue;
            }
            let (meters, _) = meters_of(tx, price, metric_id).await?;
            used.push(Self {
                price: Arc::clone(price),
                meters: meters.of_events(interval.filter.clone()),
                interval: interval.clone(),
                figures: Figures::of(price, None),
            });
        }
        Ok(used)
    }

    /// Returns the customers whose usage it is of.
    pub(super) fn customers(&self) -> &[CustomerId] {
        self.interval.source.customers()
    }

    /// Tells whether it is in force at an instant, and of the usage of a customer.
    pub(super) fn counts(&self, customer: CustomerId, at: Timestamp) -> bool {
        self.interval.source.includes(customer) && self.interval.is_in_force(at)
    }
}

/// What events of licenses add up to.
pub(super) struct Tally<'a> {
    pub(super) used: &'a [Used],
    slots: &'a [LicenseSlot],
    /// Periods that have allocations.
    periods: Vec<Timeframe>,
    /// True where what was drawn before the first slot counts: days tell what is left after them.
    is_by_day: bool,
    /// By license and slot.
    consumed: BTreeMap<(LicenseId, usize), Sums>,
    eligible: BTreeMap<(LicenseId, usize), Sums>,
    /// By license and start of a period, with what it came to at the ends of slots.
    drawn: BTreeMap<(LicenseId, Timestamp), (Sums, Reached)>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(used: &'a [Used], rows: &LicenseRows<'a>) -> Self {
        let mut periods: Vec<_> = rows.pools.iter().map(|pool| pool.period).collect();
        periods.sort_by_key(|period| (period.start(), period.end()));
        periods.dedup();
        let (consumed, eligible, drawn) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (slots, is_by_day) = (rows.slots, rows.grouping.is_by_day());
        Self { used, slots, periods, is_by_day, consumed, eligible, drawn }
    }

    /// Returns the timeframe of the events to add; none where no price is of usage.
    pub(super) fn timeframe(&self) -> Option<Timeframe> {
        let (first, last) = (self.slots.first()?, self.slots.last()?);
        self.used.first()?;
        let starts = self.periods.iter().filter(|_| self.is_by_day).map(|period| period.start());
        let start = starts.chain([first.timeframe.start()]).min()?;
        Some(Timeframe::nothing_at(start).until(last.timeframe.end()))
    }

    /// Adds what an event of a license contributes to a price. Events come in their order.
    pub(super) fn add(
        &mut self,
        license: &License,
        place: usize,
        at: Timestamp,
        mut readings: Vec<Reading>,
    ) {
        let Some(used) = self.used.get(place) else { return };
        readings.retain(|reading| used.figures.count(reading.place()));
        if readings.is_empty() {
            return;
        }
        let before = self.slots.partition_point(|slot| slot.timeframe.end() <= at);
        let slot = self.slots.get(before).filter(|slot| slot.timeframe.contains(at));
        let slot = slot.map(|_| before);
        if let Some(slot) = slot {
            self.consumed.entry((license.id, slot)).or_default().add(place, at, &readings);
        }
        if !license.is_active(at) {
            return;
        }
        if let Some(slot) = slot {
            self.eligible.entry((license.id, slot)).or_default().add(place, at, &readings);
        }
        let counts = slot.is_some() || self.is_by_day;
        for period in self.periods.iter().filter(|period| counts && period.contains(at)) {
            let (sums, reached) = self.drawn.entry((license.id, period.start())).or_default();
            sums.add(place, at, &readings);
            reached.insert(slot, sums.costs(self.used));
        }
    }

    /// Rates it all.
    pub(super) fn finish(self, rows: &mut LicenseRows<'_>) {
        let used = self.used;
        let rate = |all: BTreeMap<_, Sums>| {
            all.into_iter().map(|(key, sums)| (key, sums.costs(used))).collect()
        };
        rows.consumed = rate(self.consumed);
        rows.eligible = rate(self.eligible);
        rows.drawn = self.drawn.into_iter().map(|(key, (_, reached))| (key, reached)).collect();
    }
}

/// Sums of events, by place of the price.
#[derive(Default)]
struct Sums(BTreeMap<usize, Running>);

impl Sums {
    fn add(&mut self, place: usize, at: Timestamp, readings: &[Reading]) {
        let running = self.0.entry(place).or_default();
        readings.iter().for_each(|reading| running.add(reading, at));
    }

    fn costs(&self, used: &[Used]) -> Costs {
        let mut costs = Costs::new();
        for (place, running) in &self.0 {
            let Some(Used { price, figures, .. }) = used.get(*place) else { continue };
            let rated = price.charge.model().rate(&figures.quantity(Some(&running.total)));
            *costs.entry(price.currency.clone()).or_default() += &rated.amount;
        }
        costs
    }
}
