//! Metadata: the caller's own strings on a resource.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Error, limits, text::json_bytes};

/// The caller's own strings on a resource, by key.
pub type Metadata = BTreeMap<String, String>;

/// Change of metadata by an update (wire 2.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetadataUpdate {
    /// Leaves the metadata as it is.
    #[default]
    Keep,
    /// Removes every key.
    Clear,
    /// Sets the keys that have a value, and removes those that have none.
    Merge(BTreeMap<String, Option<String>>),
}

/// Change of an optional field by an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Patch<T> {
    /// Leaves the field as it is.
    #[default]
    Keep,
    /// Empties the field.
    Clear,
    /// Sets the field.
    Set(T),
}

impl<T> Patch<T> {
    /// Tells whether it leaves the field as it is.
    pub(crate) const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Returns the field after the update.
    pub(crate) fn apply(self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value),
        }
    }
}

impl MetadataUpdate {
    pub(crate) fn apply(self, metadata: &mut Metadata) -> Result<(), Error> {
        match self {
            Self::Keep => {}
            Self::Clear => metadata.clear(),
            Self::Merge(entries) => {
                for (key, value) in entries {
                    match value {
                        Some(value) => metadata.insert(key, value),
                        None => metadata.remove(&key),
                    };
                }
            }
        }
        check(metadata)
    }
}

/// Refuses metadata that is out of bounds.
pub(crate) fn check(metadata: &Metadata) -> Result<(), Error> {
    if metadata.len() > limits::METADATA_ENTRIES {
        let message = format!(
            "has {} entries, expected at most {}",
            metadata.len(),
            limits::METADATA_ENTRIES
        );
        return Err(Error::invalid("metadata", message));
    }
    for (key, value) in metadata {
        let bounds = [
            ("key", key, limits::METADATA_KEY_BYTES),
            ("value", value, limits::METADATA_VALUE_BYTES),
        ];
        for (what, text, max) in bounds {
            if text.len() > max {
                let message = format!("{what} has {} bytes, expected at most {max}", text.len());
                return Err(Error::invalid("metadata", message));
            }
        }
    }
    let texts = metadata.iter().flat_map(|(key, value)| [key, value]);
    let bytes = texts.map(|text| json_bytes(text)).fold(0, usize::saturating_add);
    if bytes > limits::METADATA_BYTES {
        let message =
            format!("has {bytes} bytes as JSON, expected at most {}", limits::METADATA_BYTES);
        return Err(Error::invalid("metadata", message));
    }
    Ok(())
}
