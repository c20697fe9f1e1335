//! License types, licenses and their usage over HTTP (subscriptions 7).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{backfills::tick, messages::taken, support::Host};

const TYPES: &str = "/v1/license_types";
const LICENSES: &str = "/v1/licenses";

/// A subscription of a customer `ada` to a plan of two seats, and of their usage.
pub(crate) struct Licensed {
    pub(crate) host: Host,
    item: String,
    metric: String,
    license_type: Value,
    pub(crate) subscription: String,
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

fn with(mut value: Value, name: &str, field: Value) -> Value {
    value[name] = field;
    value
}

impl Licensed {
    fn new() -> Self {
        let host = Host::new();
        let item = id(&host.post("/v1/items", json!({"name": "Model"})).ok(StatusCode::CREATED));
        let metric = json!({
            "name": "Calls", "description": null, "item_id": item,
            "sql": "SELECT sum(calls) FROM events",
        });
        let metric = id(&host.post("/v1/metrics", metric).ok(StatusCode::CREATED));
        let license_type = json!({"name": "Seat", "grouping_key": "user"});
        let license_type = host.post(TYPES, license_type).ok(StatusCode::CREATED);
        let subscription = String::new();
        let mut of = Self { host, item, metric, license_type, subscription };
        let plan = of.plan(json!([{"price": of.seats(2)}, {"price": of.usage()}]));
        let plan = id(&of.host.post("/v1/plans", plan).ok(StatusCode::CREATED));
        let ada = json!({"name": "Ada", "email": "ada@example.com", "external_customer_id": "ada"});
        of.host.post("/v1/customers", ada).ok(StatusCode::CREATED);
        let new = json!({
            "external_customer_id": "ada", "plan_id": plan, "start_date": "2026-03-01",
        });
        of.subscription = id(&of.host.post("/v1/subscriptions", new).ok(StatusCode::CREATED));
        of
    }

    pub(crate) fn type_id(&self) -> String {
        id(&self.license_type)
    }

    fn price(&self, name: &str) -> Value {
        json!({
            "name": name, "item_id": self.item, "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "1"}, "license_type_id": self.type_id(),
        })
    }

    fn seats(&self, quantity: u32) -> Value {
        with(self.price("Seat"), "fixed_price_quantity", json!(quantity))
    }

    fn usage(&self) -> Value {
        with(self.price("Calls"), "billable_metric_id", json!(self.metric))
    }

    fn plan(&self, prices: Value) -> Value {
        json!({"name": "Seats", "currency": "USD", "prices": prices})
    }

    fn new_license(&self, external: &str) -> Value {
        json!({
            "subscription_id": self.subscription, "license_type_id": self.type_id(),
            "external_license_id": external,
        })
    }

    pub(crate) fn give(&self, new: Value) -> Value {
        self.host.post(LICENSES, new).ok(StatusCode::CREATED)
    }

    /// The parameters that name the subscription and the type.
    /// A license to give out from a day on.
    pub(crate) fn starting(&self, external: &str, start: &str) -> Value {
        with(self.new_license(external), "start_date", json!(start))
    }

    fn query(&self) -> String {
        format!("subscription_id={}&license_type_id={}", self.subscription, self.type_id())
    }

    pub(crate) fn data(&self, path: &str) -> Vec<Value> {
        self.host.get(path).ok(StatusCode::OK)["data"].as_array().unwrap().clone()
    }

    fn call(&self, user: &str, timestamp: &str, calls: u32) {
        let event = json!({
            "idempotency_key": format!("{user} {timestamp}"), "event_name": "call",
            "timestamp": timestamp, "external_customer_id": "ada",
            "properties": {"calls": calls, "user": user},
        });
        self.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
    }
}

#[test]
fn subscriptions_7_2_a_license_type_is_answered_whole_and_listed_oldest_first() {
    let of = Licensed::new();
    let expected = json!({"id": of.license_type["id"], "name": "Seat", "grouping_key": "user"});
    assert_eq!(of.license_type, expected);
    let path = format!("{TYPES}/{}", of.type_id());
    assert_eq!(of.host.get(&path).ok(StatusCode::OK), expected);
    of.host.clock.advance(std::time::Duration::from_secs(1));
    let other = json!({"name": "Other", "grouping_key": "seat"});
    let other = of.host.post(TYPES, other).ok(StatusCode::CREATED);
    assert_eq!(of.data(TYPES), [expected, other]);
    of.host.get(&format!("{TYPES}/nobody")).error(404, "404-resource-not-found");
    for wrong in [json!({"name": "Seat"}), json!({"name": "", "grouping_key": ""})] {
        of.host.post(TYPES, wrong).error(400, "400-request-validation-errors");
    }
}

#[test]
fn subscriptions_7_2_a_license_is_answered_whole() {
    let of = Licensed::new();
    let alice = of.give(of.new_license("alice"));
    let expected = json!({
        "id": alice["id"],
        "subscription_id": of.subscription,
        "license_type_id": of.type_id(),
        "external_license_id": "alice",
        "status": "active",
        "start_date": "2026-03-10T00:00:00.000000+00:00",
        "end_date": null,
    });
    assert_eq!(alice, expected);
    let path = format!("{LICENSES}/{}", id(&alice));
    let by_alias = format!("{LICENSES}/external_license_id/alice?{}", of.query());
    for path in [&path, &by_alias] {
        assert_eq!(of.host.get(path).ok(StatusCode::OK), expected);
    }
    let deactivate = format!("{path}/deactivate");
    let ended = of.host.post(&deactivate, json!({})).ok(StatusCode::OK);
    assert_eq!(ended, with(expected, "end_date", json!("2026-03-11T00:00:00.000000+00:00")));
    let today = json!({"end_date": "2026-03-10"});
    let ended = of.host.post(&deactivate, today).ok(StatusCode::OK);
    assert_eq!(
        (&ended["status"], &ended["end_date"]),
        (&json!("inactive"), &json!("2026-03-10T00:00:00.000000+00:00"))
    );
    of.host.post(&deactivate, json!({})).error(400, "400-constraint-violation");
    let with_time = json!({"end_date": "2026-03-10T00:00:00Z"});
    of.host.post(&deactivate, with_time).error(400, "400-request-validation-errors");
    of.host.get(&format!("{LICENSES}/nobody")).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_7_2_what_is_wrong_with_a_license_is_refused() {
    let of = Licensed::new();
    let check = |name: &str, value: Value, status, error: &str| {
        let new = with(of.new_license("alice"), name, value);
        of.host.post(LICENSES, new).error(status, error);
    };
    check("subscription_id", json!("nobody"), 404, "404-resource-not-found");
    check("license_type_id", json!("nobody"), 404, "404-resource-not-found");
    check("end_date", json!("2026-03-09"), 400, "400-constraint-violation");
    check("start_date", json!("2026-03-10T00:00:00Z"), 400, "400-request-validation-errors");
    check("external_license_id", json!(""), 400, "400-request-validation-errors");
    check("quantity", json!(1), 400, "400-request-validation-errors");
    of.give(of.new_license("alice"));
    let again = of.host.post(LICENSES, of.new_license("alice"));
    again.error(400, "400-duplicate-resource-creation");
    of.give(of.new_license("bob"));
    let third = of.host.post(LICENSES, of.new_license("carol"));
    third.error(400, "400-constraint-violation");
}

#[test]
fn subscriptions_7_2_licenses_are_listed_by_subscription() {
    let of = Licensed::new();
    let alice = of.give(of.new_license("alice"));
    let bob = of.give(with(of.new_license("bob"), "end_date", json!("2026-03-10")));
    let list = |rest: &str| {
        let mut found = of.data(&format!("{LICENSES}?subscription_id={}{rest}", of.subscription));
        found.sort_by_key(|row| row["external_license_id"].to_string());
        found
    };
    assert_eq!(list(""), [alice.clone(), bob.clone()]);
    assert_eq!(list("&status=active"), std::slice::from_ref(&alice));
    assert_eq!(list("&status=inactive"), std::slice::from_ref(&bob));
    assert_eq!(list("&external_license_id=bob"), std::slice::from_ref(&bob));
    assert_eq!(list(&format!("&license_type_id={}", of.type_id())), [alice, bob]);
    assert_eq!(list("&license_type_id=nobody"), Vec::<Value>::new());
    of.host.get(LICENSES).error(400, "400-request-validation-errors");
    let wrong = format!("{LICENSES}?subscription_id={}&status=gone", of.subscription);
    of.host.get(&wrong).error(400, "400-request-validation-errors");
}

#[test]
fn subscriptions_7_1_fixed_words_win_over_the_id() {
    let of = Licensed::new();
    let usage = of.give(of.new_license("usage"));
    let path = format!("{LICENSES}/external_license_id/usage?{}", of.query());
    assert_eq!(of.host.get(&path).ok(StatusCode::OK), usage);
    of.host.get(&format!("{LICENSES}/usage")).error(400, "400-request-validation-errors");
    let path = format!("{LICENSES}/external_licenses/usage/usage?{}", of.query());
    assert_eq!(of.data(&path).len(), 1);
}

#[test]
fn subscriptions_7_5_example_of_a_row() {
    let of = Licensed::new();
    of.call("bob", "2026-03-10T09:00:00Z", 40);
    of.host.clock.set(accrue::Timestamp::parse("2026-03-20T12:00:00Z").unwrap());
    let bob = of.give(with(of.new_license("bob"), "start_date", json!("2026-03-16")));
    of.call("bob", "2026-03-20T09:00:00Z", 30);
    of.call("nobody", "2026-03-20T09:00:00Z", 5);
    let expected = json!({
        "license_id": bob["id"],
        "external_license_id": "bob",
        "subscription_id": of.subscription,
        "license_type_id": of.type_id(),
        "start_date": "2026-03-01",
        "end_date": "2026-04-01",
        "allocated_credits": 0,
        "consumed_credits": 70,
        "remaining_credits": 0,
        "pricing_unit": "USD",
        "allocation_eligible_credits": 30,
        "shared_pool_credits": 40,
    });
    let query = of.query();
    let paths = [
        format!("{LICENSES}/usage?{query}"),
        format!("{LICENSES}/usage?{query}&group_by=license"),
        format!("{LICENSES}/{}/usage", id(&bob)),
        format!("{LICENSES}/external_licenses/bob/usage?{query}"),
    ];
    for path in paths {
        assert_eq!(of.data(&path), std::slice::from_ref(&expected), "{path}");
    }
    let days = format!("{LICENSES}/usage?{query}&start_date=2026-03-19&end_date=2026-03-21");
    let by_day = of.data(&format!("{days}&group_by=day"));
    let shown = |rows: &[Value]| {
        let text = |row: &Value| {
            format!("{} {} {}", row["license_id"], row["start_date"], row["consumed_credits"])
        };
        rows.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(shown(&by_day), ["null \"2026-03-19\" 0", "null \"2026-03-20\" 30"]);
    let both = of.data(&format!("{days}&group_by=day,license"));
    assert_eq!(both, of.data(&format!("{days}&group_by=license%2Cday")));
    assert_eq!(both[1]["license_id"], bob["id"]);
}

#[test]
fn subscriptions_7_5_what_is_wrong_with_a_query_of_usage() {
    let of = Licensed::new();
    of.give(of.new_license("alice"));
    let query = of.query();
    for wrong in [
        "group_by=license,license",
        "group_by=month",
        "group_by=day,",
        "start_date=2026-03-10&end_date=2026-03-10",
        "start_date=2025-01-01&end_date=2026-03-10",
        "start_date=2026-03-10T00:00:00Z",
        "cursor=none",
    ] {
        let path = format!("{LICENSES}/usage?{query}&{wrong}");
        of.host.get(&path).error(400, "400-request-validation-errors");
    }
    let path = format!("{LICENSES}/usage?subscription_id={}", of.subscription);
    of.host.get(&path).error(400, "400-request-validation-errors");
    let path = format!("{LICENSES}/external_licenses/nobody/usage?{query}");
    of.host.get(&path).error(404, "404-resource-not-found");
    of.host.get(&format!("{LICENSES}/nobody/usage")).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_7_4_prices_show_the_whole_type() {
    let of = Licensed::new();
    let price = with(of.usage(), "currency", json!("USD"));
    let price = of.host.post("/v1/prices", price).ok(StatusCode::CREATED);
    assert_eq!(price["license_type"], of.license_type);
    let path = format!("/v1/prices/{}", id(&price));
    assert_eq!(of.host.get(&path).ok(StatusCode::OK), price);
    let path = format!("/v1/subscriptions/{}", of.subscription);
    let shown = of.host.get(&path).ok(StatusCode::OK);
    for interval in shown["price_intervals"].as_array().unwrap() {
        assert_eq!(interval["price"]["license_type"], of.license_type);
    }
    let other = with(with(of.usage(), "currency", json!("USD")), "license_type_id", Value::Null);
    let other = of.host.post("/v1/prices", other).ok(StatusCode::CREATED);
    assert_eq!(other["license_type"], Value::Null);
    let unknown =
        with(with(of.usage(), "currency", json!("USD")), "license_type_id", json!("seat"));
    of.host.post("/v1/prices", unknown).error(404, "404-resource-not-found");
}

#[test]
fn subscriptions_7_4_what_is_beside_a_license_price() {
    let of = Licensed::new();
    let check = |prices: Value, status, error: &str| {
        of.host.post("/v1/plans", of.plan(prices)).error(status, error);
    };
    let two = json!([{"price": of.seats(1)}, {"price": of.seats(2)}]);
    check(two, 400, "400-constraint-violation");
    let mut package = of.usage();
    package["model_type"] = json!("package");
    package.as_object_mut().unwrap().remove("unit_config");
    package["package_config"] = json!({"package_amount": "1", "package_size": 10});
    check(json!([{"price": package}]), 400, "400-request-validation-errors");
    package["license_type_id"] = Value::Null;
    let beside = json!([{"price": of.seats(1)}, {"price": package}]);
    check(beside, 400, "400-constraint-violation");
    let grouped = with(of.usage(), "invoice_grouping_key", json!("region"));
    let beside = json!([{"price": of.seats(1)}, {"price": grouped}]);
    check(beside, 400, "400-constraint-violation");
    // Only the price of licenses has allocations, and it has no other model.
    let allocations = json!([{"currency": "credits", "amount": "100"}]);
    let pooled = with(of.seats(1), "license_allocations", allocations);
    check(json!([{"price": pooled}]), 400, "400-request-validation-errors");
    let twice = json!([{"price": of.seats(1), "license_allocation_price": pooled}]);
    check(twice, 400, "400-request-validation-errors");
    for (name, value) in [
        ("license_allocations", json!([{"currency": "credits", "amount": "-1"}])),
        ("license_allocations", json!([{"currency": "credits"}])),
        ("license_allocations", Value::Null),
        ("license_type_id", Value::Null),
        ("billable_metric_id", json!(of.metric)),
        ("surprise", json!(1)),
    ] {
        let wrong = with(pooled.clone(), name, value);
        let wrong = json!([{"license_allocation_price": wrong}]);
        check(wrong, 400, "400-request-validation-errors");
    }
    let currency = json!([
        {"currency": "credits", "amount": "1"}, {"currency": "credits", "amount": "2"},
    ]);
    let again =
        json!([{"license_allocation_price": with(pooled, "license_allocations", currency)}]);
    check(again, 400, "400-request-validation-errors");
}

/// The subscription of [`Licensed`], with a hundred credits for each seat and month; a call costs one, which is worth
/// half a dollar.
pub(crate) fn pooled(writes_off: bool) -> Licensed {
    let mut of = Licensed::new();
    let account = of.host.account();
    let mut configuration = pollster::block_on(account.configuration()).unwrap();
    configuration.features.invoices = true;
    configuration.grace_period = std::time::Duration::from_secs(28 * 86_400);
    pollster::block_on(account.configure(configuration).into_future()).unwrap();
    let allocation =
        json!({"currency": "credits", "amount": "100", "write_off_overage": writes_off});
    let seats = with(of.seats(3), "license_allocations", json!([allocation]));
    let usage = with(of.usage(), "currency", json!("credits"));
    let usage = with(usage, "conversion_rate", json!(0.5));
    let plan = of.plan(json!([{"license_allocation_price": seats}, {"price": usage}]));
    let plan = of.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    assert_eq!(plan["prices"][0]["license_type"], of.license_type);
    let bob = json!({"name": "Bob", "email": "bob@example.com", "external_customer_id": "bob"});
    of.host.post("/v1/customers", bob).ok(StatusCode::CREATED);
    let new = json!({
        "external_customer_id": "bob", "plan_id": plan["id"], "start_date": "2026-03-01",
    });
    of.subscription = id(&of.host.post("/v1/subscriptions", new).ok(StatusCode::CREATED));
    of
}

#[test]
fn subscriptions_7_4_example_of_alice_and_bob() {
    for (writes_off, left, subtotal) in [(false, 930, "70.00"), (true, 960, "40.00")] {
        let of = pooled(writes_off);
        let entries = "/v1/customers/external_customer_id/bob/credits/ledger_entry";
        let block = json!({"entry_type": "increment", "amount": 1000, "currency": "credits"});
        of.host.post(entries, block).ok(StatusCode::CREATED);
        of.give(of.starting("alice", "2026-03-01"));
        of.give(of.starting("bob", "2026-03-16"));
        let call = |user: &str, timestamp: &str, calls: u32| {
            let event = json!({
                "idempotency_key": format!("{user}/{timestamp}"), "event_name": "call",
                "timestamp": timestamp, "external_customer_id": "bob",
                "properties": {"calls": calls, "user": user},
            });
            of.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
        };
        call("bob", "2026-03-10T10:00:00Z", 40);
        of.host.clock.set(accrue::Timestamp::parse("2026-03-30T12:00:00Z").unwrap());
        call("alice", "2026-03-20T10:00:00Z", 130);
        call("bob", "2026-03-30T10:00:00Z", 30);
        let rows = of.data(&format!("{LICENSES}/usage?{}", of.query()));
        let figures = |row: &Value| {
            let names = [
                "external_license_id",
                "allocated_credits",
                "consumed_credits",
                "allocation_eligible_credits",
                "shared_pool_credits",
                "remaining_credits",
                "pricing_unit",
            ];
            names.map(|name| row[name].clone())
        };
        let expected = [
            json!(["alice", 100, 130, 130, 0, 0, "credits"]),
            json!(["bob", 100, 70, 30, 40, 70, "credits"]),
        ];
        assert_eq!(rows.iter().map(|row| json!(figures(row))).collect::<Vec<_>>(), expected);
        let credits = "/v1/customers/external_customer_id/bob/credits?currency=credits";
        assert_eq!(of.data(credits)[0]["balance"], json!(left));
        let path = format!("/v1/invoices/upcoming?subscription_id={}", of.subscription);
        let bill = of.host.get(&path).ok(StatusCode::OK);
        let lines = bill["line_items"].as_array().unwrap();
        let line = lines.iter().find(|line| line["name"] == "Calls").unwrap();
        assert_eq!(line["quantity"], json!(200));
        assert_eq!(line["subtotal"], json!(subtotal), "{line}");
        assert_eq!(line["amount"], json!("0.00"));
    }
}

#[test]
fn subscriptions_11_2_a_reset_tells_of_the_pools_of_a_period() {
    let of = pooled(false);
    of.host.clock.set(accrue::Timestamp::parse("2026-04-01T12:00:00Z").unwrap());
    tick(&of.host);
    let told = taken(&of.host);
    let resets: Vec<_> = told
        .iter()
        .filter(|[of, _]| of["type"] == "subscription.license_allocation_reset")
        .collect();
    assert_eq!(resets.len(), 2, "that of March and that of April");
    for payload in resets[1] {
        let small = ["customer", "end_date", "id", "plan", "start_date", "status"];
        let shown = payload["subscription"].as_object().unwrap();
        assert_eq!(shown.keys().collect::<Vec<_>>(), small);
        let expected = json!({
            "reset_allocations": [{
                "allocation_amount": "100", "license_type_id": of.type_id(),
                "pricing_unit_id": "credits",
            }],
            "timeframe_start": "2026-04-01T00:00:00.000000+00:00",
            "timeframe_end": "2026-05-01T00:00:00.000000+00:00",
        });
        assert_eq!(payload["properties"], expected);
    }
}
