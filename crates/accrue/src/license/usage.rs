use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::License;
use crate::{
    CivilDate, Decimal, Error, ExternalId, LicenseId, LicenseTypeId, PricingUnit, SubscriptionId,
    Timeframe, Timestamp, Zone, limits, time::INSTANT,
};

/// Query of the usage of licenses of a type (subscriptions 7.5).
///
/// ```
/// use accrue::{CivilDate, license::{LicenseGrouping, LicenseUsageQuery}};
///
/// let by_day = LicenseUsageQuery {
///     start_date: Some(CivilDate::parse("2026-03-01")?),
///     grouping: LicenseGrouping::LicenseAndDay,
///     ..LicenseUsageQuery::default()
/// };
/// assert_eq!(by_day.end_date, None, "the end of the current billing period");
/// # Ok::<(), accrue::TimestampError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LicenseUsageQuery {
    /// First day in the customer's zone; that of the subscription's current billing period where none is given.
    pub start_date: Option<CivilDate>,
    /// First day behind it, at most [366 days](crate::limits::LICENSE_USAGE_DAYS) later; behind the last one of
    /// that period where none is given.
    pub end_date: Option<CivilDate>,
    /// Rows of the answer.
    pub grouping: LicenseGrouping,
}

/// Grouping of the usage of licenses: what there is a row for (subscriptions 7.5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LicenseGrouping {
    /// Each license that is active at a time of the range.
    #[default]
    License,
    /// Each day, of all of these licenses together.
    Day,
    /// Each of these licenses on each day.
    LicenseAndDay,
}

/// Usage of a license, or of all licenses of a day, in one pricing unit (subscriptions 7.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LicenseUsage {
    /// License; none where all licenses are together.
    pub license_id: Option<LicenseId>,
    /// Its external id.
    pub external_license_id: Option<ExternalId>,
    /// Subscription.
    pub subscription_id: SubscriptionId,
    /// Type of the licenses.
    pub license_type_id: LicenseTypeId,
    /// First day.
    pub start_date: CivilDate,
    /// First day behind it.
    pub end_date: CivilDate,
    /// Allocations: those of the periods that the range touches, or of the period that holds the day.
    pub allocated_credits: Decimal,
    /// Cost of all usage: the next but one and the last one together.
    pub consumed_credits: Decimal,
    /// Rest of the allocations, period by period, each 0 or more: after the day, where it is one.
    pub remaining_credits: Decimal,
    /// Currency or pricing unit of the figures.
    pub pricing_unit: PricingUnit,
    /// Cost of the usage while the license was active, which draws from its allocations.
    pub allocation_eligible_credits: Decimal,
    /// Cost of the usage while it was not, which never does.
    pub shared_pool_credits: Decimal,
}

/// Amounts by pricing unit.
pub(crate) type Costs = BTreeMap<PricingUnit, Decimal>;

/// Costs at the ends of slots in which they have grown; without a slot those before all of them.
pub(crate) type Reached = BTreeMap<Option<usize>, Costs>;

/// Range of days that there are rows for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LicenseSlot {
    pub(crate) start: CivilDate,
    pub(crate) end: CivilDate,
    pub(crate) timeframe: Timeframe,
}

/// Allocation of each license in a period of its fee (subscriptions 7.4.7).
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) period: Timeframe,
    pub(crate) unit: PricingUnit,
    pub(crate) amount: Decimal,
}

/// What rows of usage are made of.
#[derive(Debug)]
pub(crate) struct LicenseRows<'a> {
    pub(crate) subscription_id: SubscriptionId,
    pub(crate) license_type_id: LicenseTypeId,
    pub(crate) grouping: LicenseGrouping,
    pub(crate) slots: &'a [LicenseSlot],
    /// Licenses, in the order of their rows.
    pub(crate) licenses: &'a [License],
    pub(crate) units: &'a BTreeSet<PricingUnit>,
    pub(crate) pools: &'a [Pool],
    /// Cost of all usage, by license and slot.
    pub(crate) consumed: BTreeMap<(LicenseId, usize), Costs>,
    /// Cost of the usage while the license was active, likewise.
    pub(crate) eligible: BTreeMap<(LicenseId, usize), Costs>,
    /// The same within a period of allocations, by license and period: of rows of days from its start on, of others
    /// within the slot.
    pub(crate) drawn: BTreeMap<(LicenseId, Timestamp), Reached>,
}

impl LicenseGrouping {
    /// Tells whether rows are of days.
    pub(crate) const fn is_by_day(self) -> bool {
        matches!(self, Self::Day | Self::LicenseAndDay)
    }
}

impl LicenseUsageQuery {
    /// Returns the ranges that there are rows for, where nothing is said those of a billing period.
    pub(crate) fn slots(&self, current: Timeframe, zone: &Zone) -> Result<Vec<LicenseSlot>, Error> {
        let last = current.end().saturating_sub(INSTANT).max(current.start());
        let start = self.start_date.unwrap_or_else(|| CivilDate::of(current.start(), zone));
        let end = self.end_date.unwrap_or_else(|| CivilDate::of(last, zone).tomorrow());
        if end <= start {
            let message = "found a date that is not behind start_date";
            return Err(Error::invalid("end_date", message));
        }
        let most = limits::LICENSE_USAGE_DAYS;
        let mut days = Vec::new();
        let dates = std::iter::successors(Some(start), |date| Some(date.tomorrow()));
        for date in dates.take_while(|date| *date < end) {
            if days.len() == most {
                let message = format!("found a range of more than {most} days");
                return Err(Error::invalid("end_date", message));
            }
            let timeframe = date.in_zone(zone);
            let timeframe =
                timeframe.map_err(|error| Error::invalid("start_date", error.to_string()))?;
            days.push(LicenseSlot { start: date, end: date.tomorrow(), timeframe });
        }
        Ok(match (self.grouping.is_by_day(), days.first(), days.last()) {
            (false, Some(first), Some(last)) => {
                let timeframe = first.timeframe.until(last.timeframe.end());
                vec![LicenseSlot { start, end, timeframe }]
            }
            _ => days,
        })
    }
}

/// Figures of a row.
#[derive(Default)]
struct Figures {
    allocated: Decimal,
    consumed: Decimal,
    eligible: Decimal,
    remaining: Decimal,
}

impl LicenseRows<'_> {
    /// Returns the rows: by license, then by day, then by pricing unit.
    pub(crate) fn rows(&self) -> Vec<LicenseUsage> {
        let slots = || self.slots.iter().enumerate();
        match self.grouping {
            LicenseGrouping::Day => {
                let rows = slots().flat_map(|slot| self.units.iter().map(move |unit| (slot, unit)));
                let row = |(slot, unit)| {
                    let each = self.licenses.iter().map(|of| self.figures(of, slot, unit));
                    self.row(None, slot.1, unit, each.fold(Figures::default(), Figures::and))
                };
                rows.map(row).collect()
            }
            LicenseGrouping::License | LicenseGrouping::LicenseAndDay => {
                let rows = self.licenses.iter().flat_map(|of| slots().map(move |slot| (of, slot)));
                let rows = rows.flat_map(|(of, slot)| {
                    self.units.iter().map(move |unit| {
                        self.row(Some(of), slot.1, unit, self.figures(of, slot, unit))
                    })
                });
                rows.collect()
            }
        }
    }

    fn row(
        &self,
        license: Option<&License>,
        slot: &LicenseSlot,
        unit: &PricingUnit,
        figures: Figures,
    ) -> LicenseUsage {
        LicenseUsage {
            license_id: license.map(|of| of.id),
            external_license_id: license.map(|of| of.external_license_id.clone()),
            subscription_id: self.subscription_id,
            license_type_id: self.license_type_id,
            start_date: slot.start,
            end_date: slot.end,
            shared_pool_credits: &figures.consumed - &figures.eligible,
            allocated_credits: figures.allocated,
            consumed_credits: figures.consumed,
            remaining_credits: figures.remaining,
            pricing_unit: unit.clone(),
            allocation_eligible_credits: figures.eligible,
        }
    }

    fn figures(
        &self,
        license: &License,
        (place, slot): (usize, &LicenseSlot),
        unit: &PricingUnit,
    ) -> Figures {
        let cost = |of: Option<&Costs>| of.and_then(|of| of.get(unit)).cloned().unwrap_or_default();
        let pools = || {
            self.pools.iter().filter(|pool| {
                pool.unit == *unit
                    && pool.period.overlaps(slot.timeframe)
                    && license.is_active_within(pool.period)
            })
        };
        let allocated: Decimal = pools().map(|pool| pool.amount.clone()).sum();
        let eligible = cost(self.eligible.get(&(license.id, place)));
        let drawn = |pool: &Pool| {
            let known = self.drawn.get(&(license.id, pool.period.start()))?;
            known.range(..=Some(place)).next_back().map(|(_, costs)| costs)
        };
        let rest = |pool: &Pool| (&pool.amount - &cost(drawn(pool))).max(Decimal::zero());
        let remaining = pools().map(rest).sum();
        let consumed = cost(self.consumed.get(&(license.id, place)));
        Figures { allocated, consumed, eligible, remaining }
    }
}

impl Figures {
    fn and(self, other: Self) -> Self {
        Self {
            allocated: self.allocated + other.allocated,
            consumed: self.consumed + other.consumed,
            eligible: self.eligible + other.eligible,
            remaining: self.remaining + other.remaining,
        }
    }
}
