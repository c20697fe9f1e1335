//! Metrics over HTTP.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::Host;

const SQL: &str = "SELECT sum(tokens) FROM events";

fn item(host: &Host) -> Value {
    let new = json!({"name": "Model", "metadata": {"team": "a"}});
    host.post("/v1/items", new).ok(StatusCode::CREATED)
}

/// Creates a metric of a new item.
fn metric(host: &Host, name: &str) -> Value {
    let item = item(host);
    let new = json!({"name": name, "description": null, "item_id": item["id"], "sql": SQL});
    host.post("/v1/metrics", new).ok(StatusCode::CREATED)
}

fn path(metric: &Value) -> String {
    format!("/v1/metrics/{}", metric["id"].as_str().unwrap())
}

#[test]
fn wire_5_2_a_metric_is_answered_whole_with_its_item() {
    let host = Host::new();
    let item = item(&host);
    let new = json!({
        "name": "Tokens", "description": "Output", "item_id": item["id"], "sql": SQL,
        "metadata": {"a": "1", "gone": null},
    });
    let metric = host.post("/v1/metrics", new).ok(StatusCode::CREATED);
    let expected = json!({
        "id": metric["id"],
        "name": "Tokens",
        "description": "Output",
        "status": "active",
        "item": item,
        "metadata": {"a": "1"},
        "sql": SQL,
    });
    assert_eq!(metric, expected);
    assert_eq!(host.get(&path(&metric)).ok(StatusCode::OK), expected);
}

#[test]
fn wire_5_2_a_description_has_to_be_there_and_may_be_null() {
    let host = Host::new();
    let item = item(&host);
    let new = json!({"name": "Tokens", "item_id": item["id"], "sql": SQL});
    let refused = host.post("/v1/metrics", new).error(400, "400-request-validation-errors");
    assert_eq!(refused["validation_errors"], json!(["/description: is missing"]));
    assert_eq!(metric(&host, "Tokens")["description"], Value::Null);
}

#[test]
fn all_that_is_wrong_with_a_metric_is_listed() {
    let host = Host::new();
    let new = json!({"description": 1, "item_id": 2, "sql": "SELECT", "dialect": "x"});
    let refused = host.post("/v1/metrics", new).error(400, "400-request-validation-errors");
    let errors = refused["validation_errors"].as_array().unwrap();
    let fields: Vec<_> =
        errors.iter().map(|error| error.as_str().unwrap().split_once(':').unwrap().0).collect();
    assert_eq!(fields, ["/dialect", "/name", "/description", "/item_id", "/sql"]);
}

#[test]
fn what_a_metric_names_has_to_be_there() {
    let host = Host::new();
    let new = |item: &str| json!({"name": "A", "description": null, "item_id": item, "sql": SQL});
    host.post("/v1/metrics", new("none")).error(404, "404-resource-not-found");
    let item = item(&host);
    let id = item["id"].as_str().unwrap();
    host.post(&format!("/v1/items/{id}/archive"), ()).ok(StatusCode::OK);
    host.post("/v1/metrics", new(id)).error(400, "400-constraint-violation");
    host.get("/v1/metrics/none").error(404, "404-resource-not-found");
}

#[test]
fn wire_5_1_name_description_and_metadata_change() {
    let host = Host::new();
    let metric = metric(&host, "Tokens");
    let update = json!({"name": "Output", "description": "What comes out", "metadata": {"a": "1"}});
    let changed = host.put(&path(&metric), update).ok(StatusCode::OK);
    let mut expected = metric.clone();
    expected["name"] = json!("Output");
    expected["description"] = json!("What comes out");
    expected["metadata"] = json!({"a": "1"});
    assert_eq!(changed, expected);
    assert_eq!(host.put(&path(&metric), json!({})).ok(StatusCode::OK), expected);
    let cleared = host.put(&path(&metric), json!({"description": null, "metadata": null}));
    expected["description"] = Value::Null;
    expected["metadata"] = json!({});
    assert_eq!(cleared.ok(StatusCode::OK), expected);
    let refused = host.put(&path(&metric), json!({"sql": SQL}));
    refused.error(400, "400-request-validation-errors");
    host.put("/v1/metrics/none", json!({})).error(404, "404-resource-not-found");
}

#[test]
fn wire_5_1_a_metric_is_archived_once_and_unarchived_once() {
    let host = Host::new();
    let metric = metric(&host, "Tokens");
    let call = |what: &str| host.post(&format!("{}/{what}", path(&metric)), ());
    call("unarchive").error(400, "400-constraint-violation");
    let mut expected = metric.clone();
    expected["status"] = json!("archived");
    assert_eq!(call("archive").ok(StatusCode::OK), expected);
    call("archive").error(400, "400-constraint-violation");
    assert_eq!(call("unarchive").ok(StatusCode::OK), metric);
    host.post("/v1/metrics/none/archive", ()).error(404, "404-resource-not-found");
    host.post("/v1/metrics/none/unarchive", ()).error(404, "404-resource-not-found");
}

#[test]
fn wire_6_2_metrics_are_listed_newest_first_to_the_end() {
    let host = Host::new();
    let mut created = Vec::new();
    for name in ["a", "b", "c"] {
        created.insert(0, metric(&host, name));
        host.clock.advance(Duration::from_secs(60));
    }
    assert_eq!(host.walk("/v1/metrics?limit=1"), created);
    let since = "created_at%5Bgte%5D=2026-03-10T12:01:00Z&created_at%5Blt%5D=2026-03-10T12:02:00Z";
    assert_eq!(host.walk(&format!("/v1/metrics?{since}")), created[1..2]);
    let after = "created_at%5Bgt%5D=2026-03-10T12:00:00Z&created_at%5Blte%5D=2026-03-10T12:02:00Z";
    assert_eq!(host.walk(&format!("/v1/metrics?{after}")), created[..2]);
}

#[test]
fn wire_5_1_metrics_are_listed_by_status() {
    let host = Host::new();
    let (kept, archived) = (metric(&host, "kept"), metric(&host, "archived"));
    host.post(&format!("{}/archive", path(&archived)), ()).ok(StatusCode::OK);
    let archived = host.get(&path(&archived)).ok(StatusCode::OK);
    assert_eq!(host.walk("/v1/metrics?status=active"), [kept]);
    assert_eq!(host.walk("/v1/metrics?status=archived"), [archived]);
    assert!(host.walk("/v1/metrics?status=draft").is_empty());
    host.get("/v1/metrics?status=old").error(400, "400-request-validation-errors");
    host.get("/v1/metrics?limit=0").error(400, "400-request-validation-errors");
}

#[test]
fn s4_5_6_a_metric_is_replayed_byte_for_byte() {
    let host = Host::new();
    let item = item(&host);
    let new = json!({"name": "Tokens", "description": null, "item_id": item["id"], "sql": SQL});
    let send = || host.keyed("POST", "/v1/metrics", "metric-1", new.clone());
    let (first, second) = (send(), send());
    first.ok(StatusCode::CREATED);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(host.walk("/v1/metrics").len(), 1);
}
