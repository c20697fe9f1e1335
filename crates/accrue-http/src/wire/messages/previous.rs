//! What an edit has changed, as it was before (invoicing 17.2).

use std::collections::BTreeMap;

use accrue::{
    Metadata,
    customer::{AttributeValue, PreviousAttributes},
    related::Related,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::wire::{customers::Hierarchy, invoices::PreviousLines};

/// Fields that changed, as they were before.
#[derive(Debug, Serialize)]
pub(super) struct PreviousFields<'a> {
    #[serde(flatten)]
    fields: BTreeMap<&'a str, Previous<'a>>,
    #[serde(flatten)]
    lines: Option<PreviousLines>,
}

/// The former value of a field.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Previous<'a> {
    Text(Option<&'a str>),
    Metadata(&'a Metadata),
    Hierarchy(Hierarchy),
    Json(Box<RawValue>),
}

impl<'a> PreviousFields<'a> {
    pub(super) fn of(
        attributes: &'a PreviousAttributes,
        lines: Option<PreviousLines>,
        related: &Related,
    ) -> Self {
        Self { fields: previous(attributes, related), lines }
    }
}

/// Writes the former values of fields. One that no answer could show is left out.
fn previous<'a>(
    attributes: &'a PreviousAttributes,
    related: &Related,
) -> BTreeMap<&'a str, Previous<'a>> {
    let value = |value: &'a AttributeValue| match value {
        AttributeValue::Text(text) => Some(Previous::Text(text.as_deref())),
        AttributeValue::Metadata(metadata) => Some(Previous::Metadata(metadata)),
        AttributeValue::Hierarchy(of) => Some(Previous::Hierarchy(Hierarchy::of(of, related))),
        AttributeValue::Json(None) => Some(Previous::Text(None)),
        AttributeValue::Json(Some(text)) => {
            RawValue::from_string(text.clone()).ok().map(Previous::Json)
        }
        _ => None,
    };
    attributes.iter().filter_map(|(name, of)| Some((name.as_str(), value(of)?))).collect()
}
