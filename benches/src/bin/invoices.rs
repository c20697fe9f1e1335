//! Prints what it costs to issue the invoices of a month by ticks, one for each customer of accounts of
//! several sizes: `invoices [memory|fjall|sled] [--customers N]...`.

use std::time::Duration;

use accrue::{
    Account, AccountId, Billing, ManualClock, PageRequest, SeededEntropy, Timestamp,
    invoice::{InvoiceFilter, InvoiceStatus},
    price::Cadence,
};
use accrue_benches::{Backend, Outcome, Priced, call, now, subscribe};
use clap::Parser as _;
use pollster::block_on;

/// Customers that one tick is for.
const TOGETHER: usize = 100;

#[expect(clippy::print_stdout, reason = "this prints a table")]
fn main() -> Outcome<()> {
    let Arguments { backend, customers } = Arguments::parse();
    let folder = tempfile::tempdir()?;
    println!("{backend}, a fee in advance and usage, ticks of {TOGETHER} customers");
    println!("{:>10} {:>10} {:>10} {:>14}", "customers", "issued", "ms", "µs an invoice");
    for customers in customers {
        let store = backend.open(&folder.path().join(customers.to_string()))?;
        let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
        let id = AccountId::parse("bench")?;
        let served = Billing::new(store.clone(), clock.clone(), SeededEntropy::new(1));
        block_on(subscribed(&served.account(id.clone()), &clock, customers))?;
        // Whoever issues has not served the customers: as large accounts are to all.
        let billing = Billing::new(store, clock.clone(), SeededEntropy::new(2));
        let took = block_on(issue(&billing, &clock))?;
        let account = billing.account(id);
        let issued = block_on(issued(&account))?;
        let each = took.as_micros() / u128::try_from(customers.max(1))?;
        println!("{customers:>10} {issued:>10} {:>10} {each:>14}", took.as_millis());
        if issued != customers {
            return Err(format!("{issued} invoices of {customers} customers").into());
        }
    }
    Ok(())
}

/// Subscribes customers that use something, by the month.
async fn subscribed(account: &Account, clock: &ManualClock, customers: usize) -> Outcome<()> {
    let priced = Priced::new(account).await?;
    let prices = vec![
        priced.price("fee", Cadence::Monthly)?.fee_in_advance(10.into()),
        priced.usage("calls", Cadence::Monthly)?,
    ];
    let plan = priced.plan(account, prices).await?;
    for number in 0..customers {
        let id = subscribe(account, plan).await?;
        account.ingest([call(id, number, clock, &[])?]).await?;
    }
    Ok(())
}

/// Lets a month and its grace period pass, and ticks until nothing is left to do.
async fn issue(billing: &Billing, clock: &ManualClock) -> Outcome<Duration> {
    clock.set(Timestamp::parse("2026-04-02T12:00:00Z")?);
    let start = now();
    while billing.tick(TOGETHER).await?.more {}
    Ok(start.elapsed())
}

/// Counts the invoices that were issued when the month was over.
async fn issued(account: &Account) -> Outcome<usize> {
    let mut filter = InvoiceFilter::default();
    filter.statuses = vec![InvoiceStatus::Issued];
    filter.invoice_date =
        filter.invoice_date.at_or_after(Timestamp::parse("2026-03-15T00:00:00Z")?);
    let mut page = PageRequest::first(100)?;
    let mut count = 0;
    loop {
        let found = account.list_invoices(&filter, &page).await?;
        count += found.data.len();
        let Some(cursor) = found.next_cursor else { return Ok(count) };
        page = page.after(cursor);
    }
}

/// Prints what it costs to issue the invoices of a month by ticks, one for each customer of accounts of
/// several sizes.
#[derive(clap::Parser)]
#[command(name = "invoices", verbatim_doc_comment)]
struct Arguments {
    /// Where the accounts are kept
    #[arg(value_enum, default_value_t = Backend::Memory)]
    backend: Backend,
    /// How many customers an account has; may be given several times
    #[arg(long, value_name = "N", default_values_t = [1_000, 10_000, 100_000])]
    customers: Vec<usize>,
}
