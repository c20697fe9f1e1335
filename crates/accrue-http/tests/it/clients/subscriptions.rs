//! Terms and dates of subscriptions.

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::{START, Shop, path};

/// A price of ten, each cadence.
fn fee(item: &Value, cadence: &str) -> Value {
    let price = json!({
        "name": cadence, "item_id": item, "cadence": cadence, "model_type": "unit",
        "unit_config": {"unit_amount": "10"}, "fixed_price_quantity": 1,
    });
    json!({"price": price})
}

#[test]
fn clients_1_a_term_is_the_longest_cadence() {
    let shop = Shop::new();
    let item = &shop.plan["prices"][0]["item"]["id"];
    let prices = ["monthly", "quarterly", "annual"].map(|cadence| fee(item, cadence));
    let plan = json!({"name": "Year", "currency": "EUR", "prices": prices});
    let plan = shop.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    let new = json!({"external_plan_id": null, "plan_id": plan["id"], "start_date": "2026-03-01"});
    let year = shop.subscribe(new.clone());
    let term = json!({"cancel_option": "end_of_subscription_term"});
    let canceled = shop.host.post(&path(&year, "/cancel"), term.clone()).ok(StatusCode::OK);
    assert_eq!(canceled["end_date"], "2027-02-28T23:00:00.000000+00:00");

    let mut upcoming = new;
    upcoming["start_date"] = json!("2026-05-01");
    let upcoming = shop.subscribe(upcoming);
    assert_eq!(upcoming["status"], "upcoming");
    let cancel = |option: Value| shop.host.post(&path(&upcoming, "/cancel"), option);
    cancel(term).error(400, "400-constraint-violation");
    let date = json!({"cancel_option": "requested_date", "cancellation_date": "2026-06-01"});
    cancel(date).error(400, "400-constraint-violation");
    let canceled = cancel(json!({"cancel_option": "immediate"})).ok(StatusCode::OK);
    assert_eq!(canceled["end_date"], canceled["start_date"]);
}

#[test]
fn clients_2_a_subscription_begins_with_the_day_of_its_customer() {
    // Ada is in Berlin, where it is one o'clock in the afternoon.
    let shop = Shop::new();
    let today = shop.subscribe(json!({"start_date": null}));
    assert_eq!(today["start_date"], "2026-03-09T23:00:00.000000+00:00");
    assert_eq!(today["created_at"], START);
    assert_eq!(today["status"], "active");
    shop.now("2026-03-10T23:30:00Z");
    let tomorrow = shop.subscribe(json!({"start_date": null}));
    assert_eq!(tomorrow["start_date"], "2026-03-10T23:00:00.000000+00:00");
}

#[test]
fn clients_3_dates_without_an_offset_are_those_of_the_customer() {
    let shop = Shop::new();
    let check = |start: &str, end: &str, expect: [&str; 2]| {
        let created = shop.subscribe(json!({"start_date": start, "end_date": end}));
        assert_eq!([&created["start_date"], &created["end_date"]], expect);
    };
    check(
        "2026-03-01",
        "2026-07-01T12:00:00",
        ["2026-02-28T23:00:00.000000+00:00", "2026-07-01T10:00:00.000000+00:00"],
    );
    check(
        "2026-03-01T00:00:00Z",
        "2026-07-01",
        ["2026-03-01T00:00:00.000000+00:00", "2026-06-30T22:00:00.000000+00:00"],
    );
    let created = shop.subscribe(json!({}));
    let cancel = json!({"cancel_option": "requested_date", "cancellation_date": "2026-03-20"});
    let canceled = shop.host.post(&path(&created, "/cancel"), cancel).ok(StatusCode::OK);
    assert_eq!(canceled["end_date"], "2026-03-19T23:00:00.000000+00:00");
    let created = shop.subscribe(json!({}));
    let noon = json!({
        "cancel_option": "requested_date", "cancellation_date": "2026-04-20T12:00:00",
    });
    let canceled = shop.host.post(&path(&created, "/cancel"), noon).ok(StatusCode::OK);
    assert_eq!(canceled["end_date"], "2026-04-20T10:00:00.000000+00:00");
    let created = shop.subscribe(json!({}));
    let more = json!({
        "price_id": shop.plan["prices"][1]["id"], "quantity": 5, "effective_date": "2026-03-20",
    });
    let more = shop.host.post(&path(&created, "/update_fixed_fee_quantity"), more);
    let more = more.ok(StatusCode::OK);
    let schedule = more["fixed_fee_quantity_schedule"].as_array().unwrap().last().unwrap();
    assert_eq!(schedule["start_date"], "2026-03-19T23:00:00.000000+00:00");
    let unknown =
        json!({"customer_id": "nobody", "external_plan_id": "pro", "start_date": "2026-03-01"});
    shop.host.post("/v1/subscriptions", unknown).error(404, "404-resource-not-found");
    // Of one customer, a list has its days too.
    let list = |query: &str| {
        let list = shop.host.get(&format!("/v1/subscriptions?{query}")).ok(StatusCode::OK);
        list["data"].as_array().unwrap().len()
    };
    shop.now("2026-03-11T23:30:00Z");
    shop.subscribe(json!({}));
    assert_eq!(list("created_at[gte]=2026-03-12"), 0);
    assert_eq!(list("created_at[gte]=2026-03-12&external_customer_id=ada"), 1);
    assert_eq!(list("created_at[gte]=2026-03-12&external_customer_id=nobody"), 0);
}

#[test]
fn clients_3_credits_backfills_and_filters_have_the_days_of_their_customer() {
    let shop = Shop::new();
    let ada = shop.customer["id"].as_str().unwrap();
    let entry = json!({
        "entry_type": "increment", "amount": 5, "effective_date": "2026-03-01",
        "expiry_date": "2026-07-01T12:00:00",
    });
    let credits = format!("/v1/customers/{ada}/credits");
    let entry = shop.host.post(&format!("{credits}/ledger_entry"), entry).ok(StatusCode::CREATED);
    assert_eq!(entry["credit_block"]["expiry_date"], "2026-07-01T10:00:00.000000+00:00");
    let blocks = shop.host.get(&credits).ok(StatusCode::OK);
    assert_eq!(blocks["data"][0]["effective_date"], "2026-02-28T23:00:00.000000+00:00");
    let effective = |bound: &str| {
        let blocks = shop.host.get(&format!("{credits}?effective_date[gte]={bound}"));
        blocks.ok(StatusCode::OK)["data"].as_array().unwrap().len()
    };
    assert_eq!((effective("2026-03-01"), effective("2026-03-01T00:00:00Z")), (1, 0));

    let backfill = |more: Value| {
        let mut new = json!({"timeframe_start": "2026-03-08", "timeframe_end": "2026-03-09"});
        for (name, value) in more.as_object().unwrap() {
            new[name] = value.clone();
        }
        shop.host.post("/v1/events/backfills", new).ok(StatusCode::OK)
    };
    let hers =
        backfill(json!({"external_customer_id": "ada", "close_time": "2026-03-11T13:00:00"}));
    assert_eq!(hers["timeframe_start"], "2026-03-07T23:00:00.000000+00:00");
    assert_eq!(hers["close_time"], "2026-03-11T12:00:00.000000+00:00");
    // Of all customers, it is UTC.
    shop.host.post(&format!("/v1/events/backfills/{}/revert", hers["id"].as_str().unwrap()), ());
    let all = backfill(json!({}));
    assert_eq!(all["timeframe_start"], "2026-03-08T00:00:00.000000+00:00");
    let created = shop.host.get("/v1/customers?created_at[lt]=2026-03-11").ok(StatusCode::OK);
    assert_eq!(created["data"].as_array().unwrap().len(), 1);

    // In Berlin it is the twelfth already.
    shop.now("2026-03-11T23:30:00Z");
    let alert = json!({"type": "credit_balance_depleted", "currency": "credits"});
    let alert = shop.host.post(&format!("/v1/alerts/customer_id/{ada}"), alert);
    alert.ok(StatusCode::CREATED);
    shop.host
        .post(&format!("{credits}/ledger_entry"), json!({"entry_type": "decrement", "amount": 1}));
    let since = |list: &str| {
        let found = shop.host.get(&format!("{list}created_at[gte]=2026-03-12")).ok(StatusCode::OK);
        found["data"].as_array().unwrap().len()
    };
    assert_eq!(since(&format!("/v1/alerts?customer_id={ada}&")), 1);
    assert_eq!(since("/v1/alerts?external_customer_id=ada&"), 1);
    assert_eq!(since(&format!("{credits}/ledger?")), 1);
}
