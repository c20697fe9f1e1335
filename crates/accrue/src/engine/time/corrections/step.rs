//! Takes the steps of a customer's corrections, one commit each
//! (`docs/decisions/corrections-come-first.md`).

use async_trait::async_trait;

use crate::{
    AccountId, CustomerId, Error, Timestamp,
    backfill::Correction,
    engine::{
        kernel::{Applied, Command, Patience, Shared, Stop, Transaction, apply},
        time::transitions::apply_until,
    },
    schema::{self, Corrections, Progress},
};

/// Takes all steps of the corrections of a customer up to now, in commits of its own, as far as
/// somebody's patience goes.
pub(in crate::engine) async fn correct(
    shared: &Shared,
    account: &AccountId,
    customer: CustomerId,
    patience: &mut Patience,
) -> Result<(), Error> {
    loop {
        let stepped = match apply(shared, account, &Step { customer }, None).await? {
            Applied::Done(stepped) => stepped.result?,
            Applied::LostTheKey => return Err(Error::contended()),
            // What was done is not done again.
            Applied::Unknown(_, error) => return Err(Error::from(error).retry_doubles_nothing()),
        };
        match stepped {
            Stepped::On { work } => patience.take(work)?,
            Stepped::First(until) => {
                Box::pin(apply_until(shared, account, customer, until)).await?;
            }
            Stepped::Done => return Ok(()),
        }
    }
}

/// Next step of the corrections of a customer: so much as fits one commit.
pub(in crate::engine) struct Step {
    pub(in crate::engine) customer: CustomerId,
}

/// What a step has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Stepped {
    /// There may be another one. It has done so much work.
    On { work: usize },
    /// The transitions of the customer up to an instant come first.
    First(Timestamp),
    /// Nothing was left to do.
    Done,
}

#[async_trait]
impl Command for Step {
    type Outcome = Stepped;

    fn name(&self) -> &'static str {
        "correct"
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Stepped, Stop> {
        let customer = self.customer;
        tx.lock(&[customer.into()]).await?;
        let head = tx.get(&schema::customer_head(tx.account, customer)).await?.unwrap_or_default();
        let slot = schema::corrections(tx.account, customer);
        let corrections = tx.get(&slot).await?.unwrap_or_default();
        let progress = match corrections.progress {
            Some(progress) => progress,
            None => match tx.next_progress(customer, &corrections).await? {
                Some(progress) => progress,
                None => return Ok(Stepped::Done),
            },
        };
        let progress = match progress {
            Progress::Measuring { revision, behind } => {
                tx.measure(customer, &head, revision, behind).await?
            }
            Progress::Totalling { revision, behind } => {
                tx.total_anew(customer, &head, revision, behind).await?
            }
            Progress::Building { correction, behind } => {
                Some(tx.build(customer, &head, correction, behind).await?)
            }
            Progress::Built { correction, until } => {
                if tx.has_transitions_until(customer, correction.at).await? {
                    return Ok(Stepped::First(correction.at));
                }
                tx.publish(customer, correction, until).await?
            }
            Progress::CleaningUp { correction, behind } => {
                tx.clean_up(customer, correction, behind).await?
            }
        };
        // It was written where a correction was done.
        let corrections = tx.get(&slot).await?.unwrap_or_default();
        tx.put(&slot, &Corrections { progress, ..corrections })?;
        tx.reschedule(customer).await?;
        Ok(Stepped::On { work: tx.pace.spent() })
    }
}

impl Transaction<'_> {
    /// Tells whether a customer is to be corrected now, or is being.
    pub(in crate::engine) async fn is_to_be_corrected(
        &mut self,
        customer: CustomerId,
    ) -> Result<bool, Error> {
        let head =
            self.get(&schema::customer_head(self.account, customer)).await?.unwrap_or_default();
        let slot = schema::corrections(self.account, customer);
        let corrections = self.get(&slot).await?.unwrap_or_default();
        let is_own_scheduled = corrections.scheduled.first().is_some_and(|of| of.at <= self.now);
        Ok(corrections.progress.is_some()
            || is_own_scheduled
            || self.is_unmeasured(&head).await?
            || self.next_of_all(customer).await?.is_some())
    }

    /// Finds what is to be begun for a customer.
    async fn next_progress(
        &mut self,
        customer: CustomerId,
        corrections: &Corrections,
    ) -> Result<Option<Progress>, Error> {
        let head =
            self.get(&schema::customer_head(self.account, customer)).await?.unwrap_or_default();
        if self.is_unmeasured(&head).await? {
            let catalogue = self.get(&schema::metric_catalogue(self.account)).await?;
            let revision = catalogue.unwrap_or_default().revision;
            return Ok(Some(Progress::Measuring { revision, behind: None }));
        }
        let own = corrections.scheduled.first().copied().filter(|of| of.at <= self.now);
        let of_all = self.next_of_all(customer).await?;
        let Some(correction) = own.into_iter().chain(of_all).min() else { return Ok(None) };
        if of_all == Some(correction) {
            self.begin_of_all(correction).await?;
        }
        Ok(Some(Progress::Building { correction, behind: None }))
    }

    /// Notes that a correction of all customers has begun, with the first of them: from then on it is
    /// due, whatever the time is elsewhere, and its backfill takes no more. Tells whether it had not.
    pub(super) async fn begin_of_all(&mut self, begun: Correction) -> Result<bool, Error> {
        let slot = schema::account_corrections(self.account);
        let mut all = self.get(&slot).await?.unwrap_or_default();
        let own = all.corrections.iter_mut().find(|of| of.correction == begun);
        let begins = own.is_some_and(|own| !std::mem::replace(&mut own.has_begun, true));
        if begins {
            self.put(&slot, &all)?;
        }
        Ok(begins)
    }

    /// Notes that a correction is done for a customer.
    pub(super) async fn end_correction(
        &mut self,
        customer: CustomerId,
        done: Correction,
    ) -> Result<(), Error> {
        let slot = schema::corrections(self.account, customer);
        let mut corrections = self.get(&slot).await?.unwrap_or_default();
        let all = self.get(&schema::account_corrections(self.account)).await?.unwrap_or_default();
        let all: Vec<_> = all.corrections.into_iter().map(|of| of.correction).collect();
        corrections.scheduled.retain(|of| *of != done);
        corrections.done.push(done);
        corrections.done.retain(|of| all.contains(of));
        self.put(&slot, &corrections)
    }
}
