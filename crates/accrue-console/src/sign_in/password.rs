use std::{error::Error as StdError, sync::Arc, thread};

use accrue::{Entropy, Error, person::PasswordHash, store::StoreError};
use argon2::{
    Algorithm, Argon2, Params, PasswordHash as Phc, PasswordHasher as _, PasswordVerifier as _,
    Version, password_hash::SaltString,
};
use async_lock::Semaphore;
use futures_channel::oneshot;

/// The least characters of a password.
pub(crate) const LEAST: usize = 12;
/// The most bytes of a password.
pub(crate) const MOST: usize = 1_024;

/// How many passwords are hashed at once: each takes 19 MiB, and some 20 milliseconds of a core.
const AT_ONCE: usize = 2;

/// Memory in KiB, passes and lanes of argon2id: those that OWASP recommends first.
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);

/// Hashes passwords by argon2id, on threads of their own: two at once, and those that serve requests go on meanwhile.
#[derive(Debug)]
pub(super) struct Passwords {
    entropy: Box<dyn Entropy>,
    at_once: Arc<Semaphore>,
    params: Params,
    /// What a password is held against where there is nobody: it takes as long.
    nobody: PasswordHash,
}

impl Passwords {
    pub(super) fn new(entropy: impl Entropy) -> Self {
        let (memory, passes, lanes) = COST;
        let params = Params::new(memory, passes, lanes, None).unwrap_or_default();
        let nobody = format!(
            "$argon2id$v=19$m={memory},t={passes},p={lanes}$bm9ib2R5LW5vYm9keQ${}",
            "A".repeat(43)
        );
        let nobody = PasswordHash::parse(nobody).expect("the hash of nobody is a PHC text");
        Self {
            entropy: Box::new(entropy),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            params,
            nobody,
        }
    }

    /// Hashes a new password.
    pub(super) async fn hash(&self, password: &str) -> Result<PasswordHash, Error> {
        let mut salt = [0; 16];
        self.entropy.fill(&mut salt);
        let password = password.to_owned();
        let hash = self.apart(move |argon| {
            let salt = SaltString::encode_b64(&salt).ok()?;
            Some(argon.hash_password(password.as_bytes(), &salt).ok()?.to_string())
        });
        PasswordHash::parse(hash.await?.unwrap_or_default())
    }

    /// Tells whether a password is the one that was hashed; false where there is none, after as long.
    pub(super) async fn verify(
        &self,
        password: &str,
        hash: Option<&PasswordHash>,
    ) -> Result<bool, Error> {
        let held_against = hash.unwrap_or(&self.nobody).clone();
        let password = password.to_owned();
        let is_same = self.apart(move |argon| {
            let parsed = Phc::new(held_against.as_str());
            parsed.is_ok_and(|hash| argon.verify_password(password.as_bytes(), &hash).is_ok())
        });
        Ok(is_same.await? && hash.is_some())
    }

    /// Does what takes long on a thread of its own, when it is its turn.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Argon2<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        // The turn goes on for as long as the work, also where nobody waits for it any more.
        let turn = self.at_once.acquire_arc().await;
        let argon = Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone());
        let (done, outcome) = oneshot::channel();
        let work = move || {
            done.send(work(&argon)).ok();
            drop(turn);
        };
        let started = thread::Builder::new().name("accrue-password".to_owned()).spawn(work);
        started.map_err(|error| unavailable(error.into()))?;
        Ok(outcome.await.map_err(|canceled| unavailable(canceled.into()))?)
    }
}

fn unavailable(source: Box<dyn StdError + Send + Sync>) -> StoreError {
    StoreError::unavailable("there is no thread for a password").with_source(source)
}

/// Says what is wrong with a new password; none where it will do.
pub(crate) fn fault(password: &str) -> Option<String> {
    if password.chars().count() < LEAST {
        return Some(format!("Use {LEAST} characters or more."));
    }
    let is_one = password.chars().all(|c| password.starts_with(c));
    if password.len() > MOST || is_one {
        return Some(
            if is_one { "Use different characters." } else { "It is too long." }.to_owned(),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use accrue::SeededEntropy;
    use pollster::block_on;

    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash_and_no_other_is() {
        let passwords = Passwords::new(SeededEntropy::new(1));
        let hash = block_on(passwords.hash("correct horse")).unwrap();
        let is = |text, hash| block_on(passwords.verify(text, hash)).unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(is("correct horse", Some(&hash)));
        assert!(!is("correct horse ", Some(&hash)));
        assert!(!is("correct horse", None));
        assert_ne!(block_on(passwords.hash("correct horse")).unwrap(), hash, "with a salt");
        assert!(Phc::new(passwords.nobody.as_str()).is_ok());
    }

    #[test]
    fn a_new_password_is_long_and_varied() {
        assert_eq!(fault("correct horse"), None);
        for bad in ["", "short", "aaaaaaaaaaaaaaaa", &"ab".repeat(600)] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
