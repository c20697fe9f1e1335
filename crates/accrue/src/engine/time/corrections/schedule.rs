//! Schedule of corrections, and what of it comes before an operation.

use crate::{
    CustomerId, Error, Timestamp,
    backfill::{Backfill, Correction, Effect},
    engine::kernel::{Stop, Transaction},
    schema::{self, AccountCorrection, CustomerHead, Deadline, Owner, Progress},
};

/// Schedule of corrections, for one customer or for all.
impl Transaction<'_> {
    /// Says when a backfill is reflected or reverted for its customer, or for all: in place of what
    /// was said before.
    pub(in crate::engine) async fn schedule(
        &mut self,
        backfill: &Backfill,
        effect: Effect,
        at: Timestamp,
    ) -> Result<(), Error> {
        self.unschedule(backfill).await?;
        let correction = Correction { at, backfill_id: backfill.id, effect };
        if at <= self.now {
            self.make_due(Owner::Backfill(backfill.id));
        }
        if let Some(customer_id) = backfill.customer_id {
            let slot = schema::corrections(self.account, customer_id);
            let mut corrections = self.get(&slot).await?.unwrap_or_default();
            corrections.scheduled.push(correction);
            corrections.scheduled.sort();
            self.put(&slot, &corrections)?;
            return self.reschedule(customer_id).await;
        }
        let slot = schema::account_corrections(self.account);
        let mut all = self.get(&slot).await?.unwrap_or_default();
        all.corrections.push(AccountCorrection { correction, has_begun: false });
        all.corrections.sort_by_key(|of| of.correction);
        self.put(&slot, &all)?;
        let (account, owner) = (self.account.clone(), Owner::Backfill(backfill.id));
        let deadline = Deadline { at, account, owner, cursor: None };
        self.put(&schema::deadline(at, self.account, owner), &deadline)
    }

    /// Takes back when a backfill was to be reflected or reverted.
    pub(in crate::engine) async fn unschedule(&mut self, backfill: &Backfill) -> Result<(), Error> {
        let is_other = |correction: &Correction| correction.backfill_id != backfill.id;
        if let Some(customer_id) = backfill.customer_id {
            let slot = schema::corrections(self.account, customer_id);
            let mut corrections = self.get(&slot).await?.unwrap_or_default();
            corrections.scheduled.retain(is_other);
            self.put(&slot, &corrections)?;
            return self.reschedule(customer_id).await;
        }
        let slot = schema::account_corrections(self.account);
        let mut all = self.get(&slot).await?.unwrap_or_default();
        let (gone, rest) = all.corrections.into_iter().partition(|of| !is_other(&of.correction));
        all.corrections = rest;
        self.put(&slot, &all)?;
        let gone: Vec<AccountCorrection> = gone;
        for AccountCorrection { correction, .. } in gone {
            let owner = Owner::Backfill(backfill.id);
            self.delete(&schema::deadline(correction.at, self.account, owner));
        }
        Ok(())
    }

    /// Makes sure that the corrections of a backfill up to now are done, for all of its customers: that comes first.
    pub(in crate::engine) async fn current_backfill(
        &mut self,
        backfill: &Backfill,
    ) -> Result<(), Stop> {
        let now = self.now;
        let is_own = |correction: &Correction| correction.backfill_id == backfill.id;
        if let Some(customer_id) = backfill.customer_id {
            let slot = schema::corrections(self.account, customer_id);
            let corrections = self.get(&slot).await?.unwrap_or_default();
            let is_under_way = corrections.progress.as_ref().is_some_and(Progress::is_correcting);
            let mut scheduled = corrections.scheduled.iter().filter(|of| is_own(of));
            return match scheduled.any(|of| is_under_way || of.at <= now) {
                true => Err(Stop::First(vec![Owner::Customer(customer_id)])),
                false => Ok(()),
            };
        }
        let all = self.get(&schema::account_corrections(self.account)).await?.unwrap_or_default();
        let mut scheduled = all.corrections.iter().filter(|of| is_own(&of.correction));
        match scheduled.any(|of| of.has_begun || of.correction.at <= now) {
            true => Err(Stop::First(vec![Owner::Backfill(backfill.id)])),
            false => Ok(()),
        }
    }

    /// Tells whether something comes first, before anybody writes for a customer.
    pub(in crate::engine) async fn has_transitions(
        &mut self,
        customer: CustomerId,
        head: &CustomerHead,
    ) -> Result<bool, Error> {
        if head.deadline.is_some_and(|deadline| deadline <= self.now) {
            return Ok(true);
        }
        Ok(self.is_unmeasured(head).await? || self.next_of_all(customer).await?.is_some())
    }

    /// Notes for a customer that is about to get its first event that nothing of it is corrected by what
    /// is due for all: what comes now comes after.
    pub(in crate::engine) async fn begin_customer(
        &mut self,
        customer: CustomerId,
    ) -> Result<(), Error> {
        while let Some(correction) = self.next_of_all(customer).await? {
            self.begin_of_all(correction).await?;
            self.end_correction(customer, correction).await?;
        }
        Ok(())
    }

    /// Tells whether the events of a customer are to be measured by more than they were.
    pub(in crate::engine) async fn is_unmeasured(
        &mut self,
        head: &CustomerHead,
    ) -> Result<bool, Error> {
        if head.accepted == 0 {
            return Ok(false);
        }
        let catalogue = self.get(&schema::metric_catalogue(self.account)).await?;
        Ok(catalogue.is_some_and(|catalogue| head.measured < catalogue.revision))
    }

    /// Returns the first correction of all customers that is due, and not done for one.
    pub(super) async fn next_of_all(
        &mut self,
        customer: CustomerId,
    ) -> Result<Option<Correction>, Error> {
        let now = self.now;
        let all = self.get(&schema::account_corrections(self.account)).await?.unwrap_or_default();
        let begun = all.corrections.iter().filter(|of| of.has_begun || of.correction.at <= now);
        let begun: Vec<_> = begun.map(|of| of.correction).collect();
        if begun.is_empty() {
            return Ok(None);
        }
        let slot = schema::corrections(self.account, customer);
        let done = self.get(&slot).await?.unwrap_or_default().done;
        Ok(begun.into_iter().find(|of| !done.contains(of)))
    }
}
