//! API keys, by which the callers of an account are authenticated.
//!
//! A key is an id and a secret. Its token, which has both, is shown once; only the SHA-256 of the
//! secret is kept, which is enough for 192 random bits.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::{AccountId, ApiKeyId, Entropy, Error, Name, Timestamp, hex, limits};

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

/// Token that a caller shows: the id of a key and its secret. Its text is seen only where it is
/// [revealed](Self::reveal).
#[derive(Clone)]
pub struct ApiToken {
    id: ApiKeyId,
    secret: Secret,
}

/// The random part of a token.
type Secret = [u8; 24];

/// Prefix of every token, so that one is recognized where it does not belong.
const PREFIX: &str = "accrue_";
const ID_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;
const TOKEN_BYTES: usize = PREFIX.len() + 2 * (ID_BYTES + size_of::<Secret>() + CHECKSUM_BYTES);

impl ApiToken {
    pub(crate) fn draw(id: ApiKeyId, entropy: &dyn Entropy) -> Self {
        let mut secret = Secret::default();
        entropy.fill(&mut secret);
        Self { id, secret }
    }

    /// Returns the text of the token: `accrue_`, and 88 hexadecimal digits for the id, the secret
    /// and a checksum of both.
    #[must_use]
    pub fn reveal(&self) -> String {
        let bytes = [self.id.as_bytes().as_slice(), &self.secret, &self.checksum()].concat();
        format!("{PREFIX}{}", hex::encode(&bytes))
    }

    /// Parses a token; none where the text is not one, such as a typo.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX).filter(|_| text.len() == TOKEN_BYTES)?;
        let bytes = hex::decode(digits)?;
        let (id, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let (secret, checksum) = rest.split_first_chunk()?;
        let token = Self { id: ApiKeyId::from_bytes(*id), secret: *secret };
        (token.checksum().as_slice() == checksum).then_some(token)
    }

    /// Returns the id of its key.
    #[must_use]
    pub const fn id(&self) -> ApiKeyId {
        self.id
    }

    fn checksum(&self) -> [u8; CHECKSUM_BYTES] {
        let sha = Sha256::new().chain_update(PREFIX).chain_update(self.id.as_bytes());
        let digest: [u8; 32] = sha.chain_update(self.secret).finalize().into();
        digest.first_chunk().copied().unwrap_or_default()
    }

    fn hash(&self) -> SecretHash {
        SecretHash(hex::encode(&Sha256::digest(self.secret)))
    }
}

impl fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiToken").field("id", &self.id).finish_non_exhaustive()
    }
}

/// SHA-256 of a secret, as digits: all that is kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct SecretHash(String);

impl SecretHash {
    fn is(&self, other: &Self) -> Choice {
        self.0.as_bytes().ct_eq(other.0.as_bytes())
    }
}

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
            id: token.id,
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
        token.id == self.key.id && self.key.revoked_at.is_none() && is_secret.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededEntropy;

    fn token() -> ApiToken {
        let entropy = SeededEntropy::new(1);
        ApiToken::draw(ApiKeyId::generate(Timestamp::MIN, &entropy), &entropy)
    }

    #[test]
    fn a_token_reads_back() {
        let token = token();
        let text = token.reveal();
        assert_eq!(text.len(), TOKEN_BYTES);
        let read = ApiToken::parse(&text).unwrap();
        assert_eq!((read.id, read.secret), (token.id, token.secret));
    }

    #[test]
    fn every_typo_is_seen_before_a_store_is_asked() {
        let text = token().reveal();
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            assert!(ApiToken::parse(&String::from_utf8(other).unwrap()).is_none(), "{at}");
        }
        let long = format!("{text}0");
        for other in ["", "accrue_", &text[1..], &text[..text.len() - 2], &long, "accrue_é"] {
            assert!(ApiToken::parse(other).is_none(), "{other}");
        }
        assert!(ApiToken::parse(&text.to_uppercase()).is_none());
    }

    #[test]
    fn nothing_shows_a_token_that_is_not_asked_to() {
        let token = token();
        let shown = format!("{token:?}");
        assert_eq!(shown, format!("ApiToken {{ id: {}, .. }}", token.id));
    }
}
