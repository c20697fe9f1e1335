//! What is wrong with credits is refused with its kind and what is wrong, and nothing is written.

use accrue::{
    AccountId, CreditBlockId, CustomerId, Decimal, ErrorKind, IdOr,
    alert::NewBalanceAlert,
    credit::{LedgerChange, NewBlock, NewLedgerEntry},
    limits,
};

use crate::support::{
    credited::{
        CREDITS, amendment, block, credited, credited_with, decrement, depleted, entry, expiring,
        extension, increment, void,
    },
    fixture::{Fixture, at, external, number, refused, run},
    priced::{Priced, unit},
};

const UNKNOWN: &str = "019cd79e-4600-7000-8000-000000000000";

impl Priced {
    /// Makes sure that an entry is refused.
    fn refuse(&self, new: NewLedgerEntry, kind: ErrorKind, detail: &str) {
        let call = self.fixture.account.create_ledger_entry(self.customer, new);
        assert_eq!(refused(&self.fixture, call), (kind, detail.to_owned()));
    }

    fn is_invalid(&self, new: NewLedgerEntry, detail: &str) {
        self.refuse(new, ErrorKind::RequestValidation, detail);
    }

    fn is_a_violation(&self, new: NewLedgerEntry, detail: &str) {
        self.refuse(new, ErrorKind::ConstraintViolation, detail);
    }

    fn is_not_found(&self, new: NewLedgerEntry, detail: &str) {
        self.refuse(new, ErrorKind::ResourceNotFound, detail);
    }
}

fn unknown() -> CreditBlockId {
    UNKNOWN.parse().unwrap()
}

/// An entry of each kind with an amount, for some block.
fn with_amount(amount: &Decimal, id: CreditBlockId) -> [NewLedgerEntry; 5] {
    let amount = || amount.clone();
    [
        NewLedgerEntry::increment(unit(CREDITS), amount()),
        NewLedgerEntry::decrement(unit(CREDITS), amount()),
        entry(LedgerChange::Void { amount: amount(), block_id: id, void_reason: None }),
        entry(LedgerChange::Amendment { amount: amount(), block_id: id }),
        entry(LedgerChange::ExpirationChange {
            target_expiry_date: at("2026-05-01T00:00:00Z"),
            amount: Some(amount()),
            block_id: Some(id),
            expiry_date: None,
        }),
    ]
}

#[test]
fn wire_4_4_an_amount_is_above_zero() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    for amount in ["0", "-0.5"] {
        let detail = format!("amount: found {amount}, expected more than zero");
        for new in with_amount(&number(amount), id) {
            priced.is_invalid(new, &detail);
        }
    }
}

#[test]
fn an_amount_has_no_more_digits_than_come_in() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let tiny = number("1e-20") * number("1e-20");
    let huge = number("1e20") * number("1e20");
    for amount in [tiny, huge] {
        for new in with_amount(&amount, id) {
            priced.is_invalid(new, "amount: the number has more digits than come in");
        }
    }
}

#[test]
fn wire_4_4_a_cost_basis_is_not_below_zero() {
    let priced = credited();
    let detail = "per_unit_cost_basis: found -0.01, expected zero or more";
    priced.is_invalid(block("5", "", "", "-0.01"), detail);
    priced.book(block("5", "", "", "0")).unwrap();
    let LedgerChange::Increment(NewBlock { amount, effective_date, expiry_date, .. }) =
        increment("5").change
    else {
        panic!("an increment")
    };
    let per_unit_cost_basis = Some((number("1e-20") * number("1e-20")).into());
    let change = LedgerChange::Increment(NewBlock {
        amount,
        effective_date,
        expiry_date,
        per_unit_cost_basis,
        filters: Vec::new(),
        invoice: None,
    });
    let detail = "per_unit_cost_basis: the number has more digits than come in";
    priced.is_invalid(entry(change), detail);
}

#[test]
fn metadata_has_its_bounds() {
    let priced = credited();
    let mut new = increment("5");
    new.metadata = (0..=limits::METADATA_ENTRIES).map(|n| (n.to_string(), String::new())).collect();
    let call = priced.fixture.account.create_ledger_entry(priced.customer, new);
    let (kind, detail) = refused(&priced.fixture, call);
    assert_eq!(kind, ErrorKind::RequestValidation);
    assert!(detail.starts_with("metadata"), "{detail}");
}

#[test]
fn an_increment_expires_after_now() {
    let priced = credited();
    let refuse = |expiry: &str| {
        let expiry = at(expiry);
        let now = at(crate::support::fixture::NOON);
        let detail = format!("found the expiry date {expiry}, expected one after {now}");
        let new = NewLedgerEntry::expiring(unit(CREDITS), number("5"), expiry);
        priced.is_a_violation(new, &detail);
    };
    refuse("2026-03-10T11:59:59.999999Z");
    refuse("2026-03-10T12:00:00Z");
    priced.book(expiring("5", "2026-03-10T12:00:00.000001Z")).unwrap();
}

#[test]
fn an_increment_is_effective_before_it_expires() {
    let priced = credited();
    let expiry = "2026-04-01T00:00:00Z";
    for effective in [expiry, "2026-04-01T00:00:00.000001Z"] {
        let detail = format!(
            "found the effective date {}, expected one before the expiry date {}",
            at(effective),
            at(expiry)
        );
        priced.is_a_violation(block("5", effective, expiry, ""), &detail);
    }
    priced.book(block("5", "2026-03-31T23:59:59.999999Z", expiry, "")).unwrap();
}

#[test]
fn wire_4_4_no_more_is_made_void_than_is_left_of_the_block() {
    let priced = credited_with("5");
    priced.give("5");
    let id = priced.every_block()[0].id;
    priced.use_now("a", "1");
    let detail = format!("the credit block {id} has 4 left, expected at least 4.1");
    priced.is_a_violation(void("4.1", id), &detail);
    priced.book(void("4", id)).unwrap();
    let detail = format!("the credit block {id} has 0 left, expected at least 1");
    priced.is_a_violation(void("1", id), &detail);
}

#[test]
fn the_overdraft_is_neither_made_void_nor_given_a_date() {
    let priced = credited();
    let id = priced.book(decrement("5")).unwrap().credit_block.id;
    let detail = format!("the credit block {id} is the overdraft, which cannot be void");
    priced.is_a_violation(void("1", id), &detail);
    let detail = format!("the credit block {id} is the overdraft, which does not expire");
    priced.is_a_violation(extension(id, "2026-05-01T00:00:00Z"), &detail);
}

#[test]
fn wire_4_4_no_more_is_amended_than_was_taken() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let detail = |taken: &str, asked: &str| {
        format!(
            "{taken} was taken from the credit block {id} and not given back, expected at least \
             {asked}"
        )
    };
    priced.is_a_violation(amendment("0.1", id), &detail("0", "0.1"));
    priced.use_now("a", "3");
    priced.is_a_violation(amendment("3.1", id), &detail("3", "3.1"));
    priced.book(amendment("2", id)).unwrap();
    priced.is_a_violation(amendment("1.5", id), &detail("1", "1.5"));
    priced.book(void("1", id)).unwrap();
    priced.is_a_violation(amendment("2", id), &detail("1", "2"));
    priced.book(amendment("1", id)).unwrap();
}

#[test]
fn an_overdraft_is_amended_by_what_is_outstanding_at_most() {
    let priced = credited();
    let id = priced.book(decrement("5")).unwrap().credit_block.id;
    priced.give("3");
    let detail =
        format!("2 was taken from the credit block {id} and not given back, expected at least 2.5");
    priced.is_a_violation(amendment("2.5", id), &detail);
}

#[test]
fn a_block_that_has_expired_takes_no_entry() {
    let check = |is_used: bool, is_applied: bool| {
        let priced = credited();
        let id = priced.give_until("5", "2026-03-20T00:00:00Z").credit_block.id;
        priced.use_now("a", if is_used { "5" } else { "1" });
        priced.fixture.set("2026-03-20T00:00:00Z");
        if is_applied {
            priced.fixture.tick();
        }
        let expiry = at("2026-03-20T00:00:00Z");
        let detail = format!("the credit block {id} has expired at {expiry}");
        for new in [amendment("1", id), void("1", id), extension(id, "2026-05-01T00:00:00Z")] {
            let call = priced.fixture.account.create_ledger_entry(priced.customer, new);
            let error = run(call).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string()),
                (ErrorKind::ConstraintViolation, detail.clone())
            );
        }
        let expired = if is_used { vec![] } else { vec!["credit_block_expiry -4 = 0"] };
        assert_eq!(priced.ledger()[2..], expired);
    };
    for (is_used, is_applied) in [(false, false), (false, true), (true, false), (true, true)] {
        check(is_used, is_applied);
    }
}

#[test]
fn a_block_that_there_is_not_is_not_found() {
    let priced = credited_with("5");
    let call = priced.fixture.account.create_ledger_entry(priced.customer, void("1", unknown()));
    let (_, found) = refused(&priced.fixture, call);
    assert!(found.contains(UNKNOWN), "{found}");
    for new in [
        void("1", unknown()),
        amendment("1", unknown()),
        extension(unknown(), "2026-05-01T00:00:00Z"),
    ] {
        priced.is_not_found(new, &found);
    }
}

#[test]
fn a_block_of_another_currency_is_told_apart() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let detail = format!("the credit block {id} is in credits, expected USD");
    let of_usd = |new: NewLedgerEntry| NewLedgerEntry { currency: unit("USD"), ..new };
    for new in [void("1", id), amendment("1", id), extension(id, "2026-05-01T00:00:00Z")] {
        priced.is_a_violation(of_usd(new), &detail);
    }
}

#[test]
fn a_block_of_another_customer_or_account_is_not_found() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let eve = priced.fixture.customer("eve").id;
    let other = priced.fixture.billing.account(AccountId::parse("other").unwrap());
    let bob = run(other.create_customer(accrue::customer::NewCustomer::new(
        crate::support::fixture::name("bob"),
        accrue::Email::parse("b@example.com").unwrap(),
    )))
    .unwrap()
    .id;
    for new in [void("1", id), amendment("1", id), extension(id, "2026-05-01T00:00:00Z")] {
        for call in [
            priced.fixture.account.create_ledger_entry(eve, new.clone()),
            other.create_ledger_entry(bob, new.clone()),
        ] {
            let (kind, detail) = refused(&priced.fixture, call);
            assert_eq!(kind, ErrorKind::ResourceNotFound);
            assert!(detail.contains(&id.to_string()), "{detail}");
        }
    }
}

/// Another expiry date for the block that has one, or for the only one.
fn by_date(expiry: Option<&str>, target: &str) -> NewLedgerEntry {
    entry(LedgerChange::ExpirationChange {
        target_expiry_date: at(target),
        amount: None,
        block_id: None,
        expiry_date: expiry.map(at),
    })
}

const TARGET: &str = "2026-05-01T00:00:00Z";

#[test]
fn wire_4_4_the_expiry_of_nothing_cannot_change() {
    let priced = credited();
    priced.is_a_violation(by_date(None, TARGET), "no credit block has something left");
    let id = priced.give("5").credit_block.id;
    let expiry = "2026-04-01T00:00:00Z";
    let detail = format!("no credit block has something left and expires at {}", at(expiry));
    priced.is_a_violation(by_date(Some(expiry), TARGET), &detail);
    priced.use_now("a", "7");
    priced.is_a_violation(by_date(None, TARGET), "no credit block has something left");
    let detail = format!("the credit block {id} has nothing left");
    priced.is_a_violation(extension(id, TARGET), &detail);
}

#[test]
fn the_block_whose_expiry_changes_is_the_only_one() {
    let priced = credited();
    let expiry = "2026-04-01T00:00:00Z";
    let ids = ["1", "2"].map(|amount| priced.give_until(amount, expiry).credit_block.id);
    let detail = format!("found 2 credit blocks, expected the id of one: {}, {}", ids[0], ids[1]);
    priced.is_a_violation(by_date(Some(expiry), TARGET), &detail);
    priced.is_a_violation(by_date(None, TARGET), &detail);
    priced.book(extension(ids[0], TARGET)).unwrap();
    priced.book(by_date(Some(expiry), TARGET)).unwrap();
}

#[test]
fn a_named_block_has_the_expiry_date_that_is_given_for_it() {
    let priced = credited();
    let [dated, undated] = [priced.give_until("5", "2026-04-01T00:00:00Z"), priced.give("5")]
        .map(|of| of.credit_block.id);
    let check = |id: CreditBlockId, expires: &str| {
        let given = at("2026-04-02T00:00:00Z");
        let detail = format!("the credit block {id} {expires}, expected at {given}");
        let new = entry(LedgerChange::ExpirationChange {
            target_expiry_date: at(TARGET),
            amount: None,
            block_id: Some(id),
            expiry_date: Some(given),
        });
        priced.is_a_violation(new, &detail);
    };
    check(dated, &format!("expires at {}", at("2026-04-01T00:00:00Z")));
    check(undated, "never expires");
}

#[test]
fn another_expiry_date_lies_ahead() {
    let priced = credited();
    let now = at(crate::support::fixture::NOON);
    let id = priced.give("5").credit_block.id;
    for target in ["2026-03-10T12:00:00Z", "2026-03-01T00:00:00Z"] {
        let target = at(target);
        let detail = format!("found the target expiry date {target}, expected one after {now}");
        priced.is_a_violation(extension(id, &target.to_string()), &detail);
    }
    let effective = "2026-03-20T00:00:00Z";
    let id = priced.book(block("5", effective, "", "")).unwrap().credit_block.id;
    let detail = format!("found the target expiry date {0}, expected one after {0}", at(effective));
    priced.is_a_violation(extension(id, effective), &detail);
}

#[test]
fn no_more_moves_to_another_expiry_date_than_is_left() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let new = entry(LedgerChange::ExpirationChange {
        target_expiry_date: at(TARGET),
        amount: Some(number("5.1")),
        block_id: Some(id),
        expiry_date: None,
    });
    priced.is_a_violation(new, &format!("the credit block {id} has 5 left, expected at least 5.1"));
}

#[test]
fn a_ledger_has_at_most_200_blocks_with_something_left() {
    let priced = credited();
    let first = priced.give("1").credit_block.id;
    (1..limits::CREDIT_BLOCKS).for_each(|_| drop(priced.give("2")));
    let full = "the ledger would have 201 blocks with something left, expected at most 200";
    priced.is_a_violation(increment("1"), full);
    let part = entry(LedgerChange::ExpirationChange {
        target_expiry_date: at(TARGET),
        amount: Some(number("0.5")),
        block_id: Some(first),
        expiry_date: None,
    });
    priced.is_a_violation(part, full);
    priced.book(extension(first, TARGET)).unwrap();
    priced.use_now("a", "1");
    priced.give("1");
    priced.is_a_violation(increment("1"), full);
    let used = priced
        .entries()
        .iter()
        .find(|of| of.entry_type.kind().name() == "decrement")
        .unwrap()
        .credit_block
        .id;
    priced.is_a_violation(amendment("1", used), full);
    assert_eq!(priced.blocks().len(), 200);
}

#[test]
fn blocks_of_another_ledger_or_that_expire_make_room() {
    let priced = credited();
    priced.give_until("1", "2026-03-20T00:00:00Z");
    (1..limits::CREDIT_BLOCKS).for_each(|_| drop(priced.give("1")));
    let new = NewLedgerEntry::increment(unit("USD"), number("1"));
    run(priced.fixture.account.create_ledger_entry(priced.customer, new)).unwrap();
    priced.fixture.set("2026-03-20T00:00:00Z");
    priced.give("1");
}

#[test]
fn what_usage_gives_back_may_open_a_201st_block() {
    let priced = credited();
    priced.give("1");
    priced.use_now("a", "1");
    (0..limits::CREDIT_BLOCKS).for_each(|_| drop(priced.give("1")));
    priced.use_now("b", "-1");
    assert_eq!(priced.blocks().len(), 201);
    let full = "the ledger would have 202 blocks with something left, expected at most 200";
    priced.is_a_violation(increment("1"), full);
}

#[test]
fn a_customer_has_credits_in_at_most_100_currencies_and_units() {
    let priced = credited();
    let increment = |name: &str| NewLedgerEntry::increment(unit(name), number("1"));
    for n in 0..limits::LEDGERS {
        priced.book(increment(&format!("unit {n}"))).unwrap();
    }
    let (found, most) = (limits::LEDGERS + 1, limits::LEDGERS);
    let detail = format!(
        "the customer would have credits and alerts on them in {found} currencies and pricing \
         units, expected at most {most}"
    );
    priced.is_a_violation(increment("another"), &detail);
    priced.is_a_violation(NewLedgerEntry::decrement(unit("another"), number("1")), &detail);
    priced.book(increment("unit 7")).unwrap();
    let new = NewBalanceAlert::credit_balance_depleted(unit("another"));
    let call = priced.fixture.account.create_customer_alert(priced.customer, new);
    assert_eq!(refused(&priced.fixture, call).0, ErrorKind::ConstraintViolation);
    let eve = priced.fixture.customer("eve").id;
    run(priced.fixture.account.create_ledger_entry(eve, increment("another"))).unwrap();
}

#[test]
fn a_currency_with_an_alert_alone_counts_among_the_100() {
    let priced = credited();
    priced.watch(depleted());
    for n in 1..limits::LEDGERS {
        let new = NewLedgerEntry::increment(unit(&format!("unit {n}")), number("1"));
        priced.book(new).unwrap();
    }
    let new = NewLedgerEntry::increment(unit("another"), number("1"));
    let call = priced.fixture.account.create_ledger_entry(priced.customer, new);
    assert_eq!(refused(&priced.fixture, call).0, ErrorKind::ConstraintViolation);
    priced.give("1");
}

#[test]
fn a_customer_that_is_unknown_or_deleted_is_not_found() {
    let priced = credited_with("5");
    let id = priced.blocks()[0].id;
    let (fixture, account) = (&priced.fixture, &priced.fixture.account);
    let check = |who: IdOr<CustomerId>, name: &str| {
        for new in [increment("1"), decrement("1"), void("1", id), amendment("1", id)] {
            let (kind, detail) = refused(fixture, account.create_ledger_entry(who.clone(), new));
            assert_eq!(kind, ErrorKind::ResourceNotFound);
            assert!(detail.contains(name), "{detail}");
        }
    };
    let unknown: CustomerId = UNKNOWN.parse().unwrap();
    check(unknown.into(), UNKNOWN);
    check(external("eve").into(), "eve");
    run(account.delete_customer(priced.customer)).unwrap();
    check(priced.customer.into(), &priced.customer.to_string());
    check(external("ada").into(), "ada");
}

#[test]
fn what_is_wrong_with_an_entry_comes_before_whose_it_is() {
    let fixture = Fixture::new();
    let call = fixture.account.create_ledger_entry(external("eve"), increment("0"));
    assert_eq!(refused(&fixture, call).0, ErrorKind::RequestValidation);
}

#[test]
fn an_entry_that_is_refused_applies_what_was_due_and_nothing_else() {
    let priced = credited();
    priced.give_until("5", "2026-03-20T00:00:00Z");
    priced.watch(depleted());
    priced.fixture.drain();
    priced.fixture.set("2026-03-21T00:00:00Z");
    let error = priced.book(by_date(None, TARGET)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
    assert_eq!(priced.told(), ["depleted: 5 -> 0 by expiry"]);
    assert_eq!(priced.ledger(), ["increment 5 = 5", "credit_block_expiry -5 = 0"]);
    priced.is_a_violation(by_date(None, TARGET), "no credit block has something left");
}
