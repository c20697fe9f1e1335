//! Resources that an answer names, read with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    CustomerId, Error,
    customer::Customer,
    engine::{
        Account, Call,
        commands::invoices,
        kernel::{Command, Request, Stop, Transaction, boxed},
        rows,
    },
    idempotency::Fingerprint,
    plan::PricedVersion,
    related::{Names, Naming, Related},
    schema,
};

impl Account {
    /// Returns the resources that `named` names.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, item::NewItem, metric::{MetricQuery, NewMetric}};
    /// # use accrue::store::MemoryStore;
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let item = account.create_item(NewItem::new(Name::parse("Model")?)).await?;
    /// let sql = MetricQuery::parse("SELECT count(*) FROM events")?;
    /// let new = NewMetric::new(Name::parse("Requests")?, item.id, sql);
    /// let metric = account.create_metric(new).await?;
    /// let related = account.related(&metric).await?;
    /// assert_eq!(related.item(metric.item_id), Some(&item));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn related<N: Naming + ?Sized>(&self, named: &N) -> Result<Related, Error> {
        let mut names = Names::default();
        named.name(&mut names);
        if names == Names::default() {
            return Ok(Related::default());
        }
        related(&mut self.reading(), names).await
    }
}

impl<T: Naming + Send + Sync + 'static> Call<T> {
    /// Returns the outcome with the resources that it names, read in the same commit.
    pub fn with_related(self) -> Call<(T, Related)> {
        let (account, request) = self.into_parts();
        Call::new(&account, WithRelated { request })
    }
}

struct WithRelated<T> {
    request: Arc<dyn Request<Outcome = T>>,
}

#[async_trait]
impl<T: Naming + Send + Sync> Command for WithRelated<T> {
    type Outcome = (T, Related);

    fn name(&self) -> &'static str {
        self.request.name()
    }

    fn subject(&self) -> Option<String> {
        self.request.subject()
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(T, Related), Stop> {
        let outcome = self.request.run(tx).await?;
        let mut names = Names::default();
        outcome.name(&mut names);
        let related = match names == Names::default() {
            true => Related::default(),
            false => related(tx, names).await?,
        };
        Ok((outcome, related))
    }
}

impl<T: Naming + Send + Sync> Request for WithRelated<T> {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        self.request.fingerprint()
    }

    fn written(&self) -> Result<Option<Value>, Error> {
        self.request.written()
    }
}

/// Reads what is named, and what that names, in one call of the store for each kind.
#[boxed]
async fn related(tx: &mut Transaction<'_>, mut names: Names) -> Result<Related, Error> {
    let mut related = Related::default();
    let account = tx.account;
    for id in std::mem::take(&mut names.invoices) {
        if let Some(invoice) = invoices::found(tx, id).await? {
            invoice.name(&mut names);
            related.invoices.insert(id, invoice);
        }
    }
    let guard = rows::account::guard(tx).await?;
    related.customers = customers(tx, &names.customers).await?;
    let mut members = Names::default();
    for id in &names.families {
        related.customers.get(id).iter().for_each(|of| of.name(&mut members));
    }
    members.customers.retain(|id| !related.customers.contains_key(id));
    related.customers.extend(customers(tx, &members.customers).await?);

    let slots: Vec<_> = names.plans.iter().map(|id| schema::plan(account, *id)).collect();
    let plans = tx.get_all(&slots).await?.into_iter().flatten();
    related.plans = plans.map(|plan| (plan.id, plan)).collect();

    let slots =
        names.versions.iter().map(|(id, version)| schema::plan_version(account, *id, *version));
    let entries = guard.get_all(tx, &slots.collect::<Vec<_>>()).await?;
    let versions: Vec<_> = names.versions.iter().copied().zip(entries).collect();
    let of_versions = versions.iter().filter_map(|(_, entry)| entry.as_ref());
    names.prices.extend(of_versions.flat_map(|entry| &entry.prices));

    let ids: Vec<_> = names.prices.iter().copied().collect();
    let mut prices = rows::prices::prices_of_lines(tx, &ids).await?;
    prices.append(&mut names.own_prices);
    prices.name(&mut names);
    related.prices = prices.into_iter().map(|price| (price.id, price)).collect();
    for ((plan_id, version), entry) in versions {
        let Some(entry) = entry else { continue };
        let prices = entry.prices.iter().filter_map(|id| related.prices.get(id).cloned());
        let priced = PricedVersion {
            plan_id,
            version,
            prices: prices.collect(),
            adjustments: entry.adjustments,
            replaces: entry.replaces,
            cycle: entry.cycle,
            created_at: entry.created_at,
        };
        related.versions.insert((plan_id, version), priced);
    }

    let slots: Vec<_> = names.metrics.iter().map(|id| schema::metric(account, *id)).collect();
    let metrics = guard.get_all(tx, &slots).await?.into_iter().flatten();
    related.metrics = metrics.map(|metric| (metric.id, metric)).collect();

    let slots: Vec<_> =
        names.license_types.iter().map(|id| schema::license_type(account, *id)).collect();
    let types = tx.get_all(&slots).await?.into_iter().flatten();
    related.license_types = types.map(|of| (of.id, of)).collect();

    let slots: Vec<_> = names.items.iter().map(|id| schema::item(account, *id)).collect();
    let items = tx.get_all(&slots).await?.into_iter().flatten();
    related.items = items.map(|item| (item.id, item)).collect();
    Ok(related)
}

/// Reads those of some customers that were not deleted.
async fn customers(
    tx: &mut Transaction<'_>,
    ids: &BTreeSet<CustomerId>,
) -> Result<BTreeMap<CustomerId, Customer>, Error> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let slots: Vec<_> = ids.iter().map(|id| schema::customer(tx.account, *id)).collect();
    let entries = tx.find_rows(&slots).await?.into_iter().flatten();
    let customers = entries.filter(|entry| entry.deleted_at.is_none());
    Ok(customers.map(|entry| (entry.customer.id, entry.customer)).collect())
}
