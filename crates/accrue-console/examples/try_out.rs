//! The console on a store in memory with customers that use something, at `http://127.0.0.1:8085/`.
//!
//! ```sh
//! cargo run -p accrue-console --example try_out
//! ```

#![allow(clippy::print_stdout, reason = "it says where it is")]

use std::{error::Error, time::Duration};

use accrue::{
    Account, AccountId, Billing, Clock as _, Currency, Decimal, Email, EventKey, EventName,
    ExternalId, Name, PricingUnit, PropertyName, SystemClock, SystemEntropy,
    alert::{NewAlert, NewBalanceAlert, Thresholds},
    credit::NewLedgerEntry,
    customer::NewCustomer,
    item::NewItem,
    metric::{MetricQuery, NewMetric},
    plan::NewPlan,
    price::{Cadence, Model, NewPrice, Unit},
    store::MemoryStore,
    subscription::NewSubscription,
    usage::Event,
};
use accrue_console::{Console, People};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::net::TcpListener;

const ADDRESS: &str = "127.0.0.1:8085";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let billing = Billing::with_system(MemoryStore::new());
    for id in ["acme", "globex"] {
        fill(&billing.account(AccountId::parse(id)?)).await?;
    }
    let people = People::new(&billing, SystemEntropy);
    let console = Console::builder(billing, people)
        .origin(format!("http://{ADDRESS}"))
        .over_plain_http()
        .build();
    if let Some(link) = console.first_link().await? {
        println!("To be the first person, open\n{link}");
    }
    let listener = TcpListener::bind(ADDRESS).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(console.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

/// Customers on a plan, with the usage of some days, alerts and credits.
async fn fill(account: &Account) -> Result<(), Box<dyn Error>> {
    let (usd, now) = (Currency::parse("USD")?, SystemClock.now());
    let item = account.create_item(NewItem::new(Name::parse("Model")?)).await?;
    let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    let mut metrics = Vec::new();
    for (name, property, price) in
        [("Output tokens", "output_tokens", "0.00001"), ("Requests", "requests", "0.002")]
    {
        let sql = MetricQuery::parse(&format!("SELECT sum({property}) FROM events"))?;
        let metric =
            account.create_metric(NewMetric::new(Name::parse(name)?, item.id, sql)).await?;
        let each = Model::Unit(Unit::new(Decimal::parse(price)?));
        let price = NewPrice::builder(Name::parse(name)?, item.id).billed(Cadence::Monthly, usd);
        plan.prices.push(price.usage(metric.id, each).into());
        metrics.push(metric.id);
    }
    let plan = account.create_plan(plan).await?;
    let mut configuration = account.configuration().await?;
    configuration.grace_period = Duration::from_secs(28 * 24 * 60 * 60);
    account.configure(configuration).await?;
    for (index, name) in
        ["Ada Lovelace", "Søren & Sons", "<b>Bobby</b>", "Grace Hopper"].iter().enumerate()
    {
        let mut new =
            NewCustomer::new(Name::parse(*name)?, Email::parse(format!("c{index}@example.com"))?);
        new.external_customer_id = Some(ExternalId::parse(format!("customer-{index}"))?);
        let customer = account.create_customer(new).await?;
        let mut new = NewSubscription::new(customer.id, plan.id);
        new.start_date = Some(now.saturating_sub(Duration::from_secs(20 * 24 * 60 * 60)));
        let subscription = account.create_subscription(new).await?;
        let at = Thresholds::new([Decimal::from(5), Decimal::from(12)])?;
        account.create_subscription_alert(subscription.id, NewAlert::cost_exceeded(at)).await?;
        let at = Thresholds::new([Decimal::from(400_000)])?;
        let alert = NewAlert::usage_exceeded(*metrics.first().ok_or("a metric")?, at);
        account.create_subscription_alert(subscription.id, alert).await?;
        let unit = PricingUnit::parse("USD")?;
        account
            .create_ledger_entry(
                customer.id,
                NewLedgerEntry::increment(unit.clone(), Decimal::from(20)),
            )
            .await?;
        let low =
            NewBalanceAlert::credit_balance_dropped(unit, Thresholds::new([Decimal::from(10)])?);
        account.create_customer_alert(customer.id, low).await?;
        let mut events = Vec::new();
        for hour in 0..200_u64 {
            let tokens = 1_500 + (hour * 7_919 + u64::try_from(index)? * 104_729) % 6_000;
            events.push(Event {
                idempotency_key: EventKey::parse(format!("event-{index}-{hour}"))?,
                event_name: EventName::parse("completion")?,
                timestamp: now.saturating_sub(Duration::from_secs(hour * 5_400)),
                properties: [
                    (PropertyName::parse("output_tokens")?, tokens.into()),
                    (PropertyName::parse("requests")?, (1 + tokens % 5).into()),
                    (
                        PropertyName::parse("region")?,
                        if hour % 3 == 0 { "eu" } else { "us" }.into(),
                    ),
                ]
                .into_iter()
                .collect(),
                customer: customer.id.into(),
            });
        }
        events.reverse();
        account.ingest(events).await?;
    }
    Ok(())
}
