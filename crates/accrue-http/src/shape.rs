//! The shapes of what goes over the wire: one declaration reads a request, and is its schema in the
//! OpenAPI document.
//!
//! `request!` declares what comes in: a type, its reader that lists everything that is wrong, and its
//! schema. `response!` declares what goes out.

mod macros;
mod read;
mod schema;
mod values;

pub(crate) use self::{
    macros::{choices, is_closed, name, read_choice, request, response, texts, words},
    read::{
        Absent, Anything, Fields, Given, Maybe, Members, Nullable, Read, Reader, Several, Source,
        member,
    },
    schema::{Describe, Named, Object, Property, Schema, Side},
    values::{
        LooseAmount, MetadataIn, Moment, NoRows, Nothing, Sparse, Whole, Word, Words,
        metadata_update, new_metadata,
    },
};
