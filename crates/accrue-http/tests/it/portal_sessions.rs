//! Sessions of customers in the portal of the host (invoicing 16.3).

use accrue_http::Portal;
use http::StatusCode;
use pollster::block_on;
use serde_json::{Value, json};

use crate::support::{Answer, Host};

const ADDRESS: &str = "https://portal.example.com/?token=";
const EXTERNAL: &str = "/v1/customers/external_customer_id/ada/portal_sessions";

/// A host with a portal, and a customer.
struct Doors {
    host: Host,
    portal: Portal,
    customer: Value,
}

impl Doors {
    fn new() -> Self {
        let portal = Portal::new(ADDRESS, &[7; 32]);
        let host = Host::with(|builder| builder.portal(portal.clone()));
        let ada = json!({
            "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
        });
        let customer = host.post("/v1/customers", ada).ok(StatusCode::CREATED);
        Self { host, portal, customer }
    }

    fn path(&self) -> String {
        format!("/v1/customers/{}/portal_sessions", self.customer["id"].as_str().unwrap())
    }

    fn open(&self, body: Value) -> Value {
        self.host.post(&self.path(), body).ok(StatusCode::CREATED)
    }

    /// Tells whose customer an address lets in.
    fn lets_in(&self, session: &Value) -> Option<String> {
        let token = session["url"].as_str().unwrap().strip_prefix(ADDRESS).unwrap();
        let found = block_on(self.portal.session(&self.host.billing, token)).unwrap();
        found.map(|(account, found)| {
            assert_eq!(account.as_str(), "acme");
            assert_eq!(found.id.to_string(), session["id"].as_str().unwrap());
            found.customer_id.to_string()
        })
    }

    fn set(&self, now: &str) {
        self.host.clock.set(accrue::Timestamp::parse(now).unwrap());
    }
}

#[test]
fn subscriptions_10_3_1_and_4_a_session_lets_its_customer_in_until_it_is_over() {
    let doors = Doors::new();
    let session = doors.open(json!({}));
    assert_eq!(session["customer_id"], doors.customer["id"]);
    assert_eq!(session["created_at"], "2026-03-10T12:00:00.000000+00:00");
    assert_eq!(session["expires_at"], "2026-03-10T13:00:00.000000+00:00");
    doors.set("2026-03-10T12:59:59.999999Z");
    assert_eq!(doors.lets_in(&session).as_deref(), doors.customer["id"].as_str());
    doors.set("2026-03-10T13:00:00Z");
    assert_eq!(doors.lets_in(&session), None);
}

#[test]
fn invoicing_16_3_a_customer_is_found_by_its_external_id() {
    let doors = Doors::new();
    let body = json!({"expires_in_minutes": 180, "invalidate_existing": null});
    let session = doors.host.post(EXTERNAL, body).ok(StatusCode::CREATED);
    assert_eq!(session["expires_at"], "2026-03-10T15:00:00.000000+00:00");
    assert!(doors.lets_in(&session).is_some());
}

#[test]
fn subscriptions_10_3_2_a_new_session_ends_the_others_unless_they_are_to_go_on() {
    let doors = Doors::new();
    let first = doors.open(json!({"expires_in_minutes": 90}));
    doors.set("2026-03-10T12:20:00Z");
    let second = doors.open(json!({"invalidate_existing": false}));
    assert!(doors.lets_in(&first).is_some() && doors.lets_in(&second).is_some());
    doors.set("2026-03-10T12:30:00Z");
    let third = doors.open(json!({}));
    assert_eq!([&first, &second].map(|of| doors.lets_in(of)), [None, None]);
    assert!(doors.lets_in(&third).is_some());
}

#[test]
fn invoicing_16_3_a_replay_is_of_the_same_session() {
    let doors = Doors::new();
    let open = |key: &str| -> Answer { doors.host.keyed("POST", &doors.path(), key, json!({})) };
    let first = open("k").ok(StatusCode::CREATED);
    let again = open("k");
    assert_eq!(again.headers["idempotent-replayed"], "true");
    assert_eq!(again.ok(StatusCode::CREATED), first);
    let other = open("other").ok(StatusCode::CREATED);
    assert_ne!((&other["id"], &other["url"]), (&first["id"], &first["url"]));
}

#[test]
fn subscriptions_10_3_3_and_4_nothing_of_a_secret_is_stored() {
    let store = std::sync::Arc::new(accrue::store::MemoryStore::new());
    let portal = Portal::new(ADDRESS, &[7; 32]);
    let host = Host::over_with(std::sync::Arc::clone(&store), |builder| builder.portal(portal));
    let ada = json!({"name": "Ada", "email": "ada@example.com"});
    let ada = host.post("/v1/customers", ada).ok(StatusCode::CREATED);
    let path = format!("/v1/customers/{}/portal_sessions", ada["id"].as_str().unwrap());
    let session = host.keyed("POST", &path, "k", json!({})).ok(StatusCode::CREATED);
    let secret = session["url"].as_str().unwrap().rsplit('.').next().unwrap().to_owned();
    assert_eq!(secret.len(), 48, "192 bits");
    let stored = format!("{store:?}");
    assert!(stored.contains(session["id"].as_str().unwrap()), "the session is");
    assert!(!stored.contains(&secret));
}

#[test]
fn invoicing_16_3_what_is_asked_for_is_bounded() {
    let doors = Doors::new();
    for wrong in [
        json!({"expires_in_minutes": 0}),
        json!({"expires_in_minutes": 181}),
        json!({"expires_in_minutes": 1.5}),
        json!({"invalidate_existing": "no"}),
        json!({"minutes": 5}),
    ] {
        let answer = doors.host.post(&doors.path(), wrong);
        answer.error(400, "400-request-validation-errors");
    }
    let unknown = "/v1/customers/external_customer_id/eve/portal_sessions";
    doors.host.post(unknown, json!({})).error(404, "404-resource-not-found");
    for _ in 0..accrue::limits::PORTAL_SESSIONS {
        doors.open(json!({"invalidate_existing": false}));
    }
    let more = doors.host.post(&doors.path(), json!({"invalidate_existing": false}));
    more.error(400, "400-constraint-violation");
    doors.open(json!({}));
}

#[test]
fn subscriptions_10_3_5_a_deleted_customer_is_let_in_no_more() {
    let doors = Doors::new();
    let session = doors.open(json!({}));
    let path = format!("/v1/customers/{}", doors.customer["id"].as_str().unwrap());
    doors.host.call("DELETE", &path, ()).ok(StatusCode::NO_CONTENT);
    assert_eq!(doors.lets_in(&session), None);
    doors.host.post(&doors.path(), json!({})).error(404, "404-resource-not-found");
}

#[test]
fn invoicing_16_3_without_a_portal_the_feature_is_not_available() {
    let host = Host::new();
    let error = host.post(EXTERNAL, json!({})).error(404, "404-feature-not-available");
    assert_eq!(error["status"], 400);
}
