use std::fmt;

use accrue::{AccountId, Billing, Error};
use async_trait::async_trait;
use http::{HeaderMap, header::AUTHORIZATION};

/// Tells whose an API key is.
///
/// What it answers must not depend, in content or in time, on how much of a key is right.
#[async_trait]
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the account of a bearer token; `None` where it is malformed, unknown or revoked,
    /// which a client cannot tell apart (§5).
    ///
    /// # Errors
    ///
    /// Where it cannot be looked up now: the request is answered 500.
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error>;
}

/// Returns the token of the one `Authorization: Bearer` header (§5).
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    let mut found = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (found.next(), found.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The API keys that are kept in the store: issued, rotated and revoked by the
/// [`Account`](accrue::Account) that they are of.
///
/// ```
/// use accrue::{Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
/// use accrue_http::{Api, ApiKeys};
///
/// let clock = ManualClock::at(Timestamp::MIN);
/// let billing = Billing::new(MemoryStore::new(), clock, SeededEntropy::new(1));
/// let api = Api::builder(billing.clone(), ApiKeys::new(&billing)).build();
/// ```
#[derive(Clone, Debug)]
pub struct ApiKeys(Billing);

impl ApiKeys {
    /// Lets in whom a key of this engine's store is shown by.
    #[must_use]
    pub fn new(billing: &Billing) -> Self {
        Self(billing.clone())
    }
}

#[async_trait]
impl Authenticate for ApiKeys {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        self.0.authenticate(token).await
    }
}

/// One key that the host was started with, for one account: for development and tests.
#[derive(Clone)]
pub struct FixedKey {
    token: String,
    account: AccountId,
}

impl FixedKey {
    /// Lets this token in, as this account.
    pub fn new(token: impl Into<String>, account: AccountId) -> Self {
        Self { token: token.into(), account }
    }
}

#[async_trait]
impl Authenticate for FixedKey {
    async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        // Of equal length whatever they are, so that comparing takes the same time.
        let same = digest(token) == digest(&self.token);
        Ok(same.then(|| self.account.clone()))
    }
}

fn digest(text: &str) -> String {
    accrue::idempotency::Fingerprint::of([text]).to_string()
}

impl fmt::Debug for FixedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedKey").field("account", &self.account).finish_non_exhaustive()
    }
}
