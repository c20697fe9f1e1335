//! Fields for what is not built.

use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema},
};

/// A field for something that is not built: with a value that means something it is not available.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotBuilt;

impl Read for NotBuilt {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let is_empty = match json {
            Json::Null | Json::Boolean(false) => true,
            Json::Array(values) => values.is_empty(),
            Json::Object(members) => members.is_empty(),
            Json::Boolean(true) | Json::Number(_) | Json::String(_) => false,
        };
        match is_empty {
            true => Some(Self),
            false => reader.unavailable(format!("{at} is not available")),
        }
    }
}

impl Describe for NotBuilt {
    fn schema() -> Schema {
        Schema::Any
    }
}
