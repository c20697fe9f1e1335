//! What declares a type of the wire.

use super::Reader;
use crate::json::Json;

/// Declares an object that comes in. Members that it does not name are refused, but after `open`.
///
/// A field is named as its Rust name, or by a text before it where the wire has another one. After `+` are
/// [`Members`](super::Members) that others have too. After `=>` is what judges fields beside each other, also where others of them are wrong.
macro_rules! request {
    ($(
        $(#[doc = $doc:literal])*
        $visibility:vis struct $name:ident $($open:ident)? $(+ $more:ident: $members:ty)? $(=> $rule:ident)? {$(
            $(#[doc = $field_doc:literal])*
            $($wire:literal)? $field:ident: $type:ty,
        )*}
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        // Some fields are only judged: what is not built, and what tells types apart.
        #[allow(dead_code)]
        $visibility struct $name {$(
            $(#[doc = $field_doc])*
            pub(crate) $field: $type,
        )* $($more: $members,)?}

        impl $crate::shape::Describe for $name {
            fn schema() -> $crate::shape::Schema {
                $crate::shape::Schema::Object($crate::shape::Object {
                    name: stringify!($name),
                    description: $crate::shape::words(&[$($doc),*]),
                    is_closed: true $(&& $crate::shape::is_closed(stringify!($open)))?,
                    properties: [vec![$($crate::shape::Property {
                        name: $crate::shape::name!($field $($wire)?),
                        description: $crate::shape::words(&[$($field_doc),*]),
                        schema: <$type as $crate::shape::Describe>::schema(),
                        is_required: matches!(
                            <$type as $crate::shape::Read>::absent(),
                            $crate::shape::Absent::Refused
                        ),
                    },)*], $(<$members as $crate::shape::Members>::properties())?].concat(),
                })
            }
        }

        impl $crate::shape::Read for $name {
            fn read(
                json: &$crate::json::Json,
                at: &str,
                reader: &mut $crate::shape::Reader,
            ) -> Option<Self> {
                let names = [
                    vec![$($crate::shape::name!($field $($wire)?)),*],
                    $(<$members as $crate::shape::Members>::names(),)?
                ].concat();
                let is_closed = true $(&& $crate::shape::is_closed(stringify!($open)))?;
                let fields = reader.fields(json, at, &names, is_closed)?;
                // All of them, so that everything that is wrong is listed.
                $(let $field = fields.read($crate::shape::name!($field $($wire)?), reader);)*
                $(let $more = <$members as $crate::shape::Members>::read(&fields, reader);)?
                $($rule(&fields, reader);)?
                let _ = &fields;
                Some(Self { $($field: $field?,)* $($more: $more?,)? })
            }
        }
    )*};
}

/// Declares an object that goes out. Every member is there, and null where it may be empty; but a
/// [`Sparse`](super::Sparse) one is left out then.
///
/// A field is named as its Rust name, or by a text before it where the wire has another one.
macro_rules! response {
    ($(
        $(#[doc = $doc:literal])*
        $visibility:vis struct $name:ident {$(
            $(#[doc = $field_doc:literal])*
            $($wire:literal)? $field:ident: $type:ty,
        )*}
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, serde::Serialize)]
        $visibility struct $name {$(
            $(#[doc = $field_doc])*
            $(#[serde(rename = $wire)])?
            #[serde(skip_serializing_if = "crate::shape::Describe::is_left_out")]
            pub(crate) $field: $type,
        )*}

        impl $crate::shape::Describe for $name {
            fn schema() -> $crate::shape::Schema {
                $crate::shape::Schema::Object($crate::shape::Object {
                    name: stringify!($name),
                    description: $crate::shape::words(&[$($doc),*]),
                    is_closed: false,
                    properties: vec![$($crate::shape::Property {
                        name: $crate::shape::name!($field $($wire)?),
                        description: $crate::shape::words(&[$($field_doc),*]),
                        schema: <$type as $crate::shape::Describe>::schema(),
                        is_required: !<$type as $crate::shape::Describe>::IS_SPARSE,
                    },)*],
                })
            }
        }
    )*};
}

/// The name of a field on the wire.
macro_rules! name {
    ($field:ident $wire:literal) => {
        $wire
    };
    ($field:ident) => {
        stringify!($field)
    };
}

/// Reads texts of the engine by their own `parse`. What is wrong is told in the engine's words, or in
/// those after `=>` where the engine's have what was found in them. A pattern says what it demands beside the length.
macro_rules! texts {
    ($($type:ty: $least:expr, $most:expr $(, $pattern:expr)? $(=> $expected:literal)?;)*) => {$(
        impl $crate::shape::Describe for $type {
            fn schema() -> $crate::shape::Schema {
                let pattern: &[&'static str] = &[$($pattern)?];
                $crate::shape::Schema::String {
                    least: $least,
                    most: Some($most),
                    format: None,
                    pattern: pattern.first().copied(),
                }
            }
        }

        impl $crate::shape::Read for $type {
            fn read(
                json: &$crate::json::Json,
                at: &str,
                reader: &mut $crate::shape::Reader,
            ) -> Option<Self> {
                let expected: &[&'static str] = &[$($expected)?];
                reader.parse(json, at, "a string", |text| {
                    <$type>::parse(text).map_err(|error| match expected.first() {
                        Some(expected) => (*expected).to_owned(),
                        None => error.to_string(),
                    })
                })
            }
        }
    )*};
}

/// Reads one of several words into a value each. The document names them as the type is named, or by
/// the text before it.
macro_rules! choices {
    ($($($wire:literal)? $type:ident { $($word:literal => $value:expr,)* })*) => {$(
        impl $crate::shape::Describe for $type {
            fn schema() -> $crate::shape::Schema {
                $crate::shape::Schema::Choice {
                    name: $crate::shape::name!($type $($wire)?),
                    words: vec![$($word),*],
                }
            }
        }

        impl $crate::shape::Read for $type {
            fn read(
                json: &$crate::json::Json,
                at: &str,
                reader: &mut $crate::shape::Reader,
            ) -> Option<Self> {
                $crate::shape::read_choice(json, at, reader, &[$(($word, $value)),*])
            }
        }
    )*};
}

pub(crate) use {choices, name, request, response, texts};

/// Joins the lines of a comment, for readers who do not have what it cites.
pub(crate) fn words(lines: &[&str]) -> String {
    let mut words = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    for citation in [" (§", " (wire "] {
        while let Some((before, rest)) = words.split_once(citation) {
            let after = rest.split_once(')').map_or("", |(_, after)| after);
            words = format!("{before}{after}");
        }
    }
    words.trim().to_owned()
}

/// Tells whether an object that is declared `open` or not is closed.
pub(crate) fn is_closed(keyword: &str) -> bool {
    keyword != "open"
}

/// Reads one of several words.
pub(crate) fn read_choice<T: Clone>(
    json: &Json,
    at: &str,
    reader: &mut Reader,
    choices: &[(&'static str, T)],
) -> Option<T> {
    let Json::String(text) = json else {
        return reader.unexpected(json, at, "a string");
    };
    match choices.iter().find(|(word, _)| word == text) {
        Some((_, value)) => Some(value.clone()),
        None => {
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            reader.wrong(at, format!("expected one of {}", words.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_comment_cites_is_not_for_its_readers() {
        let check = |lines: &[&str], expect: &str| assert_eq!(words(lines), expect);
        check(&[" A good (§2.2)."], "A good.");
        check(&[" A list (wire 6.2), in", " pages (or not)."], "A list, in pages (or not).");
        check(&[" Never (§4.5"], "Never");
        check(&[], "");
    }
}
