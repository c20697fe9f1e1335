//! A ledger as a whole: whose it is, what it is in, and what a retry makes of it.

use accrue::{
    CreditBlockId, CustomerId, Decimal, IdOr, IdempotencyKey, PageRequest,
    credit::{CreditBlockFilter, LedgerFilter, NewLedgerEntry},
};

use crate::support::{
    credited::{
        CREDITS, amendment, credited, credited_with, decrement, extension, increment, show, void,
    },
    fixture::{Fixture, block_on, external, number, run},
    priced::unit,
};

#[test]
fn the_entries_form_a_chain() {
    let priced = credited();
    let id = priced.give_until("9", "2026-03-20T00:00:00Z").credit_block.id;
    priced.use_now("a", "1");
    priced.book(decrement("2")).unwrap();
    priced.book(void("1", id)).unwrap();
    priced.book(amendment("1", id)).unwrap();
    priced.book(extension(id, "2026-03-15T00:00:00Z")).unwrap();
    priced.use_now("b", "8");
    priced.give("4");
    priced.fixture.set("2026-03-16T00:00:00Z");
    let entries = priced.entries();
    assert_eq!(entries.len(), 10);
    let (mut balance, mut number) = (Decimal::zero(), 0);
    for entry in &entries {
        number += 1;
        assert_eq!((entry.ledger_sequence_number, &entry.starting_balance), (number, &balance));
        balance += entry.amount.clone();
        assert_eq!(entry.ending_balance, balance);
    }
    assert!(entries.is_sorted_by_key(|entry| entry.created_at));
}

#[test]
fn s4_1_a_customer_is_named_by_its_external_id_as_well() {
    let priced = credited();
    let (account, credits) = (&priced.fixture.account, unit(CREDITS));
    let names: [IdOr<CustomerId>; 2] = [priced.customer.into(), external("ada").into()];
    for name in names.clone() {
        let entry = run(account.create_ledger_entry(name, increment("2"))).unwrap();
        assert_eq!(entry.customer_id, priced.customer);
    }
    let [by_id, by_alias] = names.map(|name| {
        let (filter, page) = (LedgerFilter::default(), PageRequest::default());
        let entries = account.list_ledger_entries(name.clone(), &credits, &filter, &page);
        let blocks = CreditBlockFilter::default();
        let blocks = account.list_credit_blocks(name.clone(), &credits, &blocks, &page);
        let balance = account.credit_balance(name, &credits);
        (
            block_on(entries).unwrap().data,
            block_on(blocks).unwrap().data,
            block_on(balance).unwrap(),
        )
    });
    assert_eq!(by_id, by_alias);
    let (entries, blocks, balance) = by_id;
    assert_eq!((entries.len(), blocks.len(), balance.balance), (2, 2, Some(number("4"))));
}

#[test]
fn ledgers_in_a_currency_and_in_a_unit_stand_side_by_side() {
    let priced = credited();
    let fixture = &priced.fixture;
    let book = |currency: &str, amount: &str| {
        let new = NewLedgerEntry::increment(unit(currency), number(amount));
        run(fixture.account.create_ledger_entry(priced.customer, new)).unwrap()
    };
    let first = book("USD", "5");
    let second = book(CREDITS, "7");
    let third = book("Credits", "9");
    let numbers = [&first, &second, &third].map(|entry| entry.ledger_sequence_number);
    assert_eq!(numbers, [1; 3]);
    assert_ne!(first.id, second.id);
    let new = NewLedgerEntry::decrement(unit("USD"), number("6"));
    run(fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
    let standings = ["USD", CREDITS, "Credits", "EUR"];
    let standings = standings.map(|currency| fixture.standing(priced.customer, currency));
    assert_eq!(standings, ["-1: 0, 1", "7: 7, 0", "9: 9, 0", "none: 0, 0"]);
    assert_eq!(priced.ledger(), ["increment 7 = 7"]);
}

#[test]
fn customers_have_ledgers_of_their_own() {
    let priced = credited_with("5");
    let eve = priced.fixture.customer("eve").id;
    assert_eq!(priced.fixture.standing(eve, CREDITS), "none: 0, 0");
    run(priced.fixture.account.create_ledger_entry(eve, decrement("1"))).unwrap();
    assert_eq!(priced.fixture.standing(eve, CREDITS), "-1: 0, 1");
    assert_eq!(priced.standing(), "5: 5, 0");
}

#[test]
fn s4_5_6_a_retry_is_answered_the_same_entry_and_adds_none() {
    let check = |change: fn(CreditBlockId) -> NewLedgerEntry| {
        let priced = credited_with("5");
        priced.book(decrement("2")).unwrap();
        let id = priced.blocks()[0].id;
        let ask = |new: NewLedgerEntry| {
            let call = priced.fixture.account.create_ledger_entry(priced.customer, new);
            block_on(call.keyed(IdempotencyKey::parse("key").unwrap()).into_future())
        };
        let first = ask(change(id)).unwrap();
        assert!(!first.is_replayed());
        priced.fixture.messages();
        let before = priced.fixture.dump();
        priced.fixture.advance_days(1);
        let again = ask(change(id)).unwrap();
        assert!(again.is_replayed());
        assert_eq!(again.outcome, first.outcome);
        assert_eq!(priced.fixture.dump(), before);
        let other = ask(NewLedgerEntry { currency: unit("USD"), ..change(id) }).unwrap_err();
        assert!(other.is_conflict());
    };
    check(|_| increment("1"));
    check(|_| decrement("4"));
    check(|id| extension(id, "2026-05-01T00:00:00Z"));
    check(|id| void("1", id));
    check(|id| amendment("1", id));
}

#[test]
fn s4_5_6_a_refusal_of_a_key_is_answered_again() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let ask = || {
        let call = priced.fixture.account.create_ledger_entry(priced.customer, void("6", id));
        block_on(call.keyed(IdempotencyKey::parse("key").unwrap()).into_future()).unwrap_err()
    };
    let first = ask();
    assert!(!first.is_replayed());
    priced.give("5");
    let again = ask();
    assert_eq!((again.is_replayed(), again.to_string()), (true, first.to_string()));
    assert_eq!(priced.standing(), "10: 10, 0");
}

#[test]
fn what_an_entry_answers_is_what_the_ledger_lists() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada").id;
    let answered = ["3", "4", "5"]
        .map(|amount| run(fixture.account.create_ledger_entry(ada, increment(amount))).unwrap());
    assert_eq!(fixture.entries(ada, LedgerFilter::default()), answered);
    assert_eq!(
        answered.each_ref().map(show),
        ["increment 3 = 3", "increment 4 = 7", "increment 5 = 12"]
    );
}
