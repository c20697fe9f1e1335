//! What is nested in an invoice, over HTTP (invoicing 3.3, 3.4).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{listed, set},
    subscriptions::customer,
    support::{Host, event},
};

const START: &str = "2026-03-10";

#[test]
fn invoicing_3_3_and_3_4_adjustments_are_shown_by_kind() {
    let host = Host::new();
    let mut configuration = accrue::account::Configuration::default();
    configuration.features.invoices = true;
    pollster::block_on(host.account().configure(configuration).into_future()).unwrap();
    customer(&host, "ada");
    let item = host.item("Seats");
    let metric = json!({
        "name": "Seats", "description": null, "item_id": item, "sql": "SELECT count(*) FROM events",
    });
    let metric = host.post("/v1/metrics", metric).ok(StatusCode::CREATED)["id"].clone();
    let usage = |name: &str, amount: &str| {
        json!({"price": {
            "name": name, "item_id": item, "cadence": "monthly", "billable_metric_id": metric,
            "model_type": "unit", "unit_config": {"unit_amount": amount},
        }})
    };
    let plan = json!({
        "name": "Pro", "currency": "USD", "external_plan_id": "pro",
        "prices": [usage("first", "30"), usage("second", "10")],
    });
    let plan = host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    let [first, second] = [&plan["prices"][0]["id"], &plan["prices"][1]["id"]];
    let tiers = json!([
        {"lower_bound": 0, "upper_bound": 20, "percentage": 0.1},
        {"lower_bound": 20, "upper_bound": null, "percentage": 0.2},
    ]);
    let minimum = |amount: &str, price: &Value| {
        json!({"adjustment_type": "minimum", "minimum_amount": amount, "item_id": item,
            "is_invoice_level": true, "applies_to_price_ids": [price]})
    };
    let add = |adjustment: Value, from: &str| json!({"adjustment": adjustment, "start_date": from});
    let new = json!({
        "external_customer_id": "ada", "external_plan_id": "pro", "start_date": START,
        "align_billing_with_subscription_start_date": true,
        "add_adjustments": [
            add(json!({"adjustment_type": "amount_discount", "amount_discount": "5",
                "applies_to_all": true}), START),
            add(json!({"adjustment_type": "tiered_percentage_discount", "tiers": tiers,
                "applies_to_all": true}), START),
            // The minimum of the first line begins after that of the second.
            add(minimum("25", first), "2026-03-11"),
            add(minimum("10", second), START),
        ],
    });
    let subscription = host.post("/v1/subscriptions", new).ok(StatusCode::CREATED);
    host.post("/v1/ingest", json!({"events": [event("one")]})).ok(StatusCode::OK);
    set(&host, "2026-04-12T00:00:00Z");
    let invoice = listed(&host, "").remove(0);
    let ids = |price: &Value| json!([price]);
    let every = &invoice["discounts"][0]["applies_to_price_ids"];
    assert_eq!(every.as_array().unwrap().len(), 2);
    assert_eq!(
        invoice["discounts"],
        json!([
            {"discount_type": "amount", "amount_discount": "5.00", "applies_to_price_ids": every,
                "filters": [], "reason": null},
            {"discount_type": "tiered_percentage", "tiers": tiers, "applies_to_price_ids": every,
                "filters": [], "reason": null},
        ])
    );
    // The first by start, not by line: U3.
    let of_second = json!([{"field": "price_id", "operator": "includes", "values": [second]}]);
    assert_eq!(
        invoice["minimum"],
        json!({"minimum_amount": "10.00", "applies_to_price_ids": ids(second), "filters": of_second})
    );
    assert_eq!((&invoice["minimum_amount"], &invoice["maximum"]), (&json!("10.00"), &json!(null)));
    assert_eq!((&invoice["subtotal"], &invoice["total"]), (&json!("40.00"), &json!("35.00")));

    let intervals = subscription["adjustment_intervals"].as_array().unwrap();
    let of = |kind: &str, price: &Value| {
        let found = intervals.iter().map(|of| &of["adjustment"]).find(|of| {
            of["adjustment_type"] == kind
                && (price.is_null() || of["applies_to_price_ids"] == ids(price))
        });
        found.unwrap()
    };
    let off = |kind: &str, amount: &str, own: (&str, Value)| {
        json!({
            "id": of(kind, &json!(null))["id"], "adjustment_type": kind, "amount": amount,
            "is_invoice_level": true, "filters": [], "applies_to_price_ids": every, "reason": null,
            "replaces_adjustment_id": null, own.0: own.1,
        })
    };
    let least = |amount: &str, price: &Value| {
        let of = of("minimum", price);
        json!({
            "id": of["id"], "adjustment_type": "minimum", "amount": amount, "item_id": item,
            "minimum_amount": of["minimum_amount"], "is_invoice_level": true,
            "filters": of["filters"], "applies_to_price_ids": [price], "reason": null,
            "replaces_adjustment_id": null,
        })
    };
    // 5 off 30 and 10; then 10 % of 20 and 20 % of the 15 beyond them.
    let line = |at: usize| &invoice["line_items"][at];
    assert_eq!(
        line(0)["adjustments"],
        json!([
            off("amount_discount", "-3.75", ("amount_discount", json!("5.00"))),
            off("tiered_percentage_discount", "-3.75", ("tiers", tiers.clone())),
            least("2.50", first),
        ])
    );
    assert_eq!(
        line(1)["adjustments"],
        json!([
            off("amount_discount", "-1.25", ("amount_discount", json!("5.00"))),
            off("tiered_percentage_discount", "-1.25", ("tiers", tiers.clone())),
            least("2.50", second),
        ])
    );
    assert_eq!([&line(0)["amount"], &line(1)["amount"]], ["25.00", "10.00"]);
}
