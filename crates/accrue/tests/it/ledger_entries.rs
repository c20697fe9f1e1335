//! Entries that a caller adds to a ledger of credits, and what they say.

use accrue::{
    CreditBlockId, CustomerId, Description,
    credit::{
        CreditBlock, EntryBlock, EntryStatus, EntryType, LedgerChange, LedgerEntry, NewLedgerEntry,
        VoidReason,
    },
    webhook::Body,
};

use crate::support::{
    credited::{
        CREDITS, amendment, block, credited, credited_with, decrement, entry, expiring, extension,
        increment, void,
    },
    fixture::{at, block_on, number},
    priced::{NOTHING, Priced, unit},
};

impl Priced {
    /// The only block with something left.
    fn only_block(&self) -> CreditBlock {
        let [block] = <[CreditBlock; 1]>::try_from(self.blocks()).unwrap();
        block
    }

    fn fetch_block(&self, id: CreditBlockId) -> CreditBlock {
        block_on(self.fixture.account.fetch_credit_block(id)).unwrap()
    }

    /// Every block, with its expiry date.
    fn dated_blocks(&self) -> Vec<String> {
        let show = |block: &CreditBlock| match block.expiry_date {
            Some(expiry) => format!("{} until {}", block.balance, &expiry.to_string()[..10]),
            None => block.balance.to_string(),
        };
        self.every_block().iter().map(show).collect()
    }
}

/// What is the same for every entry that the tests here add.
fn check_common(entry: &LedgerEntry, customer: CustomerId, number: u64) {
    assert_eq!((entry.customer_id, entry.ledger_sequence_number), (customer, number));
    assert_eq!((&entry.currency, entry.entry_status), (&unit(CREDITS), EntryStatus::Committed));
    assert_eq!(entry.created_at, at(crate::support::fixture::NOON));
    assert_eq!(entry.starting_balance.clone() + entry.amount.clone(), entry.ending_balance);
}

#[test]
fn wire_4_4_an_increment_is_an_entry_and_a_new_block() {
    let priced = credited();
    let terms = block("5.5", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "0.25");
    let entry = priced.book(terms).unwrap();
    check_common(&entry, priced.customer, 1);
    assert_eq!(entry.entry_type, EntryType::Increment);
    assert_eq!((entry.starting_balance, entry.ending_balance), (number("0"), number("5.5")));
    let block = priced.only_block();
    assert_eq!(block.id, entry.credit_block.id);
    assert_eq!(block.currency, unit(CREDITS));
    assert_eq!(
        (&block.balance, &block.maximum_initial_balance),
        (&number("5.5"), &Some(number("5.5")))
    );
    assert_eq!(block.effective_date, Some(at("2026-03-01T00:00:00Z")));
    assert_eq!(block.expiry_date, Some(at("2026-04-01T00:00:00Z")));
    assert_eq!(block.per_unit_cost_basis, Some(number("0.25").into()));
    assert_eq!(
        (block.created_at, block.is_overdraft()),
        (at(crate::support::fixture::NOON), false)
    );
    assert_eq!(entry.credit_block.expiry_date, block.expiry_date);
    assert_eq!(entry.credit_block.per_unit_cost_basis, block.per_unit_cost_basis);
    assert_eq!(priced.fetch_block(block.id), block);
}

#[test]
fn a_block_without_dates_is_effective_now_and_never_expires() {
    let priced = credited_with("5");
    let block = priced.only_block();
    assert_eq!(block.effective_date, Some(at(crate::support::fixture::NOON)));
    assert_eq!((block.expiry_date, block.per_unit_cost_basis), (None, None));
}

#[test]
fn every_increment_is_a_block_of_its_own() {
    let priced = credited();
    for _ in 0..3 {
        priced.give_until("5", "2026-04-01T00:00:00Z");
    }
    assert_eq!(priced.all_blocks(), ["5 of 5"; 3]);
    assert_eq!(priced.ledger(), ["increment 5 = 5", "increment 5 = 10", "increment 5 = 15"]);
}

#[test]
fn wire_4_4_a_decrement_from_several_blocks_answers_the_last_one() {
    let priced = credited();
    let later = priced.give("5");
    let sooner = priced.give_until("2", "2026-04-01T00:00:00Z");
    let last = priced.book(decrement("3.5")).unwrap();
    check_common(&last, priced.customer, 4);
    assert_eq!(
        (&last.entry_type, last.credit_block.id),
        (&EntryType::Decrement, later.credit_block.id)
    );
    assert_eq!(last.amount, number("-1.5"));
    let entries = priced.entries();
    check_common(&entries[2], priced.customer, 3);
    assert_eq!(entries[2].credit_block.id, sooner.credit_block.id);
    assert_eq!(entries[3], last);
    let expect = ["increment 5 = 5", "increment 2 = 7", "decrement -2 = 5", "decrement -1.5 = 3.5"];
    assert_eq!(priced.ledger(), expect);
    assert_eq!(priced.all_blocks(), ["3.5 of 5", "0 of 2"]);
}

#[test]
fn wire_4_4_a_decrement_may_take_the_balance_below_zero() {
    let priced = credited_with("2");
    let last = priced.book(decrement("5")).unwrap();
    check_common(&last, priced.customer, 3);
    assert_eq!((last.amount, last.ending_balance), (number("-3"), number("-3")));
    let overdraft = priced.fetch_block(last.credit_block.id);
    assert!(overdraft.is_overdraft());
    assert_eq!(overdraft.balance, number("-3"));
    assert_eq!((overdraft.effective_date, overdraft.expiry_date), (None, None));
    assert_eq!(last.credit_block.expiry_date, None);
    assert_eq!(priced.standing(), "-3: 0, 3");
}

#[test]
fn what_is_beyond_the_last_block_stands_in_one_block() {
    let priced = credited_with("2");
    let first = priced.book(decrement("5")).unwrap();
    let second = priced.book(decrement("1")).unwrap();
    assert_eq!(second.credit_block, first.credit_block);
    assert_eq!(priced.all_blocks(), ["0 of 2", "-4 overdrawn"]);
    priced.give("10");
    let third = priced.book(decrement("8")).unwrap();
    assert_eq!(third.credit_block, first.credit_block, "once paid off it serves again");
    assert_eq!(priced.all_blocks(), ["0 of 2", "-2 overdrawn", "0 of 10"]);
}

#[test]
fn the_first_entry_may_be_a_decrement() {
    let priced = credited();
    let entry = priced.book(decrement("2")).unwrap();
    check_common(&entry, priced.customer, 1);
    assert_eq!(
        (priced.standing().as_str(), priced.all_blocks().as_slice()),
        ("-2: 0, 2", &["-2 overdrawn".to_owned()][..])
    );
    priced.use_now("a", "1");
    assert_eq!(priced.standing(), "-3: 0, 3", "usage draws on it from then on");
}

#[test]
fn an_increment_pays_the_overdraft_off_first() {
    let check = |amount: &str, standing: &str, blocks: [&str; 2]| {
        let priced = credited();
        priced.book(decrement("3")).unwrap();
        let entry = priced.give(amount);
        assert_eq!(entry.amount, number(amount), "the entry says what was given");
        assert_eq!(priced.standing(), standing);
        assert_eq!(priced.all_blocks(), blocks);
    };
    check("2", "-1: 0, 1", ["-1 overdrawn", "0 of 2"]);
    check("3", "0: 0, 0", ["0 overdrawn", "0 of 3"]);
    check("5", "2: 2, 0", ["0 overdrawn", "2 of 5"]);
}

#[test]
fn wire_4_4_an_expiry_changes_for_all_that_is_left_of_a_block() {
    let priced = credited();
    let mut new = block("5", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z", "0.5");
    new.metadata.insert("from".to_owned(), "sales".to_owned());
    let first = priced.book(new).unwrap();
    priced.book(decrement("1")).unwrap();
    let entry = priced.book(extension(first.credit_block.id, "2026-05-01T00:00:00Z")).unwrap();
    check_common(&entry, priced.customer, 3);
    let block = priced.only_block();
    let expect = EntryType::ExpirationChange {
        moved: number("4"),
        new_block_id: block.id,
        new_block_expiry_date: at("2026-05-01T00:00:00Z"),
    };
    assert_eq!((&entry.entry_type, &entry.amount), (&expect, &number("0")));
    assert_eq!((&entry.starting_balance, &entry.ending_balance), (&number("4"), &number("4")));
    assert_eq!(entry.credit_block, first.credit_block, "the source");
    assert_eq!(
        (&block.balance, &block.maximum_initial_balance),
        (&number("4"), &Some(number("4")))
    );
    assert_eq!(block.expiry_date, Some(at("2026-05-01T00:00:00Z")));
    let source = priced.fetch_block(first.credit_block.id);
    assert_eq!(block.effective_date, source.effective_date);
    assert_eq!(block.per_unit_cost_basis, source.per_unit_cost_basis);
    assert_eq!(
        (block.metadata.get("from").map(String::as_str), &block.metadata),
        (Some("sales"), &source.metadata)
    );
    assert_eq!(priced.dated_blocks(), ["0 until 2026-04-01", "4 until 2026-05-01"]);
    assert_eq!(priced.standing(), "4: 4, 0");
}

#[test]
fn wire_4_4_an_expiry_changes_for_a_part_of_a_block() {
    let priced = credited();
    let first = priced.give_until("5", "2026-04-01T00:00:00Z").credit_block.id;
    let change = |amount: &str, target: &str| {
        priced.book(entry(LedgerChange::ExpirationChange {
            target_expiry_date: at(target),
            amount: Some(number(amount)),
            block_id: Some(first),
            expiry_date: Some(at("2026-04-01T00:00:00Z")),
        }))
    };
    change("2", "2026-05-01T00:00:00Z").unwrap();
    change("1", "2026-03-20T00:00:00Z").unwrap();
    let expect = ["2 until 2026-04-01", "2 until 2026-05-01", "1 until 2026-03-20"];
    assert_eq!(priced.dated_blocks(), expect, "later and sooner");
    change("2", "2026-06-01T00:00:00Z").unwrap();
    assert_eq!(priced.dated_blocks()[0], "0 until 2026-04-01");
    assert_eq!(priced.standing(), "5: 5, 0");
}

#[test]
fn wire_4_4_the_block_whose_expiry_changes_is_found_by_its_date() {
    let priced = credited();
    priced.give_until("5", "2026-04-01T00:00:00Z");
    priced.give_until("3", "2026-05-01T00:00:00Z");
    let change = |amount: Option<&str>, expiry: Option<&str>| {
        priced.book(entry(LedgerChange::ExpirationChange {
            target_expiry_date: at("2026-06-01T00:00:00Z"),
            amount: amount.map(number),
            block_id: None,
            expiry_date: expiry.map(at),
        }))
    };
    change(Some("1"), Some("2026-05-01T00:00:00Z")).unwrap();
    let expect = ["5 until 2026-04-01", "2 until 2026-05-01", "1 until 2026-06-01"];
    assert_eq!(priced.dated_blocks(), expect);
    priced.book(decrement("7")).unwrap();
    change(None, None).unwrap();
    assert_eq!(priced.dated_blocks()[3], "1 until 2026-06-01", "the only one with something left");
}

#[test]
fn a_block_that_never_expires_is_given_an_expiry_date() {
    let priced = credited_with("5");
    let first = priced.only_block();
    let entry = priced.book(extension(first.id, "2026-04-01T00:00:00Z")).unwrap();
    assert_eq!(entry.credit_block.expiry_date, None);
    assert_eq!(priced.dated_blocks(), ["0", "5 until 2026-04-01"]);
}

#[test]
fn wire_4_4_a_void_is_two_entries_of_which_the_first_is_answered() {
    let check = |void_reason: Option<VoidReason>| {
        let priced = credited();
        let given = priced.give("5").credit_block;
        priced.book(decrement("1")).unwrap();
        let void = LedgerChange::Void { amount: number("3"), block_id: given.id, void_reason };
        let first = priced.book(entry(void)).unwrap();
        check_common(&first, priced.customer, 3);
        let void_amount = number("3");
        let initiated = EntryType::VoidInitiated { void_amount: void_amount.clone(), void_reason };
        assert_eq!((&first.entry_type, &first.amount), (&initiated, &number("0")));
        let entries = priced.entries();
        assert_eq!(entries[2], first);
        check_common(&entries[3], priced.customer, 4);
        assert_eq!(entries[3].entry_type, EntryType::Void { void_amount, void_reason });
        assert_eq!(entries[3].amount, number("-3"));
        assert_eq!(
            entries[2..].iter().map(|entry| &entry.credit_block).collect::<Vec<_>>(),
            [&given; 2]
        );
        assert_eq!(
            (priced.standing().as_str(), priced.all_blocks()),
            ("1: 1, 0", vec!["1 of 5".to_owned()])
        );
    };
    check(None);
    check(Some(VoidReason::Refund));
}

#[test]
fn all_that_is_left_of_a_block_can_be_made_void() {
    let priced = credited_with("5");
    priced.book(void("5", priced.only_block().id)).unwrap();
    assert_eq!(priced.standing(), "0: 0, 0");
    assert_eq!(priced.blocks(), []);
    priced.use_now("a", "1");
    assert_eq!(priced.all_blocks(), ["0 of 5", "-1 overdrawn"]);
}

#[test]
fn wire_4_4_an_amendment_gives_back_what_was_taken() {
    let priced = credited_with("5");
    let given = priced.only_block();
    priced.book(decrement("5")).unwrap();
    assert_eq!(priced.blocks(), []);
    let entry = priced.book(amendment("2", given.id)).unwrap();
    check_common(&entry, priced.customer, 3);
    assert_eq!((&entry.entry_type, &entry.amount), (&EntryType::Amendment, &number("2")));
    assert_eq!(entry.credit_block, EntryBlock::from(&given));
    priced.book(amendment("3", given.id)).unwrap();
    assert_eq!(priced.only_block(), given, "all of it is back");
    assert_eq!(priced.ledger()[2..], ["amendment 2 = 2", "amendment 3 = 5"]);
}

#[test]
fn an_amendment_gives_back_what_usage_has_drawn() {
    let priced = credited_with("5");
    priced.use_now("a", "3");
    priced.book(amendment("1", priced.only_block().id)).unwrap();
    assert_eq!(priced.standing(), "3: 3, 0");
}

#[test]
fn an_amendment_of_the_overdraft_makes_it_smaller() {
    let priced = credited();
    let overdraft = priced.book(decrement("3")).unwrap().credit_block.id;
    priced.book(amendment("2", overdraft)).unwrap();
    assert_eq!(priced.standing(), "-1: 0, 1");
}

#[test]
fn an_entry_has_the_words_of_the_caller() {
    let words = |mut new: NewLedgerEntry, text: &str| {
        new.description = Some(Description::parse(text).unwrap());
        new.metadata = [("word".to_owned(), text.to_owned())].into();
        new
    };
    let priced = credited();
    let first = priced.book(words(increment("5"), "gift")).unwrap();
    let id = first.credit_block.id;
    priced.book(words(decrement("7"), "fine")).unwrap();
    priced.book(words(amendment("5", id), "sorry")).unwrap();
    priced.book(words(extension(id, "2026-04-01T00:00:00Z"), "soon")).unwrap();
    let moved = priced.only_block();
    priced.book(words(void("1", moved.id), "gone")).unwrap();
    let found: Vec<_> = priced
        .entries()
        .iter()
        .map(|entry| {
            let description = entry.description.as_ref().unwrap().as_str();
            assert_eq!(entry.metadata.get("word").map(String::as_str), Some(description));
            description.to_owned()
        })
        .collect();
    assert_eq!(found, ["gift", "fine", "fine", "sorry", "soon", "gone", "gone"]);
    assert_eq!(moved.metadata, first.metadata, "a block keeps those of its increment");
}

#[test]
fn usage_has_no_words() {
    let priced = credited_with("5");
    priced.use_now("a", "1");
    let drawn = priced.entries().pop().unwrap();
    assert_eq!((drawn.description, drawn.metadata.len()), (None, 0));
}

#[test]
fn only_an_increment_is_told() {
    let priced = credited();
    priced.book(decrement("1")).unwrap();
    let given = priced.book(expiring("5", "2026-04-01T00:00:00Z")).unwrap();
    let messages = priced.fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.message_type(), "customer.credit_ledger_incremented");
    let Body::CreditLedgerIncremented { block } = &message.body else { panic!("{message:?}") };
    assert_eq!(**block, priced.fetch_block(given.credit_block.id));
    assert_eq!(block.balance, number("4"), "as the increment left it");
    let id = given.credit_block.id;
    priced.use_now("a", "1");
    priced.book(decrement("1")).unwrap();
    priced.book(amendment("1", id)).unwrap();
    priced.book(void("1", id)).unwrap();
    priced.book(extension(id, "2026-05-01T00:00:00Z")).unwrap();
    assert_eq!(priced.fixture.message_types(), NOTHING);
}
