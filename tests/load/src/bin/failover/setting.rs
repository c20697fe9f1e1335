//! Who uses something in a round, and is watched by an alert.

use std::net::SocketAddr;

use accrue::Timestamp;
use accrue_load_tests::{Catalogue, Client, Outcome, Request, id, new_customer, new_subscription};
use serde_json::json;

/// Thresholds lie so many tokens apart.
pub(crate) const STEP: u64 = 100;
/// An alert has so many.
pub(crate) const THRESHOLDS: u64 = 100;

/// The customers of a round.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// From when on everything is.
    pub(crate) start: Timestamp,
    /// Each with its subscription. The first is everybody's.
    pub(crate) customers: Vec<(String, String)>,
}

impl Setting {
    /// Creates so many.
    pub(crate) async fn create(
        server: SocketAddr,
        catalogue: &Catalogue,
        name: &str,
        count: usize,
        start: Timestamp,
    ) -> Outcome<Self> {
        let mut client = Client::new(server);
        let thresholds: Vec<_> = (1..=THRESHOLDS).map(|nth| json!({"value": nth * STEP})).collect();
        let alert = json!({
            "type": "usage_exceeded", "metric_id": catalogue.tokens, "thresholds": thresholds,
        });
        let mut customers = Vec::new();
        for nth in 0..count {
            let customer = format!("{name}-{nth}");
            client.ask(&new_customer(&customer)).await?;
            let new = new_subscription(&customer, Catalogue::PLAN, start);
            let subscription = id(&client.ask(&new).await?)?;
            let path = format!("/alerts/subscription_id/{subscription}");
            client.ask(&Request::post("alert", path, alert.to_string())).await?;
            customers.push((customer, subscription));
        }
        Ok(Self { start, customers })
    }

    /// The names of those whose usage a caller reports: everybody's, and one that few share.
    pub(crate) fn of_caller(&self, caller: usize) -> Vec<String> {
        let few = self.customers.len().saturating_sub(1).max(1);
        let both = [0, 1 + caller % few];
        both.iter().filter_map(|at| self.customers.get(*at)).map(|(name, _)| name.clone()).collect()
    }
}
