//! One fact each of what usage draws, and of the caller's entries.

use super::{shelf::Shelf, *};
use crate::{
    credit::{EntryStatus, EntryType},
    limits,
};

/// A ledger whose entries are made at hours of the first days of March 2026.
pub(super) struct Desk {
    pub(super) book: Book,
    pub(super) drawn: Drawn,
}

impl Desk {
    pub(super) fn new() -> Self {
        Self { book: empty(), drawn: Drawn::default() }
    }

    pub(super) fn book(&mut self, at: i64, change: LedgerChange) -> Result<LedgerEntry, Error> {
        let booked = self.book.book(&entry(change), hour(at));
        check_ledger(&self.rows());
        booked
    }

    /// Gives a block, and returns it.
    pub(super) fn give(&mut self, at: i64, amount: i64, expiry: Option<i64>) -> CreditBlockId {
        self.book(at, increment(amount, None, expiry, None)).unwrap().credit_block.id
    }

    pub(super) fn draw(&mut self, at: i64, amount: i64) {
        self.book.draw(&credits(amount), &mut self.drawn, hour(at));
        check_ledger(&self.rows());
    }

    pub(super) fn rows(&self) -> Shelf {
        let mut rows = Shelf::new();
        rows.save(&self.book);
        rows
    }

    /// Returns what is left of a block.
    pub(super) fn left(&self, id: CreditBlockId) -> Decimal {
        self.book.blocks[&id].block.balance.clone()
    }

    pub(super) fn overdraft(&self) -> CreditBlockId {
        self.book.ledger.overdraft.unwrap()
    }

    /// Lists kinds and amounts from an entry on.
    pub(super) fn entries(&self, from: u64) -> Vec<(EntryKind, Decimal)> {
        let entries = self.book.entries.range(from..).map(|(_, booked)| &booked.entry);
        entries.map(|entry| (entry.entry_type.kind(), entry.amount.clone())).collect()
    }

    fn statuses(&self, at: i64) -> Vec<EntryStatus> {
        self.rows().shown(hour(at)).iter().map(|entry| entry.entry_status).collect()
    }
}

fn increment(
    amount: i64,
    effective: Option<i64>,
    expiry: Option<i64>,
    basis: Option<i64>,
) -> LedgerChange {
    LedgerChange::Increment {
        amount: credits(amount),
        effective_date: effective.map(hour),
        expiry_date: expiry.map(hour),
        per_unit_cost_basis: basis.map(credits),
    }
}

fn void(block_id: CreditBlockId, amount: i64) -> LedgerChange {
    LedgerChange::Void { amount: credits(amount), block_id, void_reason: None }
}

pub(super) fn amendment(block_id: CreditBlockId, amount: i64) -> LedgerChange {
    LedgerChange::Amendment { amount: credits(amount), block_id }
}

fn change(block_id: Option<CreditBlockId>, expiry: Option<i64>, target: i64) -> LedgerChange {
    LedgerChange::ExpirationChange {
        target_expiry_date: hour(target),
        amount: None,
        block_id,
        expiry_date: expiry.map(hour),
    }
}

#[track_caller]
fn check_refused(found: Result<LedgerEntry, Error>, expect: &str) {
    let error = found.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
    assert!(error.to_string().contains(expect), "{error}");
}

use EntryKind::{CreditBlockExpiry, Decrement, Increment, Void, VoidInitiated};
use EntryStatus::{Committed, Pending};

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
    let drawn = desk.drawn.shares().iter().map(|(id, _)| *id);
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
    check_refused(desk.book(1, increment(1, None, None, None)), "200 blocks");
    check_refused(desk.book(1, amendment(first, 1)), "200 blocks");
    let mut part = entry(change(Some(last), None, 50));
    desk.book.book(&part, hour(1)).unwrap();
    part = entry(LedgerChange::ExpirationChange {
        target_expiry_date: hour(60),
        amount: Some(credits(1)),
        block_id: None,
        expiry_date: Some(hour(9)),
    });
    check_refused(desk.book.book(&part, hour(1)), "200 blocks");
    assert_eq!(desk.book.ledger.open.len(), 200);
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
    let mut new = entry(increment(5, Some(-3), Some(9), Some(2)));
    new.metadata.insert("order".to_owned(), "17".to_owned());
    let id = desk.book.book(&new, hour(0)).unwrap().credit_block.id;
    desk.draw(1, 2);
    let changed = desk.book(2, change(None, Some(9), 30)).unwrap();
    let EntryType::ExpirationChange { moved, new_block_id, .. } = changed.entry_type else {
        panic!("{changed:?}")
    };
    assert_eq!((changed.amount, changed.credit_block.id, moved), (credits(0), id, credits(3)));
    let block = &desk.book.blocks[&new_block_id].block;
    assert_eq!((block.effective_date, block.expiry_date), (Some(hour(-3)), Some(hour(30))));
    assert_eq!((&block.metadata, &block.per_unit_cost_basis), (&new.metadata, &Some(credits(2))));
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
        book.draw(&credits(2), &mut Drawn::default(), hour(1));
        let entries = book.entries.values().map(|booked| booked.entry.id).collect::<BTreeSet<_>>();
        (entries, book.blocks.into_keys().collect::<BTreeSet<_>>())
    };
    let (entries, blocks) = ids("credits");
    assert_eq!((entries.len(), blocks.len()), (3, 2));
    assert_eq!(ids("credits"), (entries.clone(), blocks.clone()));
    let (other_entries, other_blocks) = ids("USD");
    assert!(entries.is_disjoint(&other_entries) && blocks.is_disjoint(&other_blocks));
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
