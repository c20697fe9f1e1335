//! Changes of subscriptions that wait to be applied.

use serde_json::{Value, json};

use super::{Case, Scene, case};

pub(super) fn all(scene: &Scene) -> Vec<Case> {
    let Scene { customer, plan, subscription, fee, pending_creation, pending_quantity, .. } = scene;
    let new = json!({
        "customer_id": customer, "plan_id": plan, "start_date": "2026-03-09T00:00:00Z",
        "align_billing_with_subscription_start_date": true,
    });
    let path = |of: &str, rest: &str| format!("/subscription_changes/{of}{rest}");
    let (apply, cancel) = (
        "POST /subscription_changes/{subscription_change_id}/apply",
        "POST /subscription_changes/{subscription_change_id}/cancel",
    );
    let paid = json!({
        "previously_collected_amount": "12.50", "mark_as_paid": true, "description": "till",
        "payment_received_date": "2026-03-09",
    });
    vec![
        case("POST /subscriptions", "/subscriptions".to_owned(), &new, 201).staged(),
        case(
            "POST /subscriptions/{subscription_id}/update_fixed_fee_quantity",
            format!("/subscriptions/{subscription}/update_fixed_fee_quantity"),
            &json!({"price_id": fee, "quantity": 5}),
            200,
        )
        .staged(),
        case(apply, path(pending_creation, "/apply"), &paid, 200),
        case(apply, path(pending_quantity, "/apply"), &Value::Null, 200),
        case(cancel, path(pending_creation, "/cancel"), &Value::Null, 200),
        case(cancel, path(pending_quantity, "/cancel"), &Value::Null, 200),
    ]
}
