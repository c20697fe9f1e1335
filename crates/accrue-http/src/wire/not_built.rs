//! Fields for what is not built.

use std::{collections::BTreeMap, marker::PhantomData};

use crate::{
    json::Json,
    shape::{Anything, Describe, Read, Reader, Schema},
};

/// An object of something that is not built.
pub(crate) type AnyObject = BTreeMap<String, Anything>;

/// A field for something that is not built. It is read as what it is, and is not available with a
/// value that means something.
#[derive(Clone, Debug)]
pub(crate) struct NotBuilt<T>(PhantomData<T>);

impl<T: Read> Read for NotBuilt<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        T::read(json, at, reader)?;
        match means_nothing(json) {
            true => Some(Self(PhantomData)),
            false => reader.unavailable(format!("{at} is not available")),
        }
    }
}

impl<T: Describe> Describe for NotBuilt<T> {
    fn schema() -> Schema {
        T::schema()
    }
}

/// Tells whether a value is as good as none.
pub(crate) fn means_nothing(json: &Json) -> bool {
    match json {
        Json::Null | Json::Boolean(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(values) => values.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Boolean(true) | Json::Number(_) => false,
    }
}
