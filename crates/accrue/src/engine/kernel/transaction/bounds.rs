//! Bounds of a batch, before any store is called.

use crate::{Error, limits, store::Change};

/// Refuses a batch that no store needs to take, before it is called.
pub(super) fn check_bounds(preconditions: usize, changes: &[Change]) -> Result<(), Error> {
    let bytes = changes.iter().fold(0_usize, |bytes, change| bytes.saturating_add(change.bytes()));
    for (what, found, most) in [
        ("preconditions", preconditions, limits::COMMIT_PRECONDITIONS),
        ("changes", changes.len(), limits::COMMIT_CHANGES),
        ("bytes", bytes, limits::COMMIT_BYTES),
    ] {
        if found > most {
            return Err(Error::too_large(format!(
                "one commit would have {found} {what}, expected at most {most}: a split into \
                 smaller requests helps"
            )));
        }
    }
    Ok(())
}
