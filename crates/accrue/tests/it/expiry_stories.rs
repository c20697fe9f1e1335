//! What has expired is applied in the order of its instants, whoever looks in between.

use accrue::credit::LedgerEntry;

use crate::{
    expiry::{LATER, SOON},
    support::{
        credited::{block, credited, depleted, dropped, extension, increment, recovered, show},
        fixture::{block_on, run, thresholds},
        priced::Priced,
    },
};

/// What happens at an instant.
pub(crate) type Step = (&'static str, fn(&Priced));

/// Tells a story; after those steps that are chosen by a bit everything due is applied. At the end it
/// always is. Gives the entries, and the messages with their instants.
fn tell(steps: &[Step], looks: usize) -> (Vec<LedgerEntry>, Vec<String>) {
    let priced = credited();
    priced.fixture.tick();
    for (index, (now, step)) in steps.iter().enumerate() {
        priced.fixture.set(now);
        step(&priced);
        if looks & (1 << index) != 0 {
            for _ in 0..2 {
                priced.fixture.tick();
            }
        }
    }
    priced.fixture.tick();
    (priced.entries(), priced.fixture.dated())
}

/// Makes sure that a story is the same whoever looks in between, and what it is: the entries, and
/// the messages about alerts.
pub(crate) fn check(steps: &[Step], ledger: &[&str], told: &[&str]) {
    let lazy = tell(steps, 0);
    let shown: Vec<_> = lazy.0.iter().map(show).collect();
    assert_eq!(shown, ledger);
    let alerts: Vec<_> = lazy.1.iter().filter(|told| told.contains("balance_")).collect();
    assert_eq!(alerts, told);
    for looks in 1..1 << steps.len() {
        assert_eq!(tell(steps, looks), lazy, "applied after the steps {looks:b}");
    }
}

#[test]
fn usage_at_the_instant_of_an_expiry_finds_nothing() {
    check(
        &[
            ("2026-03-15T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
            }),
            (SOON, |priced| priced.use_now("a", "1")),
        ],
        &["increment 5 = 5", "credit_block_expiry -5 = 0", "decrement -1 = -1"],
        &[],
    );
}

#[test]
fn at_the_instant_of_an_increment_the_expiry_comes_first() {
    check(
        &[
            ("2026-03-15T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.watch(depleted());
                priced.watch(recovered());
            }),
            (SOON, |priced| {
                priced.give("3");
            }),
        ],
        &["increment 5 = 5", "credit_block_expiry -5 = 0", "increment 3 = 3"],
        &[
            "2026-03-20T00:00:00Z customer.credit_balance_depleted",
            "2026-03-20T00:00:00Z customer.credit_balance_recovered",
        ],
    );
}

#[test]
fn a_story_is_the_same_whoever_looks() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.give_until("2", LATER);
                priced.watch(dropped(&["6", "3", "1"]));
            }),
            ("2026-03-21T00:00:00Z", |priced| priced.use_now("a", "0.5")),
            ("2026-03-22T00:00:00Z", |priced| {
                priced.book(increment("4")).unwrap();
            }),
            ("2026-03-23T00:00:00Z", |priced| {
                priced.watch(depleted());
            }),
            ("2026-03-26T00:00:00Z", |priced| priced.use_now("b", "5")),
        ],
        &[
            "increment 5 = 5",
            "increment 2 = 7",
            "credit_block_expiry -5 = 2",
            "decrement -0.5 = 1.5",
            "increment 4 = 5.5",
            "credit_block_expiry -1.5 = 4",
            "decrement -4 = 0",
            "decrement -1 = -1",
        ],
        &[
            "2026-03-20T00:00:00Z customer.credit_balance_dropped",
            "2026-03-26T00:00:00Z customer.credit_balance_dropped",
            "2026-03-26T00:00:00Z customer.credit_balance_depleted",
        ],
    );
}

#[test]
fn an_alert_is_judged_at_an_expiry_as_it_was_then() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.give_until("4", LATER);
                priced.give("3");
                priced.watch(dropped(&["7"]));
            }),
            ("2026-03-21T00:00:00Z", |priced| disable(priced)),
            ("2026-03-26T00:00:00Z", |priced| rethreshold(priced, &["7", "3"])),
            ("2026-03-27T00:00:00Z", |priced| enable(priced)),
        ],
        &[
            "increment 5 = 5",
            "increment 4 = 9",
            "increment 3 = 12",
            "credit_block_expiry -5 = 7",
            "credit_block_expiry -4 = 3",
        ],
        &[
            "2026-03-20T00:00:00Z customer.credit_balance_dropped",
            "2026-03-27T00:00:00Z customer.credit_balance_dropped",
        ],
    );
}

fn only_alert(priced: &Priced) -> accrue::AlertId {
    let page = Default::default();
    let any = accrue::ListFilter::default();
    let list = priced.fixture.account.list_customer_alerts(priced.customer, &any, &page);
    block_on(list).unwrap().data[0].id
}

pub(crate) fn disable(priced: &Priced) {
    priced.fixture.disable(only_alert(priced));
}

fn enable(priced: &Priced) {
    priced.fixture.enable(only_alert(priced));
}

pub(crate) fn rethreshold(priced: &Priced, values: &[&str]) {
    run(priced.fixture.account.update_alert(only_alert(priced), thresholds(values))).unwrap();
}

#[test]
fn an_alert_that_is_created_after_an_expiry_does_not_see_it() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.give("3");
            }),
            ("2026-03-21T00:00:00Z", |priced| {
                priced.watch(dropped(&["3"]));
            }),
        ],
        &["increment 5 = 5", "increment 3 = 8", "credit_block_expiry -5 = 3"],
        &["2026-03-21T00:00:00Z customer.credit_balance_dropped"],
    );
    let priced = credited();
    priced.give_until("5", SOON);
    priced.give("3");
    priced.fixture.set("2026-03-21T00:00:00Z");
    priced.watch(dropped(&["3"]));
    assert_eq!(priced.told(), ["dropped 3: 3 -> 3 by configuration"]);
}

#[test]
fn an_alert_that_is_deleted_after_an_expiry_has_seen_it() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.watch(depleted());
            }),
            ("2026-03-21T00:00:00Z", |priced| {
                run(priced.fixture.account.delete_alert(only_alert(priced))).unwrap();
            }),
        ],
        &["increment 5 = 5", "credit_block_expiry -5 = 0"],
        &["2026-03-20T00:00:00Z customer.credit_balance_depleted"],
    );
}

#[test]
fn alerts_that_were_off_at_an_expiry_do_not_fire_for_it() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.give_until("4", LATER);
                priced.give("1");
                priced.watch(dropped(&["5", "1"]));
            }),
            ("2026-03-15T00:00:00Z", |priced| alerts(priced, false)),
            ("2026-03-22T00:00:00Z", |priced| alerts(priced, true)),
            ("2026-03-26T00:00:00Z", |_| {}),
        ],
        &[
            "increment 5 = 5",
            "increment 4 = 9",
            "increment 1 = 10",
            "credit_block_expiry -5 = 5",
            "credit_block_expiry -4 = 1",
        ],
        &["2026-03-25T00:00:00Z customer.credit_balance_dropped"],
    );
}

pub(crate) fn alerts(priced: &Priced, alerts: bool) {
    let mut configuration = block_on(priced.fixture.account.configuration()).unwrap();
    configuration.features.alerts = alerts;
    run(priced.fixture.account.configure(configuration)).unwrap();
}

#[test]
fn a_block_expires_while_credits_are_off() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
            }),
            ("2026-03-15T00:00:00Z", |priced| priced.fixture.credits(false)),
            ("2026-03-21T00:00:00Z", |priced| priced.use_now("a", "1")),
            ("2026-03-22T00:00:00Z", |priced| priced.fixture.credits(true)),
        ],
        &["increment 5 = 5", "credit_block_expiry -5 = 0"],
        &[],
    );
}

#[test]
fn a_block_whose_expiry_was_changed_expires_at_the_new_date() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                let id = priced.give_until("5", SOON).credit_block.id;
                priced.book(extension(id, LATER)).unwrap();
            }),
            ("2026-03-21T00:00:00Z", |priced| priced.use_now("a", "1")),
            ("2026-03-26T00:00:00Z", |_| {}),
        ],
        &[
            "increment 5 = 5",
            "expiration_change 0 = 5",
            "decrement -1 = 4",
            "credit_block_expiry -4 = 0",
        ],
        &[],
    );
}

#[test]
fn a_block_that_is_not_effective_yet_counts_until_it_becomes_so_and_expires() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.book(block("5", SOON, LATER, "")).unwrap();
            }),
            ("2026-03-26T00:00:00Z", |_| {}),
        ],
        &["increment 5 = 5", "credit_block_expiry -5 = 0"],
        &[],
    );
}
