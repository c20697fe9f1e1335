//! Calls of a client that progenitor generates from the document, against a server that runs:
//! `ACCRUE_URL` says where, and `ACCRUE_API_KEY` is the key.

use std::{env, error::Error};

use client::{Client, Error as Failure, types};
use reqwest::{
    StatusCode,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};
use serde_json::{Value, from_value, json};

/// What progenitor wrote.
#[allow(dead_code, unused, clippy::all)]
mod client {
    include!(concat!(env!("OUT_DIR"), "/client.rs"));
}

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let key = format!("Bearer {}", env::var("ACCRUE_API_KEY")?);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(&key)?)]);
    let http = reqwest::Client::builder().default_headers(headers).no_proxy().build()?;
    let client = Client::new_with_client(&env::var("ACCRUE_URL")?, http);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let item = items(&client).await?;
        prices(&client, &item).await?;
        credits(&client).await?;
        errors(&client).await
    })
}

/// An item is created once under a key, and listed.
async fn items(client: &Client) -> Result<String, Box<dyn Error>> {
    let key: types::IdempotencyKey = "generated-1".parse()?;
    let new: types::NewItem = from_value(json!({"name": "Tokens", "metadata": {"a": "b"}}))?;
    let created = client.create_item(Some(&key), &new).await?;
    assert_eq!(created.status(), StatusCode::CREATED);
    let again = client.create_item(Some(&key), &new).await?;
    assert_eq!(created.id, again.id);
    let listed = client.list_items(None, Some(1.try_into()?)).await?;
    assert_eq!(listed.data[0].id, created.id);
    assert_eq!(listed.data[0].metadata["a"], "b");
    Ok(created.into_inner().id)
}

/// A price is told by its model, on the way in and on the way out.
async fn prices(client: &Client, item: &str) -> Outcome {
    let metric = json!({
        "name": "Tokens", "description": null, "item_id": item,
        "sql": "SELECT sum(tokens) FROM events",
    });
    let metric = client.create_metric(None, &from_value(metric)?).await?;
    assert_eq!(metric.status, types::MetricStatus::Active);
    let price = |model: &str, config: Value| {
        let mut price = json!({
            "name": "Tokens", "item_id": item, "billable_metric_id": metric.id, "currency": "USD",
            "cadence": "monthly", "model_type": model,
        });
        price[format!("{model}_config")] = config;
        price
    };
    let unit = price("unit", json!({"unit_amount": "0.50"}));
    let types::Price::UnitPrice(unit) =
        client.create_price(None, &from_value(unit)?).await?.into_inner()
    else {
        return Err("expected a price of the model unit".into());
    };
    assert_eq!(
        (unit.cadence, unit.price_type),
        (types::Cadence::Monthly, types::PriceType::UsagePrice)
    );
    assert!(unit.discount.is_none());
    let bulk = json!({"tiers": [
        {"maximum_units": 10, "unit_amount": "2"}, {"maximum_units": null, "unit_amount": "1"},
    ]});
    let plan =
        json!({"name": "Pro", "currency": "USD", "prices": [{"price": price("bulk", bulk)}]});
    let plan = client.create_plan(None, &from_value(plan)?).await?;
    assert_eq!(plan.trial_config.trial_period_unit, types::TrialUnit::Days);
    let Some(types::Price::BulkPrice(bulk)) = plan.prices.first() else {
        return Err("expected a price of the model bulk".into());
    };
    assert_eq!(bulk.bulk_config.tiers.len(), 2);
    Ok(())
}

/// An entry is told by its type, and a block says its status and its source.
async fn credits(client: &Client) -> Outcome {
    let customer = json!({
        "name": "Acme", "email": "a@example.com",
        "tax_id": {"country": "DE", "type": "eu_vat", "value": "DE123"},
    });
    let customer = client.create_customer(None, &from_value(customer)?).await?.into_inner();
    assert_eq!(customer.tax_id.map(|id| id.type_), Some(types::TaxIdType::EuVat));
    let entry = from_value(json!({"entry_type": "increment", "amount": 10}))?;
    let entry = client.create_ledger_entry(&customer.id.parse()?, None, &entry).await?;
    let types::LedgerEntry::IncrementLedgerEntry(entry) = entry.into_inner() else {
        return Err("expected an increment".into());
    };
    assert_eq!(entry.ending_balance, 10.0);
    let block = client.fetch_credit_block(&entry.credit_block.id.parse()?).await?;
    assert_eq!(block.status, types::CreditBlockStatus::Active);
    assert_eq!(block.credit_block_source, types::CreditBlockSource::Manual);
    Ok(())
}

/// An error is one of the API.
async fn errors(client: &Client) -> Outcome {
    match client.fetch_item(&"nothing".parse()?).await {
        Err(Failure::ErrorResponse(problem)) => {
            assert_eq!(
                (problem.status(), problem.into_inner().status),
                (StatusCode::NOT_FOUND, 404)
            );
            Ok(())
        }
        other => Err(format!("expected that nothing is found, found {other:?}").into()),
    }
}
