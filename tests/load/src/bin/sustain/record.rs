use std::collections::BTreeMap;

use accrue_load_tests::{Answer, Client, Latencies, Request};
use tokio::time::Instant;

/// How long answers took, by what was asked, and what failed.
#[derive(Debug, Default)]
pub(crate) struct Record {
    latencies: BTreeMap<&'static str, Latencies>,
    failures: BTreeMap<String, u64>,
}

impl Record {
    /// Sends a request, and returns its answer where it is a success.
    pub(crate) async fn send(&mut self, client: &mut Client, request: &Request) -> Option<Answer> {
        let label = request.label;
        let start = Instant::now();
        let answer = client.send(request).await;
        self.latencies.entry(label).or_default().add(start.elapsed());
        let failure = match answer {
            Ok(answer) if answer.is_success() => return Some(answer),
            Ok(answer) => {
                let body = String::from_utf8_lossy(&answer.body).into_owned();
                format!("{label}: {} {body}", answer.status)
            }
            Err(error) => format!("{label}: {error}"),
        };
        *self.failures.entry(failure).or_default() += 1;
        None
    }

    /// Adds what another client saw.
    pub(crate) fn extend(&mut self, other: Self) {
        for (label, latencies) in other.latencies {
            self.latencies.entry(label).or_default().extend(latencies);
        }
        for (failure, count) in other.failures {
            *self.failures.entry(failure).or_default() += count;
        }
    }

    /// Returns the latencies of each operation.
    pub(crate) const fn latencies(&self) -> &BTreeMap<&'static str, Latencies> {
        &self.latencies
    }

    /// Returns what failed, and how often.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&String, &u64)> {
        self.failures.iter()
    }
}
