//! What events ask of the store for the groups that they are in.

use std::{sync::Arc, time::Duration};

use accrue::{Account, AccountId, Billing, Decimal, SeededEntropy, usage::Event};

use crate::{
    open_groups::{by, grouped, of_groups},
    support::{
        counting::Counting,
        fixture::{NOON, at, block_on, external},
        priced::{Priced, cost_alert},
    },
};

/// The windows of a quarter of an hour that the events are in.
const WINDOWS: [&str; 3] = [NOON, "2026-03-10T12:15:00Z", "2026-03-10T12:30:00Z"];

/// A handle of its own on a store whose calls are counted.
struct Counted {
    store: Arc<Counting>,
    account: Account,
    events: u64,
}

impl Counted {
    fn of(grouped: &Priced) -> Self {
        let store = Arc::new(Counting::on(Arc::clone(&grouped.fixture.store)));
        let clock = grouped.fixture.clock.clone();
        let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(9));
        Self { store, account: billing.account(AccountId::parse("acme").unwrap()), events: 0 }
    }

    /// Ingests an event in a window for each of some customers, by a user. Returns how many calls of the store that
    /// took, and how many rows they asked for.
    fn ingest(&mut self, customers: &[&str], user: &str, window: &str) -> (usize, usize) {
        self.store.reset();
        let event = |customer: &&str| {
            self.events += 1;
            let customer = external(customer).into();
            let event = by(&format!("event {}", self.events), "1", Some(user));
            Event { timestamp: at(window), customer, ..event }
        };
        let events: Vec<_> = customers.iter().map(event).collect();
        block_on(self.account.ingest(events).into_future()).unwrap();
        (self.store.calls(), self.store.keys())
    }
}

#[test]
fn a_group_with_events_in_the_window_asks_for_no_row_of_the_directory() {
    let grouped = grouped();
    let mut counted = Counted::of(&grouped);
    counted.ingest(&["ada"], "user-1", NOON);
    assert_eq!(counted.ingest(&["ada"], "user-1", NOON), (1, 0), "the commit alone");
    let new = counted.ingest(&["ada"], "user-2", NOON);
    assert_eq!(new, (2, 3), "its row, the count beside it, and its figures");
}

#[test]
fn groups_in_a_window_that_is_closed_ask_for_rows_of_the_directory_where_they_have_none_in_it() {
    let grouped = grouped();
    let bob = grouped.fixture.customer("bob").id;
    grouped.fixture.subscribe(bob, &grouped.plan);
    grouped.fixture.clock.advance(Duration::from_secs(1_800));
    let mut counted = Counted::of(&grouped);
    for window in WINDOWS {
        counted.ingest(&["ada", "bob"], "user-1", window);
    }
    assert_eq!(counted.ingest(&["ada", "bob"], "user-1", NOON), (1, 0), "its buckets are known");
    let one = counted.ingest(&["ada"], "user-2", NOON);
    assert_eq!(one, (3, 4), "its bucket and its figures, then its row and the count");
    let both = counted.ingest(&["ada", "bob"], "user-3", NOON);
    assert_eq!(both, (3, 8), "for both of them in as many calls");
}

#[test]
fn an_event_costs_no_more_where_there_are_many_groups() {
    let asked = |groups: u64, watches: bool| {
        let grouped = grouped();
        if watches {
            grouped.alert(cost_alert(&["100000"]));
        }
        grouped.ingest(&of_groups(0..groups)).unwrap();
        let mut counted = Counted::of(&grouped);
        let [new, known] = ["new", "user-1"].map(|user| counted.ingest(&["ada"], user, NOON));
        let expect = Decimal::from(groups + 2) * Decimal::from(2);
        assert_eq!(grouped.cost().subtotal, expect);
        (new.0 + known.0, new.1 + known.1)
    };
    for watches in [false, true] {
        // The row of a customer keeps few groups open, and guesses a bounded number of rows.
        let [(calls, keys), (more_calls, more_keys)] = [300, 900].map(|of| asked(of, watches));
        assert_eq!(calls, more_calls, "{watches}");
        assert!(more_keys <= keys + 5, "{watches}: {keys}, {more_keys}");
    }
}
