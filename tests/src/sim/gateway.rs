//! The payment gateway of all accounts: it charges an attempt once, however often it is asked.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
};

use accrue::{
    Clock as _, Decimal, InvoiceId, ManualClock, PaymentAttemptId, PaymentGateway, Timestamp,
    invoice::{PaymentOutcome, StartedPayment},
};
use async_trait::async_trait;

use super::{pause::pause, plan::DAY, random::numbered};
use crate::model::Instant;

#[derive(Debug)]
pub(super) struct Gateway {
    clock: ManualClock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether it knows everything at once.
    is_calm: bool,
    charges: BTreeMap<PaymentAttemptId, Charge>,
    wrong: Option<String>,
}

/// What it was asked to charge, and what comes of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) invoice: InvoiceId,
    pub(super) amount: Decimal,
    pub(super) is_declined: bool,
    asked_at: Timestamp,
    /// From when on it is known what comes of it.
    known_at: Instant,
}

/// An attempt, and what has come of it.
pub(super) type Told = (PaymentAttemptId, PaymentOutcome);

impl Charge {
    fn outcome(&self, id: PaymentAttemptId) -> PaymentOutcome {
        let transaction_id = Some(format!("charge-{id}"));
        if self.is_declined {
            PaymentOutcome::Declined { transaction_id }
        } else {
            PaymentOutcome::Succeeded { received_at: self.asked_at, transaction_id }
        }
    }
}

impl Gateway {
    pub(super) fn new(clock: ManualClock) -> Self {
        Self { clock, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn calm(&self, is_calm: bool) {
        self.state().is_calm = is_calm;
    }

    /// What it was asked to charge by now.
    pub(super) fn charges(&self) -> BTreeMap<PaymentAttemptId, Charge> {
        self.state().charges.clone()
    }

    /// One of the attempts of some invoices of which it knows what has come of them, as it tells that by
    /// itself.
    pub(super) fn told(&self, any: usize, is_of: impl Fn(InvoiceId) -> bool) -> Option<Told> {
        let (now, state) = (self.clock.now().micros(), self.state());
        let known = state.charges.iter().filter(|(_, of)| state.is_calm || of.known_at <= now);
        let known: Vec<_> = known.filter(|(_, of)| is_of(of.invoice)).collect();
        let index = any.checked_rem(known.len())?;
        Some((*known[index].0, known[index].1.outcome(*known[index].0)))
    }

    /// Takes its time: none in the calm, in which nobody polls it twice.
    async fn think(&self, long: usize) {
        let long = if self.state().is_calm { 0 } else { long };
        pause(long).await;
    }

    /// What was asked of it that cannot be right.
    pub(super) fn wrong(&self) -> Option<String> {
        self.state().wrong.clone()
    }
}

/// A number that is drawn from an attempt.
fn drawn(id: PaymentAttemptId) -> usize {
    let text = id.to_string();
    let sum = text.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte));
    usize::try_from(numbered(0, sum) % 1_000).unwrap()
}

#[async_trait]
impl PaymentGateway for Gateway {
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
        let StartedPayment { attempt_id, invoice_id, .. } = *payment;
        let drawn = drawn(attempt_id);
        self.think(drawn % 4).await;
        let now = self.clock.now();
        let outcome = {
            let mut state = self.state();
            let takes = match drawn % 10 {
                0..6 => 0,
                6..8 => DAY / 4,
                // So long that the attempt is given up meanwhile.
                _ => 9 * DAY,
            };
            let asked = Charge {
                invoice: invoice_id,
                amount: payment.amount.clone(),
                is_declined: (drawn / 10).is_multiple_of(3),
                asked_at: now,
                known_at: now.micros() + takes,
            };
            let charge = state.charges.entry(attempt_id).or_insert_with(|| asked.clone()).clone();
            if (charge.invoice, &charge.amount) != (invoice_id, &payment.amount) {
                let wrong = format!("{attempt_id} is to charge {payment:?}, and was {charge:?}");
                state.wrong.get_or_insert(wrong);
            }
            let is_known = state.is_calm || charge.known_at <= now.micros();
            is_known.then(|| charge.outcome(attempt_id))
        };
        self.think(drawn % 3).await;
        outcome
    }
}
