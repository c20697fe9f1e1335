//! One fact each of what goes back when usage of a billing period costs less.

use super::{
    EntryKind::{Amendment, CreditBlockExpiry},
    desk::*,
    *,
};
use crate::limits;

#[test]
fn the_block_drawn_last_gets_it_first() {
    let mut desk = Desk::new();
    let (first, last) = (desk.give(0, 3, Some(90)), desk.give(0, 5, None));
    desk.draw(1, 6);
    desk.give_back(2, 4);
    assert_eq!((desk.left(first), desk.left(last)), (credits(1), credits(5)));
    assert_eq!(desk.entries(5), [(Amendment, credits(3)), (Amendment, credits(1))]);
    assert_eq!(desk.drawn.shares(), [(first, credits(2))]);
    desk.draw(3, 2);
    assert_eq!(desk.drawn.shares(), [(first, credits(3)), (last, credits(1))]);
}

#[test]
fn no_more_goes_back_than_the_period_has_drawn() {
    let mut desk = Desk::new();
    let id = desk.give(0, 9, None);
    desk.draw(1, 2);
    desk.book(1, LedgerChange::Decrement { amount: credits(3) }).unwrap();
    desk.give_back(2, 4);
    assert_eq!(desk.left(id), credits(6));
    assert!(desk.drawn.shares().is_empty());
    desk.draw(3, 3);
    assert_eq!(desk.left(id), credits(5), "what was not given back is not drawn again");
    desk.draw(4, 1);
    assert_eq!(desk.left(id), credits(4));
}

#[test]
fn what_the_caller_gave_back_already_does_not_go_back_twice() {
    let mut desk = Desk::new();
    let id = desk.give(0, 9, None);
    desk.draw(1, 5);
    desk.book(1, amendment(id, 4)).unwrap();
    desk.give_back(2, 5);
    assert_eq!(desk.left(id), credits(9));
    assert_eq!(desk.drawn.shares(), [(id, credits(4))]);
    desk.draw(3, 5);
    assert_eq!(desk.left(id), credits(8), "nor is it drawn twice");
}

#[test]
fn what_goes_back_to_an_expired_block_is_lost_again() {
    let mut desk = Desk::new();
    let id = desk.give(0, 5, Some(8));
    desk.draw(1, 3);
    desk.book.expire(id);
    desk.give_back(8, 2);
    assert_eq!(desk.entries(4), [(Amendment, credits(2)), (CreditBlockExpiry, -credits(2))]);
    assert_eq!((desk.left(id), &desk.book.blocks[&id].drawn), (credits(0), &credits(1)));
    assert_eq!(desk.book.ledger.open, []);
}

#[test]
fn the_overdraft_gets_what_is_outstanding_and_its_payers_the_rest() {
    let mut desk = Desk::new();
    desk.give(0, 1, None);
    desk.draw(1, 8);
    let overdraft = desk.overdraft();
    let (first, second) = (desk.give(2, 3, None), desk.give(3, 2, None));
    desk.give_back(4, 6);
    assert_eq!(desk.left(overdraft), credits(0));
    assert_eq!((desk.left(first), desk.left(second)), (credits(2), credits(2)));
    let each = [2, 2, 2].map(|amount| (Amendment, credits(amount)));
    assert_eq!(desk.entries(6), each);
    assert_eq!(desk.book.ledger.payers, [(first, credits(1))]);
    assert_eq!(desk.drawn.shares()[1], (overdraft, credits(1)));
}

#[test]
fn the_blocks_that_are_missing_are_those_drawn_and_those_that_paid() {
    let mut desk = Desk::new();
    let drawn = desk.give(0, 1, None);
    desk.draw(1, 2);
    let payer = desk.give(2, 1, None);
    desk.give(2, 1, None);
    let rows = desk.rows();
    desk.book = rows.open();
    let missing = desk.book.missing(&desk.drawn);
    assert_eq!(BTreeSet::from_iter(missing.clone()), BTreeSet::from([drawn, payer]));
    desk.book.insert(missing.iter().map(|id| rows.blocks[id].clone()));
    assert_eq!(desk.book.missing(&desk.drawn), []);
    let mut returned = Returned::default();
    desk.book.hand_back(&[more(0, -credits(2))], &mut desk.drawn, &mut returned);
    desk.book.book_returned(returned, hour(3));
    assert_eq!((desk.left(drawn), desk.left(payer)), (credits(1), credits(1)));
    let (blocks, entries) = desk.book.moved();
    assert!(!blocks.iter().any(|block| desk.book.is_new_block(block)));
    assert!(entries.iter().all(|booked| desk.book.is_new(booked)));
}

#[test]
fn a_period_remembers_200_blocks_and_all_that_was_drawn() {
    let mut desk = Desk::new();
    let blocks: Vec<_> = (0..203)
        .map(|_| {
            let id = desk.book.book(&NewLedgerEntry::increment(unit(), credits(1)), hour(0));
            desk.book.draw(&[more(0, credits(1))], &mut desk.drawn, hour(0));
            id.unwrap().credit_block.id
        })
        .collect();
    let shares = desk.drawn.shares();
    assert_eq!(shares.len(), limits::DRAWN_BLOCKS);
    assert_eq!(
        (shares[0].clone(), shares[1].clone()),
        ((blocks[3], credits(4)), (blocks[4], credits(1)))
    );
}

#[test]
fn nothing_is_drawn_or_goes_back_where_nothing_costs_more_or_less() {
    let mut desk = Desk::new();
    let id = desk.give(0, 5, None);
    desk.draw(1, 2);
    for amount in [0, -1] {
        desk.draw(2, amount);
        desk.give_back(2, amount);
    }
    assert_eq!(desk.left(id), credits(3));
    assert_eq!(desk.book.ledger.entries, 2);
}
