use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    MetricId, PropertyName,
    expression::Fields,
    price::{Charge, Matrix, Model},
};

/// What amounts are added up under: a metric, or the part of it that lies in one cell of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum MeterId {
    Metric(MetricId),
    Cell(CellId),
}

impl MeterId {
    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        match self {
            Self::Metric(id) => id.as_bytes(),
            Self::Cell(id) => id.0.as_bytes(),
        }
    }
}

impl From<MetricId> for MeterId {
    fn from(id: MetricId) -> Self {
        Self::Metric(id)
    }
}

/// Identifies a cell of a split by what it consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CellId(Uuid);

/// Identifies a split by what it consists of, so that prices with the same cells share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SplitId(Uuid);

impl SplitId {
    pub(crate) const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

/// The values of the dimensions of a cell; `None` where the property is missing.
type CellValues = Vec<Option<String>>;

/// A metric split into the cells of a matrix, and all that lies in none of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Split {
    pub(crate) id: SplitId,
    pub(crate) metric_id: MetricId,
    dimensions: Vec<PropertyName>,
    /// In order.
    cells: Vec<CellValues>,
    /// The revision of the account's metrics that it came with.
    pub(crate) since: u64,
}

impl Split {
    /// The split that a price needs which rates a matrix, as of a revision of the metrics.
    pub(crate) fn of_price(charge: &Charge, since: u64) -> Option<Self> {
        match charge {
            Charge::Usage { metric_id, model: Model::Matrix(matrix) } => {
                Some(Self::of(*metric_id, matrix, since))
            }
            _ => None,
        }
    }

    /// The split of a metric into the cells of a matrix, as of a revision of the metrics.
    pub(crate) fn of(metric_id: MetricId, matrix: &Matrix, since: u64) -> Self {
        let values = matrix.matrix_values.iter().map(|cell| cell.dimension_values.clone());
        let mut cells: Vec<_> = values.collect();
        cells.sort();
        let dimensions = matrix.dimensions.clone();
        let names = dimensions.iter().map(|name| Some(name.as_str()));
        let values = cells.iter().flatten().map(Option::as_deref);
        let id = SplitId(id_of(metric_id.as_bytes(), names.chain(values)));
        Self { id, metric_id, dimensions, cells, since }
    }

    /// Returns what the events of a cell are added up under.
    fn cell(&self, values: &[Option<String>]) -> MeterId {
        MeterId::Cell(CellId(id_of(self.id.as_bytes(), values.iter().map(Option::as_deref))))
    }

    /// Returns what the events that lie in no cell are added up under.
    fn default_cell(&self) -> MeterId {
        MeterId::Cell(CellId(id_of(self.id.as_bytes(), [])))
    }

    /// Returns what the cells of a matrix are added up under, in its order, the default cell last.
    pub(crate) fn meters_of(&self, matrix: &Matrix) -> Vec<MeterId> {
        let cells = matrix.matrix_values.iter().map(|cell| self.cell(&cell.dimension_values));
        cells.chain([self.default_cell()]).collect()
    }

    /// Returns everything that is added up for it.
    pub(super) fn meters(&self) -> impl Iterator<Item = MeterId> {
        let cells = self.cells.iter().map(|values| self.cell(values));
        cells.chain([self.default_cell()])
    }

    /// Returns how many comparisons finding the cell of an event is worth: its name is a hash.
    pub(super) fn terms(&self) -> usize {
        const HASH: usize = 8;
        self.dimensions.len().saturating_add(HASH)
    }

    /// Returns the cell that an event lies in.
    pub(super) fn meter_of(&self, fields: &Fields<'_>) -> MeterId {
        let values: CellValues = self.dimensions.iter().map(|name| fields.text(name)).collect();
        match self.cells.binary_search(&values) {
            Ok(_) => self.cell(&values),
            Err(_) => self.default_cell(),
        }
    }
}

/// Returns the first half of a SHA-256 over some parts, each led by whether it is there and how
/// long it is. Rows are stored by it, so it never changes.
fn id_of<'a>(of: &[u8; 16], parts: impl IntoIterator<Item = Option<&'a str>>) -> Uuid {
    let mut hash = Sha256::new_with_prefix(of);
    for part in parts {
        let length = part.map_or(u64::MAX, |part| u64::try_from(part.len()).unwrap_or(u64::MAX));
        hash.update(length.to_be_bytes());
        hash.update(part.unwrap_or_default());
    }
    let digest: [u8; 32] = hash.finalize().into();
    Uuid::from_bytes(digest.first_chunk::<16>().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Decimal, EventName, SeededEntropy, Timestamp,
        price::MatrixCell,
        usage::{Properties, PropertyValue},
    };

    fn matrix(cells: &[&[Option<&str>]]) -> Matrix {
        let cell = |values: &&[Option<&str>]| MatrixCell {
            dimension_values: values.iter().map(|value| value.map(str::to_owned)).collect(),
            unit_amount: Decimal::from(1),
        };
        Matrix {
            dimensions: ["region", "size"].map(|name| PropertyName::parse(name).unwrap()).into(),
            default_unit_amount: Decimal::zero(),
            matrix_values: cells.iter().map(cell).collect(),
        }
    }

    fn metric_id(seed: u64) -> MetricId {
        MetricId::generate(Timestamp::MIN, &SeededEntropy::new(seed))
    }

    #[test]
    fn the_same_cells_in_any_order_are_one_split() {
        let (eu, us): (&[_], &[_]) = (&[Some("eu"), Some("1")], &[Some("us"), None]);
        let split = |seed, cells: &[&[Option<&str>]]| Split::of(metric_id(seed), &matrix(cells), 1);
        assert_eq!(split(1, &[eu, us]), split(1, &[us, eu]));
        assert_ne!(split(1, &[eu, us]).id, split(2, &[eu, us]).id);
        assert_ne!(split(1, &[eu, us]).id, split(1, &[eu]).id);
        assert_ne!(
            split(1, &[&[Some("a"), Some("bc")]]).id,
            split(1, &[&[Some("ab"), Some("c")]]).id
        );
        assert_ne!(split(1, &[&[Some(""), None]]).id, split(1, &[&[None, Some("")]]).id);
    }

    #[test]
    fn an_event_lies_in_the_cell_whose_values_it_has() {
        let matrix =
            matrix(&[&[Some("eu"), Some("1")], &[Some("eu"), None], &[Some("true"), Some("1.5")]]);
        let split = Split::of(metric_id(1), &matrix, 1);
        let meters = split.meters_of(&matrix);
        let check = |region: PropertyValue, size: PropertyValue, expect: usize| {
            let names = ["region", "size"].map(|name| PropertyName::parse(name).unwrap());
            let properties: Properties = names.into_iter().zip([region, size]).collect();
            let name = EventName::parse("completion").unwrap();
            let fields = Fields::new(&name, Timestamp::MIN, &properties);
            assert_eq!(split.meter_of(&fields), meters[expect], "{properties:?}");
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
}
