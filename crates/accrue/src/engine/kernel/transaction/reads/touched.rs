//! What a run has touched under guards.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::Reads;
use crate::{schema, store::Key};

/// Rows under a guard that a run has touched.
#[derive(Debug, Default)]
pub(in crate::engine) struct Touched {
    /// Those that were asked for, from the store or a copy.
    pub(in crate::engine) asked: BTreeSet<Key>,
    /// Those that are written without having been read.
    pub(in crate::engine) written: BTreeSet<Key>,
}

impl Reads {
    /// Returns the rows under some guards that were asked for or are written, of those that copies keep.
    pub(in crate::engine::kernel::transaction) fn touched(
        &self,
        guards: impl Iterator<Item = usize>,
    ) -> Vec<Touched> {
        let places: HashMap<_, _, RandomState> =
            guards.enumerate().map(|(at, guard)| (guard, at)).collect();
        let mut all = Vec::new();
        all.resize_with(places.len(), Touched::default);
        for (key, of) in self.rows.iter().filter(|(key, _)| schema::is_resident(key.table())) {
            let at = of.under.filter(|_| !of.is_ahead).and_then(|guard| places.get(&guard));
            if let Some(touched) = at.and_then(|at| all.get_mut(*at)) {
                touched.asked.insert(key.clone());
            }
        }
        for (guard, key) in self.under.iter().filter(|(_, key)| !self.rows.contains_key(key)) {
            if let Some(touched) = places.get(guard).and_then(|at| all.get_mut(*at)) {
                touched.written.insert(key.clone());
            }
        }
        all
    }
}
