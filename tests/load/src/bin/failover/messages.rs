//! The messages of alerts: what servers list, and what they deliver.

use std::{
    collections::{BTreeMap, HashSet},
    net::SocketAddr,
    time::Duration,
};

use accrue_load_tests::{Client, Outcome, Request, id, pause, rows};
use accrue_tests::receiver::Receiver;
use serde_json::{Value, json};
use tokio::time::Instant;

/// The only messages that are sent.
const TYPE: &str = "subscription.usage_exceeded";

/// How long what is to be there is waited for: longer than an endpoint stays with a server that does not say what became of it.
const PATIENCE: Duration = Duration::from_secs(120);
const AGAIN: Duration = Duration::from_millis(100);

/// All messages that were seen.
pub(crate) struct Messages {
    server: SocketAddr,
    receiver: Receiver,
    /// What each told: of which subscription, and the threshold.
    listed: BTreeMap<String, (String, u64)>,
    /// The bodies that arrived, by the ids of their messages.
    arrived: BTreeMap<String, String>,
    again: usize,
}

impl Messages {
    /// Lets servers send messages to this process.
    pub(crate) async fn begin(server: SocketAddr) -> Outcome<Self> {
        let receiver = Receiver::listen()?;
        let new = json!({"url": receiver.url(), "enabled_event_types": [TYPE]}).to_string();
        Client::new(server).ask(&Request::post("endpoint", "/webhook_endpoints", new)).await?;
        let (listed, arrived) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { server, receiver, listed, arrived, again: 0 })
    }

    /// Reads what is listed until there are so many of these subscriptions, or none comes any more.
    pub(crate) async fn wait_for<'a>(
        &mut self,
        subscriptions: impl Iterator<Item = &'a str>,
        count: usize,
    ) -> Outcome<()> {
        let (of, begun) = (subscriptions.collect::<HashSet<_>>(), Instant::now());
        loop {
            self.read().await?;
            let found = self.listed.values().filter(|(told, _)| of.contains(told.as_str()));
            if found.count() >= count || begun.elapsed() > PATIENCE {
                return Ok(());
            }
            pause(AGAIN).await;
        }
    }

    /// Returns the thresholds that were told of a subscription, in order.
    pub(crate) fn of(&self, subscription: &str) -> Vec<u64> {
        let told = self.listed.values().filter(|(of, _)| of == subscription);
        let mut told: Vec<_> = told.map(|(_, threshold)| *threshold).collect();
        told.sort_unstable();
        told
    }

    /// Waits until every message has arrived, and returns how many there are and how often one came again.
    pub(crate) async fn delivered(&mut self) -> Outcome<[usize; 2]> {
        let begun = Instant::now();
        self.read().await?;
        loop {
            self.receive()?;
            let missing = self.listed.keys().find(|id| !self.arrived.contains_key(*id));
            match missing {
                None => return Ok([self.listed.len(), self.again]),
                Some(id) if begun.elapsed() > PATIENCE => {
                    return Err(format!("the message {id} does not arrive").into());
                }
                Some(_) => pause(AGAIN).await,
            }
        }
    }

    fn receive(&mut self) -> Outcome<()> {
        for received in self.receiver.all() {
            let body: Value = serde_json::from_str(&received.body)?;
            match self.arrived.insert(id(&body)?, received.body.clone()) {
                None => {}
                Some(before) if before == received.body => self.again += 1,
                Some(before) => {
                    return Err(format!("{before} came, and then {}", received.body).into());
                }
            }
        }
        Ok(())
    }

    /// Reads what is listed, newest first, as far as it is new.
    async fn read(&mut self) -> Outcome<()> {
        // A server closes a connection that nothing came over for long.
        let mut client = Client::new(self.server);
        let mut path = format!("/webhook_events?event_type={TYPE}&limit=100");
        loop {
            let page = client.ask(&Request::get("messages", path)).await?;
            let mut is_new = false;
            for message in rows(&page)? {
                let told = told(message).ok_or_else(|| format!("another shape: {message}"))?;
                is_new |= self.listed.insert(id(message)?, told).is_none();
            }
            let cursor = page.pointer("/pagination_metadata/next_cursor").and_then(Value::as_str);
            let Some(cursor) = cursor.filter(|_| is_new) else { return Ok(()) };
            path = format!("/webhook_events?event_type={TYPE}&limit=100&cursor={cursor}");
        }
    }
}

/// Returns which subscription a message is of, and the threshold that was reached.
fn told(message: &Value) -> Option<(String, u64)> {
    let subscription = message.pointer("/payload/subscription/id")?.as_str()?;
    let threshold = message.pointer("/payload/properties/quantity_threshold")?;
    let text = threshold.as_str().map_or_else(|| threshold.to_string(), str::to_owned);
    Some((subscription.to_owned(), text.parse().ok()?))
}
