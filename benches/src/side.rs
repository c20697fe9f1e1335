use std::time::Duration;

use accrue::{Account, Billing, CustomerId, ManualClock};

use crate::{Outcome, call, now};

/// Events of a batch.
pub const SIDE_BATCH: usize = 500;

/// An account that ingests beside others in one run: events of its customers in turn, each in one of some regions.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it is called in a table.
    pub name: String,
    /// The library that it is of.
    pub billing: Billing,
    /// The account.
    pub account: Account,
    /// The clock that its events have their instants from.
    pub clock: ManualClock,
    /// Customers that events are of.
    pub customers: Vec<CustomerId>,
    /// Regions that events are in.
    pub regions: Vec<String>,
    /// Number of events so far.
    pub events: usize,
}

impl Side {
    /// Ingests a batch, and returns how long that took.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn batch(&mut self) -> Outcome<Duration> {
        let numbers = self.events..self.events + SIDE_BATCH;
        self.events = numbers.end;
        let events = numbers.map(|number| {
            let customer = self.customers.get(number % self.customers.len()).ok_or("a customer")?;
            let region = self.regions.get(number % self.regions.len()).ok_or("a region")?;
            call(*customer, number, &self.clock, &[("region", region.as_str())])
        });
        let events = events.collect::<Outcome<Vec<_>>>()?;
        let start = now();
        self.account.ingest(events).await?;
        Ok(start.elapsed())
    }

    /// Lets sides ingest so many batches in turns, and returns how long each took.
    ///
    /// # Errors
    ///
    /// If a store fails.
    pub async fn measure(sides: &mut [Self], rounds: usize) -> Outcome<Vec<Duration>> {
        let mut took = vec![Duration::ZERO; sides.len()];
        for _ in 0..rounds {
            for (side, took) in sides.iter_mut().zip(&mut took) {
                *took += side.batch().await?;
            }
        }
        Ok(took)
    }
}
