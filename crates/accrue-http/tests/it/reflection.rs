//! No answer gives back what could be a secret: credentials, values of bodies, unknown headers.

use http::HeaderValue;
use serde_json::json;

use crate::{
    scene::Scene,
    support::{Answer, Body, Host, TOKEN, event, request},
};

const MARK: &str = "s3cr3t-m4rk";

#[track_caller]
fn says_nothing(answer: &Answer) {
    let all = format!("{:?}\n{}", answer.headers, String::from_utf8_lossy(&answer.bytes));
    for secret in [MARK, TOKEN] {
        assert!(!all.contains(secret), "{all}");
    }
}

#[test]
fn credentials_and_unknown_headers_do_not_come_back() {
    let host = Host::new();
    for (method, path) in
        [("GET", "/v1/ping"), ("GET", "/v1/none"), ("POST", "/v1/items"), ("GET", "/v1/items?x=1")]
    {
        let marked = [
            ("x-marked", MARK),
            ("cookie", MARK),
            ("x-api-key", MARK),
            ("content-type", MARK),
            ("accept", MARK),
            ("origin", MARK),
            ("x-request-id", MARK),
        ];
        says_nothing(&host.send(request(method, path, Body::from(()), &marked)));
        for line in [format!("Bearer {MARK}"), format!("Basic {MARK}"), MARK.to_owned()] {
            let mut stranger = request(method, path, Body::from(()), &marked);
            let line = HeaderValue::from_str(&line).unwrap();
            stranger.headers_mut().insert("authorization", line);
            let answer = host.send(stranger);
            assert_eq!(answer.status, 401);
            says_nothing(&answer);
        }
    }
    let packed = [("content-encoding", MARK)];
    let answer = host.send(request("POST", "/v1/items", json!({"name": "T"}).into(), &packed));
    assert_eq!(answer.status, 400);
    says_nothing(&answer);
}

#[test]
fn values_of_bodies_that_are_refused_do_not_come_back() {
    let host = Host::new();
    let item = format!("/v1/items/{}", host.item("Tokens"));
    let long = MARK.repeat(100);
    for body in [
        json!(MARK),
        json!([MARK]),
        json!({"unknown": MARK}),
        json!({"name": long}),
        json!({"name": [MARK]}),
        json!({"metadata": MARK}),
        json!({"metadata": {"key": [MARK]}}),
        json!({"metadata": {"key": long}}),
        json!({"external_connections": MARK}),
        json!({"external_connections": [MARK]}),
        json!({"external_connections": [{"external_connection_name": MARK}]}),
        json!({"external_connections": [
            {"external_connection_name": "stripe", "external_entity_id": long}
        ]}),
    ] {
        let answer = host.put(&item, body.clone());
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        says_nothing(&answer);
    }
    for text in [
        format!("{{{MARK}"),
        format!("{{\"name\":{MARK}}}"),
        format!("{{\"name\":\"{MARK}\",}}"),
        format!("{{\"name\":\"{MARK}\\x\"}}"),
        format!("{{\"name\":\"{MARK}\",\"name\":\"{MARK}\"}}"),
        format!("\"{MARK}"),
    ] {
        let answer = host.put(&item, &*text);
        assert_eq!(answer.status, 400, "{text}: {answer:?}");
        says_nothing(&answer);
    }
}

#[test]
fn values_of_events_that_are_refused_do_not_come_back() {
    let host = Host::new();
    host.post("/v1/ingest", json!({"events": [event("there")]})).ok(http::StatusCode::OK);
    let long = MARK.repeat(500);
    for (field, value) in [
        ("event_name", json!(long)),
        ("event_name", json!([MARK])),
        ("timestamp", json!(MARK)),
        ("timestamp", json!([MARK])),
        ("external_customer_id", json!(long)),
        ("external_customer_id", json!({"a": MARK})),
        ("customer_id", json!(MARK)),
        ("properties", json!(MARK)),
        ("properties", json!({"key": [MARK]})),
        ("properties", json!({"key": {"nested": MARK}})),
        ("properties", json!({"key": long})),
    ] {
        let mut bad = event("k");
        bad[field] = value;
        if field == "customer_id" {
            bad["external_customer_id"].take();
        }
        let answer = host.post("/v1/ingest", json!({"events": [bad]}));
        assert_eq!(answer.status, 400, "{field}: {answer:?}");
        says_nothing(&answer);
    }
    let mut changed = event("there");
    changed["properties"]["tokens"] = json!(MARK);
    let answer = host.post("/v1/ingest", json!({"events": [changed]}));
    assert_eq!(answer.status, 400);
    says_nothing(&answer);
    let number = format!("{}1e99", "123456789".repeat(4));
    let body = json!({"events": [event("n")]}).to_string().replace('7', &number);
    let answer = host.post("/v1/ingest", &*body);
    assert_eq!(answer.status, 400, "{answer:?}");
    assert!(!String::from_utf8_lossy(&answer.bytes).contains("123456789"), "{answer:?}");
}

/// Members that some operation knows, and one that none does.
const MEMBERS: [&str; 44] = [
    "name",
    "email",
    "additional_emails",
    "timezone",
    "currency",
    "metadata",
    "payment_provider",
    "payment_provider_id",
    "billing_address",
    "tax_id",
    "description",
    "sql",
    "model_type",
    "unit_config",
    "tiered_config",
    "matrix_config",
    "cadence",
    "fixed_price_quantity",
    "billing_cycle_configuration",
    "conversion_rate",
    "conversion_rate_config",
    "metric_parameters",
    "timeframe_start",
    "timeframe_end",
    "filter",
    "grouping_keys",
    "entry_type",
    "amount",
    "expiry_date",
    "effective_date",
    "per_unit_cost_basis",
    "invoice_settings",
    "type",
    "thresholds",
    "price_filters",
    "close_time",
    "replace_existing_events",
    "deprecation_filter",
    "event_name",
    "timestamp",
    "properties",
    "price_evaluations",
    "events",
    "unheard_of",
];

#[test]
fn values_of_any_member_that_is_refused_do_not_come_back() {
    let host = Host::new();
    let Scene { item, metric, customer, price, alert } = Scene::set(&host);
    let paths = [
        ("POST", "/v1/items".to_owned()),
        ("PUT", format!("/v1/items/{item}")),
        ("POST", "/v1/metrics".to_owned()),
        ("PUT", format!("/v1/metrics/{metric}")),
        ("POST", "/v1/customers".to_owned()),
        ("PUT", format!("/v1/customers/{customer}")),
        ("POST", "/v1/prices".to_owned()),
        ("PUT", format!("/v1/prices/{price}")),
        ("POST", format!("/v1/prices/{price}/evaluate")),
        ("POST", "/v1/prices/evaluate".to_owned()),
        ("POST", "/v1/prices/evaluate_preview_events".to_owned()),
        ("POST", format!("/v1/customers/{customer}/credits/ledger_entry")),
        ("POST", format!("/v1/alerts/customer_id/{customer}")),
        ("PUT", format!("/v1/alerts/{alert}")),
        ("POST", "/v1/events/search".to_owned()),
        ("POST", "/v1/events/backfills".to_owned()),
        ("PUT", "/v1/events/10".to_owned()),
    ];
    let values = [
        json!(MARK),
        json!(MARK.repeat(1_000)),
        json!([MARK]),
        json!([{"value": MARK}]),
        json!({"unit_amount": MARK, "duration": MARK, "conversion_rate_type": MARK}),
        json!({"tiers": [{"first_unit": MARK, "unit_amount": MARK}], "dimensions": MARK}),
        json!({"field": MARK, "operator": MARK, "values": MARK}),
    ];
    let base = json!({
        "name": "Name", "email": "a@example.com", "description": null, "item_id": item,
        "sql": "SELECT count(*) FROM events", "billable_metric_id": metric, "currency": "USD",
        "cadence": "monthly", "model_type": "unit", "unit_config": {"unit_amount": "1"},
        "timeframe_start": "2026-03-01T00:00:00Z", "timeframe_end": "2026-03-02T00:00:00Z",
        "customer_id": customer, "entry_type": "increment", "amount": 1,
        "type": "credit_balance_dropped", "thresholds": [{"value": 1}],
        "price_evaluations": [{"price_id": price}],
        "events": [{"event_name": "a", "timestamp": "2026-03-01T00:00:00Z", "properties": {}}],
    });
    let mut refused = 0;
    for (method, path) in &paths {
        // Of the members of the base those that this operation knows.
        let unknown = host.call(method, path, base.clone());
        let known = match unknown.json()["validation_errors"].as_array() {
            None => base.clone(),
            Some(wrong) => {
                let mut known = base.clone();
                for wrong in wrong {
                    if let Some(name) = wrong.as_str().unwrap().strip_suffix(": is unknown") {
                        known.as_object_mut().unwrap().remove(&name[1..]);
                    }
                }
                known
            }
        };
        for member in MEMBERS {
            for value in &values {
                let mut body = known.clone();
                body[member] = value.clone();
                let answer = host.call(method, path, body);
                if answer.status >= 400 {
                    refused += 1;
                    says_nothing(&answer);
                }
            }
        }
    }
    assert!(refused > 2_000, "{refused}");
}

#[test]
fn values_of_queries_that_are_refused_do_not_come_back() {
    let host = Host::new();
    for query in ["limit=MARK", "cursor=MARK", "limit=1&limit=MARK", "cursor=%ffMARK"] {
        let answer = host.get(&format!("/v1/items?{}", query.replace("MARK", MARK)));
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
        says_nothing(&answer);
    }
    for query in ["timeframe_start=MARK", "timeframe_start=2026-03-10T00:00:00Z&timeframe_end=MARK"]
    {
        let answer = host.get(&format!("/v1/events/volume?{}", query.replace("MARK", MARK)));
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
        says_nothing(&answer);
    }
}

#[test]
fn a_name_that_is_unknown_comes_back_cut() {
    let host = Host::new();
    let name = "n".repeat(10_000);
    let answer = host.post("/v1/items", json!({"name": "Tokens", name: 1}));
    let body = answer.error(400, "400-request-validation-errors");
    let expect = format!("/{}: is unknown", "n".repeat(64));
    assert_eq!(body["validation_errors"], json!([expect]));
}

#[test]
fn nothing_of_the_key_of_a_request_is_in_a_body() {
    let host = Host::new();
    for _ in 0..2 {
        let created = host.keyed("POST", "/v1/items", MARK, json!({"name": "Tokens"}));
        assert!(!String::from_utf8_lossy(&created.bytes).contains(MARK));
    }
    for body in [json!({"name": "Other"}), json!({})] {
        let answer = host.keyed("POST", "/v1/items", MARK, body);
        assert_eq!(answer.status, 409);
        assert!(!String::from_utf8_lossy(&answer.bytes).contains(MARK));
    }
}
