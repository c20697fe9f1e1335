//! Lists in pages: newest first, but for the messages that wait.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{AccountId, Error, Timestamp, hex, limits};

/// Request for a page of a list: the most rows, and the place where it begins.
///
/// ```
/// use accrue::PageRequest;
///
/// assert_eq!(PageRequest::default().limit(), 20);
/// assert!(PageRequest::first(101).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    limit: usize,
    cursor: Option<Cursor>,
}

impl PageRequest {
    /// Requests the first page, of at most `limit` rows.
    ///
    /// # Errors
    ///
    /// If the limit is not within 1 to 100 (§4.1).
    pub fn first(limit: usize) -> Result<Self, Error> {
        Self::first_within(limit, limits::PAGE_ROWS)
    }

    /// Requests the first page of a ledger, of at most `limit` entries. Other lists refuse more than 100.
    ///
    /// # Errors
    ///
    /// If the limit is not within 1 to 1,000 (wire 6.2).
    pub fn first_of_ledger(limit: usize) -> Result<Self, Error> {
        Self::first_within(limit, limits::LEDGER_PAGE_ROWS)
    }

    /// Requests the first page of the messages that wait, of at most `limit` of them.
    ///
    /// # Errors
    ///
    /// If the limit is not within 1 to 1,000.
    pub fn first_of_messages(limit: usize) -> Result<Self, Error> {
        Self::first_within(limit, limits::MESSAGE_PAGE_ROWS)
    }

    fn first_within(limit: usize, most: usize) -> Result<Self, Error> {
        if (1..=most).contains(&limit) {
            return Ok(Self { limit, cursor: None });
        }
        let message = format!("found {limit}, expected 1 to {most}");
        Err(Error::invalid("limit", message))
    }

    /// Requests the page of the same size that follows the one which gave `cursor`.
    #[must_use]
    pub fn after(self, cursor: Cursor) -> Self {
        Self { cursor: Some(cursor), ..self }
    }

    /// Returns the most rows of the page, for a list with short pages: an error where that is more than
    /// those have (§4.1).
    pub(crate) fn rows(&self) -> Result<usize, Error> {
        Self::first(self.limit).map(|page| page.limit)
    }

    /// Returns the most rows of the page.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { limit: limits::PAGE_DEFAULT_ROWS, cursor: None }
    }
}

/// Page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<T> {
    /// Rows, newest first; messages in the order in which they wait.
    pub data: Vec<T>,
    /// Cursor of the next page; `None` exactly when this is the last.
    pub next_cursor: Option<Cursor>,
}

impl<T> Page<T> {
    /// Tells whether there is another page.
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.next_cursor.is_some()
    }
}

impl<T> Default for Page<T> {
    /// Returns a list without rows.
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Page<T> {
    /// Returns a list of one page.
    fn from(data: Vec<T>) -> Self {
        Self { data, next_cursor: None }
    }
}

/// Cursor: the place where a page begins. It is opaque, and good for the list, account and filter that
/// gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    /// Takes a cursor back from a caller; the list that it is used with judges it.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Range of instants that a list is filtered by, such as those at which its rows were created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantRange {
    from: Timestamp,
    until: Timestamp,
}

impl Default for InstantRange {
    /// Returns the range of all instants.
    fn default() -> Self {
        Self { from: Timestamp::MIN, until: Timestamp::MAX }
    }
}

impl InstantRange {
    /// Restricts the range to `instant` or later.
    #[must_use]
    pub fn at_or_after(self, instant: Timestamp) -> Self {
        Self { from: self.from.max(instant), ..self }
    }

    /// Restricts the range to before `instant`.
    #[must_use]
    pub fn before(self, instant: Timestamp) -> Self {
        Self { until: self.until.min(instant), ..self }
    }

    /// Restricts the range to later than `instant`.
    #[must_use]
    pub fn after(self, instant: Timestamp) -> Self {
        self.at_or_after(instant.saturating_add(std::time::Duration::from_micros(1)))
    }

    /// Restricts the range to `instant` or earlier.
    #[must_use]
    pub fn at_or_before(self, instant: Timestamp) -> Self {
        self.before(instant.saturating_add(std::time::Duration::from_micros(1)))
    }

    pub(crate) fn contains(self, instant: Timestamp) -> bool {
        self.from <= instant && instant < self.until
    }

    pub(crate) const fn from(self) -> Timestamp {
        self.from
    }

    pub(crate) const fn until(self) -> Timestamp {
        self.until
    }
}

/// Filter of a list: rows created within a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Range of the instants at which they were created.
    pub created: InstantRange,
}

/// Scope of a cursor: a list, an account and a filter.
pub(crate) struct Listing<'a> {
    pub(crate) name: &'static str,
    pub(crate) account: &'a AccountId,
    pub(crate) filter: String,
}

/// Position of a row in a list: (created at, id).
pub(crate) type Position = [u8; 24];

const VERSION: u8 = 1;

impl Listing<'_> {
    pub(crate) fn cursor(&self, position: &Position) -> Cursor {
        let bytes = [&[VERSION], position.as_slice(), &self.checksum(position)].concat();
        Cursor(hex::encode(&bytes))
    }

    /// Reads the position where a page begins. Any bad cursor is the same error.
    pub(crate) fn position(&self, page: &PageRequest) -> Result<Option<Position>, Error> {
        let Some(Cursor(text)) = &page.cursor else { return Ok(None) };
        let bad = || Error::invalid("cursor", "not a cursor of this list");
        let bytes = hex::decode(text).ok_or_else(bad)?;
        let (version, rest) = bytes.split_first().ok_or_else(bad)?;
        let (position, checksum) = rest.split_first_chunk::<24>().ok_or_else(bad)?;
        if *version == VERSION && *checksum == self.checksum(position) {
            Ok(Some(*position))
        } else {
            Err(bad())
        }
    }

    fn checksum(&self, position: &Position) -> [u8; 8] {
        let mut hasher = Sha256::new();
        for part in [self.name, self.account, &self.filter] {
            hasher.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hasher.update(part);
        }
        hasher.update(position);
        let digest: [u8; 32] = hasher.finalize().into();
        digest.first_chunk::<8>().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_to_a_caller_and_back_as_text() {
        let cursor = Cursor::from_text("text");
        assert_eq!((cursor.as_str(), cursor.to_string().as_str()), ("text", "text"));
    }

    #[test]
    fn a_cursor_is_good_for_its_list_account_and_filter_only() {
        let (one, other) = (AccountId::parse("one").unwrap(), AccountId::parse("other").unwrap());
        let list = |name, account, filter: &str| Listing { name, account, filter: filter.into() };
        let cursor = list("items", &one, "f").cursor(&[7; 24]);
        let check = |listing: Listing<'_>, cursor: Cursor, expect: bool| {
            let page = PageRequest::default().after(cursor);
            assert_eq!(listing.position(&page).is_ok(), expect);
        };
        check(list("items", &one, "f"), cursor.clone(), true);
        check(list("metrics", &one, "f"), cursor.clone(), false);
        check(list("items", &other, "f"), cursor.clone(), false);
        check(list("items", &one, "g"), cursor.clone(), false);
        for bad in ["", "zz", "0", "01", "é", &cursor.0.to_uppercase(), &cursor.0[2..]] {
            check(list("items", &one, "f"), Cursor::from_text(bad), false);
        }
    }
}
