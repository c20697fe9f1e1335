//! Secrets of endpoints, and what is signed with them (wire 6.8).

use std::{fmt, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::{AccountId, Error, MessageId, Timestamp, WebhookEndpointId, hex, limits};

/// Key of the host that the secrets of its endpoints are computed from: nothing of them is stored
/// (`docs/decisions/endpoint-secrets-are-computed.md`).
///
/// With another key every endpoint has another secret.
///
/// ```
/// use accrue::webhook::WebhookKey;
///
/// let key = WebhookKey::new(b"32 random bytes of the host's own")?;
/// assert!(WebhookKey::new(b"short").is_err());
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone)]
pub struct WebhookKey(Vec<u8>);

impl WebhookKey {
    /// Takes a key of at least 32 bytes, which are random.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where it is shorter.
    pub fn new(key: &[u8]) -> Result<Self, Error> {
        const LEAST: usize = 32;
        match key.len() {
            LEAST.. => Ok(Self(key.to_owned())),
            found => {
                let message = format!("found {found} bytes, expected {LEAST} at least");
                Err(Error::invalid("webhook_key", message))
            }
        }
    }

    /// Returns the secret of a version.
    fn secret(&self, account: &AccountId, endpoint: WebhookEndpointId, version: u32) -> Secret {
        let mut mac = keyed(&self.0);
        mac.update(b"accrue webhook secret\0");
        mac.update(account.as_str().as_bytes());
        mac.update(b"\0");
        mac.update(endpoint.as_bytes());
        mac.update(&version.to_be_bytes());
        Secret(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for WebhookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookKey(..)")
    }
}

/// Secret of an endpoint. Its text is seen only where it is [revealed](Self::reveal).
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

/// What the texts of secrets begin with, by the Standard Webhooks convention.
const PREFIX: &str = "whsec_";

impl Secret {
    /// Returns its text: `whsec_` and 32 bytes in base64.
    ///
    /// The clients of the API take all of it as the key; libraries of Standard Webhooks take the bytes.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Which secrets an endpoint has: that of a version, and the one before it while they overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SecretVersion {
    version: u32,
    /// First instant at which the one before is no longer used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) overlap_until: Option<Timestamp>,
}

impl SecretVersion {
    /// Goes on to the next one. The current one is used beside it for an overlap.
    pub(crate) fn rotate(self, overlap: Duration, now: Timestamp) -> Result<Self, Error> {
        let most = limits::SECRET_OVERLAP_DAYS;
        if overlap > Duration::from_secs(most.saturating_mul(24 * 60 * 60)) {
            let message = format!("found {overlap:?}, expected at most {most} days");
            return Err(Error::invalid("overlap", message));
        }
        let overlap_until = (!overlap.is_zero()).then(|| now.saturating_add(overlap));
        Ok(Self { version: self.version.saturating_add(1), overlap_until })
    }

    /// Returns the secret that is current.
    pub(crate) fn current(self, key: &WebhookKey, of: (&AccountId, WebhookEndpointId)) -> Secret {
        key.secret(of.0, of.1, self.version)
    }

    /// Returns the secrets that requests of an instant are signed with, the current one first.
    pub(crate) fn secrets(
        self,
        key: &WebhookKey,
        of: (&AccountId, WebhookEndpointId),
        at: Timestamp,
    ) -> Secrets {
        let overlaps = self.overlap_until.is_some_and(|until| at < until);
        let before = self.version.checked_sub(1).filter(|_| overlaps);
        Secrets {
            current: self.current(key, of),
            previous: before.map(|version| key.secret(of.0, of.1, version)),
        }
    }
}

/// Secrets that a request is signed with.
///
/// ```
/// # use accrue::{AccountId, Billing, store::MemoryStore};
/// use accrue::webhook::{EndpointUrl, NewEndpoint, Reach, WebhookKey};
///
/// # pollster::block_on(async {
/// # let billing = Billing::with_system(MemoryStore::new());
/// # let account = billing.account(AccountId::parse("acme")?);
/// let key = WebhookKey::new(b"32 random bytes of the host's own")?;
/// let url = EndpointUrl::parse("https://hooks.example.com", &Reach::public())?;
/// let endpoint = account.create_webhook_endpoint(NewEndpoint::new(url)).await?;
/// let secrets = endpoint.secrets(&key, account.id(), billing.now());
/// assert!(secrets.current.reveal().starts_with("whsec_"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secrets {
    /// The one that is shown when an endpoint is made, or its secret is rotated.
    pub current: Secret,
    /// The one before it, while they overlap.
    pub previous: Option<Secret>,
}

impl Secrets {
    /// Signs the body of a message, at the instant of an attempt.
    #[must_use]
    pub fn sign(&self, id: MessageId, at: Timestamp, body: &str) -> Signatures {
        let seconds = at.micros().div_euclid(1_000_000);
        let standard = |secret: &Secret| {
            let mut mac = keyed(&secret.0);
            mac.update(format!("{id}.{seconds}.").as_bytes());
            mac.update(body.as_bytes());
            format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
        };
        let both = [Some(&self.current), self.previous.as_ref()].into_iter().flatten();
        let standard: Vec<_> = both.map(standard).collect();
        // Some receivers take neither a zone nor a sign for it.
        let instant = at.to_string().trim_end_matches('Z').to_owned();
        let oldest = self.previous.as_ref().unwrap_or(&self.current);
        let signature = signature(&oldest.reveal(), &instant, body);
        Signatures {
            seconds: seconds.to_string(),
            standard: standard.join(" "),
            instant,
            api: format!("v1={signature}"),
        }
    }
}

/// Signatures of a request, both those of Standard Webhooks and that of the API.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signatures {
    /// Instant of the attempt, in seconds since 1970.
    pub seconds: String,
    /// Signatures by Standard Webhooks, one for each secret: over the id, the seconds and the body.
    pub standard: String,
    /// Instant of the attempt in UTC, without a zone.
    pub instant: String,
    /// Signature of the API, over the instant as it is here and the body. Its receivers read one: while two secrets
    /// overlap it is of the older one, which every receiver has.
    pub api: String,
}

/// The signature of the API: over the timestamp as it is sent, and the bytes of the body.
fn signature(secret: &str, timestamp: &str, body: &str) -> String {
    let mut mac = keyed(secret.as_bytes());
    mac.update(format!("v1:{timestamp}:").as_bytes());
    mac.update(body.as_bytes());
    hex::encode(&mac.finalize().into_bytes())
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("a key of any length will do")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededEntropy;

    fn of() -> (AccountId, WebhookEndpointId, WebhookKey) {
        let id = WebhookEndpointId::generate(Timestamp::MIN, &SeededEntropy::new(1));
        (AccountId::parse("acme").unwrap(), id, WebhookKey::new(&[7; 32]).unwrap())
    }

    #[test]
    fn wire_6_8_the_test_vectors_of_the_published_clients() {
        const SECRET: &str = "c-UGKYdnhHh436B_sMouYAPUvXyWpzOdunZBV5dFSD8";
        const AT: &str = "2024-03-27T15:42:29.551";
        let body = |style: &str| {
            format!(
                r#"{{"id": "o4mmewpfNNTnjfZc", "created_at": "2024-03-27T15:42:29+00:00", "type": "resource_event.test", {style}"properties": {{"message": "A test webhook from Orb. Happy testing!"}}}}"#
            )
        };
        let expanded = "\"payload_style\": \"expanded\", ";
        for (style, expected) in [
            ("", "9d25de966891ab0bc18754faf8d83d0980b44ae330fcc130b41a6cf3daf1f391"),
            (expanded, "34c51e7436aca75f9c6799d3e1e5a0066265d8e5512df552aaa7e8464f2b8454"),
        ] {
            assert_eq!(signature(SECRET, AT, &body(style)), expected);
        }
    }

    /// The example of the Standard Webhooks libraries.
    #[test]
    fn the_test_vector_of_standard_webhooks() {
        let mut mac = keyed(&STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap());
        mac.update(br#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#);
        let found = STANDARD.encode(mac.finalize().into_bytes());
        assert_eq!(found, "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_rotation_overlaps() {
        let (account, id, key) = of();
        let of = (&account, id);
        let (now, day) = (Timestamp::MIN, Duration::from_secs(24 * 60 * 60));
        let first = SecretVersion::default();
        assert_eq!(first.secrets(&key, of, now).previous, None);
        let second = first.rotate(day, now).unwrap();
        let both = second.secrets(&key, of, now);
        assert_eq!(both.previous, Some(first.current(&key, of)));
        assert_ne!(both.previous, Some(both.current.clone()));
        let message = MessageId::generate(now, &SeededEntropy::new(2));
        let signed = both.sign(message, now, "{}");
        assert_eq!(signed.standard.split(' ').count(), 2);
        let older = signature(&first.current(&key, of).reveal(), &signed.instant, "{}");
        assert_eq!(signed.api, format!("v1={older}"));
        assert!(!signed.instant.ends_with('Z') && signed.instant.contains('T'));
        let after = second.secrets(&key, of, now.saturating_add(day));
        assert_eq!(after.previous, None);
        // Without an overlap only the new one is used.
        let third = second.rotate(Duration::ZERO, now).unwrap();
        assert_eq!(third.secrets(&key, of, now).previous, None);
        second.rotate(day * 31, now).unwrap_err();
    }

    #[test]
    fn secrets_differ_by_key_account_endpoint_and_version() {
        let (account, id, key) = of();
        let one = key.secret(&account, id, 0);
        assert_eq!(one, key.secret(&account, id, 0));
        let other = WebhookEndpointId::generate(Timestamp::MIN, &SeededEntropy::new(9));
        for found in [
            key.secret(&account, id, 1),
            key.secret(&account, other, 0),
            key.secret(&AccountId::parse("acm").unwrap(), id, 0),
            WebhookKey::new(&[8; 32]).unwrap().secret(&account, id, 0),
        ] {
            assert_ne!(one, found);
        }
        assert_eq!(one.reveal().len(), PREFIX.len() + 44);
        assert_eq!(format!("{one:?} {key:?}"), "Secret(..) WebhookKey(..)");
    }
}
