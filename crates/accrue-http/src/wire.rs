//! The words of the wire, apart from the types of the engine: what requests bring and answers have.

pub(crate) mod items;
pub(crate) mod pages;
