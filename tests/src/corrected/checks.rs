//! What of the engine is held against the model.

use std::collections::BTreeMap;

use accrue::{
    PageRequest, PricingUnit, Timeframe,
    backfill::BackfillStatus,
    credit::LedgerFilter,
    usage::{EventSearch, View},
    webhook::Body,
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    BackfillSpec, Bench, Fill, Standing, State,
    bench::{GRANTED, IN_CREDIT, UNITS},
    figures::figures,
};
use crate::{
    bill::{Ask, Charge, When},
    host::micros,
    model::{At, Event},
    stores::{Dump, dump},
    world::{big, engine_event},
};

/// What figures are made of, of everything that is stored.
#[must_use]
pub fn aggregates(rows: &Dump) -> Dump {
    figures(rows.iter().map(|(key, row)| (key.as_str(), row.as_str())))
}

const HOUR: i64 = 3_600_000_000;

/// Whether a total is of a part that has begun since, of a period that had one: nothing takes it back.
fn is_part(before: &Dump, key: &str) -> bool {
    const END: usize = 16;
    let is_total = key.starts_with("total:") || key.starts_with("cell_total:");
    let period = &key[..key.len().saturating_sub(END)];
    is_total && !before.contains_key(key) && before.keys().any(|other| other.starts_with(period))
}

impl Bench {
    /// Compares all figures, once everything due is applied.
    pub(super) fn check(&self) {
        let now = self.now();
        for life in 0..self.bill.lives.len() {
            let ask = |ends: Option<(i64, i64)>, by| {
                let ends =
                    ends.map(|(from, until)| [When::Now(from - now), When::Now(until - now)]);
                self.bill.ask(&Ask { life, view: View::Whole, ends, unit: None, by });
            };
            ask(None, None);
            ask(None, Some("region"));
            if let Some(last) = self.history.backfills.last() {
                ask(Some(last.within), None);
                ask(Some((last.within.0 - HOUR, last.within.1 + HOUR)), None);
            }
        }
        self.check_volumes();
        self.check_found();
        self.check_ledgers();
        self.check_backfills();
    }

    /// Compares how many events each hour has.
    fn check_volumes(&self) {
        let all = self.history.events.iter().map(|stored| stored.event.at);
        let (Some(first), Some(last)) = (all.clone().min(), all.max()) else { return };
        let mut expected = BTreeMap::<i64, u64>::new();
        for event in &self.bill.biller.events {
            *expected.entry(event.at.div_euclid(HOUR)).or_default() += 1;
        }
        let timeframe = Timeframe::new(micros(first), micros(last + 1)).unwrap();
        let mut page = PageRequest::first(100).unwrap();
        let mut found = BTreeMap::new();
        loop {
            let hours = block_on(self.bill.host.account.event_volume(timeframe, &page)).unwrap();
            let counted = hours.data.iter().filter(|hour| hour.count > 0);
            found.extend(
                counted.map(|hour| (hour.timeframe.start().micros().div_euclid(HOUR), hour.count)),
            );
            let Some(next) = hours.next_cursor else { break };
            page = page.after(next);
        }
        assert_eq!(found, expected, "events by hour");
    }

    /// Looks for all events by their keys.
    fn check_found(&self) {
        let events = &self.history.events;
        let counting: BTreeMap<&str, &Event> = (0..events.len())
            .filter(|index| self.history.counts(*index))
            .map(|index| (events[index].event.key.as_str(), &events[index].event))
            .collect();
        let of = |event: &Event| engine_event(event, self.bill.customers[event.customer].into());
        let mut keys: Vec<_> =
            events.iter().map(|stored| of(&stored.event).idempotency_key).collect();
        keys.sort();
        keys.dedup();
        for keys in keys.chunks(500) {
            let mut search = EventSearch::new(keys.iter().cloned());
            search.timeframe_start = Some(micros(0));
            search.timeframe_end = Some(micros(self.now() + 400 * 24 * HOUR));
            let found = block_on(self.bill.host.account.search_events(search)).unwrap();
            for key in keys {
                let found = found.iter().find(|found| found.id == *key);
                let Some(event) = counting.get(key.as_str()) else {
                    let is_known = self.history.standing(key) != Standing::Unknown;
                    assert_eq!(found.map(|of| of.deprecated), is_known.then_some(true), "{key}");
                    continue;
                };
                let found = found.unwrap_or_else(|| panic!("{event:?} is not found"));
                let expected = of(event);
                assert!(!found.deprecated, "{found:?} does not count");
                assert_eq!(found.timestamp, expected.timestamp);
                assert_eq!(found.properties, expected.properties);
                assert_eq!(found.event_name, expected.event_name);
                assert_eq!(found.customer_id, Some(self.bill.customers[event.customer]));
            }
        }
    }

    /// Where credits pay for all usage, a balance is what was granted less what that costs.
    fn check_ledgers(&self) {
        let biller = &self.bill.biller;
        for (customer, id) in self.bill.customers.iter().enumerate().take(IN_CREDIT) {
            for name in UNITS {
                let unit = PricingUnit::parse(name).unwrap();
                let account = &self.bill.host.account;
                let found = block_on(account.credit_balance(*id, &unit)).unwrap().balance;
                let found = found.as_ref().map(big);
                let cost = self.drawn(customer, name);
                let expected = BigDecimal::from(GRANTED) - cost;
                assert_eq!(found, Some(expected), "{name} of customer {customer}");
                let page = PageRequest::first_of_ledger(1_000).unwrap();
                let any = LedgerFilter::default();
                let entries = account.list_ledger_entries(*id, &unit, &any, &page);
                let entries = block_on(entries).unwrap();
                assert_eq!(entries.next_cursor, None);
                let sum: BigDecimal = entries.data.iter().map(|entry| big(&entry.amount)).sum();
                assert_eq!(found, Some(sum), "the entries of {name} of customer {customer}");
            }
        }
        assert!(biller.lives.len() == self.bill.lives.len());
    }

    /// What all usage of a customer costs that draws credits of a unit.
    fn drawn(&self, customer: At, unit: &str) -> BigDecimal {
        let biller = &self.bill.biller;
        let all = biller.events.iter().map(|event| event.at);
        let (Some(first), Some(last)) = (all.clone().min(), all.max()) else {
            return BigDecimal::default();
        };
        let mut sum = BigDecimal::default();
        for of in biller.lives.iter().filter(|of| of.customer == customer) {
            let prices = biller.plans[of.plan].iter();
            let usage = prices.filter(|price| {
                price.currency == unit && matches!(price.charge, Charge::Usage { .. })
            });
            for price in usage {
                for period in of.periods_of(price, (first, last + 1)) {
                    sum += biller.used(of, price, period).map(|of| of.subtotal).unwrap_or_default();
                }
            }
        }
        sum
    }

    fn check_backfills(&self) {
        for (index, id) in self.backfills.iter().enumerate() {
            let found = block_on(self.bill.host.account.fetch_backfill(*id)).unwrap();
            let of = &self.history.backfills[index];
            let status = match of.state {
                State::Taking => BackfillStatus::Pending,
                State::Reflected => BackfillStatus::Reflected,
                State::Reverted => BackfillStatus::Reverted,
            };
            assert_eq!(found.status, status, "{found:?}");
            let brought = self.history.events.iter();
            let count = brought.filter(|stored| stored.brought_by == Some(index)).count();
            assert_eq!(found.events_ingested, u64::try_from(count).unwrap(), "{found:?}");
        }
    }

    /// Compares all messages: of subscriptions in their order, and of backfills, each once.
    pub(super) fn check_messages(&self) {
        let told = self.bill.host.drain();
        self.bill.check_messages(&told);
        let of_backfill = |body: &Body| match body {
            Body::BackfillReflected { backfill_id } => Some((true, *backfill_id)),
            Body::BackfillReverted { backfill_id } => Some((false, *backfill_id)),
            _ => None,
        };
        let mut found: Vec<_> =
            told.iter().filter_map(|message| of_backfill(&message.body)).collect();
        let mut expected = self.told.clone();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "messages about backfills");
    }

    /// Creates a backfill, fills, closes and reverts it: then what is stored is as it was.
    pub fn check_restoring(&mut self, spec: &BackfillSpec, fills: &[Fill]) {
        // Others close by themselves before.
        self.pass(4 * 24 * HOUR);
        self.bill.host.tick();
        let before = aggregates(&dump(&*self.bill.host.store));
        let known = self.backfills.len();
        self.create(&BackfillSpec { closes_in: None, ..spec.clone() });
        if self.backfills.len() == known {
            return;
        }
        if !fills.is_empty() {
            self.fill(known, fills);
        }
        self.close(known);
        self.bill.host.tick();
        self.check();
        self.revert(known);
        self.bill.host.tick();
        self.check();
        let after = aggregates(&dump(&*self.bill.host.store));
        let differ = |key: &&String| before.get(*key) != after.get(*key) && !is_part(&before, key);
        let rows: Vec<_> = before.keys().chain(after.keys()).filter(differ).collect();
        let of = &self.history.backfills[known];
        assert!(rows.is_empty(), "{of:?}: {rows:#?}, {before:#?}, {after:#?}");
    }
}
