//! A store, and the servers that work on it until each is killed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use accrue::Timestamp;
use accrue_crash_tests::Dice;
use accrue_load_tests::{
    Asked, Catalogue, Client, Expected, Launch, Outcome, Server, Verdict, Worker, before_now, fill,
    pause,
};
use tokio::{task::JoinSet, time::Instant};

use crate::{Options, caller::Caller, figures::Figures};

/// Who has the events that are there from the beginning.
const HISTORY: &str = "history";

/// A store, and all that was asked of its servers.
pub(crate) struct Life {
    launch: Launch,
    /// Who uses something, with their subscriptions.
    customers: Vec<(String, String)>,
    /// From when on everything is.
    start: Timestamp,
    stored: usize,
    connections: usize,
    servers: usize,
    /// How long servers are under load at most before one is killed.
    load: Duration,
    /// How long a server takes to open the store.
    opening: Duration,
    dice: Dice,
    asked: Vec<Asked>,
    figures: Figures,
}

impl Life {
    /// Fills a store, and measures how long opening it takes.
    pub(crate) async fn begin(mut launch: Launch, options: &Options) -> Outcome<Self> {
        let server = launch.start().await?;
        let mut client = Client::new(server.address());
        let catalogue = Catalogue::create(&mut client).await?;
        let start = before_now(Duration::from_secs(24 * 60 * 60));
        let mut customers = Vec::new();
        for nth in 0..options.connections.max(1) {
            let name = format!("customer-{nth}");
            let plan = Catalogue::PLAN;
            let subscription = catalogue.subscribe(&mut client, &name, plan, start).await?;
            customers.push((name, subscription));
        }
        fill(&mut client, HISTORY, options.stored).await?;
        server.kill().await?;
        let begun = Instant::now();
        launch.start().await?.kill().await?;
        Ok(Self {
            launch,
            customers,
            start,
            stored: options.stored,
            connections: options.connections,
            servers: options.servers,
            load: Duration::from_millis(options.load),
            opening: begun.elapsed(),
            dice: Dice::new(options.seed),
            asked: Vec::new(),
            figures: Figures::default(),
        })
    }

    /// Kills so many servers, and judges what each leaves.
    pub(crate) async fn run(mut self, kills: usize) -> Outcome<Figures> {
        let mut servers = Vec::new();
        for _ in 0..self.servers {
            servers.push(self.launch.start().await?);
        }
        while self.figures.kills < kills {
            let since = self.asked.len();
            self.work_until_killed(&mut servers).await?;
            if self.figures.kills < kills {
                self.kill_while_opening().await?;
            }
            servers.push(self.launch.start().await?);
            // Where there are several, one that was there before answers for what was killed.
            let server = servers.first().ok_or("there is no server")?;
            self.apply_transitions(server, since).await?;
            self.judge(server, since).await?;
            if self.figures.lost + self.figures.doubled > 0 {
                return Ok(self.figures);
            }
        }
        for server in &servers {
            self.judge(server, 0).await?;
        }
        Ok(self.figures)
    }

    /// Lets all servers work, and kills one of them.
    async fn work_until_killed(&mut self, servers: &mut Vec<Server>) -> Outcome<()> {
        let customers: Vec<_> = self.customers.iter().map(|(name, _)| name.clone()).collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let mut workers = JoinSet::new();
        for (connection, server) in (0..self.connections).zip(servers.iter().cycle()) {
            let name = format!("{}-{connection}", self.figures.kills);
            let caller = Caller::new(server.address(), Arc::clone(&is_over));
            workers.spawn(Worker::new(caller, name, customers.clone(), self.dice.next()).run());
        }
        pause(self.moment(self.load)?).await;
        servers.remove(self.dice.below(servers.len())).kill().await?;
        is_over.store(true, Ordering::SeqCst);
        self.figures.kills += 1;
        while let Some(asked) = workers.join_next().await {
            self.asked.extend(asked??);
        }
        Ok(())
    }

    async fn kill_while_opening(&mut self) -> Outcome<()> {
        let starting = self.launch.begin()?;
        pause(self.moment(self.opening)?).await;
        self.figures.opening += usize::from(starting.kill().await?);
        self.figures.kills += 1;
        Ok(())
    }

    /// Draws a moment.
    fn moment(&mut self, within: Duration) -> Outcome<Duration> {
        let micros = usize::try_from(within.as_micros())?;
        Ok(Duration::from_micros(u64::try_from(self.dice.below(micros.max(1)))?))
    }

    /// Sends again what is in doubt, under the same keys.
    async fn apply_transitions(&mut self, server: &Server, since: usize) -> Outcome<()> {
        let mut client = Client::new(server.address());
        for asked in self.asked.iter_mut().skip(since) {
            if asked.answer.is_some() {
                self.figures.acknowledged += 1;
                continue;
            }
            let answer = client.send(&asked.request).await?;
            self.figures.in_doubt += 1;
            if !answer.is_success() {
                eprintln!("{}: {answer:?}", asked.request.path);
                self.figures.lost += 1;
                continue;
            }
            self.figures.done += usize::from(answer.is_replayed);
            asked.answer = Some(answer);
        }
        Ok(())
    }

    /// Compares what is there with what was asked from this number on.
    async fn judge(&mut self, server: &Server, since: usize) -> Outcome<()> {
        let mut verdict = Verdict::new(server.address());
        let asked = self.asked.get(since..).unwrap_or_default();
        for asked in asked {
            verdict.replays(asked).await?;
        }
        let recent = Expected::of(asked);
        verdict.has_events(&recent).await?;
        verdict.has_customers(&recent).await?;
        let all = Expected::of(&self.asked);
        verdict.counts(self.start, all.events.len() + self.stored).await?;
        for (customer, subscription) in &self.customers {
            let tokens = all.tokens.get(customer).copied().unwrap_or(0);
            verdict.uses(subscription, self.start, tokens).await?;
        }
        self.figures.replays += verdict.replays;
        self.figures.lost += verdict.lost;
        self.figures.doubled += verdict.doubled;
        Ok(())
    }
}
