use std::collections::BTreeMap;

use accrue::{
    Account, Billing, Decimal, ExternalId, IdempotencyKey, ManualClock, Timestamp,
    credit::NewLedgerEntry,
    usage::Event,
    webhook::{Body, Message},
};

use super::{
    agenda::{Agenda, Task},
    customer::Customer,
    setup::{LOW, Setup},
};
use crate::{
    Error, FiredAlert,
    catch_up::catch_up,
    error::Doing as _,
    mail,
    setup::{credits, decimal},
};

/// A host that bills its customers: it sends their usage, applies what time brings, gives
/// credits, answers messages, and takes note of payments.
#[derive(Debug)]
pub(super) struct Host<'a> {
    billing: &'a Billing,
    account: &'a Account,
    clock: &'a ManualClock,
    setup: &'a Setup,
    agenda: Agenda<'a>,
    /// The alerts that fired, in the order of each customer.
    pub(super) alerts: BTreeMap<ExternalId, Vec<FiredAlert>>,
    pub(super) events: usize,
    pub(super) messages: usize,
    pub(super) applied: usize,
}

impl<'a> Host<'a> {
    pub(super) fn new(
        billing: &'a Billing,
        account: &'a Account,
        clock: &'a ManualClock,
        setup: &'a Setup,
    ) -> Self {
        let (agenda, alerts) = (Agenda::new(setup), BTreeMap::new());
        let (events, messages, applied) = (0, 0, 0);
        Self { billing, account, clock, setup, agenda, alerts, events, messages, applied }
    }

    /// Sends usage, each event at its own instant.
    pub(super) async fn live_through(
        &mut self,
        usage: impl Iterator<Item = Event>,
    ) -> Result<(), Error> {
        for event in usage {
            self.wait_until(event.timestamp).await?;
            let ingestion = self.account.ingest([event]).await.doing("ingest an event")?;
            self.events += ingestion.ingested;
            self.answer_messages().await?;
        }
        Ok(())
    }

    /// Waits, and wakes for what time makes due and for what is on the agenda.
    pub(super) async fn wait_until(&mut self, end: Timestamp) -> Result<(), Error> {
        while let Some(next) = self.wakes_at().await?.filter(|next| *next <= end) {
            self.clock.set(next);
            while let Some(task) = self.agenda.take_due(next) {
                task.run(self.account).await.doing("do what is on the agenda")?;
            }
            self.applied += catch_up(self.billing).await?;
            self.answer_messages().await?;
        }
        self.clock.set(end);
        Ok(())
    }

    async fn wakes_at(&self) -> Result<Option<Timestamp>, Error> {
        let deadline = self.billing.next_deadline().await.doing("read the next deadline")?;
        Ok(deadline.into_iter().chain(self.agenda.next()).min())
    }

    async fn answer_messages(&mut self) -> Result<(), Error> {
        let account = self.account;
        mail::deliver(account, async |message| self.answer(message).await).await
    }

    async fn answer(&mut self, message: &Message) -> Result<(), Error> {
        self.messages += 1;
        let customer = message.customer.as_ref().and_then(|of| of.external_customer_id.clone());
        let alert = FiredAlert::read(message, &self.setup.metrics);
        if let (Some(customer), Some(alert)) = (customer, alert) {
            self.alerts.entry(customer).or_default().push(alert);
        }
        match &message.body {
            Body::CreditBalanceDepleted(_) | Body::CreditBalanceDropped(_) => {
                self.top_up(message).await.doing("top credits up")
            }
            Body::InvoiceIssued { invoice_id, automatically_marked_as_paid: false } => {
                let customer = self.customer_of(message);
                if let Some(at) = customer.and_then(|of| of.pays_at(message.created_at)) {
                    self.agenda.add(at, Task::Receive { invoice: *invoice_id, at });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Sells credits to a customer that wants them, where they are still low. The message is the
    /// key: whoever reads it twice sells once.
    async fn top_up(&self, message: &Message) -> Result<(), accrue::Error> {
        let Some(customer) = self.customer_of(message) else { return Ok(()) };
        let Some(amount) = customer.profile.top_up else { return Ok(()) };
        let balance = self.account.credit_balance(customer.id, &credits()).await?.balance;
        if balance.is_some_and(|balance| balance > decimal(LOW)) {
            return Ok(());
        }
        let key = IdempotencyKey::parse(message.id.to_string()).expect("the id is a short text");
        let sold = NewLedgerEntry::increment(credits(), Decimal::from(amount));
        self.account.create_ledger_entry(customer.id, sold).keyed(key).await?;
        Ok(())
    }

    fn customer_of(&self, message: &Message) -> Option<&'a Customer> {
        let id = message.customer.as_ref()?.id;
        self.setup.customers.iter().find(|customer| customer.id == id)
    }
}
