//! The days after the trace, until what was used is invoiced.

use std::iter;

use accrue::{Account, Billing, Clock as _, ManualClock, Timeframe, Timestamp};
use indicatif::ProgressBar;

use crate::{
    Error,
    catch_up::catch_up,
    error::Doing as _,
    replay::Inbox,
    setup::{DAY, Setup},
};

/// That of the first row, and the next one.
const PERIODS: usize = 2;

/// Lets days go by, and applies what each of them brings, until two billing periods and the grace
/// period have passed since the start. Messages that come of it are delivered.
pub(crate) async fn go_on(
    billing: &Billing,
    account: &Account,
    clock: &ManualClock,
    setup: &Setup,
    bar: &ProgressBar,
) -> Result<(), Error> {
    let end = end(account, setup).await.doing("read when billing periods end")?;
    let next = |day: &Timestamp| (*day < end).then(|| end.min(day.saturating_add(DAY)));
    let days: Vec<_> = iter::successors(Some(clock.now()), next).skip(1).collect();
    bar.reset();
    bar.set_message("going on");
    bar.set_length(u64::try_from(days.len()).unwrap_or(u64::MAX));
    for day in days {
        clock.set(day);
        catch_up(billing).await?;
        Inbox::default().deliver(account, setup).await?;
        bar.inc(1);
    }
    Ok(())
}

/// Returns the instant at which the usage of both periods is invoiced: they are those of all
/// customers.
async fn end(account: &Account, setup: &Setup) -> Result<Timestamp, accrue::Error> {
    let (_, first) = setup.customers().next().expect("there is a customer at least");
    let subscription = account.fetch_subscription(first).await?;
    let life = Timeframe::new(subscription.start_date, Timestamp::MAX);
    let life = life.expect("no subscription begins when time ends");
    let last = subscription.periods().overlapping(life).take(PERIODS).last();
    let end = last.map_or(subscription.start_date, |period| period.end());
    Ok(end.saturating_add(account.configuration().await?.grace_period))
}
