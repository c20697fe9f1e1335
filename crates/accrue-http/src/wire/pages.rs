//! Lists in pages (wire 6.2).

use std::{marker::PhantomData, str::FromStr};

use accrue::{Pace, Page};
use serde::{Serialize, Serializer, ser, ser::SerializeStruct as _};
use serde_json::value::RawValue;

use super::dates::{Date, created};
use crate::{
    json::Json,
    shape::{Describe, Object, Property, Read, Reader, Schema, Whole, request, response},
};

request! {
    /// The page of a list.
    pub(crate) struct ListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
    }

    /// The page of a list, and the instants of creation of its rows.
    pub(crate) struct CreatedListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Rows created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Rows created after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Rows created before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Rows created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }
}

created!(CreatedListQuery);

/// The number of rows that a page is asked to have. A number above the bound of the list is that bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(usize);

impl Limit {
    /// Returns the number of rows, where a list has so many at most.
    pub(crate) fn within(self, most: usize) -> usize {
        self.0.min(most)
    }
}

impl Read for Limit {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Json::String(text) = json else {
            return reader.unexpected(json, at, "a whole number");
        };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || text.bytes().all(|byte| byte == b'0') {
            return reader.wrong(at, "expected a whole number from 1");
        }
        // What is too large for a number is above every bound.
        Some(Self(text.parse().unwrap_or(usize::MAX)))
    }
}

impl Describe for Limit {
    fn schema() -> Schema {
        Schema::Integer { least: 1, most: i64::MAX }
    }
}

impl<const MOST: i64> From<Whole<1, MOST>> for Limit {
    fn from(limit: Whole<1, MOST>) -> Self {
        Self(limit.size())
    }
}

/// An id or a code that is looked for. Any text may be: one that is none is looked for in vain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought<T>(pub(crate) Option<T>);

impl<T: FromStr> Read for Sought<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        String::read(json, at, reader).map(|text| Self(text.parse().ok()))
    }
}

impl<T> Describe for Sought<T> {
    fn schema() -> Schema {
        String::schema()
    }
}

/// The most bytes of the rows of an answer: a row may have a hundred resources within it.
const PAGE_BYTES: usize = 16 * 1024 * 1024;

/// The work of making and writing a row, beside that of reading as many bytes.
const MADE: usize = 4;

/// A page of a list, each row as it was written: many rows that are large are not held at once.
///
/// A page beyond its bound cannot be written.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    data: Written<T>,
    pagination_metadata: PaginationMetadata,
}

/// A list that has no pages, written and bounded likewise.
#[derive(Clone, Debug)]
pub(crate) struct Listed<T> {
    data: Written<T>,
}

/// Rows as they were written; none where they have too many bytes.
#[derive(Clone, Debug)]
pub(crate) struct Written<T>(Option<Vec<Box<RawValue>>>, PhantomData<T>);

response! {
    /// The continuation of a list.
    pub(crate) struct PaginationMetadata {
        /// True if there is another page.
        has_more: bool,
        /// Cursor of the next page; null exactly when there is none.
        next_cursor: Option<String>,
    }
}

impl PaginationMetadata {
    /// There is no other page.
    pub(crate) const LAST: Self = Self { has_more: false, next_cursor: None };
}

impl<T: Serialize> Rows<T> {
    /// Writes a page, row by row, as far as its bound.
    pub(crate) async fn of<R>(page: Page<R>, pace: &Pace, row: impl FnMut(R) -> T) -> Self {
        let next_cursor = page.next_cursor.map(|cursor| cursor.to_string());
        let has_more = next_cursor.is_some();
        Self {
            data: Written::of(page.data, pace, row).await,
            pagination_metadata: PaginationMetadata { has_more, next_cursor },
        }
    }
}

impl<T: Serialize> Listed<T> {
    /// Writes a list, row by row, as far as its bound.
    pub(crate) async fn of<R>(data: Vec<R>, pace: &Pace, row: impl FnMut(R) -> T) -> Self {
        Self { data: Written::of(data, pace, row).await }
    }
}

impl<T: Serialize> Written<T> {
    /// Writes them one by one, as far as the bound.
    pub(crate) async fn of<R>(data: Vec<R>, pace: &Pace, mut row: impl FnMut(R) -> T) -> Self {
        let (mut left, mut rows) = (PAGE_BYTES, Vec::with_capacity(data.len()));
        for data in data {
            let text = serde_json::value::to_raw_value(&row(data)).ok();
            let bytes = text.as_ref().map_or(0, |text| text.get().len());
            let (Some(text), Some(rest)) = (text, left.checked_sub(bytes)) else {
                return Self(None, PhantomData);
            };
            rows.push(text);
            left = rest;
            pace.spend_bytes(bytes.saturating_mul(MADE)).await;
        }
        Self(Some(rows), PhantomData)
    }
}

impl<T> Serialize for Written<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(rows) => rows.serialize(serializer),
            None => Err(ser::Error::custom("too many bytes")),
        }
    }
}

impl<T> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut page = serializer.serialize_struct("Rows", 2)?;
        page.serialize_field("data", &self.data)?;
        page.serialize_field("pagination_metadata", &self.pagination_metadata)?;
        page.end()
    }
}

impl<T> Serialize for Listed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_struct("Listed", 1)?;
        list.serialize_field("data", &self.data)?;
        list.end()
    }
}

impl<T: Describe> Describe for Written<T> {
    fn schema() -> Schema {
        Vec::<T>::schema()
    }
}

impl<T: Describe> Describe for Rows<T> {
    fn schema() -> Schema {
        let metadata = PaginationMetadata::schema();
        list(vec![("data", Written::<T>::schema()), ("pagination_metadata", metadata)])
    }
}

impl<T: Describe> Describe for Listed<T> {
    fn schema() -> Schema {
        list(vec![("data", Written::<T>::schema())])
    }
}

/// Lists differ in their rows: the document does not name them.
fn list(members: Vec<(&'static str, Schema)>) -> Schema {
    let properties = members.into_iter().map(|(name, schema)| Property {
        name,
        description: String::new(),
        schema,
        is_required: true,
    });
    Schema::Object(Object {
        name: "",
        description: String::new(),
        is_closed: false,
        properties: properties.collect(),
    })
}

#[cfg(test)]
mod tests {
    use accrue::Page;

    use super::*;

    #[test]
    fn the_bytes_of_a_page_are_bounded() {
        let check = |bytes: usize, expect: bool| {
            // A row has two quotes around it.
            let data = vec![bytes / 2, bytes - bytes / 2];
            let page = Page::from(data);
            let row = |length| "x".repeat(length - 2);
            let rows = pollster::block_on(Rows::of(page, &Pace::new(), row));
            assert_eq!(serde_json::to_string(&rows).is_ok(), expect, "{bytes}");
        };
        check(PAGE_BYTES - 1, true);
        check(PAGE_BYTES, true);
        check(PAGE_BYTES + 1, false);
    }
}
