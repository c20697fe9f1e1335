use std::collections::BTreeMap;

use accrue::limits;
use serde_json::{Map, Value, json};

use crate::{
    operation::{Effect, Method, Operation},
    operations,
    problem::{KINDS, Kind, row},
    settings::Settings,
    shape::{Named, Object, Property, Schema, Side},
};

/// Renders the document in its 3.1 form.
pub(super) fn render(base: &str, settings: &Settings) -> Value {
    let mut named = Named::new();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    let templates = Templates::of(operations::all());
    for operation in operations::all() {
        let template = templates.find(operation);
        let methods = paths.entry(template.to_owned()).or_default();
        let name = operation.method.name().to_ascii_lowercase();
        methods.insert(name, render_operation(operation, template, &mut named));
    }
    named.insert("Problem", problem());
    named.insert("IdempotencyKey", key_schema());
    let tags: std::collections::BTreeSet<_> = operations::all().map(Operation::resource).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "accrue",
            "version": "1.0",
            "description": DESCRIPTION,
        },
        "servers": [{"url": if base.is_empty() { "/" } else { base }}],
        "security": [{"bearer": []}],
        "tags": tags.into_iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "parameters": {"IdempotencyKey": key_parameter()},
            "headers": headers(),
            "schemas": named,
            "responses": problem_responses(&settings.error_docs),
        },
    })
}

const DESCRIPTION: &str =
    "Usage-based billing: metering, prices, subscriptions, credits and alerts.";

/// One template for the operations of a path, which name its parameters differently.
pub(super) struct Templates(BTreeMap<String, &'static str>);

impl Templates {
    /// The first operation of a path names its parameters.
    fn of(operations: impl Iterator<Item = &'static Operation>) -> Self {
        let mut templates = BTreeMap::new();
        for operation in operations {
            templates.entry(shape(operation.path)).or_insert(operation.path);
        }
        Self(templates)
    }

    fn find(&self, operation: &Operation) -> &'static str {
        self.0.get(&shape(operation.path)).copied().unwrap_or(operation.path)
    }
}

fn shape(path: &str) -> String {
    let segments =
        path.split('/').map(|segment| if parameter(segment).is_some() { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Returns the names of the parameters of a path.
pub(super) fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(parameter)
}

/// Returns what a query may have. None of it can be null.
pub(super) fn query_parameters(operation: &Operation) -> Vec<Property> {
    let Some(Schema::Object(Object { properties, .. })) = operation.query.map(|query| query())
    else {
        return Vec::new();
    };
    let properties = properties.into_iter().map(|property| match property.schema {
        Schema::Nullable(inner) => Property { schema: *inner, ..property },
        _ => property,
    });
    properties.collect()
}

/// Returns the schema of a body, and whether there has to be one.
pub(super) fn body(operation: &Operation) -> Option<(Schema, bool)> {
    match operation.body?() {
        Schema::Nullable(inner) => Some((*inner, false)),
        schema => Some((schema, true)),
    }
}

/// Returns the kinds of errors that an operation may answer with, by their status.
pub(super) fn problems(operation: &Operation) -> BTreeMap<u16, Vec<Kind>> {
    let conflicts = operation.takes_keys() || operation.effect == Effect::Writes;
    let mut problems: BTreeMap<u16, Vec<Kind>> = BTreeMap::new();
    for kind in KINDS {
        if kind != Kind::ResourceConflict || conflicts {
            problems.entry(row(kind).status.as_u16()).or_default().push(kind);
        }
    }
    problems
}

fn render_operation(operation: &Operation, template: &str, named: &mut Named) -> Value {
    let path = path_parameters(template).map(|name| {
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "schema": {"type": "string", "minLength": 1},
        })
    });
    let mut parameters: Vec<_> = path.collect();
    for Property { name, description, schema, is_required } in query_parameters(operation) {
        let is_list = matches!(schema, Schema::Array { .. });
        let value = match schema.render(Side::Request, named) {
            value if is_required || is_list => value,
            // Clients send a null as an empty text (wire 6.4).
            value => json!({"anyOf": [value, {"type": "string", "maxLength": 0}]}),
        };
        let mut parameter = json!({
            "name": name,
            "in": "query",
            "required": is_required,
            "description": description,
            "schema": value,
        });
        if let (true, Some(parameter)) = (is_list, parameter.as_object_mut()) {
            parameter.insert("style".to_owned(), json!("form"));
            parameter.insert("explode".to_owned(), json!(true));
        }
        parameters.push(parameter);
    }
    if operation.takes_keys() {
        parameters.push(json!({"$ref": "#/components/parameters/IdempotencyKey"}));
    }
    let mut responses = Map::from_iter([(operation.status.to_string(), success(operation, named))]);
    for status in problems(operation).into_keys() {
        let reference = format!("#/components/responses/{}", response_name(status));
        responses.insert(status.to_string(), json!({"$ref": reference}));
    }
    let mut rendered = Map::from_iter([
        ("operationId".to_owned(), json!(operation.id)),
        ("summary".to_owned(), json!(operation.summary)),
        ("tags".to_owned(), json!([operation.resource()])),
        ("responses".to_owned(), Value::Object(responses)),
    ]);
    if !parameters.is_empty() {
        rendered.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some((schema, is_required)) = body(operation) {
        let content = json!({
            "required": is_required,
            "content": {"application/json": {"schema": schema.render(Side::Request, named)}},
        });
        rendered.insert("requestBody".to_owned(), content);
    }
    Value::Object(rendered)
}

fn success(operation: &Operation, named: &mut Named) -> Value {
    let description = match operation.status {
        201 => "It was created.",
        204 => "It was done. There is no body.",
        _ => "It was done.",
    };
    let mut response = Map::from_iter([("description".to_owned(), json!(description))]);
    if matches!(operation.method, Method::Post) {
        response
            .insert("headers".to_owned(), referred(&["Idempotency-Key", "Idempotent-Replayed"]));
    }
    if let Some(answer) = operation.answer {
        let schema = answer().render(Side::Answer, named);
        response.insert("content".to_owned(), json!({"application/json": {"schema": schema}}));
    }
    Value::Object(response)
}

fn key_parameter() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "Names the action: sent again under the same key within 48 hours, it has \
            no second effect and the same answer.",
        "schema": {"$ref": "#/components/schemas/IdempotencyKey"},
    })
}

fn key_schema() -> Value {
    json!({
        "title": "IdempotencyKey",
        "type": "string",
        "minLength": 1,
        "maxLength": limits::IDEMPOTENCY_KEY_CHARACTERS,
        // What every client can send in a header.
        "pattern": "^[!-~]([ -~]*[!-~])?$",
    })
}

/// The headers of answers, with what they say.
pub(super) const HEADERS: [(&str, &str); 5] = [
    ("Idempotency-Key", "The idempotency key of the request."),
    ("Idempotent-Replayed", "`true` where the answer is that of an earlier request under the key."),
    ("Retry-After", "Number of seconds to wait before another try."),
    ("Transient-Error", "`true` where the failure passes: try again under the same key."),
    ("x-should-retry", "`false` where trying again cannot succeed, whatever the status says."),
];

fn headers() -> Value {
    let headers = HEADERS.into_iter().map(|(name, description)| {
        let schema = match name {
            "Retry-After" => json!({"type": "integer", "minimum": 1}),
            "Idempotent-Replayed" | "Transient-Error" => {
                json!({"type": "string", "enum": ["true"]})
            }
            "x-should-retry" => json!({"type": "string", "enum": ["false"]}),
            _ => json!({"type": "string"}),
        };
        (name.to_owned(), json!({"description": description, "schema": schema}))
    });
    Value::Object(headers.collect())
}

fn referred(names: &[&str]) -> Value {
    let headers = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"$ref": format!("#/components/headers/{name}")})));
    Value::Object(headers.collect())
}

/// The body of an error (§7, wire 6.6).
fn problem() -> Value {
    json!({
        "title": "Problem",
        "type": "object",
        "description": "Error: the reason why a request failed.",
        "properties": {
            "type": {"type": "string", "description": "The kind of error."},
            "status": {"type": "integer", "description": "The status of the kind of error."},
            "title": {"type": "string", "description": "Title of the kind of error."},
            "detail": {"type": "string", "description": "Explanation of what is wrong with this request."},
            "validation_errors": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Everything that is wrong with a request that is not valid, each \
                    with a JSON pointer before it.",
            },
            "validation_failed": {
                "type": "array",
                "description": "The events that a batch was refused for.",
                "items": {
                    "type": "object",
                    "properties": {
                        "idempotency_key": {"type": ["string", "null"]},
                        "validation_errors": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["idempotency_key", "validation_errors"],
                },
            },
        },
        "required": ["type", "status", "title", "detail"],
    })
}

fn response_name(status: u16) -> &'static str {
    match status {
        400 => "Invalid",
        401 => "Unauthenticated",
        404 => "NotFound",
        409 => "Conflict",
        413 => "TooLarge",
        429 => "TooMany",
        _ => "Failure",
    }
}

fn problem_responses(error_docs: &str) -> Value {
    let mut by_status: BTreeMap<u16, Vec<Kind>> = BTreeMap::new();
    for kind in KINDS {
        by_status.entry(row(kind).status.as_u16()).or_default().push(kind);
    }
    let responses = by_status.into_iter().map(|(status, kinds)| {
        let types = kinds.iter().map(|kind| format!("{error_docs}#{}", row(*kind).anchor));
        let titles: Vec<_> = kinds.iter().map(|kind| row(*kind).title).collect();
        let mut statuses: Vec<_> = kinds.iter().map(|kind| row(*kind).body_status).collect();
        statuses.sort_unstable();
        statuses.dedup();
        let headers = match status {
            409 => &["Idempotency-Key", "Retry-After", "x-should-retry"][..],
            429 => &["Idempotency-Key", "Retry-After"],
            500 => &["Idempotency-Key", "Transient-Error"],
            _ => &["Idempotency-Key"],
        };
        let of_this_status = json!({
            "type": "object",
            "properties": {
                "type": {"type": "string", "enum": types.collect::<Vec<_>>()},
                "status": {"type": "integer", "enum": statuses},
            },
        });
        let problem = json!({"$ref": "#/components/schemas/Problem"});
        let schema = json!({"allOf": [problem, of_this_status]});
        let response = json!({
            "description": titles.join(" "),
            "headers": referred(headers),
            "content": {"application/json": {"schema": schema}},
        });
        (response_name(status).to_owned(), response)
    });
    Value::Object(responses.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::router::Router;

    fn document() -> Value {
        render("/v1", &Settings::default())
    }

    #[test]
    fn the_document_and_the_router_have_the_same_operations() {
        let router = Router::new("/v1", operations::all());
        let document = document();
        let mut documented = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let method = method.to_ascii_uppercase().parse().unwrap();
                let path = format!("/v1{}", path.replace(['{', '}'], ""));
                let found = router.find(&method, &path).unwrap().operation;
                assert_eq!(operation["operationId"], json!(found.id), "{path}");
                assert!(operation["responses"][found.status.to_string()].is_object(), "{path}");
                documented.insert(found.id);
            }
        }
        let served: BTreeSet<_> = operations::all().map(|operation| operation.id).collect();
        assert_eq!(documented, served);
    }

    #[test]
    fn objects_of_one_name_are_one() {
        let mut named: BTreeMap<&str, (Side, Object)> = BTreeMap::new();
        for operation in operations::all() {
            let sides = [
                (Side::Request, operation.query),
                (Side::Request, operation.body),
                (Side::Answer, operation.answer),
            ];
            for (side, schema) in sides {
                let Some(schema) = schema.map(|schema| schema()) else { continue };
                let mut objects = Vec::new();
                schema.objects(&mut objects);
                for object in objects {
                    let found = (side, object.clone());
                    let known = named.entry(object.name).or_insert_with(|| found.clone());
                    assert_eq!(*known, found, "{} is two things", object.name);
                    assert_ne!(object.name, "Problem");
                }
            }
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let mut references = Vec::new();
        find_references(&document, &mut references);
        assert!(references.len() > 20);
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some_and(Value::is_object), "{reference}");
        }
    }

    fn find_references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    found.push(reference.clone());
                }
                members.values().for_each(|value| find_references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| find_references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn operations_of_one_path_share_its_template() {
        let [one, other] = [
            &const { Operation::get("/alerts/{alert_id}", "alerts.retrieve", "fetch-alert") },
            &const {
                Operation::put("/alerts/{alert_configuration_id}", "alerts.update", "update-alert")
            },
        ];
        let templates = Templates::of([one, other].into_iter());
        assert_eq!(templates.find(one), "/alerts/{alert_id}");
        assert_eq!(templates.find(other), "/alerts/{alert_id}");
    }
}
