use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::replace_file;

/// The marker of a store, in its folder.
const NAME: &str = "marker";
/// What stands before the ceiling.
const CEILING: &str = "ceiling ";

/// A file beside a database which says that there is one: of which store, and which [ceiling of
/// versions](crate::Group::ceiling) it had when it was last opened.
///
/// It is written when that is durable in the database. So where the database is missing or empty, or its
/// ceiling is lower, what was durable is lost, and a kill or a power cut is not how.
///
/// ```
/// use accrue_durable::Marker;
///
/// # let folder = tempfile::tempdir()?;
/// let mut marker = Marker::read(folder.path(), "example 1")?;
/// marker.check_new()?;
/// // A database is made, and is durable.
/// marker.note(7)?;
///
/// let marker = Marker::read(folder.path(), "example 1")?;
/// assert!(marker.check_new().is_err());
/// assert!(marker.check(6).is_err());
/// assert!(marker.check(7).is_ok());
/// assert!(Marker::read(folder.path(), "other 1").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Marker {
    path: PathBuf,
    format: &'static str,
    ceiling: Option<u64>,
}

/// Why a marker does not let a store be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MarkerError {
    /// The store is of another kind or format.
    #[error("it has format {found:?}, expected {expected:?}")]
    Format {
        /// The format of the store.
        found: String,
        /// That of the one who opens it.
        expected: &'static str,
    },
    /// The marker is not what was written.
    #[error("its marker is not what was written")]
    Unreadable,
    /// There was a database.
    #[error("its marker says that there was a database, which is missing or empty")]
    NoDatabase,
    /// Commits are gone.
    #[error(
        "it has lost commits: its marker knows the ceiling {noted} of versions, its database {found}"
    )]
    Behind {
        /// What the marker says.
        noted: u64,
        /// What the database says.
        found: u64,
    },
    /// The operating system failed.
    #[error("its marker cannot be read or written")]
    Io(#[source] io::Error),
}

impl Marker {
    /// Reads the marker of a folder, if it has one, for a store of this format.
    ///
    /// # Errors
    ///
    /// If it is of another store, or cannot be read.
    pub fn read(folder: &Path, format: &'static str) -> Result<Self, MarkerError> {
        let path = folder.join(NAME);
        let ceiling = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(MarkerError::Io(error)),
            Ok(bytes) => Some(parse(&bytes, format)?),
        };
        Ok(Self { path, format, ceiling })
    }

    /// Refuses where there was a database. For a folder that has none.
    ///
    /// # Errors
    ///
    /// [`MarkerError::NoDatabase`]
    pub fn check_new(&self) -> Result<(), MarkerError> {
        self.ceiling.map_or(Ok(()), |_| Err(MarkerError::NoDatabase))
    }

    /// Refuses a database that has a lower ceiling of versions than it had.
    ///
    /// # Errors
    ///
    /// [`MarkerError::Behind`]
    pub fn check(&self, found: u64) -> Result<(), MarkerError> {
        match self.ceiling {
            Some(noted) if found < noted => Err(MarkerError::Behind { noted, found }),
            _ => Ok(()),
        }
    }

    /// Notes that the database is there, with this ceiling of versions, and makes that durable.
    ///
    /// Both have to be durable in the database.
    ///
    /// # Errors
    ///
    /// [`MarkerError::Io`]
    pub fn note(&mut self, ceiling: u64) -> Result<(), MarkerError> {
        if self.ceiling != Some(ceiling) {
            let text = format!("{}\n{CEILING}{ceiling}\n", self.format);
            replace_file(&self.path, text.as_bytes()).map_err(MarkerError::Io)?;
            self.ceiling = Some(ceiling);
        }
        Ok(())
    }

    /// Tells whether a name in a folder is that of a marker, or of one that is not whole.
    #[must_use]
    pub fn is_named(name: &str) -> bool {
        name.strip_prefix(NAME).is_some_and(|rest| ["", ".new"].contains(&rest))
    }
}

/// Reads the ceiling in a marker.
fn parse(bytes: &[u8], expected: &'static str) -> Result<u64, MarkerError> {
    let text = std::str::from_utf8(bytes).map_err(|_| MarkerError::Unreadable)?;
    let (format, rest) = text.split_once('\n').ok_or(MarkerError::Unreadable)?;
    if format != expected {
        return Err(MarkerError::Format { found: format.to_owned(), expected });
    }
    let ceiling = rest.strip_prefix(CEILING).and_then(|rest| rest.strip_suffix('\n'));
    ceiling.and_then(|digits| digits.parse().ok()).ok_or(MarkerError::Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "example 1";

    fn check_read(bytes: &[u8], is_expected: impl Fn(MarkerError) -> bool) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), bytes).unwrap();
        let error = Marker::read(folder.path(), FORMAT).unwrap_err();
        assert!(is_expected(error), "{bytes:?}");
    }

    #[test]
    fn a_ceiling_is_noted_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for ceiling in [0, 1 << 20, u64::MAX] {
            let mut marker = Marker::read(folder.path(), FORMAT).unwrap();
            marker.check(ceiling).unwrap();
            marker.note(ceiling).unwrap();
            let text = fs::read_to_string(folder.path().join(NAME)).unwrap();
            assert_eq!(text, format!("example 1\nceiling {ceiling}\n"));
        }
    }

    #[test]
    fn a_marker_that_is_not_whole_is_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("marker.new"), "exam").unwrap();
        assert!(Marker::read(folder.path(), FORMAT).unwrap().check_new().is_ok());
        assert!(Marker::is_named("marker.new") && !Marker::is_named("markers"));
    }

    #[test]
    fn what_was_not_written_is_refused() {
        for bytes in [&b""[..], b"\xFF", b"example 1", b"example 1\n", b"example 1\nceiling 1"] {
            check_read(bytes, |error| matches!(error, MarkerError::Unreadable));
        }
        check_read(b"example 2\nceiling 1\n", |error| matches!(error, MarkerError::Format { .. }));
    }
}
