//! Lists in pages: newest first, but for the messages that wait.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::{AccountId, Error, Timestamp, hex, limits};

/// Which page of a list: how many rows, from where.
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
    /// The first page, of at most `limit` rows.
    ///
    /// # Errors
    ///
    /// If the limit is not within 1 to 100 (§4.1).
    pub fn first(limit: usize) -> Result<Self, Error> {
        Self::first_within(limit, limits::PAGE_ROWS)
    }

    /// The first page of a ledger, of at most `limit` entries. Other lists refuse more than 100.
    ///
    /// # Errors
    ///
    /// If the limit is not within 1 to 1,000 (wire 6.2).
    pub fn first_of_ledger(limit: usize) -> Result<Self, Error> {
        Self::first_within(limit, limits::LEDGER_PAGE_ROWS)
    }

    /// The first page of the messages that wait, of at most `limit` of them.
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

    /// The page of the same size that follows the one which gave `cursor`.
    #[must_use]
    pub fn after(self, cursor: Cursor) -> Self {
        Self { cursor: Some(cursor), ..self }
    }

    /// Returns how many rows a page has at most of a list whose pages are short: no more than those
    /// have (§4.1).
    pub(crate) fn rows(&self) -> Result<usize, Error> {
        Self::first(self.limit).map(|page| page.limit)
    }

    /// Returns how many rows the page has at most.
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

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The rows, newest first; messages in the order in which they wait.
    pub data: Vec<T>,
    /// Where the next page begins; `None` exactly when this is the last.
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
    /// A list without rows.
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Page<T> {
    /// A list of one page.
    fn from(data: Vec<T>) -> Self {
        Self { data, next_cursor: None }
    }
}

/// Where a page begins: opaque, good for the list, account and filter that gave it.
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

/// A range of instants that a list is filtered by, such as when its rows were created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantRange {
    from: Timestamp,
    until: Timestamp,
}

impl Default for InstantRange {
    /// At any time.
    fn default() -> Self {
        Self { from: Timestamp::MIN, until: Timestamp::MAX }
    }
}

impl InstantRange {
    /// At `instant` or later.
    #[must_use]
    pub fn at_or_after(self, instant: Timestamp) -> Self {
        Self { from: self.from.max(instant), ..self }
    }

    /// Before `instant`.
    #[must_use]
    pub fn before(self, instant: Timestamp) -> Self {
        Self { until: self.until.min(instant), ..self }
    }

    /// Later than `instant`.
    #[must_use]
    pub fn after(self, instant: Timestamp) -> Self {
        self.at_or_after(instant.saturating_add(std::time::Duration::from_micros(1)))
    }

    /// At `instant` or earlier.
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

/// Which rows of a list: those created within a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// When they were created.
    pub created: InstantRange,
}

/// A list, an account and a filter: what a cursor is good for.
pub(crate) struct Listing<'a> {
    pub(crate) name: &'static str,
    pub(crate) account: &'a AccountId,
    pub(crate) filter: String,
}

/// Where a row stands in a list: (created at, id).
pub(crate) type Position = [u8; 24];

const VERSION: u8 = 1;

impl Listing<'_> {
    pub(crate) fn cursor(&self, position: &Position) -> Cursor {
        let bytes = [&[VERSION], position.as_slice(), &self.checksum(position)].concat();
        Cursor(hex::encode(&bytes))
    }

    /// Reads where a page begins. Any bad cursor is the same error.
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
