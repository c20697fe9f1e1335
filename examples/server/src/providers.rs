use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use accrue::{AccountId, Billing, Error, PageRequest};

use crate::{sandbox::SandboxGateway, sandbox_tax::SandboxTax};

/// What collects payments and calculates taxes: for accounts that the server was started with, and those that
/// have asked, since a store does not list the accounts that there are.
#[derive(Debug)]
pub(crate) struct Providers {
    billing: Billing,
    gateway: Option<SandboxGateway>,
    tax: Option<SandboxTax>,
    accounts: Mutex<BTreeSet<AccountId>>,
}

impl Providers {
    /// Provides for some accounts to begin with; `None` where there is nothing to provide.
    pub(crate) fn of<'a>(
        billing: &Billing,
        (gateway, tax): (Option<SandboxGateway>, Option<SandboxTax>),
        accounts: impl Iterator<Item = &'a AccountId>,
    ) -> Option<Arc<Self>> {
        if gateway.is_none() && tax.is_none() {
            return None;
        }
        let (billing, accounts) = (billing.clone(), Mutex::new(accounts.cloned().collect()));
        Some(Arc::new(Self { billing, gateway, tax, accounts }))
    }

    /// Notes that there is an account.
    pub(crate) fn knows(&self, account: &AccountId) {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone());
    }

    /// Calculates the taxes that invoices wait for, and charges what is under way; returns how many invoices
    /// were issued by that. What is wrong with one account stops no other.
    pub(crate) async fn provide(&self) -> Result<usize, Error> {
        let (mut issued, mut failed) = (0_usize, None);
        for account in self.accounts() {
            let account = self.billing.account(account);
            if let Some(tax) = &self.tax {
                match account.calculate_taxes(tax).await {
                    Ok(some) => issued = issued.saturating_add(some),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            if let Some(gateway) = &self.gateway {
                failed = failed.or(account.collect_payments(gateway).await.err());
            }
        }
        failed.map_or(Ok(issued), Err)
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
