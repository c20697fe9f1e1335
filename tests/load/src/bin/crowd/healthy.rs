//! Pings and small keyed ingests at a steady pace.

use std::{collections::BTreeMap, io, net::SocketAddr, thread, time::Duration};

use accrue_load_tests::{Client, Latencies, Request, before_now, event, ingest};
use serde_json::json;
use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{Instant, interval_at, timeout_at},
};

/// The customer whose events are ingested.
pub(crate) const CUSTOMER: &str = "healthy";

/// The connections of each kind of request: one that is held up holds up what it was to send.
const CONNECTIONS: u32 = 4;

/// How long after the end an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a healthy client saw.
#[derive(Debug, Default)]
pub(crate) struct Healthy {
    pub(crate) pings: Latencies,
    pub(crate) ingests: Latencies,
    /// How often there was no success, by what there was.
    pub(crate) failed: BTreeMap<String, u64>,
}

/// Begins to send until an instant, from a thread of its own: whoever is busy with expensive requests
/// is no part of what is measured.
pub(crate) fn begin(
    address: SocketAddr,
    rate: u32,
    end: Instant,
) -> oneshot::Receiver<io::Result<Healthy>> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let healthy = runtime.map(|runtime| runtime.block_on(send(address, rate, end)));
        drop(sender.send(healthy));
    });
    receiver
}

async fn send(address: SocketAddr, rate: u32, end: Instant) -> Healthy {
    let mut connections = JoinSet::new();
    for connection in 0..CONNECTIONS {
        let start = Instant::now() + Duration::from_secs(1) / rate * connection;
        let pace = Duration::from_secs(1) * CONNECTIONS / rate;
        connections.spawn(paced(address, start, pace, end, |_| Request::get("ping", "/ping")));
        connections.spawn(paced(address, start, pace, end, move |nth| keyed(connection, nth)));
    }
    connections.join_all().await.into_iter().fold(Healthy::default(), Healthy::and)
}

fn keyed(connection: u32, nth: usize) -> Request {
    let key = format!("healthy-{connection}-{nth}");
    let event = event(&key, CUSTOMER, before_now(Duration::ZERO), &json!({"tokens": 1, "n": 0}));
    ingest("ingest", &[event]).keyed(key)
}

/// Sends requests at a pace, each when it is its turn, or as soon as the one before is answered.
async fn paced(
    address: SocketAddr,
    start: Instant,
    pace: Duration,
    end: Instant,
    make: impl Fn(usize) -> Request,
) -> Healthy {
    let mut client = Client::new(address);
    let mut healthy = Healthy::default();
    let mut turns = interval_at(start, pace);
    for nth in 0.. {
        let turn = turns.tick().await;
        if turn >= end {
            break;
        }
        let request = make(nth);
        let failure = match timeout_at(end + PATIENCE, client.send(&request)).await {
            Ok(Ok(answer)) if answer.is_success() => None,
            Ok(Ok(answer)) => Some(answer.status.to_string()),
            Ok(Err(error)) => Some(error.kind().to_string()),
            Err(_) => Some("no answer".to_owned()),
        };
        let latencies =
            if request.method == "GET" { &mut healthy.pings } else { &mut healthy.ingests };
        latencies.add(turn.elapsed());
        if let Some(failure) = failure {
            *healthy.failed.entry(failure).or_default() += 1;
        }
    }
    healthy
}

impl Healthy {
    fn and(mut self, other: Self) -> Self {
        self.pings.extend(other.pings);
        self.ingests.extend(other.ingests);
        for (failure, count) in other.failed {
            *self.failed.entry(failure).or_default() += count;
        }
        self
    }
}
