//! Evaluations of several prices, over usage and over events that are not ingested.

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Host};

const SEVERAL: &str = "/v1/prices/evaluate";
const PREVIEW: &str = "/v1/prices/evaluate_preview_events";

/// The customer `ada`, a metric of the sum of `tokens`, and a price of 0.10 by it.
struct Evaluations {
    host: Host,
    customer: Value,
    item: String,
    metric: String,
    price: String,
}

impl Evaluations {
    fn new() -> Self {
        let host = Host::new();
        let item = host.item("Model");
        let metric = json!({
            "name": "Tokens", "description": null, "item_id": item,
            "sql": "SELECT sum(tokens) FROM events",
        });
        let metric = id(&host.post("/v1/metrics", metric).ok(StatusCode::CREATED));
        let ada = json!({
            "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
        });
        let customer = host.post("/v1/customers", ada).ok(StatusCode::CREATED)["id"].clone();
        let mut scene = Self { host, customer, item, metric, price: String::new() };
        let new = scene.new_price("0.10", json!({"external_price_id": "tokens"}));
        scene.price = id(&scene.host.post("/v1/prices", new).ok(StatusCode::CREATED));
        scene
    }

    /// A price to create.
    fn new_price(&self, amount: &str, more: Value) -> Value {
        let new = json!({
            "name": "Tokens", "item_id": self.item, "cadence": "monthly", "currency": "USD",
            "billable_metric_id": self.metric, "model_type": "unit",
            "unit_config": {"unit_amount": amount},
        });
        with(new, more)
    }

    /// Counts tokens in a region.
    fn use_tokens(&self, key: &str, tokens: u64, region: &str) {
        let event = json!({
            "idempotency_key": key, "event_name": "completion", "customer_id": self.customer,
            "timestamp": "2026-03-10T11:00:00Z", "properties": {"tokens": tokens, "region": region},
        });
        self.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
    }

    /// A request for some prices, of `ada` on the day.
    fn body(&self, prices: Value) -> Value {
        json!({
            "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-11T00:00:00Z",
            "customer_id": self.customer, "price_evaluations": prices,
        })
    }

    /// A request for the price, with some events.
    fn preview(&self, events: Value) -> Value {
        with(self.body(json!([{"price_id": self.price}])), json!({"events": events}))
    }

    #[track_caller]
    fn several(&self, prices: Value) -> Value {
        self.host.post(SEVERAL, self.body(prices)).ok(StatusCode::OK)
    }

    /// Quantities of the price, by groups that follow each other.
    #[track_caller]
    fn previewed(&self, events: Value) -> Value {
        let found = self.host.post(PREVIEW, self.preview(events)).ok(StatusCode::OK);
        found["data"][0]["price_groups"][0]["quantity"].clone()
    }
}

fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap().to_owned()
}

/// Adds members to an object.
fn with(mut object: Value, more: Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

fn without(mut object: Value, name: &str) -> Value {
    object.as_object_mut().unwrap().remove(name);
    object
}

fn event(tokens: impl Into<Value>) -> Value {
    json!({
        "event_name": "completion", "timestamp": "2026-03-10T11:00:00Z",
        "properties": {"tokens": tokens.into()},
    })
}

/// Expects a refusal of the request, for what is at some places.
#[track_caller]
fn refuses(answer: &Answer, expect: &[&str]) {
    let body = answer.error(400, "400-request-validation-errors");
    let errors = body["validation_errors"].as_array().unwrap().iter();
    let places: Vec<_> =
        errors.map(|error| error.as_str().unwrap().split_once(": ").unwrap().0).collect();
    assert_eq!(places, expect, "{body}");
}

#[test]
fn subscriptions_9_1_example() {
    let scene = Evaluations::new();
    scene.use_tokens("1", 30, "eu");
    scene.use_tokens("2", 20, "us");
    let anew = scene.new_price("0.10", json!({}));
    let price = scene.host.post("/v1/prices", anew).ok(StatusCode::CREATED)["id"].clone();
    let prices = json!([
        {"price_id": price, "grouping_keys": ["region"]},
        {"price": scene.new_price("0.12", json!({}))},
    ]);
    let expect = json!({"data": [
        {
            "price_id": price, "external_price_id": null, "inline_price_index": null,
            "currency": "USD", "price_groups": [
                {"grouping_values": ["eu"], "quantity": 30, "amount": "3.00"},
                {"grouping_values": ["us"], "quantity": 20, "amount": "2.00"},
            ],
        },
        {
            "price_id": null, "external_price_id": null, "inline_price_index": 1,
            "currency": "USD", "price_groups": [
                {"grouping_values": [], "quantity": 50, "amount": "6.00"},
            ],
        },
    ]});
    assert_eq!(scene.several(prices), expect);
}

#[test]
fn subscriptions_9_1_1_the_timeframe_starts_at_most_100_days_ago() {
    let scene = Evaluations::new();
    let body = scene.body(json!([{"price_id": scene.price}]));
    let from = |start: &str| {
        scene.host.post(SEVERAL, with(body.clone(), json!({"timeframe_start": start})))
    };
    from("2025-11-30T12:00:00Z").ok(StatusCode::OK);
    refuses(&from("2025-11-30T11:59:59Z"), &["/timeframe_start"]);
}

#[test]
fn subscriptions_9_1_2_without_prices_it_is_refused() {
    let scene = Evaluations::new();
    let body = scene.body(json!([]));
    refuses(&scene.host.post(SEVERAL, body.clone()), &["/price_evaluations"]);
    refuses(&scene.host.post(SEVERAL, without(body, "price_evaluations")), &["/price_evaluations"]);
    let one = json!({"price_id": scene.price});
    assert_eq!(scene.several(json!(vec![&one; 100]))["data"].as_array().unwrap().len(), 100);
    let more = scene.host.post(SEVERAL, scene.body(json!(vec![&one; 101])));
    refuses(&more, &["/price_evaluations"]);
}

#[test]
fn subscriptions_9_1_3_and_4_a_stored_price_has_both_ids_and_another_its_place() {
    let scene = Evaluations::new();
    let inline = scene.new_price("1", json!({"external_price_id": "tokens"}));
    let found = scene.several(json!([
        {"price": inline}, {"external_price_id": "tokens"}, {"price_id": scene.price},
        {"price": inline},
    ]));
    let ids =
        |of: &Value| json!([of["price_id"], of["external_price_id"], of["inline_price_index"]]);
    let ids: Vec<_> = found["data"].as_array().unwrap().iter().map(ids).collect();
    let stored = json!([scene.price, "tokens", null]);
    assert_eq!(ids, [json!([null, null, 0]), stored.clone(), stored, json!([null, null, 3])]);
}

#[test]
fn subscriptions_9_1_5_usage_is_that_of_one_customer() {
    let scene = Evaluations::new();
    scene.use_tokens("1", 5, "eu");
    let body = without(scene.body(json!([{"price_id": scene.price}])), "customer_id");
    scene.host.post(SEVERAL, body.clone()).error(404, "404-feature-not-available");
    let of = |more| scene.host.post(SEVERAL, with(body.clone(), more));
    let found = of(json!({"external_customer_id": "ada"})).ok(StatusCode::OK);
    assert_eq!(found["data"][0]["price_groups"][0]["quantity"], 5);
    of(json!({"external_customer_id": "eve"})).error(404, "404-resource-not-found");
    let both = json!({"external_customer_id": "ada", "customer_id": scene.customer});
    refuses(&of(both), &["/external_customer_id"]);
}

#[test]
fn subscriptions_9_1_9_one_price_that_cannot_be_found_or_built_refuses_all() {
    let scene = Evaluations::new();
    let ask = |other: Value| {
        scene.host.post(SEVERAL, scene.body(json!([{"price_id": scene.price}, other])))
    };
    for unknown in [
        json!({"price_id": "none"}),
        json!({"price_id": "0198f2f2-7f3a-7c39-a5f3-0b6c1d1f0001"}),
        json!({"external_price_id": "none"}),
    ] {
        ask(unknown).error(404, "404-resource-not-found");
    }
    let composite = json!({"model_type": "percent", "percent_config": {"percent": 0.1}});
    let composite = without(scene.new_price("1", composite), "billable_metric_id");
    let composite = without(composite, "unit_config");
    ask(json!({"price": composite})).error(400, "400-constraint-violation");
    let overridden =
        json!({"price_id": scene.price, "metric_parameter_overrides": {"threshold": 1}});
    ask(overridden).error(400, "400-constraint-violation");
    let fee = without(scene.new_price("1", json!({})), "billable_metric_id");
    ask(json!({"price": fee})).error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_9_1_each_entry_names_one_price() {
    let scene = Evaluations::new();
    let inline = scene.new_price("1", json!({}));
    let answer = scene.host.post(
        SEVERAL,
        scene.body(json!([
            {"filter": "tokens > 1"},
            {"price_id": scene.price, "price": inline},
            // The object is open.
            {"price_id": scene.price, "unheard_of": 1},
            {"price_id": scene.price, "filter": "tokens >", "grouping_keys": ["a", "floor("]},
            {"price": without(inline.clone(), "currency")},
            {"price": with(inline.clone(), json!({"unheard_of": 1}))},
        ])),
    );
    refuses(
        &answer,
        &[
            "/price_evaluations/0/price_id",
            "/price_evaluations/1/price",
            "/price_evaluations/3/filter",
            "/price_evaluations/3/grouping_keys/1",
            "/price_evaluations/4/price/currency",
            "/price_evaluations/5/price/unheard_of",
        ],
    );
    let twice = json!([{"price_id": scene.price}, {"price": inline, "grouping_keys": ["a", "a"]}]);
    let answer = scene.host.post(SEVERAL, scene.body(twice));
    refuses(&answer, &["/price_evaluations/1/grouping_keys"]);
    let none = json!({"quantity": 1, "unit_config": {"unit_amount": "1", "scaling_factor": 0}});
    let wrong = json!([{"price": without(with(inline, none), "quantity")}]);
    let answer = scene.host.post(SEVERAL, scene.body(wrong));
    refuses(&answer, &["/price_evaluations/0/price/unit_config/scaling_factor"]);
    let closed = with(scene.body(json!([{"price_id": scene.price}])), json!({"events": []}));
    refuses(&scene.host.post(SEVERAL, closed), &["/events"]);
}

#[test]
fn subscriptions_9_2_example() {
    let scene = Evaluations::new();
    let price = scene.new_price("0.001", json!({}));
    let mut events = vec![event(200); 5];
    events.push(event("x"));
    let body = with(scene.preview(json!(events)), json!({"price_evaluations": [{"price": price}]}));
    let found = scene.host.post(PREVIEW, body).ok(StatusCode::OK);
    let expect = json!({"data": [{
        "price_id": null, "external_price_id": null, "inline_price_index": 0, "currency": "USD",
        "price_groups": [{"grouping_values": [], "quantity": 1000, "amount": "1.00"}],
    }]});
    assert_eq!(found, expect);
}

#[test]
fn subscriptions_9_2_1_a_customer_is_required() {
    let scene = Evaluations::new();
    let body = scene.preview(json!([event(1)]));
    let both = with(body.clone(), json!({"external_customer_id": "ada"}));
    refuses(&scene.host.post(PREVIEW, both), &[""]);
    let none = without(body, "customer_id");
    refuses(&scene.host.post(PREVIEW, none.clone()), &[""]);
    let ada = with(none, json!({"external_customer_id": "ada"}));
    scene.host.post(PREVIEW, ada).ok(StatusCode::OK);
}

#[test]
fn subscriptions_9_2_2_and_3_events_are_the_customers_unless_they_name_another() {
    let scene = Evaluations::new();
    let of = |more: Value| with(event(1), more);
    let ada = [
        of(json!({})),
        of(json!({"customer_id": scene.customer})),
        of(json!({"external_customer_id": "ada", "customer_id": null})),
    ];
    assert_eq!(scene.previewed(json!(ada)), 3);
    assert_eq!(scene.previewed(json!([of(json!({"external_customer_id": "eve"}))])), 0);
    let unknown = scene.preview(json!([of(json!({"customer_id": "none"}))]));
    scene.host.post(PREVIEW, unknown).error(404, "404-resource-not-found");
    let both = of(json!({"external_customer_id": "ada", "customer_id": scene.customer}));
    let both = scene.host.post(PREVIEW, scene.preview(json!([event(1), both])));
    refuses(&both, &["/events/1/external_customer_id"]);
}

#[test]
fn subscriptions_9_2_4_and_8_nothing_is_ingested_and_what_was_does_not_count() {
    let scene = Evaluations::new();
    scene.use_tokens("1", 5, "eu");
    assert_eq!(scene.previewed(json!([event(2)])), 2);
    let found = scene.several(json!([{"price_id": scene.price}]));
    assert_eq!(found["data"][0]["price_groups"][0]["quantity"], 5);
}

#[test]
fn subscriptions_9_2_5_events_may_lie_anywhere() {
    let scene = Evaluations::new();
    let of = |at: &str| with(event(1), json!({"timestamp": at}));
    let frame = json!({
        "timeframe_start": "2001-01-01T00:00:00Z", "timeframe_end": "2101-01-01T00:00:00Z",
    });
    let events = json!([of("2001-01-01T00:00:00Z"), of("2100-12-31T00:00:00Z"), event(1)]);
    let found = scene.host.post(PREVIEW, with(scene.preview(events), frame)).ok(StatusCode::OK);
    assert_eq!(found["data"][0]["price_groups"][0]["quantity"], 3);
}

#[test]
fn subscriptions_9_2_6_without_events_it_is_refused() {
    let scene = Evaluations::new();
    let ask = |events: Value| scene.host.post(PREVIEW, scene.preview(events));
    refuses(&ask(json!([])), &["/events"]);
    refuses(&ask(json!(vec![event(1); 501])), &["/events"]);
    let none = without(scene.preview(json!([])), "events");
    refuses(&scene.host.post(PREVIEW, none), &["/events"]);
    assert_eq!(scene.previewed(json!(vec![event(1); 500])), 500);
}

#[test]
fn subscriptions_9_2_7_what_is_wrong_with_an_event_is_told_with_its_place() {
    let scene = Evaluations::new();
    let events = json!([
        event(1),
        without(event(1), "timestamp"),
        with(event(1), json!({"event_name": ""})),
        with(event(1), json!({"idempotency_key": "k"})),
        with(event(1), json!({"properties": {"a": {}}})),
    ]);
    refuses(
        &scene.host.post(PREVIEW, scene.preview(events)),
        &[
            "/events/1/timestamp",
            "/events/2/event_name",
            "/events/3/idempotency_key",
            "/events/4/properties/a",
        ],
    );
    let long = with(event(1), json!({"properties": {"a": "x".repeat(4_097)}}));
    let answer = scene.host.post(PREVIEW, scene.preview(json!([event(1), long])));
    refuses(&answer, &["/events/1"]);
    assert!(answer.json().get("validation_failed").is_none(), "{answer:?}");
}

#[test]
fn subscriptions_9_2_8_under_a_key_it_is_computed_again() {
    let scene = Evaluations::new();
    let body = scene.body(json!([{"price_id": scene.price}]));
    let found = |path: &str, body: &Value| {
        let answer = scene.host.keyed("POST", path, path, body.clone());
        answer.is_fresh().ok(StatusCode::OK)["data"][0]["price_groups"][0]["quantity"].clone()
    };
    assert_eq!(found(SEVERAL, &body), 0);
    scene.use_tokens("1", 5, "eu");
    assert_eq!(found(SEVERAL, &body), 5);
    let preview = scene.preview(json!([event(2)]));
    assert_eq!(found(PREVIEW, &preview), 2);
    assert_eq!(found(PREVIEW, &preview), 2);
    for (path, other) in [(SEVERAL, json!([])), (PREVIEW, json!([event(3)]))] {
        let other = match path {
            SEVERAL => scene.body(other),
            _ => scene.preview(other),
        };
        scene.host.keyed("POST", path, path, other).error(409, "409-resource-conflict");
    }
}
