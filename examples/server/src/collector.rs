use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use accrue::{AccountId, Billing, Error, PageRequest};

use crate::sandbox::SandboxGateway;

/// Collects the payments of accounts with a gateway: of those that the server was started with, and of
/// those that have asked, since a store does not list the accounts that there are.
#[derive(Debug)]
pub(crate) struct Collector {
    billing: Billing,
    gateway: SandboxGateway,
    accounts: Mutex<BTreeSet<AccountId>>,
}

impl Collector {
    /// Collects those of some accounts to begin with.
    pub(crate) fn of<'a>(
        billing: &Billing,
        accounts: impl Iterator<Item = &'a AccountId>,
    ) -> Arc<Self> {
        let (billing, gateway) = (billing.clone(), SandboxGateway::new(billing));
        Arc::new(Self { billing, gateway, accounts: Mutex::new(accounts.cloned().collect()) })
    }

    /// Notes that there is an account.
    pub(crate) fn knows(&self, account: &AccountId) {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone());
    }

    /// Charges what is under way. What is wrong with one account stops no other.
    pub(crate) async fn collect(&self) -> Result<(), Error> {
        let mut failed = None;
        for account in self.accounts() {
            let collected = self.billing.account(account).collect_payments(&self.gateway).await;
            failed = failed.or(collected.err());
        }
        failed.map_or(Ok(()), Err)
    }

    /// Tells whether a payment is under way.
    pub(crate) async fn waits(&self) -> Result<bool, Error> {
        let page = PageRequest::first(1)?;
        for account in self.accounts() {
            let started = self.billing.account(account).list_started_payments(&page).await?;
            if !started.data.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn accounts(&self) -> Vec<AccountId> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
