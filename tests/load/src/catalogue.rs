use std::time::Duration;

use accrue::Timestamp;
use serde_json::{Value, json};

use crate::{Client, Outcome, Request, before_now};

/// What is measured in an account, and what it costs: by the ids of what there is.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// The item that everything belongs to.
    pub item: String,
    /// The sum of the tokens.
    pub tokens: String,
    /// What a token costs.
    pub price: String,
    /// The plan: what tokens cost, and a monthly fee.
    pub plan: String,
}

impl Catalogue {
    /// The alias of the plan.
    pub const PLAN: &str = "pro";

    /// Creates it in an account that is empty.
    ///
    /// # Errors
    ///
    /// Where something is refused.
    pub async fn create(client: &mut Client) -> Outcome<Self> {
        let new = Request::post("item", "/items", json!({"name": "Model"}).to_string());
        let item = id(&client.ask(&new).await?)?;
        let new = metric("Tokens", &item, "SELECT sum(tokens) FROM events");
        let tokens = id(&client.ask(&new).await?)?;
        let price = json!({
            "name": "Tokens", "item_id": item, "billable_metric_id": tokens, "cadence": "monthly",
            "model_type": "unit", "unit_config": {"unit_amount": "0.5"}, "currency": "USD",
        });
        let fee = json!({
            "name": "Fee", "item_id": item, "cadence": "monthly", "model_type": "unit",
            "unit_config": {"unit_amount": "20"}, "fixed_price_quantity": 1, "currency": "USD",
        });
        let plan = id(&client.ask(&plan(Self::PLAN, &[price.clone(), fee])).await?)?;
        let new = Request::post("price", "/prices", price.to_string());
        let price = id(&client.ask(&new).await?)?;
        Ok(Self { item, tokens, price, plan })
    }

    /// Creates a customer that is subscribed to a plan and has an alert on its tokens, and returns
    /// the id of the subscription.
    ///
    /// # Errors
    ///
    /// Where something is refused.
    pub async fn subscribe(
        &self,
        client: &mut Client,
        customer: &str,
        plan: &str,
        start: Timestamp,
    ) -> Outcome<String> {
        client.ask(&new_customer(customer)).await?;
        let subscription = id(&client.ask(&new_subscription(customer, plan, start)).await?)?;
        let thresholds: Vec<_> = (1..=10).map(|nth| json!({"value": nth * 1_000})).collect();
        let alert = json!({
            "type": "usage_exceeded", "metric_id": self.tokens, "thresholds": thresholds,
        });
        let path = format!("/alerts/subscription_id/{subscription}");
        client.ask(&Request::post("alert", path, alert.to_string())).await?;
        Ok(subscription)
    }
}

/// Returns the id of what was answered.
///
/// # Errors
///
/// Where it has none.
pub fn id(answer: &Value) -> Outcome<String> {
    let id = answer.get("id").and_then(Value::as_str);
    Ok(id.ok_or_else(|| format!("an answer without an id: {answer}"))?.to_owned())
}

/// Asks for a metric.
#[must_use]
pub fn metric(name: &str, item: &str, sql: &str) -> Request {
    let new = json!({"name": name, "description": null, "item_id": item, "sql": sql});
    Request::post("metric", "/metrics", new.to_string())
}

/// Asks for a plan with prices, which is known by its name.
#[must_use]
pub fn plan(name: &str, prices: &[Value]) -> Request {
    let prices: Vec<_> = prices.iter().map(|price| json!({"price": price})).collect();
    let new = json!({"name": name, "currency": "USD", "external_plan_id": name, "prices": prices});
    Request::post("plan", "/plans", new.to_string())
}

/// Asks for a customer, who is known by its name.
#[must_use]
pub fn new_customer(name: &str) -> Request {
    let new = json!({"name": name, "email": "a@example.com", "external_customer_id": name});
    Request::post("customer", "/customers", new.to_string())
}

/// Asks for a subscription of a customer to a plan from an instant on.
#[must_use]
pub fn new_subscription(customer: &str, plan: &str, start: Timestamp) -> Request {
    let new = json!({
        "external_customer_id": customer, "external_plan_id": plan,
        "start_date": start.to_string(),
    });
    Request::post("subscription", "/subscriptions", new.to_string())
}

/// An event of a customer.
#[must_use]
pub fn event(key: &str, customer: &str, at: Timestamp, properties: &Value) -> Value {
    json!({
        "idempotency_key": key, "event_name": "completion", "timestamp": at.to_string(),
        "external_customer_id": customer, "properties": properties,
    })
}

/// Asks to ingest events.
#[must_use]
pub fn ingest(label: &'static str, events: &[Value]) -> Request {
    Request::post(label, "/ingest", json!({"events": events}).to_string())
}

/// Ingests a history of events of a customer, which are spread over some hours before now. The key of
/// each is that of the customer and its number.
///
/// # Errors
///
/// Where something is refused.
pub async fn fill(client: &mut Client, customer: &str, count: usize) -> Outcome<()> {
    const BATCH: usize = 1_000;
    const SPREAD_SECONDS: u64 = 20 * 60 * 60;

    for first in (0..count).step_by(BATCH) {
        let events = (first..count.min(first + BATCH)).map(|nth| {
            let ago =
                Duration::from_secs(60 + u64::try_from(nth).unwrap_or(0) * 7 % SPREAD_SECONDS);
            let properties =
                json!({"tokens": nth % 10, "n": 0, "model": format!("model-{}", nth % 100)});
            event(&format!("{customer}-{nth}"), customer, before_now(ago), &properties)
        });
        client.ask(&ingest("history", &events.collect::<Vec<_>>())).await?;
    }
    Ok(())
}
