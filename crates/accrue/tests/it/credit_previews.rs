//! What an operation would bring to a ledger, with nothing written.

use accrue::{BalanceChange, Call, Preview};

use crate::support::{
    credited::{credited, credited_with, decrement, depleted, dropped, entry, increment},
    fixture::{NOON, at, block_on, event},
    priced::Priced,
};

/// Previews an operation: the balances that it would move, and the messages that it would write.
fn preview<T: Send + 'static>(priced: &Priced, call: Call<T>) -> (Vec<String>, Vec<&'static str>) {
    let before = priced.fixture.dump();
    let Preview { messages, balances, .. } = block_on(call.preview()).unwrap();
    assert_eq!(priced.fixture.dump(), before, "nothing is written");
    let show = |BalanceChange { before, after, .. }: &BalanceChange| match before {
        Some(before) => format!("{before} -> {after}"),
        None => format!("none -> {after}"),
    };
    let types = messages.iter().map(|message| message.body.message_type());
    (balances.iter().map(show).collect(), types.collect())
}

#[test]
fn usage_is_previewed_with_what_it_would_draw_and_tell() {
    let priced = credited_with("10");
    priced.watch(dropped(&["5"]));
    let batch = [event("ada", "a", at(NOON), "4"), event("ada", "b", at(NOON), "2")];
    let (balances, told) = preview(&priced, priced.fixture.account.ingest(batch));
    assert_eq!(
        (balances, told),
        (vec!["10 -> 4".to_owned()], vec!["customer.credit_balance_dropped"])
    );
}

#[test]
fn an_entry_is_previewed_over_what_time_has_brought() {
    let priced = credited();
    priced.give_until("5", "2026-03-20T00:00:00Z");
    priced.give("3");
    priced.watch(depleted());
    priced.fixture.set("2026-03-21T00:00:00Z");
    let call = priced.fixture.account.create_ledger_entry(priced.customer, decrement("3"));
    let (balances, told) = preview(&priced, call);
    assert_eq!(balances, ["3 -> 0"]);
    assert_eq!(told, ["customer.credit_balance_depleted"]);
}

#[test]
fn the_first_entry_is_previewed_from_no_balance() {
    let priced = credited();
    let call = priced.fixture.account.create_ledger_entry(priced.customer, increment("3"));
    let (balances, told) = preview(&priced, call);
    assert_eq!(balances, ["none -> 3"]);
    assert_eq!(told, ["customer.credit_ledger_incremented"]);
}

#[test]
fn what_leaves_the_balance_moves_none() {
    let priced = credited_with("3");
    let change = accrue::credit::LedgerChange::ExpirationChange {
        target_expiry_date: at("2026-05-01T00:00:00Z"),
        amount: None,
        block_id: None,
        expiry_date: None,
    };
    let call = priced.fixture.account.create_ledger_entry(priced.customer, entry(change));
    assert_eq!(preview(&priced, call), (vec![], vec![]));
}
