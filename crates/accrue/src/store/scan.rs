use std::{ops::Bound, sync::Arc};

use super::Table;

/// Range of keys of one table, half open, with the most rows of it to return.
///
/// ```
/// use accrue::store::{Scan, Table};
///
/// let scan = Scan::prefix(Table::new("event"), b"acme\x00", 100).descending();
/// assert_eq!(scan.until.as_deref(), Some(&b"acme\x01"[..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Table that is scanned.
    pub table: Table,
    /// First key of the range.
    pub from: Arc<[u8]>,
    /// First key after the range; `None` where it ends with the table.
    pub until: Option<Arc<[u8]>>,
    /// Order of the rows, by their keys.
    pub order: Order,
    /// Most rows to return.
    pub limit: usize,
}

/// Ends of a range of keys, as ordered maps take them.
pub type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Smallest key first.
    Ascending,
    /// Greatest key first.
    Descending,
}

impl Scan {
    /// Scans the keys from `from` up to, not including, `until`, smallest first.
    #[must_use]
    pub fn range(table: Table, from: &[u8], until: &[u8], limit: usize) -> Self {
        let (from, until) = (from.into(), Some(until.into()));
        Self { table, from, until, order: Order::Ascending, limit }
    }

    /// Scans the keys that begin with `prefix`, smallest first.
    #[must_use]
    pub fn prefix(table: Table, prefix: &[u8], limit: usize) -> Self {
        let (from, until) = (prefix.into(), successor(prefix));
        Self { table, from, until, order: Order::Ascending, limit }
    }

    /// Returns the same range, greatest key first.
    #[must_use]
    pub fn descending(self) -> Self {
        Self { order: Order::Descending, ..self }
    }

    /// Returns the same range, without the keys up to and including `key` (in the order of the scan).
    #[must_use]
    pub fn after(self, key: &[u8]) -> Self {
        match self.order {
            Order::Ascending => {
                let next: Arc<[u8]> = key.iter().copied().chain([0]).collect();
                Self { from: self.from.max(next), ..self }
            }
            Order::Descending => {
                let key: Arc<[u8]> = key.into();
                let until = self.until.map_or(Arc::clone(&key), |until| until.min(key));
                Self { until: Some(until), ..self }
            }
        }
    }

    /// Tells whether a key lies in the range.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.from <= *key && self.until.as_deref().is_none_or(|until| key < until)
    }

    /// Returns the range as bounds, or nothing where it is empty: ordered maps panic on inverted ranges.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds<'_>> {
        match self.until.as_deref() {
            Some(until) if *self.from >= *until => None,
            Some(until) => Some((Bound::Included(&self.from), Bound::Excluded(until))),
            None => Some((Bound::Included(&self.from), Bound::Unbounded)),
        }
    }
}

/// Returns the smallest key that is greater than every key with this prefix.
fn successor(prefix: &[u8]) -> Option<Arc<[u8]>> {
    let kept = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let (head, _) = prefix.split_at_checked(kept.checked_add(1)?)?;
    let mut bytes = head.to_vec();
    let last = bytes.last_mut()?;
    *last = last.checked_add(1)?;
    Some(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_passes_over_trailing_ff() {
        let check = |prefix: &[u8], until: Option<&[u8]>| {
            assert_eq!(Scan::prefix(Table::new("t"), prefix, 1).until.as_deref(), until);
        };
        check(b"", None);
        check(b"a", Some(b"b"));
        check(b"a\xFF\xFF", Some(b"b"));
        check(b"\xFF\xFF", None);
        check(b"\x00", Some(b"\x01"));
    }

    #[test]
    fn after_never_widens_the_range() {
        let scan = Scan::range(Table::new("t"), b"d", b"m", 1);
        assert_eq!(&*scan.clone().after(b"a").from, b"d");
        assert_eq!(&*scan.clone().after(b"e").from, b"e\x00");
        assert_eq!(scan.clone().descending().after(b"z").until.as_deref(), Some(&b"m"[..]));
        assert_eq!(scan.descending().after(b"e").until.as_deref(), Some(&b"e"[..]));
    }
}
