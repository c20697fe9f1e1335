use accrue::person::PasswordHash;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

/// Returns the token by which a browser is known after its person has signed in: computed from the hash of the
/// password, which cannot be told from it. It is stored nowhere, and another password ends it.
pub(crate) fn token(password: &PasswordHash) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(password.as_str().as_bytes());
    let mut mac = mac.expect("a key of any length will do");
    mac.update(b"accrue console device");
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Tells whether a browser is known by the person with a password.
pub(crate) fn is_known(password: &PasswordHash, shown: Option<&str>) -> bool {
    shown.is_some_and(|shown| shown.as_bytes().ct_eq(token(password).as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_one_password() {
        let [one, two] = ["$one", "$two"].map(|text| PasswordHash::parse(text).unwrap());
        assert!(is_known(&one, Some(&token(&one))));
        assert!(!is_known(&two, Some(&token(&one))));
        assert!(!is_known(&one, None) && !is_known(&one, Some("")));
    }
}
