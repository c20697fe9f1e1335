//! Models that divide usage into groups that are not known beforehand (`docs/decisions/groups-move-alone.md`).

use serde::{Deserialize, Serialize};

use super::{DeclaredCells, Grouping, Part, Quantity, Rating};
use crate::{Decimal, LicenseTypeId, PropertyName, price::Share};

/// Quantity of a group: of the events that have the same values of some properties.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupQuantity {
    /// Values of the properties; `None` where events do not have one.
    pub values: Vec<Option<String>>,
    /// Quantity of it, or that of each of its cells.
    pub quantity: Quantity,
}

/// Groups that a model divides usage into: one for each combination of values that events have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredGroups {
    /// Properties whose values decide on the group.
    pub(crate) group_by: Vec<PropertyName>,
    /// Property whose number is the last value of a group.
    pub(crate) rated_by: Option<PropertyName>,
    /// Type of the licenses whose id is the last value of a group: of usage while one was active.
    pub(crate) licenses_of: Option<LicenseTypeId>,
    /// Cells that each group is divided into.
    pub(crate) cells: Option<DeclaredCells>,
}

/// What a model makes of groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupSum {
    /// Quantity of a line.
    pub(crate) quantity: Decimal,
    /// Amount, as long as the period runs.
    pub(crate) amount: Decimal,
    /// Amount once it has ended.
    pub(crate) ended: Decimal,
}

/// How the amount of all groups follows from those of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combination {
    /// It is the sum: a group that moves moves it by as much.
    Sum,
    /// It is that of the group with the greatest quantity: while groups grow, no other one is looked at.
    Greatest,
    /// It depends on all of them in their order.
    InOrder,
}

/// Operations of a model of groups.
pub(in crate::price) trait RatesGroups {
    /// Returns the groups that usage is divided into.
    fn groups(&self) -> DeclaredGroups;

    /// Rates one group by itself, as long as its period runs.
    fn rate_group(&self, group: &GroupQuantity) -> Vec<Part>;

    /// Returns the amount of [`rate_group`](Self::rate_group), and nothing else.
    fn group_amount(&self, group: &GroupQuantity) -> Decimal {
        amount(&self.rate_group(group))
    }

    /// Returns the least amount of a group in a period that is over, of a model that has one.
    fn group_minimum(&self, _group: &GroupQuantity, _served: Share) -> Option<Decimal> {
        None
    }

    /// Returns the quantity that a group adds to a line.
    fn group_quantity(&self, group: &GroupQuantity) -> Decimal {
        group.billable()
    }

    /// Tells how groups make the amount of all.
    fn combination(&self) -> Combination {
        Combination::Sum
    }

    /// Rates all groups of a model that needs them in their order.
    fn rate_in_order(&self, groups: &[GroupQuantity]) -> Vec<Part> {
        groups.iter().flat_map(|group| self.rate_group(group)).collect()
    }
}

impl DeclaredGroups {
    /// Creates groups by the values of one property.
    pub(in crate::price) fn by(property: &PropertyName) -> Self {
        let group_by = vec![property.clone()];
        Self { group_by, rated_by: None, licenses_of: None, cells: None }
    }

    /// Returns the number of values that a group has.
    pub(crate) fn count(&self) -> usize {
        let more = self.rated_by.iter().len().saturating_add(self.licenses_of.iter().len());
        self.group_by.len().saturating_add(more)
    }
}

impl GroupQuantity {
    /// Creates the quantity of a group.
    #[must_use]
    pub const fn new(values: Vec<Option<String>>, quantity: Quantity) -> Self {
        Self { values, quantity }
    }

    /// Returns its quantity as one number: no cell takes something off another one.
    pub(in crate::price) fn billable(&self) -> Decimal {
        let (_, sum) = self.quantity.in_cells(0);
        sum
    }

    /// Returns the value of one of the properties that decide on it, with that property.
    pub(in crate::price) fn grouping(&self, key: &PropertyName, place: usize) -> Grouping {
        let value = self.values.get(place).cloned().flatten();
        Grouping { key: key.to_string(), value }
    }

    /// Returns an amount for the group by its name.
    pub(super) fn part(
        &self,
        key: &PropertyName,
        quantity: Decimal,
        unit_amount: &Decimal,
    ) -> Part {
        let grouping = self.grouping(key, 0);
        let name = grouping.value.clone().unwrap_or_else(|| "none".to_owned());
        Part { grouping: Some(grouping), ..Part::named(name, quantity, unit_amount) }
    }

    /// Puts parts under its value, and leaves out those of no units.
    pub(super) fn parts(&self, key: &PropertyName, parts: Vec<Part>) -> Vec<Part> {
        let grouping = self.grouping(key, 0);
        let reached = parts.into_iter().filter(|part| !part.quantity.is_zero());
        reached.map(|part| Part { grouping: Some(grouping.clone()), ..part }).collect()
    }
}

impl GroupSum {
    /// Sums up what one group comes to.
    fn of_group(model: &dyn RatesGroups, group: &GroupQuantity, served: Share) -> Self {
        let amount = model.group_amount(group);
        let ended = match model.group_minimum(group, served) {
            Some(least) => least.max(amount.clone()),
            None => amount.clone(),
        };
        Self { quantity: model.group_quantity(group), amount, ended }
    }

    fn and(self, other: &Self) -> Self {
        Self {
            quantity: self.quantity + &other.quantity,
            amount: self.amount + &other.amount,
            ended: self.ended + &other.ended,
        }
    }

    fn less(self, other: &Self) -> Self {
        Self {
            quantity: self.quantity - &other.quantity,
            amount: self.amount - &other.amount,
            ended: self.ended - &other.ended,
        }
    }

    fn or_greater(self, other: Self) -> Self {
        if self.quantity < other.quantity { other } else { self }
    }
}

/// A model of groups, with the days of its period that are served.
#[derive(Clone, Copy)]
pub(crate) struct GroupRater<'m> {
    pub(in crate::price) model: &'m dyn RatesGroups,
    pub(in crate::price) served: Share,
}

impl GroupRater<'_> {
    pub(crate) fn combination(self) -> Combination {
        self.model.combination()
    }

    /// Sums up what one group comes to by itself.
    pub(crate) fn group(self, group: &GroupQuantity) -> GroupSum {
        GroupSum::of_group(self.model, group, self.served)
    }

    /// Sums up some groups, and others that were summed up before.
    pub(crate) fn sum(self, others: Option<&GroupSum>, groups: &[GroupQuantity]) -> GroupSum {
        let others = others.cloned().unwrap_or_default();
        match self.combination() {
            Combination::Sum => groups.iter().fold(others, |sum, of| sum.and(&self.group(of))),
            Combination::Greatest => self.greatest(others, groups.iter().map(|of| self.group(of))),
            Combination::InOrder => {
                let amount = amount(&self.model.rate_in_order(groups));
                let quantity = groups.iter().map(|group| self.model.group_quantity(group)).sum();
                GroupSum { quantity, ended: amount.clone(), amount }
            }
        }
    }

    /// Returns the sum of whichever has the greatest quantity.
    pub(crate) fn greatest(
        self,
        others: GroupSum,
        groups: impl IntoIterator<Item = GroupSum>,
    ) -> GroupSum {
        groups.into_iter().fold(others, GroupSum::or_greater)
    }

    /// Returns what is left of the sum of all groups without some of them: of the greatest one a bound, which
    /// those that grow come to.
    pub(crate) fn others(self, sum: GroupSum, groups: &[GroupQuantity]) -> GroupSum {
        match self.combination() {
            Combination::Sum => groups.iter().fold(sum, |sum, of| sum.less(&self.group(of))),
            Combination::Greatest | Combination::InOrder => sum,
        }
    }

    /// Returns the sum of all groups where one has moved; none where all have to be looked at.
    pub(crate) fn moved(
        self,
        sum: &GroupSum,
        before: &GroupSum,
        after: &GroupSum,
    ) -> Option<GroupSum> {
        match self.combination() {
            Combination::Sum => Some(sum.clone().less(before).and(after)),
            Combination::Greatest if sum.quantity <= after.quantity => Some(after.clone()),
            Combination::Greatest if before.quantity < sum.quantity => Some(sum.clone()),
            Combination::Greatest | Combination::InOrder => None,
        }
    }

    /// Rates a quantity, as long as its period runs, or one that is over.
    pub(crate) fn rating(self, quantity: &Quantity, is_over: bool) -> Rating {
        let groups = quantity.groups();
        Rating::of(if is_over { self.rate_ended(groups) } else { self.rate(groups) })
    }

    /// Sums up the groups of a quantity.
    pub(crate) fn sum_of(self, quantity: &Quantity) -> GroupSum {
        self.sum(None, quantity.groups())
    }

    /// Rates all groups, as long as their period runs.
    fn rate(self, groups: &[GroupQuantity]) -> Vec<Part> {
        match self.combination() {
            Combination::Sum => groups.iter().flat_map(|of| self.model.rate_group(of)).collect(),
            Combination::Greatest => {
                let quantity = |of: &GroupQuantity| self.model.group_quantity(of);
                let mut greatest: Option<&GroupQuantity> = None;
                for group in groups {
                    if greatest.is_none_or(|greatest| quantity(greatest) < quantity(group)) {
                        greatest = Some(group);
                    }
                }
                greatest.map(|group| self.model.rate_group(group)).unwrap_or_default()
            }
            Combination::InOrder => self.model.rate_in_order(groups),
        }
    }

    /// Rates all groups of a period that is over: what a group lacks is on its last part.
    fn rate_ended(self, groups: &[GroupQuantity]) -> Vec<Part> {
        if self.combination() != Combination::Sum {
            return self.rate(groups);
        }
        let rated = groups.iter().flat_map(|group| {
            let mut parts = self.model.rate_group(group);
            if let Some(least) = self.model.group_minimum(group, self.served) {
                let lacking = (least - amount(&parts)).max(Decimal::zero());
                parts.iter_mut().next_back().into_iter().for_each(|last| last.amount += &lacking);
            }
            parts
        });
        rated.collect()
    }
}

fn amount(parts: &[Part]) -> Decimal {
    parts.iter().map(|part| &part.amount).sum()
}
