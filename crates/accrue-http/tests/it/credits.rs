//! Credits over HTTP.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Host};

/// A customer in Berlin, and the paths of its credits.
struct Purse {
    host: Host,
    customer: String,
}

const EXTERNAL: &str = "/v1/customers/external_customer_id/ada/credits";

impl Purse {
    fn new() -> Self {
        let host = Host::new();
        let new = json!({
            "name": "Ada", "email": "ada@example.com", "external_customer_id": "ada",
            "timezone": "Europe/Berlin",
        });
        let ada = host.post("/v1/customers", new).ok(StatusCode::CREATED);
        Self { host, customer: ada["id"].as_str().unwrap().to_owned() }
    }

    fn credits(&self) -> String {
        format!("/v1/customers/{}/credits", self.customer)
    }

    fn send(&self, entry: Value) -> Answer {
        self.host.post(&format!("{}/ledger_entry", self.credits()), entry)
    }

    fn add(&self, entry: Value) -> Value {
        self.send(entry).ok(StatusCode::CREATED)
    }

    fn give(&self, amount: u32) -> Value {
        self.add(json!({"entry_type": "increment", "amount": amount}))
    }

    /// What every entry has, of one that moved a balance.
    fn entry(&self, entry: &Value, amount: Value, starting: Value, ending: Value) -> Value {
        let mut expected = json!({
            "id": entry["id"],
            "ledger_sequence_number": entry["ledger_sequence_number"],
            "entry_type": entry["entry_type"],
            "entry_status": "committed",
            "customer": {"id": self.customer, "external_customer_id": "ada"},
            "currency": "credits",
            "starting_balance": starting,
            "ending_balance": ending,
            "amount": amount,
            "credit_block": {
                "id": entry["credit_block"]["id"], "expiry_date": null,
                "per_unit_cost_basis": null, "filters": [],
            },
            "created_at": "2026-03-10T12:00:00.000000+00:00",
            "description": null,
            "metadata": {},
        });
        if entry["entry_type"] == "increment" {
            expected["created_invoices"] = Value::Null;
        }
        expected
    }

    fn block(&self, id: &Value) -> Value {
        self.host.get(&block(id)).ok(StatusCode::OK)
    }
}

fn block(id: &Value) -> String {
    format!("/v1/credit_blocks/{}", id.as_str().unwrap())
}

#[test]
fn wire_4_4_an_increment_makes_a_block() {
    let purse = Purse::new();
    let new = json!({
        "entry_type": "increment", "amount": 10.5, "currency": "EUR-credits",
        "description": "Trial", "metadata": {"a": "1", "gone": null},
        "effective_date": "2026-03-11T00:00:00Z", "expiry_date": "2026-04-01T00:00:00+02:00",
        "per_unit_cost_basis": "0.00", "invoice_settings": null, "filters": [],
    });
    let entry = purse.add(new);
    let mut expected = purse.entry(&entry, json!(10.5), json!(0), json!(10.5));
    expected["entry_type"] = json!("increment");
    expected["ledger_sequence_number"] = json!(1);
    expected["currency"] = json!("EUR-credits");
    expected["description"] = json!("Trial");
    expected["metadata"] = json!({"a": "1"});
    expected["credit_block"]["expiry_date"] = json!("2026-03-31T22:00:00.000000+00:00");
    expected["credit_block"]["per_unit_cost_basis"] = json!("0.00");
    assert_eq!(entry, expected);
    let expected = json!({
        "id": entry["credit_block"]["id"],
        "balance": 10.5,
        "effective_date": "2026-03-11T00:00:00.000000+00:00",
        "expiry_date": "2026-03-31T22:00:00.000000+00:00",
        "per_unit_cost_basis": "0.00",
        "status": "active",
        "maximum_initial_balance": 10.5,
        "filters": [],
        "credit_block_source": "manual",
        "metadata": {"a": "1"},
    });
    assert_eq!(purse.block(&entry["credit_block"]["id"]), expected);
    let listed = purse.host.walk(&format!("{}?currency=EUR-credits", purse.credits()));
    assert_eq!(listed, [expected]);
}

#[test]
fn wire_6_4_amounts_keep_their_digits_as_numbers() {
    let purse = Purse::new();
    let new = r#"{"entry_type": "increment", "amount": 0.1234567890123456789012345678}"#;
    let answer = purse.host.post(&format!("{}/ledger_entry", purse.credits()), new);
    answer.ok(StatusCode::CREATED);
    let text = std::str::from_utf8(&answer.bytes).unwrap();
    assert!(text.contains(r#""amount":0.1234567890123456789012345678"#), "{text}");
}

#[test]
fn wire_4_4_a_decrement_takes_and_may_overdraw() {
    let purse = Purse::new();
    purse.give(5);
    let taken = json!({"entry_type": "decrement", "amount": 2, "currency": null});
    let entry = purse.add(taken);
    let mut expected = purse.entry(&entry, json!(-2), json!(5), json!(3));
    expected["entry_type"] = json!("decrement");
    expected["ledger_sequence_number"] = json!(2);
    for empty in ["price_id", "invoice_id", "event_id"] {
        expected[empty] = Value::Null;
    }
    assert_eq!(entry, expected);
    purse.host.clock.advance(Duration::from_secs(60));
    let overdrawn = purse.add(json!({"entry_type": "decrement", "amount": 4}));
    assert_eq!(overdrawn["ending_balance"], json!(-1));
    assert_eq!(purse.host.walk(&purse.credits()), Vec::<Value>::new());
    let all = purse.host.walk(&format!("{}?include_all_blocks=true", purse.credits()));
    let balances: Vec<_> = all.iter().map(|block| block["balance"].clone()).collect();
    assert_eq!(balances, [json!(-1), json!(0)]);
    assert_eq!(all[0]["maximum_initial_balance"], Value::Null);
    assert_eq!(all[0]["effective_date"], Value::Null);
}

#[test]
fn wire_4_4_a_day_of_expiry_begins_in_the_zone_of_the_customer() {
    let purse = Purse::new();
    let block_id = purse.give(5)["credit_block"]["id"].clone();
    let change = json!({
        "entry_type": "expiration_change", "target_expiry_date": "2026-07-01",
        "block_id": block_id, "amount": 2,
    });
    let entry = purse.add(change);
    let mut expected = purse.entry(&entry, json!(2), json!(5), json!(5));
    expected["entry_type"] = json!("expiration_change");
    expected["new_block_expiry_date"] = json!("2026-06-30T22:00:00.000000+00:00");
    expected["credit_block"]["id"] = block_id.clone();
    assert_eq!(entry, expected);
    // All that is left, found by the day.
    let change = json!({
        "entry_type": "expiration_change", "target_expiry_date": "2026-12-01",
        "expiry_date": "2026-07-01",
    });
    let entry = purse.add(change);
    assert_eq!(entry["new_block_expiry_date"], json!("2026-11-30T23:00:00.000000+00:00"));
    let change = json!({
        "entry_type": "expiration_change", "target_expiry_date": "2027-01-01",
        "expiry_date": "2026-12-01T00:00:00+01:00",
    });
    let entry = purse.add(change);
    assert_eq!(entry["new_block_expiry_date"], json!("2026-12-31T23:00:00.000000+00:00"));
    let passed = json!({
        "entry_type": "expiration_change", "target_expiry_date": "2026-03-10",
        "block_id": block_id,
    });
    purse.send(passed).error(400, "400-constraint-violation");
    for wrong in ["2026-7-1", "2026-02-30", "20260701", "2026-07-01T00:00:00Z", "tomorrow"] {
        let change = json!({"entry_type": "expiration_change", "target_expiry_date": wrong});
        purse.send(change).error(400, "400-request-validation-errors");
    }
}

#[test]
fn wire_4_4_a_void_is_begun_and_done() {
    let purse = Purse::new();
    let block_id = purse.give(5)["credit_block"]["id"].clone();
    let void = json!({
        "entry_type": "void", "amount": 2, "block_id": block_id, "void_reason": "refund",
    });
    let entry = purse.add(void);
    let mut initiated = purse.entry(&entry, json!(2), json!(5), json!(5));
    initiated["entry_type"] = json!("void_initiated");
    initiated["void_amount"] = json!(2);
    initiated["void_reason"] = json!("refund");
    initiated["new_block_expiry_date"] = json!("2026-03-10T12:00:00.000000+00:00");
    assert_eq!(entry, initiated);
    let entries = purse.host.walk(&format!("{}/ledger?limit=1", purse.credits()));
    let mut done = purse.entry(&entries[0], json!(-2), json!(5), json!(3));
    done["entry_type"] = json!("void");
    done["void_amount"] = json!(2);
    done["void_reason"] = json!("refund");
    assert_eq!(entries[0], done);
    assert_eq!(entries[1], initiated);
}

#[test]
fn wire_4_4_an_amendment_gives_back() {
    let purse = Purse::new();
    let block_id = purse.give(5)["credit_block"]["id"].clone();
    purse.add(json!({"entry_type": "decrement", "amount": 4}));
    let back = json!({"entry_type": "amendment", "amount": 3, "block_id": block_id});
    let entry = purse.add(back);
    let mut expected = purse.entry(&entry, json!(3), json!(1), json!(4));
    expected["entry_type"] = json!("amendment");
    assert_eq!(entry, expected);
    let more = json!({"entry_type": "amendment", "amount": 2, "block_id": block_id});
    purse.send(more).error(400, "400-constraint-violation");
}

#[test]
fn wire_4_4_what_is_wrong_with_an_entry_is_told_by_its_type() {
    let purse = Purse::new();
    let check = |entry: Value, expected: &[&str]| {
        let refused = purse.send(entry).error(400, "400-request-validation-errors");
        let errors = refused["validation_errors"].as_array().unwrap();
        let fields = errors.iter().map(|of| of.as_str().unwrap().split_once(':').unwrap().0);
        assert_eq!(fields.collect::<Vec<_>>(), expected, "{refused}");
    };
    check(json!({"amount": "x"}), &["/entry_type"]);
    check(json!({"entry_type": "void_initiated"}), &["/entry_type"]);
    check(
        json!({"entry_type": "increment", "amount": "1", "block_id": "x"}),
        &["/block_id", "/amount"],
    );
    check(json!({"entry_type": "increment", "amount": 0}), &["/amount"]);
    check(
        json!({"entry_type": "increment", "amount": 1, "per_unit_cost_basis": 1}),
        &["/per_unit_cost_basis"],
    );
    check(json!({"entry_type": "decrement", "expiry_date": null}), &["/expiry_date", "/amount"]);
    check(
        json!({"entry_type": "expiration_change", "expiry_date": "x"}),
        &["/target_expiry_date", "/expiry_date"],
    );
    check(
        json!({"entry_type": "void", "void_reason": "x"}),
        &["/amount", "/block_id", "/void_reason"],
    );
    check(
        json!({"entry_type": "amendment", "void_reason": "refund"}),
        &["/void_reason", "/amount", "/block_id"],
    );
    let void = json!({"entry_type": "void", "amount": 1, "block_id": "none"});
    purse.send(void).error(404, "404-resource-not-found");
}

#[test]
fn wire_4_4_credits_are_found_by_the_external_id() {
    let purse = Purse::new();
    let new = json!({"entry_type": "increment", "amount": 5});
    let entry = purse.host.post(&format!("{EXTERNAL}/ledger_entry"), new);
    let entry = entry.ok(StatusCode::CREATED);
    let change = json!({"entry_type": "expiration_change", "target_expiry_date": "2026-07-01"});
    let changed = purse.host.post(&format!("{EXTERNAL}/ledger_entry"), change);
    let changed = changed.ok(StatusCode::CREATED);
    assert_eq!(changed["new_block_expiry_date"], json!("2026-06-30T22:00:00.000000+00:00"));
    let entries = purse.host.walk(&format!("{EXTERNAL}/ledger"));
    assert_eq!(entries, [changed, entry]);
    assert_eq!(purse.host.walk(EXTERNAL), purse.host.walk(&purse.credits()));
    for of in ["external_customer_id/none", "none"] {
        let credits = format!("/v1/customers/{of}/credits");
        purse.host.get(&credits).error(404, "404-resource-not-found");
        purse.host.get(&format!("{credits}/ledger")).error(404, "404-resource-not-found");
        for new in [
            json!({"entry_type": "decrement", "amount": 5}),
            json!({"entry_type": "expiration_change", "target_expiry_date": "2026-07-01"}),
        ] {
            let refused = purse.host.post(&format!("{credits}/ledger_entry"), new);
            refused.error(404, "404-resource-not-found");
        }
    }
}

#[test]
fn wire_6_3_blocks_are_listed_to_the_end_by_when_they_count() {
    let purse = Purse::new();
    let mut ids = Vec::new();
    for day in ["11", "12", "13"] {
        let date = format!("2026-03-{day}T00:00:00Z");
        let new = json!({"entry_type": "increment", "amount": 1, "effective_date": date});
        ids.insert(0, purse.add(new)["credit_block"]["id"].clone());
        purse.host.clock.advance(Duration::from_secs(60));
    }
    let walk = |query: &str| {
        let rows = purse.host.walk(&format!("{}?{query}", purse.credits()));
        rows.into_iter().map(|row| row["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(walk("limit=1"), ids);
    assert_eq!(walk("effective_date%5Bgt%5D=2026-03-11T00:00:00Z"), ids[..2]);
    assert_eq!(walk("effective_date[gte]=2026-03-13T00:00:00Z"), ids[..1]);
    assert_eq!(walk("effective_date[lt]=2026-03-12T00:00:00Z"), ids[2..]);
    assert_eq!(walk("effective_date[lte]=2026-03-12T00:00:00Z&include_all_blocks=true"), ids[1..]);
    assert!(walk("currency=USD").is_empty());
    assert_eq!(walk("limit=1000"), ids);
}

#[test]
fn wire_6_3_a_ledger_is_listed_to_the_end_and_filtered() {
    let purse = Purse::new();
    let mut entries = vec![purse.give(10)];
    for amount in [1, 5] {
        purse.host.clock.advance(Duration::from_secs(60));
        let new = json!({"entry_type": "decrement", "amount": amount});
        entries.insert(0, purse.add(new));
    }
    let walk = |query: &str| purse.host.walk(&format!("{}/ledger?{query}", purse.credits()));
    assert_eq!(walk("limit=1"), entries);
    assert_eq!(walk("limit=1000"), entries);
    assert_eq!(walk("entry_type=increment"), entries[2..]);
    assert_eq!(
        walk("entry_status=committed&minimum_amount=5"),
        [entries[0].clone(), entries[2].clone()]
    );
    assert!(walk("entry_status=pending").is_empty());
    assert_eq!(walk("created_at[gt]=2026-03-10T12:01:00Z"), entries[..1]);
    assert_eq!(walk("created_at[gte]=2026-03-10T12:01:00Z&entry_type=decrement"), entries[..2]);
    assert!(walk("currency=USD").is_empty());
    assert_eq!(walk("limit=1001"), entries);
    for wrong in ["limit=0", "entry_type=x", "entry_status=x", "minimum_amount=x"] {
        let refused = purse.host.get(&format!("{}/ledger?{wrong}", purse.credits()));
        refused.error(400, "400-request-validation-errors");
    }
}

#[test]
fn wire_5_1_the_metadata_of_a_block_changes() {
    let purse = Purse::new();
    let id = purse.give(5)["credit_block"]["id"].clone();
    let mut expected = purse.block(&id);
    let put = |body: Value| purse.host.put(&block(&id), body).ok(StatusCode::OK);
    expected["metadata"] = json!({"a": "1", "b": "2"});
    assert_eq!(put(json!({"metadata": {"a": "1", "b": "2"}})), expected);
    expected["metadata"] = json!({"b": "2"});
    assert_eq!(put(json!({"metadata": {"a": null}})), expected);
    assert_eq!(put(json!({})), expected);
    assert_eq!(purse.block(&id), expected);
    expected["metadata"] = json!({});
    assert_eq!(put(json!({"metadata": null})), expected);
    let refused = purse.host.put(&block(&id), json!({"balance": 9}));
    refused.error(400, "400-request-validation-errors");
    purse.host.put("/v1/credit_blocks/none", json!({})).error(404, "404-resource-not-found");
}

#[test]
fn wire_5_1_a_deleted_block_is_gone() {
    let purse = Purse::new();
    let id = purse.give(5)["credit_block"]["id"].clone();
    let deleted = purse.host.call("DELETE", &block(&id), ());
    assert_eq!((deleted.status, deleted.bytes.len()), (204, 0));
    purse.host.call("DELETE", &block(&id), ()).error(404, "404-resource-not-found");
    purse.host.get(&block(&id)).error(404, "404-resource-not-found");
    purse.host.put(&block(&id), json!({})).error(404, "404-resource-not-found");
    purse.host.get("/v1/credit_blocks/none").error(404, "404-resource-not-found");
    assert!(purse.host.walk(&purse.credits()).is_empty());
}

#[test]
fn s4_5_6_an_entry_is_replayed_byte_for_byte() {
    let purse = Purse::new();
    purse.give(5);
    let path = format!("{}/ledger_entry", purse.credits());
    for (key, new) in [
        ("entry-1", json!({"entry_type": "decrement", "amount": 1})),
        ("entry-2", json!({"entry_type": "expiration_change", "target_expiry_date": "2026-07-01"})),
    ] {
        let send = || purse.host.keyed("POST", &path, key, new.clone());
        let (first, second) = (send(), send());
        first.ok(StatusCode::CREATED);
        assert_eq!(second.bytes, first.bytes);
        assert_eq!(second.header("idempotent-replayed"), Some("true"));
    }
    assert_eq!(purse.host.walk(&format!("{}/ledger", purse.credits())).len(), 3);
}

#[test]
fn an_account_without_credits_has_none() {
    let purse = Purse::new();
    let id = purse.give(5)["credit_block"]["id"].clone();
    let mut configuration = accrue::account::Configuration::default();
    configuration.features.credits = false;
    let account = purse.host.account();
    pollster::block_on(account.configure(configuration).into_future()).unwrap();
    let answers = [
        purse.host.get(&purse.credits()),
        purse.host.get(&format!("{EXTERNAL}/ledger")),
        purse.send(json!({"entry_type": "decrement", "amount": 1})),
        purse.host.get(&block(&id)),
        purse.host.put(&block(&id), json!({})),
        purse.host.call("DELETE", &block(&id), ()),
    ];
    for answer in answers {
        answer.error(404, "404-feature-not-available");
    }
}
