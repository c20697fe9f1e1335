//! The rounds: load, the end of the primary, its standby in its place, and what is there then.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use accrue::Timestamp;
use accrue_crash_tests::Dice;
use accrue_load_tests::{
    Asked, Catalogue, Client, Expected, Launch, Outcome, Server, Worker, before_now, pause,
};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

use crate::{
    Options,
    caller::Caller,
    figures::{Figures, seconds},
    judge,
    messages::Messages,
    pair::{Alone, Death, Pair},
    progress::Progress,
    setting::Setting,
};

/// How long there is load at most before the primary ends.
const LOAD: Duration = Duration::from_secs(2);
/// So many answers come after the failover before a round ends, and while a standby is cut off.
const ANSWERS: usize = 100;
/// How long these may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Servers on a database that fails over.
pub(crate) struct Trial {
    /// They are killed when this is dropped, before their database ends.
    _servers: Vec<Server>,
    pair: Pair,
    addresses: Vec<SocketAddr>,
    catalogue: Catalogue,
    start: Timestamp,
    callers: usize,
    /// What the primary of now does once it has no standby.
    alone: Alone,
    dice: Dice,
    messages: Messages,
    past: Vec<(Setting, Vec<Asked>)>,
    /// How many events there are.
    events: usize,
    figures: Figures,
}

/// Callers that ask.
struct Load {
    progress: Arc<Progress>,
    workers: JoinSet<Outcome<Vec<Asked>>>,
}

impl Trial {
    /// Starts the servers.
    pub(crate) async fn begin(
        launch: &mut Launch,
        pair: Pair,
        options: &Options,
        seed: u64,
    ) -> Outcome<Self> {
        let mut servers = Vec::new();
        for _ in 0..options.servers.max(1) {
            servers.push(launch.start().await?);
        }
        let addresses: Vec<_> = servers.iter().map(Server::address).collect();
        let first = *addresses.first().ok_or("there is no server")?;
        let catalogue = Catalogue::create(&mut Client::new(first)).await?;
        let messages = Messages::begin(first).await?;
        timeout(PATIENCE, pair.join()).await?;
        Ok(Self {
            _servers: servers,
            pair,
            addresses,
            catalogue,
            start: before_now(Duration::from_secs(24 * 60 * 60)),
            callers: options.callers.max(1),
            alone: Alone::Answers,
            dice: Dice::new(seed),
            messages,
            past: Vec::new(),
            events: 0,
            figures: Figures::default(),
        })
    }

    pub(crate) const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Writes what the servers of PostgreSQL have logged to a folder.
    pub(crate) fn keep_logs(&self, folder: &Path) -> Outcome<()> {
        self.pair.keep_logs(folder)
    }

    /// Fails over so often, each time to a standby that has all that was answered, and looks at everything again in
    /// the end.
    pub(crate) async fn run(&mut self, rounds: usize) -> Outcome<()> {
        for _ in 0..rounds {
            let setting = self.setting().await?;
            let load = self.load(&setting);
            pause(self.moment(LOAD)).await;
            self.fail_over(&load.progress).await?;
            let asked = self.stop(load).await?;
            self.judge(&setting, &asked).await?;
            self.past.push((setting, asked));
            if !self.figures.is_whole() {
                return Ok(());
            }
        }
        self.figures.messages = self.messages.delivered().await?;
        for (setting, asked) in std::mem::take(&mut self.past) {
            let found = &mut self.figures.found;
            found.add(judge::replays(&self.addresses, &asked).await?);
            found.add(judge::figures(&self.addresses, &setting, &asked).await?);
            found.add(judge::alerts(&mut self.messages, &setting, &asked).await?);
        }
        Ok(())
    }

    /// Fails over so often, each time to a standby that has been cut off, until something is lost.
    pub(crate) async fn run_behind(&mut self, rounds: usize) -> Outcome<()> {
        for _ in 0..rounds {
            let setting = self.setting().await?;
            timeout(PATIENCE, self.pair.join()).await?;
            let load = self.load(&setting);
            pause(self.moment(LOAD)).await;
            timeout(PATIENCE, self.pair.cut()).await?;
            timeout(PATIENCE, load.progress.more(ANSWERS)).await?;
            self.pair.end(Death::Killed);
            self.pair.promote();
            let asked = self.stop(load).await?;
            let first = self.address()?;
            self.figures.found.add(judge::effects(first, &asked).await?);
            if self.figures.has_lost() {
                return Ok(());
            }
            timeout(PATIENCE, self.pair.rebuild(Alone::Answers)).await?;
        }
        Ok(())
    }

    async fn setting(&self) -> Outcome<Setting> {
        let (name, few) = (format!("round-{}", self.figures.rounds), self.callers.div_ceil(2));
        Setting::create(self.address()?, &self.catalogue, &name, few + 1, self.start).await
    }

    /// Lets callers ask, each at first another server.
    fn load(&mut self, setting: &Setting) -> Load {
        let (progress, mut workers) = (Arc::new(Progress::default()), JoinSet::new());
        for caller in 0..self.callers {
            let mut addresses = self.addresses.clone();
            addresses.rotate_left(caller % self.addresses.len());
            let ask = Caller::new(&addresses, self.dice.next(), Arc::clone(&progress));
            let name = format!("{}-{caller}", self.figures.rounds);
            let customers = setting.of_caller(caller);
            workers.spawn(Worker::new(ask, name, customers, self.dice.next()).run());
        }
        Load { progress, workers }
    }

    /// Ends the primary under load, promotes its standby, and gives that a standby.
    async fn fail_over(&mut self, progress: &Progress) -> Outcome<()> {
        let next = if self.dice.below(2) == 0 { Alone::Waits } else { Alone::Answers };
        let death = if self.dice.below(2) == 0 { Death::Immediate } else { Death::Killed };
        let ended = Instant::now();
        self.pair.end(death);
        progress.mark();
        self.pair.promote();
        let promotion = ended.elapsed();
        timeout(PATIENCE, self.pair.rebuild(next)).await?;
        let outage = timeout(PATIENCE, progress.first()).await? - ended;
        timeout(PATIENCE, progress.more(ANSWERS)).await?;
        let round = self.figures.rounds + 1;
        let [writes, answers] = [promotion, outage].map(seconds);
        println!(
            "{round}: {death}, writes after {writes}, answers after {answers}, {}",
            self.alone
        );
        self.figures.promotions.add(promotion);
        let [waiting, answering] = &mut self.figures.outages;
        let outages = if self.alone == Alone::Waits { waiting } else { answering };
        outages.add(outage);
        self.alone = next;
        Ok(())
    }

    /// Waits until all that was asked is answered.
    async fn stop(&mut self, mut load: Load) -> Outcome<Vec<Asked>> {
        load.progress.end();
        let mut all = Vec::new();
        while let Some(asked) = load.workers.join_next().await {
            all.extend(asked??);
        }
        self.figures.rounds += 1;
        self.figures.count(&all);
        for (what, count) in load.progress.doubts() {
            *self.figures.doubts.entry(what).or_default() += count;
        }
        Ok(all)
    }

    /// Looks at everything of a round before anything is asked again, and at its figures once more after that.
    async fn judge(&mut self, setting: &Setting, asked: &[Asked]) -> Outcome<()> {
        let first = self.address()?;
        let found = &mut self.figures.found;
        found.add(judge::effects(first, asked).await?);
        self.events += Expected::of(asked).events.len();
        found.add(judge::counts(first, self.start, self.events).await?);
        found.add(judge::figures(&self.addresses, setting, asked).await?);
        found.add(judge::alerts(&mut self.messages, setting, asked).await?);
        found.add(judge::replays(&self.addresses, asked).await?);
        found.add(judge::figures(&self.addresses, setting, asked).await?);
        Ok(())
    }

    fn address(&self) -> Outcome<SocketAddr> {
        Ok(*self.addresses.first().ok_or("there is no server")?)
    }

    /// Draws a moment.
    fn moment(&mut self, within: Duration) -> Duration {
        within * u32::try_from(self.dice.below(1_000)).unwrap_or(0) / 1_000
    }
}
