use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use accrue::{AccountId, Billing, Error, PageRequest};
use accrue_http::ApiBuilder;

use crate::{
    options::ServeOptions, sandbox::SandboxGateway, sandbox_invoicing::SandboxInvoicing,
    sandbox_tax::SandboxTax,
};

/// What calculates taxes, hands out invoices and collects payments: for accounts that the server was started with, and those that
/// have asked, since a store does not list the accounts that there are.
#[derive(Debug)]
pub(crate) struct Providers {
    billing: Billing,
    gateway: Option<SandboxGateway>,
    tax: Option<SandboxTax>,
    invoicing: Option<SandboxInvoicing>,
    accounts: Mutex<BTreeSet<AccountId>>,
}

impl Providers {
    /// Provides for some accounts to begin with; `None` where there is nothing to provide.
    pub(crate) fn of<'a>(
        billing: &Billing,
        options: &ServeOptions,
        accounts: impl Iterator<Item = &'a AccountId>,
    ) -> Option<Arc<Self>> {
        let gateway = options.sandbox_gateway.then(|| SandboxGateway::new(billing));
        let tax = options.sandbox_tax.as_ref().and_then(SandboxTax::new);
        let invoicing = options.sandbox_invoicing.then_some(SandboxInvoicing);
        if gateway.is_none() && tax.is_none() && invoicing.is_none() {
            return None;
        }
        let (billing, accounts) = (billing.clone(), Mutex::new(accounts.cloned().collect()));
        Some(Arc::new(Self { billing, gateway, tax, invoicing, accounts }))
    }

    /// Lets an API ask those that it asks within requests.
    pub(crate) fn asked_by(&self, mut builder: ApiBuilder) -> ApiBuilder {
        if let Some(gateway) = &self.gateway {
            builder = builder.payment_gateway(gateway.clone()).payment_methods(gateway.clone());
        }
        if let Some(tax) = &self.tax {
            builder = builder.tax_provider(tax.clone());
        }
        builder
    }

    /// Notes that there is an account.
    pub(crate) fn knows(&self, account: &AccountId) {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone());
    }

    /// Calculates the taxes that invoices wait for, syncs those that are issued, and charges what is under way;
    /// returns how many invoices were issued by that. What is wrong with one account stops no other.
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
            if let Some(invoicing) = &self.invoicing {
                failed = failed.or(account.sync_invoices(invoicing).await.err());
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
