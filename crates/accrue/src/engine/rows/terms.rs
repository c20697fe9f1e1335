//! Terms that the usage of customers is held against, put together once from their rows and kept for as
//! long as those are as they were (`docs/decisions/resident-copies.md`).

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use crate::{
    AlertId, CustomerId, Decimal, Error, PriceId,
    alert::Alert,
    engine::{
        kernel::{Guard, Transaction},
        rows::{
            account,
            active::{self, ActiveSubscriptions},
            alerts, licenses, metrics, plans, prices, shared_alerts,
        },
    },
    meter::{MeterId, Source},
    period::Watches,
    rating::RateCard,
    schema::{self, Credits, CustomerHead, PlanVersionEntry, Slot},
    subscription::{BillingPeriods, SubscriptionEntry},
    usage::Holders,
};

/// Terms of a customer, whatever the time is.
#[derive(Debug)]
pub(in crate::engine) struct CustomerTerms {
    pub(in crate::engine) customer_id: CustomerId,
    /// Subscriptions that its events may still count for.
    pub(in crate::engine) subscriptions: Vec<Arc<SubscriptionTerms>>,
    pub(in crate::engine) credits: Credits,
}

/// Terms of a subscription.
#[derive(Debug)]
pub(in crate::engine) struct SubscriptionTerms {
    pub(in crate::engine) entry: SubscriptionEntry,
    pub(in crate::engine) version: Arc<PlanVersionEntry>,
    /// Enabled alerts that watch it, those on usage first.
    pub(in crate::engine) alerts: Vec<Alert>,
    /// True if there are changes to alerts that it shares which it has not applied.
    pub(in crate::engine) is_behind: bool,
    /// Groups that they watch.
    pub(in crate::engine) watched_groups: Arc<Watches>,
    pub(in crate::engine) grid: BillingPeriods,
    /// Whose usage counts, where that is not the subscriber's alone.
    pub(in crate::engine) sources: Vec<Source>,
    /// Threshold of what its usage may come to before it is invoiced.
    pub(in crate::engine) threshold: Option<Decimal>,
    /// Its prices, where somebody asks what usage costs: an alert, a threshold, or credits that pay for it.
    pub(in crate::engine) card: Option<Arc<RateCard>>,
    /// Licenses that its usage is of, where those have allocations.
    pub(in crate::engine) holders: Option<Arc<Holders>>,
}

impl SubscriptionTerms {
    /// Tells whether the usage of a customer counts.
    pub(in crate::engine) fn count(&self, customer: CustomerId) -> bool {
        match self.sources.as_slice() {
            [] => customer == self.entry.subscription.customer_id,
            sources => sources.iter().any(|source| source.includes(customer)),
        }
    }

    /// Returns the meters, or the parts of them, whose groups are kept.
    pub(in crate::engine) fn grouped(&self) -> Cow<'_, [MeterId]> {
        let priced = &self.version.priced_of(&self.entry).grouped;
        if self.watched_groups.is_empty() {
            return Cow::Borrowed(priced);
        }
        Cow::Owned([priced.clone(), self.watched_groups.parts()].concat())
    }
}

/// Returns the terms of customers whose locks are held.
pub(in crate::engine) async fn terms(
    tx: &mut Transaction<'_>,
    customers: &[CustomerId],
) -> Result<Vec<Arc<CustomerTerms>>, Error> {
    let of_account = account::guard(tx).await?;
    let guards = tx.guards::<CustomerHead>(customers.iter().copied()).await?;
    let mut all: Vec<_> = guards.iter().map(|of| of.recall_beside(tx, &of_account)).collect();
    let unknown = guards.iter().zip(&all).filter(|(_, known)| known.is_none());
    let unknown: Vec<_> = unknown.map(|(guard, _)| guard.of()).collect();
    if !unknown.is_empty() {
        let mut new = put_together(tx, &unknown).await?.into_iter();
        for (guard, known) in guards.iter().zip(&mut all).filter(|(_, known)| known.is_none()) {
            if let Some(new) = new.next() {
                guard.remember_beside(tx, &of_account, &new);
                *known = Some(new);
            }
        }
    }
    let all: Option<Vec<_>> = all.into_iter().collect();
    all.ok_or_else(|| Error::corrupt("terms of a customer are missing"))
}

/// Puts terms together, in as few calls of the store for many customers as for one.
async fn put_together(
    tx: &mut Transaction<'_>,
    customers: &[CustomerId],
) -> Result<Vec<Arc<CustomerTerms>>, Error> {
    let active = active::active_subscriptions(tx, customers).await?;
    let entries = || active.iter().flat_map(|of| &of.entries);
    plans::fetch_plan_versions(tx, entries()).await?;
    fetch_alerts(tx, &active).await?;
    let mut all = Vec::with_capacity(active.len());
    for ActiveSubscriptions { customer_id, entries, .. } in active {
        let credits = tx.row(&schema::credits(tx.account, customer_id))?.unwrap_or_default();
        let mut subscriptions = Vec::with_capacity(entries.len());
        for entry in entries {
            let version = plans::plan_version_of(tx, &entry).await?;
            let shared = shared_alerts::of(tx, &entry).await?;
            let is_behind = shared_alerts::has_unseen(tx, &entry).await?;
            let alerts = active::watching_with(tx, &entry, shared).await?;
            let threshold = entry.subscription.invoicing_threshold();
            let threshold = threshold.filter(|_| entry.invoicing.is_some());
            let is_rated = threshold.is_some()
                || alerts.iter().any(|alert| alert.condition.is_rated())
                || !credits.drawn_by(version.priced_of(&entry), |_| true).is_empty();
            let (grid, card) = (entry.subscription.periods(), None);
            let sources = match entry.subscription.has_usage_customers() {
                true => entry.subscription.sources(),
                false => Vec::new(),
            };
            let holders = holders(tx, &entry, &version).await?;
            let terms = SubscriptionTerms {
                entry,
                version,
                is_behind,
                alerts,
                watched_groups: Arc::default(),
                grid,
                sources,
                threshold,
                card,
                holders,
            };
            subscriptions.push((terms, is_rated));
        }
        all.push((customer_id, credits, subscriptions));
    }
    let of = all.iter().flat_map(|(.., subscriptions)| subscriptions);
    let rated = of.filter(|(_, is_rated)| *is_rated).map(|(terms, _)| &terms.entry);
    let ids = rated.flat_map(|entry| &entry.subscription.price_intervals).map(|of| of.price_id);
    prices::prices(tx, &ids.collect::<BTreeSet<PriceId>>().into_iter().collect::<Vec<_>>()).await?;
    let mut found = Vec::with_capacity(all.len());
    for (customer_id, credits, subscriptions) in all {
        let mut with_cards = Vec::with_capacity(subscriptions.len());
        for (mut terms, is_rated) in subscriptions {
            if is_rated {
                let card = prices::card(tx, &terms.entry).await?;
                terms.watched_groups = Arc::new(Watches::of(&terms.alerts, &card));
                terms.card = Some(card);
            }
            with_cards.push(Arc::new(terms));
        }
        let subscriptions = with_cards;
        found.push(Arc::new(CustomerTerms { customer_id, subscriptions, credits }));
    }
    Ok(found)
}

/// Returns which licenses the usage of a subscription is of, of events that are still taken.
async fn holders(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    version: &PlanVersionEntry,
) -> Result<Option<Arc<Holders>>, Error> {
    let grouped = &version.priced_of(entry).grouped;
    if grouped.is_empty() {
        return Ok(None);
    }
    let meters = metrics::meters(tx).await?.with_divided(grouped);
    let since = account::oldest_open(tx);
    licenses::holders(tx, &entry.subscription, &meters.divided, since).await
}

/// Reads the alerts that watch subscriptions whose plan versions were fetched.
async fn fetch_alerts(
    tx: &mut Transaction<'_>,
    active: &[ActiveSubscriptions],
) -> Result<(), Error> {
    let guards = tx.guards::<CustomerHead>(active.iter().map(|of| of.customer_id)).await?;
    let (mut own, mut shared) = (Vec::new(), BTreeSet::<AlertId>::new());
    for (of, guard) in active.iter().zip(&guards) {
        for entry in &of.entries {
            own.extend(entry.alerts.iter().map(|id| (guard, schema::alert(tx.account, *id))));
            shared.extend(shared_alerts::ids(tx, entry).await?);
        }
    }
    Guard::fetch(tx, own.iter().map(|(guard, slot)| (*guard, Slot::key(slot)))).await?;
    alerts::shared(tx, &shared.into_iter().collect::<Vec<_>>()).await.map(|_| ())
}
