use std::collections::{BTreeMap, btree_map::Entry};

use super::unit::Unit;
use crate::{
    AccountId, CreditBlockId, CustomerId, Decimal, Error, PricingUnit, SubscriptionId, Timestamp,
    alert::{BalanceWatch, Cause},
    credit::{Block, Book, Booked, Charge, CreditBlock, Drawn, Ledger, Returned},
    limits,
    schema::{self, BlockMetadata, DrawnEntry, Nothing, Slot},
    subscription::Enrolment,
};

/// A ledger of a customer while it is moved: its book, what usage has drawn from it, and the alerts
/// that watch its balance.
#[derive(Debug)]
pub(super) struct OpenLedger {
    pub(super) book: Book,
    /// What billing periods have drawn, of those that draw now.
    drawn: BTreeMap<(SubscriptionId, Timestamp), Drawn>,
    watch: BalanceWatch,
    /// Whether the account has alerts now, and credits.
    has_alerts: bool,
    has_credits: bool,
}

impl OpenLedger {
    /// Returns when its last entry was made.
    pub(super) const fn latest(&self) -> Timestamp {
        self.book.ledger().latest
    }

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
    /// Returns the currencies and pricing units in which usage of a subscription draws credits.
    pub(super) async fn draws_in(
        &mut self,
        enrolment: &Enrolment,
    ) -> Result<Vec<PricingUnit>, Error> {
        let customer_id = enrolment.subscription.customer_id;
        let credits = self.get(&schema::credits(self.account, customer_id)).await?;
        let version = self.plan_roster_of(enrolment).await?;
        Ok(credits.map(|credits| credits.drawn_by(&version)).unwrap_or_default())
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
        let pending: Option<Vec<_>> = self.get_guarded(&pending).await?.into_iter().collect();
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
        self.fetch_guarded(&keys).await?;
        Ok(())
    }

    /// Adds to a book what watches it.
    pub(super) async fn open_ledger(&mut self, book: Book) -> Result<OpenLedger, Error> {
        let (customer_id, currency) = (book.ledger().customer_id, book.ledger().currency.clone());
        let watch = self.balance_watch(customer_id, &currency).await?;
        let has_alerts = self.had_alerts(self.now).await?;
        let has_credits = self.configuration().await?.features.credits;
        Ok(OpenLedger { book, drawn: BTreeMap::new(), watch, has_alerts, has_credits })
    }

    async fn blocks(&mut self, ids: &[CreditBlockId]) -> Result<Vec<Block>, Error> {
        let slots: Vec<_> = ids.iter().map(|id| schema::credit_block(self.account, *id)).collect();
        let blocks: Option<Vec<_>> = self.get_guarded(&slots).await?.into_iter().collect();
        blocks.ok_or_else(|| Error::corrupt("a block of credits is missing"))
    }

    /// Adds the caller's own strings to blocks that are to be shown.
    pub(super) async fn with_metadata(&mut self, blocks: &mut [CreditBlock]) -> Result<(), Error> {
        let slots = blocks.iter().map(|of| schema::credit_block_metadata(self.account, of.id));
        let found = self.get_guarded(&slots.collect::<Vec<_>>()).await?;
        for (block, found) in blocks.iter_mut().zip(found) {
            block.metadata = found.unwrap_or_default().metadata;
        }
        Ok(())
    }

    /// Gives a new block the strings of the one that it was a part of.
    pub(super) async fn copy_metadata(
        &mut self,
        from: CreditBlockId,
        to: CreditBlockId,
    ) -> Result<(), Error> {
        let slot = schema::credit_block_metadata(self.account, from);
        match self.get_guarded(std::slice::from_ref(&slot)).await?.pop().flatten() {
            Some(metadata) => self.put(&schema::credit_block_metadata(self.account, to), &metadata),
            None => Ok(()),
        }
    }

    /// Draws what usage costs more, and gives back what it costs less, all of it for one cause.
    pub(super) async fn draw(
        &mut self,
        ledgers: &mut Ledgers,
        charges: &[Charge],
        cause: &Cause,
    ) -> Result<(), Error> {
        let now = self.now;
        for (currency, ledger) in ledgers {
            let before = ledger.book.balance().cloned();
            let own = || charges.iter().filter(|charge| charge.currency == *currency);
            for charge in own().filter(|charge| charge.amount > Decimal::zero()) {
                if ledger.has_credits {
                    let (book, drawn) = self.drawn(ledger, charge).await?;
                    book.draw(&charge.amount, drawn, now);
                }
            }
            let mut returned = Returned::default();
            for charge in own().filter(|charge| charge.amount < Decimal::zero()) {
                let (book, drawn) = self.drawn(ledger, charge).await?;
                let missing = book.missing(drawn);
                book.insert(self.blocks(&missing).await?);
                book.hand_back(&-charge.amount.clone(), drawn, &mut returned);
            }
            ledger.book.book_returned(returned, now);
            self.judge_balance(ledger, before, cause).await?;
        }
        Ok(())
    }

    /// Reads what the billing period of a charge has drawn.
    async fn drawn<'l>(
        &mut self,
        ledger: &'l mut OpenLedger,
        charge: &Charge,
    ) -> Result<(&'l mut Book, &'l mut Drawn), Error> {
        let Charge { subscription_id, period_start, currency, .. } = charge;
        let drawn = match ledger.drawn.entry((*subscription_id, *period_start)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let slot = schema::drawn(self.account, *subscription_id, *period_start, currency);
                let row = self.get_guarded(std::slice::from_ref(&slot)).await?.pop().flatten();
                unknown.insert(row.unwrap_or_default().drawn)
            }
        };
        Ok((&mut ledger.book, drawn))
    }

    /// Judges the alerts on a balance that an operation has moved.
    pub(super) async fn judge_balance(
        &mut self,
        ledger: &mut OpenLedger,
        before: Option<Decimal>,
        cause: &Cause,
    ) -> Result<(), Error> {
        let fires = ledger.has_alerts;
        self.judge_balance_at(ledger, before, cause, self.now, fires).await
    }

    /// Judges the alerts on a balance that has moved at an instant.
    pub(super) async fn judge_balance_at(
        &mut self,
        ledger: &mut OpenLedger,
        before: Option<Decimal>,
        cause: &Cause,
        at: Timestamp,
        fires: bool,
    ) -> Result<(), Error> {
        let OpenLedger { book, watch, .. } = ledger;
        let Some(after) = book.balance().filter(|after| before.as_ref() != Some(*after)) else {
            return Ok(());
        };
        let customer_id = book.ledger().customer_id;
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
            let (mut block, id) = (block.clone(), block.block.id);
            let metadata = std::mem::take(&mut block.block.metadata);
            if book.is_new_block(&block) {
                self.put(&schema::credit_block_by_time(account, &block), &Nothing {})?;
                if !metadata.is_empty() {
                    let slot = schema::credit_block_metadata(account, id);
                    self.put(&slot, &BlockMetadata { metadata })?;
                }
            }
            self.put(&schema::credit_block(account, id), &block)?;
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
