//! The OpenAPI document and the page that shows it, from the table of operations.

use http::Method;

use crate::{api::Settings, reply::Reply};

/// What is served without a key: the description of the API.
pub(crate) struct Documents {}

impl Documents {
    pub(crate) fn new(_base: &str, _settings: &Settings) -> Self {
        Self {}
    }

    /// Finds a document by its path, which lies outside of the base path.
    pub(crate) fn find(
        &self,
        _method: &Method,
        _path: &str,
        _query: Option<&str>,
    ) -> Option<Reply> {
        None
    }
}
