use std::fmt;

use super::ApiKeyError;

/// The longest API key, in bytes: with it, the head of a request is still far from what any server or
/// proxy refuses.
pub(super) const KEY_BYTES: u64 = 4_096;

/// What clients show to be let in: 1 to 4,096 visible ASCII characters (`!` to `~`). Nothing shows it
/// that is not asked to.
///
/// A header carries these as they are. It loses spaces at its ends, has no control characters, and no
/// encoding of others.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Parses a key that was found at `origin`, which an error names.
    pub(super) fn parse(bytes: &[u8], origin: &str) -> Result<Self, ApiKeyError> {
        let wrong = |wrong| ApiKeyError::Wrong { origin: origin.to_owned(), wrong };
        if bytes.is_empty() {
            return Err(wrong("is empty"));
        }
        if !u64::try_from(bytes.len()).is_ok_and(|length| length <= KEY_BYTES) {
            return Err(wrong("is too long: expected at most 4096 bytes"));
        }
        let text = str::from_utf8(bytes).ok();
        let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
        let expected = "has more than visible ASCII characters: a header carries no spaces, control \
                        characters or others unchanged";
        Ok(Self(text.ok_or_else(|| wrong(expected))?.to_owned()))
    }

    /// Returns it as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_character_may_be_in_a_key() {
        let all: Vec<u8> = (b'!'..=b'~').collect();
        assert_eq!(ApiKey::parse(&all, "x").unwrap().as_str().as_bytes(), all);
        for byte in all {
            assert!(ApiKey::parse(&[byte], "x").is_ok(), "{byte}");
        }
    }

    #[test]
    fn no_other_character_may() {
        for byte in (0..=b' ').chain(0x7f..=0xff) {
            for found in [vec![byte], vec![b'k', byte], vec![b'k', byte, b'k']] {
                let error = ApiKey::parse(&found, "x").unwrap_err().to_string();
                assert!(error.contains("of x has more than visible ASCII"), "{byte}: {error}");
            }
        }
        assert!(ApiKey::parse("s\u{e4}cret".as_bytes(), "x").is_err());
    }

    #[test]
    fn a_key_has_4096_bytes_at_most() {
        assert!(ApiKey::parse(&[b'k'; 4_096], "x").is_ok());
        let error = ApiKey::parse(&[b'k'; 4_097], "x").unwrap_err().to_string();
        assert!(error.contains("expected at most 4096 bytes"), "{error}");
        let error = ApiKey::parse(b"", "x").unwrap_err().to_string();
        assert_eq!(error, "the API key of x is empty");
    }
}
