//! Webhook endpoints, and the messages that they are sent, over HTTP (subscriptions 10).

use std::sync::{Arc, Mutex};

use accrue::webhook::{Reach, WebhookKey};
use accrue_http::Webhooks;
use accrue_webhooks::{Failure, Response, Transport, Worker};
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use pollster::block_on;
use serde_json::{Value, json};

use crate::{backfills::tick, subscriptions::customer, support::Host};

const PATH: &str = "/v1/webhook_endpoints";
const START: &str = "2026-03-10T12:00:00.000000+00:00";

fn key() -> WebhookKey {
    WebhookKey::new(&[7; 32]).unwrap()
}

fn host() -> Host {
    Host::with(|builder| builder.webhooks(Webhooks::new(key())))
}

fn create(host: &Host, body: Value) -> Value {
    host.post(PATH, body).ok(StatusCode::CREATED)
}

fn path(endpoint: &Value, rest: &str) -> String {
    format!("{PATH}/{}{rest}", endpoint["id"].as_str().unwrap())
}

/// Answers with a status, and keeps what it is sent.
#[derive(Clone)]
struct Receiver(StatusCode, Arc<Mutex<Vec<(HeaderMap, Bytes)>>>);

#[async_trait]
impl Transport for Receiver {
    async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure> {
        let (head, body) = request.into_parts();
        self.1.lock().unwrap().push((head.headers, body));
        match self.0 {
            StatusCode::IM_A_TEAPOT => Err(Failure::TimedOut),
            status => Ok(Response::new(status)),
        }
    }
}

/// Delivers what is due, and returns what was sent.
fn deliver(host: &Host, answer: StatusCode) -> Vec<(HeaderMap, Bytes)> {
    let receiver = Receiver(answer, Arc::default());
    let worker = Worker::new(host.billing.clone(), host.api.clone(), receiver.clone(), key());
    block_on(worker.deliver_due()).unwrap();
    let received = receiver.1.lock().unwrap();
    received.clone()
}

#[test]
fn subscriptions_10_1_7_an_endpoint_is_created_with_a_secret_that_is_shown_once() {
    let host = host();
    let body = json!({
        "url": "https://hooks.example.com/billing", "enabled_event_types": ["subscription.ended"],
        "payload_style": "standard",
    });
    let created = create(&host, body.clone());
    let secret = created["secret"].as_str().unwrap().to_owned();
    assert_eq!((secret.len(), &secret[..6]), (50, "whsec_"));
    let shown = json!({
        "id": created["id"], "url": "https://hooks.example.com/billing", "enabled": true,
        "enabled_event_types": ["subscription.ended"], "payload_style": "standard",
        "created_at": START,
    });
    let mut expected = shown.clone();
    expected["secret"] = created["secret"].clone();
    assert_eq!(created, expected);
    assert_eq!(host.get(&path(&created, "")).ok(StatusCode::OK), shown);
    assert_eq!(host.get(PATH).ok(StatusCode::OK)["data"], json!([shown]));
    // A retry shows the same one, and nothing that is stored has it.
    let keyed = || host.keyed("POST", PATH, "k", body.clone()).ok(StatusCode::CREATED);
    let first = keyed();
    assert_eq!(keyed(), first);
    assert_ne!(first["secret"], created["secret"]);
}

#[test]
fn subscriptions_10_1_5_and_6_and_8_and_9_an_endpoint_is_changed_disabled_enabled_and_deleted() {
    let host = host();
    let created = create(&host, json!({"url": "https://one.example.com"}));
    assert_eq!(created["enabled_event_types"], json!(null));
    assert_eq!(created["payload_style"], "expanded");
    let put = |body: Value| host.put(&path(&created, ""), body).ok(StatusCode::OK);
    let only = put(json!({"enabled_event_types": ["invoice.issued", "customer.created"]}));
    assert_eq!(only["enabled_event_types"], json!(["customer.created", "invoice.issued"]));
    let moved = put(json!({"url": "https://two.example.com", "payload_style": null}));
    assert_eq!(moved["enabled_event_types"], only["enabled_event_types"], "absent: unchanged");
    assert_eq!(
        (&moved["url"], &moved["payload_style"]),
        (&json!("https://two.example.com"), &json!("expanded"))
    );
    let all = put(json!({"enabled_event_types": null, "url": null}));
    assert_eq!((&all["enabled_event_types"], &all["url"]), (&json!(null), &moved["url"]));
    for (to, enabled) in
        [("/disable", false), ("/disable", false), ("/enable", true), ("/enable", true)]
    {
        let changed = host.call("POST", &path(&created, to), "").ok(StatusCode::OK);
        assert_eq!(changed["enabled"], enabled);
    }
    assert_eq!(host.call("DELETE", &path(&created, ""), ()).status, 204);
    host.get(&path(&created, "")).error(404, "404-resource-not-found");
    host.call("DELETE", &path(&created, ""), ()).error(404, "404-resource-not-found");
    host.call("POST", &path(&created, "/enable"), "").error(404, "404-resource-not-found");
    assert!(host.walk("/v1/webhook_events").is_empty(), "no message tells of endpoints");
}

#[test]
fn subscriptions_10_1_1_to_3_what_is_wrong_with_an_endpoint() {
    let host = host();
    for (body, pointer) in [
        (json!({}), "/url"),
        (json!({"url": null}), "/url"),
        (json!({"url": "http://hooks.example.com"}), "/url"),
        (json!({"url": "https://localhost/"}), "/url"),
        (json!({"url": "https://169.254.169.254/"}), "/url"),
        (json!({"url": "https://2130706433/"}), "/url"),
        (json!({"url": "https://[::ffff:10.0.0.1]/"}), "/url"),
        (
            json!({"url": "https://a.example.com", "enabled_event_types": []}),
            "/enabled_event_types",
        ),
        (
            json!({"url": "https://a.example.com", "enabled_event_types": ["a.b"]}),
            "/enabled_event_types/0",
        ),
        (json!({"url": "https://a.example.com", "payload_style": "short"}), "/payload_style"),
        (json!({"url": "https://a.example.com", "secret": "mine"}), "/secret"),
    ] {
        let answer = host.post(PATH, body.clone()).error(400, "400-request-validation-errors");
        let first = answer["validation_errors"][0].as_str().unwrap();
        assert!(first.starts_with(&format!("{pointer}:")), "{body}: {first}");
    }
    assert_eq!(host.get(PATH).ok(StatusCode::OK)["data"], json!([]));
    for n in 0..20 {
        create(&host, json!({"url": format!("https://host{n}.example.com")}));
    }
    host.post(PATH, json!({"url": "https://more.example.com"}))
        .error(400, "400-constraint-violation");
    let none = Host::new();
    let new = json!({"url": "https://a.example.com"});
    none.post(PATH, new.clone()).error(404, "404-feature-not-available");
    let everything = Webhooks::new(key()).reaching(Reach::everything());
    let everywhere = Host::with(|builder| builder.webhooks(everything));
    create(&everywhere, json!({"url": "http://localhost:9000/hook"}));
}

#[test]
fn subscriptions_10_2_2_and_4_a_message_is_delivered_and_listed() {
    let host = host();
    create(&host, json!({"url": "https://one.example.com/hook"}));
    customer(&host, "ada");
    tick(&host);
    let sent = deliver(&host, StatusCode::NO_CONTENT);
    let [(headers, body)] = sent.as_slice() else { panic!("{sent:?}") };
    let payload: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(
        (&payload["type"], &payload["payload_style"]),
        (&json!("customer.created"), &json!("expanded"))
    );
    assert_eq!(headers["webhook-id"], payload["id"].as_str().unwrap());
    let listed = host.get("/v1/webhook_events").ok(StatusCode::OK);
    let attempt = &listed["data"][0]["delivery_attempts"][0];
    let expected = json!({
        "id": payload["id"], "type": "customer.created", "created_at": START, "is_delivered": true,
        "payload": payload,
        "delivery_attempts": [{
            "id": attempt["id"], "endpoint_url": "https://one.example.com/hook", "is_success": true,
            "response_status_code": 204, "elapsed_ms": 0, "created_at": START,
        }],
    });
    assert_eq!(listed["data"], json!([expected]));
    let one = format!("/v1/webhook_events/{}", payload["id"].as_str().unwrap());
    assert_eq!(host.get(&one).ok(StatusCode::OK), expected);
    let without = host.get("/v1/webhook_events?include_payload=false").ok(StatusCode::OK);
    assert_eq!(without["data"][0].get("payload"), None);
}

#[test]
fn subscriptions_10_2_1_and_3_and_6_messages_are_found_by_their_delivery_type_and_time() {
    let host = host();
    create(&host, json!({"url": "https://one.example.com/hook"}));
    customer(&host, "ada");
    deliver(&host, StatusCode::OK);
    host.clock.advance(std::time::Duration::from_secs(60));
    customer(&host, "bob");
    deliver(&host, StatusCode::IM_A_TEAPOT);
    host.clock.advance(std::time::Duration::from_secs(6));
    deliver(&host, StatusCode::FOUND);
    let found = |query: &str| {
        let page = host.get(&format!("/v1/webhook_events?{query}")).ok(StatusCode::OK);
        page["data"].as_array().unwrap().clone()
    };
    let names = |query: &str| -> Vec<_> {
        found(query).iter().map(|of| of["payload"]["customer"]["name"].clone()).collect()
    };
    assert_eq!(names(""), ["bob", "ada"], "newest first");
    assert_eq!(names("delivery_success=true"), ["ada"]);
    assert_eq!(names("delivery_success=false"), ["bob"]);
    assert_eq!(names("event_type=customer.created"), ["bob", "ada"]);
    assert_eq!(names("event_type=invoice.issued"), [""; 0]);
    assert_eq!(names("created_at[gt]=2026-03-10T12:00:00Z"), ["bob"]);
    assert_eq!(host.walk("/v1/webhook_events?limit=1").len(), 2);
    let attempts = found("delivery_success=false")[0]["delivery_attempts"].clone();
    let statuses = [&attempts[0]["response_status_code"], &attempts[1]["response_status_code"]];
    assert_eq!(
        statuses,
        [&json!(302), &json!(null)],
        "the newest first; a redirection is no success"
    );
    assert_eq!(
        (&attempts[0]["is_success"], &attempts[1]["elapsed_ms"]),
        (&json!(false), &json!(null))
    );
    for wrong in ["event_type=gone", "delivery_success=yes", "include_payload=1"] {
        host.get(&format!("/v1/webhook_events?{wrong}"))
            .error(400, "400-request-validation-errors");
    }
    host.get("/v1/webhook_events/07070707-0707-7707-8707-070707070707")
        .error(404, "404-resource-not-found");
}
