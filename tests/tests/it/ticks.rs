//! What a tick reads of the store, however many customers there are of whom nothing is due.

use std::{sync::Arc, time::Duration};

use accrue::{Clock as _, Decimal, PricingUnit, credit::NewLedgerEntry, store::MemoryStore};
use accrue_conformance::{Recorded, RecordingStore};
use accrue_tests::host::{Host, customer};
use pollster::block_on;

/// How many rows a tick asks for and changes that applies ten customers among so many.
fn rows(customers: usize) -> (usize, usize) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let store = Arc::new(RecordingStore::new(MemoryStore::new()));
    let host = Host::on(Arc::clone(&store));
    let credits = PricingUnit::parse("credits").unwrap();
    for number in 0..customers {
        let lasting = if number % (customers / 10) == 0 { DAY } else { DAY * 2 };
        let expiry = host.clock.now().saturating_add(lasting);
        let five = NewLedgerEntry::expiring(credits.clone(), Decimal::from(5), expiry);
        block_on(async {
            let new = customer(&format!("customer-{number}"));
            let id = host.account.create_customer(new).await.unwrap().id;
            host.account.create_ledger_entry(id, five).await.unwrap();
        });
    }
    host.clock.advance(DAY);
    store.take_log();
    let tick = block_on(host.billing.tick(1_000)).unwrap();
    assert_eq!((tick.applied, tick.more), (10, false));
    let (mut read, mut changed) = (0, 0);
    for call in store.take_log() {
        match call {
            Recorded::Get { keys, .. } => read += keys.len(),
            Recorded::Scan { answer, .. } => read += answer.unwrap().len(),
            Recorded::Commit { batch, .. } => changed += batch.changes.len(),
            _ => {}
        }
    }
    (read, changed)
}

#[test]
fn a_tick_costs_what_those_cost_who_are_due() {
    let (read, changed) = rows(10);
    assert!(read > 10 && changed > 10);
    assert_eq!(rows(300), (read, changed));
}
