//! What one instant brings does not depend on who looked at it first.

use accrue::{ErrorKind, PageRequest, credit::CreditBlockFilter};

use crate::{
    expiry::{LATER, SOON},
    expiry_stories::{alerts, check},
    support::{
        credited::{CREDITS, credited, credited_with, depleted, increment},
        fixture::{at, block_on, number, run},
        priced::{cost_alert, priced, unit},
    },
};

#[test]
fn alerts_that_go_off_at_the_instant_of_an_expiry_do_so_after_it() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.watch(depleted());
            }),
            (SOON, |_| {}),
            (SOON, |priced| alerts(priced, false)),
            (LATER, |_| {}),
        ],
        &["increment 5 = 5", "credit_block_expiry -5 = 0"],
        &["2026-03-20T00:00:00Z customer.credit_balance_depleted"],
    );
}

#[test]
fn alerts_that_come_on_at_the_instant_of_an_expiry_do_so_after_it() {
    check(
        &[
            ("2026-03-11T00:00:00Z", |priced| {
                priced.give_until("5", SOON);
                priced.watch(depleted());
            }),
            ("2026-03-12T00:00:00Z", |priced| alerts(priced, false)),
            (SOON, |_| {}),
            (SOON, |priced| alerts(priced, true)),
            (LATER, |_| {}),
        ],
        &["increment 5 = 5", "credit_block_expiry -5 = 0"],
        &[],
    );
}

#[test]
fn alerts_that_go_off_at_the_instant_of_a_turn_do_so_after_it() {
    let story = |looks: bool| {
        let priced = priced(|fixture, _| [fixture.arrear_fee("5")]);
        priced.alert(cost_alert(&["5"]));
        priced.fixture.set("2026-04-10T12:00:00Z");
        if looks {
            priced.fixture.tick();
        }
        alerts(&priced, false);
        priced.fixture.set("2026-04-11T00:00:00Z");
        priced.fixture.tick();
        priced.told()
    };
    assert_eq!(story(false), story(true));
}

#[test]
fn what_is_available_is_what_usage_would_draw_where_the_clock_is_behind() {
    let priced = credited();
    priced.give_until("5", SOON);
    priced.fixture.set(LATER);
    priced.fixture.tick();
    let clock = accrue::ManualClock::at(at("2026-03-19T00:00:00Z"));
    let store = std::sync::Arc::clone(&priced.fixture.store);
    let behind = accrue::Billing::new(store, clock, accrue::SeededEntropy::new(7));
    let behind = behind.account(accrue::AccountId::parse("acme").unwrap());
    run(behind.create_ledger_entry(priced.customer, increment("3"))).unwrap();
    let balance = || block_on(behind.credit_balance(priced.customer, &unit(CREDITS))).unwrap();
    assert_eq!(balance().balance, Some(number("3")));
    assert_eq!(balance().available, number("3"));
}

#[test]
fn a_page_of_a_ledger_is_no_page_of_another_list() {
    let priced = credited_with("5");
    let page = PageRequest::first_of_ledger(101).unwrap();
    let (account, credits, any) =
        (&priced.fixture.account, unit(CREDITS), CreditBlockFilter::default());
    let blocks = block_on(account.list_credit_blocks(priced.customer, &credits, &any, &page));
    assert_eq!(blocks.unwrap_err().kind(), ErrorKind::RequestValidation);
    let items = block_on(account.list_items(&Default::default(), &page));
    assert_eq!(items.unwrap_err().kind(), ErrorKind::RequestValidation);
}
