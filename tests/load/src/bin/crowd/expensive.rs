//! Connections that send expensive requests in a loop.

use std::{collections::BTreeMap, net::SocketAddr};

use accrue_load_tests::{Client, Latencies, Outcome};
use tokio::{task::JoinSet, time::Instant};

use crate::kinds::Attack;

/// What expensive requests were answered, by what they are.
pub(crate) type Expensive = BTreeMap<&'static str, Answers>;

/// Answers to requests of one kind.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) latencies: Latencies,
    /// How often each status came, or no answer.
    pub(crate) statuses: BTreeMap<String, u64>,
}

/// Sends until an instant, and then waits for what is under way.
pub(crate) async fn send(
    address: SocketAddr,
    attacks: Vec<Attack>,
    end: Instant,
) -> Outcome<Expensive> {
    let mut connections = JoinSet::new();
    for attack in attacks {
        connections.spawn(repeat(address, attack, end));
    }
    let mut all = Expensive::new();
    while let Some(one) = connections.join_next().await {
        for (label, answers) in one? {
            let of = all.entry(label).or_default();
            of.latencies.extend(answers.latencies);
            for (status, count) in answers.statuses {
                *of.statuses.entry(status).or_default() += count;
            }
        }
    }
    Ok(all)
}

async fn repeat(address: SocketAddr, mut attack: Attack, end: Instant) -> Expensive {
    let mut client = Client::new(address);
    let mut expensive = Expensive::new();
    let mut before = None;
    while Instant::now() < end {
        let request = attack(before.as_ref());
        let start = Instant::now();
        let answer = client.send(&request).await;
        let answers = expensive.entry(request.label).or_default();
        answers.latencies.add(start.elapsed());
        let status = match &answer {
            Ok(answer) => answer.status.to_string(),
            Err(error) => error.kind().to_string(),
        };
        *answers.statuses.entry(status).or_default() += 1;
        before = answer.ok();
    }
    expensive
}
