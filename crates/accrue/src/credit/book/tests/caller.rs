//! One fact each of the entries that the caller asks for.

use super::{
    EntryKind::{Decrement, Increment, Void, VoidInitiated},
    desk::*,
    *,
};
use crate::{credit::EntryStatus::Committed, limits};

#[test]
fn the_next_block_pays_the_overdraft_off_and_starts_with_the_rest() {
    let mut desk = Desk::new();
    desk.give(0, 1, None);
    desk.draw(1, 5);
    let overdraft = desk.overdraft();
    let first = desk.give(2, 3, None);
    assert_eq!((desk.left(first), desk.left(overdraft)), (credits(0), -credits(1)));
    let second = desk.give(3, 3, None);
    assert_eq!((desk.left(second), desk.left(overdraft)), (credits(2), credits(0)));
    assert_eq!(desk.book.ledger.payers, [(first, credits(3)), (second, credits(1))]);
    assert_eq!(desk.book.ledger.open, [second]);
    assert_eq!(desk.book.blocks[&second].drawn, credits(1));
    assert_eq!(desk.entries(4), [(Increment, credits(3)), (Increment, credits(3))]);
    desk.draw(4, 4);
    assert_eq!((desk.overdraft(), desk.left(overdraft)), (overdraft, -credits(2)));
}

#[test]
fn a_ledger_remembers_the_last_blocks_that_paid_and_all_that_was_paid() {
    let mut desk = Desk::new();
    desk.give(0, 1, None);
    desk.draw(0, 31);
    let payers: Vec<_> = (0..22).map(|_| desk.give(1, 1, None)).collect();
    let found = &desk.book.ledger.payers;
    assert_eq!(found.len(), limits::PAYERS);
    assert_eq!(
        (found[0].clone(), found[1].clone()),
        ((payers[2], credits(3)), (payers[3], credits(1)))
    );
}

#[test]
fn an_increment_whose_dates_are_not_in_order_is_refused() {
    let mut desk = Desk::new();
    check_refused(desk.book(5, increment(1, None, Some(5), None)), "expected one after");
    check_refused(desk.book(5, increment(1, Some(6), Some(6), None)), "effective date");
    assert_eq!(desk.book.balance(), None);
    desk.book(5, increment(1, Some(6), Some(7), None)).unwrap();
}

#[test]
fn a_ledger_has_at_most_200_open_blocks() {
    let mut desk = Desk::new();
    let first = desk.give(0, 1, None);
    desk.draw(0, 1);
    for expiry in 0..199 {
        desk.book.book(&entry(increment(2, None, Some(expiry + 9), None)), hour(1)).unwrap();
    }
    let last = desk.give(1, 2, None);
    check_refused(desk.book(1, increment(1, None, None, None)), "201 blocks");
    check_refused(desk.book(1, amendment(first, 1)), "201 blocks");
    let mut part = entry(change(Some(last), None, 50));
    desk.book.book(&part, hour(1)).unwrap();
    part = entry(LedgerChange::ExpirationChange {
        target_expiry_date: hour(60),
        amount: Some(credits(1)),
        block_id: None,
        expiry_date: Some(hour(9)),
    });
    check_refused(desk.book.book(&part, hour(1)), "201 blocks");
    assert_eq!(desk.book.ledger.open.len(), 200);

    desk.draw(1, 1);
    let drawn = |id: &&CreditBlockId| desk.book.blocks[*id].drawn == credits(1);
    let open = *desk.book.ledger.open.iter().find(drawn).unwrap();
    desk.book(1, amendment(open, 1)).unwrap();
}

#[test]
fn what_only_pays_the_overdraft_off_needs_no_room() {
    let mut desk = Desk::new();
    desk.give(0, 1, None);
    desk.draw(0, 1);
    for _ in 0..limits::CREDIT_BLOCKS {
        desk.book.book(&entry(increment(1, Some(9), None, None)), hour(0)).unwrap();
    }
    desk.draw(1, 2);
    check_refused(desk.book(1, increment(3, None, None, None)), "201 blocks");
    desk.book(1, increment(2, None, None, None)).unwrap();
    assert_eq!(desk.left(desk.overdraft()), credits(0));
}

#[test]
fn a_decrement_of_the_caller_has_an_entry_for_each_block_and_answers_the_last() {
    let mut desk = Desk::new();
    let first = desk.give(0, 2, Some(9));
    desk.give(0, 2, None);
    let last = desk.book(1, LedgerChange::Decrement { amount: credits(5) }).unwrap();
    let each = [2, 2, 1].map(|amount| (Decrement, -credits(amount)));
    assert_eq!(desk.entries(3), each);
    assert_eq!(desk.statuses(1), [Committed; 5]);
    assert_eq!((last.ledger_sequence_number, last.credit_block.id), (5, desk.overdraft()));
    assert_eq!(desk.book.blocks[&first].drawn, credits(2));
    assert_eq!(desk.drawn, Drawn::default());
}

#[test]
fn void_is_said_in_two_entries_and_cannot_be_amended() {
    let mut desk = Desk::new();
    let id = desk.give(0, 5, Some(9));
    desk.draw(1, 1);
    let initiated = desk.book(2, void(id, 3)).unwrap();
    let void_amount = credits(3);
    let expected = EntryType::VoidInitiated { void_amount, void_reason: None };
    assert_eq!(initiated.entry_type, expected);
    assert_eq!(desk.entries(3), [(VoidInitiated, credits(0)), (Void, -credits(3))]);
    assert_eq!((desk.left(id), &desk.book.blocks[&id].drawn), (credits(1), &credits(1)));
    check_refused(desk.book(2, void(id, 2)), "has 1 left, expected at least 2");
    check_refused(desk.book(2, amendment(id, 2)), "1 was taken");
    check_refused(desk.book(9, void(id, 1)), "has expired");
}

#[test]
fn the_overdraft_is_amended_but_not_made_void_or_given_a_date() {
    let mut desk = Desk::new();
    desk.give(0, 1, None);
    desk.draw(1, 4);
    let overdraft = desk.overdraft();
    check_refused(desk.book(1, void(overdraft, 1)), "overdraft");
    check_refused(desk.book(1, change(Some(overdraft), None, 9)), "overdraft");
    check_refused(desk.book(1, amendment(overdraft, 4)), "3 was taken");
    desk.book(1, amendment(overdraft, 3)).unwrap();
    assert_eq!(desk.left(overdraft), credits(0));
    assert_eq!(desk.book.ledger.open, []);
}

#[test]
fn an_amendment_opens_a_block_again() {
    let mut desk = Desk::new();
    let id = desk.give(0, 2, Some(9));
    desk.draw(1, 2);
    desk.book(2, amendment(id, 1)).unwrap();
    assert_eq!((desk.book.ledger.open.as_slice(), desk.left(id)), ([id].as_slice(), credits(1)));
    assert_eq!(desk.book.next_expiry(), Some(hour(9)));
    check_refused(desk.book(9, amendment(id, 1)), "has expired");
}

#[test]
fn a_block_that_is_not_of_the_ledger_is_refused() {
    let mut desk = Desk::new();
    desk.give(0, 2, None);
    let id = CreditBlockId::from_bytes([1; 16]);
    let check_unknown = |desk: &mut Desk| {
        for change in [void(id, 1), amendment(id, 1), change(Some(id), None, 9)] {
            assert!(desk.book(1, change).unwrap_err().is_not_found());
        }
    };
    check_unknown(&mut desk);
    let mut block = desk.book.blocks.values().next().unwrap().clone();
    (block.block.id, block.customer_id) = (id, CustomerId::from_bytes([8; 16]));
    desk.book.insert([block.clone()]);
    check_unknown(&mut desk);
    block.customer_id = customer();
    block.block.currency = PricingUnit::parse("USD").unwrap();
    desk.book.insert([block]);
    for change in [void(id, 1), amendment(id, 1), change(Some(id), None, 9)] {
        check_refused(desk.book(1, change), "is in USD, expected credits");
    }
    assert_eq!(desk.book.blocks().count(), 1);
}

#[test]
fn what_is_left_of_a_block_moves_to_one_with_another_expiry_date() {
    let mut desk = Desk::new();
    let new = entry(increment(5, Some(-3), Some(9), Some(2)));
    let id = desk.book.book(&new, hour(0)).unwrap().credit_block.id;
    desk.draw(1, 2);
    let changed = desk.book(2, change(None, Some(9), 30)).unwrap();
    let EntryType::ExpirationChange { moved, new_block_id, .. } = changed.entry_type else {
        panic!("{changed:?}")
    };
    assert_eq!((changed.amount, changed.credit_block.id, moved), (credits(0), id, credits(3)));
    let block = &desk.book.blocks[&new_block_id].block;
    assert_eq!((block.effective_date, block.expiry_date), (Some(hour(-3)), Some(hour(30))));
    assert_eq!(block.per_unit_cost_basis, Some(credits(2).into()));
    assert_eq!(desk.book.ledger.open, [new_block_id]);
    assert_eq!(desk.left(id), credits(0));
}

#[test]
fn the_block_whose_expiry_changes_must_be_the_only_one() {
    let mut desk = Desk::new();
    check_refused(desk.book(0, change(None, None, 9)), "no credit block");
    let one = desk.book(0, increment(5, Some(20), Some(40), None)).unwrap().credit_block.id;
    check_refused(desk.book(0, change(None, None, 0)), "target expiry date");
    check_refused(desk.book(0, change(None, None, 20)), "target expiry date");
    let other = desk.give(0, 5, Some(40));
    check_refused(desk.book(0, change(None, Some(40), 50)), &format!("{other}, {one}"));
    check_refused(desk.book(0, change(Some(one), Some(41), 50)), "expires at");
    check_refused(desk.book(0, change(None, Some(41), 50)), "and expires at");
    desk.book(0, change(Some(one), Some(40), 50)).unwrap();
    check_refused(desk.book(0, change(Some(one), None, 50)), "nothing left");
    check_refused(desk.book(40, change(Some(other), None, 50)), "has expired");
}

#[test]
fn the_words_of_the_caller_are_on_its_entries_and_its_block() {
    let mut desk = Desk::new();
    let mut new = entry(increment(4, None, None, None));
    new.metadata.insert("order".to_owned(), "17".to_owned());
    new.description = Some(crate::Description::parse("a gift").unwrap());
    let id = desk.book.book(&new, hour(0)).unwrap().credit_block.id;
    new.change = void(id, 1);
    desk.book.book(&new, hour(0)).unwrap();
    for Booked { entry, .. } in desk.book.entries.values() {
        assert_eq!((&entry.metadata, &entry.description), (&new.metadata, &new.description));
    }
    assert_eq!(desk.book.blocks[&id].block.metadata, new.metadata);
}
