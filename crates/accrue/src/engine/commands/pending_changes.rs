//! Changes of subscriptions that wait to be applied (`docs/decisions/changes-that-wait.md`).

mod lists;
mod payment;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    CreditNoteId, Error, ErrorKind, InvoiceId, SubscriptionChangeId, SubscriptionId,
    engine::{
        Account, Call,
        commands::{
            changed::{self, ChangedResources},
            interval_changes, invoices, phases, plan_changes, subscription_changes, subscriptions,
        },
        kernel::{Command, Op, Request, Stop, Transaction, boxed},
        rows::{self, credit_notes, pending_changes},
        time::current,
    },
    idempotency::Fingerprint,
    invoice::{CreditNote, Invoice, PaidElsewhere},
    related::{Names, Naming, Related},
    schema::Index,
    subscription::{
        ChangeEnd, ChangeRequest, ChangeStatus, MadeByChange, Subscription, SubscriptionChange,
        effective_date,
    },
};

/// Change of a subscription, with the subscription as it leaves that (subscriptions 4.5).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedSubscription {
    /// The change.
    pub change: SubscriptionChange,
    /// Subscription: as it would be, while the change waits and can be applied; else as it is. None where there is none,
    /// since a change that would create it is cancelled or cannot be applied.
    pub subscription: Option<Subscription>,
    /// Invoices and credit notes that the change makes, or made: none where it does not take effect.
    pub resources: ChangedResources,
}

/// Names what the subscription names, and its invoices and credit notes.
impl Naming for ChangedSubscription {
    fn name(&self, names: &mut Names) {
        self.subscription.iter().for_each(|of| of.name(names));
        self.resources.name(names);
    }
}

impl<T: Send + 'static> Call<T> {
    /// Lets the change of a subscription wait until it is [applied](Account::apply_subscription_change) (subscriptions
    /// 4.1), and returns the answer that it would have now with the change that waits. Nothing else is written: a
    /// subscription that it would create does not exist, and another goes on as it was, with no other change than this
    /// one until that is applied or cancelled, or has [expired](crate::account::Configuration::pending_change_hours).
    ///
    /// # Errors
    ///
    /// Errors of the operation; [`RequestValidation`](crate::ErrorKind::RequestValidation) where it is none that can wait:
    /// the creation of a subscription, another quantity of a fee, other intervals, another plan, its next phase, or
    /// another end of a trial.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, plan::NewPlan, subscription::NewSubscription};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let plan = NewPlan::new(Name::parse("Pro")?, Currency::parse("USD")?);
    /// # let plan = account.create_plan(plan).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let call = account.create_subscription(NewSubscription::new(ada.id, plan.id));
    /// let (preview, change) = call.staged().await?;
    /// assert!(account.fetch_subscription(preview.id).await.is_err_and(|error| error.is_not_found()));
    /// let applied = account.apply_subscription_change(change.id, Default::default()).await?;
    /// assert_eq!(applied.subscription.map(|pro| pro.id), Some(preview.id));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn staged(self) -> Call<(T, SubscriptionChange)> {
        let (account, request) = self.into_parts();
        Call::new(&account, Staged { request })
    }
}

impl Account {
    /// Applies a change that waits (subscriptions 4.6): the operation runs now, and words for an instant mean that of now.
    /// Where it is refused, the change goes on to wait.
    ///
    /// Money that was collected elsewhere goes to the customer's balance. Invoices of fees in advance are issued at once
    /// where there is some or where they are said to be paid, also where somebody would have to issue them.
    ///
    /// # Errors
    ///
    /// Errors of the operation; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the change was applied
    /// or cancelled already, or has expired, and where money was collected for a customer of an invoicing provider, whose
    /// balance pays for nothing; [`RequestValidation`](crate::ErrorKind::RequestValidation) where the amount is below zero,
    /// or has more digits than the currency.
    pub fn apply_subscription_change(
        &self,
        id: SubscriptionChangeId,
        how: PaidElsewhere,
    ) -> Call<ChangedSubscription> {
        Call::new(
            self,
            Op::new("apply_subscription_change", (id, how), |tx, (id, how)| apply(tx, *id, how)),
        )
    }

    /// Cancels a change that waits (subscriptions 4.2): it cannot be applied any more.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it was applied or cancelled already, or has
    /// expired.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, plan::NewPlan, subscription::NewSubscription};
    /// use accrue::subscription::ChangeStatus;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let plan = NewPlan::new(Name::parse("Pro")?, Currency::parse("USD")?);
    /// # let plan = account.create_plan(plan).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let call = account.create_subscription(NewSubscription::new(ada.id, plan.id));
    /// let (_, change) = call.staged().await?;
    /// let cancelled = account.cancel_subscription_change(change.id).await?;
    /// assert_eq!(cancelled.change.status(account.billing().now()), ChangeStatus::Cancelled);
    /// assert_eq!(cancelled.subscription, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn cancel_subscription_change(
        &self,
        id: SubscriptionChangeId,
    ) -> Call<ChangedSubscription> {
        Call::new(self, Op::new("cancel_subscription_change", id, |tx, id| cancel(tx, *id)))
    }

    /// Returns a change (subscriptions 4.5).
    pub async fn fetch_subscription_change(
        &self,
        id: SubscriptionChangeId,
    ) -> Result<SubscriptionChange, Error> {
        pending_changes::change(&mut self.reading(), id).await
    }

    /// Returns a change with the subscription as it leaves that (subscriptions 4.5): while it waits, as it would by now.
    pub async fn changed_subscription(
        &self,
        id: SubscriptionChangeId,
    ) -> Result<ChangedSubscription, Error> {
        self.changed(id).dry_run().await
    }

    /// Returns the same with the resources that it names, of which a change that waits may have some that are nowhere else.
    pub async fn changed_subscription_with_related(
        &self,
        id: SubscriptionChangeId,
    ) -> Result<(ChangedSubscription, Related), Error> {
        self.changed(id).with_related().dry_run().await
    }

    fn changed(&self, id: SubscriptionChangeId) -> Call<ChangedSubscription> {
        Call::new(self, Op::new("changed_subscription", id, |tx, id| shown(tx, *id)))
    }
}

struct Staged<T> {
    request: Arc<dyn Request<Outcome = T>>,
}

#[async_trait]
impl<T: Send> Command for Staged<T> {
    type Outcome = (T, SubscriptionChange);

    fn name(&self) -> &'static str {
        "stage_subscription_change"
    }

    fn subject(&self) -> Option<String> {
        self.request.subject()
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Self::Outcome, Stop> {
        let request = parse(self.request.written()?)?;
        let earlier = tx.all_writes()?;
        let outcome = self.request.run(tx).await?;
        tx.check_writes(earlier.len())?;
        let change = stage(tx, earlier, &request).await?;
        Ok((outcome, change))
    }
}

impl<T: Send> Request for Staged<T> {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        let own = self.request.fingerprint()?.to_string();
        Ok(Fingerprint::of(["staged", &own]))
    }
}

/// Reads a request that was written down, where it is one that can wait.
fn parse(written: Option<Value>) -> Result<ChangeRequest, Error> {
    let request = written.and_then(|written| serde_json::from_value(written).ok());
    request.ok_or_else(|| {
        let message = "found one that takes effect at once, expected one that can wait";
        Error::invalid("operation", message)
    })
}

/// Puts a change that waits in the place of what its request has just written.
#[boxed]
async fn stage(
    tx: &mut Transaction<'_>,
    earlier: Vec<crate::store::Change>,
    request: &ChangeRequest,
) -> Result<SubscriptionChange, Stop> {
    let subscription_id = match request.subscription_id() {
        Some(id) => id,
        None => created(tx)?,
    };
    let missing = || Error::corrupt("a change has left no subscription");
    let after =
        rows::subscriptions::subscription(tx, subscription_id).await?.ok_or_else(missing)?;
    tx.set_writes(earlier);
    let before = match request.subscription_id() {
        Some(id) => Some(rows::subscriptions::subscription_entry(tx, id).await?.subscription),
        None => None,
    };
    let hours = rows::account::account_entry(tx).await?.configuration.pending_change_hours;
    let id = SubscriptionChangeId::generate(tx.now, tx.entropy());
    let states = (before.as_ref(), &after.subscription);
    let change = SubscriptionChange::stage(id, request, states, hours, tx.now);
    Ok(pending_changes::save_new(tx, change, request).await?)
}

/// Returns the id of the subscription that was created.
fn created(tx: &Transaction<'_>) -> Result<SubscriptionId, Error> {
    let ids = changed::made(tx, &Index::subscriptions(tx.account))?;
    let missing = || Error::corrupt("no subscription was created");
    ids.first().map(|id| SubscriptionId::from_bytes(*id)).ok_or_else(missing)
}

/// Runs the request of a change: a subscription that it creates has this id.
#[boxed]
async fn run(
    tx: &mut Transaction<'_>,
    request: &ChangeRequest,
    id: SubscriptionId,
) -> Result<Subscription, Stop> {
    match request {
        ChangeRequest::CreateSubscription(new) => {
            subscriptions::create_subscription(tx, Some(id), new).await
        }
        ChangeRequest::UpdateFixedFeeQuantity(id, change) => {
            subscription_changes::update_fee_quantity(tx, *id, change).await
        }
        ChangeRequest::ChangeIntervals(id, changes) => {
            interval_changes::change_intervals(tx, *id, changes).await
        }
        ChangeRequest::SchedulePlanChange(id, change) => {
            plan_changes::schedule_plan_change(tx, *id, change).await
        }
        ChangeRequest::TriggerPhase(id, date) => phases::trigger_phase(tx, *id, *date).await,
        ChangeRequest::UpdateTrial(id, update) => phases::update_trial(tx, *id, *update).await,
        ChangeRequest::LeavingInvoices(of) => {
            let subscription = run(tx, of, id).await?;
            changed::check_left(tx, &subscription).await?;
            Ok(subscription)
        }
    }
}

/// Returns a change whose customer is applied.
async fn current_change(
    tx: &mut Transaction<'_>,
    id: SubscriptionChangeId,
) -> Result<SubscriptionChange, Stop> {
    let change = pending_changes::change(tx, id).await?;
    current::current_head(tx, change.customer_id).await?;
    Ok(change)
}

#[boxed]
async fn apply(
    tx: &mut Transaction<'_>,
    id: SubscriptionChangeId,
    how: &PaidElsewhere,
) -> Result<ChangedSubscription, Stop> {
    how.check()?;
    let mut change = current_change(tx, id).await?;
    change.check_pending(tx.now)?;
    let request = pending_changes::request(tx, &change).await?;
    let before = as_it_is(tx, &change).await?;
    pending_changes::unmark(tx, &change).await?;
    payment::begin(tx, &change, how).await?;
    let subscription = run(tx, &request, change.subscription_id).await?;
    payment::settle(tx, &change, how).await?;
    let resources = changed::changed(tx, &subscription).await?;
    change.effective_date = effective_date(before.as_ref(), &subscription, tx.now);
    let end = ChangeEnd::Applied { at: tx.now, made: resources.ids() };
    let change = pending_changes::end(tx, change, end).await?;
    // What was issued beside it has moved the subscription on.
    let subscription = as_applied(tx, &change).await?;
    Ok(ChangedSubscription { change, subscription, resources })
}

#[boxed]
async fn cancel(
    tx: &mut Transaction<'_>,
    id: SubscriptionChangeId,
) -> Result<ChangedSubscription, Stop> {
    let change = current_change(tx, id).await?;
    change.check_pending(tx.now)?;
    pending_changes::unmark(tx, &change).await?;
    let end = ChangeEnd::Cancelled { at: tx.now };
    let change = pending_changes::end(tx, change, end).await?;
    let subscription = as_it_is(tx, &change).await?;
    Ok(ChangedSubscription { change, subscription, resources: ChangedResources::default() })
}

#[boxed]
async fn shown(
    tx: &mut Transaction<'_>,
    id: SubscriptionChangeId,
) -> Result<ChangedSubscription, Stop> {
    let change = current_change(tx, id).await?;
    let (subscription, resources) = match (&change.end, change.status(tx.now)) {
        (Some(ChangeEnd::Applied { made, .. }), _) => {
            (as_applied(tx, &change).await?, resources_of(tx, made).await?)
        }
        (_, ChangeStatus::Pending) => preview(tx, &change).await?,
        _ => (as_it_is(tx, &change).await?, ChangedResources::default()),
    };
    Ok(ChangedSubscription { change, subscription, resources })
}

/// Runs a change that waits, in a transaction that is never committed. Where it is refused by now, the subscription is as it
/// is.
async fn preview(
    tx: &mut Transaction<'_>,
    change: &SubscriptionChange,
) -> Result<(Option<Subscription>, ChangedResources), Stop> {
    let request = pending_changes::request(tx, change).await?;
    let earlier = tx.all_writes()?;
    pending_changes::unmark(tx, change).await?;
    match run(tx, &request, change.subscription_id).await {
        Ok(subscription) => {
            let resources = changed::changed(tx, &subscription).await?;
            Ok((Some(subscription), resources))
        }
        Err(Stop::Error(error)) if is_refusal(&error) => {
            tx.set_writes(earlier);
            Ok((as_it_is(tx, change).await?, ChangedResources::default()))
        }
        Err(stop) => Err(stop),
    }
}

/// Tells whether a change is refused, as the state is by now.
fn is_refusal(error: &Error) -> bool {
    error.is_an_answer() || error.kind() == ErrorKind::RequestValidation
}

/// Returns the subscription of a change that has no effect: none where that would create it.
async fn as_it_is(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
) -> Result<Option<Subscription>, Error> {
    if of.creates() { Ok(None) } else { as_applied(tx, of).await }
}

async fn as_applied(
    tx: &mut Transaction<'_>,
    of: &SubscriptionChange,
) -> Result<Option<Subscription>, Error> {
    let entry = rows::subscriptions::subscription_entry(tx, of.subscription_id).await?;
    Ok(Some(entry.subscription))
}

/// Reads what a change has made, and made void: without drafts that are gone since.
async fn resources_of(
    tx: &mut Transaction<'_>,
    made: &MadeByChange,
) -> Result<ChangedResources, Error> {
    Ok(ChangedResources {
        created_invoices: invoices_of(tx, &made.created_invoices).await?,
        voided_invoices: invoices_of(tx, &made.voided_invoices).await?,
        created_credit_notes: notes_of(tx, &made.created_credit_notes).await?,
        voided_credit_notes: notes_of(tx, &made.voided_credit_notes).await?,
    })
}

async fn invoices_of(tx: &mut Transaction<'_>, ids: &[InvoiceId]) -> Result<Vec<Invoice>, Error> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(invoices::found(tx, *id).await?);
    }
    Ok(found)
}

async fn notes_of(
    tx: &mut Transaction<'_>,
    ids: &[CreditNoteId],
) -> Result<Vec<CreditNote>, Error> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.push(credit_notes::credit_note(tx, *id).await?);
    }
    Ok(found)
}
