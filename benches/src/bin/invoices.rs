//! Prints what it costs to issue the invoices of a month by ticks, one for each customer of accounts of
//! several sizes: `invoices [memory|fjall|sled] [--customers N]...`.

use std::time::Duration;

use accrue::{
    Account, AccountId, Billing, Clock, Currency, Decimal, Email, EventKey, EventName, ManualClock,
    Name, PageRequest, PropertyName, SeededEntropy, Timestamp,
    account::Configuration,
    customer::NewCustomer,
    invoice::{InvoiceFilter, InvoiceStatus},
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    subscription::NewSubscription,
    usage::Event,
};
use accrue_benches::{Backend, Outcome, now};
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
        block_on(subscribe(&served.account(id.clone()), &clock, customers))?;
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
async fn subscribe(account: &Account, clock: &ManualClock, customers: usize) -> Outcome<()> {
    let mut configuration = Configuration::default();
    configuration.features.invoices = true;
    account.configure(configuration).await?;
    let item = account.create_item(NewItem::new(Name::parse("api")?)).await?.id;
    let sql = MetricQuery::parse("SELECT SUM(n) FROM events WHERE event_name = 'call'")?;
    let metric = account.create_metric(NewMetric::new(Name::parse("calls")?, item, sql)).await?.id;
    let usd = Currency::parse("USD")?;
    let mut plan = NewPlan::new(Name::parse("plan")?, usd);
    let price = |name| -> Outcome<_> {
        Ok(NewPrice::builder(Name::parse(name)?, item).billed(Cadence::Monthly, usd))
    };
    let unit = Model::Unit(Unit::new(Decimal::parse("0.01")?));
    plan.prices = vec![
        price("fee")?.fee_in_advance(Decimal::from(10)).into(),
        price("calls")?.usage(metric, unit).into(),
    ];
    let plan = account.create_plan(plan).await?.id;
    for number in 0..customers {
        let customer = NewCustomer::new(Name::parse("bench")?, Email::parse("bench@example.com")?);
        let id = account.create_customer(customer).await?.id;
        account.create_subscription(NewSubscription::new(id, plan)).await?;
        let event = Event {
            idempotency_key: EventKey::parse(format!("event {number}"))?,
            event_name: EventName::parse("call")?,
            timestamp: clock.now(),
            properties: [(PropertyName::parse("n")?, 7_u64.into())].into_iter().collect(),
            customer: id.into(),
        };
        account.ingest([event]).await?;
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
