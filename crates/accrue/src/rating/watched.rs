//! Usage in groups that alerts watch: what each group costs by itself (`docs/decisions/alerts-by-group.md`).

use std::collections::BTreeSet;

use super::{RateCard, Used, WatchedPools, interval::RatedInterval};
use crate::{
    Decimal, PricingUnit, PropertyName, Timeframe, Timestamp,
    meter::{CellId, InGroup, Meter, MeterId, Values},
    price::{GroupQuantity, PriceFilter, Quantity, Worth},
    usage::{Aggregate, GroupCells, Total},
};

/// Texts of the properties that an alert groups usage by, in their order.
pub(crate) type GroupValues = Vec<String>;

/// What an alert watches group by group.
#[derive(Clone, Debug)]
pub(crate) enum Watched {
    /// What prices make of each group.
    Costs(WatchedPrices),
    /// What each license has drawn from its pool: a license is a group.
    Pools(WatchedPools),
}

/// Prices that an alert watches by group, each with the meters of its usage in those groups.
#[derive(Clone, Debug)]
pub(crate) struct WatchedPrices {
    prices: Vec<WatchedPrice>,
}

/// A price that is watched.
#[derive(Clone, Debug)]
struct WatchedPrice {
    /// Place of its interval on the card.
    interval: usize,
    /// Worth of its amounts in the unit of the alert.
    worth: Worth,
    /// What its model rates.
    rated: WatchedMeter,
    /// All of its usage, where the model rates it beside cells.
    whole: Option<WatchedMeter>,
    /// Values of the cells of a group, in the order of the model.
    cells: Vec<Values>,
    /// Number of the values that groups of the model have.
    own: usize,
}

/// A meter by which a price is watched.
#[derive(Clone, Debug)]
struct WatchedMeter {
    meter: Meter,
    /// The meter, or the part of it that the price is for.
    part: MeterId,
    /// The same, as figures of the interval's source have it.
    id: MeterId,
    /// Values of the combination that the price is for: they are before all others of a group.
    combination: Values,
    /// Number of the values after those, which tell the groups of the alert apart.
    keys: usize,
}

impl RateCard {
    /// Returns the prices that an alert watches by the values of some properties: those of usage that are worth
    /// something in its unit, and pass its filters.
    pub(crate) fn watched(
        &self,
        keys: &[PropertyName],
        unit: &PricingUnit,
        filters: &[PriceFilter],
    ) -> WatchedPrices {
        let watched = self.counting(unit, filters).filter_map(|(place, of, worth)| {
            let model = of.price.charge.model();
            let mut meters = of.price.watched_meters(of.filter.as_ref(), keys, 0);
            let mut next = || meters.next().map(|meter| WatchedMeter::new(meter, keys.len(), of));
            Some(WatchedPrice {
                interval: place,
                worth,
                rated: next()?,
                whole: next(),
                cells: model.cells().map(|of| of.values).unwrap_or_default(),
                own: model.groups().map_or(0, |of| of.count()),
            })
        });
        WatchedPrices { prices: watched.collect() }
    }

    /// Returns the meters that it takes, of a revision of the account's.
    pub(crate) fn watched_meters(
        &self,
        keys: &[PropertyName],
        unit: &PricingUnit,
        filters: &[PriceFilter],
        since: u64,
    ) -> Vec<Meter> {
        let counting = self.counting(unit, filters);
        let meters = counting
            .flat_map(|(_, of, _)| of.price.watched_meters(of.filter.as_ref(), keys, since));
        meters.collect()
    }

    /// Returns the intervals of usage that count, with their places.
    fn counting<'c>(
        &'c self,
        unit: &'c PricingUnit,
        filters: &'c [PriceFilter],
    ) -> impl Iterator<Item = (usize, &'c RatedInterval, Worth)> {
        self.intervals.iter().enumerate().filter_map(|(place, of)| {
            let counts = of.is_usage() && PriceFilter::all_pass(filters, &of.price);
            let worth = of.price.worth_in(unit, self.invoiced_in).filter(|_| counts)?;
            Some((place, of, worth))
        })
    }
}

impl Watched {
    /// Returns what is watched of prices; none of pools, which need no meters beside those of the usage that draws.
    pub(crate) const fn prices(&self) -> Option<&WatchedPrices> {
        match self {
            Self::Costs(prices) => Some(prices),
            Self::Pools(_) => None,
        }
    }

    /// Returns the periods in which it is watched of those that share an instant with a billing period: that one, or
    /// those of the pools.
    pub(crate) fn periods_in(&self, billing: Timeframe) -> Vec<Timeframe> {
        match self {
            Self::Costs(_) => vec![billing],
            Self::Pools(pools) => pools.periods_in(billing).collect(),
        }
    }

    /// Returns the group that something is added to; none where it is not watched.
    pub(crate) fn group_of(&self, place: InGroup<'_>) -> Option<GroupValues> {
        match self {
            Self::Costs(prices) => prices.group_of(place),
            Self::Pools(pools) => pools.group_of(place),
        }
    }

    /// Returns the groups of meters that a group of the alert is made of.
    pub(crate) fn parts_of(&self, group: &GroupValues) -> Vec<(MeterId, Values)> {
        match self {
            Self::Costs(prices) => prices.meters().map(|of| (of.id, of.begin(group))).collect(),
            Self::Pools(pools) => pools.parts_of(group),
        }
    }

    /// Returns the groups that have usage, of those that were read.
    pub(crate) fn groups_in(&self, total: &Total) -> BTreeSet<GroupValues> {
        match self {
            Self::Costs(prices) => prices.groups_in(total),
            Self::Pools(pools) => pools.groups_in(total),
        }
    }

    /// Returns the value of a group in a period; none where it has no usage there.
    pub(crate) fn value(
        &self,
        card: &RateCard,
        period: Timeframe,
        group: &GroupValues,
        used: &Used<'_>,
    ) -> Option<Decimal> {
        match self {
            Self::Costs(prices) => {
                used(period, period.end()).filter(|total| prices.has(total, group))?;
                Some(prices.cost(card, period, group, used))
            }
            Self::Pools(pools) => pools.drawn(period, group, used),
        }
    }
}

impl WatchedPrices {
    /// Returns the meters, or the parts of them, that are needed.
    pub(crate) fn parts(&self) -> BTreeSet<MeterId> {
        self.meters().map(|of| of.part).collect()
    }

    /// Returns the meters as figures have them.
    pub(crate) fn ids(&self) -> BTreeSet<MeterId> {
        self.meters().map(|of| of.id).collect()
    }

    /// Tells whether a meter is needed, as figures have it.
    pub(crate) fn has_meter(&self, meter: MeterId) -> bool {
        self.meters().any(|of| of.id == meter)
    }

    /// Tells whether an alert needs to know all groups of a meter to tell what one of its own costs: where models have
    /// groups of their own.
    pub(crate) fn needs_all(&self) -> bool {
        self.prices.iter().any(|of| of.own > 0)
    }

    /// Returns the most groups that one of those models has of its own in all groups of the alert.
    pub(crate) fn finer_groups(&self, total: &Total) -> u64 {
        let with_own = self.prices.iter().filter(|of| of.own > 0);
        with_own.map(|of| total.groups.count(of.rated.id)).max().unwrap_or_default()
    }

    /// Returns the group that something is added to; none where it is not watched.
    fn group_of(&self, place: InGroup<'_>) -> Option<GroupValues> {
        let (id, values) = place.group?;
        self.meters().find(|of| of.id == id).map(|of| of.group_of(values))
    }

    /// Returns the groups that have usage, of those that were read.
    fn groups_in(&self, total: &Total) -> BTreeSet<GroupValues> {
        let known = self.meters().flat_map(|of| {
            let groups = total.groups.known.get(&of.id).into_iter().flatten();
            groups.map(|(values, _)| of.group_of(values))
        });
        known.collect()
    }

    /// Tells whether a group has usage.
    pub(crate) fn has(&self, total: &Total, group: &GroupValues) -> bool {
        let mut all =
            self.prices.iter().flat_map(|price| price.meters().map(move |of| (of, price.own)));
        all.any(|(of, own)| of.figures(total, group, own).next().is_some())
    }

    /// Returns what the usage of a group costs in a billing period: what each price makes of it alone, before what
    /// minimums add, and discounts.
    ///
    /// Of a price's period that goes beyond the billing period it is the amount at the end less that at the start.
    fn cost(
        &self,
        card: &RateCard,
        billing: Timeframe,
        group: &GroupValues,
        used: &Used<'_>,
    ) -> Decimal {
        let costs = self.prices.iter().filter_map(|price| {
            let interval = card.intervals.get(price.interval)?;
            let periods = interval.periods_in(billing).into_iter();
            let costs = periods.map(|period| {
                let end = period.end().min(billing.end());
                let at = |to| price.amount(interval, period, group, (used, to));
                match period.start() < billing.start() {
                    true => at(end) - at(billing.start()),
                    false => at(end),
                }
            });
            Some(costs.sum::<Decimal>())
        });
        costs.sum()
    }

    fn meters(&self) -> impl Iterator<Item = &WatchedMeter> {
        self.prices.iter().flat_map(WatchedPrice::meters)
    }
}

impl WatchedPrice {
    fn meters(&self) -> impl Iterator<Item = &WatchedMeter> {
        [Some(&self.rated), self.whole.as_ref()].into_iter().flatten()
    }

    /// Returns what a group costs from the start of a period up to an instant, in the unit of the alert.
    fn amount(
        &self,
        interval: &RatedInterval,
        period: Timeframe,
        group: &GroupValues,
        (used, to): (&Used<'_>, Timestamp),
    ) -> Decimal {
        let quantity = used(period, to).and_then(|total| self.quantity(interval, &total, group));
        let Some(quantity) = quantity else { return Decimal::zero() };
        let amount = interval.served(interval.price.charge.model().amount(&quantity), period);
        let in_tiers = interval.price.in_tiers(&amount, &amount);
        self.worth.of(&amount, in_tiers.as_ref().map(|of| &of.subtotal))
    }

    /// Returns what is rated of a group; none where it has no usage.
    fn quantity(
        &self,
        interval: &RatedInterval,
        total: &Total,
        group: &GroupValues,
    ) -> Option<Quantity> {
        let place = |cell| interval.source.cell(cell);
        let cells = |values: &Values| {
            let cells = self.rated.meter.cells(values, self.cells.iter().map(Vec::as_slice));
            cells.into_iter().map(place).collect::<Vec<_>>()
        };
        let figures = |values: &Values, own: &GroupCells| {
            let figures = cells(values).into_iter().map(|cell| figure(own, cell));
            figures.collect::<Vec<_>>()
        };
        let mut rated = self.rated.figures(total, group, self.own).peekable();
        if self.own > 0 {
            rated.peek()?;
            let groups = rated.map(|(values, cells)| {
                let own = values.iter().skip(values.len().saturating_sub(self.own)).cloned();
                GroupQuantity::new(own.collect(), Quantity::of(figures(values, cells).into_iter()))
            });
            return Some(Quantity::Groups(groups.collect()));
        }
        let whole = self.whole.as_ref().map(|of| {
            let known = of.figures(total, group, 0).next();
            known.map(|(values, own)| {
                let cell = of.meter.cells(values, []).into_iter().map(place).next();
                cell.map(|cell| figure(own, cell)).unwrap_or_default()
            })
        });
        let rated = rated.next();
        if rated.is_none() && whole.as_ref().is_none_or(Option::is_none) {
            return None;
        }
        let mut found = match rated {
            Some((values, own)) => figures(values, own),
            None => vec![Decimal::zero(); self.cells.len().saturating_add(1)],
        };
        found.extend(whole.map(Option::unwrap_or_default));
        Some(Quantity::of(found.into_iter()))
    }
}

fn figure(own: &GroupCells, cell: CellId) -> Decimal {
    match cell {
        CellId::Cell(cell) => own.get(&cell).map(Aggregate::figure).unwrap_or_default(),
        CellId::Metric(_) => Decimal::zero(),
    }
}

impl WatchedMeter {
    fn new(meter: Meter, keys: usize, of: &RatedInterval) -> Self {
        let part = meter.parts().first().copied().unwrap_or(meter.id);
        let combination = meter.combination();
        Self { part, id: of.source.meter(part), combination, keys, meter }
    }

    fn group_of(&self, values: &Values) -> GroupValues {
        let own = values.iter().skip(self.combination.len()).take(self.keys);
        own.map(|value| value.clone().unwrap_or_default()).collect()
    }

    /// Returns the values of a group of the alert, as the meter has them before those of a model.
    fn begin(&self, group: &GroupValues) -> Values {
        self.combination.iter().cloned().chain(group.iter().cloned().map(Some)).collect()
    }

    /// Returns the figures that a group has, by the groups of a model that has such.
    fn figures<'t>(
        &self,
        total: &'t Total,
        group: &GroupValues,
        own: usize,
    ) -> impl Iterator<Item = (&'t Values, &'t GroupCells)> {
        let begin = self.begin(group);
        let groups = total.groups.known.get(&self.id);
        let alone = groups.filter(|_| own == 0).and_then(|of| of.get_key_value(&begin));
        let several = groups.filter(|_| own > 0).into_iter().flatten();
        alone.into_iter().chain(several.filter(move |(values, _)| values.starts_with(&begin)))
    }
}
