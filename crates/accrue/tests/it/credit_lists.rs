//! Lists of blocks and of entries: what they filter, and their pages.

use accrue::{
    CreditBlockId, Cursor, Error, ErrorKind, InstantRange, Page, PageRequest, PricingUnit,
    credit::{
        CreditBlock, CreditBlockFilter, EntryKind, EntryStatus, LedgerEntry, LedgerFilter,
        NewLedgerEntry,
    },
};

use crate::support::{
    credited::{CREDITS, amendment, block, credited, credited_with, decrement, extension, void},
    fixture::{at, block_on, external, number, run},
    priced::{Priced, unit},
};

impl Priced {
    fn list_blocks(
        &self,
        filter: CreditBlockFilter,
        page: &PageRequest,
    ) -> Result<Page<CreditBlock>, Error> {
        let credits = unit(CREDITS);
        block_on(self.fixture.account.list_credit_blocks(self.customer, &credits, &filter, page))
    }

    fn list_entries(
        &self,
        filter: LedgerFilter,
        page: &PageRequest,
    ) -> Result<Page<LedgerEntry>, Error> {
        let credits = unit(CREDITS);
        block_on(self.fixture.account.list_ledger_entries(self.customer, &credits, &filter, page))
    }

    /// What was given, of the blocks of a filter, newest first.
    fn given(&self, filter: CreditBlockFilter) -> Vec<String> {
        let mut found = self.fixture.blocks(self.customer, filter);
        found.reverse();
        let given = |block: &CreditBlock| block.maximum_initial_balance.clone();
        let given = found.iter().map(given);
        given.map(|given| given.map_or("overdraft".to_owned(), |of| of.to_string())).collect()
    }

    /// The numbers of the entries of a filter, newest first.
    fn numbers(&self, filter: LedgerFilter) -> Vec<u64> {
        let mut found = self.fixture.entries(self.customer, filter);
        found.reverse();
        found.iter().map(|entry| entry.ledger_sequence_number).collect()
    }

    /// Gives blocks a second after each other, from `(amount, effective date, expiry date)`.
    fn give_all(&self, blocks: &[(&str, &str, &str)]) {
        for (amount, effective, expiry) in blocks {
            self.fixture.clock.advance(std::time::Duration::from_secs(1));
            self.book(block(amount, effective, expiry, "")).unwrap();
        }
    }
}

/// Reads every page of so many rows, and makes sure that each is as it should be.
fn walk<T>(
    limit: usize,
    first: PageRequest,
    list: impl Fn(&PageRequest) -> Result<Page<T>, Error>,
) -> Vec<T> {
    let (mut page, mut all) = (first, Vec::new());
    loop {
        let found = list(&page).unwrap();
        assert_eq!(found.has_more(), found.next_cursor.is_some());
        assert!(found.data.len() <= limit);
        assert!(!found.has_more() || !found.data.is_empty(), "a page with more is never empty");
        all.extend(found.data);
        match found.next_cursor {
            Some(cursor) => page = page.after(cursor),
            None => return all,
        }
    }
}

/// Every block.
fn all() -> CreditBlockFilter {
    CreditBlockFilter { include_all_blocks: true, ..Default::default() }
}

/// Blocks that are effective within a bound.
fn effective(effective: InstantRange) -> CreditBlockFilter {
    CreditBlockFilter { effective, ..Default::default() }
}

fn of_kind(kind: EntryKind) -> LedgerFilter {
    LedgerFilter { entry_type: Some(kind), ..Default::default() }
}

#[test]
fn every_ledger_of_a_customer_has_its_balance() {
    let priced = credited();
    let balances = || {
        let all = block_on(priced.fixture.account.credit_balances(priced.customer)).unwrap();
        let show = |of: &accrue::credit::CreditBalance| format!("{} {:?}", of.currency, of.balance);
        all.iter().map(show).collect::<Vec<_>>()
    };
    assert!(balances().is_empty());
    priced.give_until("5", "2026-03-11T00:00:00Z");
    let usd = NewLedgerEntry::increment(unit("USD"), number("2"));
    run(priced.fixture.account.create_ledger_entry(priced.customer, usd)).unwrap();
    assert_eq!(balances(), ["USD Some(2)", "credits Some(5)"]);
    priced.fixture.set("2026-03-11T00:00:00Z");
    assert_eq!(balances(), ["USD Some(2)", "credits Some(0)"], "before any tick");
}

#[test]
fn wire_4_4_blocks_are_listed_that_have_something_left_and_have_not_expired() {
    let priced = credited();
    priced.give_all(&[
        ("1", "", ""),
        ("2", "", "2026-03-20T00:00:00Z"),
        ("3", "2026-04-01T00:00:00Z", ""),
    ]);
    assert_eq!(priced.given(CreditBlockFilter::default()), ["3", "2", "1"], "newest first");
    priced.use_now("a", "2");
    assert_eq!(priced.given(CreditBlockFilter::default()), ["3", "1"], "it is used up");
    priced.fixture.clock.advance(std::time::Duration::from_secs(1));
    priced.use_now("b", "4");
    assert_eq!(priced.given(CreditBlockFilter::default()), ["3"]);
    assert_eq!(priced.given(all()), ["overdraft", "3", "2", "1"]);
}

#[test]
fn wire_4_4_a_block_that_has_expired_is_listed_with_all_blocks_alone() {
    let priced = credited();
    priced.give_all(&[("1", "", ""), ("2", "", "2026-03-20T00:00:00Z")]);
    for is_applied in [false, true] {
        priced.fixture.set("2026-03-20T00:00:00Z");
        assert_eq!(priced.given(CreditBlockFilter::default()), ["1"]);
        assert_eq!(priced.all_blocks(), ["1 of 1", "0 of 2"], "applied: {is_applied}");
        priced.fixture.tick();
    }
}

#[test]
fn where_there_is_no_ledger_there_is_nothing_to_list() {
    let priced = credited();
    assert_eq!(priced.given(all()), [""; 0]);
    assert_eq!(priced.numbers(LedgerFilter::default()), [0; 0]);
}

#[test]
fn bounds_on_the_effective_date_are_met_to_the_instant() {
    let priced = credited();
    let [first, second, third] =
        ["2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z"];
    priced.give_all(&[("3", third, ""), ("1", first, ""), ("2", second, "")]);
    priced.book(decrement("1")).unwrap();
    priced.book(decrement("5")).unwrap();
    priced.book(amendment("2", priced.every_block()[0].id)).unwrap();
    let any = InstantRange::default();
    let check = |bound: InstantRange, expect: &[&str]| {
        let every = CreditBlockFilter { effective: bound, include_all_blocks: true };
        assert_eq!(priced.given(every), expect);
        let left = expect.iter().filter(|given| **given == "3").count();
        assert_eq!(priced.given(effective(bound)).len(), left, "of which one has something left");
    };
    check(any.at_or_after(at(second)), &["2", "3"]);
    check(any.after(at(second)), &["3"]);
    check(any.before(at(second)), &["1"]);
    check(any.at_or_before(at(second)), &["2", "1"]);
    check(any.at_or_after(at(second)).before(at(third)), &["2"]);
    check(any.after(at(third)), &[]);
}

#[test]
fn the_overdraft_has_no_effective_date() {
    let priced = credited();
    priced.book(decrement("1")).unwrap();
    assert_eq!(priced.given(all()), ["overdraft"]);
    let bound = InstantRange::default().after(at("1970-01-01T00:00:00Z"));
    let filter = CreditBlockFilter { effective: bound, include_all_blocks: true };
    assert_eq!(priced.given(filter), [""; 0]);
}

#[test]
fn s4_1_a_walk_over_blocks_sees_each_once_newest_first() {
    let check = |seconds: u64| {
        let priced = credited();
        for n in 1..=7_u64 {
            priced.fixture.clock.advance(std::time::Duration::from_secs(seconds));
            priced.give(&n.to_string());
        }
        priced.book(decrement("3")).unwrap();
        for filter in [CreditBlockFilter::default(), all()] {
            let whole = priced.list_blocks(filter, &PageRequest::default()).unwrap().data;
            let order = |block: &CreditBlock| std::cmp::Reverse((block.created_at, block.id));
            assert!(whole.is_sorted_by_key(order));
            for limit in [1, 2, 3, 7, 100] {
                let first = PageRequest::first(limit).unwrap();
                let found = walk(limit, first, |page| priced.list_blocks(filter, page));
                assert_eq!(found, whole);
            }
        }
    };
    check(1);
    check(0);
}

#[test]
fn a_walk_over_entries_sees_each_once_newest_first() {
    let priced = credited_with("10");
    for n in 1..7 {
        priced.use_now(&n.to_string(), "1");
        priced.give("1");
    }
    let expect: Vec<u64> = (1..=13).rev().collect();
    for limit in [1, 2, 3, 13, 100] {
        let first = PageRequest::first(limit).unwrap();
        let filter = LedgerFilter::default();
        let found = walk(limit, first, |page| priced.list_entries(filter.clone(), page));
        let numbers: Vec<_> = found.iter().map(|entry| entry.ledger_sequence_number).collect();
        assert_eq!(numbers, expect);
    }
}

#[test]
fn a_walk_sees_what_was_there_when_it_began_once() {
    let priced = credited_with("10");
    (1..5).for_each(|n| drop(priced.give(&n.to_string())));
    let first = PageRequest::first(2).unwrap();
    let found = walk(2, first, |page| {
        let found = priced.list_entries(LedgerFilter::default(), page);
        priced.give("7");
        found
    });
    let numbers: Vec<_> = found.iter().map(|entry| entry.ledger_sequence_number).collect();
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
}

#[test]
fn a_page_of_a_ledger_has_at_most_1000_entries() {
    let priced = credited_with("2");
    for _ in 0..1_001 {
        priced.book(decrement("0.001")).unwrap();
    }
    let page = PageRequest::first_of_ledger(1_000).unwrap();
    let found = priced.list_entries(LedgerFilter::default(), &page).unwrap();
    assert_eq!((found.data.len(), found.has_more()), (1_000, true));
    let filter = LedgerFilter::default();
    let whole = walk(1_000, page, |page| priced.list_entries(filter.clone(), page));
    let numbers: Vec<_> = whole.iter().map(|entry| entry.ledger_sequence_number).collect();
    assert_eq!(numbers, (1..=1_002).rev().collect::<Vec<_>>());
}

#[test]
fn a_limit_that_is_too_large_or_zero_is_refused() {
    let check = |page: Result<PageRequest, Error>, detail: &str| {
        let error = page.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RequestValidation);
        assert_eq!(error.to_string(), detail);
    };
    check(PageRequest::first_of_ledger(1_001), "limit: found 1001, expected 1 to 1000");
    check(PageRequest::first_of_ledger(0), "limit: found 0, expected 1 to 1000");
    check(PageRequest::first(101), "limit: found 101, expected 1 to 100");
}

/// A ledger with an entry of every kind: 1 increment, 2 void initiated, 3 void, 4 decrement of the
/// caller, 5 amendment, 6 expiration change, 7 expiry, 8 increment, 9 decrement of usage, pending.
fn every_kind() -> Priced {
    let priced = credited_with("20");
    let id = priced.blocks()[0].id;
    priced.book(void("1", id)).unwrap();
    priced.fixture.set("2026-03-11T00:00:00Z");
    priced.book(decrement("5")).unwrap();
    priced.book(amendment("2.5", id)).unwrap();
    priced.book(extension(id, "2026-03-12T00:00:00Z")).unwrap();
    priced.fixture.set("2026-03-13T00:00:00Z");
    priced.give("7");
    priced.use_now("a", "3");
    priced
}

#[test]
fn wire_4_4_entries_are_listed_by_their_type() {
    let priced = every_kind();
    let check = |kind: EntryKind, expect: &[u64]| assert_eq!(priced.numbers(of_kind(kind)), expect);
    check(EntryKind::Increment, &[8, 1]);
    check(EntryKind::Decrement, &[9, 4]);
    check(EntryKind::ExpirationChange, &[6]);
    check(EntryKind::CreditBlockExpiry, &[7]);
    check(EntryKind::VoidInitiated, &[2]);
    check(EntryKind::Void, &[3]);
    check(EntryKind::Amendment, &[5]);
    assert_eq!(priced.numbers(LedgerFilter::default()), [9, 8, 7, 6, 5, 4, 3, 2, 1]);
}

#[test]
fn wire_4_4_entries_are_listed_by_their_status() {
    let priced = every_kind();
    let of = |status, kind| {
        let entry_status = Some(status);
        priced.numbers(LedgerFilter { entry_status, entry_type: kind, ..Default::default() })
    };
    assert_eq!(of(EntryStatus::Pending, None), [9]);
    assert_eq!(of(EntryStatus::Committed, None), [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(of(EntryStatus::Pending, Some(EntryKind::Decrement)), [9]);
    assert_eq!(of(EntryStatus::Committed, Some(EntryKind::Decrement)), [4]);
    assert_eq!(of(EntryStatus::Pending, Some(EntryKind::Increment)), [0; 0]);
    priced.fixture.set("2026-03-14T00:00:00Z");
    assert_eq!(of(EntryStatus::Pending, None), [0; 0], "the day has ended");
    assert_eq!(of(EntryStatus::Committed, Some(EntryKind::Decrement)), [9, 4]);
}

#[test]
fn wire_4_4_entries_are_listed_by_the_least_that_they_moved() {
    let priced = every_kind();
    let of = |least: &str, kind| {
        let minimum_amount = Some(number(least));
        priced.numbers(LedgerFilter { minimum_amount, entry_type: kind, ..Default::default() })
    };
    assert_eq!(of("0.001", None), [9, 8, 7, 6, 5, 4, 3, 2, 1], "or a block");
    assert_eq!(of("5", None), [8, 7, 6, 4, 1], "up or down, and equality counts");
    assert_eq!(of("5.0000001", None), [8, 7, 6, 1]);
    assert_eq!(of("3", Some(EntryKind::Decrement)), [9, 4]);
    priced.use_now("b", "2");
    assert_eq!(of("5", Some(EntryKind::Decrement)), [9, 4], "with what it is now");
}

#[test]
fn wire_4_4_entries_are_listed_by_their_instants() {
    let priced = every_kind();
    let any = InstantRange::default();
    let [second, expiry, last] =
        ["2026-03-11T00:00:00Z", "2026-03-12T00:00:00Z", "2026-03-13T00:00:00Z"].map(at);
    let check = |created: InstantRange, expect: &[u64]| {
        assert_eq!(priced.numbers(LedgerFilter { created, ..Default::default() }), expect);
    };
    check(any.at_or_after(second), &[9, 8, 7, 6, 5, 4]);
    check(any.after(second), &[9, 8, 7]);
    check(any.before(second), &[3, 2, 1]);
    check(any.at_or_before(expiry), &[7, 6, 5, 4, 3, 2, 1]);
    check(any.after(expiry).before(last), &[]);
    let filter = LedgerFilter { created: any.before(last), ..of_kind(EntryKind::Increment) };
    assert_eq!(priced.numbers(filter), [1]);
}

#[test]
fn filters_hold_on_every_page() {
    let priced = credited();
    for n in 1..=12_u64 {
        priced.fixture.clock.advance(std::time::Duration::from_secs(1));
        priced.give(&n.to_string());
        priced.book(decrement("0.5")).unwrap();
    }
    let filter = LedgerFilter { minimum_amount: Some(number("6")), ..Default::default() };
    let found = priced.fixture.entries(priced.customer, filter.clone());
    let amounts: Vec<_> = found.iter().map(|entry| entry.amount.to_string()).collect();
    assert_eq!(amounts, ["6", "7", "8", "9", "10", "11", "12"]);
    let first = PageRequest::first(1).unwrap();
    let singly = walk(1, first, |page| priced.list_entries(filter.clone(), page));
    assert_eq!(singly.len(), 7);
}

#[test]
fn s4_1_a_cursor_is_good_for_the_list_that_gave_it() {
    let priced = credited_with("5");
    priced.fixture.customer("eve");
    (0..3).for_each(|_| drop(priced.give("1")));
    let first = PageRequest::first(1).unwrap();
    let entries = priced.list_entries(LedgerFilter::default(), &first).unwrap();
    let open = priced.list_blocks(CreditBlockFilter::default(), &first).unwrap();
    let every = priced.list_blocks(all(), &first).unwrap();
    let [entries, open, every] =
        [entries.next_cursor, open.next_cursor, every.next_cursor].map(Option::unwrap);
    let account = &priced.fixture.account;
    let list = |who: &str, currency: PricingUnit, filter: LedgerFilter, cursor: &Cursor| {
        let page = PageRequest::first(1).unwrap().after(cursor.clone());
        let list = account.list_ledger_entries(external(who), &currency, &filter, &page);
        block_on(list).map(|found| found.data)
    };
    let blocks = |filter, cursor: &Cursor| {
        let page = PageRequest::first(1).unwrap().after(cursor.clone());
        priced.list_blocks(filter, &page).map(|found| found.data)
    };
    let any = LedgerFilter::default;
    assert!(list("ada", unit(CREDITS), any(), &entries).is_ok(), "also by the external id");
    assert!(blocks(CreditBlockFilter::default(), &open).is_ok());
    assert!(blocks(all(), &every).is_ok());
    let mut texts = Vec::new();
    let mut check = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::RequestValidation);
        texts.push(error.to_string());
    };
    let amount = LedgerFilter { minimum_amount: Some(number("1")), ..any() };
    let status = LedgerFilter { entry_status: Some(EntryStatus::Committed), ..any() };
    let created = LedgerFilter {
        created: InstantRange::default().after(at("2020-01-01T00:00:00Z")),
        ..any()
    };
    for filter in [amount, status, created, of_kind(EntryKind::Increment)] {
        check(list("ada", unit(CREDITS), filter, &entries).unwrap_err());
    }
    check(list("ada", unit("USD"), any(), &entries).unwrap_err());
    check(list("eve", unit(CREDITS), any(), &entries).unwrap_err());
    check(list("ada", unit(CREDITS), any(), &open).unwrap_err());
    check(list("ada", unit(CREDITS), any(), &Cursor::from_text("nonsense")).unwrap_err());
    check(blocks(CreditBlockFilter::default(), &entries).unwrap_err());
    check(blocks(CreditBlockFilter::default(), &every).unwrap_err());
    check(blocks(all(), &open).unwrap_err());
    check(
        blocks(effective(InstantRange::default().before(at("2030-01-01T00:00:00Z"))), &open)
            .unwrap_err(),
    );
    check(blocks(all(), &Cursor::from_text("")).unwrap_err());
    texts.dedup();
    assert_eq!(texts.len(), 1, "any bad cursor is the same: {texts:?}");
}

#[test]
fn a_cursor_does_not_carry_the_limit() {
    let priced = credited_with("5");
    (0..3).for_each(|_| drop(priced.give("1")));
    let first = PageRequest::first(1).unwrap();
    let cursor = priced.list_entries(LedgerFilter::default(), &first).unwrap().next_cursor;
    let page = PageRequest::first_of_ledger(1_000).unwrap().after(cursor.unwrap());
    let rest = priced.list_entries(LedgerFilter::default(), &page).unwrap();
    assert_eq!((rest.data.len(), rest.has_more()), (3, false));
}

#[test]
fn a_block_is_fetched_whatever_is_left_of_it() {
    let priced = credited();
    let given = priced.give_until("5", "2026-03-20T00:00:00Z").credit_block.id;
    let fetch = |id: CreditBlockId| block_on(priced.fixture.account.fetch_credit_block(id));
    assert_eq!(fetch(given).unwrap(), priced.blocks()[0]);
    priced.use_now("a", "1");
    assert_eq!(fetch(given).unwrap().balance, number("4"));
    priced.fixture.set("2026-03-20T00:00:00Z");
    assert_eq!(fetch(given).unwrap().balance, number("0"));
    priced.use_now("b", "2");
    let overdraft = priced.entries().pop().unwrap().credit_block.id;
    assert_eq!(fetch(overdraft).unwrap().balance, number("-2"));
}

#[test]
fn a_block_is_found_in_its_account_while_its_customer_is_there() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let unknown: CreditBlockId = "019cd79e-4600-7000-8000-000000000000".parse().unwrap();
    let fetch = |account: &accrue::Account, id| block_on(account.fetch_credit_block(id));
    let account = &priced.fixture.account;
    let error = fetch(account, unknown).unwrap_err();
    assert!(error.is_not_found());
    assert!(error.to_string().contains(&unknown.to_string()), "{error}");
    let other = priced.fixture.billing.account(accrue::AccountId::parse("other").unwrap());
    assert!(fetch(&other, id).unwrap_err().is_not_found());
    run(account.delete_customer(priced.customer)).unwrap();
    let error = fetch(account, id).unwrap_err();
    assert!(error.is_not_found());
    assert!(error.to_string().contains(&id.to_string()), "the block, not the customer: {error}");
}

#[test]
fn the_lists_of_a_customer_that_is_not_there_are_not_found() {
    let priced = credited_with("5");
    let (account, credits, page) = (&priced.fixture.account, unit(CREDITS), PageRequest::default());
    let check = |who: accrue::IdOr<accrue::CustomerId>| {
        let any = LedgerFilter::default();
        let list = account.list_ledger_entries(who.clone(), &credits, &any, &page);
        assert!(block_on(list).unwrap_err().is_not_found());
        let any = CreditBlockFilter::default();
        let list = account.list_credit_blocks(who.clone(), &credits, &any, &page);
        assert!(block_on(list).unwrap_err().is_not_found());
        assert!(block_on(account.credit_balance(who, &credits)).unwrap_err().is_not_found());
    };
    check(external("eve").into());
    run(account.delete_customer(priced.customer)).unwrap();
    check(priced.customer.into());
    check(external("ada").into());
}
