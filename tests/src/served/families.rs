//! A customer with a child whose usage counts for its subscription, and what moves both.

use serde_json::{Value, json};

use super::{
    Case,
    door::Door,
    scene::{BEGINNING, Scene},
    writes::case,
};

/// Ids of a customer, of its child, and of a subscription that counts the usage of both.
pub(super) fn subscribed(door: &Door, plan: &str, metric: &str) -> [String; 3] {
    let parent = json!({"name": "Mum", "email": "mum@example.com"});
    let parent = door.id("/customers", &parent);
    let child = door.id("/customers", &child_of(&parent, "kid"));
    let new = json!({
        "customer_id": parent, "plan_id": plan, "usage_customer_ids": [parent, child],
        "align_billing_with_subscription_start_date": true,
    });
    let counting = door.id("/subscriptions", &new);
    let alert = json!({
        "type": "usage_exceeded", "metric_id": metric, "thresholds": [{"value": 10}],
    });
    door.create(&format!("/alerts/subscription_id/{counting}"), &alert);
    let credits = json!({"entry_type": "increment", "amount": 9, "currency": "credits"});
    door.create(&format!("/customers/{parent}/credits/ledger_entry"), &credits);
    door.create("/ingest", &json!({"events": [event("of-kid", BEGINNING, 3)]}));
    [parent, child, counting]
}

/// A child of a customer to create.
fn child_of(parent: &str, external: &str) -> Value {
    json!({
        "name": external, "email": "kid@example.com", "external_customer_id": external,
        "hierarchy": {"parent_customer_id": parent},
    })
}

fn event(key: &str, at: &str, n: u32) -> Value {
    json!({
        "idempotency_key": key, "event_name": "call", "timestamp": at,
        "external_customer_id": "kid", "properties": {"n": n},
    })
}

pub(super) fn writes(Scene { parent, child, counting, buyer, .. }: &Scene) -> Vec<Case> {
    let events = json!({"events": [
        event("kid-1", "2026-03-10T11:45:00Z", 4), event("kid-2", "2026-03-10T11:46:00Z", 4),
    ]});
    let amended = json!({
        "event_name": "call", "timestamp": BEGINNING, "properties": {"n": 40},
        "external_customer_id": "kid",
    });
    let changed = json!({"change_option": "immediate", "external_plan_id": "plan"});
    let mut children = changed.clone();
    children["usage_customer_ids"] = json!([child]);
    let more = json!({"hierarchy": {"child_customer_ids": [buyer]}});
    let change = |body: &Value| {
        let path = format!("/subscriptions/{counting}/schedule_plan_change");
        case("POST /subscriptions/{subscription_id}/schedule_plan_change", path, body, 200)
    };
    vec![
        case("POST /ingest", "/ingest".to_owned(), &events, 200),
        case("PUT /events/{event_id}", "/events/of-kid".to_owned(), &amended, 200),
        case("POST /customers", "/customers".to_owned(), &child_of(parent, "another"), 201),
        case("PUT /customers/{customer_id}", format!("/customers/{parent}"), &more, 200),
        case("DELETE /customers/{customer_id}", format!("/customers/{child}"), &Value::Null, 204),
        change(&changed),
        change(&children),
    ]
}
