//! What is nested in an invoice (invoicing 3.2, 3.4).

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    invoices::{shop, upcoming},
    subscriptions::Shop,
};

/// The words of a list of the facts, up to its end.
fn listed_in_facts(from: &str, to: &str) -> Vec<&'static str> {
    let facts = include_str!("../../../../docs/spec/invoicing.md");
    let (_, rest) = facts.split_once(from).unwrap();
    let (words, _) = rest.split_once(to).unwrap();
    words.split_whitespace().map(|word| word.trim_end_matches('.')).collect()
}

#[test]
fn invoicing_3_2_every_tax_id_is_taken_and_shown() {
    let (shop, subscription) = shop();
    let ada = format!("/v1/customers/{}", shop.customer["id"].as_str().unwrap());
    let countries = listed_in_facts("CustomerTaxId.country [S][P], 116:", "\n\n");
    let types = listed_in_facts("CustomerTaxId.type, 116:", "Any other value");
    assert_eq!((countries.len(), types.len()), (116, 116));
    for (country, kind) in countries.into_iter().zip(types) {
        let id = json!({"country": country, "type": kind, "value": "1"});
        shop.host.put(&ada, json!({"tax_id": id})).ok(StatusCode::OK);
        assert_eq!(upcoming(&shop.host, &subscription)["customer_tax_id"], id);
    }
    for wrong in [
        json!({"country": "XX", "type": "eu_vat", "value": "1"}),
        json!({"country": "DE", "type": "xx_vat", "value": "1"}),
    ] {
        shop.host.put(&ada, json!({"tax_id": wrong})).error(400, "400-request-validation-errors");
    }
}

/// Subscribes to a plan with one price of a model.
fn subscribed(shop: &Shop, model: &str, config: &Value) -> Value {
    let price = json!({
        "name": model, "item_id": shop.plan["prices"][0]["item"]["id"], "cadence": "monthly",
        "billable_metric_id": shop.metric_id, "model_type": model,
        format!("{model}_config"): config,
    });
    let plan = json!({
        "name": model, "currency": "EUR", "external_plan_id": model, "prices": [{"price": price}],
    });
    shop.host.post("/v1/plans", plan).ok(StatusCode::CREATED);
    shop.subscribe(json!({"external_plan_id": model}))
}

#[test]
fn invoicing_3_4_a_line_has_parts_where_its_model_has_some() {
    let (shop, _) = shop();
    let tier = |from: u64, to: Option<u64>, amount: &str| json!({"first_unit": from, "last_unit": to, "unit_amount": amount});
    let tiers = [tier(0, Some(10), "1.00"), tier(10, Some(100), "0.50"), tier(100, None, "0.25")];
    let matrix = json!({
        "dimensions": ["model", null], "default_unit_amount": "1",
        "matrix_values": [
            {"dimension_values": ["large", null], "unit_amount": "2"},
            {"dimension_values": ["tiny", null], "unit_amount": "3"},
        ],
    });
    let configs = [
        ("tiered", json!({"tiers": tiers})),
        ("matrix", matrix),
        ("unit", json!({"unit_amount": "0.5"})),
        ("package", json!({"package_amount": "3", "package_size": 10})),
        (
            "bulk",
            json!({"tiers": [{"maximum_units": 10, "unit_amount": "1"}, {"unit_amount": "0.5"}]}),
        ),
    ];
    let subscriptions = configs.map(|(model, config)| (model, subscribed(&shop, model, &config)));
    let line = |of: &Value| upcoming(&shop.host, of)["line_items"][0].clone();
    for (model, of) in &subscriptions {
        assert_eq!(line(of)["sub_line_items"], json!([]), "{model} without usage");
    }
    shop.use_tokens("a", 10, "large");
    shop.use_tokens("b", 5, "small");
    let part = |kind: &str, name: &str, quantity: u64, amount: &str| {
        json!({
            "type": kind, "name": name, "quantity": quantity, "amount": amount, "grouping": null,
        })
    };
    let mut of_tiers = [part("tier", "0 to 10", 10, "10.00"), part("tier", "10 to 100", 5, "2.50")];
    of_tiers[0]["tier_config"] = tiers[0].clone();
    of_tiers[1]["tier_config"] = tiers[1].clone();
    let mut of_cells = [part("matrix", "large", 10, "20.00"), part("matrix", "Other", 5, "5.00")];
    of_cells[0]["matrix_config"] = json!({"dimension_values": ["large"]});
    of_cells[1]["matrix_config"] = json!({"dimension_values": []});
    let mut of_volume = [part("tier", "10 and above", 15, "7.50")];
    of_volume[0]["tier_config"] = tier(10, None, "0.50");
    let expected = [json!(of_tiers), json!(of_cells), json!([]), json!([]), json!(of_volume)];
    let amounts = ["12.50", "25.00", "7.50", "6.00", "7.50"];
    for ((model, of), (parts, amount)) in subscriptions.iter().zip(expected.iter().zip(amounts)) {
        let line = line(of);
        assert_eq!(line["sub_line_items"], *parts, "{model}");
        assert_eq!((&line["quantity"], &line["subtotal"]), (&json!(15), &json!(amount)), "{model}");
    }
}
