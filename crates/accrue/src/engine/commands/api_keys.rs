//! API keys, issued and revoked (`docs/decisions/api-keys-in-the-store.md`).

use std::time::Duration;

use async_trait::async_trait;

use crate::{
    AccountId, ApiKeyId, Error, ListFilter, Name, Page, PageRequest,
    api_key::{ApiKey, ApiKeyEntry, ApiToken, IssuedApiKey},
    engine::{
        Account, Billing,
        kernel::{Command, Stop, Transaction, apply_open},
    },
    schema::{self, Index, Nothing},
};

impl Billing {
    /// Returns the account of the API key that a token is for; none where it is no token, for no
    /// key, or no longer valid. Nobody is told which of these.
    ///
    /// It reads at most one row.
    ///
    /// # Errors
    ///
    /// [`Internal`](crate::ErrorKind::Internal) where the store fails: nobody is let in then.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, store::MemoryStore};
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// let acme = AccountId::parse("acme")?;
    /// let issued = billing.account(acme.clone()).issue_api_key(Name::parse("ci")?).await?;
    /// let token = issued.token.reveal();
    /// assert_eq!(billing.authenticate(&token).await?, Some(acme));
    /// assert_eq!(billing.authenticate("accrue_0").await?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn authenticate(&self, token: &str) -> Result<Option<AccountId>, Error> {
        let Some(token) = ApiToken::parse(token) else { return Ok(None) };
        let shared = self.shared();
        let slot = schema::api_key(token.id());
        let rows = shared.store.get(std::slice::from_ref(slot.key())).await?;
        let Some(row) = rows.into_iter().next().flatten() else { return Ok(None) };
        let entry = slot.decode(&row.document)?;
        Ok(entry.admits(&token, shared.now()).then_some(entry.account))
    }

    /// Tells whether an API key was ever issued in this store, of whichever account: otherwise
    /// [`authenticate`](Self::authenticate) lets nobody in.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, store::MemoryStore};
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// assert!(!billing.has_api_keys().await?);
    /// billing.account(AccountId::parse("acme")?).issue_api_key(Name::parse("ci")?).await?;
    /// assert!(billing.has_api_keys().await?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn has_api_keys(&self) -> Result<bool, Error> {
        Ok(!self.shared().store.scan(&schema::api_keys(1)).await?.is_empty())
    }
}

/// API keys. Their operations take no idempotency key: a stored answer would keep a secret.
impl Account {
    /// Issues an API key, and returns its token, which is shown only once.
    ///
    /// Where the outcome is unknown, the list tells whether there is a key whose token is lost: it can
    /// be revoked.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, store::MemoryStore};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let issued = account.issue_api_key(Name::parse("production")?).await?;
    /// println!("{}: {}", issued.key.name, issued.token.reveal());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn issue_api_key(&self, name: Name) -> Result<IssuedApiKey, Error> {
        apply_open(self, &IssueApiKey { name }).await
    }

    /// Rotates an API key: it gets a new secret. The current one stays valid for `overlap`, 30 days
    /// at most; where another overlap has not ended, the one before that is no longer valid.
    ///
    /// Where the outcome is unknown, [`fetch_api_key`](Self::fetch_api_key) tells when it was last
    /// rotated: ask it before another rotation, which would cut the overlap short.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the key is revoked.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use accrue::{AccountId, Billing, Name, store::MemoryStore};
    /// # pollster::block_on(async {
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let account = billing.account(AccountId::parse("acme")?);
    /// let old = account.issue_api_key(Name::parse("production")?).await?;
    /// let new = account.rotate_api_key(old.key.id, Duration::from_secs(3_600)).await?;
    /// for token in [old.token, new.token] {
    ///     assert!(billing.authenticate(&token.reveal()).await?.is_some());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn rotate_api_key(
        &self,
        id: ApiKeyId,
        overlap: Duration,
    ) -> Result<IssuedApiKey, Error> {
        apply_open(self, &RotateApiKey { id, overlap }).await
    }

    /// Revokes an API key: from now on none of its tokens is valid. A second time changes nothing,
    /// so that it can be done again where the outcome is unknown.
    pub async fn revoke_api_key(&self, id: ApiKeyId) -> Result<ApiKey, Error> {
        apply_open(self, &RevokeApiKey { id }).await
    }

    /// Returns an API key, also a revoked one.
    pub async fn fetch_api_key(&self, id: ApiKeyId) -> Result<ApiKey, Error> {
        Ok(api_key(&mut self.reading(), id).await?.key)
    }

    /// Lists the API keys, newest first, revoked ones too.
    pub async fn list_api_keys(
        &self,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<ApiKey>, Error> {
        let slot = |id| schema::api_key(ApiKeyId::from_bytes(id));
        let show = |entry: ApiKeyEntry| Some(entry.key);
        self.list("api_keys", Index::api_keys(self.id()), filter, page, slot, show).await
    }
}

async fn api_key(tx: &mut Transaction<'_>, id: ApiKeyId) -> Result<ApiKeyEntry, Error> {
    let found = tx.get(&schema::api_key(id)).await?;
    // The table has the keys of every account.
    let own = found.filter(|entry| entry.account == *tx.account);
    own.ok_or_else(|| Error::not_found("API key", id))
}

struct IssueApiKey {
    name: Name,
}

#[async_trait]
impl Command for IssueApiKey {
    type Outcome = IssuedApiKey;

    fn name(&self) -> &'static str {
        "issue_api_key"
    }

    fn subject(&self) -> Option<String> {
        Some(self.name.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<IssuedApiKey, Stop> {
        let id = ApiKeyId::generate(tx.now, tx.entropy());
        let token = ApiToken::draw(id, tx.entropy());
        let entry = ApiKeyEntry::issue(tx.account.clone(), self.name.clone(), &token, tx.now);
        tx.put(&schema::api_key(id), &entry)?;
        tx.put(&schema::api_key_by_time(tx.account, &entry.key), &Nothing {})?;
        Ok(IssuedApiKey { key: entry.key, token })
    }
}

struct RotateApiKey {
    id: ApiKeyId,
    overlap: Duration,
}

#[async_trait]
impl Command for RotateApiKey {
    type Outcome = IssuedApiKey;

    fn name(&self) -> &'static str {
        "rotate_api_key"
    }

    fn subject(&self) -> Option<String> {
        Some(self.id.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<IssuedApiKey, Stop> {
        let before = api_key(tx, self.id).await?;
        let token = ApiToken::draw(self.id, tx.entropy());
        let entry = before.rotate(&token, self.overlap, tx.now)?;
        tx.put(&schema::api_key(self.id), &entry)?;
        Ok(IssuedApiKey { key: entry.key, token })
    }
}

struct RevokeApiKey {
    id: ApiKeyId,
}

#[async_trait]
impl Command for RevokeApiKey {
    type Outcome = ApiKey;

    fn name(&self) -> &'static str {
        "revoke_api_key"
    }

    fn subject(&self) -> Option<String> {
        Some(self.id.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<ApiKey, Stop> {
        let entry = api_key(tx, self.id).await?.revoke(tx.now);
        tx.put(&schema::api_key(self.id), &entry)?;
        Ok(entry.key)
    }
}
