use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MeterId, Values, id_of};
use crate::{Error, PropertyName, expression::Fields, limits, text::json_bytes};

/// Combinations of the values of some properties. An event with others is not counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Combinations {
    dimensions: Vec<PropertyName>,
    /// In the order of their values.
    known: Vec<Combination>,
}

/// One combination of values: a part of a meter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Combination {
    values: Vec<String>,
    id: MeterId,
    /// The revision of the account's metrics that it came with.
    since: u64,
}

impl Combinations {
    /// Returns the id of a meter that is divided so.
    pub(super) fn divide(meter: MeterId, dimensions: &[PropertyName]) -> Uuid {
        id_of(meter.as_bytes(), dimensions.iter().map(|name| Some(name.as_str())))
    }

    /// Creates the first combination of a meter.
    pub(super) fn one(
        meter: MeterId,
        dimensions: &[PropertyName],
        values: &[String],
        since: u64,
    ) -> Self {
        let parts = values.iter().map(|value| Some(value.as_str()));
        let id = MeterId(id_of(meter.as_bytes(), parts));
        let one = Combination { values: values.to_vec(), id, since };
        Self { dimensions: dimensions.to_vec(), known: vec![one] }
    }

    /// Adds those that are not there yet. Tells whether there are more now.
    pub(super) fn extend(&mut self, others: &Self) -> Result<bool, Error> {
        let before = self.known.len();
        for other in &others.known {
            if let Err(place) = self.place(&other.values) {
                self.known.insert(place, other.clone());
            }
        }
        let has_more = self.known.len() > before;
        let most = limits::COMBINATION_BYTES;
        if has_more && self.bytes() > most {
            let detail = format!(
                "prices are for {before} combinations of these dimensions already: all their \
                 values together have at most {most} bytes"
            );
            return Err(Error::constraint(detail));
        }
        Ok(has_more)
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = MeterId> {
        self.known.iter().map(|one| one.id)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = Values> {
        self.known.iter().map(Combination::as_group)
    }

    pub(super) fn with_parts(&self, wanted: &[MeterId]) -> Option<Self> {
        self.retain(|one| wanted.contains(&one.id))
    }

    pub(super) fn since(&self, revisions: &RangeInclusive<u64>) -> Option<Self> {
        self.retain(|one| revisions.contains(&one.since))
    }

    /// Finds the combination of an event: the part that it is, and its values.
    pub(super) fn find(&self, fields: &Fields<'_>) -> Option<(MeterId, Values)> {
        let values = self.dimensions.iter().map(|name| fields.text(name));
        let values = values.collect::<Option<Vec<_>>>()?;
        let place = self.place(&values).ok()?;
        let one = self.known.get(place)?;
        Some((one.id, one.as_group()))
    }

    /// Returns the number of comparisons that finding the one of an event is worth.
    pub(super) fn terms(&self) -> usize {
        self.dimensions.len()
    }

    fn place(&self, values: &Vec<String>) -> Result<usize, usize> {
        self.known.binary_search_by_key(&values, |one| &one.values)
    }

    fn retain(&self, is_kept: impl Fn(&Combination) -> bool) -> Option<Self> {
        let known: Vec<_> = self.known.iter().filter(|one| is_kept(one)).cloned().collect();
        let dimensions = self.dimensions.clone();
        (!known.is_empty()).then_some(Self { dimensions, known })
    }

    /// Returns about the bytes that JSON takes for them.
    fn bytes(&self) -> usize {
        const ELSE: usize = 80;
        let values = self.known.iter().flat_map(|one| &one.values);
        let values = values.map(|value| json_bytes(value).saturating_add(1));
        values.fold(self.known.len().saturating_mul(ELSE), usize::saturating_add)
    }
}

impl Combination {
    fn as_group(&self) -> Values {
        self.values.iter().cloned().map(Some).collect()
    }
}
