//! Credits: what usage draws, and what entries and blocks carry.

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::Shop;

/// A customer that pays two prices, each of its own item, with credits.
struct Spender {
    shop: Shop,
    credits: String,
    items: [Value; 2],
    prices: [Value; 2],
}

impl Spender {
    fn new() -> Self {
        let shop = Shop::new();
        let credits = format!("/v1/customers/{}/credits", shop.customer["id"].as_str().unwrap());
        let items = ["Tokens", "Calls"].map(|name| {
            shop.host.post("/v1/items", json!({"name": name})).ok(StatusCode::CREATED)["id"].clone()
        });
        let count = json!({
            "name": "Calls", "description": null, "item_id": items[1],
            "sql": "SELECT count(*) FROM events",
        });
        let count = shop.host.post("/v1/metrics", count).ok(StatusCode::CREATED)["id"].clone();
        let metrics = [json!(shop.metric_id), count];
        let prices: Vec<_> = items
            .iter()
            .zip(metrics)
            .map(|(item, metric)| {
                let price = json!({
                    "name": "Price", "item_id": item, "cadence": "monthly", "model_type": "unit",
                    "unit_config": {"unit_amount": "1"}, "billable_metric_id": metric,
                    "currency": "credits", "conversion_rate": 1,
                });
                json!({"price": price})
            })
            .collect();
        let plan = json!({"name": "Both", "currency": "EUR", "prices": prices});
        let plan = shop.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
        shop.subscribe(json!({"external_plan_id": null, "plan_id": plan["id"]}));
        let prices = [0, 1].map(|place| plan["prices"][place]["id"].clone());
        Self { shop, credits, items, prices }
    }

    /// Books an entry; the next one is made a moment later.
    fn book(&self, entry: Value) -> Value {
        self.shop.host.clock.advance(std::time::Duration::from_millis(1));
        let path = format!("{}/ledger_entry", self.credits);
        self.shop.host.post(&path, entry).ok(StatusCode::CREATED)
    }

    /// The entries of a type, oldest first.
    fn entries(&self, entry_type: &str) -> Vec<Value> {
        let mut found =
            self.shop.host.walk(&format!("{}/ledger?entry_type={entry_type}", self.credits));
        found.reverse();
        found
    }

    /// Amount, block and price of each decrement.
    fn draws(&self) -> Vec<Value> {
        let entries = self.entries("decrement").into_iter();
        let draws = entries
            .map(|entry| json!([entry["amount"], entry["credit_block"]["id"], entry["price_id"]]));
        draws.collect()
    }
}

#[test]
fn clients_6_usage_draws_one_entry_a_day_block_and_price() {
    let spender = Spender::new();
    let first =
        spender.book(json!({"entry_type": "increment", "amount": 10, "expiry_date": "2026-05-01"}));
    let second = spender.book(json!({"entry_type": "increment", "amount": 100}));
    let [first, second] = [first, second].map(|entry| entry["credit_block"]["id"].clone());
    let [tokens, calls] = spender.prices.clone();
    spender.shop.use_tokens("1", 4, "small");
    spender.shop.use_tokens("2", 3, "small");
    assert_eq!(spender.draws(), [json!([-7, first, tokens]), json!([-2, first, calls])]);
    let entry = &spender.entries("decrement")[0];
    assert_eq!((&entry["invoice_id"], &entry["event_id"]), (&Value::Null, &Value::Null));
    assert_eq!(entry["entry_status"], "pending");
    // The block is used up, and then the day is over.
    spender.shop.use_tokens("3", 2, "small");
    spender.shop.now("2026-03-11T12:00:00Z");
    spender.shop.use_tokens("4", 1, "small");
    let expected = [
        json!([-8, first, tokens]),
        json!([-2, first, calls]),
        json!([-1, second, tokens]),
        json!([-1, second, calls]),
        json!([-1, second, tokens]),
        json!([-1, second, calls]),
    ];
    assert_eq!(spender.draws(), expected);
    spender.book(json!({"entry_type": "decrement", "amount": 5}));
    assert_eq!(spender.entries("decrement")[6]["price_id"], Value::Null);
}

#[test]
fn clients_6_entries_that_leave_the_balance_carry_what_they_move() {
    let spender = Spender::new();
    let block = spender.book(json!({"entry_type": "increment", "amount": 10}));
    let block = &block["credit_block"]["id"];
    let change = spender.book(json!({
        "entry_type": "expiration_change", "target_expiry_date": "2026-05-01", "amount": 4,
        "block_id": block,
    }));
    assert_eq!(change["amount"], 4);
    assert_eq!((&change["starting_balance"], &change["ending_balance"]), (&json!(10), &json!(10)));
    assert_eq!(change["new_block_expiry_date"], "2026-04-30T22:00:00.000000+00:00");
    let blocks = spender.shop.host.walk(&spender.credits);
    let balances: Vec<_> = blocks.iter().map(|block| block["balance"].clone()).collect();
    assert_eq!(balances, [4, 6]);
    let void = spender.book(json!({"entry_type": "void", "amount": 2, "block_id": block}));
    assert_eq!((&void["entry_type"], &void["amount"]), (&json!("void_initiated"), &json!(2)));
    assert_eq!((&void["starting_balance"], &void["ending_balance"]), (&json!(10), &json!(10)));
    let voided = &spender.entries("void")[0];
    assert_eq!((&voided["amount"], &voided["ending_balance"]), (&json!(-2), &json!(8)));
    let large = spender.shop.host.walk(&format!("{}/ledger?minimum_amount=3", spender.credits));
    assert_eq!(large.len(), 2, "the increment, and the change of the expiry");
}

#[test]
fn clients_6_a_block_with_filters_pays_for_what_passes_them() {
    let spender = Spender::new();
    let filters = json!([
        {"field": "item_id", "operator": "includes", "values": [spender.items[1]]},
    ]);
    let calls_only =
        spender.book(json!({"entry_type": "increment", "amount": 1, "filters": filters}));
    assert_eq!(calls_only["credit_block"]["filters"], filters);
    let all = spender
        .book(json!({"entry_type": "increment", "amount": 100, "expiry_date": "2026-05-01"}));
    let listed = spender.shop.host.walk(&spender.credits);
    assert_eq!((&listed[0]["filters"], &listed[1]["filters"]), (&json!([]), &filters));
    let [calls_only, all] = [calls_only, all].map(|entry| entry["credit_block"]["id"].clone());
    spender.shop.use_tokens("1", 3, "small");
    spender.shop.use_tokens("2", 2, "small");
    let [tokens, calls] = spender.prices.clone();
    let expected =
        [json!([-5, all, tokens]), json!([-1, calls_only, calls]), json!([-1, all, calls])];
    assert_eq!(spender.draws(), expected);
    // What calls cost less goes back to the block that pays for nothing else.
    spender.shop.host.put("/v1/events/1/deprecate", ()).ok(StatusCode::OK);
    let given: Vec<_> = spender
        .entries("amendment")
        .into_iter()
        .map(|entry| json!([entry["amount"], entry["credit_block"]["id"]]))
        .collect();
    assert_eq!(given, [json!([1, calls_only]), json!([3, all])]);
    let others =
        json!([{"field": "item_id", "operator": "excludes", "values": [spender.items[0]]}]);
    let others = spender.book(json!({"entry_type": "increment", "amount": 1, "filters": others}));
    assert_eq!(others["credit_block"]["filters"][0]["operator"], "excludes");
    let refused = |filters: Value, status: u16, kind: &str| {
        let entry = json!({"entry_type": "increment", "amount": 1, "filters": filters});
        let path = format!("{}/ledger_entry", spender.credits);
        spender.shop.host.post(&path, entry).error(status, kind);
    };
    let filter = |field: &str, values: Value| json!([{"field": field, "operator": "includes", "values": values}]);
    refused(filter("price_id", json!([tokens])), 400, "400-request-validation-errors");
    refused(filter("item_id", json!([])), 400, "400-request-validation-errors");
    refused(filter("item_id", json!([tokens])), 404, "404-resource-not-found");
}
