use std::collections::HashSet;

use super::unit::Unit;
use crate::{
    CustomerId, Error, EventKey, Timeframe,
    expression::Fields,
    limits,
    schema::{self, Slot},
    store::{Row, Scan},
    usage::{Aggregate, Amount, Cut, Digest, MeterId, Meters, Reading, StoredEvent, Total},
};

/// What the events of a growing timeframe add up to.
#[derive(Default)]
pub(super) struct Running {
    pub(super) total: Total,
    /// The distinct values among them.
    pub(super) members: HashSet<(MeterId, Digest)>,
}

impl Running {
    /// Adds what an event contributes.
    pub(super) fn add(&mut self, reading: Reading) {
        match reading.amount {
            Amount::Plain(amount) => self.total.add(reading.meter, amount),
            Amount::Distinct(digest) => self.see(reading.meter, digest),
        }
    }

    fn see(&mut self, meter: MeterId, digest: Digest) {
        if self.members.insert((meter, digest)) {
            self.total.add(meter, Aggregate::Distinct(1));
        }
    }
}

/// Figures between two instants, from the buckets and the events of the two quarters that are cut.
///
/// The caller has read the head of the customer, which guards the ranges.
impl Unit<'_> {
    /// Returns what a customer's events add up to within a timeframe.
    pub(super) async fn total_between(
        &mut self,
        customer: CustomerId,
        meters: &Meters,
        timeframe: Timeframe,
    ) -> Result<Total, Error> {
        let mut running = Running::default();
        self.run_on(&mut running, customer, meters, timeframe).await?;
        Ok(running.total)
    }

    /// Adds what a customer's events of a further timeframe add up to.
    pub(super) async fn run_on(
        &mut self,
        running: &mut Running,
        customer: CustomerId,
        meters: &Meters,
        timeframe: Timeframe,
    ) -> Result<(), Error> {
        let events = schema::events(self.account, customer, timeframe.start(), timeframe.end(), 1);
        if timeframe.start() == timeframe.end() || self.scan(&events).await?.is_empty() {
            return Ok(());
        }
        let cut = Cut::of(timeframe);
        for meter in meters.added_up() {
            let scan = schema::buckets(self.account, customer, meter, cut.whole);
            for row in self.scan_all(scan).await? {
                running.total.add(meter, schema::read_bucket(&row)?.aggregate);
            }
        }
        for meter in meters.distinct() {
            let scan = schema::members(self.account, customer, meter, cut.whole);
            for row in self.scan_all(scan).await? {
                running.see(meter, digest(&row)?);
            }
        }
        for reading in self.partial_readings(customer, meters, cut).await? {
            running.add(reading);
        }
        Ok(())
    }

    /// Returns what the events of the quarters that are cut contribute.
    async fn partial_readings(
        &mut self,
        customer: CustomerId,
        meters: &Meters,
        cut: Cut,
    ) -> Result<Vec<Reading>, Error> {
        let mut found = Vec::new();
        for timeframe in cut.partial {
            let read = |fields: &Fields<'_>, key: &EventKey, generation: u64| {
                found.extend(meters.readings(generation, fields, key));
                Ok(())
            };
            self.each_event(customer, timeframe, read).await?;
        }
        Ok(found)
    }

    /// Reads the events of a customer within a timeframe, oldest first, each with the generation of
    /// the metrics in which it was accepted, until it is refused to read on.
    pub(super) async fn each_event(
        &mut self,
        customer: CustomerId,
        timeframe: Timeframe,
        mut read: impl FnMut(&Fields<'_>, &EventKey, u64) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let (from, until) = (timeframe.start(), timeframe.end());
        let mut scan = schema::events(self.account, customer, from, until, limits::SCAN_ROWS);
        while scan.bounds().is_some() {
            let rows = self.scan(&scan).await?;
            for row in &rows {
                let place = schema::event_place(self.account, row.key.bytes());
                let (at, key) = place.ok_or_else(|| Error::corrupt("an event has no place"))?;
                let slot: Slot<StoredEvent<'_>> = schema::event(self.account, customer, at, &key);
                let event = slot.decode(&row.document)?;
                let fields = Fields::new(&event.event_name, at, &event.properties);
                read(&fields, &key, event.catalogue)?;
            }
            let Some(last) = rows.last().filter(|_| rows.len() >= scan.limit) else { break };
            scan = scan.after(last.key.bytes());
        }
        Ok(())
    }

    /// Reads a range to its end.
    pub(super) async fn scan_all(&self, mut scan: Scan) -> Result<Vec<Row>, Error> {
        let mut all = Vec::new();
        if scan.bounds().is_none() {
            return Ok(all);
        }
        loop {
            let rows = self.scan(&scan).await?;
            let Some(last) = rows.last().filter(|_| rows.len() >= scan.limit) else {
                all.extend(rows);
                return Ok(all);
            };
            scan = scan.after(last.key.bytes());
            all.extend(rows);
        }
    }
}

fn digest(row: &Row) -> Result<Digest, Error> {
    let digest = schema::member_digest(row.key.bytes());
    digest.ok_or_else(|| Error::corrupt("a member has no digest"))
}
