//! Patience of a request: the work that it does for a correction before it is told to come again.

use crate::{Error, limits};

/// Work to do for corrections that come first, before the wait for them is given up.
pub(in crate::engine) struct Patience {
    /// Work that is left; none where the wait is to their end.
    left: Option<usize>,
}

impl Patience {
    /// Least work that a step counts: each is a commit.
    const STEP: usize = 10_000;

    /// Returns that of a request: the finished steps of a correction stay, and the request can be sent
    /// again.
    pub(in crate::engine) const fn of_request() -> Self {
        Self { left: Some(limits::CORRECTION_WORK) }
    }

    /// Returns that of a caller whose work the corrections are.
    pub(in crate::engine) const fn endless() -> Self {
        Self { left: None }
    }

    /// Subtracts the work of a step, and makes sure that there is some left for another.
    pub(in crate::engine) fn take(&mut self, work: usize) -> Result<(), Error> {
        let Some(left) = &mut self.left else { return Ok(()) };
        *left = left.saturating_sub(work.max(Self::STEP));
        if *left == 0 { Err(Error::correction_under_way()) } else { Ok(()) }
    }
}
