//! Tokens that are shown once: an id and a secret, of which only the SHA-256 is kept.
//!
//! That is enough for 192 random bits, which nobody can guess from a list.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::{ApiKeyId, Entropy, InvitationId, SessionId, hex};

/// Token that somebody shows: an id and a secret. Its text is seen only where it is
/// [revealed](Self::reveal).
#[derive(Clone)]
pub struct Token<Id> {
    id: Id,
    secret: Secret,
}

/// The random part of a token.
type Secret = [u8; 24];

const ID_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;
const DIGITS: usize = 2 * (ID_BYTES + size_of::<Secret>() + CHECKSUM_BYTES);

/// Ids that tokens are for.
pub trait Shown: sealed::Sealed + Copy + PartialEq {
    /// What every token of the kind begins with, so that one is recognized where it does not belong.
    const PREFIX: &'static str;
    /// Name of the type of the token.
    const NAME: &'static str;
}

mod sealed {
    pub trait Sealed {
        fn bytes(&self) -> &[u8; 16];
        fn of_bytes(bytes: [u8; 16]) -> Self;
    }
}

/// Declares ids that tokens are for.
macro_rules! shown {
    ($($id:ident: $prefix:literal, $name:literal;)*) => {$(
        impl sealed::Sealed for $id {
            fn bytes(&self) -> &[u8; 16] {
                self.as_bytes()
            }

            fn of_bytes(bytes: [u8; 16]) -> Self {
                Self::from_bytes(bytes)
            }
        }

        impl Shown for $id {
            const PREFIX: &'static str = $prefix;
            const NAME: &'static str = $name;
        }
    )*};
}

shown! {
    ApiKeyId: "accrue_", "ApiToken";
    InvitationId: "accrue_invitation_", "InvitationToken";
    SessionId: "accrue_session_", "SessionToken";
}

impl<Id: Shown> Token<Id> {
    pub(crate) fn draw(id: Id, entropy: &dyn Entropy) -> Self {
        let mut secret = Secret::default();
        entropy.fill(&mut secret);
        Self { id, secret }
    }

    /// Returns the text of the token: the prefix of its kind, `accrue_` for an API key, and 88 hexadecimal
    /// digits for the id, the secret and a checksum of both.
    #[must_use]
    pub fn reveal(&self) -> String {
        let bytes = [self.id.bytes().as_slice(), &self.secret, &self.checksum()].concat();
        format!("{}{}", Id::PREFIX, hex::encode(&bytes))
    }

    /// Parses a token; none where the text is not one, such as a typo.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(Id::PREFIX).filter(|digits| digits.len() == DIGITS)?;
        let bytes = hex::decode(digits)?;
        let (id, rest) = bytes.split_first_chunk::<ID_BYTES>()?;
        let (secret, checksum) = rest.split_first_chunk()?;
        let token = Self { id: Id::of_bytes(*id), secret: *secret };
        (token.checksum().as_slice() == checksum).then_some(token)
    }

    /// Returns the id that it is for.
    #[must_use]
    pub const fn id(&self) -> Id {
        self.id
    }

    fn checksum(&self) -> [u8; CHECKSUM_BYTES] {
        let sha = Sha256::new().chain_update(Id::PREFIX).chain_update(self.id.bytes());
        let digest: [u8; 32] = sha.chain_update(self.secret).finalize().into();
        digest.first_chunk().copied().unwrap_or_default()
    }

    pub(crate) fn hash(&self) -> SecretHash {
        SecretHash(hex::encode(&Sha256::digest(self.secret)))
    }
}

impl<Id: Shown + fmt::Debug> fmt::Debug for Token<Id> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(Id::NAME).field("id", &self.id).finish_non_exhaustive()
    }
}

/// SHA-256 of a secret, as digits: all that is kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SecretHash(String);

impl SecretHash {
    /// Tells whether two are one. The time that it takes reveals nothing about them.
    pub(crate) fn is(&self, other: &Self) -> Choice {
        self.0.as_bytes().ct_eq(other.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SeededEntropy, Timestamp};

    fn token() -> Token<ApiKeyId> {
        let entropy = SeededEntropy::new(1);
        Token::draw(ApiKeyId::generate(Timestamp::MIN, &entropy), &entropy)
    }

    fn parse(text: &str) -> Option<Token<ApiKeyId>> {
        Token::parse(text)
    }

    #[test]
    fn a_token_reads_back() {
        let token = token();
        let text = token.reveal();
        assert_eq!(text.len(), "accrue_".len() + 88);
        let read = parse(&text).unwrap();
        assert_eq!((read.id, read.secret), (token.id, token.secret));
    }

    #[test]
    fn every_typo_is_seen_before_a_store_is_asked() {
        let text = token().reveal();
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            assert!(parse(&String::from_utf8(other).unwrap()).is_none(), "{at}");
        }
        let long = format!("{text}0");
        for other in ["", "accrue_", &text[1..], &text[..text.len() - 2], &long, "accrue_é"] {
            assert!(parse(other).is_none(), "{other}");
        }
        assert!(parse(&text.to_uppercase()).is_none());
    }

    #[test]
    fn a_token_of_one_kind_is_none_of_another() {
        let key = token();
        let session = Token { id: SessionId::from_bytes(*key.id.as_bytes()), secret: key.secret };
        assert!(Token::<SessionId>::parse(&key.reveal()).is_none());
        let swapped = session.reveal().replacen("accrue_session_", "accrue_", 1);
        assert!(parse(&swapped).is_none(), "the checksum is of the kind too");
    }

    #[test]
    fn nothing_shows_a_token_that_is_not_asked_to() {
        let token = token();
        let shown = format!("{token:?}");
        assert_eq!(shown, format!("ApiToken {{ id: {}, .. }}", token.id));
    }
}
