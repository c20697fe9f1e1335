use std::{fs, path::Path};

use accrue::{Timeframe, Timestamp};
use csv::{ReaderBuilder, StringRecord, Trim};

use super::{Row, Trace, TraceError, error::Problem};

const TIMESTAMP: &str = "TIMESTAMP";
const CONTEXT_TOKENS: &str = "ContextTokens";
const GENERATED_TOKENS: &str = "GeneratedTokens";

/// The longest piece of a file that an error shows, in characters.
const SHOWN_CHARACTERS: usize = 60;

/// Reads a whole trace.
pub(super) fn read(path: &Path) -> Result<Trace, TraceError> {
    let bytes =
        fs::read(path).map_err(|source| TraceError::Io { path: path.to_owned(), source })?;
    let line = |position: Option<&csv::Position>| line(&bytes, position);
    let at_line = |line, problem| TraceError::Line { path: path.to_owned(), line, problem };
    let broken = |error: csv::Error| broken(path, error, line);
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(bytes.as_slice());
    let header = reader.headers().map_err(broken)?.clone();
    if header.is_empty() {
        return Err(TraceError::Empty { path: path.to_owned() });
    }
    let columns = Columns::find(&header).map_err(|problem| at_line(1, problem))?;
    let mut rows: Vec<Row> = Vec::new();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(broken)? {
        let number = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        let row = columns.row(number, &record, rows.last());
        rows.push(row.map_err(|problem| at_line(line(record.position()), problem))?);
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Trace::new(name, rows).ok_or_else(|| TraceError::Empty { path: path.to_owned() })
}

impl Trace {
    /// Takes rows in order of time; none where there are no rows.
    pub(super) fn new(name: String, rows: Vec<Row>) -> Option<Self> {
        let (first, last) = (rows.first()?.at, rows.last()?.at);
        let end = last.saturating_add(std::time::Duration::from_micros(1));
        let timeframe = Timeframe::new(first, end).ok()?;
        Some(Self { name, rows, timeframe })
    }
}

/// Where the columns stand in the file.
struct Columns {
    timestamp: usize,
    context_tokens: usize,
    generated_tokens: usize,
}

impl Columns {
    fn find(header: &StringRecord) -> Result<Self, Problem> {
        let place = |column: &'static str| {
            let found = header.iter().position(|name| name == column);
            found.ok_or_else(|| {
                let header: Vec<_> = header.iter().collect();
                Problem::Header { found: shown(&header.join(",")), column }
            })
        };
        Ok(Self {
            timestamp: place(TIMESTAMP)?,
            context_tokens: place(CONTEXT_TOKENS)?,
            generated_tokens: place(GENERATED_TOKENS)?,
        })
    }

    fn row(
        &self,
        number: u64,
        record: &StringRecord,
        before: Option<&Row>,
    ) -> Result<Row, Problem> {
        let field = |place| record.get(place).unwrap_or_default();
        let at = instant(field(self.timestamp))?;
        if let Some(before) = before.filter(|before| at < before.at) {
            let found = shown(field(self.timestamp));
            return Err(Problem::Order { column: TIMESTAMP, found, before: before.at });
        }
        Ok(Row {
            number,
            at,
            input_tokens: tokens(CONTEXT_TOKENS, field(self.context_tokens))?,
            output_tokens: tokens(GENERATED_TOKENS, field(self.generated_tokens))?,
        })
    }
}

fn instant(field: &str) -> Result<Timestamp, Problem> {
    Timestamp::parse(field).map_err(|_| Problem::Field {
        column: TIMESTAMP,
        found: shown(field),
        expected: "a date and time like 2023-11-16 18:15:46.6805900",
    })
}

fn tokens(column: &'static str, field: &str) -> Result<u64, Problem> {
    field.parse().map_err(|_| Problem::Field {
        column,
        found: shown(field),
        expected: "a whole number from 0",
    })
}

fn broken(
    path: &Path,
    error: csv::Error,
    line: impl Fn(Option<&csv::Position>) -> u64,
) -> TraceError {
    let path = path.to_owned();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => TraceError::Io { path, source },
        csv::ErrorKind::UnequalLengths { pos, expected_len: expected, len: found } => {
            let problem = Problem::Fields { found, expected };
            TraceError::Line { path, line: line(pos.as_ref()), problem }
        }
        csv::ErrorKind::Utf8 { pos, .. } => {
            TraceError::Line { path, line: line(pos.as_ref()), problem: Problem::Text }
        }
        other => TraceError::Io { path, source: std::io::Error::other(format!("{other:?}")) },
    }
}

/// Returns the line of a record. The reader's own count is one short where lines end with CR LF,
/// since the record begins for it with the LF of the line before.
fn line(bytes: &[u8], position: Option<&csv::Position>) -> u64 {
    let byte = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(0);
    let (before, record) = bytes.split_at_checked(byte).unwrap_or((bytes, &[]));
    let blank = record.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let ends = before.iter().chain(blank).filter(|byte| **byte == b'\n').count();
    u64::try_from(ends).unwrap_or(u64::MAX).saturating_add(1)
}

/// The beginning of a text that may be of any length.
fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let beginning: String = characters.by_ref().take(SHOWN_CHARACTERS).collect();
    if characters.next().is_some() { beginning + "…" } else { beginning }
}
