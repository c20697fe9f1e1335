//! Changes to ledgers and to their alerts, done by the engine and by the bank.

use accrue::{
    Decimal, ErrorKind, Preview, PricingUnit,
    alert::{AlertUpdate, NewBalanceAlert},
    credit::{LedgerChange, LedgerEntry, NewBlock, NewLedgerEntry},
    webhook,
};
use bigdecimal::BigDecimal;
use pollster::block_on;

use super::{
    BalanceAlert, Bench, Change, ChangeSpec, Kind, Named, Place, Step,
    script::{Expiry, exact},
};
use crate::{
    bill::When,
    host::{micros, number},
    model::{At, Instant},
    stores::dump,
    world::{engine_thresholds, model_thresholds, nth},
};

// Ledgers.

impl Bench {
    pub(super) fn change(&mut self, place: Place, spec: &ChangeSpec) {
        let Some(change) = self.to_change(place, spec) else { return };
        let new = NewLedgerEntry::new(unit(place), self.to_engine(place, &change));
        let call = |bench: &Self| {
            let customer = bench.bill.customers[place.0];
            let call = bench.bill.host.account.create_ledger_entry(customer, new.clone());
            block_on(call.into_future())
        };
        if self.bank.clone().book(place, &change).is_err() {
            // What is due is applied all the same.
            self.bill.host.tick();
            let before = dump(&*self.bill.host.store);
            let error = call(self).unwrap_err();
            assert!(is_refusal(error.kind()), "{change:?}: {error:?}");
            assert_eq!(dump(&*self.bill.host.store), before, "{change:?} wrote something");
            return;
        }
        let foretold = self.foretell(place, new.clone());
        let answer = call(self).unwrap_or_else(|error| panic!("{change:?}: {error:?}"));
        self.check_foretold(place, &foretold, &answer);
        let entry = self.bank.book(place, &change).unwrap();
        self.learn_blocks(place);
        self.check_entry(place, entry, &answer);
    }

    pub(super) fn delete_block(&mut self, place: Place, block: usize) {
        let count = self.bank.ledgers.get(&place).map_or(0, |ledger| ledger.blocks.len());
        let Some(block) = nth(block, count) else { return };
        let id = self.block(place, block);
        let account = &self.bill.host.account;
        let delete = || block_on(account.delete_credit_block(id).into_future());
        if self.bank.clone().delete(place, block).is_err() {
            // What is due is applied all the same.
            self.bill.host.tick();
            let before = dump(&*self.bill.host.store);
            let error = delete().unwrap_err();
            assert!(is_refusal(error.kind()), "{error:?}");
            assert_eq!(dump(&*self.bill.host.store), before, "a refused deletion wrote something");
            return;
        }
        delete().unwrap_or_else(|error| panic!("{block} of {place:?}: {error:?}"));
        assert!(block_on(account.fetch_credit_block(id)).unwrap_err().is_not_found());
        self.bank.delete(place, block).unwrap();
    }

    /// Previews an entry, which writes nothing.
    fn foretell(&self, place: Place, new: NewLedgerEntry) -> Preview<LedgerEntry> {
        let before = dump(&*self.bill.host.store);
        let customer = self.bill.customers[place.0];
        let call = self.bill.host.account.create_ledger_entry(customer, new);
        let preview = block_on(call.preview()).unwrap();
        assert_eq!(dump(&*self.bill.host.store), before, "a preview wrote something");
        preview
    }

    /// Compares what a preview told with what then came about.
    fn check_foretold(&self, place: Place, foretold: &Preview<LedgerEntry>, answer: &LedgerEntry) {
        assert_eq!(&foretold.answer, answer);
        let host = &self.bill.host;
        let customer = self.bill.customers[place.0];
        let is_own =
            |of: &webhook::Message| of.customer.as_ref().is_some_and(|of| of.id == customer);
        let all = host.waiting().into_iter().filter(is_own);
        let told: Vec<_> = all.map(|message| message.body).collect();
        let bodies: Vec<_> = foretold.messages.iter().map(|message| message.body.clone()).collect();
        assert!(told.ends_with(&bodies), "{bodies:?} was foretold, {told:?} was told");
        let balance = block_on(host.account.credit_balance(customer, &unit(place))).unwrap();
        match foretold.balances.as_slice() {
            [] => assert!(answer.amount.is_zero()),
            [moved] => assert_eq!(Some(&moved.after), balance.balance.as_ref()),
            moved => panic!("{moved:?} would move"),
        }
    }

    /// What a caller asks for now; none where there is no block to ask it of.
    fn to_change(&self, place: Place, spec: &ChangeSpec) -> Option<Change> {
        let now = self.bank.now;
        let ledger = self.bank.ledgers.get(&place);
        let any = |block: usize| nth(block, ledger?.blocks.len());
        Some(match spec {
            ChangeSpec::Increment { amount, effective, expiry, basis } => {
                let expiry = expiry.map(|expiry| self.resolve(place, expiry));
                let latest = expiry.map_or(i64::MAX, |expiry| expiry - 1);
                Change::Increment {
                    amount: exact(amount),
                    effective: effective.map(|by| (now + by).min(latest)),
                    expiry,
                    basis: basis.map(exact),
                }
            }
            ChangeSpec::Decrement(amount) => Change::Decrement(exact(amount)),
            ChangeSpec::ExpirationChange { target, amount, source, block } => {
                let block = any(*block)?;
                let of = &ledger?.blocks[block];
                let target = self.resolve(place, *target).max(of.effective + 1);
                let (block, expiry) = match source {
                    Named::Block => (Some(block), None),
                    Named::Expiry => (None, Some(of.expiry?)),
                    Named::Both => (Some(block), of.expiry),
                    Named::Wrong => (Some(block), Some(of.expiry.unwrap_or(now) + 1)),
                };
                Change::ExpirationChange { target, amount: amount.map(exact), block, expiry }
            }
            ChangeSpec::Void { amount, block } => {
                let block = any(*block)?;
                let left = ledger?.blocks[block].balance.clone();
                Change::Void(or_all(*amount, left)?, block)
            }
            ChangeSpec::Amendment { amount, block } => {
                let block = any(*block)?;
                let drawn = ledger?.blocks[block].drawn.clone();
                Change::Amendment(or_all(*amount, drawn)?, block)
            }
        })
    }

    fn resolve(&self, place: Place, expiry: Expiry) -> Instant {
        let now = self.bank.now;
        let at = match expiry {
            Expiry::In(by) => now + by,
            Expiry::With(block) => self.expiry(place, block).unwrap_or(now + 1),
            Expiry::Period(of) => self.bill.resolve(When::End(of, 0)),
        };
        at.max(now + 1)
    }

    fn to_engine(&self, place: Place, change: &Change) -> LedgerChange {
        let block = |block: &At| self.block(place, *block);
        match change {
            Change::Increment { amount, effective, expiry, basis } => {
                LedgerChange::Increment(NewBlock {
                    amount: decimal(amount),
                    effective_date: effective.map(micros),
                    expiry_date: expiry.map(micros),
                    per_unit_cost_basis: basis.as_ref().map(|basis| decimal(basis).into()),
                    filters: Vec::new(),
                    invoice: None,
                })
            }
            Change::Decrement(amount) => LedgerChange::Decrement { amount: decimal(amount) },
            Change::ExpirationChange { target, amount, block: of, expiry } => {
                LedgerChange::ExpirationChange {
                    target_expiry_date: micros(*target),
                    amount: amount.as_ref().map(decimal),
                    block_id: of.as_ref().map(block),
                    expiry_date: expiry.map(micros),
                }
            }
            Change::Void(amount, of) => LedgerChange::Void {
                amount: decimal(amount),
                block_id: block(of),
                void_reason: None,
            },
            Change::Amendment(amount, of) => {
                LedgerChange::Amendment { amount: decimal(amount), block_id: block(of) }
            }
        }
    }
}

/// An amount, or all that there is, if that is more than nothing.
fn or_all(amount: Option<&'static str>, all: BigDecimal) -> Option<BigDecimal> {
    amount.map(exact).or(Some(all)).filter(|amount| *amount > BigDecimal::default())
}

const fn is_refusal(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConstraintViolation | ErrorKind::RequestValidation | ErrorKind::ResourceNotFound
    )
}

pub(super) fn unit(place: Place) -> PricingUnit {
    PricingUnit::parse(place.1).unwrap()
}

fn decimal(exact: &BigDecimal) -> Decimal {
    number(&exact.to_plain_string())
}

// Alerts.

impl Bench {
    pub(super) fn create_alert(&mut self, place: Place, kind: Kind, texts: &[&'static str]) {
        self.tell_apart();
        let new = match kind {
            Kind::Dropped => {
                NewBalanceAlert::credit_balance_dropped(unit(place), engine_thresholds(texts))
            }
            Kind::Depleted => NewBalanceAlert::credit_balance_depleted(unit(place)),
            Kind::Recovered => NewBalanceAlert::credit_balance_recovered(unit(place)),
        };
        let customer = self.bill.customers[place.0];
        let call = |bench: &Self| {
            let call = bench.bill.host.account.create_customer_alert(customer, new.clone());
            block_on(call.into_future())
        };
        if self.bank.alert_on(place, kind).is_some() {
            self.bill.host.tick();
            let before = dump(&*self.bill.host.store);
            assert_eq!(call(self).unwrap_err().kind(), ErrorKind::ConstraintViolation);
            assert_eq!(dump(&*self.bill.host.store), before);
            return;
        }
        self.alerts.push(call(self).unwrap().id);
        let thresholds = if kind == Kind::Dropped { model_thresholds(texts) } else { Vec::new() };
        self.bank.alerts.push(BalanceAlert::new(place, kind, thresholds));
        self.bank.configured(self.alerts.len() - 1);
    }

    pub(super) fn change_alert(&mut self, alert: At, step: &Step) {
        let (account, id) = (&self.bill.host.account, self.alerts[alert]);
        let of = &self.bank.alerts[alert];
        let (was_deleted, was_enabled, kind) = (of.deleted, of.enabled, of.kind);
        let is_refused = match step {
            Step::SetThresholds { thresholds, .. } => {
                let update = AlertUpdate::from(engine_thresholds(thresholds));
                block_on(account.update_alert(id, update).into_future()).is_err()
            }
            Step::Enable(_) => block_on(account.enable_alert(id).into_future()).is_err(),
            Step::Disable(_) => block_on(account.disable_alert(id).into_future()).is_err(),
            _ => block_on(account.delete_alert(id).into_future()).is_err(),
        };
        let takes_it = kind == Kind::Dropped || !matches!(step, Step::SetThresholds { .. });
        assert_eq!(is_refused, was_deleted || !takes_it, "{step:?} of {kind:?}");
        if is_refused {
            return;
        }
        let of = &mut self.bank.alerts[alert];
        match step {
            Step::SetThresholds { thresholds, .. } => of.thresholds = model_thresholds(thresholds),
            Step::DeleteAlert(_) => of.deleted = true,
            _ => of.enabled = matches!(step, Step::Enable(_)),
        }
        let is_changed = match step {
            Step::Enable(_) => !was_enabled,
            Step::SetThresholds { .. } => true,
            _ => false,
        };
        if is_changed {
            self.bank.configured(alert);
        }
    }
}
