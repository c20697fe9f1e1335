//! Dates that requests have without an offset.

use http::StatusCode;
use serde_json::json;

use crate::subscriptions::{START, Shop, path};

#[test]
fn wire_5_3_a_subscription_begins_with_the_day_of_its_customer() {
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
fn subscriptions_0_1_dates_without_an_offset_are_those_of_the_customer() {
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
