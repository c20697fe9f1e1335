use serde_json::Value;

use super::{Case, Scene, writes::case};

const AT: &str = "2026-03-10T00:00:00Z";

fn get(operation: &'static str, path: impl Into<String>) -> Case {
    case(operation, path.into(), &Value::Null, 200)
}

/// A request for each operation that gets.
#[must_use]
pub fn reads(scene: &Scene) -> Vec<Case> {
    let mut all = of_catalogue(scene);
    all.extend(of_price_groups(scene));
    all.extend(of_plans(scene));
    all.extend(of_customers(scene));
    all.extend(of_credits(scene));
    all.extend(of_subscriptions(scene));
    all.extend(of_subscription_changes(scene));
    all.extend(of_licenses(scene));
    all.extend(of_invoices(scene));
    all.extend(of_coupons(scene));
    all.extend(of_webhooks(scene));
    all
}

fn of_catalogue(Scene { item, metric, price, .. }: &Scene) -> Vec<Case> {
    vec![
        get("GET /ping", "/ping"),
        get("GET /items", "/items"),
        get("GET /items/{item_id}", format!("/items/{item}")),
        get("GET /metrics", "/metrics"),
        get("GET /metrics/{metric_id}", format!("/metrics/{metric}")),
        get("GET /prices", "/prices"),
        get("GET /prices/{price_id}", format!("/prices/{price}")),
        get("GET /prices/external_price_id/{external_price_id}", "/prices/external_price_id/price"),
    ]
}

fn of_price_groups(Scene { metric, price_group, .. }: &Scene) -> Vec<Case> {
    let groups = "/dimensional_price_groups";
    vec![
        get("GET /dimensional_price_groups", groups),
        get("GET /dimensional_price_groups", format!("{groups}?billable_metric_id={metric}")),
        get(
            "GET /dimensional_price_groups/{dimensional_price_group_id}",
            format!("{groups}/{price_group}"),
        ),
        get(
            "GET /dimensional_price_groups/external_dimensional_price_group_id/{external_dimensional_price_group_id}",
            format!("{groups}/external_dimensional_price_group_id/group"),
        ),
        get(
            "GET /dimensional_price_groups/{dimensional_price_group_id}/prices",
            format!("{groups}/{price_group}/prices"),
        ),
    ]
}

fn of_plans(Scene { plan, migration, .. }: &Scene) -> Vec<Case> {
    let external = "/plans/external_plan_id/plan";
    vec![
        get("GET /plans", "/plans"),
        get("GET /plans/{plan_id}", format!("/plans/{plan}")),
        get("GET /plans/{plan_id}/migrations", format!("/plans/{plan}/migrations")),
        get(
            "GET /plans/{plan_id}/migrations/{migration_id}",
            format!("/plans/{plan}/migrations/{migration}"),
        ),
        get("GET /plans/external_plan_id/{external_plan_id}", external),
        get("GET /plans/{plan_id}/versions/{version}", format!("/plans/{plan}/versions/2")),
        get(
            "GET /plans/external_plan_id/{external_plan_id}/versions/{version}",
            format!("{external}/versions/2"),
        ),
    ]
}

fn of_customers(Scene { customer, pending_backfill, .. }: &Scene) -> Vec<Case> {
    let external = "/customers/external_customer_id/ada";
    vec![
        get("GET /customers", "/customers"),
        get("GET /customers/{customer_id}", format!("/customers/{customer}")),
        get("GET /customers/external_customer_id/{external_customer_id}", external),
        get("GET /customers/{customer_id}/costs", format!("/customers/{customer}/costs")),
        get(
            "GET /customers/external_customer_id/{external_customer_id}/costs",
            format!("{external}/costs?currency=credits"),
        ),
        get("GET /events/volume", format!("/events/volume?timeframe_start={AT}")),
        get("GET /events/backfills", "/events/backfills"),
        get("GET /events/backfills/{backfill_id}", format!("/events/backfills/{pending_backfill}")),
    ]
}

fn of_credits(Scene { customer, block, buyer, bought, .. }: &Scene) -> Vec<Case> {
    let external = "/customers/external_customer_id/ada/credits";
    vec![
        get(
            "GET /customers/{customer_id}/credits",
            format!("/customers/{customer}/credits?include_all_blocks=true"),
        ),
        get("GET /customers/external_customer_id/{external_customer_id}/credits", external),
        get(
            "GET /customers/{customer_id}/credits/ledger",
            format!("/customers/{customer}/credits/ledger"),
        ),
        get(
            "GET /customers/external_customer_id/{external_customer_id}/credits/ledger",
            format!("{external}/ledger"),
        ),
        get("GET /credit_blocks/{block_id}", format!("/credit_blocks/{block}")),
        get("GET /credit_blocks/{block_id}/invoices", format!("/credit_blocks/{bought}/invoices")),
        get(
            "GET /customers/{customer_id}/credits/top_ups",
            format!("/customers/{buyer}/credits/top_ups"),
        ),
        get(
            "GET /customers/external_customer_id/{external_customer_id}/credits/top_ups",
            "/customers/external_customer_id/bob/credits/top_ups",
        ),
    ]
}

fn of_subscriptions(Scene { customer, subscription, alert, .. }: &Scene) -> Vec<Case> {
    let path = |rest: &str| format!("/subscriptions/{subscription}{rest}");
    vec![
        get("GET /subscriptions", "/subscriptions"),
        get("GET /subscriptions/summary", "/subscriptions/summary"),
        get("GET /subscriptions/{subscription_id}", path("")),
        get("GET /subscriptions/{subscription_id}/costs", path("/costs")),
        get("GET /subscriptions/{subscription_id}/schedule", path("/schedule")),
        get("GET /subscriptions/{subscription_id}/usage", path("/usage")),
        get("GET /alerts", format!("/alerts?subscription_id={subscription}")),
        get("GET /alerts", format!("/alerts?customer_id={customer}")),
        get("GET /alerts/{alert_id}", format!("/alerts/{alert}")),
    ]
}

fn of_subscription_changes(Scene { pending_creation, pending_quantity, .. }: &Scene) -> Vec<Case> {
    let of = "GET /subscription_changes/{subscription_change_id}";
    let path = |id: &str| format!("/subscription_changes/{id}");
    vec![
        get("GET /subscription_changes", "/subscription_changes"),
        get("GET /subscription_changes", "/subscription_changes?status=pending"),
        get(of, path(pending_creation)),
        get(of, path(pending_quantity)),
    ]
}

fn of_licenses(Scene { license_type, licensed, license, .. }: &Scene) -> Vec<Case> {
    let of = format!("subscription_id={licensed}&license_type_id={license_type}");
    vec![
        get("GET /license_types", "/license_types"),
        get("GET /license_types/{license_type_id}", format!("/license_types/{license_type}")),
        get("GET /licenses", format!("/licenses?subscription_id={licensed}&status=active")),
        get("GET /licenses/{license_id}", format!("/licenses/{license}")),
        get(
            "GET /licenses/external_license_id/{external_license_id}",
            format!("/licenses/external_license_id/alice?{of}"),
        ),
        get("GET /licenses/usage", format!("/licenses/usage?{of}&group_by=license,day")),
        get("GET /licenses/{license_id}/usage", format!("/licenses/{license}/usage")),
        get(
            "GET /licenses/external_licenses/{external_license_id}/usage",
            format!("/licenses/external_licenses/alice/usage?{of}"),
        ),
    ]
}

fn of_invoices(Scene { payer, invoiced, invoice, one_off, note, .. }: &Scene) -> Vec<Case> {
    vec![
        // Lines of drafts that are made meanwhile have ids that no row says.
        get(
            "GET /invoices",
            format!("/invoices?customer_id={payer}&status[]=draft&status[]=issued"),
        ),
        get("GET /invoices/summary", "/invoices/summary"),
        get("GET /invoices/upcoming", format!("/invoices/upcoming?subscription_id={invoiced}")),
        get("GET /invoices/{invoice_id}", format!("/invoices/{invoice}")),
        get("GET /invoices/{invoice_id}", format!("/invoices/{one_off}")),
        get("GET /credit_notes", format!("/credit_notes?customer_id={payer}")),
        get("GET /credit_notes/{credit_note_id}", format!("/credit_notes/{note}")),
        get(
            "GET /customers/{customer_id}/balance_transactions",
            format!("/customers/{payer}/balance_transactions"),
        ),
    ]
}

fn of_coupons(Scene { coupon, .. }: &Scene) -> Vec<Case> {
    vec![
        get("GET /coupons", "/coupons?show_archived=true"),
        get("GET /coupons/{coupon_id}", format!("/coupons/{coupon}")),
        get("GET /coupons/{coupon_id}/subscriptions", format!("/coupons/{coupon}/subscriptions")),
    ]
}

fn of_webhooks(Scene { endpoint, message, .. }: &Scene) -> Vec<Case> {
    let path = format!("/webhook_endpoints/{endpoint}");
    vec![
        get("GET /webhook_endpoints", "/webhook_endpoints"),
        get("GET /webhook_endpoints/{webhook_endpoint_id}", path),
        get("GET /webhook_events", "/webhook_events?delivery_success=false"),
        get("GET /webhook_events/{webhook_event_id}", format!("/webhook_events/{message}")),
    ]
}
