//! Pools of licenses: what usage may cost before it is charged (`docs/decisions/pools-are-groups.md`).

use super::{
    DeclaredGroups, GroupQuantity, GroupRater, LicenseAllocation, LicenseKey, Part, PartOf, Share,
    Unit, model::RatesGroups,
};
use crate::{Decimal, Timeframe, Timestamp};

/// Pool that each license has in a period: the cost of its usage while it is active draws from it, and is charged
/// beyond.
#[derive(Clone, Debug)]
pub(crate) struct LicensePool {
    key: LicenseKey,
    unit: Unit,
    amount: Decimal,
    /// True if usage beyond it costs nothing.
    writes_off: bool,
}

/// Pools that the usage of a price draws from while license fees are in force.
#[derive(Clone, Debug)]
pub(crate) struct LicensePools {
    /// Each with the life of its fee.
    pools: Vec<(Timestamp, Option<Timestamp>, LicensePool)>,
    /// What there is without a fee.
    none: LicensePool,
}

impl LicensePool {
    pub(super) fn new(key: LicenseKey, unit: Unit, of: &LicenseAllocation) -> Self {
        let (amount, writes_off) = (of.amount.clone(), of.write_off_overage);
        Self { key, unit, amount, writes_off }
    }

    pub(crate) const fn key(&self) -> &LicenseKey {
        &self.key
    }

    /// Returns what rates the usage of licenses.
    pub(crate) fn rater(&self, served: Share) -> GroupRater<'_> {
        GroupRater { model: self, served }
    }

    /// Returns the rules that it rates by, as a text.
    pub(crate) fn rules(&self) -> String {
        format!("{} {}", self.amount, self.writes_off)
    }

    /// Returns how much of it the usage of a group has drawn, or would have: in percent, rounded down; none where nothing
    /// can draw from it.
    pub(crate) fn drawn(&self, group: &GroupQuantity) -> Option<Decimal> {
        /// Digits behind the point that a threshold can have.
        const PLACES: u32 = 28;
        if self.amount.is_zero() || !is_active(group) {
            return None;
        }
        let (all, cost) = (Decimal::from(100), self.used(group).amount);
        let percent = all.share(&cost, &self.amount, PLACES);
        let is_above = percent.clone() * self.amount.clone() > all * cost;
        Some(if is_above { percent - Decimal::last_place(PLACES) } else { percent })
    }

    /// Prices the usage of a group.
    fn used(&self, group: &GroupQuantity) -> Part {
        let (factor, unit_amount) =
            (self.unit.scaling_factor.as_ref(), self.unit.unit_amount.number());
        Part::scaled(PartOf::Named, group.billable(), factor, unit_amount)
    }

    /// Returns the part of what active usage costs that it pays for, or lets go.
    fn free(&self, cost: &Decimal) -> Decimal {
        match self.writes_off {
            true => cost.clone().max(Decimal::zero()),
            false => cost.clone().min(self.amount.clone()).max(Decimal::zero()),
        }
    }
}

impl LicensePools {
    /// Creates them from the pools of fees, each with its life.
    pub(crate) fn new(
        pools: impl IntoIterator<Item = (Timestamp, Option<Timestamp>, LicensePool)>,
    ) -> Option<Self> {
        let pools: Vec<_> = pools.into_iter().collect();
        let (.., any) = pools.first()?;
        let none = LicensePool { amount: Decimal::zero(), writes_off: false, ..any.clone() };
        Some(Self { pools, none })
    }

    /// Returns how events name the licenses.
    pub(crate) const fn key(&self) -> &LicenseKey {
        self.none.key()
    }

    /// Returns the pool of a period: that of the last fee that is in force in it.
    pub(crate) fn of(&self, period: Timeframe) -> &LicensePool {
        let pools = self.pools.iter().map(|(start, end, pool)| (*start, *end, pool));
        last_in_force(pools, period).unwrap_or(&self.none)
    }
}

/// Returns what is in force in a period, of some with their lives: the last that begins.
pub(crate) fn last_in_force<T>(
    all: impl IntoIterator<Item = (Timestamp, Option<Timestamp>, T)>,
    period: Timeframe,
) -> Option<T> {
    let in_force = all.into_iter().filter(|(start, end, _)| {
        *start < period.end() && end.is_none_or(|end| period.start() < end)
    });
    in_force.max_by_key(|(start, ..)| *start).map(|(.., of)| of)
}

impl RatesGroups for LicensePool {
    fn groups(&self) -> DeclaredGroups {
        self.key.groups()
    }

    /// Prices the usage of a license, and what its pool pays for beside it.
    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part> {
        let grouping = group.grouping(&self.key.grouping_key, 0);
        let name = grouping.value.clone().unwrap_or_else(|| "none".to_owned());
        let of = |part: Part| Part { grouping: Some(grouping.clone()), ..part };
        let used = of(Part { name: Some(name), ..self.used(group) });
        if !is_active(group) {
            return vec![used];
        }
        let free = self.free(&used.amount);
        if free.is_zero() {
            return vec![used];
        }
        vec![used, of(Part::named("Allocation", Decimal::from(1), &-free))]
    }
}

/// Tells whether usage is that of a license while it was active: its id is the last value.
fn is_active(group: &GroupQuantity) -> bool {
    group.values.last().is_some_and(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LicenseTypeId, PropertyName, price::Quantity};

    fn pool(amount: &str, writes_off: bool) -> LicensePool {
        let key = LicenseKey {
            license_type: LicenseTypeId::from_bytes([1; 16]),
            grouping_key: PropertyName::parse("user").unwrap(),
        };
        let amount = Decimal::parse(amount).unwrap();
        let unit = Unit::new(Decimal::parse("0.5").unwrap());
        LicensePool { key, unit, amount, writes_off }
    }

    fn group(license: Option<&str>, units: i64) -> GroupQuantity {
        let values = vec![Some("alice".to_owned()), license.map(str::to_owned)];
        GroupQuantity::new(values, Quantity::One(Decimal::from(units)))
    }

    #[test]
    fn subscriptions_7_4_9_only_active_usage_draws() {
        let check = |writes_off, license, units, expect: &str| {
            let pool = pool("10", writes_off);
            let found = pool.group_amount(&group(license, units));
            assert_eq!(found, Decimal::parse(expect).unwrap(), "{license:?} {units}");
        };
        check(false, Some("l"), 20, "0");
        check(false, Some("l"), 21, "0.5");
        check(false, None, 21, "10.5");
        check(true, Some("l"), 21, "0");
        check(true, None, 21, "10.5");
        check(false, Some("l"), -3, "0");
    }

    #[test]
    fn subscriptions_7_6_1_what_is_drawn_is_a_percentage_of_the_pool() {
        let check = |amount, license, units, expect: Option<&str>| {
            let found = pool(amount, false).drawn(&group(license, units));
            assert_eq!(
                found,
                expect.map(|of| Decimal::parse(of).unwrap()),
                "{amount} {license:?} {units}"
            );
        };
        check("10", Some("l"), 15, Some("75"));
        check("10", Some("l"), 30, Some("150"));
        check("10", Some("l"), -2, Some("0"));
        check("10", None, 15, None);
        check("0", Some("l"), 15, None);
        // Two thirds of a pool come to no threshold above them.
        let found = pool("3", false).drawn(&group(Some("l"), 4)).unwrap();
        let two_thirds = Decimal::from(200);
        assert!(found.clone() * Decimal::from(3) < two_thirds);
        assert!((found + Decimal::last_place(28)) * Decimal::from(3) > two_thirds);
    }

    #[test]
    fn a_period_has_the_pool_of_the_last_fee_in_force() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let [march, april, may] =
            ["2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z"].map(at);
        let middle = at("2026-03-16T00:00:00Z");
        let pools = LicensePools::new([
            (middle, Some(april), pool("20", false)),
            (march, Some(middle), pool("10", true)),
        ]);
        let pools = pools.unwrap();
        let of = |start, end| pools.of(Timeframe::new(start, end).unwrap()).rules();
        assert_eq!(of(march, april), "20 false");
        assert_eq!(of(march, middle), "10 true");
        assert_eq!(of(april, may), "0 false");
        assert!(LicensePools::new([]).is_none());
    }
}
