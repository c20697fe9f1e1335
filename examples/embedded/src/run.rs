use accrue::{AccountId, ManualClock};
use indicatif::ProgressBar;

use crate::{
    Bill, CustomerReport, Error, InvoiceReport, Loss, Options, Report, SecondPass, backfill,
    catch_up::catch_up,
    error::Doing as _,
    go_on::go_on,
    home::Home,
    reading::Reading,
    replay::{Inbox, Pass, Replay},
    setup::{Setup, turn_invoices_on},
    trace::Trace,
};

/// What a run has to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What `--report` writes.
    pub report: Report,
    /// Where the events came from.
    pub trace: String,
    /// How everything was stored.
    pub store: String,
    /// How many messages were delivered until the second pass was over.
    pub messages: usize,
    /// Whether the second pass changed nothing.
    pub second_pass_is_same: bool,
    /// The greatest of the invoices, where they were asked for.
    pub bill: Option<Bill>,
    /// Whether figures, cost, credits and invoices are the same after reopening; none where the store
    /// cannot be reopened.
    pub reopened_is_same: Option<bool>,
    /// What was lost and backfilled, where that was asked for.
    pub loss: Option<Loss>,
}

impl Outcome {
    /// Says what is wrong with it, if anything is.
    ///
    /// # Errors
    ///
    /// If the second pass or reopening changed anything, or a figure is another with the backfill
    /// than without the loss, or once it was reverted.
    pub fn verdict(&self) -> Result<(), Error> {
        match self {
            Self { second_pass_is_same: false, .. } => Err(Error::SecondPass),
            Self { reopened_is_same: Some(false), .. } => Err(Error::Reopened),
            Self { loss: Some(loss), .. } => loss.verdict(),
            _ => Ok(()),
        }
    }
}

/// Replays a trace twice, goes on until it is invoiced where that is asked for, reopens the store
/// where it is durable, and loses and backfills a part of the trace where that is asked for.
///
/// # Errors
///
/// If the trace or the store fails.
pub fn run(options: &Options, bar: &ProgressBar) -> Result<Outcome, Error> {
    let trace = match &options.trace {
        Some(path) => Trace::read(path)?,
        None => Trace::sample(),
    };
    let home = Home::prepare(options.store.as_ref())?;
    pollster::block_on(replay(options, &trace, &home, bar))
}

async fn replay(
    options: &Options,
    trace: &Trace,
    home: &Home,
    bar: &ProgressBar,
) -> Result<Outcome, Error> {
    let clock = ManualClock::at(trace.timeframe().start());
    let account_id = AccountId::parse("example").expect("a short text");
    let billing = home.open(&clock)?;
    let account = billing.account(account_id.clone());
    if options.invoices {
        turn_invoices_on(&account).await.doing("turn invoices on")?;
    }
    let setup = Setup::create(&account, options.customers, bar).await?;
    let mut greetings = Inbox::default();
    greetings.deliver(&account, &setup).await?;

    let replay = Replay {
        account: &account,
        clock: &clock,
        setup: &setup,
        trace,
        batch: options.batch,
        bar,
    };
    let mut first = replay.pass("first pass").await?;
    // Whom the last rows are not of may be behind.
    catch_up(&billing).await?;
    first.inbox.deliver(&account, &setup).await?;
    let readings = Reading::of_all(&account, &setup, trace.timeframe()).await?;
    let second = replay.pass("second pass").await?;
    let readings_after = Reading::of_all(&account, &setup, trace.timeframe()).await?;
    let second_pass = SecondPass {
        ingested: second.ingested,
        duplicates: second.duplicates,
        messages: second.inbox.messages,
    };
    let second_pass_is_same = changed_nothing(&second_pass, trace) && readings_after == readings;

    let mut readings_at_end = readings_after;
    if options.invoices {
        go_on(&billing, &account, &clock, &setup, bar).await?;
        readings_at_end = Reading::of_all(&account, &setup, trace.timeframe()).await?;
    }
    let bill = Bill::greatest(&account, &setup, &readings_at_end).await.doing("read a customer")?;

    drop((account, billing));
    let reopened_is_same = if home.is_durable() {
        let account = home.open(&clock)?.account(account_id);
        let reopened = Reading::of_all(&account, &setup, trace.timeframe()).await?;
        Some(reopened == readings_at_end)
    } else {
        None
    };
    let (backfill, loss) = match options.backfill {
        true => Some(backfill::lose_and_backfill(options, trace, home, bar).await?).unzip(),
        false => (None, None),
    };
    Ok(Outcome {
        trace: trace.name().to_owned(),
        store: home.to_string(),
        messages: greetings.messages + first.inbox.messages + second.inbox.messages,
        second_pass_is_same,
        bill,
        reopened_is_same,
        loss,
        report: Report {
            backfill,
            ..report(&setup, first, second_pass, readings, &readings_at_end)
        },
    })
}

fn changed_nothing(second_pass: &SecondPass, trace: &Trace) -> bool {
    *second_pass == SecondPass { ingested: 0, duplicates: trace.rows().len(), messages: 0 }
}

fn report(
    setup: &Setup,
    first: Pass,
    second_pass: SecondPass,
    readings: Vec<Reading>,
    at_end: &[Reading],
) -> Report {
    let Pass { ingested, duplicates, took, mut inbox } = first;
    let readings = readings.into_iter().zip(at_end);
    let customers = setup.customers().zip(readings).map(|((customer, _), (reading, at_end))| {
        let alerts = inbox.alerts.remove(&customer).unwrap_or_default();
        let Reading { metrics, cost, credits, .. } = reading;
        let invoices = at_end.invoices.iter().map(InvoiceReport::from).collect();
        CustomerReport { external_customer_id: customer, metrics, alerts, cost, credits, invoices }
    });
    let customers = customers.collect();
    let events = ingested + duplicates;
    Report { events, duplicates, took, second_pass, customers, backfill: None }
}
