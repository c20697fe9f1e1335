//! A backfill comes to count, and counts no longer.

use std::time::Duration;

use accrue::{
    Timeframe,
    backfill::{Backfill, BackfillStatus, NewBackfill},
    store::{Scan, Store},
    usage::Event,
};
use pollster::block_on;

use crate::fixture::{COUNT, Fixture, SUM, at, event, external, run};

impl Fixture {
    pub(crate) fn settle(&self) {
        while block_on(self.billing.tick(10)).unwrap().more {}
    }

    /// A backfill with its events, reflected.
    fn backfilled(&self, new: NewBackfill, events: Vec<Event>) -> Backfill {
        let backfill = run(self.account.create_backfill(new)).unwrap();
        if !events.is_empty() {
            run(self.account.ingest_backfill(backfill.id, events)).unwrap();
        }
        let closed = run(self.account.close_backfill(backfill.id)).unwrap();
        assert_eq!(closed.status, BackfillStatus::Pending);
        self.settle();
        let reflected = block_on(self.account.fetch_backfill(backfill.id)).unwrap();
        assert_eq!(reflected.status, BackfillStatus::Reflected);
        reflected
    }

    /// The rows that say what there is.
    fn aggregates(&self) -> Vec<String> {
        let tables =
            ["bucket", "member", "total", "cell_total", "event_volume", "calendar", "overlay"];
        let all = accrue::schema::TABLES.iter().filter(|table| tables.contains(&table.name()));
        let rows = all.flat_map(|table| {
            block_on(self.store.scan(&Scan::prefix(*table, b"", usize::MAX))).unwrap()
        });
        rows.map(|row| format!("{} {}", row.key, row.document.as_str())).collect()
    }

    fn revert(&self, backfill: &Backfill) {
        let reverted = run(self.account.revert_backfill(backfill.id)).unwrap();
        assert_eq!(reverted.status, BackfillStatus::PendingRevert);
        self.settle();
        let reverted = block_on(self.account.fetch_backfill(backfill.id)).unwrap();
        assert_eq!(reverted.status, BackfillStatus::Reverted);
    }
}

fn frame(start: &str, end: &str) -> Timeframe {
    let day = |text: &str| at(&format!("2026-03-10T{text}Z"));
    Timeframe::new(day(start), day(end)).unwrap()
}

fn used(key: &str, time: &str, n: &str) -> Event {
    event("ada", key, at(&format!("2026-03-10T{time}Z")), n)
}

#[test]
fn wire_3_3_a_reflected_backfill_replaces_what_was_there_and_reverting_it_restores_it() {
    for customer in [Some("ada"), None] {
        let fixture = Fixture::new();
        let (count, sum) = (fixture.metric(COUNT), fixture.metric(SUM));
        let ada = fixture.customer("ada");
        let subscription =
            fixture.subscribe_from(ada.id, &fixture.plan(), Some("2026-03-10T00:00:00Z"));
        let figures = || [&count, &sum].map(|metric| fixture.usage(&subscription, metric).unwrap());
        run(fixture.account.ingest([
            used("a", "10:00:00", "1"),
            used("b", "10:20:00", "2"),
            used("c", "11:00:00", "4"),
        ]))
        .unwrap();
        assert_eq!(figures(), ["3", "7"]);
        let before = fixture.aggregates();
        assert!(before.len() > 5);
        let mut new = NewBackfill::new(frame("10:00:00", "11:00:00"));
        new.customer = customer.map(|name| external(name).into());
        let events = vec![used("b", "10:20:00", "16"), used("d", "10:30:00", "32")];
        let backfill = fixture.backfilled(new, events);
        assert_eq!(backfill.events_ingested, 2);
        assert_eq!(figures(), ["3", "52"]);
        fixture.clock.advance(Duration::from_secs(60));
        fixture.revert(&backfill);
        assert_eq!(figures(), ["3", "7"]);
        assert_eq!(fixture.aggregates(), before);
    }
}
