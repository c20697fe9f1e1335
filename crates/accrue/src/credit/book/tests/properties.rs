//! What holds of every ledger after every step, beside one that is spent credit by credit.

use proptest::prelude::*;

use super::{
    oracle::{Answer, Change, Oracle, Pile},
    shelf::Shelf,
    *,
};

/// Something that happens to a ledger, some hours after what happened before, or before it where
/// another process has a clock that is behind.
#[derive(Clone, Debug)]
struct Happening {
    hours: i64,
    step: Step,
    /// Whether what expires until then is booked first, as it should be.
    is_applied: bool,
    /// Whether everything is saved then, and the ledger opened again.
    is_saved: bool,
}

/// Amounts are in tenths, instants in hours from now, blocks as places in the list of all.
#[derive(Clone, Debug)]
enum Step {
    Increment {
        amount: i64,
        effective: Option<i64>,
        expiry: Option<i64>,
        basis: Option<i64>,
        /// The only price that it pays for.
        only: Option<usize>,
    },
    /// How much more each of the prices costs.
    Draw {
        period: usize,
        amounts: [i64; 2],
    },
    GiveBack {
        period: usize,
        price: usize,
        amount: i64,
    },
    Decrement {
        amount: i64,
    },
    Void {
        block: usize,
        amount: i64,
    },
    Amend {
        block: usize,
        amount: i64,
    },
    Delete {
        block: usize,
    },
    Change {
        block: Option<usize>,
        expiry_of: Option<usize>,
        amount: Option<i64>,
        target: i64,
    },
}

fn steps() -> impl Strategy<Value = Step> {
    let option = prop::option::of::<BoxedStrategy<i64>>;
    let amount = || (1_i64..40).boxed();
    let increment = (
        amount(),
        option((-30_i64..60).boxed()),
        option((-2_i64..90).boxed()),
        option((0_i64..3).boxed()),
        prop::option::weighted(0.3, 0_usize..2),
    );
    let block = || 0_usize..30;
    let change =
        (prop::option::of(block()), prop::option::of(block()), option(amount()), -5_i64..200);
    prop_oneof![
        4 => increment.prop_map(|(amount, effective, expiry, basis, only)| {
            Step::Increment { amount, effective, expiry, basis, only }
        }),
        6 => (0_usize..2, [-5_i64..30, -5_i64..30])
            .prop_map(|(period, amounts)| Step::Draw { period, amounts }),
        3 => (0_usize..2, 0_usize..2, 1_i64..80)
            .prop_map(|(period, price, amount)| Step::GiveBack { period, price, amount }),
        1 => amount().prop_map(|amount| Step::Decrement { amount }),
        2 => (block(), 1_i64..15).prop_map(|(block, amount)| Step::Void { block, amount }),
        2 => (block(), 1_i64..15).prop_map(|(block, amount)| Step::Amend { block, amount }),
        1 => block().prop_map(|block| Step::Delete { block }),
        2 => change.prop_map(|(block, expiry_of, amount, target)| {
            Step::Change { block, expiry_of, amount, target }
        }),
    ]
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let hours = prop_oneof![10 => Just(0_i64), 6 => 1_i64..6, 4 => 6_i64..60, 1 => -4_i64..0];
    let happening = (hours, steps(), prop::bool::weighted(0.9), any::<bool>()).prop_map(
        |(hours, step, is_applied, is_saved)| Happening { hours, step, is_applied, is_saved },
    );
    prop::collection::vec(happening, 1..60)
}

/// A ledger and the oracle beside it.
struct Run {
    shelf: Shelf,
    book: Book,
    drawn: [Drawn; 2],
    oracle: Oracle,
    hours: i64,
}

impl Run {
    fn new() -> Self {
        let shelf = Shelf::new();
        let book = shelf.open();
        Self { shelf, book, drawn: Default::default(), oracle: Oracle::default(), hours: 0 }
    }

    fn live(&mut self, happening: &Happening) {
        self.hours += happening.hours;
        let now = hour(self.hours);
        let at = self.oracle.instant(now);
        let committed = self.rows().committed(at);
        if happening.is_applied {
            self.book.expiring(now).into_iter().for_each(|(_, id)| self.book.expire(id));
            self.oracle.apply_transitions(now);
        }
        self.step(&happening.step, now);
        let rows = self.rows();
        let later = rows.shown(at);
        committed.iter().for_each(|entry| assert!(later.contains(entry), "{entry:?}"));
        check_ledger(&rows);
        self.compare(&rows, now);
        self.shelf.check_new(&self.book);
        if happening.is_saved {
            self.book = rows.open();
            self.shelf = rows;
        }
    }

    /// Returns the rows as they would be saved now.
    fn rows(&self) -> Shelf {
        let mut rows = self.shelf.clone();
        rows.save(&self.book);
        rows
    }

    fn add_missing(&mut self, period: usize) {
        let mut missing = self.book.missing(&self.drawn[period]);
        while !missing.is_empty() {
            self.book.insert(missing.iter().map(|id| self.shelf.blocks[id].clone()));
            missing = self.book.missing(&self.drawn[period]);
        }
    }

    fn step(&mut self, step: &Step, now: Timestamp) {
        match *step {
            Step::Draw { period, amounts } => {
                self.add_missing(period);
                let prices = [0, 1].map(|place| more(place, tenths(amounts[place])));
                self.book.draw(&prices, &mut self.drawn[period], now);
                self.oracle.draw(period, amounts, now);
            }
            Step::GiveBack { period, price: place, amount } => {
                self.add_missing(period);
                let mut returned = Returned::default();
                let prices = [more(place, -tenths(amount))];
                self.book.hand_back(&prices, &mut self.drawn[period], &mut returned);
                self.book.book_returned(returned, now);
                self.oracle.give_back(period, place, amount, now);
            }
            Step::Delete { block } => {
                let (number, id) = self.pick(block);
                let entries = self.book.ledger().entries;
                let found = self.book.delete(id, now);
                let last = found.as_ref().ok().and_then(Option::as_ref);
                assert!(last.is_none_or(|entry| self.rows().shown(now).contains(entry)));
                assert_eq!(last.is_some(), self.book.ledger().entries > entries);
                let expect = self.oracle.delete(number, now);
                assert_eq!(found.map(|_| ()).map_err(|error| error.kind()), expect, "{step:?}");
            }
            _ => {
                let before = format!("{:?}", self.book.moved());
                let ledger = self.book.ledger().clone();
                let (change, expect) = self.asked(step, now);
                let found = self.book.book(&entry(change), now);
                match &found {
                    Ok(entry) => assert!(self.rows().shown(now).contains(entry)),
                    Err(_) => {
                        assert_eq!(*self.book.ledger(), ledger);
                        assert_eq!(format!("{:?}", self.book.moved()), before);
                    }
                }
                let found = found.map(|entry| entry.ledger_sequence_number);
                assert_eq!(found.map_err(|error| error.kind()), expect, "{step:?}");
            }
        }
    }

    /// Puts a step in the words of the caller, and has the oracle make it.
    fn asked(&mut self, step: &Step, now: Timestamp) -> (LedgerChange, Answer) {
        let from_now = |hours: i64| hour(self.hours + hours);
        match *step {
            Step::Increment { amount, effective, expiry, basis, only } => {
                let (effective, expiry) = (effective.map(from_now), expiry.map(from_now));
                let change = LedgerChange::Increment(NewBlock {
                    amount: tenths(amount),
                    effective_date: effective,
                    expiry_date: expiry,
                    per_unit_cost_basis: basis.map(|basis| tenths(basis).into()),
                    filters: only.map(super::only).unwrap_or_default(),
                    invoice: None,
                });
                let pile = Pile { effective, expiry, basis, only, ..Pile::default() };
                (change, self.oracle.increment(amount, pile, now))
            }
            Step::Decrement { amount } => {
                let change = LedgerChange::Decrement { amount: tenths(amount) };
                (change, self.oracle.decrement(amount, now))
            }
            Step::Void { block, amount } => {
                let (number, block_id) = self.pick(block);
                let (amount, tenths) = (amount, tenths(amount));
                let change = LedgerChange::Void { amount: tenths, block_id, void_reason: None };
                (change, self.oracle.void(number, amount, now))
            }
            Step::Amend { block, amount } => {
                let (number, block_id) = self.pick(block);
                let change = LedgerChange::Amendment { amount: tenths(amount), block_id };
                (change, self.oracle.amend(number, amount, now))
            }
            Step::Change { block, expiry_of, amount, target } => {
                let target = from_now(target);
                let block = block.map(|block| self.pick(block));
                let like = expiry_of.and_then(|place| self.oracle.blocks.get(place));
                let expiry = like.and_then(|block| block.expiry);
                let change = LedgerChange::ExpirationChange {
                    target_expiry_date: target,
                    amount: amount.map(tenths),
                    block_id: block.map(|(_, id)| id),
                    expiry_date: expiry,
                };
                let block = block.map(|(number, _)| number);
                (change, self.oracle.change(Change { block, expiry, amount, target }, now))
            }
            Step::Draw { .. } | Step::GiveBack { .. } | Step::Delete { .. } => unreachable!(),
        }
    }

    /// Picks a block, or one that does not exist, and loads it.
    fn pick(&mut self, place: usize) -> (u64, CreditBlockId) {
        let rows = self.rows();
        let count = self.oracle.blocks.len();
        let Some(found) = self.oracle.blocks.get(place % (count + 1)) else {
            return (u64::MAX, CreditBlockId::from_bytes([9; 16]));
        };
        let id = rows.numbered(found.number);
        self.book.insert([rows.blocks[&id].clone()]);
        (found.number, id)
    }

    fn compare(&self, rows: &Shelf, now: Timestamp) {
        self.compare_entries(rows, now);
        let Oracle { blocks, payers, drawn, .. } = &self.oracle;
        let mut found: Vec<_> = rows.blocks.values().map(row).collect();
        found.sort_by_key(|(number, ..)| *number);
        assert_eq!(found, blocks.iter().map(expected).collect::<Vec<_>>());

        let open = || blocks.iter().filter(|block| block.is_open());
        let mut found: Vec<_> = rows.ledger.open.iter().map(|id| rows.number(*id)).collect();
        found.sort();
        assert_eq!(found, open().map(|block| block.number).collect::<Vec<_>>());
        assert_eq!(self.book.next_expiry(), open().filter_map(|block| block.expiry).min());
        assert_eq!(rows.ledger.overdraft.map(|id| rows.number(id)), self.oracle.overdraft());

        let shares = |list: &[(CreditBlockId, Decimal)]| -> Vec<_> {
            list.iter().map(|(id, share)| (rows.number(*id), share.clone())).collect()
        };
        let expect = |list: &[(u64, i64)]| -> Vec<_> {
            list.iter().map(|(number, share)| (*number, tenths(*share))).collect()
        };
        assert_eq!(shares(&rows.ledger.payers), expect(payers));
        for (found, drawn) in self.drawn.iter().zip(drawn) {
            assert_eq!(shares(&found.shares()), expect(drawn));
        }
        let deleted = rows.blocks.values().filter(|block| block.deletion.is_some());
        let found: BTreeMap<_, _> =
            deleted.clone().map(|block| (block.number, shares(block.instead()))).collect();
        let remembered: BTreeSet<_> =
            deleted.clone().filter(|of| !of.instead().is_empty()).map(|of| of.block.id).collect();
        assert_eq!(rows.ledger.deleted.iter().copied().collect::<BTreeSet<_>>(), remembered);
        assert_eq!(rows.ledger.deleted.len(), remembered.len());
        let deleted = blocks.iter().filter_map(|of| Some((of.number, of.instead.as_ref()?)));
        assert_eq!(found, deleted.map(|(number, list)| (number, expect(list))).collect());

        let balance = self.book.credit_balance(now);
        let at = self.oracle.instant(now);
        let spendable = blocks.iter().filter(|block| block.is_spendable(at));
        assert_eq!(balance.available, tenths(spendable.map(|block| block.left).sum()));
        let overdraft = blocks.iter().filter(|block| block.left < 0);
        assert_eq!(balance.overdraft, tenths(overdraft.map(|block| -block.left).sum()));
    }

    fn compare_entries(&self, rows: &Shelf, now: Timestamp) {
        let lines = &self.oracle.lines;
        let now = self.oracle.instant(now);
        let shown = rows.shown(now);
        assert_eq!(shown.len(), lines.len());
        for (index, (entry, line)) in shown.iter().zip(lines).enumerate() {
            let found = (
                entry.entry_type.kind(),
                entry.amount.clone(),
                rows.number(entry.credit_block.id),
                entry.created_at,
                entry.entry_status,
                entry.price_id,
            );
            let status = self.oracle.status(index, now);
            let price = line.price.map(|place| price(place).id);
            let amount = tenths(line.amount);
            assert_eq!(found, (line.kind, amount, line.block, line.at, status, price));
        }
        let balance = tenths(lines.iter().map(|line| line.amount).sum());
        assert_eq!(self.book.balance().cloned(), (!lines.is_empty()).then_some(balance));
    }
}

/// A block: its number, what is left and was drawn, what was given and its cost basis, its dates, what
/// it pays for.
type Row = (u64, [Decimal; 2], [Option<Decimal>; 2], [Option<Timestamp>; 2], Vec<PriceFilter>);

fn row(block: &Block) -> Row {
    let Block { block, number, drawn, .. } = block;
    let given = [
        block.maximum_initial_balance.clone(),
        block.per_unit_cost_basis.clone().map(Decimal::from),
    ];
    let left = [block.balance.clone(), drawn.clone()];
    (*number, left, given, [block.effective_date, block.expiry_date], block.filters.clone())
}

fn expected(pile: &Pile) -> Row {
    let Pile { number, left, drawn, given, effective, expiry, basis, only, .. } = pile;
    let given = [given.map(tenths), basis.map(tenths)];
    let filters = only.map(super::only).unwrap_or_default();
    (*number, [*left, *drawn].map(tenths), given, [*effective, *expiry], filters)
}

proptest! {
    #[test]
    fn a_ledger_is_what_the_rules_say_credit_by_credit(happenings in happenings()) {
        let mut run = Run::new();
        happenings.iter().for_each(|happening| run.live(happening));
    }

    #[test]
    fn one_unit_of_work_writes_what_many_do(happenings in happenings()) {
        let rows = |is_saved: bool| {
            let mut run = Run::new();
            for happening in &happenings {
                run.live(&Happening { is_saved, ..happening.clone() });
            }
            (run.rows(), run.drawn)
        };
        prop_assert_eq!(rows(true), rows(false));
    }
}
