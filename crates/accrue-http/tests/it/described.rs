//! What the document says of an answer: as much of JSON Schema as the document has, and strict, since a
//! member that is not described is wrong.

use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::support::Host;

/// The document, as a client has it.
pub(crate) struct Described(pub(crate) Value);

/// Expects that an answer is as it is described.
pub(crate) fn check(method: &str, path: &str, status: u16, body: &[u8]) {
    static CURRENT: OnceLock<Described> = OnceLock::new();
    let described = CURRENT.get_or_init(|| Described::form("3.1"));
    let wrong = described.wrong(method, path, status, body);
    assert!(wrong.is_empty(), "not as described: {wrong:#?}");
}

impl Described {
    /// Asks for a form of the document.
    pub(crate) fn form(version: &str) -> Self {
        Self(Host::new().get(&format!("/openapi.json?version={version}")).json())
    }

    /// Returns what a reference leads to.
    pub(crate) fn follow<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => {
                let found = self.0.pointer(reference.trim_start_matches('#'));
                self.follow(found.unwrap_or_else(|| panic!("{reference} leads nowhere")))
            }
            None => schema,
        }
    }

    /// Returns a schema that has a name.
    pub(crate) fn named(&self, name: &str) -> &Value {
        let schema = &self.0["components"]["schemas"][name];
        assert!(schema.is_object(), "nothing is named {name}");
        schema
    }

    /// Returns every operation, with its method and its path.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        let paths = self.0["paths"].as_object().unwrap().iter();
        paths.flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
        })
    }

    /// Finds the operation of a path without its base; fixed segments win over parameters.
    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let segments: Vec<_> = path.split('/').collect();
        let parameters = |template: &str| {
            let template: Vec<_> = template.split('/').collect();
            let pairs = || template.iter().zip(&segments);
            let fits = template.len() == segments.len()
                && pairs().all(|(part, segment)| part.starts_with('{') || part == segment);
            fits.then(|| pairs().filter(|(part, _)| part.starts_with('{')).count())
        };
        let of_method = self.operations().filter(|(other, ..)| other.eq_ignore_ascii_case(method));
        let found = of_method.filter_map(|(_, path, found)| Some((parameters(path)?, found)));
        found.min_by_key(|(parameters, _)| *parameters).map(|(_, operation)| operation)
    }

    /// Returns what is wrong with an answer. One to a path that is not described is an error in any case.
    pub(crate) fn wrong(&self, method: &str, path: &str, status: u16, body: &[u8]) -> Vec<String> {
        let Some(operation) = self.operation(method, path) else { return Vec::new() };
        let response = &operation["responses"][status.to_string()];
        if response.is_null() {
            return vec![format!("{method} {path}: {status} is not declared")];
        }
        let schema = &self.follow(response)["content"]["application/json"]["schema"];
        let mut wrong = Vec::new();
        match (schema.is_null(), serde_json::from_slice(body)) {
            (true, _) if body.is_empty() => {}
            (false, Ok(value)) => self.judge(schema, &value, "", &mut wrong),
            _ => wrong.push("there is a body, or none, and the other is declared".to_owned()),
        }
        wrong.iter().map(|what| format!("{method} {path} {status}: {what}")).collect()
    }

    fn fits(&self, schema: &Value, value: &Value, at: &str) -> bool {
        let mut wrong = Vec::new();
        self.judge(schema, value, at, &mut wrong);
        wrong.is_empty()
    }

    fn judge(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        let schema = self.follow(schema);
        let list = |name: &str| schema[name].as_array();
        if let Some(kinds) = list("anyOf")
            && !kinds.iter().any(|kind| self.fits(kind, value, at))
        {
            wrong.push(format!("{at}: {value} is none of {}", schema["anyOf"]));
        }
        if list("oneOf").is_some() {
            let tag = schema["discriminator"]["propertyName"].as_str().unwrap();
            let mapping = &schema["discriminator"]["mapping"];
            match value[tag].as_str().and_then(|word| mapping[word].as_str()) {
                Some(named) => self.judge(&serde_json::json!({"$ref": named}), value, at, wrong),
                None => wrong.push(format!("{at}: {value} has no {tag} that is known")),
            }
        }
        // What is refined is described by the first of them.
        for part in list("allOf").into_iter().flatten().take(1) {
            self.judge(part, value, at, wrong);
        }
        if list("enum").is_some_and(|words| !words.contains(value)) {
            wrong.push(format!("{at}: {value} is none of {}", schema["enum"]));
        }
        let types: Vec<_> = match &schema["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        if !types.iter().any(|of| is_a(of, value)) {
            return wrong.push(format!("{at}: {value} is no {types:?}"));
        }
        match value {
            Value::Array(values) => {
                if schema["maxItems"].as_u64().is_some_and(|most| {
                    !usize::try_from(most).is_ok_and(|most| values.len() <= most)
                }) {
                    wrong.push(format!("{at} is too long"));
                }
                for (index, value) in values.iter().enumerate() {
                    self.judge(&schema["items"], value, &format!("{at}/{index}"), wrong);
                }
            }
            Value::Object(members) => self.judge_members(schema, members, at, wrong),
            _ => {}
        }
    }

    fn judge_members(
        &self,
        schema: &Value,
        members: &Map<String, Value>,
        at: &str,
        wrong: &mut Vec<String>,
    ) {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !members.contains_key(name.as_str().unwrap()) {
                wrong.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, value) in members {
            let at = format!("{at}/{name}");
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Null | Value::Bool(false)) => {
                    wrong.push(format!("{at} is not described"));
                }
                (Value::Null, others) => self.judge(others, value, &at, wrong),
                (described, _) => self.judge(described, value, &at, wrong),
            }
        }
    }
}

fn is_a(of: &str, value: &Value) -> bool {
    match of {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type of JSON"),
    }
}
