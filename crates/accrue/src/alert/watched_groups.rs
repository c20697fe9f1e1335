use std::collections::{BTreeMap, BTreeSet};

use super::{Fired, GroupExceeded};
use crate::{Decimal, rating::GroupValues};

/// Groups that an alert watches in a billing period: how many there are, and which thresholds of each have fired.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedGroups {
    /// Number of groups that have usage.
    pub(crate) count: u64,
    /// True where that is another than the stored one.
    pub(crate) count_has_moved: bool,
    /// Thresholds that have fired, of the groups that were read.
    fired: BTreeMap<GroupValues, Fired>,
    moved: BTreeSet<GroupValues>,
}

impl WatchedGroups {
    pub(crate) fn new(count: u64, fired: BTreeMap<GroupValues, Fired>) -> Self {
        Self { count, count_has_moved: false, fired, moved: BTreeSet::new() }
    }

    /// Writes how many groups there are.
    pub(crate) fn set_count(&mut self, count: u64) {
        self.count_has_moved |= self.count != count;
        self.count = count;
    }

    /// Judges a change of what a group costs by some thresholds, and keeps what fired.
    pub(crate) fn judge(
        &mut self,
        group: &GroupValues,
        thresholds: &[Decimal],
        before: Option<&Decimal>,
        after: Decimal,
    ) -> Option<GroupExceeded> {
        if !self.would_fire(group, thresholds, before, &after) {
            return None;
        }
        let crossing =
            self.fired.entry(group.clone()).or_default().judge(thresholds, before, &after)?;
        self.moved.insert(group.clone());
        Some(GroupExceeded {
            group_values: group.clone(),
            value_before: before.cloned(),
            value_after: after,
            threshold: crossing.threshold,
            thresholds: crossing.thresholds,
        })
    }

    /// Tells whether a change of what a group costs fires something.
    pub(crate) fn would_fire(
        &self,
        group: &GroupValues,
        thresholds: &[Decimal],
        before: Option<&Decimal>,
        after: &Decimal,
    ) -> bool {
        let nothing = Fired::default();
        self.fired.get(group).unwrap_or(&nothing).would_fire(thresholds, before, after)
    }

    /// Returns the groups of which something has fired since they were read, with all that has.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (&GroupValues, &Fired)> {
        self.moved.iter().filter_map(|group| self.fired.get_key_value(group))
    }
}
