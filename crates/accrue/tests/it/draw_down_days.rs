//! What usage takes in a day of the customer is one entry for each block, which is pending until then.

use accrue::{
    CreditBlockId, Email, Zone,
    credit::{EntryStatus, LedgerEntry, LedgerFilter, NewLedgerEntry},
    customer::NewCustomer,
};

use crate::support::{
    credited::{
        CREDITS, amendment, credited, credited_with, decrement, extension, increment, show, void,
    },
    fixture::{Fixture, NOON, SUM, external, name, number, run},
    priced::unit,
};

#[test]
fn usage_takes_from_the_balance_into_one_entry_a_day() {
    let priced = credited_with("5");
    priced.use_now("a", "1");
    priced.use_now("b", "1.5");
    assert_eq!(priced.balance().as_deref(), Some("2.5"));
    assert_eq!(priced.ledger(), ["increment 5 = 5", "decrement -2.5 = 2.5"]);
    priced.fixture.set("2026-03-11T00:00:00Z");
    priced.use_now("c", "4");
    let expect =
        ["increment 5 = 5", "decrement -2.5 = 2.5", "decrement -2.5 = 0", "decrement -1.5 = -1.5"];
    assert_eq!(priced.ledger(), expect);
    assert_eq!(priced.all_blocks(), ["0 of 5", "-1.5 overdrawn"]);
}

/// A customer in a zone, with 10 credits, who uses one at each of some instants. Gives the amounts of
/// the entries behind the first.
fn drawn_in(zone: &str, instants: &[&str]) -> Vec<String> {
    let fixture = Fixture::new();
    let metric = fixture.metric(SUM);
    let mut price = fixture.usage_at("1", &metric);
    price.currency = unit(CREDITS);
    let plan = fixture.priced_plan([price.into()]);
    let mut new = NewCustomer::new(name("ada"), Email::parse("a@example.com").unwrap());
    new.external_customer_id = Some(external("ada"));
    new.timezone = Some(Zone::parse(zone).unwrap());
    let ada = run(fixture.account.create_customer(new)).unwrap().id;
    fixture.subscribe(ada, &plan);
    run(fixture.account.create_ledger_entry(ada, increment("10"))).unwrap();
    for (key, now) in instants.iter().enumerate() {
        fixture.set(now);
        fixture.use_now("ada", &key.to_string(), "1");
    }
    let entries = fixture.entries(ada, LedgerFilter::default());
    entries[1..].iter().map(|entry| entry.amount.to_string()).collect()
}

#[test]
fn the_days_are_those_of_the_customers_zone() {
    let noon = NOON;
    check_days("UTC", &[noon, "2026-03-10T23:59:59.999999Z", "2026-03-11T00:00:00Z"]);
    check_days("Asia/Tokyo", &[noon, "2026-03-10T14:59:59.999999Z", "2026-03-10T15:00:00Z"]);
    check_days(
        "Pacific/Kiritimati",
        &["2026-03-11T09:59:59Z", "2026-03-11T09:59:59.999999Z", "2026-03-11T10:00:00Z"],
    );
    check_days(
        "America/Los_Angeles",
        &[noon, "2026-03-11T06:59:59.999999Z", "2026-03-11T07:00:00Z"],
    );
    check_days("Asia/Kathmandu", &[noon, "2026-03-10T18:14:59Z", "2026-03-10T18:15:00Z"]);
}

/// Two instants of one day, and the first one of the next.
fn check_days(zone: &str, instants: &[&str; 3]) {
    assert_eq!(drawn_in(zone, instants), ["-2", "-1"], "{zone}");
}

#[test]
fn what_usage_takes_is_pending_until_the_day_ends() {
    let priced = credited_with("10");
    priced.use_now("a", "1");
    let status = || priced.entries().last().unwrap().entry_status;
    priced.fixture.set("2026-03-10T23:59:59.999999Z");
    let before = priced.fixture.dump();
    assert_eq!(status(), EntryStatus::Pending);
    priced.fixture.set("2026-03-11T00:00:00Z");
    assert_eq!(status(), EntryStatus::Committed);
    assert_eq!(priced.fixture.dump(), before, "nothing has to be written for that");
    priced.use_now("b", "2");
    let entries = priced.entries();
    let found: Vec<_> = entries.iter().map(|entry| entry.entry_status).collect();
    assert_eq!(found, [EntryStatus::Committed, EntryStatus::Committed, EntryStatus::Pending]);
    assert_eq!(entries[1].amount, number("-1"));
}

#[test]
fn an_entry_that_is_not_usage_commits_what_is_pending() {
    let check = |change: fn(CreditBlockId) -> NewLedgerEntry| {
        let priced = credited_with("10");
        let id = priced.blocks()[0].id;
        priced.use_now("a", "1");
        priced.book(change(id)).unwrap();
        let drawn = priced.entries().remove(1);
        assert_eq!((drawn.entry_status, &drawn.amount), (EntryStatus::Committed, &number("-1")));
        priced.use_now("b", "2");
        let entries = priced.entries();
        assert_eq!(entries[1], drawn, "it is immutable");
        let last = entries.last().unwrap();
        assert_eq!((last.entry_status, &last.amount), (EntryStatus::Pending, &number("-2")));
    };
    check(|_| increment("1"));
    check(|_| decrement("1"));
    check(|id| void("1", id));
    check(|id| amendment("1", id));
    check(|id| extension(id, "2026-05-01T00:00:00Z"));
}

#[test]
fn a_block_that_expires_commits_what_is_pending() {
    let priced = credited();
    priced.give_until("5", "2026-03-10T18:00:00Z");
    priced.use_now("a", "1");
    priced.fixture.set("2026-03-10T18:00:00Z");
    let statuses = || {
        let show = |entry: &LedgerEntry| (show(entry), entry.entry_status);
        priced.entries()[1..].iter().map(show).collect::<Vec<_>>()
    };
    let expect = ["decrement -1 = 4", "credit_block_expiry -4 = 0"];
    let expect = expect.map(|shown| (shown.to_owned(), EntryStatus::Committed));
    assert_eq!(statuses(), expect);
    priced.use_now("b", "1");
    assert_eq!(statuses()[2], ("decrement -1 = -1".to_owned(), EntryStatus::Pending));
}

#[test]
fn a_day_has_an_entry_for_each_block() {
    let priced = credited();
    priced.give_until("2", "2026-04-01T00:00:00Z");
    priced.give("3");
    for key in ["a", "b", "c", "d"] {
        priced.use_now(key, "1.5");
    }
    let expect = ["decrement -2 = 3", "decrement -3 = 0", "decrement -1 = -1"];
    assert_eq!(priced.ledger()[2..], expect);
}
