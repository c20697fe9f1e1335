//! Meters: metrics over some events, divided into groups and cells.
//!
//! A price declares the meter whose figures it rates. Two prices that count the same share one: a meter
//! is identified by its parts (`docs/decisions/matrix-cells-are-meters.md`).

mod combinations;
mod ids;
mod source;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use self::ids::{first_half, id_of};
pub use self::source::UsageCustomers;
pub(crate) use self::{
    combinations::Combinations,
    ids::{CellHash, CellId, InGroup, KnownIds, MeterId, SumId},
    source::Source,
};
use crate::{
    Decimal, Error, LicenseTypeId, MetricId, PropertyName,
    expression::{Expression, Fields},
};

/// Metric over some events, divided into groups and cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meter {
    pub(crate) id: MeterId,
    pub(crate) metric_id: MetricId,
    /// Condition on the events that it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filter: Option<Expression>,
    /// Combinations of values that divide it: a price is for one of them, and has that part of the meter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    combinations: Option<Combinations>,
    /// Properties by whose texts events are in groups that an alert watches, before all others: a missing one is an
    /// empty text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    watched_by: Vec<PropertyName>,
    /// Properties by whose values events are in groups, whichever values there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    group_by: Vec<PropertyName>,
    /// Property whose number is the last value of a group: events without one are in a group without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rated_by: Option<PropertyName>,
    /// Type of the licenses that its groups are of: which one, and whether it was active, subscriptions tell
    /// (`docs/decisions/pools-are-groups.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) licenses_of: Option<LicenseTypeId>,
    /// The cells that each group is divided into.
    cells: Cells,
    /// The revision of the account's metrics that it came with: its first combination, where it has some.
    since: u64,
}

/// Place of an event in a meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The meter; where combinations divide it, the part of the event's own.
    pub(crate) meter: MeterId,
    /// The values of its combination, and then those of its group.
    pub(crate) group: Values,
}

/// Cells that are known beforehand, and one for all that lies in none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cells {
    dimensions: Vec<PropertyName>,
    /// Values of each cell, in order. One with fewer values than there are dimensions holds what no other one with
    /// these, and more, does.
    values: Vec<Values>,
}

/// The values of some properties, as texts; `None` where a property is missing.
pub(crate) type Values = Vec<Option<String>>;

impl Cells {
    /// Creates cells by the values of some dimensions: one for each list of values, in any order.
    pub(crate) fn new(
        dimensions: Vec<PropertyName>,
        values: impl IntoIterator<Item = Values>,
    ) -> Self {
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort();
        Self { dimensions, values }
    }

    /// Returns the number of dimensions, and the numbers of values of the cells where some have fewer.
    fn shape(&self) -> String {
        let dimensions = self.dimensions.len();
        if self.values.iter().all(|of| of.len() == dimensions) {
            return dimensions.to_string();
        }
        let sizes = self.values.iter().map(|of| format!(" {}", of.len()));
        sizes.fold(dimensions.to_string(), |shape, size| shape + &size)
    }
}

impl Meter {
    /// Creates a meter, as of a revision of the metrics.
    pub(crate) fn new(
        metric_id: MetricId,
        filter: Option<Expression>,
        group_by: Vec<PropertyName>,
        cells: Cells,
        since: u64,
    ) -> Self {
        let text = filter.as_ref().map(ToString::to_string);
        let counts = [group_by.len().to_string(), cells.shape()];
        let names = group_by.iter().chain(&cells.dimensions).map(|name| Some(name.as_str()));
        let values = cells.values.iter().flatten().map(Option::as_deref);
        let parts =
            [text.as_deref()].into_iter().chain(counts.iter().map(|count| Some(count.as_str())));
        let id = MeterId(id_of(metric_id.as_bytes(), parts.chain(names).chain(values)));
        Self {
            id,
            metric_id,
            filter,
            combinations: None,
            watched_by: Vec::new(),
            group_by,
            rated_by: None,
            licenses_of: None,
            cells,
            since,
        }
    }

    /// Divides its groups by licenses of a type too, which the last property that it groups by names.
    pub(crate) fn of_licenses(self, license_type: LicenseTypeId) -> Self {
        let name = license_type.to_string();
        let id = MeterId(id_of(self.id.as_bytes(), [Some("license"), Some(name.as_str())]));
        Self { id, licenses_of: Some(license_type), ..self }
    }

    /// Divides its groups by the number of a property too.
    pub(crate) fn rated_by(self, property: PropertyName) -> Self {
        let id = MeterId(id_of(self.id.as_bytes(), [Some("rate"), Some(property.as_str())]));
        Self { id, rated_by: Some(property), ..self }
    }

    /// Divides it into the groups that an alert watches too: no price rates it.
    pub(crate) fn watched_by(self, keys: &[PropertyName]) -> Self {
        let names = keys.iter().map(|name| Some(name.as_str()));
        let id = MeterId(id_of(self.id.as_bytes(), [Some("watched")].into_iter().chain(names)));
        Self { id, watched_by: keys.to_vec(), ..self }
    }

    /// Keeps only the part of one combination of the values of some properties.
    pub(crate) fn of_combination(self, dimensions: &[PropertyName], values: &[String]) -> Self {
        let id = MeterId(Combinations::divide(self.id, dimensions));
        let one = Combinations::one(id, dimensions, values, self.since);
        Self { id, combinations: Some(one), ..self }
    }

    /// Adds the combinations of a meter that is the same but for those. Tells whether it has more now.
    ///
    /// # Errors
    ///
    /// A constraint violation where there would be too many.
    pub(crate) fn extend(&mut self, other: &Self) -> Result<bool, Error> {
        match (&mut self.combinations, &other.combinations) {
            (Some(own), Some(others)) => own.extend(others),
            _ => Ok(false),
        }
    }

    /// Returns its parts: one for each combination, or all of it.
    pub(crate) fn parts(&self) -> Vec<MeterId> {
        match &self.combinations {
            Some(combinations) => combinations.ids().collect(),
            None => vec![self.id],
        }
    }

    /// Keeps those of its parts that are wanted; none of it where no part is.
    pub(crate) fn with_parts(&self, wanted: &[MeterId]) -> Option<Self> {
        self.retain(wanted.contains(&self.id), |of| of.with_parts(wanted))
    }

    /// Keeps those of its parts that came in some revisions; none of it where no part did.
    pub(crate) fn since(&self, revisions: &RangeInclusive<u64>) -> Option<Self> {
        self.retain(revisions.contains(&self.since), |of| of.since(revisions))
    }

    fn retain(
        &self,
        is_kept: bool,
        divided: impl FnOnce(&Combinations) -> Option<Combinations>,
    ) -> Option<Self> {
        match &self.combinations {
            None => is_kept.then(|| self.clone()),
            Some(combinations) => {
                let combinations = Some(divided(combinations)?);
                Some(Self { combinations, ..self.clone() })
            }
        }
    }

    /// Tells whether a condition says which events it counts.
    pub(crate) const fn has_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// Tells whether it has groups: which there are is not known beforehand.
    pub(crate) fn has_groups(&self) -> bool {
        self.is_watched() || !self.group_by.is_empty() || self.rated_by.is_some()
    }

    /// Tells whether it is there for an alert, and not for a price.
    pub(crate) const fn is_watched(&self) -> bool {
        !self.watched_by.is_empty()
    }

    /// Returns where an event is; nowhere where it is not counted. All that are counted are in one group where
    /// there are no groups.
    pub(crate) fn place_of(&self, fields: &Fields<'_>) -> Option<Place> {
        if !self.filter.as_ref().is_none_or(|filter| filter.matches(fields)) {
            return None;
        }
        let (meter, mut group) = match &self.combinations {
            Some(combinations) => combinations.find(fields)?,
            None => (self.id, Values::new()),
        };
        group.extend(
            self.watched_by.iter().map(|name| fields.text(name).or_else(|| Some(String::new()))),
        );
        group.extend(self.group_by.iter().map(|name| fields.text(name)));
        group.extend(self.rated_by.iter().map(|name| fields.text(name).and_then(number)));
        Some(Place { meter, group })
    }

    /// Returns the values of the combination that it is for, where it is for one.
    pub(crate) fn combination(&self) -> Values {
        let first = self.combinations.iter().flat_map(Combinations::values).next();
        first.unwrap_or_default()
    }

    /// Returns the groups that are known beforehand, of a meter that has no others.
    pub(crate) fn known_groups(&self) -> Vec<Values> {
        match &self.combinations {
            Some(combinations) => combinations.values().collect(),
            None => vec![Values::new()],
        }
    }

    /// Returns the id of a group.
    pub(crate) fn group_id(&self, group: &Values, known: &mut KnownIds) -> CellHash {
        known.id(self, group, &[])
    }

    /// Returns the cell of its group that an event is in.
    pub(crate) fn cell_of(
        &self,
        group: &Values,
        fields: &Fields<'_>,
        known: &mut KnownIds,
    ) -> CellId {
        let Cells { dimensions, values } = &self.cells;
        let own: Values = dimensions.iter().map(|name| fields.text(name)).collect();
        let mut own = own.as_slice();
        // What is in no cell is in that of no values.
        while !values.is_empty() && values.binary_search_by(|of| of.as_slice().cmp(own)).is_err() {
            let Some((_, fewer)) = own.split_last() else { break };
            own = fewer;
        }
        CellId::Cell(known.id(self, group, if values.is_empty() { &[] } else { own }))
    }

    /// Returns the cells of a group with some values, in their order, and then that of all others.
    pub(crate) fn cells<'v>(
        &self,
        group: &Values,
        values: impl IntoIterator<Item = &'v [Option<String>]>,
    ) -> Vec<CellId> {
        let cells = values.into_iter().map(|values| self.cell(group, values));
        cells.chain([self.cell(group, &[])]).collect()
    }

    /// Returns the cells with some values of the one group that a price is rated by, and then that of all others.
    pub(crate) fn only_cells<'v>(
        &self,
        values: impl IntoIterator<Item = &'v [Option<String>]>,
    ) -> Vec<CellId> {
        self.cells(&self.known_groups().concat(), values)
    }

    /// Returns all cells of a group.
    pub(crate) fn all_cells(&self, group: &Values) -> Vec<CellId> {
        self.cells(group, self.cells.values.iter().map(Vec::as_slice))
    }

    /// Returns the number of comparisons that finding the cell of an event is worth: its name is a hash.
    pub(crate) fn terms(&self) -> usize {
        const HASH: usize = 8;
        let filter = self.filter.as_ref().map_or(0, Expression::terms);
        let divided = self.combinations.as_ref().map_or(0, Combinations::terms);
        let by = self.group_by.len().saturating_add(self.rated_by.iter().len());
        let by = by.saturating_add(self.watched_by.len());
        let names = by.saturating_add(self.cells.dimensions.len());
        names.saturating_add(divided).saturating_add(HASH).saturating_add(filter)
    }

    fn cell(&self, group: &Values, values: &[Option<String>]) -> CellId {
        CellId::Cell(self.hash(group, values))
    }

    fn hash(&self, group: &Values, values: &[Option<String>]) -> CellHash {
        let parts = group.iter().chain(values).map(Option::as_deref);
        CellHash(id_of(self.id.as_bytes(), parts))
    }
}

/// Returns the shortest text of a number; none of another text, and of one with too many digits.
fn number(text: String) -> Option<String> {
    let number = Decimal::parse(&text).ok()?;
    number.check_bounds().ok().map(|()| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Decimal, EventName, SeededEntropy, Timestamp,
        event::{Properties, PropertyValue},
    };

    fn values(of: &[Option<&str>]) -> Values {
        of.iter().map(|value| value.map(str::to_owned)).collect()
    }

    fn names(of: &[&str]) -> Vec<PropertyName> {
        of.iter().map(|name| PropertyName::parse(*name).unwrap()).collect()
    }

    fn metric_id(seed: u64) -> MetricId {
        MetricId::generate(Timestamp::MIN, &SeededEntropy::new(seed))
    }

    fn divided(metric_id: MetricId, dimensions: &[&str], cells: &[&[Option<&str>]]) -> Meter {
        let cells = Cells::new(names(dimensions), cells.iter().map(|of| values(of)));
        Meter::new(metric_id, None, Vec::new(), cells, 1)
    }

    #[test]
    fn what_counts_the_same_is_one_meter() {
        let (eu, us): (&[_], &[_]) = (&[Some("eu"), Some("1")], &[Some("us"), None]);
        let meter =
            |seed, cells: &[&[Option<&str>]]| divided(metric_id(seed), &["region", "size"], cells);
        assert_eq!(meter(1, &[eu, us]), meter(1, &[us, eu]));
        let id = |of: &Meter| of.id;
        assert_ne!(id(&meter(1, &[eu, us])), id(&meter(2, &[eu, us])));
        assert_ne!(id(&meter(1, &[eu, us])), id(&meter(1, &[eu])));
        let texts = |one, other| id(&meter(1, &[&[Some(one), Some(other)]]));
        assert_ne!(texts("a", "bc"), texts("ab", "c"));
        assert_ne!(id(&meter(1, &[&[Some(""), None]])), id(&meter(1, &[&[None, Some("")]])));
        // A cell is no dimension, a group is no cell, and a filter is neither.
        let of = metric_id(1);
        let two = divided(of, &["a", "b"], &[]);
        assert_ne!(id(&two), id(&divided(of, &["a"], &[&[Some("b")]])));
        let grouped = |by: &[&str], cells| Meter::new(of, None, names(by), cells, 1);
        assert_ne!(id(&two), id(&grouped(&["a"], Cells::new(names(&["b"]), []))));
        let filter = Expression::parse("a = 'b'").unwrap();
        let filtered = Meter::new(of, Some(filter), Vec::new(), Cells::default(), 1);
        assert_ne!(id(&filtered), id(&grouped(&[], Cells::default())));
    }

    fn of_region(since: u64, region: &str) -> Meter {
        let meter = Meter::new(metric_id(1), None, Vec::new(), Cells::default(), since);
        meter.of_combination(&names(&["region"]), &[region.to_owned()])
    }

    #[test]
    fn combinations_of_the_same_dimensions_are_parts_of_one_meter() {
        let (mut all, us) = (of_region(1, "eu"), of_region(2, "us"));
        assert_eq!(all.id, us.id);
        let parts = [all.parts(), us.parts()].concat();
        assert_ne!(parts[0], parts[1]);
        assert!(all.extend(&us).unwrap());
        assert!(!all.extend(&of_region(3, "us")).unwrap(), "it is there already");
        assert_eq!(all.parts(), parts, "in the order of their values");
        assert_eq!(
            all.with_parts(&parts[1..]),
            Some(us.clone()).map(|us| Meter { since: 1, ..us })
        );
        assert_eq!(all.with_parts(&[]), None);
        let since = |revisions| all.since(&revisions).map(|of| of.parts());
        assert_eq!(since(0..=1), Some(parts[..1].to_vec()));
        assert_eq!(since(2..=2), Some(parts[1..].to_vec()));
        assert_eq!(since(3..=9), None);
        // Neither a cell nor a group is a combination.
        let cells = divided(metric_id(1), &["region"], &[&[Some("eu")]]);
        let grouped = Meter::new(metric_id(1), None, names(&["region"]), Cells::default(), 1);
        assert!(all.id != cells.id && all.id != grouped.id);
    }

    #[test]
    fn an_event_of_no_combination_is_not_counted() {
        let mut meter = of_region(1, "eu");
        meter.extend(&of_region(1, "1.5")).unwrap();
        let number = PropertyValue::Number(Decimal::parse("1.50").unwrap());
        let own = |region: &str| Some(of_region(1, region).only_cells([])[0]);
        assert_eq!(cell(&meter, &[("region", "eu".into())]), own("eu"));
        assert_eq!(cell(&meter, &[("region", number)]), own("1.5"));
        assert_eq!(cell(&meter, &[("region", "us".into())]), None);
        assert_eq!(cell(&meter, &[("region", PropertyValue::Null)]), None);
        assert_eq!(cell(&meter, &[]), None);
    }

    /// The cell of an event with some properties.
    fn cell(meter: &Meter, properties: &[(&str, PropertyValue)]) -> Option<CellId> {
        let properties: Properties = properties
            .iter()
            .map(|(name, value)| (PropertyName::parse(*name).unwrap(), value.clone()))
            .collect();
        let name = EventName::parse("completion").unwrap();
        let fields = Fields::new(&name, Timestamp::MIN, &properties);
        let place = meter.place_of(&fields)?;
        Some(meter.cell_of(&place.group, &fields, &mut KnownIds::default()))
    }

    #[test]
    fn an_event_lies_in_the_cell_whose_values_it_has() {
        let own: [&[_]; 3] =
            [&[Some("eu"), Some("1")], &[Some("eu"), None], &[Some("true"), Some("1.5")]];
        let meter = divided(metric_id(1), &["region", "size"], &own);
        let in_order: Vec<_> = own.iter().map(|of| values(of)).collect();
        let cells = meter.cells(&Values::new(), in_order.iter().map(Vec::as_slice));
        let check = |region: PropertyValue, size: PropertyValue, expect: usize| {
            let found = cell(&meter, &[("region", region), ("size", size)]);
            assert_eq!(found, Some(cells[expect]));
        };
        let number = |text| PropertyValue::Number(Decimal::parse(text).unwrap());
        check("eu".into(), "1".into(), 0);
        check("eu".into(), number("1.0"), 0);
        check("eu".into(), PropertyValue::Null, 1);
        check(true.into(), number("1.50"), 2);
        check("eu".into(), "2".into(), 3);
        check("EU".into(), "1".into(), 3);
        check(PropertyValue::Null, PropertyValue::Null, 3);
    }

    #[test]
    fn each_group_has_cells_of_its_own_and_what_is_filtered_out_has_none() {
        let cells = Cells::new(names(&["region"]), [values(&[Some("eu")])]);
        let filter = Expression::parse("user <> 'test'").unwrap();
        let meter = Meter::new(metric_id(1), Some(filter), names(&["user", "team"]), cells, 1);
        assert!(meter.has_groups());
        let found = |user: &str, region: &str| {
            cell(&meter, &[("user", user.into()), ("region", region.into())])
        };
        let [eu, others] = meter.all_cells(&values(&[Some("ada"), None])).try_into().unwrap();
        assert_eq!((found("ada", "eu"), found("ada", "us")), (Some(eu), Some(others)));
        assert_ne!(found("bob", "eu"), Some(eu));
        assert_eq!(found("test", "eu"), None);
    }
}
