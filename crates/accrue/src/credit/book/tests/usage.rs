//! One fact each of what usage draws, and of what time does.

use super::{
    EntryKind::{CreditBlockExpiry, Decrement, Increment},
    desk::*,
    *,
};
use crate::{
    credit::EntryStatus::{Committed, Pending},
    limits,
};

#[test]
fn there_is_no_balance_before_the_first_entry_and_usage_makes_none() {
    let mut desk = Desk::new();
    desk.draw(0, 5);
    assert_eq!(desk.book.balance(), None);
    assert_eq!(desk.entries(1), []);
    desk.give(1, 5, None);
    assert_eq!(desk.book.balance(), Some(&credits(5)));
}

#[test]
fn blocks_are_spent_by_expiry_then_cost_then_effective_date_then_age() {
    let mut desk = Desk::new();
    let mut give = |effective, expiry, basis| {
        let change = increment(1, Some(effective), expiry, basis);
        desk.book(10, change).unwrap().credit_block.id
    };
    let last = give(2, None, Some(1));
    let cheaper = give(3, None, None);
    let effective_later = give(2, Some(50), Some(2));
    let effective_earlier = give(1, Some(50), Some(2));
    let younger = give(2, Some(50), Some(2));
    let soonest = give(9, Some(49), Some(9));
    let expected = [soonest, effective_earlier, effective_later, younger, cheaper, last];
    desk.draw(10, 6);
    let drawn = desk.drawn.shares().into_iter().map(|(id, _)| id);
    assert_eq!(drawn.collect::<Vec<_>>(), expected);
    assert_eq!(desk.book.balance(), Some(&Decimal::zero()));
    assert_eq!(desk.book.ledger.open, []);
}

#[test]
fn a_block_is_spent_from_its_effective_date_until_its_expiry() {
    let mut desk = Desk::new();
    let change = increment(10, Some(5), Some(8), None);
    let id = desk.book(0, change).unwrap().credit_block.id;
    let check = |desk: &Desk, at, available, left| {
        assert_eq!(desk.book.credit_balance(hour(at)).available, credits(available));
        assert_eq!(desk.left(id), credits(left));
    };
    desk.draw(4, 1);
    check(&desk, 4, 0, 10);
    desk.draw(5, 1);
    check(&desk, 5, 9, 9);
    desk.draw(8, 1);
    check(&desk, 8, 0, 9);
    assert_eq!(desk.left(desk.overdraft()), -credits(2));
    assert_eq!(desk.book.credit_balance(hour(8)).overdraft, credits(2));
    assert_eq!(desk.book.balance(), Some(&credits(7)));
}

#[test]
fn usage_of_a_day_is_one_entry_for_each_block() {
    let mut desk = Desk::new();
    desk.give(0, 3, None);
    desk.draw(1, 2);
    desk.draw(2, 2);
    desk.draw(3, 4);
    let one_each = [(Increment, credits(3)), (Decrement, -credits(3)), (Decrement, -credits(5))];
    assert_eq!(desk.entries(1), one_each);
    assert_eq!(desk.statuses(3), [Committed, Pending, Pending]);
    // The day ends at midnight in New York.
    assert_eq!(desk.statuses(24), [Committed; 3]);
    desk.draw(24, 1);
    assert_eq!(desk.entries(4), [(Decrement, -credits(1))]);
    assert_eq!(desk.book.ledger.day_end, hour(48));
}

#[test]
fn the_day_on_which_the_clocks_go_forward_ends_after_23_hours() {
    let mut desk = Desk::new();
    desk.give(0, 3, None);
    desk.draw(7 * 24, 2);
    assert_eq!(desk.book.ledger.day_end, hour(7 * 24 + 23));
}

#[test]
fn an_entry_that_grows_moves_the_pending_ones_behind_it() {
    let mut desk = Desk::new();
    desk.give(0, 10, None);
    desk.book(0, increment(2, Some(2), Some(9), None)).unwrap();
    desk.draw(1, 1);
    desk.draw(2, 3);
    assert_eq!(desk.entries(3), [(Decrement, -credits(2)), (Decrement, -credits(2))]);
    let balances = desk.book.entries.range(3..).map(|(_, booked)| &booked.entry.ending_balance);
    assert!(balances.eq([&credits(10), &credits(8)]));
}

#[test]
fn the_oldest_entry_is_committed_where_too_many_would_be_pending() {
    let mut desk = Desk::new();
    desk.give(0, 1_000, None);
    let (mut shelf, mut drawn) = (desk.rows(), Drawn::default());
    let mut check = |places: std::ops::Range<usize>, committed, expect: &[(u64, i64)]| {
        let mut book = shelf.open();
        let prices: Vec<_> = places.map(|place| more(place, credits(1))).collect();
        book.draw(&prices, &mut drawn, hour(1));
        shelf.save(&book);
        check_ledger(&shelf);
        let statuses = shelf.shown(hour(1)).into_iter().map(|entry| entry.entry_status);
        let first = vec![Committed; committed];
        let expected = [first, vec![Pending; limits::PENDING_ENTRIES]].concat();
        assert_eq!(statuses.collect::<Vec<_>>(), expected);
        assert_eq!(shelf.ledger.pending.len(), limits::PENDING_ENTRIES);
        for (number, amount) in expect {
            assert_eq!(shelf.entries[number].entry.amount, -credits(*amount), "entry {number}");
        }
    };
    // The first entry is that of the block.
    check(0..100, 1, &[(2, 1), (101, 1)]);
    check(100..101, 2, &[(2, 1), (3, 1), (102, 1)]);
    check(1..2, 2, &[(2, 1), (3, 2), (102, 1)]);
    check(0..1, 3, &[(2, 1), (3, 2), (103, 1)]);
}

#[test]
fn an_entry_that_is_not_usage_commits_what_is_pending() {
    let mut desk = Desk::new();
    desk.give(0, 10, None);
    desk.draw(1, 1);
    desk.book(2, LedgerChange::Decrement { amount: credits(1) }).unwrap();
    assert_eq!(desk.statuses(2), [Committed; 3]);
    assert_eq!(desk.book.ledger.pending, []);
    desk.draw(3, 1);
    assert_eq!(desk.statuses(3), [Committed, Committed, Committed, Pending]);
}

#[test]
fn an_entry_whose_day_has_ended_is_not_written_again() {
    let mut desk = Desk::new();
    desk.give(0, 10, None);
    desk.draw(1, 1);
    let mut shelf = desk.rows();
    let mut book = shelf.open();
    book.book(&entry(increment(1, None, None, None)), hour(24)).unwrap();
    let (_, entries) = book.moved();
    assert_eq!(entries.len(), 1);
    shelf.save(&book);
    assert_eq!(shelf.entries[&2].entry.entry_status, Pending);
    assert_eq!(shelf.committed(hour(24)).len(), 3);
    assert_eq!(shelf.ledger.pending, []);
}

#[test]
fn what_is_left_of_a_block_is_lost_when_it_expires() {
    let mut desk = Desk::new();
    let later = desk.give(0, 2, Some(9));
    let sooner = desk.give(0, 3, Some(8));
    desk.give(0, 4, None);
    assert_eq!(desk.book.expiring(hour(7)), []);
    assert_eq!(desk.book.expiring(hour(9)), [(hour(8), sooner), (hour(9), later)]);
    desk.draw(1, 1);
    desk.book.expire(sooner);
    assert_eq!(desk.entries(5), [(CreditBlockExpiry, -credits(2))]);
    assert_eq!(desk.book.ledger.latest, hour(8));
    assert_eq!((desk.left(sooner), &desk.book.blocks[&sooner].drawn), (credits(0), &credits(1)));
    assert_eq!(desk.book.next_expiry(), Some(hour(9)));
    desk.book.expire(sooner);
    assert_eq!(desk.book.ledger.entries, 5);
}

#[test]
fn entries_are_in_order_where_the_clock_is_not() {
    let mut desk = Desk::new();
    let id = desk.give(5, 9, Some(6));
    desk.draw(3, 1);
    desk.book(2, amendment(id, 1)).unwrap();
    let made: Vec<_> = desk.book.entries.values().map(|booked| booked.entry.created_at).collect();
    assert_eq!(made, [hour(5); 3]);
}

#[test]
fn ids_follow_from_the_place_in_the_ledger() {
    let ids = |unit: &str| {
        let unit = PricingUnit::parse(unit).unwrap();
        let mut book = Book::new(customer(), unit, zone());
        book.book(&entry(increment(1, None, None, None)), hour(0)).unwrap();
        book.draw(&[more(0, credits(2))], &mut Drawn::default(), hour(1));
        let entries = book.entries.values().map(|booked| booked.entry.id).collect::<BTreeSet<_>>();
        (entries, book.blocks.into_keys().collect::<BTreeSet<_>>())
    };
    let (entries, blocks) = ids("credits");
    assert_eq!((entries.len(), blocks.len()), (3, 2));
    assert_eq!(ids("credits"), (entries.clone(), blocks.clone()));
    let (other_entries, other_blocks) = ids("USD");
    assert!(entries.is_disjoint(&other_entries) && blocks.is_disjoint(&other_blocks));
}
