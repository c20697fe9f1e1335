use std::collections::VecDeque;

use accrue::{
    Account, Decimal, InvoiceId, Timestamp,
    credit::NewLedgerEntry,
    invoice::{CreditNoteReason, NewCreditNote, NewCreditNoteLine, Payment},
    subscription::Cancellation,
};

use super::{customer::Customer, setup::Setup};
use crate::{invoices, setup::credits};

/// What an hour without service is worth to a customer that complains, in USD.
const HOUR_WITHOUT_SERVICE: u64 = 5;

/// What the host does of its own accord, in order of time.
#[derive(Debug)]
pub(super) struct Agenda<'a>(VecDeque<(Timestamp, Task<'a>)>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Task<'a> {
    /// Gives a customer its credits, until they expire.
    Grant { customer: &'a Customer, expiry_date: Timestamp },
    /// Cancels the subscription of a customer, at a date.
    Cancel { customer: &'a Customer, date: Timestamp },
    /// Credits a customer for an hour without service, on its latest invoice.
    Credit { customer: &'a Customer },
    /// Takes note that the money for an invoice has come.
    Receive { invoice: InvoiceId, at: Timestamp },
}

impl<'a> Agenda<'a> {
    pub(super) fn new(setup: &'a Setup) -> Self {
        let mut tasks: Vec<_> = setup.customers.iter().flat_map(tasks).collect();
        tasks.sort_by_key(|(at, _)| *at);
        Self(tasks.into())
    }

    /// Adds what is to be done at an instant, after all else that is to be done then.
    pub(super) fn add(&mut self, at: Timestamp, task: Task<'a>) {
        let place = self.0.partition_point(|(other, _)| *other <= at);
        self.0.insert(place, (at, task));
    }

    /// Returns when there is something to do next.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.0.front().map(|(at, _)| *at)
    }

    /// Takes the next thing that is to be done until an instant.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Task<'a>> {
        self.next().filter(|next| *next <= now)?;
        self.0.pop_front().map(|(_, task)| task)
    }
}

fn tasks(customer: &Customer) -> Vec<(Timestamp, Task<'_>)> {
    let months = customer.months();
    let given = months.chunks(customer.profile.grant_months).filter_map(|months| {
        let (at, expiry_date) = (months.first()?.start(), months.last()?.end());
        Some((at, Task::Grant { customer, expiry_date }))
    });
    let leaves = customer.leaves();
    let times = if customer.profile.is_renewed { usize::MAX } else { 1 };
    let given = given.take(times).filter(|(at, _)| leaves.is_none_or(|[_, date]| *at < date));
    let cancelled = leaves.map(|[at, date]| (at, Task::Cancel { customer, date }));
    let credited = customer.complains().map(|at| (at, Task::Credit { customer }));
    given.chain(cancelled).chain(credited).collect()
}

impl Task<'_> {
    pub(super) async fn run(self, account: &Account) -> Result<(), accrue::Error> {
        match self {
            Self::Grant { customer, expiry_date } => {
                let amount = Decimal::from(customer.profile.grant);
                let grant = NewLedgerEntry::expiring(credits(), amount, expiry_date);
                account.create_ledger_entry(customer.id, grant).await?;
            }
            Self::Cancel { customer, date } => {
                let at = Cancellation::RequestedDate(date);
                account.cancel_subscription(customer.subscription.id, at).await?;
            }
            Self::Credit { customer } => {
                let latest = invoices::issued(account, customer.id).await?.pop();
                let latest = latest.expect("there is one every month");
                let fee = latest.lines.iter().max_by_key(|line| &line.amount);
                let line = NewCreditNoteLine {
                    invoice_line_id: fee.expect("there is one on every invoice").id,
                    amount: Decimal::from(HOUR_WITHOUT_SERVICE),
                    days: None,
                };
                let reason = CreditNoteReason::ProductUnsatisfactory;
                let note = NewCreditNote { lines: vec![line], reason, memo: None, days: None };
                account.create_credit_note(note).await?;
            }
            Self::Receive { invoice, at } => {
                account.mark_invoice_paid(invoice, Payment::new(at)).await?;
            }
        }
        Ok(())
    }
}
