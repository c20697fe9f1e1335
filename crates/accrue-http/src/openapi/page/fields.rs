//! Tables of what objects have.

use crate::{
    openapi::html::{Markup, code, element, paragraph, prose, table, text},
    shape::{Object, Property, Schema},
};

/// What a body is made of.
pub(super) fn of(schema: &Schema) -> Markup {
    match schema {
        Schema::Object(object) => {
            [prose(&object.description), members(object)].into_iter().collect()
        }
        other => element("p", &[], [kind(other)]),
    }
}

pub(super) fn members(object: &Object) -> Markup {
    if object.properties.is_empty() {
        return paragraph("An object without members.");
    }
    let rows = object.properties.iter().map(row);
    let rows: Vec<_> = rows.collect();
    table(&["Name", "Type", ""], rows)
}

pub(super) fn row(property: &Property) -> Markup {
    let Property { name, description, schema, is_required } = property;
    let must = match is_required {
        true => element("span", &[("class", "must")], [text("required")]),
        false => Markup::default(),
    };
    element(
        "tr",
        &[],
        [
            element("td", &[], [code(name), must]),
            element("td", &[("class", "kind")], [kind(schema)]),
            element("td", &[], [prose(description)]),
        ],
    )
}

pub(super) fn anchor(object: &Object) -> String {
    format!("object-{}", object.name)
}

/// What a value is, in words.
fn kind(schema: &Schema) -> Markup {
    match schema {
        Schema::String { format: Some("date-time"), .. } => text("date and time of ISO 8601"),
        Schema::String { format: Some("date"), .. } => text("date of ISO 8601"),
        Schema::String { most: None, .. } => text("text"),
        Schema::String { least, most: Some(most), .. } if least == most => {
            text(&format!("text of {most} characters"))
        }
        Schema::String { least: 0, most: Some(most), .. } => {
            text(&format!("text of up to {most} characters"))
        }
        Schema::String { least, most: Some(most), .. } => {
            text(&format!("text of {least} to {most} characters"))
        }
        Schema::Choice { words, .. } => {
            let mut choices = Vec::new();
            for word in words {
                let joint = if choices.is_empty() { "" } else { ", " };
                choices.extend([text(joint), code(word)]);
            }
            choices.into_iter().collect()
        }
        Schema::Integer { least, most: i64::MAX } => text(&format!("whole number from {least}")),
        Schema::Integer { least, most } => text(&format!("whole number, {least} to {most}")),
        Schema::Number => text("number"),
        Schema::Decimal => text("number in a string"),
        Schema::Boolean => text("true or false"),
        Schema::Array { items, most: None } => with("list of ", items, ""),
        Schema::Array { items, most: Some(most) } => {
            with(&format!("list of up to {most}: "), items, "")
        }
        Schema::Map(values) => with("object by names of your own: ", values, ""),
        Schema::Entries { values, name_characters, most } => {
            let names =
                format!("object of up to {most} names of up to {name_characters} characters: ");
            with(&names, values, "")
        }
        Schema::Object(object) if object.name.is_empty() => members(object),
        Schema::Object(object) => {
            element("a", &[("href", &format!("#{}", anchor(object)))], [text(object.name)])
        }
        Schema::Nullable(inner) => with("", inner, ", or null"),
        Schema::OneOf { tag, variants, .. } => {
            let mut kinds = vec![text("by "), code(tag), text(": ")];
            for (place, (_, variant)) in variants.iter().enumerate() {
                kinds.extend([text(if place > 0 { ", " } else { "" }), kind(variant)]);
            }
            kinds.into_iter().collect()
        }
        Schema::AnyOf(kinds) => {
            let mut pieces = Vec::new();
            for (place, of) in kinds.iter().enumerate() {
                pieces.extend([text(if place > 0 { " or " } else { "" }), kind(of)]);
            }
            pieces.into_iter().collect()
        }
        Schema::Null => text("null"),
        Schema::Any => text("any JSON"),
    }
}

fn with(before: &str, inner: &Schema, after: &str) -> Markup {
    let (open, close) = match inner {
        Schema::Nullable(_) | Schema::Choice { .. } | Schema::AnyOf(_) if !before.is_empty() => {
            ("(", ")")
        }
        _ => ("", ""),
    };
    [text(before), text(open), kind(inner), text(close), text(after)].into_iter().collect()
}
