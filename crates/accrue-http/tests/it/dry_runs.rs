//! Requests that only ask what they would come to (subscriptions 0.4).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    subscriptions::{Shop, path},
    support::{Answer, Host, event, request},
};

const DRY: (&str, &str) = ("dry-run", "True");

fn send(host: &Host, method: &str, path: &str, body: Value, headers: &[(&str, &str)]) -> Answer {
    host.send(request(method, path, body.into(), headers))
}

fn is_dry(answer: &Answer) -> bool {
    answer.header("orb-dry-run") == Some("true")
}

#[test]
fn subscriptions_0_4_1_and_2_and_6_it_is_answered_as_if_real_and_nothing_is_written() {
    let shop = Shop::new();
    let new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
    let dry = send(&shop.host, "POST", "/v1/subscriptions", new.clone(), &[DRY]);
    let made_up = dry.ok(StatusCode::CREATED);
    assert!(is_dry(&dry));
    assert_eq!(made_up["price_intervals"].as_array().unwrap().len(), 2);
    assert!(shop.host.walk("/v1/subscriptions").is_empty());
    let real = shop.host.post("/v1/subscriptions", new);
    assert_ne!(
        real.ok(StatusCode::CREATED)["id"],
        made_up["id"],
        "the ids of a dry run are made up"
    );
    assert!(!is_dry(&real), "its absence says that it was executed");
    let unknown = json!({"external_customer_id": "bob", "external_plan_id": "pro"});
    let refused = send(&shop.host, "POST", "/v1/subscriptions", unknown, &[DRY]);
    refused.error(404, "404-resource-not-found");
    assert!(is_dry(&refused));
    let broken = send(&shop.host, "POST", "/v1/subscriptions", json!({"name": 1}), &[DRY]);
    broken.error(400, "400-request-validation-errors");
    assert!(is_dry(&broken));
}

#[test]
fn subscriptions_0_4_whatever_changes_something_can_be_asked_so() {
    let shop = Shop::new();
    let subscription = shop.subscribe(json!({}));
    let now = || shop.host.get(&path(&subscription, "")).ok(StatusCode::OK);
    let before = now();
    let renamed = json!({"name": "other"});
    let renamed = send(&shop.host, "PUT", &path(&subscription, ""), renamed, &[DRY]);
    assert_eq!(renamed.ok(StatusCode::OK)["name"], "other");
    let cancel = json!({"cancel_option": "immediate"});
    let ended = send(&shop.host, "POST", &path(&subscription, "/cancel"), cancel, &[DRY]);
    assert_eq!(ended.ok(StatusCode::OK)["status"], "ended");
    assert_eq!(now(), before);
}

#[test]
fn subscriptions_0_4_3_events_are_taken_as_ever() {
    let host = Host::new();
    let batch = json!({"events": [event("a")]});
    let answer = send(&host, "POST", "/v1/ingest", batch.clone(), &[DRY]);
    answer.ok(StatusCode::OK);
    assert!(!is_dry(&answer));
    // A wrong value is none of theirs.
    send(&host, "POST", "/v1/ingest", batch, &[("dry-run", "no")]).ok(StatusCode::OK);
}

#[test]
fn subscriptions_0_4_4_a_dry_run_takes_no_key() {
    let host = Host::new();
    let new = json!({"name": "Ada", "email": "ada@example.com"});
    let keyed = [DRY, ("idempotency-key", "one")];
    let refused = send(&host, "POST", "/v1/customers", new.clone(), &keyed);
    refused.error(400, "400-request-validation-errors");
    assert!(host.walk("/v1/customers").is_empty());
    // Where no key counts, there is none.
    let made = host.post("/v1/customers", new).ok(StatusCode::CREATED);
    let path = format!("/v1/customers/{}", made["id"].as_str().unwrap());
    let renamed = send(&host, "PUT", &path, json!({"name": "Eve"}), &keyed);
    assert_eq!(renamed.ok(StatusCode::OK)["name"], "Eve");
    assert!(is_dry(&renamed));
    assert_eq!(host.get(&path).ok(StatusCode::OK)["name"], "Ada");
}

#[test]
fn subscriptions_0_4_5_with_changed_resources_it_previews_a_change() {
    let (shop, subscription) = crate::invoices::shop();
    crate::invoices::set(&shop.host, "2026-03-12T00:00:00Z");
    let more = json!({"price_id": shop.plan["prices"][1]["id"], "quantity": 5});
    let headers = [DRY, ("include-changed-resources", "true")];
    let change = path(&subscription, "/update_fixed_fee_quantity");
    let changed = send(&shop.host, "POST", &change, more, &headers).ok(StatusCode::OK);
    let created = changed["changed_resources"]["created_invoices"].as_array().unwrap();
    let id = created[0]["id"].as_str().unwrap();
    shop.host.get(&format!("/v1/invoices/{id}")).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_0_4_7_nothing_that_waits_is_asked_so() {
    let shop = Shop::new();
    let new = json!({"external_customer_id": "ada", "external_plan_id": "pro"});
    let both = [DRY, ("create-pending-subscription-change", "True")];
    let refused = send(&shop.host, "POST", "/v1/subscriptions", new, &both);
    refused.error(400, "400-request-validation-errors");
}

#[test]
fn subscriptions_0_4_8_the_other_name_and_other_values() {
    let host = Host::new();
    let new = || json!({"name": "Ada", "email": "ada@example.com"});
    let ask = |headers: &[(&str, &str)]| send(&host, "POST", "/v1/customers", new(), headers);
    for header in [("orb-dry-run", "true"), ("dry-run", "TRUE"), ("dry-run", "true")] {
        let dry = ask(&[header]);
        dry.ok(StatusCode::CREATED);
        assert!(is_dry(&dry));
    }
    for wrong in ["false", "1", "", "yes"] {
        ask(&[("dry-run", wrong)]).error(400, "400-request-validation-errors");
        ask(&[DRY, ("orb-dry-run", wrong)]).error(400, "400-request-validation-errors");
    }
    assert!(host.walk("/v1/customers").is_empty());
}

#[test]
fn subscriptions_0_4_9_what_only_reads_says_so_and_reads() {
    let host = Host::new();
    host.post("/v1/customers", json!({"name": "Ada", "email": "a@b.example"}))
        .ok(StatusCode::CREATED);
    let list = host.send(request("GET", "/v1/customers", ().into(), &[DRY]));
    assert_eq!(list.ok(StatusCode::OK)["data"].as_array().unwrap().len(), 1);
    assert!(is_dry(&list));
}
