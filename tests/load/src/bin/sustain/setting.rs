//! The customers, what they are subscribed to, and who is told of it.

use std::{net::SocketAddr, time::Duration};

use accrue::Timestamp;
use accrue_load_tests::{
    Catalogue, Client, Outcome, Request, before_now, id, new_customer, new_subscription,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::record::Record;

/// Who there is.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The subscription of each customer, by the customer's number.
    pub(crate) subscriptions: Vec<String>,
    /// From when on everything is.
    pub(crate) start: Timestamp,
}

/// Returns the alias of a customer.
pub(crate) fn customer(nth: usize) -> String {
    format!("customer-{nth}")
}

impl Setting {
    /// Creates so many customers over so many connections, and records how that went.
    pub(crate) async fn create(
        address: SocketAddr,
        customers: usize,
        connections: usize,
    ) -> Outcome<(Self, Record)> {
        let mut client = Client::new(address);
        let catalogue = Catalogue::create(&mut client).await?;
        let thresholds: Vec<_> = (1..=20).map(|nth| json!({"value": nth * 10})).collect();
        let usage = json!({
            "type": "usage_exceeded", "metric_id": catalogue.tokens, "thresholds": thresholds,
        });
        let cost = json!({"type": "cost_exceeded", "thresholds": thresholds});
        let path = format!("/alerts/plan_id/{}", catalogue.plan);
        for alert in [usage, cost] {
            client.ask(&Request::post("alert", path.clone(), alert.to_string())).await?;
        }
        let start = before_now(Duration::from_secs(60 * 60));
        let mut creating = JoinSet::new();
        for connection in 0..connections {
            let own: Vec<_> = (connection..customers).step_by(connections).collect();
            creating.spawn(create(address, own, start));
        }
        let (mut subscriptions, mut record) = (vec![String::new(); customers], Record::default());
        while let Some(created) = creating.join_next().await {
            let (own, recorded) = created??;
            record.extend(recorded);
            for (nth, subscription) in own {
                if let Some(place) = subscriptions.get_mut(nth) {
                    *place = subscription;
                }
            }
        }
        Ok((Self { subscriptions, start }, record))
    }

    /// Counts all events, page by page: one ends early where it has many rows.
    pub(crate) async fn count_events(&self, client: &mut Client) -> Outcome<u64> {
        let start = self.start.to_string().replace('+', "%2B");
        let first = format!("/events/volume?limit=100&timeframe_start={start}");
        let (mut count, mut next) = (0_u64, Some(first.clone()));
        while let Some(path) = next {
            let page = client.ask(&Request::get("volume", path)).await?;
            let hours = page.get("data").and_then(Value::as_array).into_iter().flatten();
            count += hours.filter_map(|hour| hour.get("count")?.as_u64()).sum::<u64>();
            let cursor = page.pointer("/pagination_metadata/next_cursor").and_then(Value::as_str);
            next = cursor.map(|cursor| format!("{first}&cursor={cursor}"));
        }
        Ok(count)
    }
}

/// Creates customers and their subscriptions, one after another.
async fn create(
    address: SocketAddr,
    customers: Vec<usize>,
    start: Timestamp,
) -> Outcome<(Vec<(usize, String)>, Record)> {
    let mut client = Client::new(address);
    let (mut created, mut record) = (Vec::new(), Record::default());
    for nth in customers {
        let name = customer(nth);
        let new = new_customer(&name).keyed(format!("new-{nth}"));
        record.send(&mut client, &new).await;
        let new = new_subscription(&name, Catalogue::PLAN, start).keyed(format!("subscribe-{nth}"));
        let answer = record.send(&mut client, &new).await;
        let answer = answer.ok_or_else(|| format!("{name}: {:?}", record.failures().next()))?;
        created.push((nth, id(&answer.json()?)?));
    }
    Ok((created, record))
}
