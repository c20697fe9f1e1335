//! Phases and trials of subscriptions that change.

use crate::{
    SubscriptionId, Timestamp,
    engine::{
        Account, Call,
        commands::plan_changes,
        kernel::{Op, Stop, Transaction, boxed},
        time::{current, trials},
    },
    subscription::{Subscription, SubscriptionEntry, TrialUpdate},
};

impl Account {
    /// Begins the next phase of the plan of a subscription at a date (subscriptions 3.4): that after the phase of then. It
    /// is the start of the current day in the customer's zone where none is given. Later phases follow with their whole
    /// lengths.
    ///
    /// What the phase before charges ends then, as with a change of plan. What was invoiced otherwise is billed anew, as
    /// with [`change_intervals`](Self::change_intervals), where the date has passed.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the subscription has ended, or does by the
    /// date; where its plan has no phases then, or no phase follows; where the date is not after the start of the phase,
    /// or before it was on its plan or its version; and where a migration is to move it.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, Timestamp, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, plan::NewPlan, subscription::NewSubscription};
    /// use accrue::plan::{NewPhase, PhaseDuration};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let usd = Currency::parse("USD")?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let mut ramp = NewPlan::new(Name::parse("Ramp")?, usd);
    /// ramp.phases = vec![NewPhase::lasting(PhaseDuration::months(2)), NewPhase::evergreen()];
    /// let ramp = account.create_plan(ramp).await?;
    /// let mut new = NewSubscription::new(ada.id, ramp.id);
    /// new.start_date = Some(Timestamp::parse("2026-01-15T00:00:00Z")?);
    /// let subscription = account.create_subscription(new).await?;
    /// let february = Timestamp::parse("2026-02-10T00:00:00Z")?;
    /// assert_eq!(subscription.active_phase(february).unwrap().order.number(), 1);
    /// assert_eq!(subscription.plans()[1].start_date.to_string(), "2026-03-15T00:00:00.000000Z");
    ///
    /// let subscription = account.trigger_phase(subscription.id, Some(february)).await?;
    /// assert_eq!(subscription.active_phase(february).unwrap().order.number(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn trigger_phase(&self, id: SubscriptionId, date: Option<Timestamp>) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("trigger_phase", (id, date), |tx, (id, date)| trigger_phase(tx, *id, *date)),
        )
    }

    /// Moves the end of the trial of a subscription (subscriptions 3.5), also of one that has ended. Where it would end
    /// with its start, there has never been one.
    ///
    /// What was charged otherwise is billed anew, as with [`change_intervals`](Self::change_intervals).
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the subscription has ended, the plan that it
    /// is on began without a trial, the end would not be within the subscription and that plan, or an interval would end
    /// before it begins; and where all that comes later is to move, and that has happened or is a migration.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, Timestamp, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, plan::NewPlan, subscription::NewSubscription};
    /// use accrue::subscription::{TrialEnd, TrialUpdate};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let plan = NewPlan::new(Name::parse("Pro")?, Currency::parse("USD")?);
    /// # let plan = account.create_plan(plan).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let mut new = NewSubscription::new(ada.id, plan.id);
    /// new.trial_days = Some(14);
    /// let subscription = account.create_subscription(new).await?;
    /// let end = subscription.trial_end().unwrap();
    ///
    /// let later = end.saturating_add(std::time::Duration::from_secs(86_400));
    /// let subscription = account.update_trial(subscription.id, TrialUpdate::at(later)).await?;
    /// assert_eq!(subscription.trial_end(), Some(later));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn update_trial(&self, id: SubscriptionId, update: TrialUpdate) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("update_trial", (id, update), |tx, (id, update)| {
                update_trial(tx, *id, *update)
            }),
        )
    }
}

#[boxed]
pub(super) async fn trigger_phase(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    date: Option<Timestamp>,
) -> Result<Subscription, Stop> {
    let before = current::subscription_to_change(tx, id).await?;
    let today = || before.subscription.timezone.begin_of_day_of(tx.now);
    let at = date.unwrap_or_else(today);
    let mut entry = before.clone();
    entry.subscription.trigger_phase(at, tx.now)?;
    plan_changes::save_plan_from(tx, &before, &mut entry, at).await?;
    Ok(entry.subscription)
}

#[boxed]
pub(super) async fn update_trial(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    update: TrialUpdate,
) -> Result<Subscription, Stop> {
    let before = current::subscription_to_change(tx, id).await?;
    let mut entry = before.clone();
    entry.subscription.update_trial(update, tx.now)?;
    follow(&mut entry, tx.now);
    trials::tell_end(tx, &mut entry, tx.now).await?;
    plan_changes::save_differences(tx, &before, &mut entry).await?;
    Ok(entry.subscription)
}

/// Lets a subscription be in the phase of now, whose begin may have moved.
fn follow(entry: &mut SubscriptionEntry, now: Timestamp) {
    let plan = entry.subscription.plan_at(now);
    entry.plan_since = entry.plan_since.map(|_| plan.start_date);
    if entry.plan_since.is_some() {
        entry.subscription.follow_plan(&plan);
    }
}
