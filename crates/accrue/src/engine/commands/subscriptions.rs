//! Subscriptions: creation, look-up and lists.

use std::collections::BTreeSet;

use crate::{
    Currency, CustomerId, Error, IdOr, Page, PageRequest, PlanId, SubscriptionId, Timeframe,
    Timestamp,
    engine::{
        Account, Call,
        commands::{
            hierarchies, licenses, plan_versions,
            prices::{self, Made},
        },
        kernel::{Op, Stop, Transaction, boxed},
        rows::{
            self,
            active::{self, ActiveSubscriptions},
            lists::Walk,
            outbox,
            shared_alerts::Sharer,
        },
        time::{allocations, current, invoicing, recount, trials},
    },
    limits,
    page::{Listing, Position},
    plan::{Plan, PlanPrice, PlanVersion},
    price::Price,
    schema::{self, CustomerEntry, Index, PlanVersionEntry},
    subscription::{
        AgreedPrices, Invoicing, NewSubscription, Notified, PriceChanges, Subscription,
        SubscriptionEntry, SubscriptionFilter, SubscriptionStatus, Terms,
    },
    webhook::Body,
};

impl Account {
    /// Creates a subscription on a version of a plan (wire 5.3), or a contract, which is on none (subscriptions 1.9). It may begin in the past: usage of
    /// its open billing periods that is there already counts.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it would end before it
    /// starts, the plan is a draft or archived, the customer is invoiced in another currency or has 200 subscriptions, the coupon [cannot be
    /// redeemed](Self::redeem_coupon), a price that is removed or replaced is none of the plan version, one
    /// that is added by its id is no add-on, a quantity is given for usage, or an adjustment cannot be over its
    /// prices; where a price or an adjustment that is added is not within the subscription; and where a customer whose
    /// usage is to count is neither the one that subscribes nor one of its children;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where a quantity is negative, a price is named
    /// twice, more than [100](crate::limits::PRICES) are added or replaced, an adjustment or the invoicing
    /// threshold is no amount of the currency, or there is no such day or month to begin billing cycles on;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such customer, plan,
    /// coupon or price, no such customer whose usage is to count, or an adjustment that is removed or replaced is
    /// none of the plan version.
    pub fn create_subscription(&self, new: NewSubscription) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("create_subscription", new, |tx, new| create_subscription(tx, None, new)),
        )
    }

    /// Returns a subscription.
    pub async fn fetch_subscription(&self, id: SubscriptionId) -> Result<Subscription, Error> {
        let find = |mut tx| async move {
            let found = rows::subscriptions::subscription_entry(&mut tx, id).await;
            (tx, found.map(|entry| entry.subscription))
        };
        self.at_one_instant(find).await
    }

    /// Lists the subscriptions, newest first. The status of each is that of now: by status alone a page
    /// is found through an index, and otherwise looked for among all that the customers or else the
    /// plan of the filter have.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the filter names more than
    /// [100](crate::limits::FILTERED_CUSTOMERS) customers, or the cursor is none of this list;
    /// [`TooManyResults`](crate::ErrorKind::TooManyResults) where more than
    /// [10,000](crate::limits::RESULT_ROWS) subscriptions would have to be looked at for one page: a
    /// narrower time of creation helps.
    pub async fn list_subscriptions(
        &self,
        filter: &SubscriptionFilter,
        page: &PageRequest,
    ) -> Result<Page<Subscription>, Error> {
        check_customers(&filter.customers)?;
        let filter = in_order(filter.clone());
        let listing =
            Listing { name: "subscriptions", account: self.id(), filter: format!("{filter:?}") };
        let mut tx = self.reading();
        let SubscriptionFilter { created, customers, plan, statuses } = filter;
        let plan_id = match plan.as_ref() {
            Some(plan) => Some(plan_id(&mut tx, plan).await?),
            None => None,
        };
        // The narrowest index is read until the page is full. What is filtered by an external id that
        // nobody has is nothing.
        let indexes: Vec<_> = match plan_id {
            Some(None) => Vec::new(),
            _ if !customers.is_empty() => {
                let ids = customer_ids(&mut tx, &customers).await?;
                let index = |id: &CustomerId| Index::subscriptions_of_customer(self.id(), *id);
                ids.iter().map(index).collect()
            }
            Some(Some(id)) => vec![Index::subscriptions_of_plan(self.id(), id)],
            None if !statuses.is_empty() => {
                let index = |status: &SubscriptionStatus| {
                    Index::subscriptions_of_status(self.id(), *status)
                };
                statuses.iter().map(index).collect()
            }
            None => vec![Index::subscriptions(self.id())],
        };
        let is_by_status = customers.is_empty() && plan_id.is_none() && !statuses.is_empty();
        let plan_id = plan_id.flatten();
        let mut walk = Walk::merged(listing, &indexes, created, page)?;
        if is_by_status {
            walk.also(changed_subscriptions(&tx).await?, created, page)?;
        }
        let passes = |of: &Subscription| {
            plan_id.is_none_or(|id| Some(id) == of.plan_id)
                && (statuses.is_empty() || statuses.contains(&of.status(tx.now)))
        };
        subscriptions_of(&tx, walk, passes).await
    }
}

/// Returns the same filter, however its caller has ordered or doubled its names: a cursor is good for
/// either.
fn in_order(mut filter: SubscriptionFilter) -> SubscriptionFilter {
    filter.customers.sort();
    filter.customers.dedup();
    filter.statuses.sort();
    filter.statuses.dedup();
    filter
}

fn check_customers(customers: &[IdOr<CustomerId>]) -> Result<(), Error> {
    let (count, most) = (customers.len(), limits::FILTERED_CUSTOMERS);
    if count > most {
        let message = format!("found {count} customers, expected at most {most}");
        return Err(Error::invalid("customers", message));
    }
    Ok(())
}

/// Finds a page of the subscriptions that pass.
pub(super) async fn subscriptions_of(
    tx: &Transaction<'_>,
    mut walk: Walk<'_>,
    passes: impl Fn(&Subscription) -> bool + Send + Sync,
) -> Result<Page<Subscription>, Error> {
    let (mut found, mut looked_at) = (Vec::new(), 0_usize);
    while !walk.is_full(&found) {
        let places = walk.next(tx).await?;
        if places.is_empty() {
            break;
        }
        // Where many indexes are walked, they may be ahead by far more than a page.
        for batch in places.chunks(limits::PAGE_ROWS.saturating_add(1)) {
            if walk.is_full(&found) {
                break;
            }
            looked_at = looked_at.saturating_add(batch.len());
            check_looked_at(looked_at)?;
            found.extend(subscriptions_at(tx, batch, &passes).await?);
        }
    }
    Ok(walk.page(found))
}

/// Reads the subscriptions at some places, and keeps those that pass and whose customers are not
/// deleted.
async fn subscriptions_at(
    tx: &Transaction<'_>,
    places: &[Position],
    passes: impl Fn(&Subscription) -> bool + Send,
) -> Result<Vec<(Position, Subscription)>, Error> {
    let ids = places.iter().map(|at| SubscriptionId::from_bytes(schema::id_at(at)));
    let ids: Vec<_> = ids.collect();
    let rows = places.iter().copied().zip(rows::subscriptions::peek_subscriptions(tx, &ids).await?);
    let subscriptions = rows.filter_map(|(at, row)| Some((at, row?.subscription)));
    let mut found: Vec<_> = subscriptions.filter(|(_, of)| passes(of)).collect();
    let ids: BTreeSet<_> = found.iter().map(|(_, of)| of.customer_id).collect();
    let there = rows::customers::not_deleted(tx, ids).await?;
    found.retain(|(_, of)| there.contains(&of.customer_id));
    Ok(found)
}

/// Finds the customers that a list is filtered by, once each.
async fn customer_ids(
    tx: &mut Transaction<'_>,
    customers: &[IdOr<CustomerId>],
) -> Result<BTreeSet<CustomerId>, Error> {
    let mut ids = BTreeSet::new();
    for customer in customers {
        match rows::customers::customer(tx, customer).await {
            Ok(customer) => {
                ids.insert(customer.id);
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ids)
}

/// Finds the plan that a list is filtered by.
async fn plan_id(tx: &mut Transaction<'_>, plan: &IdOr<PlanId>) -> Result<Option<PlanId>, Error> {
    match rows::plans::plan(tx, plan).await {
        Ok(plan) => Ok(Some(plan.id)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Finds the subscriptions whose status has changed with time, where nobody has written that yet: a
/// tick does soon after.
async fn changed_subscriptions(tx: &Transaction<'_>) -> Result<Vec<Position>, Error> {
    let until_now = Timeframe::through(tx.now);
    let scan = schema::changed_subscriptions(tx.account, until_now, limits::SCAN_ROWS);
    let (mut places, mut rest) = (Vec::new(), Some(scan));
    while let Some(scan) = rest {
        let part = tx.range_now(&scan).await?;
        for (key, _) in &part.rows {
            places.push(schema::position(key)?);
        }
        check_looked_at(places.len())?;
        rest = part.rest;
    }
    Ok(places)
}

/// Creates a subscription, with the id that was drawn for it before where there is one.
#[boxed]
pub(super) async fn create_subscription(
    tx: &mut Transaction<'_>,
    drawn: Option<SubscriptionId>,
    new: &NewSubscription,
) -> Result<Subscription, Stop> {
    new.check()?;
    let mut customer = rows::customers::customer(tx, &new.customer).await?;
    let plan = match &new.plan {
        Some(plan) => Some(rows::plans::plan(tx, plan).await?),
        None => None,
    };
    plan.as_ref().map_or(Ok(()), Plan::check_active)?;
    let currency = plan.as_ref().map(|plan| plan.currency).or(new.currency);
    let currency = currency.ok_or_else(|| Error::invalid("currency", "is missing"))?;
    current::current_head(tx, customer.id).await?;
    let (plan_version, version) = version_of(tx, plan.as_ref(), new.plan_version).await?;
    let prices = rows::prices::prices(tx, &version.prices).await?;
    let prices = agreed_prices(tx, prices, &new.prices, currency).await?;
    rows::prices::check_adjusted(tx, &new.adjustments.added()).await?;

    let id = drawn.unwrap_or_else(|| SubscriptionId::generate(tx.now, tx.entropy()));
    let PlanVersionEntry { shared, adjustments, .. } = version;
    let terms = Terms {
        plan: plan.as_ref(),
        plan_version,
        currency,
        prices: &prices,
        adjustments: (&adjustments, &new.adjustments),
        initial_phase: new.initial_phase,
        trial_days: new.trial_days,
        filter: new.filter.as_ref(),
        usage_customers: new.usage_customers.as_ref(),
    };
    let mut subscription = new.clone().decide(id, &customer, terms, tx.now)?;
    if let Some(code) = new.coupon_redemption_code.clone() {
        let mut coupon = rows::coupons::coupon(tx, &code.into()).await?;
        let start = subscription.start_date;
        coupon.redeem(&mut subscription, &prices.prices(), start, tx.now)?;
        rows::coupons::save_redeemed(tx, &coupon, &subscription)?;
    }
    let mut entry = SubscriptionEntry {
        subscription,
        alerts: Vec::new(),
        muted: BTreeSet::new(),
        revision: shared.revision,
        account_revision: Sharer::Account.alerts(tx).await?.revision,
        notified: Notified::Created,
        trial_told: None,
        rated_until: None,
        closed_until: None,
        parts_until: None,
        invoicing: None,
        priced: None,
        plan_since: None,
        terms_parts: 0,
    };
    let has_own_terms = !new.prices.is_empty() || new.filter.is_some();
    if has_own_terms || entry.subscription.has_license_pools() {
        licenses::check_prices(tx, &entry.subscription).await?;
    }
    if has_own_terms {
        prices::note_usage(tx, &mut entry).await?;
    }
    hierarchies::note_usage_customers(tx, None, &entry.subscription).await?;
    let active = active::active_subscriptions(tx, &[customer.id]).await?;
    let mut entries: Vec<_> =
        active.into_iter().flat_map(|ActiveSubscriptions { entries, .. }| entries).collect();
    let oldest_open = rows::account::oldest_open(tx);
    entries.retain(|entry| !entry.is_past(oldest_open));
    check_count(&entries, tx.now)?;

    outbox::tell(tx, customer.id, tx.now, Body::SubscriptionCreated { subscription_id: id })
        .await?;
    while let Some((_, notified)) = entry.next_notified().filter(|(at, _)| *at <= tx.now) {
        if notified == Notified::Ended {
            trials::tell_end(tx, &mut entry, tx.now).await?;
        }
        entry.notified = notified;
        let body = match notified {
            Notified::Ended => Body::SubscriptionEnded { subscription_id: id },
            _ => Body::SubscriptionStarted { subscription_id: id },
        };
        outbox::tell(tx, customer.id, tx.now, body).await?;
    }
    trials::tell_end(tx, &mut entry, tx.now).await?;
    if entry.subscription.start_date <= tx.now {
        // What was charged so far is judged with the usage, all at once.
        entry.rated_until = Some(tx.now);
        let closed = rows::account::oldest_taken(tx).await?;
        entry.closed_until = (entry.subscription.start_date <= closed).then_some(closed);
    }
    allocations::give_begun(tx, &mut entry).await?;
    recount::count_earlier_usage(tx, &mut entry).await?;

    if customer.currency.is_none() {
        customer.currency = Some(currency);
        let entry = CustomerEntry { customer: customer.clone(), deleted_at: None };
        rows::customers::put(tx, &entry).await?;
    }
    if rows::account::account_entry(tx).await?.configuration.features.invoices {
        entry.invoicing = Some(Invoicing::default());
        invoicing::follow(tx, &mut entry, tx.now).await?;
        invoicing::bill_at_once(tx, &mut entry).await?;
    }
    rows::subscriptions::save_new_subscription(tx, &entry).await?;
    let subscription = entry.subscription.clone();
    rows::prices::save_adjustments(tx, &subscription.given_adjustments(), &adjustments)?;
    entries.push(entry);
    active::save_active(tx, customer.id, &entries).await?;
    Ok(subscription)
}

/// Returns a version of a plan, its default one where none is chosen: an empty one of a contract.
async fn version_of(
    tx: &mut Transaction<'_>,
    plan: Option<&Plan>,
    chosen: Option<PlanVersion>,
) -> Result<(PlanVersion, PlanVersionEntry), Error> {
    let Some(plan) = plan else { return Ok((PlanVersion::FIRST, PlanVersionEntry::default())) };
    let version = chosen.unwrap_or(plan.version);
    Ok((version, rows::plans::plan_version(tx, plan.id, version).await?))
}

fn check_looked_at(found: usize) -> Result<(), Error> {
    let most = limits::RESULT_ROWS;
    if found <= most {
        return Ok(());
    }
    Err(Error::too_many(format!(
        "more than {most} subscriptions would have to be looked at: a narrower filter helps"
    )))
}

/// Decides the prices that a subscription has of those of a plan version, with changes: some are made for it.
pub(super) async fn agreed_prices(
    tx: &mut Transaction<'_>,
    of_version: Vec<Price>,
    changes: &PriceChanges,
    currency: Currency,
) -> Result<AgreedPrices, Error> {
    let placed = changes.placed(&of_version)?;
    let made = plan_versions::placed_prices(tx, &placed, Made::for_subscription(currency)).await?;
    for (placed, price) in placed.iter().zip(&made) {
        if let PlanPrice::Existing(_) = placed.price {
            price.check_is_addon().map_err(|error| error.within(&placed.at))?;
        }
    }
    changes.decide(of_version, &placed, made)
}

/// Refuses a subscription of a customer that has too many.
fn check_count(entries: &[SubscriptionEntry], now: Timestamp) -> Result<(), Error> {
    let live =
        |entry: &&SubscriptionEntry| entry.subscription.status(now) != SubscriptionStatus::Ended;
    let (count, most, what) = match entries.iter().filter(live).count() {
        live if live >= limits::SUBSCRIPTIONS => (live, limits::SUBSCRIPTIONS, "live"),
        _ => (entries.len(), limits::ACTIVE_SUBSCRIPTIONS, "live or recent"),
    };
    if count < most {
        return Ok(());
    }
    Err(Error::constraint(format!("the customer has {count} {what} subscriptions already")))
}
