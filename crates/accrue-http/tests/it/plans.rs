//! Plans and their versions over HTTP.

use accrue::{
    PlanId,
    plan::{PlanStatus, PlanUpdate},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::Host;

fn item(host: &Host) -> String {
    let item = host.post("/v1/items", json!({"name": "Seats"})).ok(StatusCode::CREATED);
    item["id"].as_str().unwrap().to_owned()
}

fn fee(item_id: &str, name: &str, amount: &str) -> Value {
    json!({
        "name": name, "item_id": item_id, "cadence": "monthly", "fixed_price_quantity": 1,
        "model_type": "unit", "unit_config": {"unit_amount": amount},
    })
}

fn plan(host: &Host, external: &str, prices: &[Value]) -> Value {
    let prices: Vec<_> = prices.iter().map(|price| json!({"price": price})).collect();
    let new = json!({
        "name": "Pro", "currency": "EUR", "external_plan_id": external, "prices": prices,
    });
    host.post("/v1/plans", new).ok(StatusCode::CREATED)
}

#[test]
fn wire_5_1_a_plan_is_answered_whole() {
    let host = Host::new();
    let mut price = fee(&item(&host), "Seat", "10");
    price["reference_id"] = json!("seat");
    let new = json!({
        "name": "Pro", "currency": "EUR", "external_plan_id": "pro", "description": "For teams",
        "net_terms": 30, "default_invoice_memo": "Thank you", "metadata": {"tier": "2"},
        "status": "active", "adjustments": [], "plan_phases": null,
        "prices": [{"price": price, "allocation_price": null, "plan_phase_order": null}],
    });
    let plan = host.post("/v1/plans", new).ok(StatusCode::CREATED);
    let price_id = plan["prices"][0]["id"].as_str().unwrap();
    let price = host.get(&format!("/v1/prices/{price_id}")).ok(StatusCode::OK);
    assert_eq!(price["currency"], "EUR", "where it says no other, the plan's");
    let created_at = "2026-03-10T12:00:00.000000+00:00";
    let expected = json!({
        "id": plan["id"],
        "external_plan_id": "pro",
        "name": "Pro",
        "description": "For teams",
        "created_at": created_at,
        "status": "active",
        "version": 1,
        "prices": [price],
        "currency": "EUR",
        "invoicing_currency": "EUR",
        "net_terms": 30,
        "default_invoice_memo": "Thank you",
        "product": {"id": plan["id"], "name": "Pro", "created_at": created_at},
        "trial_config": {"trial_period": null, "trial_period_unit": "days"},
        "adjustments": [],
        "plan_phases": null,
        "base_plan": null,
        "base_plan_id": null,
        "discount": null,
        "minimum": null,
        "minimum_amount": null,
        "maximum": null,
        "maximum_amount": null,
        "metadata": {"tier": "2"},
    });
    assert_eq!(plan, expected);
    let path = format!("/v1/plans/{}", plan["id"].as_str().unwrap());
    assert_eq!(host.get(&path).ok(StatusCode::OK), expected);
    assert_eq!(host.get("/v1/plans/external_plan_id/pro").ok(StatusCode::OK), expected);
}

#[test]
fn subscriptions_5_2_7_a_draft_takes_no_subscription_until_the_host_makes_it_active() {
    let host = Host::new();
    let price = fee(&item(&host), "Seat", "10");
    let new = json!({"name": "Pro", "currency": "USD", "prices": [{"price": price}]});
    let mut draft = new;
    draft["status"] = json!("draft");
    let draft = host.post("/v1/plans", draft).ok(StatusCode::CREATED);
    assert_eq!(draft["status"], "draft");
    assert_eq!(host.walk("/v1/plans?status=draft"), std::slice::from_ref(&draft));
    assert_eq!(host.walk("/v1/plans?status=active"), Vec::<Value>::new());
    let ada = json!({"name": "Ada", "email": "ada@example.com", "external_customer_id": "ada"});
    host.post("/v1/customers", ada).ok(StatusCode::CREATED);
    let subscription = json!({"external_customer_id": "ada", "plan_id": draft["id"]});
    host.post("/v1/subscriptions", subscription.clone()).error(400, "400-constraint-violation");
    let id: PlanId = draft["id"].as_str().unwrap().parse().unwrap();
    let active = PlanUpdate { status: Some(PlanStatus::Active), ..PlanUpdate::default() };
    pollster::block_on(host.account().update_plan(id, active).into_future()).unwrap();
    host.post("/v1/subscriptions", subscription).ok(StatusCode::CREATED);
}

#[test]
fn s7_what_is_wrong_with_a_plan_is_refused() {
    let host = Host::new();
    let item_id = item(&host);
    plan(&host, "pro", &[]);
    let again = json!({"name": "Pro", "currency": "EUR", "external_plan_id": "pro", "prices": []});
    host.post("/v1/plans", again).error(400, "400-duplicate-resource-creation");
    let check = |new: Value, expect: &[&str]| {
        let body = host.post("/v1/plans", new).error(400, "400-request-validation-errors");
        let errors = body["validation_errors"].as_array().unwrap().iter();
        let found = errors.map(|text| text.as_str().unwrap().split(':').next().unwrap());
        assert_eq!(found.collect::<Vec<_>>(), expect, "{body}");
    };
    check(json!({}), &["/name", "/currency", "/prices"]);
    let new = |prices: Value| json!({"name": "Pro", "currency": "EUR", "prices": prices});
    check(new(json!([{}])), &["/prices/0/price"]);
    let mut wrong = fee(&item_id, "Seat", "10");
    wrong["cadence"] = json!("daily");
    check(new(json!([{"price": wrong}])), &["/prices/0/price/cadence"]);
    let mut negative = fee(&item_id, "Seat", "10");
    negative["fixed_price_quantity"] = json!(-1);
    check(new(json!([{"price": negative}])), &["/prices/0/price/fixed_price_quantity"]);
    host.get("/v1/plans/nothing").error(404, "404-resource-not-found");
    host.get("/v1/plans/external_plan_id/nothing").error(404, "404-resource-not-found");
}

#[test]
fn wire_5_1_a_plan_changes() {
    let host = Host::new();
    let before = plan(&host, "pro", &[]);
    assert_eq!(before["description"], "");
    let path = format!("/v1/plans/{}", before["id"].as_str().unwrap());
    let update = json!({
        "external_plan_id": "team", "description": "For teams", "metadata": {"a": "1"},
    });
    let after = host.put(&path, update).ok(StatusCode::OK);
    let mut expected = before;
    expected["external_plan_id"] = json!("team");
    expected["description"] = json!("For teams");
    expected["metadata"] = json!({"a": "1"});
    assert_eq!(after, expected);
    assert_eq!(host.put(&path, json!({})).ok(StatusCode::OK), expected);
    let by_alias = "/v1/plans/external_plan_id/team";
    let cleared = json!({"external_plan_id": null, "description": null, "metadata": null});
    let cleared = host.put(by_alias, cleared).ok(StatusCode::OK);
    assert_eq!(cleared["external_plan_id"], Value::Null);
    assert_eq!((&cleared["description"], &cleared["metadata"]), (&json!(""), &json!({})));
    host.put(by_alias, json!({})).error(404, "404-resource-not-found");
    let renamed = host.put(&path, json!({"name": "Other"})).ok(StatusCode::OK);
    assert_eq!(renamed["name"], "Other");
    assert_eq!(host.put(&path, json!({"name": null})).ok(StatusCode::OK), renamed);
    host.put(&path, json!({"name": ""})).error(400, "400-request-validation-errors");
    host.put(&path, json!({"prices": []})).error(400, "400-request-validation-errors");
}

#[test]
fn wire_6_3_plans_are_listed_by_status_and_time() {
    let host = Host::new();
    let first = plan(&host, "one", &[]);
    host.clock.set(accrue::Timestamp::parse("2026-03-11T12:00:00Z").unwrap());
    let second = plan(&host, "two", &[]);
    let both = vec![second.clone(), first.clone()];
    assert_eq!(host.walk("/v1/plans?limit=1"), both);
    assert_eq!(host.walk("/v1/plans?limit=1&status=active"), both);
    assert_eq!(host.walk("/v1/plans?status=draft"), Vec::<Value>::new());
    let later = "/v1/plans?created_at%5Bgt%5D=2026-03-10T12%3A00%3A00Z";
    assert_eq!(host.walk(later), [second]);
    let earlier = "/v1/plans?created_at[lte]=2026-03-10T12:00:00Z";
    assert_eq!(host.walk(earlier), [first]);
    host.get("/v1/plans?status=old").error(400, "400-request-validation-errors");
}

#[test]
fn subscriptions_5_2_1_and_2_a_version_is_made_from_the_latest_one() {
    let host = Host::new();
    let item_id = item(&host);
    let plan = plan(&host, "pro", &[fee(&item_id, "a", "1"), fee(&item_id, "b", "2")]);
    let id = plan["id"].as_str().unwrap();
    let (a, b) = (&plan["prices"][0]["id"], &plan["prices"][1]["id"]);
    let path = format!("/v1/plans/{id}/versions");
    let new = json!({
        "version": 2,
        "add_prices": [{"price": fee(&item_id, "c", "3")}],
        "replace_prices": [{"replaces_price_id": b, "price": fee(&item_id, "d", "4")}],
        "remove_prices": [{"price_id": a}],
        "set_as_default": null, "add_adjustments": null, "remove_adjustments": [],
    });
    let second = host.post(&path, new).ok(StatusCode::CREATED);
    let expected = json!({
        "version": 2,
        "created_at": "2026-03-10T12:00:00.000000+00:00",
        "prices": second["prices"],
        "adjustments": [],
        "plan_phases": null,
    });
    assert_eq!(second, expected);
    let names = |version: &Value| {
        let prices = version["prices"].as_array().unwrap().iter();
        prices.map(|price| price["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&second), ["d", "c"]);
    assert_eq!(second["prices"][1]["currency"], "EUR");
    assert_eq!(host.get(&format!("{path}/2")).ok(StatusCode::OK), second);
    let by_alias = "/v1/plans/external_plan_id/pro/versions";
    assert_eq!(host.get(&format!("{by_alias}/2")).ok(StatusCode::OK), second);
    assert_eq!(names(&host.get(&format!("{by_alias}/1")).ok(StatusCode::OK)), ["a", "b"]);
    assert_eq!(host.get(&format!("/v1/plans/{id}")).ok(StatusCode::OK)["version"], 1);

    let third = json!({"version": 3, "set_as_default": true});
    let third = host.post(by_alias, third).ok(StatusCode::CREATED);
    assert_eq!(third["prices"], second["prices"]);
    assert_eq!(host.get(&format!("/v1/plans/{id}")).ok(StatusCode::OK)["version"], 3);

    for path in [format!("{path}/4"), format!("{path}/x"), format!("{by_alias}/4")] {
        host.get(&path).error(404, "404-resource-not-found");
    }
    host.post(&path, json!({"version": 9})).error(400, "400-constraint-violation");
    host.post(&path, json!({})).error(400, "400-request-validation-errors");
    let nothing = json!({"version": 4, "replace_prices": [{"replaces_price_id": b}]});
    let refused = host.post(&path, nothing).error(400, "400-request-validation-errors");
    let text = "/replace_prices/0/price: is missing, as is allocation_price and license_allocation_price: expected one of them";
    assert_eq!(refused["validation_errors"], json!([text]));
}

#[test]
fn wire_5_1_the_default_version_is_chosen() {
    let host = Host::new();
    let plan = plan(&host, "pro", &[]);
    let path = format!("/v1/plans/{}", plan["id"].as_str().unwrap());
    host.post(&format!("{path}/versions"), json!({"version": 2})).ok(StatusCode::CREATED);
    let choose = |path: &str, version: u32| {
        host.post(&format!("{path}/set_default_version"), json!({"version": version}))
    };
    let second = choose(&path, 2).ok(StatusCode::OK);
    assert_eq!(second["version"], 2);
    let by_alias = "/v1/plans/external_plan_id/pro";
    assert_eq!(choose(by_alias, 1).ok(StatusCode::OK), plan);
    choose(&path, 3).error(404, "404-resource-not-found");
    choose(&path, 0).error(400, "400-request-validation-errors");
}

#[test]
fn s4_5_6_creating_a_plan_and_a_version_replays() {
    let host = Host::new();
    let new = json!({"name": "Pro", "currency": "EUR", "external_plan_id": "pro", "prices": []});
    let send = || host.keyed("POST", "/v1/plans", "one", new.clone());
    let (first, second) = (send(), send());
    first.ok(StatusCode::CREATED);
    assert_eq!(second.bytes, first.bytes);
    let path = "/v1/plans/external_plan_id/pro/versions";
    let send = || host.keyed("POST", path, "two", json!({"version": 2}));
    let (first, second) = (send(), send());
    first.ok(StatusCode::CREATED);
    assert_eq!(second.bytes, first.bytes);
}
