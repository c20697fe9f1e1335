//! Changes of the plans of subscriptions.

use crate::{
    Currency, Error, InstantRange, Page, PageRequest, SubscriptionId, Timestamp,
    engine::{
        Account, Call,
        commands::{hierarchies, prices, subscription_changes, subscriptions},
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, lists::page_in_order, outbox},
        time::{current, plan_changes},
    },
    page::Listing,
    schema,
    subscription::{NextPlan, PlanChange, PlanStretch, Subscription, SubscriptionEntry, Terms},
    webhook::Body,
};

impl Account {
    /// Changes the plan of a subscription: now, at the end of its term, or at a date, also one in the past of the
    /// current billing period (subscriptions 3.2).
    ///
    /// All that it is charged ends then, add-ons too, and the prices and adjustments of the new plan begin; coupons
    /// live on. Usage before is billed by the old plan. Unused days of fees in advance are credited, and those of the
    /// new plan are charged for the rest. What was to start from then on is dropped: later changes of plan, and an
    /// end. What was invoiced otherwise is billed anew, as with [`change_intervals`](Self::change_intervals).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the date is behind the end of the
    /// subscription, or there is no such day to begin billing cycles on;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the date is before the current billing
    /// period, another plan is a draft or archived, the plan is invoiced in another currency, the coupon [cannot be redeemed](Self::redeem_coupon), an
    /// adjustment cannot be over its prices, or a customer whose usage is to count is neither the subscriber nor one of
    /// its children; for the prices of the version those of
    /// [`create_subscription`](Self::create_subscription);
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such plan, version, coupon or customer.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, plan::NewPlan, subscription::NewSubscription};
    /// use accrue::subscription::{PlanChange, PlanChangeTiming};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let usd = Currency::parse("USD")?;
    /// # let pro = account.create_plan(NewPlan::new(Name::parse("Pro")?, usd)).await?;
    /// # let max = account.create_plan(NewPlan::new(Name::parse("Max")?, usd)).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let subscription = account.create_subscription(NewSubscription::new(ada.id, pro.id)).await?;
    /// let mut change = PlanChange::immediate(max.id);
    /// change.when = PlanChangeTiming::EndOfSubscriptionTerm;
    /// let subscription = account.schedule_plan_change(subscription.id, change).await?;
    /// let [now, then] = subscription.plans().try_into().unwrap();
    /// assert_eq!((now.plan_id, then.plan_id), (Some(pro.id), Some(max.id)));
    ///
    /// let subscription = account.unschedule_plan_changes(subscription.id).await?;
    /// assert_eq!(subscription.plans().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn schedule_plan_change(
        &self,
        id: SubscriptionId,
        change: PlanChange,
    ) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("schedule_plan_change", (id, change), |tx, (id, change)| {
                schedule_plan_change(tx, *id, change)
            }),
        )
    }

    /// Lists the plans that a subscription was on, is on and will be on, the last one first (subscriptions 3.7). What
    /// begins within a range is listed; versions of one plan are one row.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn plan_schedule(
        &self,
        id: SubscriptionId,
        starts: InstantRange,
        page: &PageRequest,
    ) -> Result<Page<PlanStretch>, Error> {
        plan_schedule(&mut self.reading(), id, starts, page).await
    }

    /// Drops the changes of plan of a subscription that are still to come (subscriptions 3.3). What ends with the
    /// first of them goes on, up to the end of the subscription; what was to start later is gone.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where none is scheduled;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the subscription has ended.
    pub fn unschedule_plan_changes(&self, id: SubscriptionId) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("unschedule_plan_changes", id, |tx, id| unschedule_plan_changes(tx, *id)),
        )
    }
}

#[boxed]
async fn plan_schedule(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    starts: InstantRange,
    page: &PageRequest,
) -> Result<Page<PlanStretch>, Error> {
    let subscription = rows::subscriptions::subscription_entry(tx, id).await?.subscription;
    let filter = format!("{id} {starts:?}");
    let listing = Listing { name: "plan_schedule", account: tx.account, filter };
    let stretches = subscription.plan_stretches().into_iter();
    let wanted = stretches.filter(|of| starts.contains(of.start_date));
    let placed = wanted.map(|of| (schema::position_of(of.start_date, id.as_bytes()), of));
    page_in_order(&listing, page, page.rows()?, placed)
}

#[boxed]
pub(super) async fn schedule_plan_change(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    change: &PlanChange,
) -> Result<Subscription, Stop> {
    change.check()?;
    rows::prices::check_adjusted(tx, &change.adjustments.added()).await?;
    let before = current::subscription_to_change(tx, id).await?;
    let of = &before.subscription;
    let at = change.when.decide(of, tx.now)?;
    let plan = rows::plans::plan(tx, &change.plan).await?;
    if of.plan_id != Some(plan.id) {
        plan.check_active()?;
    }
    check_currency(plan.currency, of.currency)?;
    let plan_version = change.plan_version.unwrap_or(plan.version);
    let version = rows::plans::plan_version(tx, plan.id, plan_version).await?;
    let prices = rows::prices::prices(tx, &version.prices).await?;
    let prices = subscriptions::agreed_prices(tx, prices, &change.prices, plan.currency).await?;
    let terms = Terms {
        plan: Some(&plan),
        plan_version,
        currency: plan.currency,
        prices: &prices,
        adjustments: (&version.adjustments, &change.adjustments),
        initial_phase: change.initial_phase,
        trial_days: change.trial_days,
        filter: change.filter.as_ref(),
        usage_customers: change.usage_customers.as_ref(),
    };
    let seed = SubscriptionId::generate(tx.now, tx.entropy());
    let next = NextPlan { seed, start_date: at, terms };
    let mut entry = before.clone();
    entry.subscription.change_plan(change, &next, tx.now)?;
    rows::coupons::give_back(tx, of, &entry.subscription).await?;
    if let Some(code) = change.coupon_redemption_code.clone() {
        let mut coupon = rows::coupons::coupon(tx, &code.into()).await?;
        coupon.redeem(&mut entry.subscription, &prices.prices(), at, tx.now)?;
        rows::coupons::save_redeemed(tx, &coupon, &entry.subscription)?;
    }
    let given = entry.subscription.given_adjustments();
    let known: Vec<_> = version.adjustments.into_iter().chain(of.given_adjustments()).collect();
    rows::prices::save_adjustments(tx, &given, &known)?;
    prices::note_usage(tx, &mut entry).await?;
    hierarchies::note_usage_customers(tx, Some(&before.subscription), &entry.subscription).await?;
    if let (Some(end), None) = (of.end_date, entry.subscription.end_date) {
        let body = Body::SubscriptionCancellationUnscheduled {
            subscription_id: id,
            original_cancellation_date: end,
        };
        outbox::tell(tx, of.customer_id, tx.now, body).await?;
    }
    save_plan_from(tx, &before, &mut entry, at).await?;
    Ok(entry.subscription)
}

/// Writes a subscription that is on another plan, or another version of its plan, from an instant on, and tells of it.
pub(super) async fn save_plan_from(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    entry: &mut SubscriptionEntry,
    at: Timestamp,
) -> Result<(), Error> {
    let (now, mut alerts) = (tx.now, Vec::new());
    if at <= now.max(before.subscription.start_date) {
        alerts = plan_changes::take_on(tx, entry, at, now).await?;
    } else {
        plan_changes::tell_scheduled(tx, &entry.subscription, at).await?;
    }
    // What was still to come, and is dropped, may have cut something short before.
    let since = entry.subscription.plans_differ_since(&before.subscription);
    let since = since.map_or(at, |since| since.min(at));
    subscription_changes::save_terms(tx, before, entry, since).await?;
    let muted = entry.muted.clone();
    plan_changes::judge(tx, entry, &alerts, now).await?;
    if entry.muted == muted {
        return Ok(());
    }
    rows::subscriptions::save_subscription(tx, entry).await
}

/// Writes a subscription whose terms have changed, from where they differ on.
pub(super) async fn save_differences(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let since = entry.subscription.terms_differ_since(&before.subscription);
    subscription_changes::save_terms(tx, before, entry, since.unwrap_or(tx.now)).await
}

#[boxed]
async fn unschedule_plan_changes(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
) -> Result<Subscription, Stop> {
    let before = current::subscription_to_change(tx, id).await?;
    before.subscription.check_not_ended(tx.now)?;
    let mut entry = before.clone();
    if !entry.subscription.drop_plan_changes(tx.now) {
        let message = format!("found {id}, of which no change of plan is scheduled");
        return Err(Error::invalid("subscription_id", message).into());
    }
    rows::coupons::give_back(tx, &before.subscription, &entry.subscription).await?;
    prices::note_usage(tx, &mut entry).await?;
    save_differences(tx, &before, &mut entry).await?;
    Ok(entry.subscription)
}

/// Refuses a plan that is invoiced in another currency (subscriptions 3.2).
fn check_currency(found: Currency, own: Currency) -> Result<(), Error> {
    if found == own {
        return Ok(());
    }
    let (found, own) = (found.code(), own.code());
    let detail = format!("the plan is invoiced in {found}, the customer in {own}");
    Err(Error::constraint(detail))
}
