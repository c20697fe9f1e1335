use accrue::{AccountId, Billing, Error};
use accrue_http::{ApiKeys, Authenticate, FixedKey};
use async_trait::async_trait;

/// Lets in whom the key that the server was started with is shown by, and whom one is that is kept in
/// the store.
#[derive(Debug)]
pub(crate) struct FixedOrKept {
    fixed: FixedKey,
    kept: ApiKeys,
}

impl FixedOrKept {
    pub(crate) fn new(fixed: FixedKey, billing: &Billing) -> Self {
        Self { fixed, kept: ApiKeys::new(billing) }
    }
}

#[async_trait]
impl Authenticate for FixedOrKept {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        match self.fixed.authenticate(token).await? {
            Some(account) => Ok(Some(account)),
            None => self.kept.authenticate(token).await,
        }
    }
}
