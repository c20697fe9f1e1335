//! What a power cut leaves of a folder: what was flushed, and of the rest nothing or a part.
//!
//! The worker notes each change of the folder before it makes it, and each flush once it is done.
//! After the worker was killed, [`cut`] takes back what no flush had covered.
//!
//! - What is written to a file is durable once `fsync` or `fdatasync` of that file, begun later, has
//!   succeeded. `sync_file_range` makes nothing durable.
//! - A name that was made, moved or removed is durable once its folder is flushed; a move between two
//!   folders once that of the new name is. Flushing a file does not make its name durable: POSIX promises
//!   no more, although most file systems do it.

mod notes;
mod restore;

use std::{fs, io, path::Path};

pub use self::notes::{Change, Note, name_of_kept};
use crate::dice::Dice;

/// The notes of a worker, in the folder of its notes.
pub const NOTES: &str = "notes";
/// Where it keeps what is removed, beside them.
pub const KEPT: &str = "kept";

/// What becomes of changes that no flush covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncovered {
    /// They are lost.
    Lost,
    /// The first few are there: all that is noted after some moment is lost.
    Begun,
    /// Each page of what was written is there or not, in any order. Names are as in `Begun`, as file
    /// systems with a journal have it.
    Torn,
}

/// All of them.
pub const UNCOVERED: [Uncovered; 3] = [Uncovered::Lost, Uncovered::Begun, Uncovered::Torn];

/// How much a power cut took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Changes that a flush had covered.
    pub covered: usize,
    /// Changes that none had.
    pub uncovered: usize,
}

/// Takes back in `folder` what no flush covered, of the changes noted in `notes`.
///
/// # Errors
///
/// If a file cannot be read or written.
pub fn cut(folder: &Path, notes: &Path, uncovered: Uncovered, seed: u64) -> io::Result<Cut> {
    let notes_of = Note::read_all(&fs::read(notes.join(NOTES))?);
    let (covered, open) = notes::divide(notes_of);
    let cut = Cut { covered, uncovered: open.len() };
    restore::restore(folder, &notes.join(KEPT), &open, uncovered, &mut Dice::new(seed))?;
    Ok(cut)
}
