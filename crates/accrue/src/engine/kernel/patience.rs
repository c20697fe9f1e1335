//! How much of a correction a request does before it is told to come again.

use crate::{Error, limits};

/// The work that somebody does for corrections that come first, before it gives up waiting for them.
pub(in crate::engine) struct Patience {
    /// None where it waits to their end.
    left: Option<usize>,
}

impl Patience {
    /// The least that a step counts: each is a commit.
    const STEP: usize = 10_000;

    /// That of a request: what has been done of a correction stays done, and it can be sent again.
    pub(in crate::engine) const fn of_request() -> Self {
        Self { left: Some(limits::CORRECTION_WORK) }
    }

    /// That of whoever is there to correct.
    pub(in crate::engine) const fn endless() -> Self {
        Self { left: None }
    }

    /// Takes the work of a step off, and makes sure that there is some left for another.
    pub(in crate::engine) fn take(&mut self, work: usize) -> Result<(), Error> {
        let Some(left) = &mut self.left else { return Ok(()) };
        *left = left.saturating_sub(work.max(Self::STEP));
        if *left == 0 { Err(Error::correction_under_way()) } else { Ok(()) }
    }
}
