//! Ids of meters, of their groups and cells, and of what prices make of them.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{Meter, Values};
use crate::MetricId;

/// Id of a meter, by its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct MeterId(pub(super) Uuid);

/// Key of a sum: a metric as a whole, or a cell of a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CellId {
    Metric(MetricId),
    Cell(CellHash),
}

/// Cell that something is added to, with its group, where its meter has groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InGroup<'a> {
    pub(crate) cell: CellId,
    pub(crate) group: Option<(MeterId, &'a Values)>,
}

/// Id of what a price makes of the groups of a meter, by its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SumId(pub(super) Uuid);

/// Id of a cell of a meter, by its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CellHash(pub(super) Uuid);

impl MeterId {
    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl SumId {
    /// Names what some rules make of the groups of a meter, or of a part of one.
    pub(crate) fn new<'a>(meter: MeterId, rules: impl IntoIterator<Item = &'a str>) -> Self {
        Self(id_of(meter.as_bytes(), rules.into_iter().map(Some)))
    }

    /// Names the same for what tells a period from others: the part of its days, what its licenses may use.
    pub(crate) fn served(self, by: &str) -> Self {
        Self(id_of(self.0.as_bytes(), [Some(by)]))
    }
}

impl CellHash {
    /// Names a group by its meter, or the part of one, and its values.
    pub(crate) fn of_group(meter: MeterId, values: &Values) -> Self {
        Self(id_of(meter.as_bytes(), values.iter().map(Option::as_deref)))
    }

    /// Names a group of what an alert watches by its values.
    pub(crate) fn of_watched(values: &[String]) -> Self {
        Self(id_of(&[0; 16], values.iter().map(|value| Some(value.as_str()))))
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl CellId {
    /// Returns the part of a cell that a license was active for; that of no license where none was.
    pub(crate) fn of_license(self, license: Option<&str>) -> Self {
        Self::Cell(CellHash(id_of(self.as_bytes(), [Some("license"), license])))
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        match self {
            Self::Metric(id) => id.as_bytes(),
            Self::Cell(hash) => hash.as_bytes(),
        }
    }
}

impl From<CellId> for InGroup<'_> {
    fn from(cell: CellId) -> Self {
        Self { cell, group: None }
    }
}

impl From<MetricId> for CellId {
    fn from(id: MetricId) -> Self {
        Self::Metric(id)
    }
}

/// The most ids of a meter that are kept: those beyond are worked out again.
const KNOWN: usize = 4_096;

/// Ids of groups and cells that were worked out: the events of a batch are in few.
#[derive(Debug, Default)]
pub(crate) struct KnownIds(HashMap<MeterId, HashMap<Values, CellHash, RandomState>, RandomState>);

impl KnownIds {
    /// Returns the id of a cell of a group: it is made of the values of both, one behind the other.
    pub(super) fn id(&mut self, of: &Meter, group: &Values, values: &[Option<String>]) -> CellHash {
        let parts = match (group.as_slice(), values) {
            (group, []) => group,
            ([], values) => values,
            _ => return of.hash(group, values),
        };
        let known = self.0.entry(of.id).or_default();
        if let Some(id) = known.get(parts) {
            return *id;
        }
        if known.len() >= KNOWN {
            known.clear();
        }
        let id = of.hash(group, values);
        known.insert(parts.to_vec(), id);
        id
    }
}

/// Returns the first half of a SHA-256 over some parts, each led by whether it is there and how
/// long it is. Rows are stored by it, so it never changes.
pub(super) fn id_of<'a>(of: &[u8; 16], parts: impl IntoIterator<Item = Option<&'a str>>) -> Uuid {
    let mut hash = Sha256::new_with_prefix(of);
    for part in parts {
        let length = part.map_or(u64::MAX, |part| u64::try_from(part.len()).unwrap_or(u64::MAX));
        hash.update(length.to_be_bytes());
        hash.update(part.unwrap_or_default());
    }
    first_half(hash)
}

pub(super) fn first_half(hash: Sha256) -> Uuid {
    let digest: [u8; 32] = hash.finalize().into();
    Uuid::from_bytes(digest.first_chunk::<16>().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SeededEntropy, Timestamp, meter::Cells};

    #[test]
    fn ids_are_the_same_whether_they_are_known_or_not() {
        let metric = MetricId::generate(Timestamp::MIN, &SeededEntropy::new(1));
        let meter = Meter::new(metric, None, Vec::new(), Cells::default(), 1);
        let values = |of: &[usize]| -> Values {
            of.iter().map(|of| (*of != 0).then(|| of.to_string())).collect()
        };
        let mut known = KnownIds::default();
        let mut check = |group: &[usize], own: &[usize]| {
            let (group, own) = (values(group), values(own));
            assert_eq!(known.id(&meter, &group, &own), meter.hash(&group, &own));
        };
        // All of them twice, and more than are kept.
        for number in (0..=KNOWN).chain(0..=KNOWN) {
            check(&[number], &[]);
            check(&[], &[number, 1]);
        }
        for (group, own) in [(vec![], vec![]), (vec![2, 1], vec![]), (vec![2], vec![1])] {
            check(&group, &own);
        }
        assert!(known.0.values().all(|of| of.len() <= KNOWN));
    }
}
