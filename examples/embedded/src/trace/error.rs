use std::path::PathBuf;

/// Why a file is no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The operating system failed.
    #[error("trace {} cannot be read", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing to replay.
    #[error("trace {} has no rows, expected a header and at least one row", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what it should be.
    #[error("trace {}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1, the header's.
        line: u64,
        /// What is wrong.
        problem: Problem,
    },
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A column is missing.
    #[error("found the header {found:?}, expected a column {column}")]
    Header {
        /// The header.
        found: String,
        /// The column.
        column: &'static str,
    },
    /// The row has more or fewer fields than the header.
    #[error("found {found} fields, expected {expected} as in the header")]
    Fields {
        /// How many it has.
        found: u64,
        /// How many it should have.
        expected: u64,
    },
    /// A field does not parse.
    #[error("column {column}: found {found:?}, expected {expected}")]
    Field {
        /// Its column.
        column: &'static str,
        /// The field.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The row is earlier than the one before it.
    #[error("column {column}: found {found:?}, expected {before} or later, as in the row before")]
    Order {
        /// The column.
        column: &'static str,
        /// The field.
        found: String,
        /// The instant of the row before.
        before: accrue::Timestamp,
    },
    /// The line is not UTF-8.
    #[error("found bytes that are not UTF-8")]
    Text,
}
