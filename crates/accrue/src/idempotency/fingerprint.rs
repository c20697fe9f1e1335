use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::{Pace, hex};

/// What a payload is recognized by: SHA-256 over its parts, each with its length before it, and a
/// version byte that leads.
///
/// ```
/// use accrue::idempotency::Fingerprint;
///
/// assert_eq!(Fingerprint::of(["create", "a"]), Fingerprint::of(["create", "a"]));
/// assert_ne!(Fingerprint::of(["create", "a"]), Fingerprint::of(["createa", ""]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

const VERSION: u8 = 1;

impl Fingerprint {
    /// Takes the fingerprint of a payload in parts.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        let hasher = parts.into_iter().fold(Sha256::new(), |hasher, part| {
            let length = u64::try_from(part.as_ref().len()).unwrap_or(u64::MAX);
            hasher.chain_update(length.to_be_bytes()).chain_update(part)
        });
        Self(hasher.finalize().into())
    }

    /// Takes the same fingerprint of a payload that may be long, and lets others have their turn
    /// meanwhile.
    ///
    /// ```
    /// use accrue::{Pace, idempotency::Fingerprint};
    ///
    /// # pollster::block_on(async {
    /// let (pace, parts) = (Pace::new(), ["import", &"a".repeat(1_000_000)]);
    /// assert_eq!(Fingerprint::of_long(parts, &pace).await, Fingerprint::of(parts));
    /// # });
    /// ```
    pub async fn of_long<P: AsRef<[u8]>>(
        parts: impl IntoIterator<Item = P, IntoIter: Send> + Send,
        pace: &Pace,
    ) -> Self
    where
        P: Send + Sync,
    {
        /// How much is taken between two looks at the pace.
        const CHUNK: usize = 16 * 1024;
        let mut hasher = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            hasher.update(length.to_be_bytes());
            for chunk in part.chunks(CHUNK) {
                hasher.update(chunk);
                pace.spend_bytes(chunk.len()).await;
            }
        }
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION:02x}{}", hex::encode(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = hex::decode(&text).unwrap_or_default();
        match bytes.split_first() {
            Some((&VERSION, digest)) => digest.try_into().map(Self).map_err(de::Error::custom),
            _ => Err(de::Error::custom("expected a fingerprint")),
        }
    }
}
