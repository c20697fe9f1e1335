//! Lists in pages (wire 6.2).

use std::{marker::PhantomData, str::FromStr};

use accrue::{InstantRange, Pace, Page};
use serde::{Serialize, Serializer, ser, ser::SerializeStruct as _};
use serde_json::value::RawValue;

use crate::{
    json::Json,
    shape::{Describe, Moment, Object, Property, Read, Reader, Schema, Whole, request, response},
};

request! {
    /// Which page of a list.
    pub(crate) struct ListQuery {
        /// How many rows a page has at most.
        limit: Option<Whole<1, 100>>,
        /// Where the page begins: `next_cursor` of the one before.
        cursor: Option<String>,
    }

    /// Which page of a list, and when its rows were created.
    pub(crate) struct CreatedListQuery {
        /// How many rows a page has at most.
        limit: Option<Whole<1, 100>>,
        /// Where the page begins: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Moment>,
        /// Created later.
        "created_at[gt]" created_at_gt: Option<Moment>,
        /// Created earlier.
        "created_at[lt]" created_at_lt: Option<Moment>,
        /// Created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Moment>,
    }
}

/// Makes a range of what brackets say.
pub(crate) fn range(
    gte: Option<Moment>,
    gt: Option<Moment>,
    lt: Option<Moment>,
    lte: Option<Moment>,
) -> InstantRange {
    let range = InstantRange::default();
    let range = gte.map_or(range, |Moment(instant)| range.at_or_after(instant));
    let range = gt.map_or(range, |Moment(instant)| range.after(instant));
    let range = lt.map_or(range, |Moment(instant)| range.before(instant));
    lte.map_or(range, |Moment(instant)| range.at_or_before(instant))
}

/// An id that is looked for. A text that is none is looked for in vain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought<T>(pub(crate) Option<T>);

impl<T: Describe + FromStr> Read for Sought<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        String::read(json, at, reader).map(|text| Self(text.parse().ok()))
    }
}

impl<T: Describe> Describe for Sought<T> {
    fn schema() -> Schema {
        T::schema()
    }
}

/// The most bytes of the rows of a page: a row may have a hundred resources within it.
const PAGE_BYTES: usize = 16 * 1024 * 1024;

/// What making and writing a row takes, beside reading as many bytes.
const MADE: usize = 4;

/// A page of a list, each row as it was written: many rows that are large are not held at once.
///
/// A page beyond its bound cannot be written.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    data: Option<Vec<Box<RawValue>>>,
    pagination_metadata: PaginationMetadata,
    row: PhantomData<T>,
}

response! {
    /// Whether and where a list goes on.
    pub(crate) struct PaginationMetadata {
        /// Whether there is another page.
        has_more: bool,
        /// What the next page is asked for with; null exactly when there is none.
        next_cursor: Option<String>,
    }
}

impl PaginationMetadata {
    /// There is no other page.
    pub(crate) const LAST: Self = Self { has_more: false, next_cursor: None };
}

impl<T: Serialize> Rows<T> {
    /// Writes a page, row by row, as far as its bound.
    pub(crate) async fn of<R>(page: Page<R>, pace: &Pace, mut row: impl FnMut(R) -> T) -> Self {
        let next_cursor = page.next_cursor.map(|cursor| cursor.to_string());
        let has_more = next_cursor.is_some();
        let (mut left, mut rows) = (PAGE_BYTES, Some(Vec::with_capacity(page.data.len())));
        for data in page.data {
            let text = serde_json::value::to_raw_value(&row(data)).ok();
            let bytes = text.as_ref().map_or(0, |text| text.get().len());
            let fits = left.checked_sub(bytes);
            left = fits.unwrap_or_default();
            let written = rows.zip(text.filter(|_| fits.is_some()));
            rows = written.map(|(mut rows, text)| {
                rows.push(text);
                rows
            });
            pace.spend_bytes(bytes.saturating_mul(MADE)).await;
        }
        Self {
            data: rows,
            pagination_metadata: PaginationMetadata { has_more, next_cursor },
            row: PhantomData,
        }
    }
}

impl<T> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(data) = &self.data else { return Err(ser::Error::custom("too many bytes")) };
        let mut page = serializer.serialize_struct("Rows", 2)?;
        page.serialize_field("data", data)?;
        page.serialize_field("pagination_metadata", &self.pagination_metadata)?;
        page.end()
    }
}

impl<T: Describe> Describe for Rows<T> {
    fn schema() -> Schema {
        let metadata = PaginationMetadata::schema();
        list(vec![("data", Vec::<T>::schema()), ("pagination_metadata", metadata)])
    }
}

/// A list that has no pages.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Listed<T> {
    pub(crate) data: Vec<T>,
}

impl<T: Describe> Describe for Listed<T> {
    fn schema() -> Schema {
        list(vec![("data", Vec::<T>::schema())])
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
            let page = Page { data, next_cursor: None };
            let row = |length| "x".repeat(length - 2);
            let rows = pollster::block_on(Rows::of(page, &Pace::new(), row));
            assert_eq!(serde_json::to_string(&rows).is_ok(), expect, "{bytes}");
        };
        check(PAGE_BYTES - 1, true);
        check(PAGE_BYTES, true);
        check(PAGE_BYTES + 1, false);
    }
}
