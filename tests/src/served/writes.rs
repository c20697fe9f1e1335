mod catalogue;
mod licenses;
mod subscription_changes;

use serde_json::{Value, json};

use super::{
    Case, Scene,
    evaluations::evaluations,
    families, phases,
    scene::{bought, one_off as one_off_invoice, top_up},
};

pub(super) fn case(operation: &'static str, path: String, body: &Value, status: u16) -> Case {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    Case { operation, path, body, status, is_staged: false }
}

/// A request for each operation that does not get, or several where it does different things.
#[must_use]
pub fn writes(scene: &Scene) -> Vec<Case> {
    let mut all = Vec::new();
    all.extend(of_customers(scene));
    all.extend(catalogue::all(scene));
    all.extend(evaluations(scene));
    all.extend(of_subscriptions(scene));
    all.extend(phases::writes(scene));
    all.extend(families::writes(scene));
    all.extend(licenses::all(scene));
    all.extend(subscription_changes::all(scene));
    all.extend(of_alerts(scene));
    all.extend(of_events(scene));
    all.extend(of_credits(scene));
    all.extend(of_bought_credits(scene));
    all.extend(of_invoices(scene));
    all.extend(of_coupons(scene));
    all.extend(of_webhooks(scene));
    all
}

fn of_customers(Scene { customer, .. }: &Scene) -> Vec<Case> {
    let new = json!({
        "name": "New", "email": "new@example.com", "external_customer_id": "new",
    });
    let change = json!({"name": "Ada L."});
    let external = "/customers/external_customer_id";
    vec![
        case("POST /customers", "/customers".to_owned(), &new, 201),
        case("PUT /customers/{customer_id}", format!("/customers/{customer}"), &change, 200),
        case(
            "PUT /customers/external_customer_id/{external_customer_id}",
            format!("{external}/ada"),
            &change,
            200,
        ),
        case(
            "DELETE /customers/{customer_id}",
            format!("/customers/{customer}"),
            &Value::Null,
            204,
        ),
    ]
}

fn of_subscriptions(scene: &Scene) -> Vec<Case> {
    let Scene { customer, plan, subscription, cancelled, changing, invoiced, fee, .. } = scene;
    let Scene { item, metric, .. } = scene;
    let new = json!({
        "customer_id": customer, "plan_id": plan, "start_date": "2026-03-09T00:00:00Z",
        "align_billing_with_subscription_start_date": true,
    });
    let cheap = json!({
        "name": "cheap", "item_id": item, "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "0.5"}, "billable_metric_id": metric, "currency": "USD",
        "reference_id": "cheap",
    });
    let mut own = new.clone();
    own["replace_prices"] = json!([{"replaces_price_id": fee, "fixed_price_quantity": 3}]);
    let given = json!({
        "currency": "credits", "amount": "5", "cadence": "monthly", "per_unit_cost_basis": "0.5",
    });
    let share = json!({
        "name": "share", "item_id": item, "cadence": "monthly", "model_type": "percent",
        "percent_config": {"percent": 0.05, "minimum_amount": "20", "maximum_amount": "200"},
        "currency": "USD",
    });
    own["add_prices"] = json!([{"price": cheap}, {"price": share}, {"allocation_price": given}]);
    own["filter"] = json!("region = 'eu'");
    own["add_adjustments"] = json!([{"adjustment": {
        "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
        "applies_to_price_ids": ["cheap"],
    }}]);
    let contract = json!({
        "customer_id": customer, "name": "Contract", "currency": "USD", "net_terms": 30,
        "start_date": "2026-03-10", "end_date": "2027-03-10", "add_prices": [{"price": cheap}],
    });
    let path = |of: &str, rest: &str| format!("/subscriptions/{of}{rest}");
    let cancel = |how: &str| json!({"cancel_option": how});
    let quantity = json!({"price_id": fee, "quantity": 5, "change_option": "immediate"});
    let past =
        json!({"cancel_option": "requested_date", "cancellation_date": "2026-03-10T00:00:00Z"});
    let mut waiting = cheap.clone();
    waiting.as_object_mut().into_iter().for_each(|of| drop(of.remove("reference_id")));
    let intervals = json!({
        "add": [{
            "price": waiting, "start_date": "2026-03-10T12:00:00Z",
            "end_date": "2026-03-20T12:00:00Z", "can_defer_billing": true,
        }],
        "add_adjustments": [{
            "start_date": "2026-03-10T12:00:00Z",
            "adjustment": {
                "adjustment_type": "percentage_discount", "percentage_discount": 0.5,
                "applies_to_price_ids": [fee],
            },
        }],
    });
    let another = json!({
        "change_option": "immediate", "plan_id": plan, "plan_version_number": 2,
        "add_prices": [{"price": cheap}],
    });
    let of_cancel = "POST /subscriptions/{subscription_id}/cancel";
    vec![
        case("POST /subscriptions", "/subscriptions".to_owned(), &new, 201),
        case("POST /subscriptions", "/subscriptions".to_owned(), &own, 201),
        case("POST /subscriptions", "/subscriptions".to_owned(), &contract, 201),
        case(
            "PUT /subscriptions/{subscription_id}",
            path(subscription, ""),
            &json!({"name": "other"}),
            200,
        ),
        case(of_cancel, path(subscription, "/cancel"), &cancel("immediate"), 200),
        case(of_cancel, path(invoiced, "/cancel"), &cancel("immediate"), 200),
        case(of_cancel, path(invoiced, "/cancel"), &past, 200),
        case(of_cancel, path(subscription, "/cancel"), &cancel("end_of_subscription_term"), 200),
        case(
            "POST /subscriptions/{subscription_id}/unschedule_cancellation",
            path(cancelled, "/unschedule_cancellation"),
            &Value::Null,
            200,
        ),
        case(
            "POST /subscriptions/{subscription_id}/update_fixed_fee_quantity",
            path(subscription, "/update_fixed_fee_quantity"),
            &quantity,
            200,
        ),
        case(
            "POST /subscriptions/{subscription_id}/unschedule_fixed_fee_quantity_updates",
            path(cancelled, "/unschedule_fixed_fee_quantity_updates"),
            &json!({"price_id": fee}),
            200,
        ),
        case(
            "POST /subscriptions/{subscription_id}/price_intervals",
            path(subscription, "/price_intervals"),
            &intervals,
            200,
        ),
        case(
            "POST /subscriptions/{subscription_id}/schedule_plan_change",
            path(subscription, "/schedule_plan_change"),
            &another,
            200,
        ),
        case(
            "POST /subscriptions/{subscription_id}/unschedule_pending_plan_changes",
            path(changing, "/unschedule_pending_plan_changes"),
            &Value::Null,
            200,
        ),
    ]
}

fn of_alerts(scene: &Scene) -> Vec<Case> {
    let Scene { customer, plan, subscription, metric, alert, disabled_alert, .. } = scene;
    let dropped = json!({
        "type": "credit_balance_dropped", "currency": "credits", "thresholds": [{"value": 100}],
    });
    let usage = json!({
        "type": "usage_exceeded", "metric_id": metric, "thresholds": [{"value": 2}],
    });
    let cost = json!({"type": "cost_exceeded", "thresholds": [{"value": 1}]});
    let grouped = json!({
        "type": "cost_exceeded", "thresholds": [{"value": 1}], "currency": "USD",
        "grouping_keys": ["region"],
        "threshold_overrides": [{"group_values": ["eu"], "thresholds": []}],
    });
    let changed = json!({"thresholds": [{"value": 4}]});
    let null = Value::Null;
    vec![
        case("PUT /alerts/{alert_id}", format!("/alerts/{alert}"), &changed, 200),
        case("DELETE /alerts/{alert_id}", format!("/alerts/{alert}"), &null, 204),
        case(
            "POST /alerts/customer_id/{customer_id}",
            format!("/alerts/customer_id/{customer}"),
            &dropped,
            201,
        ),
        case(
            "POST /alerts/external_customer_id/{external_customer_id}",
            "/alerts/external_customer_id/ada".to_owned(),
            &dropped,
            201,
        ),
        case("POST /alerts/plan_id/{plan_id}", format!("/alerts/plan_id/{plan}"), &usage, 201),
        case(
            "POST /alerts/subscription_id/{subscription_id}",
            format!("/alerts/subscription_id/{subscription}"),
            &cost,
            201,
        ),
        case(
            "POST /alerts/subscription_id/{subscription_id}",
            format!("/alerts/subscription_id/{subscription}"),
            &grouped,
            201,
        ),
        case(
            "POST /alerts/{alert_configuration_id}/disable",
            format!("/alerts/{alert}/disable"),
            &null,
            200,
        ),
        case(
            "POST /alerts/{alert_configuration_id}/enable",
            format!("/alerts/{disabled_alert}/enable"),
            &null,
            200,
        ),
    ]
}

fn of_events(Scene { pending_backfill, reflected_backfill, .. }: &Scene) -> Vec<Case> {
    let event = |key: &str, at: &str| {
        json!({
            "idempotency_key": key, "event_name": "call", "timestamp": at,
            "external_customer_id": "ada", "properties": {"n": 20},
        })
    };
    let events = json!({"events": [
        event("c", "2026-03-10T11:45:00Z"), event("d", "2026-03-10T11:46:00Z"),
        {
            "idempotency_key": "e", "event_name": "call", "timestamp": "2026-03-10T11:00:00Z",
            "external_customer_id": "nobody", "properties": {},
        },
    ]});
    let brought = json!({"events": [event("f", "2026-03-08T00:30:00Z")]});
    let amended = json!({
        "event_name": "call", "timestamp": "2026-03-10T09:00:00Z", "properties": {"n": 40},
        "external_customer_id": "ada",
    });
    let backfill = json!({
        "timeframe_start": "2026-03-07T00:00:00Z", "timeframe_end": "2026-03-07T01:00:00Z",
    });
    let (search, null) = (json!({"event_ids": ["a"]}), Value::Null);
    let revert = "POST /events/backfills/{backfill_id}/revert";
    vec![
        case("POST /ingest", "/ingest".to_owned(), &events, 200),
        case("POST /ingest", format!("/ingest?backfill_id={pending_backfill}"), &brought, 200),
        case("POST /events/search", "/events/search".to_owned(), &search, 200),
        case("PUT /events/{event_id}", "/events/a".to_owned(), &amended, 200),
        case("PUT /events/{event_id}/deprecate", "/events/a/deprecate".to_owned(), &null, 200),
        case("POST /events/backfills", "/events/backfills".to_owned(), &backfill, 200),
        case(
            "POST /events/backfills/{backfill_id}/close",
            format!("/events/backfills/{pending_backfill}/close"),
            &null,
            200,
        ),
        case(revert, format!("/events/backfills/{pending_backfill}/revert"), &null, 200),
        case(revert, format!("/events/backfills/{reflected_backfill}/revert"), &null, 200),
    ]
}

fn of_credits(Scene { customer, block, unused_block, .. }: &Scene) -> Vec<Case> {
    let entry = "POST /customers/{customer_id}/credits/ledger_entry";
    let path = format!("/customers/{customer}/credits/ledger_entry");
    let increment = json!({"entry_type": "increment", "amount": 7, "currency": "credits"});
    let of_type = |kind: &str, amount: u32| json!({"entry_type": kind, "amount": amount});
    let of_block =
        |kind: &str, block: &str| json!({"entry_type": kind, "amount": 1, "block_id": block});
    let moved = json!({
        "entry_type": "expiration_change", "target_expiry_date": "2026-04-01",
        "block_id": unused_block, "amount": 2,
    });
    vec![
        case(entry, path.clone(), &increment, 201),
        case(entry, path.clone(), &of_type("decrement", 3), 201),
        case(entry, path.clone(), &of_block("void", unused_block), 201),
        case(entry, path.clone(), &of_block("amendment", block), 201),
        case(entry, path, &moved, 201),
        case(
            "POST /customers/external_customer_id/{external_customer_id}/credits/ledger_entry",
            "/customers/external_customer_id/ada/credits/ledger_entry".to_owned(),
            &increment,
            201,
        ),
        case(
            "PUT /credit_blocks/{block_id}",
            format!("/credit_blocks/{block}"),
            &json!({"metadata": {"a": "1"}}),
            200,
        ),
        case(
            "DELETE /credit_blocks/{block_id}",
            format!("/credit_blocks/{unused_block}"),
            &Value::Null,
            204,
        ),
    ]
}

fn of_bought_credits(scene: &Scene) -> Vec<Case> {
    let Scene { buyer, bought: block, top_up: known, .. } = scene;
    let path = |rest: &str| format!("/customers/{buyer}/credits/{rest}");
    let external = |rest: &str| format!("/customers/external_customer_id/bob/credits/{rest}");
    let (new, null) = (top_up("30"), Value::Null);
    let entry = "POST /customers/{customer_id}/credits/ledger_entry";
    vec![
        case(entry, path("ledger_entry"), &bought(), 201),
        case("DELETE /credit_blocks/{block_id}", format!("/credit_blocks/{block}"), &null, 204),
        case("POST /customers/{customer_id}/credits/top_ups", path("top_ups"), &new, 201),
        case(
            "POST /customers/external_customer_id/{external_customer_id}/credits/top_ups",
            external("top_ups"),
            &new,
            201,
        ),
        case(
            "DELETE /customers/{customer_id}/credits/top_ups/{top_up_id}",
            path(&format!("top_ups/{known}")),
            &null,
            204,
        ),
        case(
            "DELETE /customers/external_customer_id/{external_customer_id}/credits/top_ups/{top_up_id}",
            external(&format!("top_ups/{known}")),
            &null,
            204,
        ),
    ]
}

fn of_invoices(scene: &Scene) -> Vec<Case> {
    let Scene { item, collected, payer, invoice, paid, draft, one_off, line, line_by_hand, .. } =
        scene;
    let path = |of: &str, rest: &str| format!("/invoices/{of}{rest}");
    let update = json!({"metadata": {"a": "1"}, "net_terms": 3});
    let payment = json!({"payment_received_date": "2026-03-10", "external_id": "a"});
    let moved = json!({"amount": "2.5", "type": "decrement", "description": "other"});
    let credited = json!({"invoice_line_item_id": line, "amount": "2.5"});
    let note = json!({"line_items": [credited], "reason": "duplicate"});
    let token = json!({"shared_payment_token_id": "token"});
    let by_hand = |invoice: &str| {
        json!({
            "invoice_id": invoice, "start_date": "2026-03-01", "end_date": "2026-03-02",
            "quantity": 3, "amount": "-5", "name": "by hand",
        })
    };
    let add = |of: &str| {
        case("POST /invoice_line_items", "/invoice_line_items".to_owned(), &by_hand(of), 201)
    };
    let dated = json!({"invoice_date": "2026-04-10", "due_date": "2026-04-20"});
    let now = one_off_invoice(payer, item, "2026-03-10");
    let null = Value::Null;
    vec![
        case("POST /credit_notes", "/credit_notes".to_owned(), &note, 201),
        case("POST /invoices", "/invoices".to_owned(), &now, 201),
        add(draft),
        add(one_off),
        case(
            "DELETE /invoices/{invoice_id}/invoice_line_items/{line_item_id}",
            path(one_off, &format!("/invoice_line_items/{line_by_hand}")),
            &null,
            204,
        ),
        case("PUT /invoices/{invoice_id}", path(draft, ""), &update, 200),
        case("PUT /invoices/{invoice_id}", path(one_off, ""), &dated, 200),
        case("POST /invoices/{invoice_id}/issue", path(draft, "/issue"), &null, 200),
        case(
            "POST /invoices/summary/{invoice_id}/issue",
            format!("/invoices/summary/{draft}/issue"),
            &json!({"synchronous": true}),
            200,
        ),
        case("POST /invoices/{invoice_id}/mark_paid", path(invoice, "/mark_paid"), &payment, 200),
        case("POST /invoices/{invoice_id}/pay", path(invoice, "/pay"), &token, 200),
        case("POST /invoices/{invoice_id}/void", path(invoice, "/void"), &null, 200),
        case(
            "POST /invoices/{invoice_id}/regenerate_invoice_pdf",
            path(invoice, "/regenerate_invoice_pdf"),
            &null,
            200,
        ),
        case(
            "POST /invoices/{invoice_id}/regenerate_receipt_pdf",
            path(paid, "/regenerate_receipt_pdf"),
            &null,
            200,
        ),
        case(
            "POST /customers/{customer_id}/sync_payment_methods_from_gateway",
            format!("/customers/{collected}/sync_payment_methods_from_gateway"),
            &null,
            204,
        ),
        case(
            "POST /customers/external_customer_id/{external_customer_id}/sync_payment_methods_from_gateway",
            "/customers/external_customer_id/ivy/sync_payment_methods_from_gateway".to_owned(),
            &null,
            204,
        ),
        case(
            "POST /customers/{customer_id}/portal_sessions",
            format!("/customers/{payer}/portal_sessions"),
            &json!({"expires_in_minutes": 5}),
            201,
        ),
        case(
            "POST /customers/external_customer_id/{external_customer_id}/portal_sessions",
            "/customers/external_customer_id/ada/portal_sessions".to_owned(),
            &json!({"invalidate_existing": false}),
            201,
        ),
        case(
            "POST /customers/{customer_id}/balance_transactions",
            format!("/customers/{payer}/balance_transactions"),
            &moved,
            200,
        ),
    ]
}

fn of_coupons(Scene { customer, plan, subscription, coupon, .. }: &Scene) -> Vec<Case> {
    let new = json!({
        "redemption_code": "SUMMER",
        "discount": {"discount_type": "amount", "amount_discount": "5.00"},
    });
    let redemption = json!({"coupon_redemption_code": "SPRING", "change_option": "immediate"});
    let subscribed = json!({
        "customer_id": customer, "plan_id": plan, "coupon_redemption_code": "SPRING",
    });
    vec![
        case("POST /coupons", "/coupons".to_owned(), &new, 201),
        case(
            "POST /coupons/{coupon_id}/archive",
            format!("/coupons/{coupon}/archive"),
            &Value::Null,
            200,
        ),
        case(
            "POST /subscriptions/{subscription_id}/redeem_coupon",
            format!("/subscriptions/{subscription}/redeem_coupon"),
            &redemption,
            200,
        ),
        case("POST /subscriptions", "/subscriptions".to_owned(), &subscribed, 201),
    ]
}

fn of_webhooks(Scene { endpoint, disabled_endpoint, .. }: &Scene) -> Vec<Case> {
    let new = json!({
        "url": "https://new.example.com", "enabled_event_types": ["invoice.issued"],
        "payload_style": "standard",
    });
    let path = |of: &str, rest: &str| format!("/webhook_endpoints/{of}{rest}");
    vec![
        case("POST /webhook_endpoints", "/webhook_endpoints".to_owned(), &new, 201),
        case(
            "PUT /webhook_endpoints/{webhook_endpoint_id}",
            path(endpoint, ""),
            &json!({"url": "https://other.example.com", "enabled_event_types": null}),
            200,
        ),
        case(
            "DELETE /webhook_endpoints/{webhook_endpoint_id}",
            path(endpoint, ""),
            &Value::Null,
            204,
        ),
        case(
            "POST /webhook_endpoints/{webhook_endpoint_id}/disable",
            path(endpoint, "/disable"),
            &Value::Null,
            200,
        ),
        case(
            "POST /webhook_endpoints/{webhook_endpoint_id}/enable",
            path(disabled_endpoint, "/enable"),
            &Value::Null,
            200,
        ),
    ]
}
