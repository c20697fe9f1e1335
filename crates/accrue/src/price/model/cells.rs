//! Cells that models divide usage into.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Error, PropertyName, limits, meter::Values};

/// Cells that a model divides usage into: it rates a figure of each, in order, then one of all that is in none
/// of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredCells {
    /// Properties whose values decide on the cell.
    pub(crate) dimensions: Vec<PropertyName>,
    /// Values of each cell, in the order of the model.
    pub(crate) values: Vec<Values>,
    /// True where the figure of all events together is rated too: behind the others, and not their sum for
    /// every metric.
    pub(crate) has_whole: bool,
}

impl DeclaredCells {
    /// Creates cells by the values of some properties.
    pub(super) fn new(
        dimensions: impl IntoIterator<Item = PropertyName>,
        values: impl IntoIterator<Item = Values>,
    ) -> Self {
        let dimensions = dimensions.into_iter().collect();
        Self { dimensions, values: values.into_iter().collect(), has_whole: false }
    }

    /// Returns the number of figures.
    pub(crate) const fn count(&self) -> usize {
        let whole = if self.has_whole { 2 } else { 1 };
        self.values.len().saturating_add(whole)
    }

    /// Returns the values of each cell, in order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[Option<String>]> {
        self.values.iter().map(Vec::as_slice)
    }

    /// Refuses too many properties or one twice, and too many cells or one twice: `at` is the list of the
    /// configuration that declares them, of which each row is a cell.
    pub(super) fn check(&self, dimensions: &str, at: &str) -> Result<(), Error> {
        self.check_dimensions(dimensions)?;
        self.check_sizes(at)?;
        let mut seen = BTreeMap::new();
        for (place, values) in self.values.iter().enumerate() {
            if let Some(first) = seen.insert(values, place) {
                let message = format!("found the values of row {first} again");
                return Err(Error::invalid(format!("{at}[{place}]"), message));
            }
        }
        Ok(())
    }

    /// Refuses too many properties, or one twice.
    pub(super) fn check_dimensions(&self, at: &str) -> Result<(), Error> {
        let (found, most) = (self.dimensions.len(), limits::DIMENSIONS);
        if found == 0 || found > most {
            return Err(Error::invalid(at, format!("found {found}, expected 1 to {most}")));
        }
        let mut seen = BTreeSet::new();
        match self.dimensions.iter().find(|name| !seen.insert(*name)) {
            Some(twice) => Err(Error::invalid(at, format!("found {twice} twice"))),
            None => Ok(()),
        }
    }

    /// Refuses no cells and too many, and values that are too long.
    pub(super) fn check_sizes(&self, at: &str) -> Result<(), Error> {
        let (found, most) = (self.values.len(), limits::MATRIX_CELLS);
        if found == 0 || found > most {
            return Err(Error::invalid(at, format!("found {found} cells, expected 1 to {most}")));
        }
        let sizes = || self.values.iter().flatten().flatten().map(String::len);
        let (bytes, most) = (sizes().max().unwrap_or(0), limits::DIMENSION_VALUE_BYTES);
        if bytes > most {
            let message = format!("found a value of {bytes} bytes, expected at most {most}");
            return Err(Error::invalid(at, message));
        }
        let (bytes, most) = (sizes().sum::<usize>(), limits::MATRIX_VALUE_BYTES);
        if bytes > most {
            let message = format!("found {bytes} bytes of values, expected at most {most}");
            return Err(Error::invalid(at, message));
        }
        Ok(())
    }
}

/// Values of one or two properties, where the second may be none at all.
pub(super) fn pair(has_second: bool, first: &str, second: Option<&String>) -> Values {
    let second = has_second.then(|| second.cloned());
    [Some(first.to_owned())].into_iter().chain(second).collect()
}

/// Refuses a value of a second property where there is none.
pub(super) fn check_pair(
    has_second: bool,
    second: Option<&String>,
    at: String,
) -> Result<(), Error> {
    match second {
        Some(value) if !has_second => {
            Err(Error::invalid(at, format!("found {value:?}, and there is no second dimension")))
        }
        _ => Ok(()),
    }
}
