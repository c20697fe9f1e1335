//! A block of credits is changed and deleted (wire 5.1); see docs/decisions/deleted-credit-blocks.md.

use accrue::{
    CreditBlockId, Error, ErrorKind, MetadataUpdate,
    credit::{CreditBlock, CreditBlockFilter},
};

use crate::support::{
    credited::{
        CREDITS, amendment, credited, credited_with, decrement, depleted, dropped, extension,
        increment, recovered, void, volume,
    },
    fixture::{at, block_on, run},
    priced::{NOTHING, Priced, unit},
};

impl Priced {
    fn delete(&self, id: CreditBlockId) -> Result<(), Error> {
        run(self.fixture.account.delete_credit_block(id))
    }

    fn update(&self, id: CreditBlockId, metadata: MetadataUpdate) -> Result<CreditBlock, Error> {
        run(self.fixture.account.update_credit_block(id, metadata))
    }

    fn fetch(&self, id: CreditBlockId) -> Result<CreditBlock, Error> {
        block_on(self.fixture.account.fetch_credit_block(id))
    }

    fn entries_after(&self, earlier: usize) -> Vec<String> {
        self.ledger().split_off(earlier)
    }
}

fn set(key: &str, value: Option<&str>) -> MetadataUpdate {
    MetadataUpdate::Merge([(key.to_owned(), value.map(str::to_owned))].into())
}

#[test]
fn wire_5_1_the_metadata_of_a_block_is_merged() {
    let priced = credited();
    let mut new = increment("5");
    new.metadata = [("order".to_owned(), "17".to_owned())].into();
    let entry = priced.book(new).unwrap();
    let id = entry.credit_block.id;
    let keys = |block: &CreditBlock| block.metadata.keys().cloned().collect::<Vec<_>>();
    let block = priced.update(id, set("paid", Some("yes"))).unwrap();
    assert_eq!(keys(&block), ["order", "paid"]);
    assert_eq!(priced.fetch(id).unwrap(), block);
    assert_eq!(priced.blocks(), [block]);
    let block = priced.update(id, set("order", None)).unwrap();
    assert_eq!(keys(&block), ["paid"]);
    assert_eq!(keys(&priced.update(id, MetadataUpdate::Keep).unwrap()), ["paid"]);
    let block = priced.update(id, MetadataUpdate::Clear).unwrap();
    assert_eq!(keys(&block), [""; 0]);
    assert_eq!(priced.fetch(id).unwrap(), block);
    assert_eq!(priced.entries()[0], entry, "the entry keeps its own");
    let long = priced.update(id, set("a", Some(&"x".repeat(513)))).unwrap_err();
    assert_eq!(long.kind(), ErrorKind::RequestValidation);
}

#[test]
fn wire_5_1_a_deleted_block_is_gone_from_everything_but_the_entries() {
    let priced = credited_with("5");
    let mut new = increment("3");
    new.metadata = [("order".to_owned(), "17".to_owned())].into();
    let id = priced.book(new).unwrap().credit_block.id;
    priced.delete(id).unwrap();
    assert_eq!(priced.standing(), "5: 5, 0");
    assert_eq!(priced.entries_after(2), ["void_initiated 0 = 8", "void -3 = 5"]);
    assert!(priced.fetch(id).unwrap_err().is_not_found());
    let filter = CreditBlockFilter { include_all_blocks: true, ..Default::default() };
    for filter in [CreditBlockFilter::default(), filter] {
        let found = priced.fixture.blocks(priced.customer, filter);
        assert!(found.iter().all(|block| block.id != id) && found.len() == 1);
    }
    let before = priced.fixture.dump();
    assert!(priced.delete(id).unwrap_err().is_not_found());
    assert!(priced.update(id, set("a", Some("b"))).unwrap_err().is_not_found());
    for new in [void("1", id), amendment("1", id), extension(id, "2027-01-01T00:00:00Z")] {
        assert!(priced.book(new).unwrap_err().is_not_found());
    }
    assert_eq!(priced.fixture.dump(), before);
}

#[test]
fn what_usage_drew_from_it_is_drawn_from_the_others() {
    let priced = credited();
    let gone = priced.give_until("5", "2026-04-01T00:00:00Z").credit_block.id;
    priced.give_until("2", "2026-05-01T00:00:00Z");
    priced.give("2");
    priced.use_now("a", "4");
    priced.delete(gone).unwrap();
    let expect = [
        "decrement -4 = 5",
        "amendment 4 = 9",
        "void_initiated 0 = 9",
        "void -5 = 4",
        "decrement -2 = 2",
        "decrement -2 = 0",
    ];
    assert_eq!(priced.entries_after(3), expect);
    assert_eq!(priced.all_blocks(), ["0 of 2", "0 of 2"]);
    assert_eq!(priced.standing(), "0: 0, 0");
}

#[test]
fn without_it_the_ledger_is_what_it_would_be() {
    let story = |with: bool| {
        let priced = credited();
        let block = with.then(|| priced.give_until("5", "2026-04-01T00:00:00Z").credit_block.id);
        priced.give_until("3", "2026-05-01T00:00:00Z");
        priced.use_now("a", "4");
        priced.book(decrement("2.5")).unwrap();
        if let Some(block) = block {
            priced.delete(block).unwrap();
        }
        priced.use_now("b", "0.5");
        priced.give("1");
        let mut blocks = priced.all_blocks();
        blocks.sort();
        (blocks, priced.standing())
    };
    assert_eq!(story(true), story(false));
    assert_eq!(story(true).1, "-3: 0, 3");
}

#[test]
fn what_no_block_covers_is_overdrawn() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    priced.use_now("a", "4");
    priced.delete(id).unwrap();
    assert_eq!(priced.standing(), "-4: 0, 4");
    assert_eq!(priced.all_blocks(), ["-4 overdrawn"]);
    priced.give("6");
    assert_eq!(priced.standing(), "2: 2, 0");
}

#[test]
fn what_costs_less_goes_back_to_what_was_drawn_instead() {
    let priced = volume();
    let gone = priced.give_until("20", "2026-04-01T00:00:00Z").credit_block.id;
    let kept = priced.give_until("4", "2026-05-01T00:00:00Z").credit_block.id;
    priced.use_now("a", "10");
    priced.delete(gone).unwrap();
    assert_eq!(priced.all_blocks(), ["0 of 4", "-6 overdrawn"]);
    priced.use_now("b", "1");
    assert_eq!(priced.all_blocks(), ["0 of 4", "-1.5 overdrawn"]);
    priced.delete(kept).unwrap();
    assert_eq!(priced.all_blocks(), ["-5.5 overdrawn"]);
    assert_eq!(priced.standing(), "-5.5: 0, 5.5");
}

#[test]
fn an_overdraft_that_it_paid_off_is_there_again() {
    let priced = credited_with("1");
    priced.use_now("a", "4");
    let payer = priced.give("10").credit_block.id;
    assert_eq!(priced.standing(), "7: 7, 0");
    priced.delete(payer).unwrap();
    assert_eq!(priced.all_blocks(), ["0 of 1", "-3 overdrawn"]);
    assert_eq!(priced.standing(), "-3: 0, 3");
}

#[test]
fn a_ledger_has_at_most_100_deleted_blocks_for_which_others_stand() {
    let priced = volume();
    let mut source = priced.give("10").credit_block.id;
    priced.use_now("a", "10");
    for _ in 0..100 {
        let next = priced.give("10").credit_block.id;
        priced.delete(source).unwrap();
        source = next;
    }
    priced.give("10");
    let before = priced.fixture.dump();
    let refused = priced.delete(source).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert_eq!(priced.fixture.dump(), before);
    assert_eq!(priced.standing(), "10: 10, 0");
    priced.use_now("b", "1");
    assert_eq!(priced.standing(), "14.5: 14.5, 0");
}

#[test]
fn the_overdraft_cannot_be_deleted() {
    let priced = credited_with("1");
    priced.use_now("a", "4");
    let filter = CreditBlockFilter { include_all_blocks: true, ..Default::default() };
    let blocks = priced.fixture.blocks(priced.customer, filter);
    let overdraft = blocks.iter().find(|block| block.is_overdraft()).unwrap().id;
    let before = priced.fixture.dump();
    let refused = priced.delete(overdraft).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConstraintViolation);
    assert_eq!(priced.fixture.dump(), before);
}

#[test]
fn a_part_of_it_with_another_expiry_date_stays() {
    let priced = credited();
    let id = priced.give_until("5", "2026-04-01T00:00:00Z").credit_block.id;
    priced.book(extension(id, "2026-06-01T00:00:00Z")).unwrap();
    let entries = priced.ledger();
    priced.delete(id).unwrap();
    assert_eq!(priced.ledger(), entries, "nothing was left of it");
    assert_eq!(priced.standing(), "5: 5, 0");
    assert!(priced.fetch(id).unwrap_err().is_not_found());
}

#[test]
fn one_that_has_expired_gives_up_what_was_drawn() {
    let priced = credited_with("10");
    let id = priced.give_until("5", "2026-03-12T00:00:00Z").credit_block.id;
    priced.use_now("a", "3");
    priced.fixture.set("2026-03-13T00:00:00Z");
    priced.delete(id).unwrap();
    assert_eq!(priced.standing(), "7: 7, 0");
    let expect = [
        "decrement -3 = 12",
        "credit_block_expiry -2 = 10",
        "amendment 3 = 13",
        "void_initiated 0 = 13",
        "void -3 = 10",
        "decrement -3 = 7",
    ];
    assert_eq!(priced.entries_after(2), expect);
}

#[test]
fn alerts_are_judged_once_from_before_to_after() {
    let priced = credited_with("1");
    let id = priced.give("5").credit_block.id;
    priced.use_now("a", "2");
    priced.watch(dropped(&["3", "1"]));
    priced.watch(depleted());
    priced.watch(recovered());
    priced.told();
    priced.delete(id).unwrap();
    assert_eq!(priced.told(), ["dropped 3 1: 4 -> -1 by credit", "depleted: 4 -> -1 by credit"]);
    priced.give("0.5");
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn it_no_longer_expires() {
    let priced = credited();
    let id = priced.give_until("5", "2026-03-12T00:00:00Z").credit_block.id;
    priced.delete(id).unwrap();
    assert_eq!(
        block_on(priced.fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-04-10T12:00:00Z"))
    );
}

#[test]
fn another_account_and_a_deleted_customer_have_no_such_block() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let other = priced.fixture.billing.account(accrue::AccountId::parse("other").unwrap());
    assert!(run(other.delete_credit_block(id)).unwrap_err().is_not_found());
    priced.fixture.credits(false);
    let refused = priced.delete(id).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::FeatureNotAvailable);
    priced.fixture.credits(true);
    run(priced.fixture.account.delete_customer(priced.customer)).unwrap();
    assert!(priced.delete(id).unwrap_err().is_not_found());
    assert!(priced.update(id, MetadataUpdate::Clear).unwrap_err().is_not_found());
}

#[test]
fn a_preview_of_a_deletion_tells_the_balance() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let before = priced.fixture.dump();
    let preview = block_on(priced.fixture.account.delete_credit_block(id).preview()).unwrap();
    let [change] = preview.balances.as_slice() else { panic!("{:?}", preview.balances) };
    assert_eq!(change.currency, unit(CREDITS));
    assert_eq!(priced.fixture.dump(), before);
}
