//! What each price has drawn, and what an invoice leaves of it.

use proptest::{collection::vec, prelude::*};

use super::{
    desk::{Desk, increment},
    *,
};
use crate::{
    credit::{Charge, Charged},
    limits,
};

const PRICES: usize = 3;

proptest! {
    /// Whichever prices cost more and less at once, each has drawn what it costs.
    #[test]
    fn each_price_has_drawn_what_it_costs(
        blocks in vec(1_i64..9, 1..5),
        moves in vec(vec(-9_i64..12, PRICES), 1..12),
    ) {
        let mut desk = Desk::new();
        for amount in blocks {
            desk.give(0, amount, None);
        }
        let mut costs = [0_i64; PRICES];
        for moves in moves {
            let moves: Vec<_> = moves.iter().zip(costs).map(|(by, cost)| *(by.max(&-cost))).collect();
            let prices = moves.iter().enumerate();
            let prices: Vec<_> = prices.map(|(place, by)| more(place, credits(*by))).collect();
            if moves.iter().sum::<i64>() < 0 {
                let mut returned = Returned::default();
                desk.book.hand_back(&prices, &mut desk.drawn, &mut returned);
                desk.book.book_returned(returned, hour(1));
            } else {
                desk.book.draw(&prices, &mut desk.drawn, hour(1));
            }
            check_ledger(&desk.rows());
            costs.iter_mut().zip(moves).for_each(|(cost, by)| *cost += by);
            for (place, cost) in costs.into_iter().enumerate() {
                prop_assert_eq!(desk.drawn.of(in_force(place)), credits(cost));
            }
        }
    }

    /// Whatever is charged of what was drawn: what credits pay for, what is billed of the overdraft and what
    /// goes back come to what was drawn.
    #[test]
    fn what_is_not_charged_goes_back(
        blocks in vec(1_i64..20, 0..4),
        later in vec(1_i64..20, 0..3),
        costs in vec((0_i64..30, 0_i64..30, any::<bool>(), any::<bool>()), 1..=PRICES),
    ) {
        let mut desk = Desk::new();
        desk.give(0, 1, None);
        for amount in blocks {
            desk.give(0, amount, None);
        }
        for (place, (cost, ..)) in costs.iter().enumerate() {
            desk.book.draw(&[more(place, credits(*cost))], &mut desk.drawn, hour(1));
        }
        later.iter().for_each(|amount| drop(desk.book(2, increment(*amount, None, None, None))));
        let balance = |desk: &Desk| desk.book.balance().unwrap().clone();
        let mut overdrawn = desk.book.overdrawn();
        for (place, (cost, off, is_billed, is_last)) in costs.into_iter().enumerate() {
            let (of, before) = (in_force(place), balance(&desk));
            let open = desk.book.unpaid(&desk.drawn, of, &mut overdrawn.clone());
            let adjusted = credits((cost - off).max(0));
            let paid = (credits(cost) - &open).min(adjusted.clone());
            let left = &adjusted - &paid;
            let charge = if is_last { Charge::Whole } else { Charge::SoFar };
            let charged =
                Charged { price: of, charge: charge(adjusted.clone()), is_billed, date: hour(3) };
            let Desk { book, drawn } = &mut desk;
            let mut returned = Returned::default();
            let goes_back = book.settle(&charged, drawn, &mut overdrawn, &mut returned);
            book.hand_back_spared(of, &goes_back, drawn, &mut returned);
            book.book_returned(returned, hour(3));
            check_ledger(&desk.rows());
            let billed = if is_billed { left.clone() } else { credits(0) };
            let spared = if is_last { credits(cost) - &adjusted } else { credits(0) };
            prop_assert_eq!(balance(&desk) - before, &billed + &spared);
            prop_assert_eq!(desk.drawn.billed_by(of, hour(3)), billed.clone());
            prop_assert_eq!(desk.drawn.billed_by(of, hour(2)), credits(0));
            prop_assert_eq!(desk.drawn.of(of), credits(cost) - billed - spared);
            // Once more there is nothing to square.
            let Desk { book, drawn } = &mut desk;
            let mut again = Returned::default();
            let goes_back = book.settle(&charged, drawn, &mut credits(0), &mut again);
            prop_assert!(again.is_nothing() && goes_back.is_zero());
        }
    }
}

#[test]
fn what_a_block_pays_for_one_price_alone_is_not_counted_for_another() {
    let mut desk = Desk::new();
    let mut change = increment(9, None, None, None);
    if let LedgerChange::Increment(block) = &mut change {
        block.filters = only(0);
    }
    desk.book(0, change).unwrap();
    desk.give(0, 9, None);
    desk.book.draw(&[more(0, credits(5))], &mut desk.drawn, hour(1));
    desk.book.draw(&[more(0, -credits(3)), more(1, credits(3))], &mut desk.drawn, hour(1));
    let drawn = [0, 1].map(|place| desk.drawn.of(in_force(place)));
    assert_eq!(drawn, [credits(5), credits(0)]);
}

#[test]
fn a_period_remembers_400_amounts_and_all_that_was_drawn() {
    let mut desk = Desk::new();
    for _ in 0..50 {
        desk.give(0, 10, None);
        for place in 0..10 {
            desk.book.draw(&[more(place, credits(1))], &mut desk.drawn, hour(0));
        }
    }
    assert_eq!(desk.drawn.shares().len(), limits::DRAWN_AMOUNTS / 10);
    for place in 0..10 {
        assert_eq!(desk.drawn.of(in_force(place)), credits(50));
    }
}

#[test]
fn what_goes_back_for_a_deleted_block_does_not_pay_off_what_is_billed() {
    let mut desk = Desk::new();
    let block = desk.give(0, 100, None);
    desk.book.draw(&[more(0, credits(100))], &mut desk.drawn, hour(1));
    desk.book.delete(block, hour(1)).unwrap();
    desk.book.draw(&[more(1, credits(20))], &mut desk.drawn, hour(1));
    desk.give(2, 70, None);
    assert_eq!(desk.book.overdrawn(), credits(50));
    let Desk { book, drawn } = &mut desk;
    let (mut overdrawn, mut returned) = (book.overdrawn(), Returned::default());
    let of = |place: usize, adjusted: i64| Charged {
        price: in_force(place),
        charge: Charge::Whole(credits(adjusted)),
        is_billed: true,
        date: hour(3),
    };
    let mut all_spared = Vec::new();
    for charged in [of(0, 50), of(1, 20)] {
        let spared = book.settle(&charged, drawn, &mut overdrawn, &mut returned);
        all_spared.push((charged.price, spared));
    }
    for (price, spared) in all_spared {
        book.hand_back_spared(price, &spared, drawn, &mut returned);
    }
    book.book_returned(returned, hour(3));
    check_ledger(&desk.rows());
    assert_eq!(desk.book.overdrawn(), credits(0));
    assert_eq!(desk.book.balance(), Some(&credits(20)));
}

#[test]
fn what_an_increment_has_paid_of_a_bill_that_waited_goes_to_that() {
    let mut desk = Desk::new();
    desk.give(0, 15, None);
    desk.book.draw(&[more(0, credits(27))], &mut desk.drawn, hour(1));
    desk.give(2, 20, None);
    let Desk { book, drawn } = &mut desk;
    let (mut overdrawn, mut returned) = (book.overdrawn(), Returned::default());
    let charge = Charge::Made(credits(12));
    let charged = Charged { price: in_force(0), charge, is_billed: true, date: hour(3) };
    book.settle(&charged, drawn, &mut overdrawn, &mut returned);
    book.book_returned(returned, hour(3));
    check_ledger(&desk.rows());
    assert_eq!(desk.book.balance(), Some(&credits(20)), "12 were paid with money");
    assert_eq!(desk.drawn.billed_by(in_force(0), hour(3)), credits(12));
}

#[test]
fn a_period_remembers_100_bills_and_all_that_was_billed() {
    let (mut drawn, id) = (Drawn::default(), in_force(0));
    for at in 0..103 {
        drawn.bill(id, hour(at), &credits(1));
    }
    assert_eq!(drawn.billed_by(id, hour(102)), credits(103));
    assert_eq!(drawn.billed_by(id, hour(101)), credits(102));
    assert_eq!(drawn.billed_by(id, hour(2)), credits(0), "the oldest count as one");
    assert_eq!(drawn.billed_by(id, hour(3)), credits(4));
}
