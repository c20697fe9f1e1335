//! Bound of the comparisons that a read makes event by event
//! (`docs/decisions/work-of-a-request.md`).

use crate::{Error, limits, usage::Meters};

/// The comparisons of a figure that is added up event by event: bounded, whatever is filtered by.
pub(in crate::engine) struct Comparisons {
    each: usize,
    made: usize,
}

impl Comparisons {
    /// Those of events that are held against some meters, one set after the other.
    pub(in crate::engine) fn of<'a>(meters: impl IntoIterator<Item = &'a Meters>) -> Self {
        let each = meters.into_iter().map(Meters::terms).fold(0, usize::saturating_add);
        Self { each, made: 0 }
    }

    /// Counts those of one event more.
    pub(in crate::engine) fn add_event(&mut self) -> Result<(), Error> {
        self.made = self.made.saturating_add(self.each);
        let (each, most) = (self.each, limits::READ_TERMS);
        if self.made <= most {
            return Ok(());
        }
        Err(Error::too_many(format!(
            "adding up the events one by one would take more than {most} comparisons, at {each} for each \
             event: a shorter timeframe or a shorter filter helps"
        )))
    }
}
