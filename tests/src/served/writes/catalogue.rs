//! Requests for items, metrics, prices and plans.

use serde_json::{Value, json};

use super::{Case, Scene, case};
use crate::served::scene::price_group_of;

/// A request for each operation.
pub(super) fn all(scene: &Scene) -> Vec<Case> {
    let mut all = of_catalogue(scene);
    all.extend(of_price_groups(scene));
    all.extend(of_plans(scene));
    all
}

fn of_catalogue(scene: &Scene) -> Vec<Case> {
    let Scene { item, metric, archived_metric, price, .. } = scene;
    let new_metric = json!({
        "name": "new", "description": null, "item_id": item, "sql": "SELECT count(*) FROM events",
    });
    let new_price = json!({
        "name": "new", "item_id": item, "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "1"}, "billable_metric_id": metric, "currency": "USD",
        "external_price_id": "new",
    });
    let mut converted = new_price.clone();
    converted["currency"] = json!("credits");
    converted["external_price_id"] = json!("converted");
    converted["conversion_rate_config"] = json!({
        "conversion_rate_type": "tiered",
        "tiered_config": {"tiers": [
            {"first_unit": 0, "last_unit": 100, "unit_amount": "2"},
            {"first_unit": 100, "last_unit": null, "unit_amount": "1.5"},
        ]},
    });
    let evaluation = json!({
        "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-11T00:00:00Z",
        "external_customer_id": "ada",
    });
    let metadata = json!({"metadata": {"a": "1"}});
    let named = json!({"name": "other"});
    let null = Value::Null;
    vec![
        case("POST /items", "/items".to_owned(), &named, 201),
        case("PUT /items/{item_id}", format!("/items/{item}"), &named, 200),
        case("POST /items/{item_id}/archive", format!("/items/{item}/archive"), &null, 200),
        case("POST /metrics", "/metrics".to_owned(), &new_metric, 201),
        case("PUT /metrics/{metric_id}", format!("/metrics/{metric}"), &named, 200),
        case("POST /metrics/{metric_id}/archive", format!("/metrics/{metric}/archive"), &null, 200),
        case(
            "POST /metrics/{metric_id}/unarchive",
            format!("/metrics/{archived_metric}/unarchive"),
            &null,
            200,
        ),
        case("POST /prices", "/prices".to_owned(), &new_price, 201),
        case("POST /prices", "/prices".to_owned(), &converted, 201),
        case("PUT /prices/{price_id}", format!("/prices/{price}"), &metadata, 200),
        case(
            "PUT /prices/external_price_id/{external_price_id}",
            "/prices/external_price_id/price".to_owned(),
            &metadata,
            200,
        ),
        case(
            "POST /prices/{price_id}/evaluate",
            format!("/prices/{price}/evaluate"),
            &evaluation,
            200,
        ),
    ]
}

fn of_plans(Scene { item, metric, plan, migration, license_type, .. }: &Scene) -> Vec<Case> {
    let price = json!({
        "name": "new", "item_id": item, "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "1"}, "billable_metric_id": metric,
    });
    let adjustment = json!({
        "adjustment_type": "percentage_discount", "percentage_discount": 0.5, "applies_to_all": true,
        "currency": "USD",
    });
    let adjustments = json!([{"adjustment": adjustment}]);
    let given = json!({
        "currency": "credits", "amount": "5", "cadence": "monthly", "expires_at_end_of_cadence": true,
    });
    let seats = json!({
        "name": "seats", "item_id": item, "cadence": "monthly", "model_type": "unit",
        "unit_config": {"unit_amount": "10"}, "license_type_id": license_type,
        "license_allocations": [{"currency": "credits", "amount": "100"}],
    });
    let new = json!({
        "name": "new", "currency": "USD", "adjustments": adjustments,
        "prices": [{"price": price}, {"allocation_price": given}, {"license_allocation_price": seats}],
    });
    let version = json!({
        "version": 3, "add_prices": [{"price": price}], "add_adjustments": adjustments,
    });
    let (change, default) = (json!({"description": "other"}), json!({"version": 2}));
    let external = "/plans/external_plan_id/plan";
    vec![
        case("POST /plans", "/plans".to_owned(), &new, 201),
        case(
            "POST /plans/{plan_id}/migrations/{migration_id}/cancel",
            format!("/plans/{plan}/migrations/{migration}/cancel"),
            &Value::Null,
            200,
        ),
        case("PUT /plans/{plan_id}", format!("/plans/{plan}"), &change, 200),
        case("PUT /plans/external_plan_id/{external_plan_id}", external.to_owned(), &change, 200),
        case("POST /plans/{plan_id}/versions", format!("/plans/{plan}/versions"), &version, 201),
        case(
            "POST /plans/external_plan_id/{external_plan_id}/versions",
            format!("{external}/versions"),
            &version,
            201,
        ),
        case(
            "POST /plans/{plan_id}/set_default_version",
            format!("/plans/{plan}/set_default_version"),
            &default,
            200,
        ),
        case(
            "POST /plans/external_plan_id/{external_plan_id}/set_default_version",
            format!("{external}/set_default_version"),
            &default,
            200,
        ),
    ]
}

fn of_price_groups(Scene { item, metric, price_group, .. }: &Scene) -> Vec<Case> {
    let change = json!({
        "external_dimensional_price_group_id": "other", "metadata": {"a": "1"},
    });
    let row = |region: &str| json!({"dimension_values": [region], "amounts": [1, 0.5]});
    let prices = json!({
        "model_type": "tiered", "cadence": "monthly", "currency": "USD", "item_id": item,
        "tiers": [{"first_unit": 0, "last_unit": 10}, {"first_unit": 10, "last_unit": null}],
        "prices": [row("eu"), row("us")],
    });
    let groups = "/dimensional_price_groups";
    vec![
        case(
            "POST /dimensional_price_groups",
            groups.to_owned(),
            &price_group_of(metric, "new"),
            201,
        ),
        case(
            "PUT /dimensional_price_groups/{dimensional_price_group_id}",
            format!("{groups}/{price_group}"),
            &change,
            200,
        ),
        case(
            "PUT /dimensional_price_groups/external_dimensional_price_group_id/{external_dimensional_price_group_id}",
            format!("{groups}/external_dimensional_price_group_id/group"),
            &json!({"metadata": {"a": "1"}}),
            200,
        ),
        case(
            "POST /dimensional_price_groups/{dimensional_price_group_id}/prices",
            format!("{groups}/{price_group}/prices"),
            &prices,
            201,
        ),
    ]
}
