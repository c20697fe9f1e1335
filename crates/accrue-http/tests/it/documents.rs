//! The description of the API: OpenAPI in both forms, and the page (§9).

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::json;

use crate::support::{Answer, Host};

/// Asks without a key.
fn ask(host: &Host, method: &str, path: &str) -> Answer {
    let request = Request::builder().method(method).uri(path);
    host.send(request.body(Full::new(Bytes::new())).unwrap())
}

#[test]
fn s9_the_description_is_openapi_3_1() {
    let host = Host::new();
    for path in ["/openapi.json", "/openapi.json?version=3.1", "/openapi.json?version="] {
        let answer = ask(&host, "GET", path);
        let document = answer.ok(StatusCode::OK);
        assert_eq!(document["openapi"], "3.1.0", "{path}");
        assert_eq!(document["info"]["version"], "1.0");
        assert_eq!(document["security"], json!([{"bearer": []}]));
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[test]
fn s9_the_form_for_3_0_is_asked_for_by_version() {
    let answer = ask(&Host::new(), "GET", "/openapi.json?version=3.0");
    let document = answer.ok(StatusCode::OK);
    assert_eq!(document["openapi"], "3.0.3");
    let archived_at = &document["components"]["schemas"]["Item"]["properties"]["archived_at"];
    assert_eq!((&archived_at["type"], &archived_at["nullable"]), (&json!("string"), &json!(true)));
    let text = String::from_utf8(answer.bytes.to_vec()).unwrap();
    for newer in ["\"null\"", "\"const\"", "\"propertyNames\"", "\"type\":["] {
        assert!(!text.contains(newer), "{newer}");
    }
}

#[test]
fn an_operation_is_described_with_all_that_it_takes_and_answers() {
    let document = ask(&Host::new(), "GET", "/openapi.json").ok(StatusCode::OK);
    let create = &document["paths"]["/items"]["post"];
    assert_eq!(create["operationId"], "create-item");
    assert_eq!(create["tags"], json!(["Item"]));
    assert_eq!(create["parameters"], json!([{"$ref": "#/components/parameters/IdempotencyKey"}]));
    let of_json = |schema: &str| {
        let reference = format!("#/components/schemas/{schema}");
        json!({"application/json": {"schema": {"$ref": reference}}})
    };
    assert_eq!(create["requestBody"], json!({"required": true, "content": of_json("NewItem")}));
    assert_eq!(create["responses"]["201"]["content"], of_json("Item"));
    let statuses: Vec<_> = create["responses"].as_object().unwrap().keys().collect();
    assert_eq!(statuses, ["201", "400", "401", "404", "409", "413", "429", "500"]);
    // What only reads takes no key and meets no conflict; what has no body is told so.
    let list = &document["paths"]["/items"]["get"];
    assert_eq!(list["parameters"][0]["name"], "limit");
    assert_eq!(list["responses"]["409"], json!(null));
    let archive = &document["paths"]["/items/{item_id}/archive"]["post"];
    assert_eq!(archive["requestBody"], json!(null));
    assert_eq!(archive["parameters"][0]["name"], "item_id");
}

#[test]
fn the_description_is_that_of_this_host() {
    let host = Host::with(|builder| {
        builder.base_path("/billing/v1/").error_docs("https://docs.example.com/errors")
    });
    let document = ask(&host, "GET", "/openapi.json").ok(StatusCode::OK);
    assert_eq!(document["servers"], json!([{"url": "/billing/v1"}]));
    let conflict = &document["components"]["responses"]["Conflict"]["content"];
    let schema = &conflict["application/json"]["schema"]["allOf"][1];
    assert_eq!(
        schema["properties"]["type"]["enum"],
        json!(["https://docs.example.com/errors#409-resource-conflict"])
    );
    let page = String::from_utf8(ask(&host, "GET", "/docs").bytes.to_vec()).unwrap();
    assert!(page.contains("/billing/v1/items/{item_id}"));
    assert!(page.contains("https://docs.example.com/errors#"));
}

#[test]
fn pages_may_load_and_run_nothing() {
    for page in ["/docs", "/docs/pricing"] {
        let answer = ask(&Host::new(), "GET", page);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline';"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn only_the_description_needs_no_key() {
    let host = Host::new();
    for (method, path) in [
        ("POST", "/openapi.json"),
        ("GET", "/openapi.json/"),
        ("GET", "/v1/openapi.json"),
        ("GET", "/v1/docs"),
        ("GET", "/docs/x"),
    ] {
        ask(&host, method, path).error(401, "401-authentication-error");
    }
    host.get("/v1/docs").error(404, "404-url-not-found");
}
