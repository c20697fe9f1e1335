//! Customers over HTTP.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::Host;

fn ada(host: &Host) -> Value {
    let new = json!({
        "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada/1",
    });
    host.post("/v1/customers", new).ok(StatusCode::CREATED)
}

fn path(customer: &Value) -> String {
    format!("/v1/customers/{}", customer["id"].as_str().unwrap())
}

const EXTERNAL: &str = "/v1/customers/external_customer_id/ada%2F1";

/// A customer of whom nothing more is known.
fn plain(customer: &Value) -> Value {
    json!({
        "id": customer["id"],
        "external_customer_id": "ada/1",
        "name": "Ada",
        "email": "ada@example.com",
        "additional_emails": [],
        "timezone": "UTC",
        "currency": null,
        "balance": "0.00",
        "metadata": {},
        "created_at": "2026-03-10T12:00:00.000000+00:00",
        "payment_provider": null,
        "payment_provider_id": null,
        "default_payment_method": null,
        "auto_collection": false,
        "auto_issuance": null,
        "email_delivery": true,
        "billing_address": null,
        "shipping_address": null,
        "tax_id": null,
        "exempt_from_automated_tax": null,
        "automatic_tax_enabled": false,
        "accounting_sync_configuration": null,
        "payment_configuration": null,
        "reporting_configuration": null,
        "hierarchy": {"parent": null, "children": []},
        "portal_url": null,
    })
}

#[test]
fn wire_4_2_a_customer_is_answered_whole() {
    let host = Host::new();
    let customer = ada(&host);
    let expected = plain(&customer);
    assert_eq!(customer, expected);
    assert_eq!(host.get(&path(&customer)).ok(StatusCode::OK), expected);
    assert_eq!(host.get(EXTERNAL).ok(StatusCode::OK), expected);
}

#[test]
fn wire_4_3_every_field_of_a_new_customer_is_given_back() {
    let host = Host::new();
    let address = json!({
        "line1": "1 Main St", "line2": null, "city": "Berlin", "state": null,
        "postal_code": "10115", "country": "DE",
    });
    let new = json!({
        "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada/1",
        "timezone": "Europe/Berlin", "currency": "EUR", "metadata": {"a": "1", "gone": null},
        "payment_provider": "bill.com", "payment_provider_id": "cus_1",
        "additional_emails": ["books@example.com"],
        "auto_collection": false, "auto_issuance": true, "email_delivery": false,
        "billing_address": {"line1": "1 Main St", "city": "Berlin", "postal_code": "10115",
            "country": "DE", "planet": "Earth"},
        "shipping_address": address,
        "tax_id": {"country": "DE", "type": "eu_vat", "value": "DE123"},
        "tax_configuration": {"tax_provider": "avalara", "tax_exempt": true,
            "automatic_tax_enabled": false, "tax_exemption_code": "G"},
        "accounting_sync_configuration": {"accounting_providers":
            [{"provider_type": "netsuite", "external_provider_id": "n1"}]},
        "payment_configuration": {"payment_providers": [{"provider_type": "stripe"}]},
        "reporting_configuration": {"exempt": true},
        "hierarchy": {"parent_customer_id": null, "child_customer_ids": []},
    });
    let customer = host.post("/v1/customers", new).ok(StatusCode::CREATED);
    let mut expected = plain(&customer);
    let given = json!({
        "timezone": "Europe/Berlin", "currency": "EUR", "metadata": {"a": "1"},
        "payment_provider": "bill.com", "payment_provider_id": "cus_1",
        "additional_emails": ["books@example.com"],
        "auto_collection": false, "auto_issuance": true, "email_delivery": false,
        "billing_address": address, "shipping_address": address,
        "tax_id": {"country": "DE", "type": "eu_vat", "value": "DE123"},
        "exempt_from_automated_tax": true, "automatic_tax_enabled": false,
        "accounting_sync_configuration": {"excluded": false, "accounting_providers":
            [{"provider_type": "netsuite", "external_provider_id": "n1"}]},
        "payment_configuration": {"payment_providers": [{"provider_type": "stripe",
            "default_shared_payment_token": null, "excluded_payment_method_types": []}]},
        "reporting_configuration": {"exempt": true},
    });
    for (name, value) in given.as_object().unwrap() {
        expected[name] = value.clone();
    }
    assert_eq!(customer, expected);
    assert_eq!(host.get(EXTERNAL).ok(StatusCode::OK), expected);
}

#[test]
fn wire_4_3_collection_is_automatic_where_a_provider_is_given() {
    let host = Host::new();
    let new = json!({
        "name": "Ada", "email": "ada@example.com", "payment_provider": "stripe_charge",
    });
    let customer = host.post("/v1/customers", new).ok(StatusCode::CREATED);
    assert_eq!(customer["auto_collection"], json!(true));
}

#[test]
fn all_that_is_wrong_with_a_customer_is_listed() {
    let host = Host::new();
    let emails: Vec<_> = (0..50).map(|n| format!("{n}@example.com")).collect();
    let new = json!({
        "email": "nobody", "timezone": "Mars", "currency": "credits", "payment_provider": "cash",
        "additional_emails": emails, "auto_collection": "yes", "billing_address": [],
        "tax_id": {"country": "DE"}, "tax_configuration": {"tax_provider": "x"}, "balance": "1",
    });
    let refused = host.post("/v1/customers", new).error(400, "400-request-validation-errors");
    let errors = refused["validation_errors"].as_array().unwrap();
    let fields: Vec<_> =
        errors.iter().map(|error| error.as_str().unwrap().split_once(':').unwrap().0).collect();
    let expected = [
        "/balance",
        "/name",
        "/email",
        "/timezone",
        "/currency",
        "/payment_provider",
        "/additional_emails",
        "/auto_collection",
        "/billing_address",
        "/tax_id/type",
        "/tax_id/value",
        "/tax_configuration/tax_provider",
        "/tax_configuration/tax_exempt",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn wire_4_3_a_customer_has_fifty_addresses_at_most() {
    let host = Host::new();
    let create = |count: usize| {
        let emails: Vec<_> = (0..count).map(|n| format!("{n}@example.com")).collect();
        let new = json!({
            "name": "Ada", "email": "ada@example.com", "additional_emails": emails,
        });
        host.post("/v1/customers", new)
    };
    create(48).ok(StatusCode::CREATED);
    create(49).ok(StatusCode::CREATED);
    create(50).error(400, "400-request-validation-errors");
}

#[test]
fn an_update_that_says_nothing_changes_nothing() {
    let host = Host::new();
    let customer = ada(&host);
    let nothing = json!({"hierarchy": null, "default_payment_method_id": null});
    assert_eq!(host.put(&path(&customer), nothing).ok(StatusCode::OK), customer);
}

#[test]
fn an_external_id_is_used_once() {
    let host = Host::new();
    ada(&host);
    let again = json!({
        "name": "Bob", "email": "bob@example.com", "external_customer_id": "ada/1",
    });
    host.post("/v1/customers", again).error(400, "400-duplicate-resource-creation");
}

#[test]
fn wire_4_3_what_an_update_says_changes_and_the_rest_stays() {
    let host = Host::new();
    let customer = ada(&host);
    let update = json!({
        "name": "Ada L.", "email": "l@example.com", "currency": "USD", "metadata": {"a": "1"},
        "payment_provider": "stripe_charge", "payment_provider_id": "cus_2",
        "additional_emails": ["x@example.com"], "auto_collection": true, "auto_issuance": false,
        "email_delivery": false, "billing_address": {"country": "US"},
        "tax_configuration": {"tax_provider": "taxjar", "tax_exempt": false},
        "reporting_configuration": {"exempt": false},
    });
    let mut expected = customer.clone();
    let changed = json!({
        "name": "Ada L.", "email": "l@example.com", "currency": "USD", "metadata": {"a": "1"},
        "payment_provider": "stripe_charge", "payment_provider_id": "cus_2",
        "additional_emails": ["x@example.com"], "auto_collection": true, "auto_issuance": false,
        "email_delivery": false,
        "billing_address": {"line1": null, "line2": null, "city": null, "state": null,
            "postal_code": null, "country": "US"},
        "exempt_from_automated_tax": false, "reporting_configuration": {"exempt": false},
    });
    for (name, value) in changed.as_object().unwrap() {
        expected[name] = value.clone();
    }
    assert_eq!(host.put(&path(&customer), update).ok(StatusCode::OK), expected);
    assert_eq!(host.put(EXTERNAL, json!({})).ok(StatusCode::OK), expected);
    let cleared = json!({
        "name": null, "email": null, "currency": null, "external_customer_id": null,
        "metadata": null, "payment_provider": null, "payment_provider_id": null,
        "additional_emails": null, "auto_collection": null, "auto_issuance": null,
        "email_delivery": null, "billing_address": null, "tax_configuration": null,
        "reporting_configuration": null,
    });
    let mut expected = customer.clone();
    expected["name"] = json!("Ada L.");
    expected["email"] = json!("l@example.com");
    expected["currency"] = json!("USD");
    assert_eq!(host.put(EXTERNAL, cleared).ok(StatusCode::OK), expected);
}

#[test]
fn wire_4_3_what_is_set_once_stays() {
    let host = Host::new();
    let customer = ada(&host);
    host.put(&path(&customer), json!({"currency": "USD"})).ok(StatusCode::OK);
    for update in [json!({"currency": "EUR"}), json!({"external_customer_id": "b"})] {
        host.put(&path(&customer), update).error(400, "400-constraint-violation");
    }
    let zone = host.put(&path(&customer), json!({"timezone": "UTC"}));
    zone.error(400, "400-request-validation-errors");
}

#[test]
fn no_customer_is_found_under_another_identifier() {
    let host = Host::new();
    let long = "x".repeat(300);
    let (by_id, by_external) = ("/v1/customers", "/v1/customers/external_customer_id");
    for path in
        [format!("{by_id}/none"), format!("{by_external}/none"), format!("{by_external}/{long}")]
    {
        host.get(&path).error(404, "404-resource-not-found");
        host.put(&path, json!({})).error(404, "404-resource-not-found");
    }
    host.call("DELETE", "/v1/customers/none", ()).error(404, "404-resource-not-found");
}

#[test]
fn wire_4_1_a_deleted_customer_is_gone_and_its_external_id_free() {
    let host = Host::new();
    let customer = ada(&host);
    let deleted = host.call("DELETE", &path(&customer), ());
    assert_eq!((deleted.status, deleted.bytes.len()), (204, 0));
    host.get(&path(&customer)).error(404, "404-resource-not-found");
    host.get(EXTERNAL).error(404, "404-resource-not-found");
    host.call("DELETE", &path(&customer), ()).error(404, "404-resource-not-found");
    assert!(host.walk("/v1/customers").is_empty());
    assert_ne!(ada(&host)["id"], customer["id"]);
}

#[test]
fn wire_4_1_customers_are_listed_newest_first_to_the_end() {
    let host = Host::new();
    let mut created = Vec::new();
    for name in ["a", "b", "c"] {
        let new = json!({"name": name, "email": "a@example.com"});
        created.insert(0, host.post("/v1/customers", new).ok(StatusCode::CREATED));
        host.clock.advance(Duration::from_secs(60));
    }
    assert_eq!(host.walk("/v1/customers?limit=1"), created);
    let second = "created_at%5Bgte%5D=2026-03-10T12:01:00Z&created_at%5Blt%5D=2026-03-10T12:02:00Z";
    assert_eq!(host.walk(&format!("/v1/customers?{second}")), created[1..2]);
    host.get("/v1/customers?cursor=x").error(400, "400-request-validation-errors");
}

#[test]
fn s4_5_6_a_customer_is_replayed_byte_for_byte() {
    let host = Host::new();
    let new = json!({"name": "Ada", "email": "ada@example.com", "auto_issuance": true});
    let send = || host.keyed("POST", "/v1/customers", "customer-1", new.clone());
    let (first, second) = (send(), send());
    first.ok(StatusCode::CREATED);
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(host.walk("/v1/customers").len(), 1);
}

#[test]
fn invoicing_12_1_a_customer_says_its_balance_in_the_digits_of_its_currency() {
    use accrue::invoice::{BalanceDirection, NewBalanceTransaction};

    let host = Host::new();
    for (currency, amount, expect) in [("USD", "12.5", "-12.50"), ("JPY", "12", "-12")] {
        let new = json!({"name": "Ada", "email": "ada@example.com", "currency": currency});
        let ada = host.post("/v1/customers", new).ok(StatusCode::CREATED);
        let owed = NewBalanceTransaction {
            amount: accrue::Decimal::parse(amount).unwrap(),
            direction: BalanceDirection::Decrement,
            description: None,
        };
        let id: accrue::CustomerId = ada["id"].as_str().unwrap().parse().unwrap();
        let moved = host.account().create_balance_transaction(id, owed);
        pollster::block_on(moved.into_future()).unwrap();
        let path = format!("/v1/customers/{id}");
        assert_eq!(host.get(&path).ok(StatusCode::OK)["balance"], expect);
    }
}
