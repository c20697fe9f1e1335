//! Who is let in.

use accrue::{AccountId, Billing, Error};
use accrue_http::{ApiKeys, Authenticate, FixedKey};
use async_trait::async_trait;

use crate::FixedKeys;

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
