//! Alerts that several subscriptions share: those of their plan's version, and those of the account. Each change is a
//! revision, which the subscriptions apply one by one (`docs/decisions/fees-are-judged-when-due.md`).

use crate::{
    AccountId, AlertId, Error, PlanId,
    alert::{Alert, Scope},
    engine::{
        kernel::Transaction,
        rows::{account, alerts, metrics, plans},
    },
    plan::PlanVersion,
    schema::{self, AlertRevision, Catalogue, Index, Owner, PlanVersionEntry, SharedAlerts, Slot},
    subscription::{Subscription, SubscriptionEntry},
};

/// What has alerts that watch several subscriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine) enum Sharer {
    /// A version of a plan.
    Plan(PlanId, PlanVersion),
    /// The account: they watch every subscription.
    Account,
}

impl Sharer {
    /// Returns those whose alerts watch a subscription: a contract has no plan.
    pub(in crate::engine) fn all_of(entry: &SubscriptionEntry) -> Vec<Self> {
        let plan = Self::plan_of(entry);
        plan.into_iter().chain([Self::Account]).collect()
    }

    /// Returns the plan version of a subscription.
    pub(in crate::engine) fn plan_of(entry: &SubscriptionEntry) -> Option<Self> {
        let Subscription { plan_id, plan_version, .. } = entry.subscription;
        plan_id.map(|plan_id| Self::Plan(plan_id, plan_version))
    }

    /// Returns whose alert it is, where several subscriptions share it.
    pub(in crate::engine) const fn of(alert: &Alert) -> Option<Self> {
        match alert.scope {
            Scope::Plan { plan_id, plan_version } => Some(Self::Plan(plan_id, plan_version)),
            Scope::Account => Some(Self::Account),
            Scope::Subscription { .. } | Scope::Customer { .. } => None,
        }
    }

    /// Returns the list of the subscriptions that may share them.
    pub(in crate::engine) fn subscriptions(self, account: &AccountId) -> Index {
        match self {
            Self::Plan(plan_id, _) => Index::subscriptions_of_plan(account, plan_id),
            Self::Account => Index::subscriptions(account),
        }
    }

    /// Returns whose deadline brings a change of them to the subscriptions.
    pub(in crate::engine) const fn owner(self) -> Owner {
        match self {
            Self::Plan(plan_id, version) => Owner::Plan(plan_id, version),
            Self::Account => Owner::Alerts,
        }
    }

    /// Returns whose deadline it is, where that is of shared alerts.
    pub(in crate::engine) const fn of_owner(owner: &Owner) -> Option<Self> {
        match owner {
            Owner::Plan(plan_id, version) => Some(Self::Plan(*plan_id, *version)),
            Owner::Alerts => Some(Self::Account),
            _ => None,
        }
    }

    /// Returns the last revision of them that a subscription has applied.
    pub(in crate::engine) const fn seen_by(self, entry: &SubscriptionEntry) -> u64 {
        match self {
            Self::Plan(..) => entry.revision,
            Self::Account => entry.account_revision,
        }
    }

    /// Notes the last revision of them that a subscription has applied.
    pub(in crate::engine) const fn see(self, entry: &mut SubscriptionEntry, revision: u64) {
        match self {
            Self::Plan(..) => entry.revision = revision,
            Self::Account => entry.account_revision = revision,
        }
    }

    /// Returns where one of its revisions is.
    pub(in crate::engine) fn revision(
        self,
        tx: &Transaction<'_>,
        number: u64,
    ) -> Slot<AlertRevision> {
        match self {
            Self::Plan(id, version) => schema::alert_revision(tx.account, id, version, number),
            Self::Account => schema::account_alert_revision(tx.account, number),
        }
    }

    /// Reads which alerts it has.
    pub(in crate::engine) async fn alerts(
        self,
        tx: &mut Transaction<'_>,
    ) -> Result<SharedAlerts, Error> {
        Ok(match self {
            Self::Plan(plan_id, version) => {
                let slot = schema::plan_version(tx.account, plan_id, version);
                let found = account::guard(tx).await?.get_shared(tx, &slot).await?;
                found.map(|found| found.shared.clone()).unwrap_or_default()
            }
            Self::Account => metrics::catalogue(tx).await?.shared.clone(),
        })
    }

    /// Writes which alerts it has.
    pub(in crate::engine) async fn save(
        self,
        tx: &mut Transaction<'_>,
        shared: SharedAlerts,
    ) -> Result<(), Error> {
        let guard = account::guard(tx).await?;
        match self {
            Self::Plan(plan_id, version) => {
                let slot = schema::plan_version(tx.account, plan_id, version);
                let before = guard.get(tx, &slot).await?.unwrap_or_default();
                guard.put(tx, &slot, &PlanVersionEntry { shared, ..before })
            }
            Self::Account => {
                let slot = schema::metric_catalogue(tx.account);
                let before = guard.get(tx, &slot).await?.unwrap_or_default();
                guard.put(tx, &slot, &Catalogue { shared, ..before })
            }
        }
    }
}

/// Reads the alerts that a subscription shares with others, as they are now: those of its plan version first.
pub(in crate::engine) async fn of(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Vec<Alert>, Error> {
    let ids = ids(tx, entry).await?;
    alerts::shared(tx, &ids).await
}

/// Returns the ids of the alerts that a subscription shares with others.
pub(in crate::engine) async fn ids(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<Vec<AlertId>, Error> {
    let mut ids = plans::plan_version_of(tx, entry).await?.shared.alerts.clone();
    ids.extend(&metrics::catalogue(tx).await?.shared.alerts);
    Ok(ids)
}

/// Tells whether there are changes to the alerts that a subscription shares which it has not applied.
pub(in crate::engine) async fn has_unseen(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
) -> Result<bool, Error> {
    let plan = plans::plan_version_of(tx, entry).await?.shared.revision;
    let account = metrics::catalogue(tx).await?.shared.revision;
    Ok(entry.revision < plan || entry.account_revision < account)
}

/// Reads changes that a subscription has not applied, up to a revision, each with its number.
pub(in crate::engine) async fn unseen(
    tx: &mut Transaction<'_>,
    sharer: Sharer,
    entry: &SubscriptionEntry,
    last: u64,
) -> Result<Vec<(u64, AlertRevision)>, Error> {
    let numbers = sharer.seen_by(entry).saturating_add(1)..=last;
    let slots: Vec<_> = numbers.clone().map(|number| sharer.revision(tx, number)).collect();
    let found: Option<Vec<_>> = tx.get_all(&slots).await?.into_iter().collect();
    let found = found.ok_or_else(|| Error::corrupt("a change to shared alerts is missing"))?;
    Ok(numbers.zip(found).collect())
}
