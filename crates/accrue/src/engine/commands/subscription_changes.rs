//! Changes of subscriptions: edits, cancellations, ends that are taken back, and quantities of fees.

use crate::{
    Error, IdOr, PriceId, SubscriptionId, Timestamp,
    engine::{
        Account, Call,
        commands::{changed, licenses, prices},
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, active, outbox},
        time::{
            allocations, crediting, current, invoicing, plan_changes, rebilling, recount, rewinding,
        },
    },
    subscription::{
        Cancellation, FeeQuantityChange, Notified, Subscription, SubscriptionEntry,
        SubscriptionStatus, SubscriptionUpdate, previous_attributes, unscheduled_end,
    },
    time::INSTANT,
    webhook::Body,
};

impl Account {
    /// Changes the name, the metadata or the carried fields of a subscription (wire 5.1).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where those are out of bounds;
    /// [`ResourceTooLarge`](crate::ErrorKind::ResourceTooLarge) where the subscription would have more
    /// than [50 KiB](crate::limits::SUBSCRIPTION_BYTES).
    pub fn update_subscription(
        &self,
        id: SubscriptionId,
        update: SubscriptionUpdate,
    ) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("update_subscription", (id, update), |tx, (id, update)| {
                update_subscription(tx, *id, update)
            }),
        )
    }

    /// Cancels a subscription: now, when its term ends, or at a date, also one that has passed.
    ///
    /// What fees in advance were billed for days behind the end is credited. Where the date has passed,
    /// what was invoiced from then on is taken back (invoicing 6.2): issued invoices are void, drafts are
    /// gone, and a closing invoice bills what was used up to the date.
    /// [`leaving_invoices`](Call::leaving_invoices) refuses that.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it has ended already, the date
    /// lies before its start, more than [100](crate::limits::REWOUND) billing periods or invoices would be
    /// taken back, or one of those was paid for or synced, or is about to be; and where fees would be credited to a customer
    /// of an invoicing provider, whose balance pays for nothing (invoicing 10.6).
    pub fn cancel_subscription(
        &self,
        id: SubscriptionId,
        cancellation: Cancellation,
    ) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("cancel_subscription", (id, cancellation), |tx, (id, cancellation)| {
                cancel_subscription(tx, *id, *cancellation)
            }),
        )
    }

    /// Takes back the end of a subscription where it lies in the future (wire 5.1): it goes on without
    /// one. Whether a cancellation or its creation gave it that end is the same; an end that a
    /// cancellation had replaced does not come back. Phases and changes of plan from the end on are gone for good: what
    /// there is by then goes on.
    ///
    /// Charges that depend on the end are judged anew at once, as where an end is given: fees that were
    /// prorated to it are whole again.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where no end is known, or it has passed.
    pub fn unschedule_cancellation(&self, id: SubscriptionId) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("unschedule_cancellation", id, |tx, id| unschedule_cancellation(tx, *id)),
        )
    }

    /// Changes the quantity of a fixed fee: now, with its next billing period, or at a date (wire
    /// 5.1).
    ///
    /// Within a billing period the fee is that of each quantity for its days, in the zone of the
    /// customer: the day of a change is one of the new quantity. In advance the difference falls due
    /// with the change; in arrears all of it when the period ends. A date may lie in the past:
    /// what was invoiced otherwise is billed anew, as with [`change_intervals`](Self::change_intervals). Later changes of
    /// the fee stay, one at the same instant is replaced. Where the fee has that quantity then already, nothing changes.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the price is no fixed fee
    /// of the plan version, the subscription has not begun or has ended, no billing period of the fee holds the date or
    /// comes next, the quantities of its fees have changed [500](crate::limits::FEE_CHANGES) times, more than
    /// [100](crate::limits::REWOUND) billing periods would be billed anew, or an invoice of theirs is synced or about to
    /// be;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the quantity is negative;
    /// [`ResourceTooLarge`](crate::ErrorKind::ResourceTooLarge) where the subscription would have more
    /// than [50 KiB](crate::limits::SUBSCRIPTION_BYTES).
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, item::NewItem, plan::NewPlan};
    /// # use accrue::{price::{Cadence, NewPrice}, subscription::{BillingAnchor, NewSubscription}};
    /// use accrue::{cost::CostQuery, subscription::FeeQuantityChange};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// # let seat = NewPrice::builder(Name::parse("seat")?, item.id).billed(Cadence::Monthly, usd);
    /// # plan.prices = vec![seat.fee_in_advance(Decimal::from(10)).into()];
    /// # let plan = account.create_plan(plan).await?;
    /// # let seats = account.fetch_plan_version(plan.id, plan.version).await?.prices[0].id;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let mut pro = NewSubscription::new(ada.id, plan.id);
    /// # pro.anchor = BillingAnchor::SubscriptionStart;
    /// # let pro = account.create_subscription(pro).await?;
    /// let three = FeeQuantityChange::immediate(seats, Decimal::from(3));
    /// account.update_fixed_fee_quantity(pro.id, three).await?;
    /// let costs = account.subscription_costs(pro.id, &CostQuery::default()).await?;
    /// assert_eq!(costs[0].total, Decimal::from(30), "the first day is one of three seats");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn update_fixed_fee_quantity(
        &self,
        id: SubscriptionId,
        change: FeeQuantityChange,
    ) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("update_fixed_fee_quantity", (id, change), |tx, (id, change)| {
                update_fee_quantity(tx, *id, change)
            }),
        )
    }

    /// Drops all changes of the quantity of a fixed fee that are still to come (subscriptions 3.9): it goes on as it is
    /// now.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where none is scheduled;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the price is no fixed fee of the plan
    /// version, or the subscription has ended.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, item::NewItem, plan::NewPlan};
    /// # use accrue::{price::{Cadence, NewPrice}, subscription::NewSubscription};
    /// use accrue::subscription::{ChangeTiming, FeeQuantityChange};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// # let seat = NewPrice::builder(Name::parse("seat")?, item.id).billed(Cadence::Monthly, usd);
    /// # plan.prices = vec![seat.fee_in_advance(Decimal::from(10)).into()];
    /// # let plan = account.create_plan(plan).await?;
    /// # let seats = account.fetch_plan_version(plan.id, plan.version).await?.prices[0].id;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let pro = account.create_subscription(NewSubscription::new(ada.id, plan.id)).await?;
    /// let (price, quantity) = (seats.into(), Decimal::from(3));
    /// let three = FeeQuantityChange { price, quantity, when: ChangeTiming::UpcomingInvoice };
    /// account.update_fixed_fee_quantity(pro.id, three).await?;
    /// let pro = account.unschedule_fixed_fee_quantity_updates(pro.id, seats).await?;
    /// assert_eq!(pro.fee_schedule(&pro.price_intervals[0]).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn unschedule_fixed_fee_quantity_updates(
        &self,
        id: SubscriptionId,
        price: impl Into<IdOr<PriceId>>,
    ) -> Call<Subscription> {
        let name = "unschedule_fixed_fee_quantity_updates";
        Call::new(
            self,
            Op::new(name, (id, price.into()), |tx, (id, price)| {
                unschedule_fee_quantities(tx, *id, price)
            }),
        )
    }
}

/// Writes a subscription whose life or fees have changed, with the next draft, and the next deadline of its
/// customer.
pub(super) async fn save_change(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    licenses::check_prices(tx, &entry.subscription).await?;
    invoicing::follow(tx, entry, tx.now).await?;
    invoicing::bill_at_once(tx, entry).await?;
    let customer_id = entry.subscription.customer_id;
    rows::subscriptions::save_subscription(tx, entry).await?;
    let active = active::active_subscriptions(tx, &[customer_id]).await?;
    let entries = active.into_iter().flat_map(|of| of.entries);
    active::save_active(tx, customer_id, &entries.collect::<Vec<_>>()).await
}

/// Writes a subscription whose terms are others since an instant: what they charge so far is judged, and boundaries
/// that have passed are billed anew where they bill otherwise (subscriptions 2.7).
pub(super) async fn save_terms(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    entry: &mut SubscriptionEntry,
    since: Timestamp,
) -> Result<(), Error> {
    if since <= tx.now {
        // Another process, whose clock is ahead, may have applied a later turn: that one is not judged once more.
        entry.rated_until = entry.rated_until.max(Some(tx.now));
    }
    recount::judge_change(tx, before, entry).await?;
    rebilling::rebill(tx, before, entry, since).await?;
    allocations::follow(tx, before, entry).await?;
    save_change(tx, entry).await?;
    changed::check_credits_count(tx, entry.subscription.customer_id).await
}

/// Returns a fixed fee of a subscription's plan version.
async fn fee_of(
    tx: &mut Transaction<'_>,
    of: &SubscriptionEntry,
    id: &IdOr<PriceId>,
) -> Result<PriceId, Error> {
    let wrong = || Error::constraint(format!("the price {id} is no fixed fee of the plan version"));
    let is_fee = |id: PriceId| of.subscription.fee_interval(id, tx.now).is_some();
    if matches!(id, IdOr::Id(id) if !is_fee(*id)) {
        return Err(wrong());
    }
    let price = rows::prices::price(tx, id).await?;
    price.check_gives_no_credits()?;
    let of = &of.subscription;
    if of.fee_interval(price.id, tx.now).is_some() { Ok(price.id) } else { Err(wrong()) }
}

#[boxed]
async fn update_subscription(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    update: &SubscriptionUpdate,
) -> Result<Subscription, Stop> {
    let mut entry = current::subscription_to_change(tx, id).await?;
    let after = update.clone().decide(&entry.subscription)?;
    let previous_attributes = previous_attributes(&entry.subscription, &after);
    if previous_attributes.is_empty() {
        return Ok(after);
    }
    entry.subscription = after;
    let subscription_id = id;
    let body = Body::SubscriptionEdited { subscription_id, previous_attributes };
    outbox::tell(tx, entry.subscription.customer_id, tx.now, body).await?;
    rows::subscriptions::save_subscription(tx, &entry).await?;
    Ok(entry.subscription)
}

#[boxed]
async fn cancel_subscription(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    cancellation: Cancellation,
) -> Result<Subscription, Stop> {
    let mut entry = current::subscription_to_change(tx, id).await?;
    let customer_id = entry.subscription.customer_id;
    let end = cancellation.decide(&entry.subscription, tx.now)?;
    let before = entry.clone();
    entry.subscription.end_date = Some(end);

    let subscription_id = id;
    let body = if end <= tx.now {
        (entry.notified, entry.rated_until) = (Notified::Ended, Some(end));
        Body::SubscriptionEnded { subscription_id }
    } else {
        Body::SubscriptionCancellationScheduled { subscription_id, cancellation_date: end }
    };
    outbox::tell(tx, customer_id, tx.now, body).await?;
    // Its boundaries may have passed also where this began before them, and lost a race.
    let passed = entry.invoicing.as_ref().and_then(|of| of.passed);
    if end < tx.now || passed.is_some_and(|passed| end < passed) {
        rewinding::rewind(tx, &mut entry, end).await?;
    }
    crediting::settle_end(tx, before.subscription.end_date, &mut entry).await?;
    // What it had changed to since is behind it: it has ended on the plan of before.
    let mut alerts = Vec::new();
    if end <= tx.now && entry.plan_since.is_some_and(|since| end <= since) {
        let now = tx.now;
        alerts = plan_changes::take_on(tx, &mut entry, end.saturating_sub(INSTANT), now).await?;
    }
    recount::judge_change(tx, &before, &mut entry).await?;
    allocations::follow(tx, &before, &entry).await?;
    plan_changes::judge(tx, &mut entry, &alerts, tx.now).await?;
    save_change(tx, &mut entry).await?;
    changed::check_credits_count(tx, entry.subscription.customer_id).await?;
    Ok(entry.subscription)
}

#[boxed]
async fn unschedule_cancellation(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
) -> Result<Subscription, Stop> {
    let before = current::subscription_to_change(tx, id).await?;
    let passed = before.invoicing.as_ref().and_then(|of| of.passed);
    let original_cancellation_date = unscheduled_end(&before.subscription, passed, tx.now)?;
    let mut entry = before.clone();
    entry.subscription.go_on();
    prices::note_usage(tx, &mut entry).await?;
    let subscription_id = id;
    let body =
        Body::SubscriptionCancellationUnscheduled { subscription_id, original_cancellation_date };
    outbox::tell(tx, entry.subscription.customer_id, tx.now, body).await?;
    save_terms(tx, &before, &mut entry, original_cancellation_date).await?;
    Ok(entry.subscription)
}

#[boxed]
pub(super) async fn update_fee_quantity(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    change: &FeeQuantityChange,
) -> Result<Subscription, Stop> {
    change.check()?;
    let before = current::subscription_to_change(tx, id).await?;
    let FeeQuantityChange { price, quantity, when } = change;
    let price_id = fee_of(tx, &before, price).await?;
    let at = when.decide(&before.subscription, price_id, tx.now)?;
    let Some(old) = before.subscription.fee_quantity(price_id, at).cloned() else {
        return Err(Error::corrupt("a fixed fee has no quantity").into());
    };
    if old == *quantity {
        return Ok(before.subscription);
    }
    let mut entry = before.clone();
    entry.subscription.change_fee(price_id, at, quantity.clone())?;
    entry.subscription.follow_quantities(price_id, tx.now);
    entry.subscription.check_size()?;
    let body = Body::FixedFeeQuantityUpdated {
        subscription_id: id,
        price_id,
        effective_date: at,
        new_quantity: quantity.clone(),
        old_quantity: old,
    };
    outbox::tell(tx, entry.subscription.customer_id, tx.now, body).await?;
    save_terms(tx, &before, &mut entry, at).await?;
    Ok(entry.subscription)
}

#[boxed]
async fn unschedule_fee_quantities(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    price: &IdOr<PriceId>,
) -> Result<Subscription, Stop> {
    let before = current::subscription_to_change(tx, id).await?;
    if before.subscription.status(tx.now) == SubscriptionStatus::Ended {
        return Err(Error::constraint("the subscription has ended already").into());
    }
    let price_id = fee_of(tx, &before, price).await?;
    let mut entry = before.clone();
    if !entry.subscription.drop_fee_changes(price_id, tx.now) {
        let message = format!("found {price}, of which no change of its quantity is scheduled");
        return Err(Error::invalid("price_id", message).into());
    }
    entry.subscription.follow_quantities(price_id, tx.now);
    let now = tx.now;
    rebilling::rebill(tx, &before, &mut entry, now).await?;
    save_change(tx, &mut entry).await?;
    Ok(entry.subscription)
}
