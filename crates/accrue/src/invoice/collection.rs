use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Invoice, InvoiceStatus};
use crate::{
    Currency, CustomerId, Decimal, Error, ExternalId, InvoiceId, Name, PaymentAttemptId, Timestamp,
    customer::{Customer, GatewayAccount, PaymentProvider},
    limits,
};

/// Whether an invoice is collected by itself, and how often that was tried (invoicing 3.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoCollection {
    /// True where it is.
    pub enabled: bool,
    /// Number of attempts to collect it, those by hand among them.
    pub num_attempts: u32,
    /// Instant of the next attempt.
    pub next_attempt_at: Option<Timestamp>,
    /// Instant of the last attempt that began by itself.
    pub previously_attempted_at: Option<Timestamp>,
}

/// Attempt to collect an invoice that has succeeded or failed (invoicing 3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaymentAttempt {
    /// Its id.
    pub id: PaymentAttemptId,
    /// Amount that was to be paid when it began.
    pub amount: Decimal,
    /// Instant at which it began.
    pub created_at: Timestamp,
    /// True where the money came.
    pub succeeded: bool,
    /// Provider that it was made with.
    pub payment_provider: Option<PaymentProvider>,
    /// The provider's id for it.
    pub payment_provider_id: Option<String>,
    /// Why it failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<PaymentFailure>,
    /// Instant at which its receipt was made, where the money came: the last one where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt_at: Option<Timestamp>,
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentFailure {
    /// The gateway declined it.
    Declined,
    /// The customer has nothing to pay with.
    NoInstrument,
    /// Nobody has reported of it within seven days. It succeeds if somebody still does.
    NotReported,
}

/// What a customer pays with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentInstrument {
    /// A shared payment token.
    Token(String),
    /// Its default payment method.
    Method {
        /// The customer's id at the gateway.
        provider_id: Name,
        /// The gateway's id for the method.
        method_id: ExternalId,
    },
    /// What its account at the payment provider pays with.
    OfProvider(Name),
}

/// Payment that is under way: what a gateway is to charge (invoicing 8.2).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartedPayment {
    /// Attempt that it is of. It is the same however often the payment is read: a gateway that is given it
    /// as its own key charges once.
    pub attempt_id: PaymentAttemptId,
    /// Invoice that it pays.
    pub invoice_id: InvoiceId,
    /// Customer that pays.
    pub customer_id: CustomerId,
    /// Amount.
    pub amount: Decimal,
    /// Currency of the amount.
    pub currency: Currency,
    /// What the customer pays with.
    pub instrument: PaymentInstrument,
    /// Instant at which it began.
    pub started_at: Timestamp,
}

/// What became of a payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum PaymentOutcome {
    /// The money came.
    Succeeded {
        /// Instant at which it did.
        received_at: Timestamp,
        /// The provider's id for the payment.
        transaction_id: Option<String>,
    },
    /// It was declined.
    Declined {
        /// The provider's id for the payment.
        transaction_id: Option<String>,
    },
}

/// Attempt that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) id: PaymentAttemptId,
    pub(crate) amount: Decimal,
    pub(crate) instrument: PaymentInstrument,
    pub(crate) started_at: Timestamp,
    pub(crate) is_automatic: bool,
}

/// What time brings an invoice that is to be issued or collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectionStep {
    /// The date of a one-off draft has passed.
    Elapse,
    /// An attempt begins.
    Begin,
    /// Nobody has reported of one: it counts as failed.
    GiveUp,
}

/// Time after which an attempt counts as failed of which nobody has reported (invoicing 8.3).
const PATIENCE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl PaymentInstrument {
    /// Returns what a customer pays with: its own token, its default payment method, or what its account at
    /// a gateway has (invoicing 8.2).
    pub(crate) fn of(customer: &Customer) -> Option<Self> {
        let token = customer.carried.get("payment_configuration").and_then(default_token);
        token.map(Self::Token).or_else(|| {
            let provider_id = GatewayAccount::find(customer)?.provider_id;
            Some(match &customer.default_payment_method {
                Some(of) => Self::Method { provider_id, method_id: of.external_id.clone() },
                None => Self::OfProvider(provider_id),
            })
        })
    }

    /// Returns the shared token, where it is one.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        match self {
            Self::Token(token) => Some(token),
            Self::Method { .. } | Self::OfProvider(_) => None,
        }
    }
}

/// Reads the token that a customer's configuration names for every payment.
fn default_token(configuration: &str) -> Option<String> {
    let configuration: serde_json::Value = serde_json::from_str(configuration).ok()?;
    let providers = configuration.get("payment_providers")?.as_array()?;
    let token =
        |of: &serde_json::Value| Some(of.get("default_shared_payment_token")?.as_str()?.to_owned());
    providers.iter().find_map(token)
}

impl Invoice {
    /// Returns what time brings it next, where that does not come with its subscription.
    pub(crate) fn next_collection(&self) -> Option<(Timestamp, CollectionStep)> {
        if self.awaits_date {
            return Some((self.invoice_date, CollectionStep::Elapse));
        }
        match &self.paying {
            Some(attempt) => {
                Some((attempt.started_at.saturating_add(PATIENCE), CollectionStep::GiveUp))
            }
            None => self.auto_collection.next_attempt_at.map(|at| (at, CollectionStep::Begin)),
        }
    }

    /// Returns the payment of it that is under way: what a [gateway](crate::PaymentGateway) is asked for.
    #[must_use]
    pub fn started_payment(&self) -> Option<StartedPayment> {
        self.paying.as_ref().map(|attempt| StartedPayment {
            attempt_id: attempt.id,
            invoice_id: self.id,
            customer_id: self.customer_id,
            amount: attempt.amount.clone(),
            currency: self.currency,
            instrument: attempt.instrument.clone(),
            started_at: attempt.started_at,
        })
    }

    /// Schedules the first attempt of an invoice that was issued (invoicing 8.2), and of one that is to be paid
    /// after all.
    pub(super) fn schedule_collection(&mut self, at: Timestamp) {
        let is_issued = self.status == InvoiceStatus::Issued && self.sync_from.is_none();
        let is_collected = self.auto_collection.enabled && is_issued;
        if is_collected {
            self.auto_collection.next_attempt_at = Some(at).max(self.due_date);
            self.previous_dunning = self.dunning.take().or(self.previous_dunning.take());
        }
    }

    /// Refuses to begin an attempt by hand (invoicing 8.4).
    pub(crate) fn check_pay(&self) -> Result<(), Error> {
        self.check_status(&[InvoiceStatus::Issued])?;
        self.check_no_payment()?;
        if self.payment_attempts.len() >= limits::PAYMENT_ATTEMPTS {
            let most = limits::PAYMENT_ATTEMPTS;
            let detail = format!("{most} payments of the invoice were attempted, the most");
            return Err(Error::constraint(detail));
        }
        Ok(())
    }

    /// Refuses what cannot be while a payment is under way.
    pub(crate) fn check_no_payment(&self) -> Result<(), Error> {
        match self.paying {
            Some(_) => Err(Error::constraint("a payment of the invoice is under way")),
            None => Ok(()),
        }
    }

    /// Begins an attempt. Without an instrument it has failed.
    pub(crate) fn begin_payment(
        &mut self,
        instrument: Option<PaymentInstrument>,
        is_automatic: bool,
        at: Timestamp,
    ) -> Attempted {
        let number = self.auto_collection.num_attempts.saturating_add(1);
        let id = PaymentAttemptId::part_of(self.id.as_bytes(), &[&number.to_be_bytes()]);
        self.auto_collection.num_attempts = number;
        self.payment_started_at = Some(at);
        if is_automatic {
            self.auto_collection.previously_attempted_at = Some(at);
            self.auto_collection.next_attempt_at = None;
        }
        let amount = self.amount_due.clone();
        let Some(instrument) = instrument else {
            let failure = Some(PaymentFailure::NoInstrument);
            self.payment_failed_at = Some(at);
            self.note_attempt(PaymentAttempt {
                id,
                amount,
                created_at: at,
                succeeded: false,
                payment_provider: None,
                payment_provider_id: None,
                failure,
                receipt_at: None,
            });
            return Attempted::Failed;
        };
        self.paying = Some(Attempt { id, amount, instrument, started_at: at, is_automatic });
        Attempted::Begun
    }

    /// Ends an attempt that has failed. A retry that came meanwhile is yet to come.
    pub(crate) fn fail_payment(
        &mut self,
        attempt: Attempt,
        failure: PaymentFailure,
        provider: (Option<PaymentProvider>, Option<String>),
        at: Timestamp,
    ) {
        self.paying = None;
        self.payment_failed_at = Some(at);
        if let Some(next) = &mut self.auto_collection.next_attempt_at {
            *next = at.max(*next);
        }
        self.end_attempt(attempt, Err(failure), provider);
    }

    /// Ends an attempt that has succeeded, and returns what was paid beyond what is due (invoicing 8.2): below
    /// zero where more is due since a credit note was taken back.
    pub(crate) fn take_payment(
        &mut self,
        attempt: Attempt,
        provider: (Option<PaymentProvider>, Option<String>),
        received_at: Timestamp,
        at: Timestamp,
    ) -> Decimal {
        self.paying = None;
        let amount = attempt.amount.clone();
        self.end_attempt(attempt, Ok(at), provider);
        if self.status != InvoiceStatus::Issued {
            return amount;
        }
        (self.status, self.paid_at) = (InvoiceStatus::Paid, Some(at));
        self.payment_received_at = Some(received_at);
        let excess = &amount - &self.amount_due;
        self.amount_due = self.amount_due.clone().min(amount);
        excess
    }

    fn end_attempt(
        &mut self,
        attempt: Attempt,
        ended: Result<Timestamp, PaymentFailure>,
        (payment_provider, payment_provider_id): (Option<PaymentProvider>, Option<String>),
    ) {
        let Attempt { id, amount, started_at: created_at, .. } = attempt;
        self.note_attempt(PaymentAttempt {
            id,
            amount,
            created_at,
            succeeded: ended.is_ok(),
            payment_provider,
            payment_provider_id,
            failure: ended.err(),
            receipt_at: ended.ok(),
        });
    }

    /// Adds an attempt, in place of what was known of it.
    fn note_attempt(&mut self, attempt: PaymentAttempt) {
        match self.payment_attempts.iter_mut().find(|of| of.id == attempt.id) {
            Some(known) => *known = attempt,
            None => self.payment_attempts.push(attempt),
        }
    }

    /// Returns an attempt of which nobody had reported in time, to be settled after all.
    pub(crate) fn not_reported(&self, id: PaymentAttemptId) -> Option<Attempt> {
        let failure = Some(PaymentFailure::NotReported);
        let attempt = self.payment_attempts.iter().find(|of| of.id == id);
        attempt.filter(|of| of.failure == failure).map(|of| Attempt {
            id,
            amount: of.amount.clone(),
            instrument: PaymentInstrument::Token(String::new()),
            started_at: of.created_at,
            is_automatic: false,
        })
    }
}

/// What has become of an attempt that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempted {
    Begun,
    /// There is nothing to pay with.
    Failed,
}
