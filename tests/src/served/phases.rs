//! Subscriptions in a phase of their plan and on trial, and what moves those.

use serde_json::{Value, json};

use super::{Case, door::Door, scene::Scene, writes::case};

/// A plan with phases to create, with usage at a price in each.
fn ramp(price: &Value) -> Value {
    let phase = |order: u32| json!({"price": price, "plan_phase_order": order});
    json!({
        "name": "ramp", "currency": "USD", "prices": [phase(1), phase(2)],
        "plan_phases": [
            {"order": 1, "duration": 2, "duration_unit": "monthly"},
            {"order": 2, "align_billing_with_phase_start_date": true},
        ],
    })
}

/// Subscriptions of a customer of their own: one in the first phase of its plan, and one that is on trial there.
pub(super) fn subscribed(door: &Door, price: &Value) -> [String; 2] {
    let mut price = price.clone();
    price["external_price_id"] = Value::Null;
    let plan = door.id("/plans", &ramp(&price));
    let rita = json!({"name": "Rita", "email": "rita@example.com"});
    let rita = door.id("/customers", &rita);
    [0, 14].map(|days| {
        let new = json!({
            "customer_id": rita, "plan_id": plan, "start_date": "2026-03-05",
            "trial_duration_days": days,
        });
        door.id("/subscriptions", &new)
    })
}

pub(super) fn writes(Scene { in_phase, on_trial, item, metric, .. }: &Scene) -> Vec<Case> {
    let price = json!({
        "name": "ramped", "item_id": item, "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "2"}, "billable_metric_id": metric,
    });
    let (trigger, update) = (
        "POST /subscriptions/{subscription_id}/trigger_phase",
        "POST /subscriptions/{subscription_id}/update_trial",
    );
    let trial =
        |body: Value| case(update, format!("/subscriptions/{on_trial}/update_trial"), &body, 200);
    vec![
        case("POST /plans", "/plans".to_owned(), &ramp(&price), 201),
        case(trigger, format!("/subscriptions/{in_phase}/trigger_phase"), &json!({}), 200),
        trial(json!({"trial_end_date": "immediate"})),
        trial(json!({"trial_end_date": "2026-04-01", "shift": true})),
    ]
}
