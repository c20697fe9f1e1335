//! A year of billing in a moment: made usage of customers in five time zones, credits that expire
//! and are renewed, invoices, and a host that does what a host does as time goes by.
//!
//! Read `host` first, which is that host, then `setup`, which is whom it bills.

mod agenda;
mod books;
mod calendar;
mod customer;
mod host;
mod months;
mod plot;
mod profile;
mod setup;
mod table;
mod usage;
mod weeks;

use accrue::{AccountId, Billing, ManualClock, SeededEntropy, store::MemoryStore};

pub use self::{
    books::Books,
    months::{CustomerYear, Month},
    weeks::Week,
};
use self::{host::Host, setup::Setup, usage::Usage};
use crate::Error;

/// What a year has to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Year {
    /// The customers, each with its months.
    pub customers: Vec<CustomerYear>,
    /// What all of them together cost and had left, week by week.
    pub weeks: Vec<Week>,
    /// How many events there were.
    pub events: usize,
    /// How many messages were delivered.
    pub messages: usize,
    /// How many times what time alone had brought a customer was applied.
    pub applied: usize,
}

impl Year {
    /// Adds up the books of all customers, month by month, each in its own time zone.
    #[must_use]
    pub fn books(&self) -> Vec<Books> {
        let months = self.customers.iter().map(|of| of.months.len()).max().unwrap_or_default();
        let of_all = |place| {
            let months = self.customers.iter().filter_map(move |of| of.months.get(place));
            months.map(|month: &Month| &month.books).sum()
        };
        (0..months).map(of_all).collect()
    }
}

/// Bills a year, which depends on nothing but the seed of the usage.
///
/// # Errors
///
/// If the engine fails.
pub fn year(seed: u64) -> Result<Year, Error> {
    pollster::block_on(live(seed))
}

async fn live(seed: u64) -> Result<Year, Error> {
    let clock = ManualClock::at(calendar::eve());
    let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(seed));
    let account = billing.account(AccountId::parse("year").expect("a short text"));
    let setup = Setup::create(&account).await?;
    let mut host = Host::new(&billing, &account, &clock, &setup);
    let mut weeks = Vec::new();
    let mut usage = Usage::new(&setup, seed);
    for week in weeks::all() {
        host.live_through(usage.until(week.end())).await?;
        host.wait_until(week.end()).await?;
        weeks.push(Week::of(&account, &setup, week).await?);
    }
    host.live_through(usage.until(calendar::end())).await?;
    host.wait_until(calendar::end()).await?;
    let customers = months::of_all(&account, &setup, &host.alerts).await?;
    let Host { events, messages, applied, .. } = host;
    Ok(Year { customers, weeks, events, messages, applied })
}
