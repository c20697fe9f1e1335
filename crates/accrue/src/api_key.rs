//! API keys, by which the callers of an account are authenticated.
//!
//! A key is an id and a secret. Its token, which has both, is shown once; only the SHA-256 of the
//! secret is kept.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::Choice;

pub use crate::token::Token;
use crate::{AccountId, ApiKeyId, Error, Name, Timestamp, limits, token::SecretHash};

/// An API key of an account, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Name that says what it is for.
    pub name: Name,
    /// Instant at which it was issued.
    pub created_at: Timestamp,
    /// Instant at which it was last given a new secret.
    pub rotated_at: Option<Timestamp>,
    /// First instant at which the secret before that is no longer valid.
    pub overlap_until: Option<Timestamp>,
    /// Instant from which none of its secrets is valid.
    pub revoked_at: Option<Timestamp>,
}

/// An API key with the token that was issued for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IssuedApiKey {
    /// The key.
    pub key: ApiKey,
    /// Its token, which is shown only once.
    pub token: ApiToken,
}

/// Token of an API key: `accrue_` and 88 hexadecimal digits.
pub type ApiToken = Token<ApiKeyId>;

/// Stored row of a key: its account, and the hashes of its secrets, two at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ApiKeyEntry {
    pub(crate) account: AccountId,
    pub(crate) key: ApiKey,
    secret: SecretHash,
    /// Hash before the last rotation, valid until the overlap ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<SecretHash>,
}

impl ApiKeyEntry {
    pub(crate) fn issue(account: AccountId, name: Name, token: &ApiToken, now: Timestamp) -> Self {
        let key = ApiKey {
            id: token.id(),
            name,
            created_at: now,
            rotated_at: None,
            overlap_until: None,
            revoked_at: None,
        };
        Self { account, key, secret: token.hash(), previous: None }
    }

    /// Rotates the key to a new secret. The current one stays valid for an overlap; one before that
    /// does not.
    pub(crate) fn rotate(
        mut self,
        token: &ApiToken,
        overlap: Duration,
        now: Timestamp,
    ) -> Result<Self, Error> {
        if self.key.revoked_at.is_some() {
            return Err(Error::constraint("the API key is revoked"));
        }
        let most = limits::API_KEY_OVERLAP_DAYS;
        if overlap > Duration::from_secs(most.saturating_mul(24 * 60 * 60)) {
            let message = format!("found {overlap:?}, expected at most {most} days");
            return Err(Error::invalid("overlap", message));
        }
        let until = Some(overlap).filter(|overlap| !overlap.is_zero());
        self.key.overlap_until = until.map(|overlap| now.saturating_add(overlap));
        self.key.rotated_at = Some(now);
        let before = std::mem::replace(&mut self.secret, token.hash());
        self.previous = self.key.overlap_until.map(|_| before);
        Ok(self)
    }

    /// Revokes the key: none of its secrets is valid any more.
    pub(crate) fn revoke(mut self, now: Timestamp) -> Self {
        self.key.revoked_at.get_or_insert(now);
        self.key.overlap_until = None;
        self.previous = None;
        self
    }

    /// Tells whether a token is valid at an instant. The time that it takes reveals nothing about a
    /// secret.
    pub(crate) fn admits(&self, token: &ApiToken, now: Timestamp) -> bool {
        let shown = token.hash();
        let overlaps = self.key.overlap_until.is_some_and(|until| now < until);
        let previous = self.previous.as_ref().filter(|_| overlaps);
        let is_previous = previous.map_or_else(|| Choice::from(0), |hash| hash.is(&shown));
        let is_secret = self.secret.is(&shown) | is_previous;
        token.id() == self.key.id && self.key.revoked_at.is_none() && is_secret.into()
    }
}
