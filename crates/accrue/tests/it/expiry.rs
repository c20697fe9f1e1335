//! Blocks of credits expire by the clock, whoever looks.

use accrue::{
    Timestamp,
    alert::Alert,
    credit::{CreditBlockFilter, EntryStatus, EntryType, LedgerFilter, NewLedgerEntry},
    subscription::Cancellation,
    webhook::Message,
};

use crate::{
    expiry_stories::{disable, rethreshold},
    support::{
        credited::{
            CREDITS, block, credited, credited_with, decrement, depleted, dropped, expiring,
            extension, void,
        },
        fixture::{Fixture, at, block_on, number, run},
        priced::{NOTHING, Priced, cost_alert, priced, unit},
    },
};

pub(crate) const SOON: &str = "2026-03-20T00:00:00Z";
pub(crate) const LATER: &str = "2026-03-25T00:00:00Z";

impl Priced {
    fn alert_now(&self, alert: &Alert) -> Alert {
        block_on(self.fixture.account.fetch_alert(alert.id)).unwrap()
    }

    /// When time brings the next thing; none where that is the end of the billing period.
    fn next_deadline(&self) -> Option<Timestamp> {
        let next = block_on(self.fixture.billing.next_deadline()).unwrap();
        next.filter(|next| *next != at("2026-04-10T12:00:00Z"))
    }

    /// Everything that a ledger and its alerts answer.
    fn answers(&self, alert: &Alert) -> impl PartialEq + std::fmt::Debug + use<> {
        let credits = unit(CREDITS);
        let balance = self.fixture.account.credit_balance(self.customer, &credits);
        (
            block_on(balance).unwrap(),
            self.blocks(),
            self.every_block(),
            self.entries(),
            self.alert_now(alert),
        )
    }
}

#[test]
fn a_read_answers_as_if_what_time_has_brought_were_applied() {
    let priced = credited();
    let given = priced.give_until("5", SOON).credit_block;
    priced.give("3");
    let alert = priced.watch(dropped(&["4", "1"]));
    priced.use_now("a", "1");
    priced.fixture.drain();
    priced.fixture.set("2026-04-05T00:00:00Z");
    let before = priced.fixture.dump();
    assert_eq!(priced.standing(), "3: 3, 0");
    assert_eq!(priced.all_blocks(), ["0 of 5", "3 of 3"]);
    assert_eq!(priced.blocks().len(), 1);
    let block = block_on(priced.fixture.account.fetch_credit_block(given.id)).unwrap();
    assert_eq!(block.balance, number("0"));
    let last = priced.entries().pop().unwrap();
    assert_eq!(last.entry_type, EntryType::CreditBlockExpiry);
    assert_eq!((last.ledger_sequence_number, &last.credit_block), (4, &given));
    assert_eq!((&last.amount, &last.ending_balance), (&number("-4"), &number("3")));
    assert_eq!((last.created_at, last.entry_status), (at(SOON), EntryStatus::Committed));
    assert_eq!((last.description.clone(), last.metadata.len()), (None, 0));
    let status = priced.alert_now(&alert).balance_alert_status;
    assert_eq!(status.iter().map(|of| of.in_alert).collect::<Vec<_>>(), [true, false]);
    assert_eq!(priced.told(), NOTHING, "a read tells nothing");
    let answers = priced.answers(&alert);
    assert_eq!(priced.fixture.dump(), before, "nor does it write");
    priced.fixture.tick();
    assert_ne!(priced.fixture.dump(), before);
    assert_eq!(priced.answers(&alert), answers, "the ids, too, are those that it has later");
    assert_eq!(priced.told(), ["dropped 4: 7 -> 3 by expiry"]);
}

#[test]
fn the_status_that_a_list_shows_is_applied_as_well() {
    let priced = credited();
    priced.give_until("5", SOON);
    priced.watch(dropped(&["4"]));
    priced.fixture.set(SOON);
    let page = Default::default();
    let any = accrue::ListFilter::default();
    let list = priced.fixture.account.list_customer_alerts(priced.customer, &any, &page);
    let found = block_on(list).unwrap().data;
    assert!(found[0].balance_alert_status[0].in_alert);
}

#[test]
fn a_list_of_one_kind_shows_the_expiry_before_it_is_applied() {
    let priced = credited();
    priced.give_until("5", SOON);
    priced.fixture.set(LATER);
    let of = |kind| {
        let filter = LedgerFilter { entry_type: Some(kind), ..Default::default() };
        priced.fixture.entries(priced.customer, filter).len()
    };
    let kind = EntryType::CreditBlockExpiry.kind();
    assert_eq!((of(kind), of(EntryType::Increment.kind())), (1, 1));
}

#[test]
fn what_is_left_of_a_block_is_there_until_its_very_instant() {
    let priced = credited();
    priced.give_until("5", SOON);
    priced.fixture.set("2026-03-19T23:59:59.999999Z");
    assert_eq!(priced.standing(), "5: 5, 0");
    priced.fixture.set(SOON);
    assert_eq!(priced.standing(), "0: 0, 0");
}

#[test]
fn next_deadline_is_the_soonest_expiry() {
    let priced = credited();
    priced.fixture.tick();
    assert_eq!(priced.next_deadline(), None);
    priced.give_until("5", LATER);
    assert_eq!(priced.next_deadline(), Some(at(LATER)));
    priced.give_until("2", SOON);
    assert_eq!(priced.next_deadline(), Some(at(SOON)));
    priced.give("1");
    assert_eq!(priced.next_deadline(), Some(at(SOON)));
    priced.use_now("a", "2");
    assert_eq!(priced.next_deadline(), Some(at(LATER)), "what is used up does not expire");
    priced.fixture.set(LATER);
    assert_eq!(priced.next_deadline(), Some(at(LATER)), "it is due");
    priced.fixture.tick();
    assert_eq!(priced.next_deadline(), None);
}

#[test]
fn every_way_to_empty_a_block_takes_its_deadline_away() {
    let check = |change: fn(&Priced, accrue::CreditBlockId), deadline: Option<&str>| {
        let priced = credited();
        priced.fixture.tick();
        let id = priced.give_until("5", SOON).credit_block.id;
        change(&priced, id);
        assert_eq!(priced.next_deadline(), deadline.map(at));
        priced.fixture.set("2026-03-21T00:00:00Z");
        let before = priced.fixture.dump();
        priced.fixture.tick();
        assert_eq!(priced.fixture.dump(), before, "nothing is due");
        let expired = priced.ledger().iter().any(|shown| shown.contains("expiry"));
        assert!(!expired);
    };
    check(|priced, _| priced.use_now("a", "5"), None);
    check(|priced, _| drop(priced.book(decrement("5")).unwrap()), None);
    check(|priced, id| drop(priced.book(void("5", id)).unwrap()), None);
    check(|priced, id| drop(priced.book(extension(id, LATER)).unwrap()), Some(LATER));
}

#[test]
fn a_block_that_was_amended_expires_after_all() {
    let priced = credited();
    priced.fixture.tick();
    let id = priced.give_until("5", SOON).credit_block.id;
    priced.book(decrement("5")).unwrap();
    assert_eq!(priced.next_deadline(), None);
    priced.book(crate::support::credited::amendment("1", id)).unwrap();
    assert_eq!(priced.next_deadline(), Some(at(SOON)));
    priced.fixture.set(SOON);
    assert_eq!(priced.ledger()[3], "credit_block_expiry -1 = 0");
}

#[test]
fn an_expiry_leaves_the_overdraft_alone() {
    let priced = credited();
    priced.book(block("5", SOON, LATER, "")).unwrap();
    priced.use_now("a", "2");
    assert_eq!(priced.standing(), "3: 0, 2");
    priced.fixture.set(LATER);
    assert_eq!(priced.standing(), "-2: 0, 2");
    priced.fixture.tick();
    assert_eq!(priced.standing(), "-2: 0, 2");
}

#[test]
fn blocks_that_expire_at_one_instant_do_so_in_the_order_in_which_they_are_spent() {
    let priced = credited();
    for (amount, basis) in [("1", "3"), ("2", "1"), ("4", "2")] {
        priced.book(block(amount, "", SOON, basis)).unwrap();
    }
    priced.watch(dropped(&["6", "3", "0.5"]));
    priced.fixture.set(LATER);
    let expect =
        ["credit_block_expiry -2 = 5", "credit_block_expiry -4 = 1", "credit_block_expiry -1 = 0"];
    assert_eq!(priced.ledger()[3..], expect);
    priced.fixture.tick();
    let expect = [
        "dropped 6: 7 -> 5 by expiry",
        "dropped 3: 5 -> 1 by expiry",
        "dropped 0.5: 1 -> 0 by expiry",
    ];
    assert_eq!(priced.told(), expect, "each is judged on its own");
}

#[test]
fn two_ledgers_expire_in_the_order_of_their_instants() {
    let priced = credited();
    let give = |currency: &str, expiry: &str| {
        let new = NewLedgerEntry::expiring(unit(currency), number("5"), at(expiry));
        run(priced.fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
        let new = accrue::alert::NewBalanceAlert::credit_balance_depleted(unit(currency));
        run(priced.fixture.account.create_customer_alert(priced.customer, new)).unwrap();
    };
    give("USD", "2026-03-25T00:00:00Z");
    give("EUR", "2026-03-20T00:00:00Z");
    give("tokens", "2026-03-30T00:00:00Z");
    priced.fixture.drain();
    priced.fixture.set("2026-03-26T00:00:00Z");
    let standings = ["EUR", "USD", "tokens"];
    let standings = standings.map(|of| priced.fixture.standing(priced.customer, of));
    assert_eq!(standings, ["0: 0, 0", "0: 0, 0", "5: 5, 0"]);
    priced.fixture.tick();
    let told = priced.fixture.drain();
    let of = |message: &Message| {
        let accrue::webhook::Body::CreditBalanceDepleted(crossed) = &message.body else {
            return message.message_type().to_owned();
        };
        let currency = crossed.alert.condition.ledger();
        format!("{} {}", &message.created_at.to_string()[..10], currency.unwrap())
    };
    let told: Vec<_> = told.iter().map(of).filter(|told| !told.contains("subscription")).collect();
    assert_eq!(told, ["2026-03-20 EUR", "2026-03-25 USD"]);
    assert_eq!(priced.next_deadline(), Some(at("2026-03-30T00:00:00Z")));
}

#[test]
fn at_one_instant_subscriptions_come_before_blocks_and_those_before_changes() {
    let story = |is_early: bool| {
        let priced = priced(|fixture, _| [fixture.advance_fee("5")]);
        let turn = "2026-04-10T12:00:00Z";
        let alert = priced.plan_alert(cost_alert(&["5"]));
        let other = priced.fixture.subscribe(priced.customer, &priced.fixture.plan());
        let end = Cancellation::RequestedDate(at(turn));
        run(priced.fixture.account.cancel_subscription(other.id, end)).unwrap();
        priced.fixture.subscribe_from(priced.customer, &priced.fixture.plan(), Some(turn));
        priced.book(expiring("5", turn)).unwrap();
        priced.watch(depleted());
        priced.fixture.tick();
        priced.fixture.drain();
        priced.fixture.set(turn);
        if is_early {
            priced.fixture.tick();
        }
        priced.fixture.rethreshold(alert.id, &["5", "4"]);
        priced.fixture.tick();
        let told = priced.fixture.dated();
        told.iter().map(|told| told.replace("2026-04-10T12:00:00Z", "now")).collect::<Vec<_>>()
    };
    let lazy = story(false);
    let expect = [
        "now subscription.started",
        "now subscription.ended",
        "now cost 5: none -> 5 by period now of now",
        "now customer.credit_balance_depleted",
        "now cost 4: 5 -> 5 by configuration of now",
    ];
    assert_eq!(lazy, expect);
    assert_eq!(story(true), lazy);
}

#[test]
fn a_customer_whom_nobody_touched_for_years_is_applied_in_order() {
    let priced = credited();
    for month in 4..=12 {
        priced.give_until("1", &format!("2026-{month:02}-01T00:00:00Z"));
    }
    priced.watch(dropped(&["8", "5", "1"]));
    priced.watch(depleted());
    priced.fixture.drain();
    priced.fixture.set("2029-01-01T00:00:00Z");
    assert_eq!(priced.standing(), "0: 0, 0");
    assert_eq!(priced.entries().len(), 18);
    priced.give("3");
    let told = priced.fixture.dated();
    let expect = [
        "2026-04-01T00:00:00Z customer.credit_balance_dropped",
        "2026-07-01T00:00:00Z customer.credit_balance_dropped",
        "2026-11-01T00:00:00Z customer.credit_balance_dropped",
        "2026-12-01T00:00:00Z customer.credit_balance_depleted",
        "2029-01-01T00:00:00Z customer.credit_ledger_incremented",
    ];
    let told: Vec<_> = told.iter().filter(|told| told.contains("customer.")).collect();
    assert_eq!(told, expect);
}

#[test]
fn the_credits_of_a_deleted_customer_are_applied_no_more() {
    let priced = credited();
    priced.give_until("5", SOON);
    priced.watch(depleted());
    priced.fixture.tick();
    priced.fixture.drain();
    run(priced.fixture.account.delete_customer(priced.customer)).unwrap();
    priced.fixture.drain();
    priced.fixture.set(LATER);
    let tick = block_on(priced.fixture.billing.tick(10)).unwrap();
    assert_eq!((tick.failed, tick.more), (0, false));
    assert_eq!(priced.told(), NOTHING);
    assert_eq!(priced.next_deadline(), None);
}

#[test]
fn a_clock_that_stands_still_orders_entries_by_their_numbers() {
    let priced = credited();
    priced.give_until("5", SOON);
    priced.fixture.set(SOON);
    for _ in 0..3 {
        priced.give("1");
        priced.book(decrement("2")).unwrap();
    }
    let entries = priced.entries();
    let numbers: Vec<_> = entries.iter().map(|entry| entry.ledger_sequence_number).collect();
    assert_eq!(numbers, (1..=u64::try_from(entries.len()).unwrap()).collect::<Vec<_>>());
    assert!(entries[1..].iter().all(|entry| entry.created_at == at(SOON)));
    let mut ids: Vec<_> = entries.iter().map(|entry| entry.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), entries.len());
}

#[test]
fn many_expiries_of_one_customer_are_applied_by_ticks_of_one() {
    let priced = credited();
    for _ in 0..200 {
        priced.give_until("1", SOON);
    }
    priced.fixture.drain();
    priced.fixture.set(LATER);
    assert_eq!(priced.standing(), "0: 0, 0");
    while block_on(priced.fixture.billing.tick(1)).unwrap().more {}
    assert_eq!(priced.entries().len(), 400);
    assert_eq!(priced.fixture.blocks(priced.customer, CreditBlockFilter::default()), []);
}

#[test]
fn a_customer_without_a_subscription_is_applied_too() {
    let fixture = Fixture::new();
    let eve = fixture.customer("eve").id;
    run(fixture.account.create_ledger_entry(eve, expiring("5", SOON))).unwrap();
    run(fixture.account.create_customer_alert(eve, depleted())).unwrap();
    fixture.messages();
    fixture.set(SOON);
    fixture.tick();
    assert_eq!(fixture.told(), ["depleted: 5 -> 0 by expiry"]);
    assert_eq!(block_on(fixture.billing.next_deadline()).unwrap(), None);
}

#[test]
fn every_operation_of_a_customer_applies_what_has_expired_first() {
    let check = |operation: fn(&Priced)| {
        let priced = credited_with("1");
        priced.give_until("5", SOON);
        priced.watch(dropped(&["2"]));
        priced.fixture.tick();
        priced.fixture.drain();
        priced.fixture.set(LATER);
        operation(&priced);
        assert_eq!(priced.told()[0], "dropped 2: 6 -> 1 by expiry");
    };
    check(|priced| priced.use_now("a", "1"));
    check(|priced| drop(priced.give("1")));
    check(|priced| drop(priced.watch(depleted())));
    check(disable);
    check(|priced| rethreshold(priced, &["1"]));
    check(|priced| drop(priced.fixture.subscribe(priced.customer, &priced.plan)));
    check(|priced| {
        let id = priced.subscription.id;
        run(priced.fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    });
}
