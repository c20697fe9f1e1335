use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

/// A schema of JSON, as much of it as the API has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Schema {
    String {
        least: usize,
        most: Option<usize>,
        format: Option<&'static str>,
        /// A regular expression, as JavaScript and others have it.
        pattern: Option<&'static str>,
    },
    /// One of several words, under a name where the document has one for them.
    Choice {
        name: &'static str,
        words: Vec<&'static str>,
    },
    Integer {
        least: i64,
        most: i64,
    },
    Number,
    /// A number in a string.
    Decimal,
    Boolean,
    Array {
        items: Box<Schema>,
        most: Option<usize>,
    },
    /// An object whose members all are of one kind.
    Map(Box<Schema>),
    /// One with at most so many members, with names of at most so many characters.
    Entries {
        values: Box<Schema>,
        name_characters: usize,
        most: usize,
    },
    /// An object that the document names.
    Object(Object),
    Nullable(Box<Schema>),
    /// One of several objects, told apart by a member. The document names the choice too.
    OneOf {
        name: &'static str,
        tag: &'static str,
        variants: Vec<(&'static str, Schema)>,
    },
    /// A value of one of several kinds.
    AnyOf(Vec<Schema>),
    /// Null, and nothing else.
    Null,
    /// Anything.
    Any,
}

/// An object with named properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object {
    pub(crate) name: &'static str,
    pub(crate) description: String,
    /// Whether it has no other members than these.
    pub(crate) is_closed: bool,
    pub(crate) properties: Vec<Property>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) description: String,
    pub(crate) schema: Schema,
    pub(crate) is_required: bool,
}

/// Where a schema stands. What the engine computes may have more digits than what it takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Request,
    Answer,
}

/// Objects that the document names, rendered.
pub(crate) type Named = BTreeMap<&'static str, Value>;

/// A type with a schema.
pub(crate) trait Describe {
    /// Whether a member of the type may be left out of an answer.
    const IS_SPARSE: bool = false;

    fn schema() -> Schema;

    /// Tells whether a member is left out of an answer.
    fn is_left_out(&self) -> bool {
        false
    }
}

/// What numbers that come in lie between.
const NUMBERS_ABOVE: f64 = -1e28;
const NUMBERS_BELOW: f64 = 1e28;

/// A number without an exponent.
const DECIMAL: &str = r"^-?[0-9]+(\.[0-9]+)?$";

impl Schema {
    pub(crate) const fn text(least: usize, most: usize) -> Self {
        Self::String { least, most: Some(most), format: None, pattern: None }
    }

    pub(crate) const fn formatted(format: &'static str) -> Self {
        Self::String { least: 0, most: None, format: Some(format), pattern: None }
    }

    pub(crate) fn choice(words: Vec<&'static str>) -> Self {
        Self::Choice { name: "", words }
    }

    /// Returns the words that it is one of.
    pub(crate) fn words(self) -> Vec<&'static str> {
        match self {
            Self::Choice { words, .. } => words,
            _ => Vec::new(),
        }
    }

    /// Narrows a member of an object to the word that tells it from others.
    pub(crate) fn told_by(mut self, tag: &str, word: &'static str) -> Self {
        if let Self::Object(object) = &mut self {
            for property in object.properties.iter_mut().filter(|of| of.name == tag) {
                property.schema = Self::choice(vec![word]);
            }
        }
        self
    }

    /// Finds the objects in it that have names.
    pub(crate) fn objects<'a>(&'a self, found: &mut Vec<&'a Object>) {
        match self {
            Self::Object(object) => {
                if !object.name.is_empty() {
                    found.push(object);
                }
                object.properties.iter().for_each(|property| property.schema.objects(found));
            }
            Self::Array { items: inner, .. }
            | Self::Map(inner)
            | Self::Entries { values: inner, .. }
            | Self::Nullable(inner) => inner.objects(found),
            Self::OneOf { variants, .. } => {
                variants.iter().for_each(|(_, variant)| variant.objects(found));
            }
            Self::AnyOf(kinds) => kinds.iter().for_each(|kind| kind.objects(found)),
            Self::String { .. }
            | Self::Choice { .. }
            | Self::Integer { .. }
            | Self::Number
            | Self::Decimal
            | Self::Boolean
            | Self::Null
            | Self::Any => {}
        }
    }

    /// Renders it as JSON Schema of 2020-12, which OpenAPI 3.1 has. Objects go to `named`, once each.
    pub(crate) fn render(&self, side: Side, named: &mut Named) -> Value {
        match self {
            Self::String { least, most, format, pattern } => {
                let mut schema = Map::from_iter([("type".to_owned(), json!("string"))]);
                if *least > 0 {
                    schema.insert("minLength".to_owned(), json!(least));
                }
                if let Some(most) = most {
                    schema.insert("maxLength".to_owned(), json!(most));
                }
                if let Some(format) = format {
                    schema.insert("format".to_owned(), json!(format));
                }
                if let Some(pattern) = pattern {
                    schema.insert("pattern".to_owned(), json!(pattern));
                }
                Value::Object(schema)
            }
            Self::Choice { name, words } => {
                put(name, json!({"type": "string", "enum": words}), named)
            }
            // Numbers beyond those of a machine word are taken too: for what is cut to a bound.
            Self::Integer { least, most: i64::MAX } => {
                json!({"type": "integer", "minimum": least})
            }
            Self::Integer { least, most } => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::Number => match side {
                Side::Request => json!({
                    "type": "number",
                    "exclusiveMinimum": NUMBERS_ABOVE,
                    "exclusiveMaximum": NUMBERS_BELOW,
                }),
                Side::Answer => json!({"type": "number"}),
            },
            // Zeros before the digits may be any number.
            Self::Decimal => json!({"type": "string", "pattern": DECIMAL}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Array { items, most: None } => {
                json!({"type": "array", "items": items.render(side, named)})
            }
            Self::Array { items, most: Some(most) } => {
                json!({"type": "array", "items": items.render(side, named), "maxItems": most})
            }
            Self::Map(values) => {
                json!({"type": "object", "additionalProperties": values.render(side, named)})
            }
            Self::Entries { values, name_characters, most } => json!({
                "type": "object",
                "propertyNames": {"maxLength": name_characters},
                "additionalProperties": values.render(side, named),
                "maxProperties": most,
            }),
            Self::Object(object) => object.render(side, named),
            Self::Nullable(inner) => match inner.render(side, named) {
                Value::Object(mut schema) if schema.contains_key("anyOf") => {
                    if let Some(Value::Array(kinds)) = schema.get_mut("anyOf") {
                        kinds.push(json!({"type": "null"}));
                    }
                    Value::Object(schema)
                }
                Value::Object(mut schema) if schema.contains_key("type") => {
                    let with_null = json!([schema.remove("type"), "null"]);
                    schema.insert("type".to_owned(), with_null);
                    if let Some(Value::Array(values)) = schema.get_mut("enum") {
                        values.push(Value::Null);
                    }
                    Value::Object(schema)
                }
                Value::Object(any) if any.is_empty() => json!({}),
                other => json!({"anyOf": [other, {"type": "null"}]}),
            },
            Self::AnyOf(kinds) => {
                let kinds: Vec<_> = kinds.iter().map(|kind| kind.render(side, named)).collect();
                json!({"anyOf": kinds})
            }
            Self::OneOf { name, tag, variants } => {
                let mapping: HashMap<_, _> = variants
                    .iter()
                    .filter_map(|(value, schema)| match schema {
                        Self::Object(object) => Some((*value, reference(object.name))),
                        _ => None,
                    })
                    .collect();
                let variants: Vec<_> =
                    variants.iter().map(|(_, schema)| schema.render(side, named)).collect();
                let choice = json!({
                    "oneOf": variants,
                    "discriminator": {"propertyName": tag, "mapping": mapping},
                });
                put(name, choice, named)
            }
            Self::Null => json!({"type": "null"}),
            Self::Any => json!({}),
        }
    }
}

fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// Puts a definition where the document names it, and refers to it; one without a name stands where it
/// is used.
fn put(name: &'static str, mut definition: Value, named: &mut Named) -> Value {
    if name.is_empty() {
        return definition;
    }
    if let Some(definition) = definition.as_object_mut() {
        definition.insert("title".to_owned(), json!(name));
    }
    named.insert(name, definition);
    json!({"$ref": reference(name)})
}

impl Object {
    fn render(&self, side: Side, named: &mut Named) -> Value {
        // One without a name stands where it is used.
        if self.name.is_empty() {
            return self.definition(side, named);
        }
        if !named.contains_key(self.name) {
            // First, so that one which holds itself ends.
            named.insert(self.name, Value::Null);
            let definition = self.definition(side, named);
            named.insert(self.name, definition);
        }
        json!({"$ref": reference(self.name)})
    }

    fn definition(&self, side: Side, named: &mut Named) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for Property { name, description, schema, is_required } in &self.properties {
            let mut schema = schema.render(side, named);
            if let (Value::Object(schema), false) = (&mut schema, description.is_empty()) {
                schema.insert("description".to_owned(), json!(description));
            }
            properties.insert((*name).to_owned(), schema);
            if *is_required {
                required.push(*name);
            }
        }
        let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        let mut put = |name: &str, value: Value| drop(schema.insert(name.to_owned(), value));
        if !self.name.is_empty() {
            put("title", json!(self.name));
        }
        if !self.description.is_empty() {
            put("description", json!(self.description));
        }
        put("properties", Value::Object(properties));
        if !required.is_empty() {
            put("required", json!(required));
        }
        if self.is_closed {
            put("additionalProperties", json!(false));
        }
        Value::Object(schema)
    }
}
