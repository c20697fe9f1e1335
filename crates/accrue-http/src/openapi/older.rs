//! The form of the document that readers of OpenAPI 3.0 take (§9).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Makes the 3.0 form of a document of 3.1.
pub(super) fn from_current(mut document: Value) -> Value {
    rewrite_parameters(&mut document);
    rewrite_problems(&mut document);
    document = rewrite(document);
    if let Some(document) = document.as_object_mut() {
        document.insert("openapi".to_owned(), json!("3.0.3"));
    }
    document
}

/// Rewrites the parameters of queries for generators: one that may be empty says so by a word of its own, and of
/// one that there is alone and as a list, the list stays, since both would have one name in a language.
fn rewrite_parameters(document: &mut Value) {
    let Some(Value::Object(paths)) = document.get_mut("paths") else { return };
    let operations = paths.values_mut().filter_map(Value::as_object_mut).flatten();
    for (_, operation) in operations {
        let Some(Value::Array(parameters)) = operation.get_mut("parameters") else { continue };
        let names = parameters.iter().filter_map(|of| of["name"].as_str());
        let lists = names.filter_map(|name| name.strip_suffix("[]").map(str::to_owned));
        let lists: BTreeSet<_> = lists.collect();
        parameters.retain(|of| of["name"].as_str().is_none_or(|name| !lists.contains(name)));
        for parameter in parameters.iter_mut().filter_map(Value::as_object_mut) {
            let empty = json!({"type": "string", "maxLength": 0});
            let Some(Value::Array(kinds)) = parameter.get("schema").map(|of| &of["anyOf"]) else {
                continue;
            };
            if let [value, other] = kinds.as_slice()
                && *other == empty
            {
                let value = value.clone();
                parameter.insert("schema".to_owned(), value);
                parameter.insert("allowEmptyValue".to_owned(), json!(true));
            }
        }
    }
}

/// Gives all errors one schema: generators want one for an operation. Which statuses have which types of errors is
/// said by the current form alone.
fn rewrite_problems(document: &mut Value) {
    let Some(Value::Object(responses)) = document.pointer_mut("/components/responses") else {
        return;
    };
    for response in responses.values_mut() {
        if let Some(schema) = response.pointer_mut("/content/application~1json/schema")
            && let Some(problem) = schema.pointer("/allOf/0").cloned()
        {
            *schema = problem;
        }
    }
}

fn rewrite(value: Value) -> Value {
    match value {
        Value::Array(values) => Value::Array(values.into_iter().map(rewrite).collect()),
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| match (name.as_str(), value) {
                // These are names of the API's own, which may be those of keywords.
                ("properties", Value::Object(properties)) => {
                    let properties =
                        properties.into_iter().map(|(name, schema)| (name, rewrite(schema)));
                    (name, Value::Object(properties.collect()))
                }
                (_, value) => (name, rewrite(value)),
            });
            Value::Object(rewrite_schema(members.collect()))
        }
        other => other,
    }
}

/// Rewrites what 3.0 has no keyword for. It does nothing to what is no schema.
fn rewrite_schema(mut schema: Map<String, Value>) -> Map<String, Value> {
    let null = json!("null");
    if schema.get("type") == Some(&null) {
        schema.remove("type");
        schema.insert("enum".to_owned(), json!([Value::Null]));
        schema.insert("nullable".to_owned(), json!(true));
    }
    if let Some(Value::Array(types)) = schema.get("type") {
        let one = types.iter().find(|name| **name != null).cloned();
        let is_nullable = types.contains(&null);
        schema.insert("type".to_owned(), one.unwrap_or_else(|| json!("object")));
        if is_nullable {
            schema.insert("nullable".to_owned(), json!(true));
        }
    }
    if let Some(Value::Array(mut choices)) = schema.remove("anyOf") {
        let count = choices.len();
        choices.retain(|choice| *choice != json!({"enum": [null], "nullable": true}));
        if choices.len() < count {
            schema.insert("nullable".to_owned(), json!(true));
        }
        let keyword = if choices.len() == 1 { "allOf" } else { "anyOf" };
        schema.insert(keyword.to_owned(), Value::Array(choices));
    }
    // Beside a reference, 3.0 reads nothing.
    if schema.len() > 1
        && let Some(reference) = schema.remove("$ref")
    {
        schema.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")]
    {
        if let Some(Value::Number(bound)) = schema.get(exclusive).cloned() {
            schema.insert(inclusive.to_owned(), Value::Number(bound));
            schema.insert(exclusive.to_owned(), json!(true));
        }
    }
    schema.remove("propertyNames");
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(current: Value, expect: Value) {
        assert_eq!(rewrite(current.clone()), expect, "{current}");
    }

    #[test]
    fn null_is_a_keyword_of_its_own() {
        check(
            json!({"type": ["string", "null"], "enum": ["a", null]}),
            json!({"type": "string", "nullable": true, "enum": ["a", null]}),
        );
        check(
            json!({"anyOf": [{"$ref": "#/a"}, {"type": "null"}], "description": "b"}),
            json!({"allOf": [{"$ref": "#/a"}], "nullable": true, "description": "b"}),
        );
        check(
            json!({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "number"}], "nullable": true}),
        );
    }

    #[test]
    fn what_is_always_null_is_the_only_value_there_is() {
        check(
            json!({"type": "null", "description": "a"}),
            json!({"enum": [null], "nullable": true, "description": "a"}),
        );
    }

    #[test]
    fn a_parameter_may_be_empty_and_is_there_once() {
        let text = json!({"type": "string"});
        let empty = json!({"anyOf": [text, {"type": "string", "maxLength": 0}]});
        let list = json!({"type": "array", "items": text});
        let current = json!({"paths": {"/a": {"get": {"parameters": [
            {"name": "b", "schema": empty}, {"name": "c", "schema": empty},
            {"name": "c[]", "schema": list},
        ]}}}});
        let parameters = &from_current(current)["paths"]["/a"]["get"]["parameters"];
        let expect = json!([
            {"name": "b", "schema": text, "allowEmptyValue": true},
            {"name": "c[]", "schema": list},
        ]);
        assert_eq!(*parameters, expect);
    }

    #[test]
    fn all_errors_have_one_schema() {
        let problem = json!({"$ref": "#/components/schemas/Problem"});
        let content = |schema: Value| json!({"application/json": {"schema": schema}});
        let of = |schema: Value| json!({"components": {"responses": {"A": {"content": content(schema)}}}});
        let current = of(json!({"allOf": [problem, {"type": "object"}]}));
        assert_eq!(from_current(current)["components"], of(problem)["components"]);
    }

    #[test]
    fn nothing_stands_beside_a_reference() {
        check(json!({"$ref": "#/a"}), json!({"$ref": "#/a"}));
        check(
            json!({"$ref": "#/a", "description": "b"}),
            json!({"allOf": [{"$ref": "#/a"}], "description": "b"}),
        );
    }

    #[test]
    fn exclusive_bounds_are_flags() {
        check(
            json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 9}),
            json!({
                "type": "number",
                "minimum": 0,
                "exclusiveMinimum": true,
                "maximum": 9,
                "exclusiveMaximum": true,
            }),
        );
    }

    #[test]
    fn what_there_is_no_word_for_is_left_out() {
        check(
            json!({"type": "object", "propertyNames": {"maxLength": 1}}),
            json!({"type": "object"}),
        );
    }

    #[test]
    fn properties_may_be_called_like_keywords() {
        let properties = json!({
            "type": {"type": ["string", "null"]},
            "anyOf": {"type": "array", "items": {}},
            "propertyNames": {"type": "string"},
            "properties": {"type": "object", "properties": {}},
        });
        let mut expect = properties.clone();
        expect["type"] = json!({"type": "string", "nullable": true});
        check(json!({"properties": properties}), json!({"properties": expect}));
    }
}
