//! Events are lost, and nobody notices for two days. A backfill brings them back, and everything is
//! as if they had never been lost; it is reverted, and everything is as it was.

use std::time::Duration;

use accrue::{
    Account, AccountId, BackfillId, Billing, ManualClock, Timeframe,
    backfill::{Backfill, BackfillStatus, NewBackfill},
};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::{
    Difference, Error, Options, Standing,
    catch_up::catch_up,
    error::Doing as _,
    home::Home,
    reading::Reading,
    replay::{Inbox, Replay},
    setup::Setup,
    trace::Trace,
};

/// Where the customers stood, in order of their numbers, at the same instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackfillReport {
    /// How many events were lost, and came back.
    pub events_ingested: u64,
    /// Before the backfill.
    pub lost: Vec<Standing>,
    /// With it.
    pub reflected: Vec<Standing>,
    /// Once it was reverted.
    pub reverted: Vec<Standing>,
}

/// What was lost, and what went wrong when it came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// From when to when all events were lost.
    pub timeframe: Timeframe,
    /// The figures that were others with the backfill than without the loss.
    pub reflected: Vec<Difference>,
    /// The figures that were others once it was reverted than before it.
    pub reverted: Vec<Difference>,
}

impl Loss {
    /// Says what is wrong, if anything is.
    pub(crate) fn verdict(&self) -> Result<(), Error> {
        let count = self.reflected.len() + self.reverted.len();
        let first = self.reflected.iter().chain(&self.reverted).next().cloned();
        first.map_or(Ok(()), |first| Err(Error::Differs { first: Box::new(first), count }))
    }
}

/// How much later the loss is noticed: too late for events that come without a backfill.
const LATER: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// Replays a trace with a loss, backfills what was lost, and reverts that.
pub(crate) async fn lose_and_backfill(
    options: &Options,
    trace: &Trace,
    home: &Home,
    bar: &ProgressBar,
) -> Result<(BackfillReport, Loss), Error> {
    let timeframe = trace.last_whole_quarter();
    let [kept, missing] = trace.without(timeframe);
    let full = Life::of(trace, &Home::Memory, options, bar, "no loss").await?;
    let full = full.standings().await?;

    let life = Life::of(&kept, home, options, bar, "with a loss").await?;
    let lost = life.standings().await?;
    let new = NewBackfill::new(timeframe);
    let id = life.account.create_backfill(new).await.doing("create the backfill")?.id;
    life.replay(&missing, options, bar).fill(id).await?;
    life.account.close_backfill(id).await.doing("close the backfill")?;
    let backfill = life.reached(id, BackfillStatus::Reflected).await?;
    let reflected = life.standings().await?;

    life.account.revert_backfill(id).await.doing("revert the backfill")?;
    life.reached(id, BackfillStatus::Reverted).await?;
    let reverted = life.standings().await?;
    let loss = Loss {
        timeframe,
        reflected: differences(&reflected, &full, "the loss was backfilled"),
        reverted: differences(&reverted, &lost, "the backfill was reverted"),
    };
    let events_ingested = backfill.events_ingested;
    Ok((BackfillReport { events_ingested, lost, reflected, reverted }, loss))
}

fn differences(found: &[Standing], expected: &[Standing], once: &'static str) -> Vec<Difference> {
    let both = found.iter().zip(expected);
    both.flat_map(|(found, expected)| found.differences(expected, once)).collect()
}

/// An account that took the rows of a trace while they came, and in which two days have gone by
/// since.
struct Life {
    billing: Billing,
    account: Account,
    clock: ManualClock,
    setup: Setup,
    timeframe: Timeframe,
}

impl Life {
    async fn of(
        trace: &Trace,
        home: &Home,
        options: &Options,
        bar: &ProgressBar,
        name: &'static str,
    ) -> Result<Self, Error> {
        let timeframe = trace.timeframe();
        let clock = ManualClock::at(timeframe.start());
        let billing = home.open(&clock)?;
        let account = billing.account(AccountId::parse("backfill").expect("a short text"));
        let setup = Setup::create(&account, options.customers, bar).await?;
        let life = Self { billing, account, clock, setup, timeframe };
        life.replay(trace, options, bar).pass(name).await?;
        life.clock.set(timeframe.end().saturating_add(LATER));
        life.catch_up().await?;
        Ok(life)
    }

    fn replay<'a>(
        &'a self,
        trace: &'a Trace,
        options: &'a Options,
        bar: &'a ProgressBar,
    ) -> Replay<'a> {
        let Self { account, clock, setup, .. } = self;
        Replay { account, clock, setup, trace, batch: options.batch, bar }
    }

    /// Does what is due, and takes the messages that come of it.
    async fn catch_up(&self) -> Result<(), Error> {
        catch_up(&self.billing).await?;
        Inbox::default().deliver(&self.account, &self.setup).await
    }

    /// Does what is due of a backfill, until it is where it has to be.
    async fn reached(&self, id: BackfillId, expected: BackfillStatus) -> Result<Backfill, Error> {
        self.catch_up().await?;
        let backfill = self.account.fetch_backfill(id).await.doing("fetch the backfill")?;
        match backfill.status {
            found if found == expected => Ok(backfill),
            found => Err(Error::Backfill { found, expected }),
        }
    }

    async fn standings(&self) -> Result<Vec<Standing>, Error> {
        let readings = Reading::of_all(&self.account, &self.setup, self.timeframe).await?;
        let customers = self.setup.customers().zip(readings);
        Ok(customers.map(|((customer, _), reading)| Standing::new(customer, reading)).collect())
    }
}
