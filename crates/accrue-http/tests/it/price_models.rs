//! Each price model over HTTP: what published and hand-made examples cost, and what is refused.

pub(crate) mod composites;
mod groups;

use http::StatusCode;
use serde_json::{Value, json};

use crate::{invoices::upcoming, support::Host};

/// A host with a metric of the sum of `units`, and a customer.
pub(crate) struct Scene {
    pub(crate) host: Host,
    item: Value,
    metric: Value,
    pub(crate) customer: Value,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let host = Host::new();
        let item = json!(host.item("Model"));
        let metric = json!({
            "name": "Units", "description": null, "item_id": item,
            "sql": "SELECT sum(units) FROM events",
        });
        let metric = host.post("/v1/metrics", metric).ok(StatusCode::CREATED)["id"].clone();
        let ada = json!({"name": "Ada", "email": "ada@example.com"});
        let customer = host.post("/v1/customers", ada).ok(StatusCode::CREATED)["id"].clone();
        Self { host, item, metric, customer }
    }

    /// A price of a model to create.
    pub(crate) fn price(&self, model: &str, config: &Value) -> Value {
        json!({
            "name": model, "item_id": self.item, "cadence": "monthly", "currency": "USD",
            "billable_metric_id": self.metric, "model_type": model,
            format!("{model}_config"): config,
        })
    }

    /// What events cost that are not ingested: each with its properties and its number of units.
    fn cost(&self, price: Value, events: &Value) -> accrue::Decimal {
        let event = |of: &Value| {
            let properties = properties(of);
            json!({
                "event_name": "use", "timestamp": "2026-03-10T11:00:00Z", "properties": properties,
            })
        };
        let events: Vec<_> = events.as_array().unwrap().iter().map(event).collect();
        let body = json!({
            "timeframe_start": "2026-03-10T00:00:00Z", "timeframe_end": "2026-03-11T00:00:00Z",
            "customer_id": self.customer, "price_evaluations": [{"price": price}], "events": events,
        });
        let found = self.host.post("/v1/prices/evaluate_preview_events", body).ok(StatusCode::OK);
        let amount = &found["data"][0]["price_groups"][0]["amount"];
        decimal(amount)
    }

    /// Has invoices made from an instant on.
    pub(crate) fn invoices_from(&self, start: &str) {
        let mut configuration = accrue::account::Configuration::default();
        configuration.features.invoices = true;
        let account = self.host.account();
        pollster::block_on(account.configure(configuration).into_future()).unwrap();
        self.host.clock.set(accrue::Timestamp::parse(start).unwrap());
    }

    /// Subscribes to a plan of some prices, from an instant on.
    fn subscription_to(&self, currency: &str, prices: &[Value], start: &str) -> Value {
        let prices: Vec<_> = prices.iter().map(|price| json!({"price": price})).collect();
        let plan = json!({"name": "Plan", "currency": currency, "prices": prices});
        let plan = self.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
        let subscription = json!({
            "customer_id": self.customer, "plan_id": plan["id"], "start_date": start,
            "billing_cycle_anchor_configuration": {"day": 1},
        });
        self.host.post("/v1/subscriptions", subscription).ok(StatusCode::CREATED)
    }

    /// Uses a price by and by on a subscription, and returns what that costs by then, and its line on the
    /// invoice of the month.
    fn used(&self, price: &Value, service: &Value, events: &Value) -> (Value, Value) {
        let (currency, start) = match (service["places"].as_u64(), service["of"].as_u64()) {
            (Some(0), Some(31)) => ("JPY", month(5, service)),
            (_, Some(31)) => ("USD", month(5, service)),
            _ => ("USD", month(4, service)),
        };
        self.invoices_from(&start);
        let mut price = price.clone();
        price["currency"] = json!(currency);
        let subscription = self.subscription_to(currency, &[price], &start);
        for (number, of) in events.as_array().unwrap().iter().enumerate() {
            let event = json!({
                "idempotency_key": number.to_string(), "event_name": "use", "timestamp": start,
                "customer_id": self.customer, "properties": properties(of),
            });
            self.host.post("/v1/ingest", json!({"events": [event]})).ok(StatusCode::OK);
        }
        let id = subscription["id"].as_str().unwrap();
        let costs = self.host.get(&format!("/v1/subscriptions/{id}/costs")).ok(StatusCode::OK);
        let mut invoice = upcoming(&self.host, &subscription);
        (costs["data"][0]["subtotal"].clone(), invoice["line_items"][0].take())
    }
}

fn decimal(of: &Value) -> accrue::Decimal {
    accrue::Decimal::parse(of.as_str().unwrap()).unwrap()
}

/// The instant from which a service takes as many days of a month of 2026 as it says, or all.
fn month(month: u32, service: &Value) -> String {
    let before = match (service["of"].as_u64(), service["days"].as_u64()) {
        (Some(all), Some(days)) => all - days,
        _ => 0,
    };
    format!("2026-{month:02}-{:02}T00:00:00Z", before + 1)
}

/// The properties of an event of an example: it has a number of units, unless it is to count for nothing.
fn properties(of: &Value) -> Value {
    let mut properties = of[0].clone();
    if let Some(units) = of[1].as_str() {
        properties["units"] = serde_json::from_str(units).unwrap();
    }
    properties
}

/// Leaves out what says no more than its absence.
fn trimmed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let nothing = [Value::Null, json!(false), json!([])];
            let said = members.iter().filter(|(_, of)| !nothing.contains(of));
            said.map(|(name, of)| (name.clone(), trimmed(of))).collect()
        }
        Value::Array(values) => values.iter().map(trimmed).collect(),
        other => other.clone(),
    }
}

/// Rates each example by itself, creates a price that shows the configuration that it was given, and uses it on a
/// subscription that takes the part of its period that the example says.
fn check(examples: &str) {
    for line in examples.lines() {
        let scene = Scene::new();
        let example: Value = serde_json::from_str(line).unwrap();
        let (model, config) = (example["model"].as_str().unwrap(), &example["config"]);
        let (price, events) = (scene.price(model, config), &example["events"]);
        let expect = decimal(&example["amount"]);
        if example["service"].is_null() {
            assert_eq!(scene.cost(price.clone(), events), expect, "{line}");
        }
        let created = scene.host.post("/v1/prices", price).ok(StatusCode::CREATED);
        let shown = &created[format!("{model}_config")];
        assert_eq!(trimmed(shown), trimmed(config), "{line}");

        let scene = Scene::new();
        let service = &example["service"];
        let places = service["places"].as_u64().map_or(2, |places| u32::try_from(places).unwrap());
        let rounded = |of: &accrue::Decimal| of.clone().round(places);
        let (cost, invoiced) = scene.used(&scene.price(model, config), service, events);
        let running = example.get("running").map_or(expect.clone(), decimal);
        assert_eq!(rounded(&decimal(&cost)), rounded(&running), "{line}");
        let total = decimal(&invoiced["subtotal"]);
        assert_eq!(total, rounded(&expect), "{line}");
        let parts = invoiced["sub_line_items"].as_array().unwrap();
        let sum: accrue::Decimal = parts.iter().map(|part| decimal(&part["amount"])).sum();
        assert!(parts.is_empty() || sum == total, "{line}: {invoiced}");
    }
}

#[test]
fn price_models_8_scalar_models_cost_what_is_published() {
    check(include_str!("price_models/scalar.jsonl"));
}

#[test]
fn price_models_8_models_of_cells_cost_what_is_published() {
    check(include_str!("price_models/cells.jsonl"));
}

/// A configuration, and where what is wrong with it is.
type Wrong = (&'static str, Value, &'static str);

fn refuses(all: &[Wrong]) {
    let scene = Scene::new();
    for (model, config, at) in all {
        let answer = scene.host.post("/v1/prices", scene.price(model, config));
        let body = answer.error(400, "400-request-validation-errors");
        let found = body["validation_errors"][0].as_str().unwrap();
        let expect = format!("/{model}_config/{at}: ");
        assert!(found.starts_with(&expect), "{model} {config}: {found}");
    }
    let none = scene.host.get("/v1/prices").ok(StatusCode::OK);
    assert_eq!(none["data"], json!([]));
}

fn tier(bound: &str, amount: &str) -> Value {
    json!({"tier_lower_bound": bound, "unit_amount": amount})
}

#[test]
fn price_models_3_what_is_wrong_with_a_scalar_model_is_told() {
    let rise = || json!([tier("0", "1"), tier("10", "2"), tier("10", "3")]);
    let packages = |bound: &str| {
        json!([
            {"tier_lower_bound": "0", "per_unit": "1", "minimum_amount": "1"},
            {"tier_lower_bound": bound, "per_unit": "1", "minimum_amount": "-1"},
        ])
    };
    let plain = json!([
        {"tier_lower_bound": "0", "per_unit": "1"}, {"tier_lower_bound": "15", "per_unit": "1"},
    ]);
    let least = json!([
        {"tier_lower_bound": "0", "unit_amount": "1", "minimum_amount": "-0.01"}, tier("1", "1"),
    ]);
    refuses(&[
        ("unit_with_proration", json!({}), "unit_amount"),
        ("unit_with_percent", json!({"unit_amount": "1", "percent": "-1"}), "percent"),
        (
            "package_with_allocation",
            json!({"package_amount": "1", "package_size": "2.5", "allocation": "0"}),
            "package_size",
        ),
        (
            "package_with_allocation",
            json!({"package_amount": "1", "package_size": "0", "allocation": "0"}),
            "package_size",
        ),
        (
            "package_with_allocation",
            json!({"package_amount": "1", "package_size": "5", "allocation": "-1"}),
            "allocation",
        ),
        ("tiered_with_proration", json!({"tiers": []}), "tiers"),
        ("tiered_with_proration", json!({"tiers": rise()}), "tiers/2/tier_lower_bound"),
        ("tiered_with_proration", json!({"tiers": [tier("1", "1")]}), "tiers/0/tier_lower_bound"),
        ("tiered_with_minimum", json!({"tiers": least}), "tiers/1/minimum_amount"),
        (
            "tiered_with_minimum",
            json!({"tiers": [
                {"tier_lower_bound": "0", "unit_amount": "1", "minimum_amount": "-0.01"},
                {"tier_lower_bound": "1", "unit_amount": "1", "minimum_amount": "0"},
            ]}),
            "tiers/0/minimum_amount",
        ),
        (
            "tiered_package",
            json!({"tiers": plain, "package_size": "10"}),
            "tiers/1/tier_lower_bound",
        ),
        (
            "tiered_package_with_minimum",
            json!({"tiers": packages("15"), "package_size": 10}),
            "tiers/1/tier_lower_bound",
        ),
        (
            "tiered_package_with_minimum",
            json!({"tiers": packages("20"), "package_size": 10}),
            "tiers/1/minimum_amount",
        ),
        ("bulk_with_proration", json!({"tiers": [tier("0", "1")]}), "tiers"),
        (
            "threshold_total_amount",
            json!({"consumption_table": [
                {"threshold": "5", "total_amount": "1"}, {"threshold": "5", "total_amount": "2"},
            ]}),
            "consumption_table/1/threshold",
        ),
        ("unit", json!({"unit_amount": "1", "prorated": "yes"}), "prorated"),
        (
            "tiered",
            json!({"tiers": [
                {"first_unit": 1, "last_unit": 10, "unit_amount": "1"},
                {"first_unit": 12, "last_unit": null, "unit_amount": "1"},
            ]}),
            "tiers/1/first_unit",
        ),
    ]);
}

#[test]
fn price_models_4_what_is_wrong_with_a_model_of_cells_is_told() {
    let tiers = || json!([tier("0", "1"), tier("10", "2")]);
    let filter = |key: &str| json!({"property_key": key, "property_value": "a"});
    let row = |first: &str, second: Value| {
        json!({
            "first_dimension_value": first, "second_dimension_value": second, "unit_amount": "1",
            "scaling_factor": "1",
        })
    };
    let without = |mut row: Value, name: &str| {
        row.as_object_mut().unwrap().remove(name);
        row
    };
    let amount = |first: &str, second: Value| without(row(first, second), "scaling_factor");
    let factor = |first: &str, second: Value| without(row(first, second), "unit_amount");
    let discounts = |coordinates: &str, above: &str| {
        json!({
            "first_dimension": "color", "default_unit_amount": "1",
            "matrix_values": [amount("blue", Value::Null), amount("red", Value::Null)],
            "threshold_discount_groups": [{
                "cell_coordinates": coordinates, "threshold_amount": "1",
                "below_threshold_discount_percentage": "0",
                "above_threshold_discount_percentage": above,
            }],
        })
    };
    let scaled = |rows: Value| json!({"unit_price": "1", "first_dimension": "os", "matrix_scaling_factors": rows});
    let allowance = |one: &str, other: &str| {
        json!({
            "grouping_key": "kind", "consumption_grouping_value": one,
            "allowance_grouping_value": other, "unit_amount": "1",
        })
    };
    let of = |key: &str, bound: &str| json!({"grouping_key": key, "tier_lower_bound": bound, "unit_amount": "1"});
    let value = |name: &str, bound: &str| json!({"dimension_value": name, "tier_lower_bound": bound, "unit_amount": "1"});
    let cell = |values: Value| json!({"dimension_values": values, "tier_lower_bound": "0", "unit_amount": "1"});
    let long = "x".repeat(257);
    let with = |mut of: Value, name: &str, text: &str| {
        of[name] = json!(text);
        of
    };
    let shown =
        |value: &str| json!({"dimension_value": value, "display_name": "A", "unit_amount": "1"});
    refuses(&[
        ("bulk_with_filters", json!({"filters": [], "tiers": tiers()}), "filters"),
        (
            "bulk_with_filters",
            json!({"filters": [filter("a"), filter("a")], "tiers": tiers()}),
            "filters",
        ),
        ("bulk_with_filters", json!({"filters": [filter("a")], "tiers": []}), "tiers"),
        (
            "matrix_with_display_name",
            json!({"dimension": "size", "unit_amounts": [shown("a"), shown("a")]}),
            "unit_amounts/1",
        ),
        (
            "matrix_with_allocation",
            json!({
                "dimensions": ["os"], "default_unit_amount": "1", "allocation": "-1",
                "matrix_values": [{"dimension_values": ["a"], "unit_amount": "1"}],
            }),
            "allocation",
        ),
        (
            "matrix_with_threshold_discounts",
            discounts("blue", "1.01"),
            "threshold_discount_groups/0/above_threshold_discount_percentage",
        ),
        (
            "matrix_with_threshold_discounts",
            discounts("green", "1"),
            "threshold_discount_groups/0/cell_coordinates",
        ),
        (
            "matrix_with_threshold_discounts",
            discounts("red;red", "1"),
            "threshold_discount_groups/0/cell_coordinates",
        ),
        (
            "tiered_matrix_with_allocation",
            json!({
                "dimensions": ["region"], "allocation": "0", "default_unit_amount": "1",
                "tiers": [cell(json!(["us", "x"]))],
            }),
            "tiers/0/dimension_values",
        ),
        (
            "grouped_tiered_matrix",
            json!({
                "dimension": "region", "default_unit_amount": "1",
                "tiers": [value("us", "0"), value("eu", "5")],
            }),
            "tiers/1/tier_lower_bound",
        ),
        (
            "scalable_matrix_with_unit_pricing",
            scaled(json!([factor("a", json!("b"))])),
            "matrix_scaling_factors/0/second_dimension_value",
        ),
        ("scalable_matrix_with_unit_pricing", scaled(json!([])), "matrix_scaling_factors"),
        (
            "scalable_matrix_with_tiered_pricing",
            json!({"tiers": [tier("0", "1")], "first_dimension": "os", "matrix_scaling_factors": [factor("a", Value::Null)]}),
            "tiers",
        ),
        (
            "cumulative_grouped_bulk",
            json!({"group": "product", "dimension_values": [of("a", "0"), of("b", "0"), of("a", "10")]}),
            "dimension_values",
        ),
        ("metered_allowance", allowance("a", "a"), "allowance_grouping_value"),
        ("metered_allowance", allowance("", "a"), "consumption_grouping_value"),
        (
            "matrix",
            json!({"dimensions": ["os"], "default_unit_amount": "1", "matrix_values": []}),
            "matrix_values",
        ),
        (
            "metered_allowance",
            with(allowance("a", "b"), "allowance_display_name", &long),
            "allowance_display_name",
        ),
        (
            "matrix_with_display_name",
            json!({"dimension": "size", "unit_amounts": [with(shown("a"), "display_name", &long)]}),
            "unit_amounts/0/display_name",
        ),
        (
            "matrix_with_threshold_discounts",
            {
                let mut of = discounts("blue", "1");
                of["threshold_discount_groups"][0]["description"] = json!(long);
                of
            },
            "threshold_discount_groups/0/description",
        ),
        (
            "matrix_with_threshold_discounts",
            discounts(&format!("blue;{}", " ".repeat(24 * 1024)), "1"),
            "threshold_discount_groups/0/cell_coordinates",
        ),
    ]);
}
