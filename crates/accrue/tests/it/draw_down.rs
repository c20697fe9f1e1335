//! Usage draws credits down while it is ingested.

use accrue::{
    ErrorKind, PageRequest,
    credit::{CreditBlockFilter, LedgerFilter, NewLedgerEntry},
    price::{Adjustments, Discount},
};

use crate::support::{
    credited::{
        CREDITS, amendment, block, credited, credited_with, decrement, depleted, dropped,
        increment, recovered, void,
    },
    fixture::{NOON, at, block_on, event, number, refused, run},
    priced::{Priced, priced, unit},
};

#[test]
fn without_a_ledger_nothing_is_drawn() {
    let priced = credited();
    priced.use_now("a", "3");
    assert_eq!(priced.balance(), None);
    priced.give("5");
    assert_eq!(priced.balance().as_deref(), Some("5"));
    priced.use_now("b", "1");
    assert_eq!(priced.balance().as_deref(), Some("4"));
}

#[test]
fn usage_then_dropped_then_depleted_then_recovered() {
    let priced = credited_with("5");
    priced.watch(recovered());
    priced.watch(depleted());
    priced.watch(dropped(&["2.5", "1"]));
    assert!(priced.told().is_empty());
    priced.use_now("a", "2.5");
    priced.use_now("b", "2.5");
    priced.give("1.5");
    priced.give("1.5");
    let told = priced.told();
    let expect = [
        "dropped 2.5: 5 -> 2.5 by event a",
        "dropped 1: 2.5 -> 0 by event b",
        "depleted: 2.5 -> 0 by event b",
        "recovered: 0 -> 1.5 by credit",
    ];
    assert_eq!(told, expect);
    priced.use_now("c", "5");
    let expect = ["dropped 2.5 1: 3 -> -2 by event c", "depleted: 3 -> -2 by event c"];
    assert_eq!(priced.told(), expect);
}

/// Gives blocks of one credit each, from `(effective date, expiry date, cost basis)`, and makes
/// sure in which order usage spends them.
fn check_order(blocks: &[(&str, &str, &str)], expect: &[usize]) {
    let priced = credited();
    let give = |(effective, expiry, basis): &(&str, &str, &str)| {
        priced.book(block("1", effective, expiry, basis)).unwrap().credit_block.id
    };
    let given: Vec<_> = blocks.iter().map(give).collect();
    let spend = |n: usize| {
        priced.use_now(&n.to_string(), "1");
        let last = priced.entries().pop().unwrap();
        assert_eq!(last.amount, number("-1"));
        given.iter().position(|id| *id == last.credit_block.id).unwrap()
    };
    assert_eq!((0..given.len()).map(spend).collect::<Vec<_>>(), expect);
}

#[test]
fn blocks_are_spent_by_expiry_then_cost_basis_then_effective_date_then_age() {
    let (early, late) = ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z");
    let (soon, far) = ("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z");
    check_order(&[("", "", ""), ("", far, ""), ("", soon, "")], &[2, 1, 0]);
    check_order(&[("", soon, "2"), ("", soon, "0.5"), ("", soon, "")], &[2, 1, 0]);
    check_order(&[(late, "", "1"), (early, "", "1")], &[1, 0]);
    check_order(&[("", "", ""); 3], &[0, 1, 2]);
    check_order(&[(early, "", "0"), (late, far, "1"), (late, soon, "9")], &[2, 1, 0]);
}

#[test]
fn a_decrement_of_the_caller_takes_from_the_same_blocks() {
    let priced = credited();
    for expiry in ["", "2026-05-01T00:00:00Z", "2026-04-01T00:00:00Z"] {
        priced.book(block("2", "", expiry, "")).unwrap();
    }
    priced.book(decrement("3")).unwrap();
    assert_eq!(priced.all_blocks(), ["2 of 2", "1 of 2", "0 of 2"]);
}

#[test]
fn a_block_that_is_not_effective_counts_and_is_not_drawn() {
    let priced = credited_with("5");
    priced.book(block("10", "2026-03-12T00:00:00Z", "2026-04-01T00:00:00Z", "")).unwrap();
    assert_eq!(priced.standing(), "15: 5, 0");
    priced.use_now("a", "7");
    assert_eq!(priced.standing(), "8: 0, 2");
    assert_eq!(priced.all_blocks(), ["0 of 5", "10 of 10", "-2 overdrawn"]);
    priced.fixture.set("2026-03-11T23:59:59.999999Z");
    assert_eq!(priced.standing(), "8: 0, 2");
    priced.fixture.set("2026-03-12T00:00:00Z");
    assert_eq!(priced.standing(), "8: 10, 2", "it does not pay the overdraft off");
    priced.use_now("b", "1");
    assert_eq!(priced.all_blocks(), ["0 of 5", "9 of 10", "-2 overdrawn"]);
    priced.give("3");
    assert_eq!(priced.standing(), "10: 10, 0", "the next increment does");
}

#[test]
fn a_decrement_of_the_caller_does_not_take_from_a_block_that_is_not_effective() {
    let priced = credited();
    priced.book(block("10", "2026-03-12T00:00:00Z", "", "")).unwrap();
    priced.book(decrement("1")).unwrap();
    assert_eq!(priced.standing(), "9: 0, 1");
}

#[test]
fn a_block_that_becomes_effective_later_pays_the_overdraft_off_when_it_is_given() {
    let priced = credited();
    priced.book(decrement("3")).unwrap();
    priced.book(block("10", "2026-03-12T00:00:00Z", "", "")).unwrap();
    assert_eq!(priced.standing(), "7: 0, 0");
}

#[test]
fn usage_may_take_the_balance_below_zero_and_an_increment_pays_it_off() {
    let priced = credited_with("1");
    priced.use_now("a", "3");
    priced.use_now("b", "0.5");
    assert_eq!(priced.standing(), "-2.5: 0, 2.5");
    assert_eq!(priced.blocks(), [], "the overdraft is listed with all blocks only");
    priced.give("2");
    assert_eq!(priced.standing(), "-0.5: 0, 0.5");
    priced.give("2");
    assert_eq!(priced.standing(), "1.5: 1.5, 0");
    assert_eq!(priced.all_blocks(), ["0 of 1", "0 overdrawn", "0 of 2", "1.5 of 2"]);
}

/// A customer on a price of 1 in USD for each unit, with some adjustments, and on two fees; and with
/// 100 USD of credits.
fn adjusted(adjustments: Adjustments) -> Priced {
    let priced = priced(|fixture, metric| {
        let mut usage = fixture.usage_at("1", metric);
        usage.adjustments = adjustments;
        [usage, fixture.advance_fee("5"), fixture.arrear_fee("7")]
    });
    let new = NewLedgerEntry::increment(unit("USD"), number("100"));
    run(priced.fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
    priced
}

#[test]
fn fees_minima_maxima_and_discounts_do_not_draw() {
    let check = |adjustments: Adjustments| {
        let priced = adjusted(adjustments);
        let standing = || priced.fixture.standing(priced.customer, "USD");
        assert_eq!(standing(), "100: 100, 0", "the fee in advance draws nothing");
        priced.use_now("a", "20");
        assert_eq!(standing(), "80: 80, 0", "usage draws what it costs without adjustments");
        priced.fixture.set("2026-04-10T12:00:00Z");
        priced.fixture.tick();
        assert_eq!(standing(), "80: 80, 0", "neither does the end of a billing period");
    };
    check(Adjustments::default());
    check(Adjustments { minimum: Some(number("50")), ..Default::default() });
    check(Adjustments { maximum: Some(number("10")), ..Default::default() });
    for discount in [
        Discount::Percentage(accrue::Fraction::parse("0.5").unwrap()),
        Discount::Amount(number("15")),
        Discount::Usage(number("15")),
    ] {
        check(Adjustments { discounts: vec![discount], ..Default::default() });
    }
}

#[test]
fn a_discount_of_all_units_draws_them_nevertheless() {
    let adjustments =
        Adjustments { discounts: vec![Discount::Usage(number("50"))], ..Default::default() };
    let priced = adjusted(adjustments);
    priced.use_now("a", "20");
    assert_eq!(priced.fixture.standing(priced.customer, "USD"), "80: 80, 0");
}

#[test]
fn prices_draw_on_the_ledger_of_their_own_currency_or_unit() {
    let priced = priced(|fixture, metric| {
        let mut credits = fixture.usage_at("3", metric);
        credits.currency = unit(CREDITS);
        let mut more = fixture.usage_at("4", metric);
        more.currency = unit(CREDITS);
        let mut tokens = fixture.usage_at("100", metric);
        tokens.currency = unit("tokens");
        [fixture.usage_at("1", metric), credits, more, tokens]
    });
    for currency in ["USD", CREDITS, "EUR"] {
        let new = NewLedgerEntry::increment(unit(currency), number("50"));
        run(priced.fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
    }
    priced.use_now("a", "2");
    let standings = ["USD", CREDITS, "EUR", "tokens"];
    let standings = standings.map(|of| priced.fixture.standing(priced.customer, of));
    assert_eq!(standings, ["48: 48, 0", "36: 36, 0", "50: 50, 0", "none: 0, 0"]);
}

#[test]
fn a_conversion_rate_does_not_make_a_price_draw_on_the_invoicing_currency() {
    let priced = priced(|fixture, metric| {
        let mut tokens = fixture.usage_at("100", metric);
        tokens.currency = unit("tokens");
        tokens.conversion_rate = Some(number("0.01").into());
        [tokens]
    });
    let new = NewLedgerEntry::increment(unit("USD"), number("50"));
    run(priced.fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
    priced.use_now("a", "2");
    assert_eq!(priced.fixture.standing(priced.customer, "USD"), "50: 50, 0");
}

#[test]
fn an_event_draws_for_every_subscription_that_it_counts_for() {
    let priced = credited_with("10");
    priced.fixture.subscribe(priced.customer, &priced.plan);
    priced.use_now("a", "3");
    assert_eq!(priced.standing(), "4: 4, 0");
    assert_eq!(priced.ledger(), ["increment 10 = 10", "decrement -6 = 4"]);
}

#[test]
fn a_customer_is_drawn_for_its_own_usage_alone() {
    let priced = credited_with("10");
    let eve = priced.fixture.customer("eve").id;
    priced.fixture.subscribe(eve, &priced.plan);
    run(priced.fixture.account.create_ledger_entry(eve, increment("10"))).unwrap();
    priced.fixture.use_now("eve", "a", "3");
    assert_eq!(priced.standing(), "10: 10, 0");
    assert_eq!(priced.fixture.standing(eve, CREDITS), "7: 7, 0");
}

#[test]
fn an_event_that_is_sent_again_draws_once() {
    let priced = credited_with("10");
    for _ in 0..3 {
        priced.use_now("a", "3");
    }
    assert_eq!(priced.standing(), "7: 7, 0");
}

#[test]
fn a_batch_with_an_event_that_is_refused_draws_nothing() {
    let priced = credited_with("10");
    let now = at(NOON);
    let batch = [event("ada", "a", now, "1"), event("ada", "b", at("2026-01-01T00:00:00Z"), "1")];
    refused(&priced.fixture, priced.fixture.account.ingest(batch));
    assert_eq!(priced.standing(), "10: 10, 0");
}

#[test]
fn usage_of_the_previous_period_draws_within_the_grace_period() {
    let priced = credited_with("10");
    priced.fixture.set("2026-04-11T11:00:00Z");
    priced.use_at("a", "2026-04-10T12:00:00Z", "1");
    priced.use_at("b", "2026-04-10T11:59:59Z", "2");
    let entries = priced.entries();
    assert_eq!(priced.ledger(), ["increment 10 = 10", "decrement -3 = 7"]);
    assert_eq!(entries[1].created_at, at("2026-04-11T11:00:00Z"), "it draws now");
}

#[test]
fn usage_outside_the_life_of_the_subscription_draws_nothing() {
    let priced = credited_with("10");
    priced.use_at("a", "2026-03-10T11:59:59Z", "3");
    assert_eq!(priced.standing(), "10: 10, 0");
}

#[test]
fn usage_draws_from_the_blocks_of_now_and_not_of_its_own_instant() {
    let priced = credited();
    priced.book(block("5", "2026-03-11T00:00:00Z", "", "")).unwrap();
    priced.fixture.set("2026-03-11T01:00:00Z");
    priced.use_at("a", "2026-03-10T23:00:00Z", "2");
    assert_eq!(priced.standing(), "3: 3, 0");
}

#[test]
fn batches_do_not_matter() {
    let numbers = ["1", "0.5", "4", "0", "2.25", "-1", "3", "10", "-3"];
    let story = |sizes: &[usize]| {
        let priced = credited();
        priced.book(block("3", "", "2026-03-20T00:00:00Z", "")).unwrap();
        priced.give("5");
        priced.watch(dropped(&["7", "4", "0", "-5"]));
        priced.watch(depleted());
        priced.told();
        let events = numbers.iter().enumerate();
        let events = events.map(|(n, value)| event("ada", &n.to_string(), at(NOON), value));
        let mut events: Vec<_> = events.collect();
        for size in sizes {
            let rest = events.split_off(*size);
            run(priced.fixture.account.ingest(std::mem::replace(&mut events, rest))).unwrap();
        }
        assert!(events.is_empty());
        (priced.entries(), priced.every_block(), priced.told())
    };
    let singly = story(&[1; 9]);
    assert!(singly.0.len() > 4 && singly.2.len() > 3, "{singly:?}");
    for sizes in [&[9][..], &[4, 5], &[2, 3, 4], &[8, 1]] {
        assert_eq!(story(sizes), singly, "in batches of {sizes:?}");
    }
}

#[test]
fn a_batch_for_two_customers_draws_on_the_ledger_of_each() {
    let priced = credited_with("10");
    let eve = priced.fixture.customer("eve").id;
    priced.fixture.subscribe(eve, &priced.plan);
    run(priced.fixture.account.create_ledger_entry(eve, increment("10"))).unwrap();
    let batch = ["ada", "eve", "ada"];
    let batch = batch.iter().enumerate();
    let batch = batch.map(|(n, who)| event(who, &n.to_string(), at(NOON), "2"));
    run(priced.fixture.account.ingest(batch)).unwrap();
    assert_eq!(priced.standing(), "6: 6, 0");
    assert_eq!(priced.fixture.standing(eve, CREDITS), "8: 8, 0");
}

#[test]
fn a_subscription_over_earlier_usage_draws_what_that_costs() {
    let priced = credited_with("10");
    priced.watch(dropped(&["5"]));
    let eve = priced.fixture.customer("eve").id;
    run(priced.fixture.account.create_ledger_entry(eve, increment("10"))).unwrap();
    run(priced.fixture.account.create_customer_alert(eve, dropped(&["5"]))).unwrap();
    for (key, at) in [("a", NOON), ("b", "2026-03-10T13:00:00Z")] {
        priced.fixture.set(at);
        priced.fixture.use_now("eve", key, "3");
    }
    priced.fixture.drain();
    assert_eq!(priced.fixture.standing(eve, CREDITS), "10: 10, 0");
    priced.fixture.subscribe_from(eve, &priced.plan, Some("2026-03-01T00:00:00Z"));
    assert_eq!(priced.fixture.standing(eve, CREDITS), "4: 4, 0");
    assert_eq!(priced.told(), ["dropped 5: 10 -> 4 by subscription"]);
    assert_eq!(priced.standing(), "10: 10, 0");
}

#[test]
fn usage_that_waits_for_its_customer_draws_when_it_subscribes() {
    let priced = credited();
    priced.fixture.use_now("eve", "a", "3");
    let eve = priced.fixture.customer("eve").id;
    run(priced.fixture.account.create_ledger_entry(eve, increment("10"))).unwrap();
    priced.fixture.subscribe_from(eve, &priced.plan, Some("2026-03-01T00:00:00Z"));
    assert_eq!(priced.fixture.standing(eve, CREDITS), "7: 7, 0");
}

#[test]
fn a_ledger_is_not_drawn_for_usage_before_its_first_entry() {
    let priced = credited();
    priced.use_now("a", "3");
    priced.give("10");
    assert_eq!(priced.standing(), "10: 10, 0");
    let later =
        priced.fixture.subscribe_from(priced.customer, &priced.plan, Some("2026-03-01T00:00:00Z"));
    assert_eq!(priced.standing(), "7: 7, 0", "a new subscription draws for it: {}", later.id);
}

#[test]
fn where_credits_are_off_usage_draws_nothing() {
    let priced = credited_with("10");
    priced.fixture.credits(false);
    priced.use_now("a", "3");
    priced.fixture.credits(true);
    assert_eq!(priced.ledger(), ["increment 10 = 10"]);
    priced.use_now("b", "2");
    assert_eq!(priced.standing(), "8: 8, 0");
}

#[test]
fn where_credits_are_off_they_are_not_available() {
    let priced = credited_with("10");
    let id = priced.blocks()[0].id;
    priced.fixture.credits(false);
    let (account, ada) = (&priced.fixture.account, priced.customer);
    for new in [increment("1"), decrement("1"), void("1", id), amendment("1", id)] {
        let (kind, detail) = refused(&priced.fixture, account.create_ledger_entry(ada, new));
        assert_eq!(kind, ErrorKind::FeatureNotAvailable);
        assert_eq!(detail, "credits are not available to this account");
    }
    let (credits, page) = (unit(CREDITS), PageRequest::default());
    let check = |error: accrue::Error| assert_eq!(error.kind(), ErrorKind::FeatureNotAvailable);
    check(block_on(account.credit_balance(ada, &credits)).unwrap_err());
    check(block_on(account.fetch_credit_block(id)).unwrap_err());
    let any = CreditBlockFilter::default();
    let list = account.list_credit_blocks(ada, &credits, &any, &page);
    check(block_on(list).unwrap_err());
    let any = LedgerFilter::default();
    let list = account.list_ledger_entries(ada, &credits, &any, &page);
    check(block_on(list).unwrap_err());
    priced.fixture.credits(true);
    assert_eq!(priced.standing(), "10: 10, 0");
}
