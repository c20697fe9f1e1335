//! What the servers say of all that was asked.

use std::net::SocketAddr;

use accrue::Timestamp;
use accrue_load_tests::{Answer, Asked, Expected, Outcome, Verdict};
use tokio::task::JoinSet;

use crate::{
    messages::Messages,
    setting::{STEP, Setting, THRESHOLDS},
};

/// How many ask again at once.
const CLIENTS: usize = 8;

/// What was found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) replays: usize,
    pub(crate) lost: usize,
    pub(crate) doubled: usize,
}

impl Found {
    pub(crate) fn add(&mut self, other: Self) {
        self.replays += other.replays;
        self.lost += other.lost;
        self.doubled += other.doubled;
    }

    fn of(verdict: &Verdict) -> Self {
        let Verdict { replays, lost, doubled, .. } = *verdict;
        Self { replays, lost, doubled }
    }
}

/// Looks each effect up by itself, of the requests that were acknowledged.
pub(crate) async fn effects(server: SocketAddr, asked: &[Asked]) -> Outcome<Found> {
    let mut verdict = Verdict::new(server);
    let is_done = |asked: &&Asked| asked.answer.as_ref().is_some_and(Answer::is_success);
    let expected = Expected::of(asked.iter().filter(is_done));
    verdict.has_events(&expected).await?;
    verdict.has_customers(&expected).await?;
    Ok(Found::of(&verdict))
}

/// Compares the figures of a round with those of all requests, at each server.
pub(crate) async fn figures(
    servers: &[SocketAddr],
    setting: &Setting,
    asked: &[Asked],
) -> Outcome<Found> {
    let (mut found, expected) = (Found::default(), Expected::of(asked));
    for server in servers {
        let mut verdict = Verdict::new(*server);
        for (customer, subscription) in &setting.customers {
            let tokens = expected.tokens.get(customer).copied().unwrap_or(0);
            verdict.uses(subscription, setting.start, tokens).await?;
        }
        found.add(Found::of(&verdict));
    }
    Ok(found)
}

/// Counts the events of all rounds.
pub(crate) async fn counts(server: SocketAddr, start: Timestamp, events: usize) -> Outcome<Found> {
    let mut verdict = Verdict::new(server);
    verdict.counts(start, events).await?;
    Ok(Found::of(&verdict))
}

/// Compares the alerts of a round with those that its usage makes fire, once they are told.
pub(crate) async fn alerts(
    messages: &mut Messages,
    setting: &Setting,
    asked: &[Asked],
) -> Outcome<Found> {
    let expected = Expected::of(asked);
    let reached = setting.customers.iter().map(|(customer, subscription)| {
        let tokens = expected.tokens.get(customer).copied().unwrap_or(0);
        let reached = (1..=THRESHOLDS).map(|nth| nth * STEP).take_while(|value| *value <= tokens);
        (subscription, reached.collect::<Vec<_>>())
    });
    let reached: Vec<_> = reached.collect();
    let count = reached.iter().map(|(_, values)| values.len()).sum();
    messages.wait_for(reached.iter().map(|(of, _)| of.as_str()), count).await?;
    let mut found = Found::default();
    for (subscription, reached) in reached {
        let told = messages.of(subscription);
        if told != reached {
            eprintln!("alerts of {subscription}: {told:?}, expected {reached:?}");
            let lost = reached.iter().filter(|value| !told.contains(value)).count();
            found.lost += lost;
            found.doubled += (told.len() + lost).saturating_sub(reached.len());
        }
    }
    Ok(found)
}

/// Asks everything again that was answered, at one server after another.
pub(crate) async fn replays(servers: &[SocketAddr], asked: &[Asked]) -> Outcome<Found> {
    let mut clients = JoinSet::new();
    let apart = asked.len().div_ceil(CLIENTS).max(1);
    for (asked, server) in asked.chunks(apart).zip(servers.iter().cycle()) {
        let (asked, server) = (asked.to_vec(), *server);
        clients.spawn(async move {
            let mut verdict = Verdict::new(server);
            for asked in &asked {
                verdict.replays(asked).await?;
            }
            Outcome::Ok(Found::of(&verdict))
        });
    }
    let mut found = Found::default();
    while let Some(of_client) = clients.join_next().await {
        found.add(of_client??);
    }
    Ok(found)
}
