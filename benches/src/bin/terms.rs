//! Prints what an event costs under terms of several kinds, beside those of one price and in one run, with a short
//! history and with one of a year: `terms [memory|fjall|sled] [--rounds N]`.

#![expect(clippy::float_arithmetic, reason = "a bench prints ratios")]

use std::time::Duration;

use accrue::{
    Account, AccountId, Billing, CustomerId, Decimal, Email, ManualClock, Name, Patch, PlanId,
    PropertyName, SeededEntropy, Timestamp,
    customer::NewCustomer,
    price::{
        Cadence, Cycle, Model, NewDimensionalPriceConfiguration, NewDimensionalPriceGroup, Unit,
    },
    subscription::{NewSubscription, UsageCustomers},
};
use accrue_benches::{Backend, Outcome, Priced, SIDE_BATCH, Side, subscribe};
use clap::Parser as _;
use pollster::block_on;

#[expect(clippy::print_stdout, reason = "this prints a table")]
fn main() -> Outcome<()> {
    let Arguments { backend, rounds } = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let mut all = Vec::new();
    for (name, terms) in TERMS {
        let store = backend.open(&folder.path().join(name))?;
        let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
        let billing = Billing::new(store, clock.clone(), SeededEntropy::new(1));
        all.push(block_on(side(name, *terms, billing, clock))?);
    }
    println!("{backend}, batches of {SIDE_BATCH} events");
    let early = block_on(Side::measure(&mut all, rounds))?;
    for month in 1..=12 {
        for side in &mut all {
            block_on(pass(side, month))?;
        }
    }
    let late = block_on(Side::measure(&mut all, rounds))?;
    let heads = ["µs an event", "ratio", "after a year", "ratio", "late / early"];
    let heads = heads.map(|head| format!("{head:>13}"));
    println!("{:<28} {}", "", heads.join(" "));
    let [first, last] = [&early, &late].map(|of| of.first().copied().unwrap_or_default());
    let events = f64::from(u32::try_from(SIDE_BATCH * rounds)?);
    for ((side, early), late) in all.iter().zip(&early).zip(&late) {
        let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
        let each = |of: &Duration| of.as_secs_f64() * 1e6 / events;
        println!(
            "{:<28} {:>13.2} {:>13.2} {:>13.2} {:>13.2} {:>13.2}",
            side.name,
            each(early),
            ratio(*early, first),
            each(late),
            ratio(*late, last),
            ratio(*late, *early),
        );
    }
    Ok(())
}

/// Which terms a plan has.
#[derive(Clone, Copy)]
struct Terms {
    cadences: bool,
    groups: bool,
    customers: usize,
    /// Whether they are children of one that has the only subscription.
    is_family: bool,
}

const TERMS: &[(&str, Terms)] = &[
    ("one price", ONE),
    ("five cadences", Terms { cadences: true, ..ONE }),
    ("ten groups", Terms { groups: true, ..ONE }),
    ("five cadences, ten groups", Terms { cadences: true, groups: true, ..ONE }),
    ("one price, fifty customers", Terms { customers: 50, ..ONE }),
    ("one price, fifty children", Terms { customers: 50, is_family: true, ..ONE }),
    (
        "all of it, fifty children",
        Terms { cadences: true, groups: true, customers: 50, is_family: true },
    ),
];

/// One price for each of eight customers.
const ONE: Terms = Terms { cadences: false, groups: false, customers: 8, is_family: false };

/// Regions that events are of.
const REGIONS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

async fn side(name: &str, terms: Terms, billing: Billing, clock: ManualClock) -> Outcome<Side> {
    let account = billing.account(AccountId::parse("bench")?);
    let plan = plan(&account, terms).await?;
    let mut customers = Vec::new();
    if terms.is_family {
        customers = family(&account, plan, terms.customers).await?;
    } else {
        for _ in 0..terms.customers {
            customers.push(subscribe(&account, plan).await?);
        }
    }
    let (name, regions) = (name.to_owned(), REGIONS.map(str::to_owned).into());
    Ok(Side { name, billing, account, clock, customers, regions, events: 0 })
}

/// Uses something each day of a month, and lets it pass.
async fn pass(side: &mut Side, month: u32) -> Outcome<()> {
    let (year, month) = if month < 10 { (2026, month + 3) } else { (2027, month - 9) };
    for day in [2, 9, 16, 23] {
        side.clock.set(Timestamp::parse(&format!("{year}-{month:02}-{day:02}T00:00:00Z"))?);
        side.batch().await?;
        while side.billing.tick(100).await?.more {}
    }
    Ok(())
}

/// Creates a customer with so many children whose usage counts for its subscription.
async fn family(account: &Account, plan: PlanId, count: usize) -> Outcome<Vec<CustomerId>> {
    let new = || {
        Ok::<_, accrue::TextError>(NewCustomer::new(
            Name::parse("Ada")?,
            Email::parse("ada@example.com")?,
        ))
    };
    let parent = account.create_customer(new()?).await?.id;
    let mut children = Vec::new();
    for _ in 0..count {
        let mut child = new()?;
        child.hierarchy.parent = Patch::Set(parent);
        children.push(account.create_customer(child).await?.id);
    }
    let mut new = NewSubscription::new(parent, plan);
    new.usage_customers = Some(UsageCustomers::new(children.iter().copied())?);
    account.create_subscription(new).await?;
    Ok(children)
}

async fn plan(account: &Account, Terms { cadences, groups, .. }: Terms) -> Outcome<PlanId> {
    let priced = Priced::new(account).await?;
    let all = [
        Cadence::Monthly,
        Cadence::Quarterly,
        Cadence::SemiAnnual,
        Cadence::Annual,
        Cadence::Custom(Cycle::Days(7)),
    ];
    let mut prices = Vec::new();
    for (number, cadence) in all.into_iter().take(if cadences { 5 } else { 1 }).enumerate() {
        if number > 0 || !groups {
            prices.push(priced.usage(&format!("calls {number}"), cadence)?);
        }
    }
    if groups {
        let region = vec![PropertyName::parse("region")?];
        let new = NewDimensionalPriceGroup::new(Name::parse("regions")?, priced.metric(), region);
        let group = account.create_dimensional_price_group(new).await?.id;
        for region in REGIONS {
            let own = NewDimensionalPriceConfiguration::new(group, [region]);
            let model = Model::Unit(Unit::new(Decimal::parse("0.01")?));
            prices.push(priced.price(region, Cadence::Monthly)?.usage_of(own, model));
        }
    }
    priced.plan(account, prices).await
}

/// Prints what an event costs under terms of several kinds, beside those of one price and in one run, with a short
/// history and with one of a year.
#[derive(clap::Parser)]
#[command(name = "terms", verbatim_doc_comment)]
struct Arguments {
    /// Where the accounts are kept
    #[arg(value_enum, default_value_t = Backend::Memory)]
    backend: Backend,
    /// How many batches each ingests, early and late
    #[arg(long, value_name = "N", default_value_t = 200)]
    rounds: usize,
}
