use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::hex;

/// Digest that identifies a payload: SHA-256 over its parts, each with its length before it, and a
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

/// Builder of a fingerprint, piece by piece: within a long payload, other tasks get their turn between
/// pieces.
///
/// ```
/// use accrue::idempotency::{Fingerprint, Fingerprinting};
///
/// let mut taking = Fingerprinting::default();
/// for part in ["import", "a very long part"] {
///     taking.begin_part(part.len());
///     part.as_bytes().chunks(4).for_each(|piece| taking.add(piece));
/// }
/// assert_eq!(taking.finish(), Fingerprint::of(["import", "a very long part"]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fingerprinting(Sha256);

impl Fingerprinting {
    /// Begins a part of `bytes` bytes.
    pub fn begin_part(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.0.update(bytes.to_be_bytes());
    }

    /// Adds a piece of the part that was begun last.
    pub fn add(&mut self, piece: impl AsRef<[u8]>) {
        self.0.update(piece);
    }

    /// Returns the fingerprint of the parts.
    #[must_use]
    pub fn finish(self) -> Fingerprint {
        Fingerprint(self.0.finalize().into())
    }
}

impl Fingerprint {
    /// Takes the fingerprint of a payload in parts.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        let mut taking = Fingerprinting::default();
        for part in parts {
            taking.begin_part(part.as_ref().len());
            taking.add(part);
        }
        taking.finish()
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
