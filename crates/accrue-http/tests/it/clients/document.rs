//! The document, as a generator of clients reads it.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{described::Described, support::Host};

const FORMS: [&str; 2] = ["3.1", "3.0"];

/// Visits a schema and all those within it, each with where it stands.
fn visit(schema: &Value, at: &str, found: &mut impl FnMut(&str, &Value)) {
    found(at, schema);
    for (name, part) in schema.as_object().into_iter().flatten() {
        match (name.as_str(), part) {
            ("properties", Value::Object(members)) => {
                for (name, member) in members {
                    visit(member, &format!("{at}/{name}"), found);
                }
            }
            ("items" | "additionalProperties", Value::Object(_)) => {
                visit(part, &format!("{at}/{name}"), found);
            }
            ("oneOf" | "anyOf" | "allOf", Value::Array(parts)) => {
                parts.iter().for_each(|part| visit(part, at, found));
            }
            _ => {}
        }
    }
}

/// Visits every schema of a document.
fn visit_all(document: &Value, at: &str, found: &mut impl FnMut(&str, &Value)) {
    match document {
        Value::Array(parts) => {
            for (place, part) in parts.iter().enumerate() {
                visit_all(part, &format!("{at}/{place}"), found);
            }
        }
        Value::Object(members) => {
            for (name, part) in members {
                let at = format!("{at}/{name}");
                match (name.as_str(), part) {
                    ("schemas", Value::Object(schemas)) => {
                        for (name, schema) in schemas {
                            visit(schema, &format!("{at}/{name}"), found);
                        }
                    }
                    ("schema", schema) => visit(schema, &at, found),
                    _ => visit_all(part, &at, found),
                }
            }
        }
        _ => {}
    }
}

/// Returns the words of a member, which may be null or refer to them.
fn words(described: &Described, object: &str, member: &str) -> Vec<String> {
    let member = &described.named(object)["properties"][member];
    let mut words = Vec::new();
    let parts = ["anyOf", "allOf"].into_iter().filter_map(|name| member[name].as_array()).flatten();
    for part in parts.chain([member]) {
        let list = described.follow(part)["enum"].as_array().into_iter().flatten();
        words.extend(list.filter_map(Value::as_str).map(str::to_owned));
    }
    words
}

#[test]
fn clients_10_enumerations_are_enumerations() {
    let of_alerts = "credit_balance_depleted credit_balance_dropped credit_balance_recovered";
    let of_usage = "usage_exceeded cost_exceeded spend_exceeded";
    let all_alerts = format!("{of_alerts} {of_usage} license_balance_threshold_reached");
    let cadences = "one_time monthly quarterly semi_annual annual custom";
    let systems = "stripe quickbooks bill.com netsuite taxjar avalara anrok numeral stripe_tax";
    let providers = "quickbooks bill.com stripe_charge stripe_invoice netsuite adyen";
    for form in FORMS {
        let described = Described::form(form);
        for (object, member, expect) in [
            ("Alert", "type", all_alerts.as_str()),
            ("NewCustomerAlert", "type", of_alerts),
            ("NewPlanAlert", "type", of_usage),
            ("NewSubscriptionAlert", "type", of_usage),
            ("PriceFilter", "field", "price_id item_id price_type currency pricing_unit_id"),
            ("PriceFilter", "operator", "includes excludes"),
            ("CreditBlock", "status", "active pending_payment"),
            ("CreditBlock", "credit_block_source", "allocation top_up commitment manual"),
            ("IncrementLedgerEntry", "entry_type", "increment"),
            ("IncrementLedgerEntry", "entry_status", "committed pending"),
            ("VoidLedgerEntry", "void_reason", "refund"),
            ("NewVoid", "void_reason", "refund"),
            ("TrialConfig", "trial_period_unit", "days"),
            ("UnitPrice", "model_type", "unit"),
            ("UnitPrice", "price_type", "usage_price fixed_price composite_price"),
            ("UnitPrice", "billing_mode", "in_advance in_arrear"),
            ("UnitPrice", "cadence", cadences),
            ("NewUnitPrice", "cadence", cadences),
            ("NewUnitPriceOfPlan", "model_type", "unit"),
            ("CycleConfiguration", "duration_unit", "day month"),
            ("StoredUnitRate", "conversion_rate_type", "unit"),
            ("StoredTieredRate", "conversion_rate_type", "tiered"),
            ("PercentageDiscount", "discount_type", "percentage"),
            ("Item", "external_connections", ""),
            ("Connection", "external_connection_name", systems),
            ("Customer", "payment_provider", providers),
            ("TaxConfigurationIn", "tax_provider", "avalara taxjar sphere numeral anrok stripe"),
            ("AccountingProvider", "provider_type", "quickbooks netsuite"),
            ("PaymentThrough", "provider_type", "stripe"),
            ("Subscription", "status", "active ended upcoming"),
            ("NewSubscription", "external_marketplace", "google aws azure"),
            ("Plan", "status", "active archived draft"),
            ("NewPlan", "status", "active draft"),
            ("Metric", "status", "active archived draft"),
            ("Backfill", "status", "pending reflected pending_revert reverted"),
            ("UsageSeries", "view_mode", "periodic cumulative"),
        ] {
            let expect: Vec<_> = expect.split_whitespace().collect();
            assert_eq!(words(&described, object, member), expect, "{form} {object} {member}");
        }
        let taxes = words(&described, "TaxId", "type");
        assert_eq!((taxes.len(), &taxes), (116, &words(&described, "TaxIdIn", "type")));
        assert!(taxes.contains(&"eu_vat".to_owned()), "{form}");
    }
}

#[test]
fn clients_10_a_tax_id_has_a_type_of_the_list() {
    let host = Host::new();
    let with = |tax_id: &str| {
        host.post(
            "/v1/customers",
            json!({
                "name": "Ada", "email": "ada@example.com",
                "tax_id": {"country": "CH", "type": tax_id, "value": "1"},
            }),
        )
    };
    for known in ["ch_uid", "zw_tin"] {
        assert_eq!(with(known).ok(StatusCode::CREATED)["tax_id"]["type"], known);
    }
    for unknown in ["CH_UID", "ch", ""] {
        let refused = with(unknown).error(400, "400-request-validation-errors");
        let error = refused["validation_errors"][0].as_str().unwrap();
        assert!(error.starts_with("/tax_id/type: "), "{error}");
    }
}

#[test]
fn clients_10_what_is_cut_to_a_bound_has_none() {
    for form in FORMS {
        let described = Described::form(form);
        let parameters = described.0["paths"]["/items"]["get"]["parameters"].as_array().unwrap();
        let limit = parameters.iter().find(|parameter| parameter["name"] == "limit").unwrap();
        let schema = limit["schema"].get("anyOf").map_or(&limit["schema"], |kinds| &kinds[0]);
        assert_eq!(*schema, json!({"type": "integer", "minimum": 1}), "{form}");
    }
    let listed = Host::new().get("/v1/items?limit=9223372036854775808").ok(StatusCode::OK);
    assert_eq!(listed["data"], json!([]));
}

#[test]
fn clients_10_every_object_has_its_members() {
    // What is not built takes any object, and a list that is always empty has rows of no kind.
    let free = |at: &str, document: &Described| {
        let list = at.rsplit_once("/items").and_then(|(list, _)| document.0.pointer(list));
        at.ends_with("/additionalProperties")
            || at.ends_with("price_overrides/items")
            || list.is_some_and(|list| list["maxItems"] == 0)
    };
    for form in FORMS {
        let described = Described::form(form);
        let mut objects = 0;
        visit_all(&described.0, "", &mut |at, schema| {
            let has = |name: &str| schema.get(name).is_some();
            let is_object = schema["type"] == "object"
                || schema["type"].as_array().is_some_and(|types| types.contains(&json!("object")));
            if is_object {
                objects += 1;
                assert!(has("properties") || has("additionalProperties"), "{form} {at}");
            }
            let says = ["type", "enum", "$ref", "oneOf", "anyOf", "allOf"].into_iter().any(has);
            let path = at.replace("/components/schemas/", "");
            let (object, member) = path.split_once('/').unwrap_or((&path, ""));
            let at = format!("/components/schemas/{object}/properties/{member}");
            assert!(says || free(&at, &described), "{form} {at}: {schema}");
        });
        assert!(objects > 100, "{form}: {objects}");
    }
}

#[test]
fn clients_10_what_is_one_of_several_is_told_by_a_member() {
    for form in FORMS {
        let described = Described::form(form);
        for name in [
            "Price",
            "NewPrice",
            "NewPriceOfPlan",
            "LedgerEntry",
            "NewLedgerEntry",
            "PriceDiscount",
        ] {
            let choice = described.named(name);
            let tag = choice["discriminator"]["propertyName"].as_str().unwrap();
            let mapping = choice["discriminator"]["mapping"].as_object().unwrap();
            let variants = choice["oneOf"].as_array().unwrap();
            assert_eq!(variants.len(), mapping.len(), "{form} {name}");
            for (word, reference) in mapping {
                let reference = json!({"$ref": reference});
                assert!(variants.contains(&reference), "{form} {name} {word}");
                let variant = described.follow(&reference);
                assert_eq!(variant["properties"][tag]["enum"], json!([word]), "{form} {name}");
                let required = variant["required"].as_array().unwrap();
                assert!(required.contains(&json!(tag)), "{form} {name} {word}");
            }
        }
        visit_all(&described.0, "", &mut |at, schema| {
            let is_choice = schema.get("oneOf").is_some();
            assert!(!is_choice || schema.get("discriminator").is_some(), "{form} {at}");
        });
    }
}

#[test]
fn clients_10_every_reference_leads_somewhere() {
    fn follow_all(described: &Described, value: &Value) -> usize {
        match value {
            Value::Array(parts) => parts.iter().map(|part| follow_all(described, part)).sum(),
            Value::Object(members) => {
                let within: usize = members.values().map(|part| follow_all(described, part)).sum();
                // Panics where it does not.
                let followed = members.get("$ref").is_some_and(Value::is_string);
                if followed {
                    described.follow(value);
                }
                within + usize::from(followed)
            }
            _ => 0,
        }
    }
    for form in FORMS {
        let described = Described::form(form);
        assert!(follow_all(&described, &described.0) > 500, "{form}");
    }
}

#[test]
fn clients_10_who_takes_a_key_declares_a_conflict() {
    for form in FORMS {
        let described = Described::form(form);
        let mut takes = 0;
        for (method, path, operation) in described.operations() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let names = parameters.map(|of| described.follow(of)["name"].as_str().unwrap());
            let has_key = names.filter(|name| *name == "Idempotency-Key").count() == 1;
            assert_eq!(has_key, method == "post", "{form} {method} {path}");
            let conflict = &operation["responses"]["409"];
            // What writes meets the corrections of a backfill, with a key or without.
            assert_eq!(conflict.is_object(), method != "get", "{form} {method} {path}");
            takes += usize::from(has_key);
        }
        assert!(takes > 20, "{form}");
    }
}

#[test]
fn clients_10_required_means_required() {
    let described = Described::form("3.1");
    let required = |name: &str| -> Vec<&str> {
        let names = described.named(name)["required"].as_array().into_iter().flatten();
        names.map(|name| name.as_str().unwrap()).collect()
    };
    let check = |name: &str, expect: &[&str]| assert_eq!(required(name), expect, "{name}");
    check("NewItem", &["name"]);
    check("UpdateItem", &[]);
    check("NewPlanPrice", &[]);
    check("ReplacedPrice", &["replaces_price_id"]);
    check("NewUnitPriceOfPlan", &["name", "item_id", "cadence", "model_type", "unit_config"]);
    check("NewUnitPrice", &["name", "item_id", "cadence", "model_type", "currency", "unit_config"]);
    check("UnitConfig", &["unit_amount"]);
    check("PerPriceCost", &["price", "price_id", "quantity", "subtotal", "total"]);
    check("SubscriptionUsage", &["data"]);
    check("UsageSeries", &["billable_metric", "view_mode", "usage"]);
    check("Problem", &["type", "status", "title", "detail"]);
    // All others of an answer are always there.
    for name in ["Alert", "Customer", "Item", "Plan", "Subscription", "UnitPrice"] {
        let members = described.named(name)["properties"].as_object().unwrap();
        assert_eq!(required(name).len(), members.len(), "{name}");
    }
}

#[test]
fn clients_10_an_answer_that_is_not_described_is_told() {
    let described = Described::form("3.1");
    let item = Host::new().post("/v1/items", json!({"name": "Tokens"})).ok(StatusCode::CREATED);
    let check = |change: fn(&mut Value), expect: usize| {
        let mut item = item.clone();
        change(&mut item);
        let body = serde_json::to_vec(&item).unwrap();
        let wrong = described.wrong("POST", "/items", 201, &body);
        assert_eq!(wrong.len(), expect, "{wrong:?}");
    };
    check(|_| {}, 0);
    check(|item| item["more"] = json!(1), 1);
    check(|item| item["name"] = Value::Null, 1);
    check(|item| item["external_connections"] = json!([{"external_connection_name": "x"}]), 2);
    check(|item| drop(item.as_object_mut().unwrap().remove("metadata")), 1);
    assert_eq!(described.wrong("POST", "/items", 202, b"{}").len(), 1);
}
