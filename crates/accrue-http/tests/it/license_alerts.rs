//! Alerts on the pools of licenses over HTTP, which a host makes through the library (subscriptions 7.6).

use accrue::{
    LicenseTypeId, SubscriptionId,
    alert::{NewAlert, Thresholds},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    licenses::{Licensed, pooled},
    messages::taken,
};

/// An alert on half of a pool of the licenses of a type, and on all of it.
fn watched(of: &Licensed, license_type: Option<LicenseTypeId>) -> Value {
    let thresholds = Thresholds::new([50, 100].map(accrue::Decimal::from)).unwrap();
    let new = NewAlert::license_balance_threshold_reached(license_type, thresholds);
    let id: SubscriptionId = of.subscription.parse().unwrap();
    let alert = of.host.account().create_subscription_alert(id, new);
    let alert = pollster::block_on(alert.into_future()).unwrap();
    of.host.get(&format!("/v1/alerts/{}", alert.id)).ok(StatusCode::OK)
}

fn call(of: &Licensed, user: &str, timestamp: &str, calls: u32) {
    let event = json!({
        "idempotency_key": format!("{user}/{timestamp}"), "event_name": "call",
        "timestamp": timestamp, "external_customer_id": "bob",
        "properties": {"calls": calls, "user": user},
    });
    of.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
}

#[test]
fn subscriptions_7_6_2_an_alert_shows_the_type_or_null_for_all() {
    let of = pooled(false);
    let all = watched(&of, None);
    let expected = json!({
        "id": all["id"], "type": "license_balance_threshold_reached", "enabled": true,
        "created_at": all["created_at"], "thresholds": [{"value": 50}, {"value": 100}],
        "customer": null, "plan": null, "subscription": {"id": of.subscription}, "metric": null,
        "currency": null, "license_type": null, "grouping_keys": null, "price_filters": null,
        "threshold_overrides": null, "balance_alert_status": null,
    });
    assert_eq!(all, expected);
    of.host.clock.advance(std::time::Duration::from_secs(1));
    let own = watched(&of, Some(of.type_id().parse().unwrap()));
    assert_eq!(own["license_type"], json!({"id": of.type_id()}));
    let listed = format!("/v1/alerts?subscription_id={}", of.subscription);
    assert_eq!(of.data(&listed), [own, all]);
    let body = json!({"type": "license_balance_threshold_reached", "thresholds": [{"value": 50}]});
    let path = format!("/v1/alerts/subscription_id/{}", of.subscription);
    // Wire 1.4: no operation creates it.
    of.host.post(&path, body).error(400, "400-request-validation-errors");
}

#[test]
fn subscriptions_7_6_4_a_message_tells_of_the_licenses() {
    let of = pooled(false);
    for user in ["alice", "bob"] {
        of.give(of.starting(user, "2026-03-01"));
    }
    let alert = watched(&of, Some(of.type_id().parse().unwrap()));
    taken(&of.host);
    call(&of, "alice", "2026-03-10T10:00:00Z", 120);
    let told = taken(&of.host);
    let [payloads] = told.as_slice() else { panic!("{told:?}") };
    let mut configuration = alert;
    configuration["thresholds"] = json!([{"value": "50"}, {"value": "100"}]);
    let expected = json!({
        "alert_configuration": configuration,
        "licenses": [{
            "external_license_id": "alice", "license_type_id": of.type_id(),
            "threshold_percentage": "100",
        }],
        "timeframe_start": "2026-03-01T00:00:00.000000+00:00",
        "timeframe_end": "2026-04-01T00:00:00.000000+00:00",
    });
    for payload in payloads {
        assert_eq!(payload["type"], "subscription.license_balance_threshold_reached");
        assert_eq!(payload["properties"], expected);
        let shown = payload["subscription"].as_object().unwrap();
        let small = ["customer", "end_date", "id", "plan", "start_date", "status"];
        assert_eq!(shown.keys().collect::<Vec<_>>(), small);
    }
}

#[test]
fn subscriptions_7_6_6_thresholds_are_updated_and_nothing_else() {
    let of = pooled(false);
    let alert = watched(&of, None);
    let path = format!("/v1/alerts/{}", alert["id"].as_str().unwrap());
    let updated = of.host.put(&path, json!({"thresholds": [{"value": 75}]})).ok(StatusCode::OK);
    assert_eq!(updated["thresholds"], json!([{"value": 75}]));
    let filter = json!([{"field": "price_type", "operator": "includes", "values": ["usage"]}]);
    for (name, body) in [
        ("/price_filters", json!({"thresholds": [{"value": 75}], "price_filters": filter})),
        ("/threshold_overrides", json!({"thresholds": [{"value": 75}], "threshold_overrides": []})),
        ("/thresholds", json!({"thresholds": [{"value": 101}]})),
    ] {
        let refused = of.host.put(&path, body).error(400, "400-request-validation-errors");
        assert!(refused.to_string().contains(name), "{refused}");
    }
    for (word, enabled) in [("disable", false), ("enable", true)] {
        let changed = of.host.post(&format!("{path}/{word}"), ()).ok(StatusCode::OK);
        assert_eq!(changed["enabled"], json!(enabled));
    }
    let deleted = of.host.call("DELETE", &path, ());
    assert_eq!(deleted.status, StatusCode::NO_CONTENT);
}
