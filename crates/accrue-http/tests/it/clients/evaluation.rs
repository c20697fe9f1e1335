//! What usage is grouped by when a price is evaluated.

use http::StatusCode;
use serde_json::{Value, json};

use crate::subscriptions::Shop;

/// Evaluates the price of a shop over two hours of usage, by some expressions.
struct Evaluation {
    shop: Shop,
}

impl Evaluation {
    fn new() -> Self {
        let shop = Shop::new();
        shop.now("2026-03-10T12:10:00Z");
        shop.use_tokens("1", 50, "small");
        shop.use_tokens("2", 2_000, "small");
        shop.now("2026-03-10T13:59:59Z");
        shop.use_tokens("3", 500, "large");
        Self { shop }
    }

    fn body(&self, more: Value) -> Value {
        let mut body = json!({
            "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-11T00:00:00Z",
            "customer_id": self.shop.customer["id"],
        });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        body
    }

    fn path(&self) -> String {
        format!("/v1/prices/{}/evaluate", self.shop.plan["prices"][0]["id"].as_str().unwrap())
    }

    /// Values, quantity and amount of each group.
    fn groups(&self, more: Value) -> Vec<Value> {
        let found = self.shop.host.post(&self.path(), self.body(more)).ok(StatusCode::OK);
        let groups = found["data"].as_array().unwrap().iter();
        let groups = groups
            .map(|group| json!([group["grouping_values"], group["quantity"], group["amount"]]));
        groups.collect()
    }
}

#[test]
fn clients_9_usage_is_grouped_by_expressions() {
    let evaluation = Evaluation::new();
    let size =
        "case when tokens > 1000 then 'large' when tokens > 100 then 'medium' else 'small' end";
    assert_eq!(
        evaluation.groups(json!({"grouping_keys": [size]})),
        [
            json!([["large"], 2000, "1000.00"]),
            json!([["medium"], 500, "250.00"]),
            json!([["small"], 50, "25.00"]),
        ]
    );
    let hour = "hour_floor_timestamp_millis(timestamp_millis)";
    let noon: u64 = 1_773_144_000_000;
    assert_eq!(
        evaluation.groups(json!({"grouping_keys": [hour]})),
        [json!([[noon], 2050, "1025.00"]), json!([[noon + 3_600_000], 500, "250.00"])]
    );
    assert_eq!(
        evaluation.groups(json!({"grouping_keys": ["model", "tokens >= 100"]})),
        [
            json!([["large", true], 500, "250.00"]),
            json!([["small", false], 50, "25.00"]),
            json!([["small", true], 2000, "1000.00"]),
        ]
    );
    assert_eq!(
        evaluation.groups(json!({"grouping_keys": ["coalesce(region, upper(model))"]})),
        [json!([["LARGE"], 500, "250.00"]), json!([["SMALL"], 2050, "1025.00"])]
    );
}

#[test]
fn clients_9_one_language_serves_groups_filters_and_metrics() {
    let evaluation = Evaluation::new();
    let text = "case model when 'small' then 'few' else 'many' end";
    let filter = format!("{text} = 'few' and timestamp_millis < 1773147600000");
    assert_eq!(
        evaluation.groups(json!({"filter": filter, "grouping_keys": [text]})),
        [json!([["few"], 2050, "1025.00"])]
    );
    let metric = json!({
        "name": "Few", "description": null, "item_id": evaluation.shop.plan["prices"][0]["item"]["id"],
        "sql": format!("SELECT sum(tokens) FROM events WHERE {text} = 'few'"),
    });
    evaluation.shop.host.post("/v1/metrics", metric).ok(StatusCode::CREATED);
    let backfill = json!({
        "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-10T12:00:00Z",
        "deprecation_filter": format!("{text} = 'few'"),
    });
    evaluation.shop.host.post("/v1/events/backfills", backfill).ok(StatusCode::OK);
}

#[test]
fn clients_9_what_is_wrong_with_an_expression_is_told_where_it_is() {
    let evaluation = Evaluation::new();
    let check = |keys: Value, expect: &[&str]| {
        let body = evaluation.body(json!({"grouping_keys": keys}));
        let refused = evaluation.shop.host.post(&evaluation.path(), body);
        let refused = refused.error(400, "400-request-validation-errors");
        assert_eq!(refused["validation_errors"], json!(expect));
    };
    check(
        json!(["model", "case when tokens then 1"]),
        &["/grouping_keys/1: at character 24: found the end, expected `WHEN`, `ELSE` or `END`"],
    );
    check(
        json!(["floor(tokens)"]),
        &[
            "/grouping_keys/0: at character 1: found `floor`, expected one of coalesce, lower, upper, \
           minute_floor_timestamp_millis, hour_floor_timestamp_millis, day_floor_timestamp_millis",
        ],
    );
    check(
        json!(["model", "\"model\""]),
        &["/grouping_keys: found \"model\" more than once, expected each property once"],
    );
}
