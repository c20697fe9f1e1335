//! Who is let in.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use accrue::{AccountId, Billing, Error};
use accrue_http::{ApiKeys, Authenticate, FixedKey};
use async_trait::async_trait;

use crate::{FixedKeys, providers::Providers};

/// Lets in whom a key that the server was started with is shown by, and whom one is that is kept in
/// the store.
#[derive(Debug)]
pub(crate) struct FixedOrKept {
    fixed: Vec<FixedKey>,
    kept: ApiKeys,
}

impl FixedOrKept {
    pub(crate) fn new(fixed: &FixedKeys, billing: &Billing) -> Self {
        let fixed = fixed.iter().map(|(account, key)| FixedKey::new(key.as_str(), account.clone()));
        Self { fixed: fixed.collect(), kept: ApiKeys::new(billing) }
    }
}

#[async_trait]
impl Authenticate for FixedOrKept {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        for fixed in &self.fixed {
            if let Some(account) = fixed.authenticate(token).await? {
                return Ok(Some(account));
            }
        }
        self.kept.authenticate(token).await
    }
}

/// Gives each account the configuration that the server was started with, before its first request: a
/// store does not list the accounts that there are.
#[derive(Debug)]
pub(crate) struct Configured {
    inner: FixedOrKept,
    billing: Billing,
    /// Without one an account keeps what it has.
    grace_period: Option<Duration>,
    calculates_taxes: bool,
    /// Whoever is told of each account.
    providers: Option<Arc<Providers>>,
    /// Accounts that have it.
    given: Mutex<BTreeSet<AccountId>>,
}

impl Configured {
    pub(crate) fn new(
        inner: FixedOrKept,
        billing: &Billing,
        grace_period: Option<Duration>,
    ) -> Self {
        let billing = billing.clone();
        Self {
            inner,
            billing,
            grace_period,
            calculates_taxes: false,
            providers: None,
            given: Mutex::default(),
        }
    }

    /// Has the taxes of accounts calculated, or not.
    pub(crate) fn with_taxes(self, calculates_taxes: bool) -> Self {
        Self { calculates_taxes, ..self }
    }

    /// Tells providers of the accounts that ask.
    pub(crate) fn telling(self, providers: &Arc<Providers>) -> Self {
        Self { providers: Some(Arc::clone(providers)), ..self }
    }

    async fn give(&self, account: &AccountId) -> Result<(), Error> {
        if self.given.lock().unwrap_or_else(PoisonError::into_inner).contains(account) {
            return Ok(());
        }
        let handle = self.billing.account(account.clone());
        let found = handle.configuration().await?;
        let mut wanted = found.clone();
        wanted.features.invoices = true;
        wanted.calculates_taxes = self.calculates_taxes;
        if let Some(grace_period) = self.grace_period {
            wanted.grace_period = grace_period;
        }
        if wanted != found {
            handle.configure(wanted).await?;
        }
        if let Some(providers) = &self.providers {
            providers.knows(account);
        }
        self.given.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone());
        Ok(())
    }
}

#[async_trait]
impl Authenticate for Configured {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        let account = self.inner.authenticate(token).await?;
        if let Some(account) = &account {
            self.give(account).await?;
        }
        Ok(account)
    }
}
