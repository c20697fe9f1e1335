//! What usage costs less goes back to the blocks that it was drawn from.

use accrue::{
    credit::{EntryStatus, LedgerEntry},
    subscription::Cancellation,
};

use crate::support::{
    credited::{
        CREDITS, amendment, block, credited_with, decrement, dropped, recovered, void, volume,
    },
    fixture::{at, run},
    priced::{NOTHING, Priced, unit},
};

impl Priced {
    /// The entries behind the first ones.
    fn ledger_after(&self, earlier: usize) -> Vec<String> {
        self.ledger().split_off(earlier)
    }
}

#[test]
fn what_costs_less_is_given_back_by_an_amendment() {
    let priced = volume();
    let given = priced.give("20");
    priced.use_now("a", "10");
    priced.use_now("b", "1");
    assert_eq!(priced.ledger_after(1), ["decrement -10 = 10", "amendment 4.5 = 14.5"]);
    let entry: LedgerEntry = priced.entries().pop().unwrap();
    assert_eq!(entry.credit_block, given.credit_block);
    assert_eq!((entry.entry_status, &entry.description), (EntryStatus::Committed, &None));
    assert_eq!(priced.all_blocks(), ["14.5 of 20"]);
}

#[test]
fn the_block_that_was_drawn_last_gets_it_first() {
    let check = |first: &str, second: &str, blocks: [&str; 2]| {
        let priced = volume();
        priced.book(block(first, "", "2026-04-01T00:00:00Z", "")).unwrap();
        priced.give(second);
        priced.use_now("a", "10");
        priced.use_now("b", "1");
        assert_eq!(priced.all_blocks(), blocks);
    };
    check("2", "20", ["0 of 2", "16.5 of 20"]);
    check("8", "20", ["2.5 of 8", "20 of 20"]);
}

#[test]
fn an_amendment_opens_a_block_that_was_used_up() {
    let priced = volume();
    priced.give("10");
    priced.use_now("a", "10");
    assert_eq!(priced.blocks(), []);
    priced.use_now("b", "1");
    assert_eq!(priced.standing(), "4.5: 4.5, 0");
    priced.use_now("c", "9");
    assert_eq!(priced.standing(), "0: 0, 0");
}

#[test]
fn what_returns_to_an_expired_block_expires_at_once() {
    let priced = volume();
    priced.give_until("10", "2026-03-12T00:00:00Z");
    priced.give("5");
    priced.use_now("a", "10");
    priced.watch(dropped(&["5", "4"]));
    priced.watch(recovered());
    priced.fixture.set("2026-03-13T00:00:00Z");
    priced.told();
    priced.use_now("b", "1");
    let expect = ["decrement -10 = 5", "amendment 4.5 = 9.5", "credit_block_expiry -4.5 = 5"];
    assert_eq!(priced.ledger_after(2), expect);
    assert_eq!(priced.all_blocks(), ["0 of 10", "5 of 5"]);
    let entries = priced.entries();
    assert_eq!(entries[4].credit_block, entries[0].credit_block);
    assert!(entries[3..].iter().all(|entry| entry.created_at == at("2026-03-13T00:00:00Z")));
    assert_eq!(priced.told(), NOTHING, "the balance is what it was");
}

#[test]
fn the_overdraft_gets_back_what_is_outstanding() {
    let priced = volume();
    priced.give("2");
    priced.use_now("a", "10");
    priced.use_now("b", "1");
    let expect = ["decrement -2 = 0", "decrement -8 = -8", "amendment 4.5 = -3.5"];
    assert_eq!(priced.ledger_after(1), expect);
    assert_eq!(priced.standing(), "-3.5: 0, 3.5");
}

#[test]
fn a_block_that_paid_the_overdraft_off_gets_it_back() {
    let priced = volume();
    priced.give("2");
    priced.use_now("a", "10");
    let payer = priced.give("10").credit_block;
    priced.use_now("b", "1");
    assert_eq!(priced.ledger_after(3), ["increment 10 = 2", "amendment 4.5 = 6.5"]);
    assert_eq!(priced.entries()[4].credit_block, payer);
    assert_eq!(priced.all_blocks(), ["0 of 2", "0 overdrawn", "6.5 of 10"]);
}

#[test]
fn the_payer_of_the_last_part_gets_it_before_the_others() {
    let priced = volume();
    priced.use_at("before", "2026-03-10T11:00:00Z", "1");
    priced.book(decrement("1")).unwrap();
    priced.use_now("a", "10");
    priced.give("3");
    priced.give("5");
    assert_eq!(priced.standing(), "-3: 0, 3");
    priced.use_now("b", "1");
    assert_eq!(priced.standing(), "1.5: 1.5, 0", "3 to the overdraft, 1.5 to the last payer");
    assert_eq!(priced.all_blocks(), ["0 overdrawn", "0 of 3", "1.5 of 5"]);
}

#[test]
fn nothing_is_given_back_that_was_not_drawn() {
    let priced = volume();
    priced.use_now("a", "10");
    priced.give("5");
    priced.use_now("b", "1");
    assert_eq!(priced.ledger(), ["increment 5 = 5"]);
}

#[test]
fn no_more_is_given_back_than_was_drawn() {
    let priced = volume();
    priced.use_now("a", "8");
    priced.give("5");
    priced.use_now("b", "2");
    priced.use_now("c", "1");
    assert_eq!(priced.ledger_after(1), ["decrement -2 = 3", "amendment 2 = 5"]);
    priced.use_now("d", "5");
    assert_eq!(priced.standing(), "5: 5, 0", "no more than what was not given back");
    priced.use_now("e", "1");
    assert_eq!(priced.standing(), "4.5: 4.5, 0", "from then on it draws again");
}

#[test]
fn what_the_caller_gave_back_is_not_given_back_again() {
    let priced = volume();
    let id = priced.give("20").credit_block.id;
    priced.use_now("a", "10");
    priced.book(amendment("8", id)).unwrap();
    priced.use_now("b", "1");
    assert_eq!(priced.ledger_after(3), ["amendment 2 = 20"]);
}

#[test]
fn what_was_made_void_meanwhile_stays_so() {
    let priced = volume();
    let id = priced.give("20").credit_block.id;
    priced.use_now("a", "10");
    priced.book(void("10", id)).unwrap();
    priced.use_now("b", "1");
    assert_eq!(priced.standing(), "4.5: 4.5, 0");
}

#[test]
fn a_billing_period_gives_back_what_it_has_drawn_itself() {
    let priced = volume();
    priced.give("12");
    priced.use_now("a", "10");
    priced.fixture.set("2026-04-11T00:00:00Z");
    priced.give("20");
    priced.use_now("b", "3");
    priced.use_at("c", "2026-04-10T11:00:00Z", "1");
    let expect =
        ["increment 20 = 22", "decrement -2 = 20", "decrement -1 = 19", "amendment 4.5 = 23.5"];
    assert_eq!(priced.ledger_after(2), expect);
    assert_eq!(priced.all_blocks(), ["4.5 of 12", "19 of 20"]);
    priced.use_now("d", "7");
    priced.use_now("e", "1");
    assert_eq!(priced.standing(), "21: 21, 0", "the new period costs 5.5, as did the old one");
}

#[test]
fn a_subscription_gives_back_what_it_has_drawn_itself() {
    let priced = volume();
    priced.give("40");
    let one = priced.fixture.priced_plan([{
        let mut price = priced.fixture.usage_at("1", &priced.metric);
        price.currency = unit(CREDITS);
        price.into()
    }]);
    priced.fixture.subscribe(priced.customer, &one);
    priced.use_now("a", "10");
    assert_eq!(priced.standing(), "20: 20, 0");
    priced.use_now("b", "1");
    assert_eq!(priced.standing(), "23.5: 23.5, 0", "one draws 1, the other gives back 4.5");
}

#[test]
fn usage_that_is_taken_back_is_given_back() {
    let priced = credited_with("10");
    priced.use_now("a", "4");
    priced.use_now("b", "-1.5");
    priced.use_now("c", "-5");
    assert_eq!(
        priced.ledger_after(1),
        ["decrement -4 = 6", "amendment 1.5 = 7.5", "amendment 2.5 = 10"]
    );
    priced.use_now("d", "3.5");
    assert_eq!(priced.standing(), "9: 9, 0", "the sum is 1");
}

#[test]
fn a_cancellation_that_leaves_events_out_gives_back_what_they_drew() {
    let priced = credited_with("10");
    priced.use_now("a", "3");
    priced.use_at("b", "2026-03-10T12:04:00Z", "2");
    assert_eq!(priced.standing(), "5: 5, 0");
    let id = priced.subscription.id;
    run(priced.fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    assert_eq!(
        priced.standing(),
        "10: 10, 0",
        "an end at the instant of the other leaves it out too"
    );
}

#[test]
fn a_cancellation_gives_back_for_what_lies_behind_the_end_alone() {
    let priced = credited_with("10");
    priced.watch(dropped(&["6"]));
    priced.use_now("a", "3");
    priced.use_at("b", "2026-03-10T12:04:00Z", "2");
    priced.fixture.set("2026-03-10T12:01:00Z");
    let id = priced.subscription.id;
    run(priced.fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    assert_eq!(priced.ledger_after(1), ["decrement -5 = 5", "amendment 2 = 7"]);
    priced.use_at("c", "2026-03-10T12:00:30Z", "1");
    let expect = ["dropped 6: 7 -> 5 by event b", "dropped 6: 7 -> 6 by event c"];
    assert_eq!(priced.told(), expect);
}

#[test]
fn an_end_that_moves_ahead_draws_again() {
    let priced = credited_with("10");
    priced.use_at("b", "2026-03-10T12:04:00Z", "2");
    let cancel = |date: &str| {
        let (id, date) = (priced.subscription.id, Cancellation::RequestedDate(at(date)));
        run(priced.fixture.account.cancel_subscription(id, date)).unwrap();
    };
    cancel("2026-03-10T12:02:00Z");
    assert_eq!(priced.standing(), "10: 10, 0");
    cancel("2026-03-10T12:05:00Z");
    assert_eq!(priced.standing(), "8: 8, 0");
    assert_eq!(
        priced.ledger_after(1),
        ["decrement -2 = 8", "amendment 2 = 10", "decrement -2 = 8"]
    );
}

#[test]
fn where_credits_were_off_nothing_was_drawn_and_nothing_comes_back() {
    let priced = volume();
    priced.give("20");
    priced.fixture.credits(false);
    priced.use_now("a", "10");
    priced.fixture.credits(true);
    priced.use_now("b", "1");
    assert_eq!(priced.ledger(), ["increment 20 = 20"]);
}
