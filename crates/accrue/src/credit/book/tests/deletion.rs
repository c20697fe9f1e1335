//! One fact each of deleted blocks, of which one can stand for another.

use super::{desk::*, *};
use crate::limits;

fn delete(desk: &mut Desk, id: CreditBlockId) {
    desk.book.delete(id, hour(1)).unwrap();
}

/// A ledger in which one credit was drawn, and drawn anew for each block that was deleted. Returns the
/// block that it is drawn from now.
fn chain(most: usize) -> (Desk, CreditBlockId) {
    let mut desk = Desk::new();
    let mut source = desk.give(0, 1, None);
    desk.draw(0, 1);
    for _ in 0..most {
        let next = desk.give(1, 1, None);
        delete(&mut desk, source);
        source = next;
    }
    (desk, source)
}

/// A ledger in which two credits were drawn, and two ways lead from each block to the next but one.
fn forks(most: usize) -> (Desk, CreditBlockId) {
    let mut desk = Desk::new();
    let mut source = desk.give(0, 2, None);
    desk.draw(0, 2);
    for _ in 0..most {
        let (side, next) = (desk.give(1, 1, None), desk.give(1, 2, None));
        delete(&mut desk, source);
        delete(&mut desk, side);
        source = next;
    }
    (desk, source)
}

#[test]
fn the_last_of_a_long_chain_gets_back_what_was_drawn_from_the_first() {
    let (mut desk, last) = chain(limits::DELETED_BLOCKS);
    assert_eq!((desk.left(last), desk.book.ledger.deleted.len()), (credits(0), 100));
    desk.give_back(2, 1);
    assert_eq!((desk.left(last), desk.book.balance()), (credits(1), Some(&credits(1))));
    assert_eq!(desk.drawn, Drawn::default());
    assert!(desk.book.blocks().all(|block| block.instead().is_empty()));
}

#[test]
fn a_ledger_remembers_100_deletions_until_all_is_given_back() {
    let (mut desk, last) = chain(limits::DELETED_BLOCKS);
    let unused = desk.give(1, 1, None);
    let before = desk.rows();
    let refused = desk.book.delete(last, hour(1)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert!(refused.to_string().contains("101 deleted blocks"), "{refused}");
    assert_eq!(desk.rows(), before);
    delete(&mut desk, unused);
    desk.give_back(2, 1);
    assert_eq!(desk.book.ledger.deleted, []);
    desk.draw(2, 1);
    delete(&mut desk, last);
    assert_eq!(desk.book.ledger.deleted, [last]);
}

#[test]
fn ways_that_meet_are_not_followed_again() {
    let (mut desk, last) = forks(40);
    desk.give_back(2, 1);
    assert_eq!(desk.left(last), credits(1));
    desk.book(2, amendment(last, 1)).unwrap();
    desk.give_back(2, 1);
    assert_eq!((desk.left(last), desk.book.balance()), (credits(2), Some(&credits(2))));
    assert!(desk.drawn.shares().iter().map(|(_, share)| share.clone()).eq([credits(1)]));
}

#[test]
fn each_block_is_looked_at_once_where_none_can_take_anything() {
    let (mut desk, last) = forks(40);
    desk.book(2, amendment(last, 2)).unwrap();
    let (first, _) = desk.drawn.shares()[0].clone();
    let mut exhausted = BTreeSet::new();
    assert_eq!(desk.book.way(first, &mut exhausted), None);
    assert_eq!(exhausted.len(), 81);
    desk.give_back(2, 2);
    assert_eq!((desk.left(last), desk.book.balance()), (credits(2), Some(&credits(2))));
}

#[test]
fn all_that_giving_back_takes_is_read_at_once_but_for_what_was_drawn_instead() {
    let (desk, last) = chain(limits::DELETED_BLOCKS);
    let rows = desk.rows();
    let mut book = rows.open();
    let load = |book: &mut Book| {
        let missing = book.missing(&desk.drawn);
        book.insert(missing.iter().map(|id| rows.blocks[id].clone()));
        missing
    };
    assert_eq!(load(&mut book).len(), 100);
    assert_eq!(load(&mut book), [last]);
    assert_eq!(load(&mut book), []);
}

#[test]
fn a_deletion_remembers_10_blocks_and_all_that_was_drawn() {
    let mut desk = Desk::new();
    let gone = desk.give(0, 12, Some(9));
    desk.draw(0, 12);
    let others: Vec<_> = (0..12).map(|_| desk.give(1, 1, None)).collect();
    delete(&mut desk, gone);
    let instead = desk.book.blocks[&gone].instead();
    assert_eq!(instead.len(), limits::INSTEAD_BLOCKS);
    assert_eq!(
        (instead[0].clone(), instead[1].clone()),
        ((others[2], credits(3)), (others[3], credits(1)))
    );
}
