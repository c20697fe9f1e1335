use std::{fmt, sync::Arc};

use serde::de::IgnoredAny;

use crate::limits;

/// JSON object with a version field, as text. Cheap to clone.
///
/// Quantities, amounts and other exact numbers in it are strings; its JSON numbers are integers
/// below 2^53. So any backend can keep it in the JSON form that it has.
///
/// Equality of documents is equality of text. A backend may answer with another text of the same
/// JSON value: [`same_value`](Document::same_value) compares those.
///
/// ```
/// use accrue::store::Document;
///
/// let document = Document::parse(r#"{"v":1,"name":"acme"}"#)?;
/// assert!(document.same_value(&Document::parse(r#"{"name": "acme", "v": 1}"#)?));
/// assert!(Document::parse("[1]").is_err());
/// # Ok::<(), accrue::store::DocumentError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Document(Arc<str>);

impl Document {
    /// Parses the text of a JSON object.
    ///
    /// # Errors
    ///
    /// If the text is no JSON object, or is longer than [`limits::DOCUMENT_BYTES`].
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, DocumentError> {
        let text = text.into();
        if text.len() > limits::DOCUMENT_BYTES {
            return Err(DocumentError::TooLarge { bytes: text.len() });
        }
        if !text.trim_ascii_start().starts_with('{') {
            return Err(DocumentError::NotAnObject);
        }
        match serde_json::from_str::<IgnoredAny>(&text) {
            Ok(IgnoredAny) => Ok(Self(text)),
            Err(error) => Err(DocumentError::Syntax(error.into())),
        }
    }

    /// Takes the text of a JSON object that the caller has just written itself.
    pub(crate) fn trusted(text: &str) -> Self {
        Self(text.into())
    }

    /// Takes bytes that a store gave back for a document that it was given.
    ///
    /// Only the encoding is looked at, so that reading stays cheap: a text that is no JSON object
    /// is found by whoever decodes it.
    ///
    /// # Errors
    ///
    /// If the bytes are not UTF-8; the backend answers [`StoreError::Corrupt`](super::StoreError).
    pub fn from_stored(bytes: &[u8]) -> Result<Self, DocumentError> {
        let text = std::str::from_utf8(bytes).map_err(DocumentError::Encoding)?;
        Ok(Self(text.into()))
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether both are the same JSON value.
    #[must_use]
    pub fn same_value(&self, other: &Self) -> bool {
        let value = |document: &Self| serde_json::from_str::<serde_json::Value>(&document.0).ok();
        self == other || (value(self).is_some() && value(self) == value(other))
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reason why a text is no document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// Text that is longer than [`limits::DOCUMENT_BYTES`].
    #[error("document has {bytes} bytes, expected at most {}", limits::DOCUMENT_BYTES)]
    TooLarge {
        /// Length of the text in bytes.
        bytes: usize,
    },
    /// Text that is JSON, but no object.
    #[error("document is not a JSON object")]
    NotAnObject,
    /// Text that is not JSON.
    #[error("document is not JSON")]
    Syntax(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Bytes that are not UTF-8.
    #[error("document is not UTF-8")]
    Encoding(#[source] std::str::Utf8Error),
}
