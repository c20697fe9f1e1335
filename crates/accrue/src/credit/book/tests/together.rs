//! What is drawn together, beside the same one after the other.

use proptest::{collection::vec, prelude::*};

use super::{desk::increment, shelf::Shelf, *};

/// Tenths that each of two prices costs more.
type Costs = [i64; 2];

/// A ledger with blocks, each for all prices or only one of them, from which some costs were drawn, and to
/// which some tenths were given back.
fn drawn(blocks: &[(i64, Option<usize>)], costs: &[Costs], back: i64) -> (Shelf, Drawn) {
    let (mut shelf, mut drawn) = (Shelf::new(), Drawn::default());
    let mut book = shelf.open();
    for (amount, payer) in blocks {
        let mut change = increment(*amount, None, None, None);
        if let (LedgerChange::Increment(block), Some(place)) = (&mut change, payer) {
            block.filters = only(*place);
        }
        book.book(&entry(change), hour(0)).unwrap();
    }
    draw(&mut book, &mut drawn, costs);
    if back > 0 {
        let mut returned = Returned::default();
        book.hand_back(&[more(0, -tenths(back))], &mut drawn, &mut returned);
        book.book_returned(returned, hour(1));
        draw(&mut book, &mut drawn, costs);
    }
    shelf.save(&book);
    (shelf, drawn)
}

fn draw(book: &mut Book, drawn: &mut Drawn, costs: &[Costs]) {
    for costs in costs {
        let prices = [0, 1].map(|place| more(place, tenths(costs[place])));
        book.draw(&prices, drawn, hour(1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn draws_that_only_make_entries_grow_come_to_the_same_together(
        blocks in vec((1_i64..9, prop::option::weighted(0.3, 0_usize..2)), 0..4),
        before in vec([0_i64..20, 0_i64..20], 0..4),
        costs in vec([0_i64..9, 0_i64..9], 0..5),
        back in prop_oneof![2 => Just(0), 1 => 1_i64..90],
    ) {
        let (shelf, drawn) = drawn(&blocks, &before, back);
        let (mut together, mut drawn_together) = (shelf.open(), drawn.clone());
        let sum = |place: usize| costs.iter().map(|costs| costs[place]).sum();
        draw(&mut together, &mut drawn_together, &[[sum(0), sum(1)]]);
        if !drawn.has_spared() && together.has_only_grown_from(&shelf.open()) {
            let (mut one_by_one, mut drawn_one_by_one) = (shelf.open(), drawn);
            draw(&mut one_by_one, &mut drawn_one_by_one, &costs);
            let saved = |book: &Book| {
                let mut shelf = shelf.clone();
                shelf.save(book);
                shelf
            };
            prop_assert_eq!(saved(&together), saved(&one_by_one));
            prop_assert_eq!(drawn_together, drawn_one_by_one);
        }
    }
}

#[test]
fn draws_together_may_not_empty_a_block_nor_begin_an_entry() {
    let check = |costs: Costs, expect: bool| {
        let (shelf, mut drawn) = drawn(&[(3, None), (3, None)], &[[10, 0]], 0);
        let mut book = shelf.open();
        draw(&mut book, &mut drawn, &[costs]);
        assert_eq!(book.has_only_grown_from(&shelf.open()), expect, "{costs:?}");
    };
    check([19, 0], true);
    check([0, 0], true);
    check([20, 0], false);
    check([21, 0], false);
    check([1, 1], false);
}
