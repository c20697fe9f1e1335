use std::{borrow::Cow, fmt};

use super::{Describe, Property, Schema};
use crate::{
    json::Json,
    problem::{Problem, Violation, Violations, push_name},
};

/// Where values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// JSON has kinds of values.
    Body,
    /// In a query everything is text.
    Query,
}

/// Reads a request, and collects everything that is wrong with it.
pub(crate) struct Reader {
    pub(crate) source: Source,
    violations: Violations,
    /// An identifier that no resource has, or something that is not built: an answer of its own
    /// where nothing else is wrong.
    missing: Option<Problem>,
}

/// A type that is read from a request.
pub(crate) trait Read: Describe + Sized {
    /// Reads it. `None` where something is wrong, which the reader was told then.
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self>;

    /// What it is where it is not there: something that is wrong, for most.
    fn absent() -> Absent<Self> {
        Absent::Refused
    }
}

/// Members that several objects have alike.
pub(crate) trait Members: Sized {
    fn properties() -> Vec<Property>;

    /// Reads them. `None` where something is wrong, which the reader was told then.
    fn read(fields: &Fields<'_>, reader: &mut Reader) -> Option<Self>;

    fn names() -> Vec<&'static str> {
        Self::properties().into_iter().map(|property| property.name).collect()
    }
}

/// What a field is that is not there.
pub(crate) enum Absent<T> {
    /// It has to be there.
    Refused,
    /// It may be left out, and is this then.
    Is(T),
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { source: Source::Body, violations: Violations::default(), missing: None }
    }

    pub(crate) fn wrong<T>(&mut self, at: &str, message: impl Into<String>) -> Option<T> {
        self.violations.push(at, message);
        None
    }

    pub(crate) fn unexpected<T>(&mut self, json: &Json, at: &str, expected: &str) -> Option<T> {
        if self.source == Source::Query && matches!(json, Json::Array(_)) {
            return self.wrong(at, "is there twice");
        }
        self.wrong(at, format!("found {}, expected {expected}", json.kind()))
    }

    /// Parses a string. What is wrong with it is told in the words of the error.
    pub(crate) fn parse<T, E: fmt::Display>(
        &mut self,
        json: &Json,
        at: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let Json::String(text) = json else { return self.unexpected(json, at, expected) };
        match parse(text) {
            Ok(parsed) => Some(parsed),
            Err(error) => self.wrong(at, error.to_string()),
        }
    }

    /// An identifier that cannot be one of a resource.
    pub(crate) fn unknown<T>(&mut self, what: &str) -> Option<T> {
        self.missing.get_or_insert_with(|| Problem::not_found(what));
        None
    }

    /// Something that is well-formed, and not built.
    pub(crate) fn unavailable<T>(&mut self, detail: impl Into<Cow<'static, str>>) -> Option<T> {
        self.missing.get_or_insert_with(|| Problem::feature_not_available(detail));
        None
    }

    /// Something that is well-formed, and that what is there does not allow.
    pub(crate) fn conflict<T>(&mut self, detail: String) -> Option<T> {
        self.missing.get_or_insert_with(|| Problem::constraint_violation(detail));
        None
    }

    pub(crate) fn extend(&mut self, violations: &Violations) {
        self.violations.append(violations);
    }

    /// Lists what is wrong, where it is part of a larger thing that goes on to be judged.
    pub(crate) fn reasons(self) -> Vec<String> {
        let reason = |violation: &Violation| match violation.pointer.strip_prefix('/') {
            Some(field) => format!("{field}: {}", violation.message),
            None => violation.message.clone(),
        };
        self.violations.list().iter().map(reason).collect()
    }

    /// Returns what was read where nothing is wrong.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Problem> {
        match (self.problem(), read) {
            (Some(problem), _) => Err(problem),
            (None, Some(read)) => Ok(read),
            (None, None) => Err(Problem::invalid(Violations::one("", "cannot be read"))),
        }
    }

    fn problem(self) -> Option<Problem> {
        match self.violations.is_empty() {
            true => self.missing,
            false => Some(Problem::invalid(self.violations)),
        }
    }

    /// Opens an object, and tells of members that it does not have.
    pub(crate) fn fields<'a>(
        &mut self,
        json: &'a Json,
        at: &'a str,
        names: &[&str],
        is_closed: bool,
    ) -> Option<Fields<'a>> {
        let Json::Object(members) = json else {
            return self.unexpected(json, at, "an object");
        };
        // A query may have parameters that nobody knows.
        let is_closed = is_closed && self.source == Source::Body;
        for (name, _) in members {
            if is_closed && !names.contains(&name.as_str()) {
                let _: Option<()> = self.wrong(&member(at, name), "is unknown");
            }
        }
        Some(Fields { members, at })
    }
}

/// An object whose fields are read one by one.
pub(crate) struct Fields<'a> {
    members: &'a [(String, Json)],
    at: &'a str,
}

impl Fields<'_> {
    pub(crate) fn read<T: Read>(&self, name: &str, reader: &mut Reader) -> Option<T> {
        match (self.find(name), T::absent()) {
            (Some(json), _) => T::read(json, &member(self.at, name), reader),
            (None, Absent::Is(value)) => Some(value),
            (None, Absent::Refused) => reader.wrong(&member(self.at, name), "is missing"),
        }
    }

    /// Reads a field as far as that goes, for a rule: what is wrong with it is told elsewhere.
    pub(crate) fn peek<T: Read>(&self, name: &str, source: Source) -> Option<T> {
        let mut reader = Reader::new();
        reader.source = source;
        self.read(name, &mut reader)
    }

    /// Tells whether a field is there and not null, whatever it is.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some_and(|json| *json != Json::Null)
    }

    /// Refuses none of some fields, and several of them.
    pub(crate) fn names_one_of(&self, names: &[&str], reader: &mut Reader) {
        let mut there = names.iter().filter(|name| self.has(name));
        let (at, message) = match (there.next(), there.next(), names) {
            (None, _, [first, others @ ..]) => {
                let others = others.join(" and ");
                (*first, format!("is missing, as is {others}: expected one of them"))
            }
            (Some(first), Some(other), _) => {
                (*other, format!("is there beside {first}, expected one of them"))
            }
            _ => return,
        };
        let _: Option<()> = reader.wrong(&self.pointer(at), message);
    }

    fn find(&self, name: &str) -> Option<&Json> {
        self.members.iter().find(|(member, _)| member == name).map(|(_, json)| json)
    }

    /// Returns the pointer to a field.
    pub(crate) fn pointer(&self, name: &str) -> String {
        member(self.at, name)
    }
}

/// Returns the pointer to a member of what is at another.
pub(crate) fn member(at: &str, name: &str) -> String {
    let mut pointer = at.to_owned();
    push_name(&mut pointer, name);
    pointer
}

/// A field that may be left out, where null says the same, as does an empty text in a query.
impl<T: Read> Read for Option<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::Null => Some(None),
            // As clients send a null (wire 6.3).
            Json::String(text) if text.is_empty() && reader.source == Source::Query => Some(None),
            value => T::read(value, at, reader).map(Some),
        }
    }

    fn absent() -> Absent<Self> {
        Absent::Is(None)
    }
}

impl<T: Describe> Describe for Option<T> {
    fn schema() -> Schema {
        Schema::Nullable(Box::new(T::schema()))
    }
}

/// A field that may be left out, and is not null where it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given<T>(pub(crate) Option<T>);

impl<T: Read> Read for Given<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        T::read(json, at, reader).map(|value| Self(Some(value)))
    }

    fn absent() -> Absent<Self> {
        Absent::Is(Self(None))
    }
}

impl<T: Describe> Describe for Given<T> {
    fn schema() -> Schema {
        T::schema()
    }
}

/// A field that may be left out, and whose null says something of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Maybe<T> {
    #[default]
    Absent,
    Null,
    Value(T),
}

impl<T: Read> Read for Maybe<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::Null => Some(Self::Null),
            value => T::read(value, at, reader).map(Self::Value),
        }
    }

    fn absent() -> Absent<Self> {
        Absent::Is(Self::Absent)
    }
}

impl<T: Describe> Describe for Maybe<T> {
    fn schema() -> Schema {
        Schema::Nullable(Box::new(T::schema()))
    }
}

impl<T> Maybe<T> {
    /// Returns its value, where it has one.
    pub(crate) const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Makes something else of its value: where that is nothing, it is null.
    pub(crate) fn and_then<U>(self, make: impl FnOnce(T) -> Option<U>) -> Maybe<U> {
        match self {
            Self::Absent => Maybe::Absent,
            Self::Null => Maybe::Null,
            Self::Value(value) => make(value).map_or(Maybe::Null, Maybe::Value),
        }
    }
}

impl<T> From<Maybe<T>> for accrue::Patch<T> {
    fn from(field: Maybe<T>) -> Self {
        match field {
            Maybe::Absent => Self::Keep,
            Maybe::Null => Self::Clear,
            Maybe::Value(value) => Self::Set(value),
        }
    }
}

/// A field that has to be there, and may be null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nullable<T>(pub(crate) Option<T>);

impl<T: Read> Read for Nullable<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            Json::Null => Some(Self(None)),
            value => T::read(value, at, reader).map(|value| Self(Some(value))),
        }
    }
}

impl<T: Describe> Describe for Nullable<T> {
    fn schema() -> Schema {
        Schema::Nullable(Box::new(T::schema()))
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let values = match (json, reader.source) {
            (Json::Array(values), _) => Cow::Borrowed(values),
            // A list of one, as a query has it.
            (one, Source::Query) => Cow::Owned(vec![one.clone()]),
            (other, Source::Body) => return reader.unexpected(other, at, "an array"),
        };
        let mut read = Self::with_capacity(values.len());
        let mut is_whole = true;
        for (index, value) in values.iter().enumerate() {
            match T::read(value, &format!("{at}/{index}"), reader) {
                Some(value) => read.push(value),
                None => is_whole = false,
            }
        }
        is_whole.then_some(read)
    }
}

impl<T: Describe> Describe for Vec<T> {
    fn schema() -> Schema {
        Schema::Array { items: Box::new(T::schema()), most: None }
    }
}

/// A list of a body with 1 to so many values.
#[derive(Clone, Debug)]
pub(crate) struct Several<T, const MOST: usize>(pub(crate) Vec<T>);

impl<T: Read, const MOST: usize> Read for Several<T, MOST> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        match json {
            // What is in a list of another length is not looked at.
            Json::Array(values) if !(1..=MOST).contains(&values.len()) => {
                reader.wrong(at, format!("has {}, expected 1 to {MOST}", values.len()))
            }
            values => Vec::read(values, at, reader).map(Self),
        }
    }
}

impl<T: Describe, const MOST: usize> Describe for Several<T, MOST> {
    fn schema() -> Schema {
        Schema::Array { items: Box::new(T::schema()), most: Some(MOST) }
    }
}

impl<T: Read> Read for Box<T> {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        T::read(json, at, reader).map(Self::new)
    }

    fn absent() -> Absent<Self> {
        match T::absent() {
            Absent::Refused => Absent::Refused,
            Absent::Is(value) => Absent::Is(Self::new(value)),
        }
    }
}

/// Any value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anything;

impl Read for Anything {
    fn read(_: &Json, _: &str, _: &mut Reader) -> Option<Self> {
        Some(Self)
    }
}

impl Describe for Anything {
    fn schema() -> Schema {
        Schema::Any
    }
}

impl<T: Describe> Describe for Box<T> {
    fn schema() -> Schema {
        T::schema()
    }
}
