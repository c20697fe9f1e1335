use std::collections::{BTreeMap, btree_map::Entry};

use super::unit::Unit;
use crate::{
    AccountId, CreditBlockId, CustomerId, Decimal, Error, PricingUnit, SubscriptionId, Timestamp,
    alert::{BalanceWatch, Cause},
    credit::{Block, Book, Booked, Charge, CreditBlock, Drawn, Ledger},
    limits,
    schema::{self, DrawnEntry, Nothing, Slot},
};

/// A ledger of a customer while it is moved: its book, what usage has drawn from it, and the alerts
/// that watch its balance.
#[derive(Debug)]
pub(super) struct OpenLedger {
    pub(super) book: Book,
    /// What billing periods have drawn, of those that draw now.
    drawn: BTreeMap<(SubscriptionId, Timestamp), Drawn>,
    watch: BalanceWatch,
    /// Whether the account has alerts now.
    has_alerts: bool,
}

impl OpenLedger {
    /// Returns the blocks that have something left and have not expired.
    pub(super) fn open_blocks(&self) -> impl Iterator<Item = &CreditBlock> {
        let open = &self.book.ledger().open;
        let blocks = self.book.blocks().map(|of| &of.block);
        blocks.filter(|block| open.contains(&block.id))
    }
}

fn pending_slots(account: &AccountId, ledger: &Ledger) -> impl Iterator<Item = Slot<Booked>> {
    let Ledger { customer_id, currency, pending, .. } = ledger;
    let numbers = pending.iter().map(|pending| pending.number);
    numbers.map(|number| schema::ledger_entry(account, *customer_id, currency, number))
}

/// The ledgers of a customer that usage draws on, by currency or pricing unit.
pub(super) type Ledgers = BTreeMap<PricingUnit, OpenLedger>;

/// The caller has read the head of the customer, and writes it: it guards the ledgers.
impl Unit<'_> {
    /// Returns the currencies and pricing units in which usage of a customer draws credits.
    pub(super) async fn draws_in(
        &mut self,
        customer: CustomerId,
    ) -> Result<Vec<PricingUnit>, Error> {
        let credits = self.get(&schema::credits(self.account, customer)).await?;
        let Some(credits) = credits else { return Ok(Vec::new()) };
        if !self.configuration().await?.features.credits {
            return Ok(Vec::new());
        }
        let units = credits.units.into_iter().filter(|(_, of)| of.has_ledger);
        Ok(units.map(|(unit, _)| unit).collect())
    }

    /// Reads a ledger; none before its first entry.
    pub(super) async fn ledger(
        &mut self,
        customer: CustomerId,
        unit: &PricingUnit,
    ) -> Result<Option<OpenLedger>, Error> {
        let row = self.get(&schema::ledger(self.account, customer, unit)).await?;
        let Some(ledger) = row else { return Ok(None) };
        let pending: Vec<_> = pending_slots(self.account, &ledger).collect();
        let pending: Option<Vec<_>> = self.get_all(&pending).await?.into_iter().collect();
        let pending = pending.ok_or_else(|| Error::corrupt("an entry of a ledger is missing"))?;
        let ids: Vec<_> = ledger.open.iter().chain(&ledger.overdraft).copied().collect();
        let blocks = self.blocks(&ids).await?;
        self.open_ledger(Book::open(ledger, blocks, pending)).await.map(Some)
    }

    /// Reads what it takes to open some ledgers, in as many calls of the store as for one.
    pub(super) async fn fetch_ledgers(
        &mut self,
        ledgers: &[(CustomerId, &PricingUnit)],
    ) -> Result<(), Error> {
        let account = self.account;
        self.fetch_balance_watches(ledgers).await?;
        let slots: Vec<_> =
            ledgers.iter().map(|(id, unit)| schema::ledger(account, *id, unit)).collect();
        let mut keys = Vec::new();
        for ledger in self.get_all(&slots).await?.into_iter().flatten() {
            let blocks = ledger.open.iter().chain(&ledger.overdraft);
            keys.extend(blocks.map(|id| schema::credit_block(account, *id).key().clone()));
            keys.extend(pending_slots(account, &ledger).map(|slot| slot.key().clone()));
        }
        self.fetch(&keys).await
    }

    /// Adds to a book what watches it.
    pub(super) async fn open_ledger(&mut self, book: Book) -> Result<OpenLedger, Error> {
        let (customer_id, currency) = (book.ledger().customer_id, book.ledger().currency.clone());
        let watch = self.balance_watch(customer_id, &currency).await?;
        let has_alerts = self.had_alerts(self.now).await?;
        Ok(OpenLedger { book, drawn: BTreeMap::new(), watch, has_alerts })
    }

    async fn blocks(&mut self, ids: &[CreditBlockId]) -> Result<Vec<Block>, Error> {
        let slots: Vec<_> = ids.iter().map(|id| schema::credit_block(self.account, *id)).collect();
        let blocks: Option<Vec<_>> = self.get_all(&slots).await?.into_iter().collect();
        blocks.ok_or_else(|| Error::corrupt("a block of credits is missing"))
    }

    /// Draws what usage costs more, or gives back what it costs less, all of it for one cause.
    pub(super) async fn draw(
        &mut self,
        ledgers: &mut Ledgers,
        charges: &[Charge],
        cause: &Cause,
    ) -> Result<(), Error> {
        if charges.is_empty() {
            return Ok(());
        }
        for (currency, ledger) in ledgers {
            let before = ledger.book.balance().cloned();
            for charge in charges.iter().filter(|charge| charge.currency == *currency) {
                self.charge(ledger, charge).await?;
            }
            self.judge_balance(ledger, before, cause, self.now).await?;
        }
        Ok(())
    }

    async fn charge(&mut self, ledger: &mut OpenLedger, charge: &Charge) -> Result<(), Error> {
        let Charge { subscription_id, period_start, currency, amount } = charge;
        let drawn = match ledger.drawn.entry((*subscription_id, *period_start)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let slot = schema::drawn(self.account, *subscription_id, *period_start, currency);
                unknown.insert(self.get(&slot).await?.unwrap_or_default().drawn)
            }
        };
        if *amount > Decimal::zero() {
            ledger.book.draw(amount, drawn, self.now);
        } else if *amount < Decimal::zero() {
            let missing = ledger.book.missing(drawn);
            ledger.book.insert(self.blocks(&missing).await?);
            ledger.book.give_back(&-amount.clone(), drawn, self.now);
        }
        Ok(())
    }

    /// Judges the alerts on a balance that has moved at an instant.
    pub(super) async fn judge_balance(
        &mut self,
        ledger: &mut OpenLedger,
        before: Option<Decimal>,
        cause: &Cause,
        at: Timestamp,
    ) -> Result<(), Error> {
        let OpenLedger { book, watch, has_alerts, .. } = ledger;
        let Some(after) = book.balance().filter(|after| before.as_ref() != Some(*after)) else {
            return Ok(());
        };
        let customer_id = book.ledger().customer_id;
        let fires = if at == self.now { *has_alerts } else { self.had_alerts(at).await? };
        for crossed in watch.judge(customer_id, before.as_ref(), after, cause, fires) {
            self.tell(customer_id, at, crossed.into()).await?;
        }
        Ok(())
    }

    /// Draws charges that stand on their own, and saves the ledgers.
    pub(super) async fn draw_alone(
        &mut self,
        customer: CustomerId,
        charges: &[Charge],
        cause: &Cause,
    ) -> Result<(), Error> {
        let mut ledgers = Ledgers::new();
        for Charge { currency, .. } in charges {
            if !ledgers.contains_key(currency)
                && let Some(ledger) = self.ledger(customer, currency).await?
            {
                ledgers.insert(currency.clone(), ledger);
            }
        }
        self.draw(&mut ledgers, charges, cause).await?;
        self.save_ledgers(customer, ledgers.values()).await
    }

    /// Writes what has moved of some ledgers of a customer, and when time brings the next thing.
    pub(super) async fn save_ledgers<'l>(
        &mut self,
        customer: CustomerId,
        ledgers: impl Iterator<Item = &'l OpenLedger> + Send,
    ) -> Result<(), Error> {
        let slot = schema::credits(self.account, customer);
        let before = self.get(&slot).await?.unwrap_or_default();
        let mut credits = before.clone();
        for ledger in ledgers {
            self.save_ledger(ledger)?;
            let of = credits.units.entry(ledger.book.ledger().currency.clone()).or_default();
            (of.has_ledger, of.next_expiry) = (true, ledger.book.next_expiry());
        }
        if credits == before {
            return Ok(());
        }
        if credits.units.len() > limits::LEDGERS {
            let (found, most) = (credits.units.len(), limits::LEDGERS);
            let detail =
                format!("the customer would have credits in {found} units, at most {most}");
            return Err(Error::constraint(detail));
        }
        self.put(&slot, &credits)?;
        self.reschedule(customer).await
    }

    fn save_ledger(&mut self, ledger: &OpenLedger) -> Result<(), Error> {
        let OpenLedger { book, drawn, watch, .. } = ledger;
        let (account, of) = (self.account, book.ledger());
        let (blocks, entries) = book.moved();
        if entries.is_empty() && blocks.is_empty() {
            return Ok(());
        }
        for block in blocks {
            self.put(&schema::credit_block(account, block.block.id), block)?;
            if book.is_new_block(block) {
                self.put(&schema::credit_block_by_time(account, block), &Nothing {})?;
            }
        }
        for booked in entries {
            let number = booked.entry.ledger_sequence_number;
            let slot = schema::ledger_entry(account, of.customer_id, &of.currency, number);
            self.put(&slot, booked)?;
            if book.is_new(booked) {
                self.put(&schema::ledger_entry_by_time(account, &booked.entry), &Nothing {})?;
                self.put(&schema::ledger_entry_by_kind(account, &booked.entry), &Nothing {})?;
            }
        }
        for ((subscription_id, period_start), drawn) in drawn {
            let slot = schema::drawn(account, *subscription_id, *period_start, &of.currency);
            self.put(&slot, &DrawnEntry { drawn: drawn.clone() })?;
        }
        self.save_balance_watch(watch)?;
        self.put(&schema::ledger(account, of.customer_id, &of.currency), of)
    }
}
