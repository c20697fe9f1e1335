//! What a tick costs that applies 100 customers: among themselves, and among 100,000.

use std::time::Duration;

use accrue::{
    Account, AccountId, Billing, Clock, CustomerId, Decimal, Email, ManualClock, Name, PricingUnit,
    SeededEntropy, Timestamp, credit::NewLedgerEntry, customer::NewCustomer, store::MemoryStore,
};
use accrue_benches::{Outcome, now};
use criterion::{BenchmarkId, Criterion};
use pollster::block_on;

const DUE: usize = 100;
const CUSTOMERS: [usize; 2] = [DUE, 100_000];
const MINUTE: Duration = Duration::from_secs(60);
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Customers, each with a block of credits that expires in a year; those that come due first.
struct Crowd {
    account: Account,
    clock: ManualClock,
    credits: PricingUnit,
    due: Vec<CustomerId>,
}

impl Crowd {
    async fn new(customers: usize) -> Outcome<Self> {
        let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
        let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("bench")?);
        let credits = PricingUnit::parse("credits")?;
        let mut crowd = Self { account, clock, credits, due: Vec::new() };
        for number in 0..customers {
            let email = Email::parse("bench@example.com")?;
            let customer = NewCustomer::new(Name::parse("bench")?, email);
            let id = crowd.account.create_customer(customer).await?.id;
            crowd.give(id, YEAR).await?;
            if number % (customers / DUE) == 0 {
                crowd.due.push(id);
            }
        }
        Ok(crowd)
    }

    async fn give(&self, id: CustomerId, lasting: Duration) -> Outcome<()> {
        let expiry = self.clock.now().saturating_add(lasting);
        let one = NewLedgerEntry::expiring(self.credits.clone(), Decimal::from(1), expiry);
        self.account.create_ledger_entry(id, one).await?;
        Ok(())
    }

    /// Lets a block of each of the 100 expire.
    async fn come_due(&self) -> Outcome<()> {
        for id in &self.due {
            self.give(*id, MINUTE).await?;
        }
        self.clock.advance(MINUTE);
        Ok(())
    }
}

fn tick(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tick");
    group.sample_size(20);
    for customers in CUSTOMERS {
        let crowd = block_on(Crowd::new(customers)).expect("a working store");
        group.bench_function(BenchmarkId::new("100 due", customers), |bench| {
            bench.iter_custom(|rounds| {
                let mut spent = Duration::ZERO;
                for _ in 0..rounds {
                    block_on(crowd.come_due()).expect("a working store");
                    let start = now();
                    let tick = block_on(crowd.account.billing().tick(1_000));
                    spent += start.elapsed();
                    assert_eq!(tick.expect("a working store").applied, DUE);
                }
                spent
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    tick(&mut criterion);
    criterion.final_summary();
}
