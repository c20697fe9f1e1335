//! Credits are drawn where a backfill comes to count, and given back where it counts no longer.

use accrue::{Decimal, alert::Cause, backfill::NewBackfill, credit::EntryType, webhook::Body};

use crate::{
    corrected_alerts::{added, noon},
    support::{
        credited::{credited, credited_with, depleted, dropped, recovered},
        fixture::{at, number, run},
        priced::{NOTHING, Priced, between},
    },
};

impl Priced {
    /// Makes sure that the balance is the sum of the entries, and of the blocks.
    fn sums(&self) -> String {
        let entries = self.entries();
        let sum = entries.iter().fold(Decimal::zero(), |sum, entry| sum + entry.amount.clone());
        assert_eq!(self.balance(), Some(sum.to_string()), "{:?}", self.ledger());
        let mut running = Decimal::zero();
        for entry in &entries {
            assert_eq!(entry.starting_balance, running, "{:?}", self.ledger());
            running += entry.amount.clone();
            assert_eq!(entry.ending_balance, running, "{:?}", self.ledger());
        }
        self.standing()
    }

    fn ledger_since(&self, earlier: usize) -> Vec<String> {
        self.ledger().split_off(earlier)
    }
}

#[test]
fn a_backfill_draws_what_it_costs_more_and_reverting_it_gives_that_back() {
    let priced = credited_with("10");
    priced.use_now("a", "3");
    let (before, blocks) = (priced.sums(), priced.all_blocks());
    let backfill = added(&priced, noon(), "4");
    assert_eq!(priced.sums(), before, "nothing counts yet");
    priced.fixture.set("2026-03-11T00:00:00Z");
    run(priced.fixture.account.close_backfill(backfill.id)).unwrap();
    priced.fixture.set("2026-03-13T00:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.sums(), "3: 3, 0");
    assert_eq!(priced.ledger_since(1), ["decrement -3 = 7", "decrement -4 = 3"]);
    assert_eq!(priced.entries()[2].created_at, at("2026-03-11T00:00:00Z"), "as of its closing");
    priced.undo(&backfill);
    assert_eq!(priced.sums(), before);
    assert_eq!(priced.all_blocks(), blocks);
    assert_eq!(priced.ledger_since(3), ["amendment 4 = 7"]);
    assert_eq!(priced.entries()[3].created_at, at("2026-03-13T00:00:00Z"));
}

#[test]
fn what_a_backfill_draws_on_the_day_of_other_usage_grows_its_entry() {
    let priced = credited_with("10");
    priced.use_now("a", "3");
    let backfill = added(&priced, noon(), "4");
    priced.reflect(&backfill);
    assert_eq!(priced.sums(), "3: 3, 0");
    assert_eq!(priced.ledger_since(1), ["decrement -7 = 3"]);
    priced.undo(&backfill);
    assert_eq!(priced.ledger_since(2), ["amendment 4 = 7"]);
    assert_eq!(priced.sums(), "7: 7, 0");
}

/// Whether anything ran when they did makes no difference.
#[test]
fn credits_that_lapse_before_a_backfill_counts_are_not_drawn_for_it() {
    let outcome = |is_ticked_between: bool| {
        let priced = credited_with("10");
        priced.give_until("2", "2026-03-10T18:00:00Z");
        let backfill = added(&priced, noon(), "4");
        if is_ticked_between {
            priced.fixture.set("2026-03-10T19:00:00Z");
            priced.fixture.tick();
        }
        priced.fixture.set("2026-03-11T00:00:00Z");
        run(priced.fixture.account.close_backfill(backfill.id)).unwrap();
        priced.fixture.set("2026-03-13T00:00:00Z");
        priced.fixture.tick();
        let created: Vec<_> = priced.entries().iter().map(|entry| entry.created_at).collect();
        (priced.ledger_since(2), created, priced.sums(), priced.all_blocks())
    };
    let ticked = outcome(true);
    assert_eq!(ticked.0, ["credit_block_expiry -2 = 10", "decrement -4 = 6"]);
    assert_eq!(ticked.1[2..], [at("2026-03-10T18:00:00Z"), at("2026-03-11T00:00:00Z")]);
    assert_eq!(outcome(false), ticked);
}

#[test]
fn the_block_that_was_drawn_last_gets_it_back_first() {
    let priced = credited_with("5");
    priced.fixture.advance_days(1);
    let second = priced.give("10").credit_block;
    priced.use_now("a", "3");
    let backfill = added(&priced, noon(), "4");
    priced.fixture.set("2026-03-12T00:00:00Z");
    priced.reflect(&backfill);
    assert_eq!(priced.all_blocks(), ["0 of 5", "8 of 10"]);
    assert_eq!(priced.sums(), "8: 8, 0");
    let earlier = priced.entries().len();
    priced.fixture.advance_days(1);
    priced.undo(&backfill);
    assert_eq!(priced.ledger_since(earlier), ["amendment 2 = 10", "amendment 2 = 12"]);
    assert_eq!(priced.entries()[earlier].credit_block, second);
    assert_eq!(priced.all_blocks(), ["2 of 5", "10 of 10"]);
    assert_eq!(priced.sums(), "12: 12, 0");
}

#[test]
fn what_goes_back_to_an_expired_block_expires_in_the_same_commit() {
    let priced = credited();
    let block = priced.give_until("10", "2026-03-12T00:00:00Z").credit_block;
    priced.use_now("a", "3");
    let backfill = added(&priced, noon(), "4");
    priced.fixture.set("2026-03-11T00:00:00Z");
    priced.reflect(&backfill);
    priced.fixture.set("2026-03-13T00:00:00Z");
    priced.fixture.tick();
    assert_eq!(priced.sums(), "0: 0, 0");
    let earlier = priced.entries().len();
    priced.undo(&backfill);
    assert_eq!(priced.ledger_since(earlier), ["amendment 4 = 4", "credit_block_expiry -4 = 0"]);
    let entries = priced.entries();
    assert!(entries[earlier..].iter().all(|entry| entry.credit_block.id == block.id));
    assert!(matches!(entries[earlier + 1].entry_type, EntryType::CreditBlockExpiry));
    let commits = priced.commits("ledger_entry");
    assert_eq!(commits.len(), entries.len());
    let last: Vec<_> = commits.iter().rev().take(2).collect();
    assert_eq!(last[0], last[1], "one commit");
    assert_eq!(priced.sums(), "0: 0, 0");
}

#[test]
fn alerts_on_the_balance_follow_a_backfill() {
    let priced = credited_with("10");
    for alert in [dropped(&["5", "2"]), depleted(), recovered()] {
        priced.watch(alert);
    }
    priced.use_now("a", "2");
    assert_eq!(priced.told(), NOTHING);
    let backfill = added(&priced, noon(), "8");
    let causes = |expect: &[&str], by: &Cause| {
        let messages = priced.fixture.drain();
        let crossed = messages.iter().filter_map(|message| match &message.body {
            Body::CreditBalanceDropped(crossed)
            | Body::CreditBalanceDepleted(crossed)
            | Body::CreditBalanceRecovered(crossed) => {
                assert_eq!(&crossed.cause, by);
                Some(crate::support::credited::describe(crossed))
            }
            _ => None,
        });
        assert_eq!(crossed.collect::<Vec<_>>(), expect);
    };
    let cause = Cause::Backfill { backfill_id: backfill.id };
    priced.reflect(&backfill);
    causes(&["dropped 5 2: 8 -> 0 by backfill", "depleted: 8 -> 0 by backfill"], &cause);
    assert_eq!(priced.sums(), "0: 0, 0");
    priced.undo(&backfill);
    causes(&["recovered: 0 -> 8 by backfill"], &cause);
    assert_eq!(priced.sums(), "8: 8, 0");
    // The balance was above them again.
    let again = added(&priced, noon(), "6");
    priced.reflect(&again);
    let cause = Cause::Backfill { backfill_id: again.id };
    causes(&["dropped 5 2: 8 -> 2 by backfill"], &cause);
}

#[test]
fn what_a_backfill_draws_beyond_all_blocks_is_overdrawn_until_it_is_reverted() {
    let priced = credited_with("5");
    priced.use_now("a", "3");
    let before = priced.sums();
    let backfill = added(&priced, noon(), "10");
    priced.fixture.set("2026-03-11T00:00:00Z");
    priced.reflect(&backfill);
    assert_eq!(priced.sums(), "-8: 0, 8");
    priced.undo(&backfill);
    assert_eq!(priced.sums(), before);
    priced.reflect(&added(&priced, noon(), "10"));
    priced.give("9");
    assert_eq!(priced.sums(), "1: 1, 0");
}

#[test]
fn where_another_entry_came_between_what_was_drawn_is_given_back_all_the_same() {
    let priced = credited_with("5");
    let backfill = added(&priced, noon(), "10");
    priced.reflect(&backfill);
    assert_eq!(priced.sums(), "-5: 0, 5");
    priced.give("8");
    assert_eq!(priced.sums(), "3: 3, 0");
    priced.undo(&backfill);
    assert_eq!(priced.balance(), Some(number("13").to_string()));
    assert_eq!(priced.sums(), "13: 13, 0");
}

#[test]
fn a_backfill_of_a_customer_without_a_ledger_draws_nothing() {
    let priced = credited();
    let backfill = added(&priced, noon(), "4");
    priced.reflect(&backfill);
    assert_eq!(priced.ledger(), NOTHING);
    priced.give("10");
    priced.undo(&backfill);
    assert_eq!(priced.ledger(), ["increment 10 = 10"], "it was not drawn, so that nothing returns");
    assert_eq!(priced.sums(), "10: 10, 0");
}

/// The balance is that of what usage costs beyond what it cost when the ledger got its first entry.
#[test]
fn what_was_used_before_the_ledger_is_not_drawn_when_it_comes_back() {
    let priced = credited();
    priced.use_now("a", "10");
    priced.give("20");
    priced.use_now("b", "5");
    let (before, blocks) = (priced.sums(), priced.all_blocks());
    assert_eq!(before, "15: 15, 0");
    priced.fixture.advance_days(1);
    let nothing = NewBackfill::new(between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z"));
    let backfill = priced.fixture.backfill(nothing);
    priced.reflect(&backfill);
    assert_eq!(priced.sums(), "20: 20, 0");
    priced.undo(&backfill);
    assert_eq!(priced.sums(), before);
    assert_eq!(priced.all_blocks(), blocks);
    priced.use_now("c", "2");
    assert_eq!(priced.sums(), "13: 13, 0", "what is new is drawn");
}
