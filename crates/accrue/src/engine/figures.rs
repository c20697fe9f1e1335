use std::collections::{HashMap, HashSet};

use super::unit::Unit;
use crate::{
    CustomerId, Error, MetricId, Timeframe,
    expression::Fields,
    limits,
    metric::{Function, Metric},
    schema::{self, Slot},
    store::{Row, Scan},
    usage::{Aggregate, Amount, Cut, Digest, Reading, StoredEvent, Total},
};

/// What an event contributes to each of some metrics.
pub(super) fn readings<'a>(
    metrics: impl IntoIterator<Item = &'a Metric>,
    fields: &Fields<'_>,
    key: &crate::EventKey,
) -> Vec<Reading> {
    let contributions = metrics.into_iter().filter_map(|metric| {
        let contribution = metric.sql.contribution(fields)?;
        let function = metric.sql.function();
        Some(Reading::new(metric.id, function, contribution, fields.timestamp(), key))
    });
    contributions.collect()
}

/// Figures between two instants, from the buckets and the events of the two quarters that are cut.
///
/// The caller has read the head of the customer, which guards the ranges.
impl Unit<'_> {
    /// Returns what a customer's events add up to within a timeframe.
    pub(super) async fn total_between(
        &mut self,
        customer: CustomerId,
        metrics: &[Metric],
        timeframe: Timeframe,
    ) -> Result<Total, Error> {
        let mut total = Total::default();
        let events = schema::events(self.account, customer, timeframe.start(), timeframe.end(), 1);
        if self.scan(&events).await?.is_empty() {
            return Ok(total);
        }
        let cut = Cut::of(timeframe);
        for metric in metrics.iter().filter(|metric| !is_distinct(metric)) {
            let scan = schema::buckets(self.account, customer, metric.id, cut.whole);
            for row in self.scan_all(scan).await? {
                total.add(metric.id, schema::read_bucket(&row)?.aggregate);
            }
        }
        for reading in self.partial_readings(customer, metrics, cut).await? {
            if let Amount::Plain(amount) = reading.amount {
                total.add(reading.metric_id, amount);
            }
        }
        let mut distinct: HashMap<MetricId, u64> = HashMap::new();
        for (metric_id, _) in self.members_between(customer, metrics, timeframe).await? {
            let count = distinct.entry(metric_id).or_default();
            *count = count.saturating_add(1);
        }
        for (metric_id, count) in distinct {
            total.add(metric_id, Aggregate::Distinct(count));
        }
        Ok(total)
    }

    /// Returns the distinct values of a customer's events within a timeframe.
    pub(super) async fn members_between(
        &mut self,
        customer: CustomerId,
        metrics: &[Metric],
        timeframe: Timeframe,
    ) -> Result<HashSet<(MetricId, Digest)>, Error> {
        let cut = Cut::of(timeframe);
        let mut members = HashSet::new();
        for metric in metrics.iter().filter(|metric| is_distinct(metric)) {
            let scan = schema::members(self.account, customer, metric.id, cut.whole);
            for row in self.scan_all(scan).await? {
                let digest = schema::member_digest(row.key.bytes());
                let digest = digest.ok_or_else(|| Error::corrupt("a member has no digest"))?;
                members.insert((metric.id, digest));
            }
        }
        for reading in self.partial_readings(customer, metrics, cut).await? {
            if let Amount::Distinct(digest) = reading.amount {
                members.insert((reading.metric_id, digest));
            }
        }
        Ok(members)
    }

    /// Returns what the events of the quarters that are cut contribute.
    async fn partial_readings(
        &mut self,
        customer: CustomerId,
        metrics: &[Metric],
        cut: Cut,
    ) -> Result<Vec<Reading>, Error> {
        let mut found = Vec::new();
        for timeframe in cut.partial {
            let (from, until) = (timeframe.start(), timeframe.end());
            let scan = schema::events(self.account, customer, from, until, limits::SCAN_ROWS);
            for row in self.scan_all(scan).await? {
                let place = schema::event_place(self.account, row.key.bytes());
                let (at, key) = place.ok_or_else(|| Error::corrupt("an event has no place"))?;
                let slot: Slot<StoredEvent<'_>> = schema::event(self.account, customer, at, &key);
                let event = slot.decode(&row.document)?;
                let fields = Fields::new(&event.event_name, at, &event.properties);
                let counting = metrics.iter().filter(|metric| metric.since <= event.catalogue);
                found.extend(readings(counting, &fields, &key));
            }
        }
        Ok(found)
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

fn is_distinct(metric: &Metric) -> bool {
    matches!(metric.sql.function(), Function::CountDistinct(_))
}
