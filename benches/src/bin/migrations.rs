//! Prints what it costs to move the subscriptions of a plan to another version of it by ticks, of plans with several
//! numbers of them: `migrations [memory|fjall|sled] [--subscriptions N]...`.

use std::time::Duration;

use accrue::{
    Account, AccountId, Billing, ManualClock, PlanId, SeededEntropy, Timestamp,
    plan::{MigrationTiming, NewMigration, PlanVersionChange},
    price::Cadence,
};
use accrue_benches::{Backend, Outcome, Priced, now, subscribe};
use clap::Parser as _;
use pollster::block_on;

/// Customers that one tick is for.
const TOGETHER: usize = 100;

#[expect(clippy::print_stdout, reason = "this prints a table")]
fn main() -> Outcome<()> {
    let Arguments { backend, subscriptions } = Arguments::parse();
    let folder = tempfile::tempdir()?;
    println!("{backend}, a fee in advance that another one replaces, and usage");
    println!(
        "{:>13} {:>9} {:>10} {:>10} {:>16} {:>16}",
        "subscriptions", "moved", "ms", "µs each", "ticks", "longest, ms"
    );
    for count in subscriptions {
        let store = backend.open(&folder.path().join(count.to_string()))?;
        let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
        let id = AccountId::parse("bench")?;
        let served = Billing::new(store.clone(), clock.clone(), SeededEntropy::new(1));
        let plan = block_on(subscribed(&served.account(id.clone()), count))?;
        // Whoever migrates has not served the customers: as large plans are to all.
        let billing = Billing::new(store, clock.clone(), SeededEntropy::new(2));
        clock.set(Timestamp::parse("2026-03-10T00:00:00Z")?);
        let (took, moved) = block_on(migrate(&billing, &billing.account(id), plan))?;
        let (ticks, longest) = (took.len(), took.iter().max().copied().unwrap_or_default());
        let all: Duration = took.iter().sum();
        let each = all.as_micros() / u128::try_from(count.max(1))?;
        let (all, longest) = (all.as_millis(), longest.as_millis());
        println!("{count:>13} {moved:>9} {all:>10} {each:>10} {ticks:>16} {longest:>16}");
        if usize::try_from(moved)? != count {
            return Err(format!("{moved} of {count} were moved").into());
        }
    }
    Ok(())
}

async fn subscribed(account: &Account, count: usize) -> Outcome<PlanId> {
    let priced = Priced::new(account).await?;
    let prices = vec![
        priced.price("fee", Cadence::Monthly)?.fee_in_advance(10.into()),
        priced.usage("calls", Cadence::Monthly)?,
    ];
    let plan = priced.plan(account, prices).await?;
    let first = account.fetch_plan_version(plan, accrue::plan::PlanVersion::FIRST).await?;
    let fee = first.prices.first().ok_or("a plan without prices")?.id;
    let dearer = priced.price("fee", Cadence::Monthly)?.fee_in_advance(20.into());
    let replace = vec![(fee, dearer.into())];
    let change = PlanVersionChange { replace, ..PlanVersionChange::default() };
    account.change_plan_version(plan, change).await?;
    for _ in 0..count {
        subscribe(account, plan).await?;
    }
    Ok(plan)
}

/// Migrates the subscriptions at once, and returns how long each tick took, and how many were moved.
async fn migrate(
    billing: &Billing,
    account: &Account,
    plan: PlanId,
) -> Outcome<(Vec<Duration>, u64)> {
    let when = MigrationTiming::Immediate;
    let new = NewMigration { when, ..NewMigration::to(accrue::plan::PlanVersion::new(2)) };
    let migration = account.migrate_plan(plan, new).await?.id;
    let mut took = Vec::new();
    loop {
        let start = now();
        let more = billing.tick(TOGETHER).await?.more;
        took.push(start.elapsed());
        if !more {
            break;
        }
    }
    Ok((took, account.fetch_migration(plan, migration).await?.moved))
}

/// Prints what it costs to move the subscriptions of a plan to another version of it by ticks, of plans with several
/// numbers of them.
#[derive(clap::Parser)]
#[command(name = "migrations", verbatim_doc_comment)]
struct Arguments {
    /// Where the account is kept
    #[arg(value_enum, default_value_t = Backend::Memory)]
    backend: Backend,
    /// How many subscriptions a plan has; may be given several times
    #[arg(long, value_name = "N", default_values_t = [1_000, 10_000, 100_000])]
    subscriptions: Vec<usize>,
}
