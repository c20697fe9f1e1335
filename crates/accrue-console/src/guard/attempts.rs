use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use accrue::Timestamp;
use sha2::{Digest as _, Sha256};

/// The most failures by one name in a while.
const BY_NAME: u32 = 10;
/// The most names that are tried in a while.
const NAMES: usize = 10_000;
/// That while.
const WHILE: Duration = Duration::from_secs(15 * 60);

/// Failures to sign in, by the name that was tried: after ten of one, none is looked at for a quarter of an hour.
///
/// They are of this process: another one counts its own.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    since: Option<Timestamp>,
    by_name: HashMap<[u8; 32], u32>,
}

impl Attempts {
    /// Counts an attempt; false where it is one too many, and must not be looked at.
    pub(crate) fn begin(&self, name: &str, now: Timestamp) -> bool {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.since.is_none_or(|since| now >= since.saturating_add(WHILE)) {
            *counted = Counted { since: Some(now), ..Counted::default() };
        }
        let (name, count) = (digest(name), counted.by_name.len());
        if count >= NAMES && !counted.by_name.contains_key(&name) {
            return false;
        }
        let of_name = counted.by_name.entry(name).or_default();
        *of_name = of_name.saturating_add(1);
        *of_name <= BY_NAME
    }

    /// Forgets the attempts of a name that has succeeded.
    pub(crate) fn succeed(&self, name: &str) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.by_name.remove(&digest(name));
    }
}

/// Names are kept by their digests: of one length, whatever is sent.
fn digest(name: &str) -> [u8; 32] {
    Sha256::digest(name.to_lowercase().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000).unwrap()
    }

    #[test]
    fn the_eleventh_failure_of_a_name_is_not_looked_at_for_a_while() {
        let attempts = Attempts::default();
        assert!((0..10).all(|_| attempts.begin("ada", at(0))));
        assert!(!attempts.begin("Ada", at(899)), "in any case");
        assert!(attempts.begin("bob", at(899)));
        assert!(attempts.begin("ada", at(900)));
    }

    #[test]
    fn a_success_forgets_the_failures() {
        let attempts = Attempts::default();
        for _ in 0..30 {
            assert!((0..10).all(|_| attempts.begin("ada", at(0))));
            attempts.succeed("ada");
        }
    }

    #[test]
    fn so_many_names_are_kept() {
        let attempts = Attempts::default();
        assert!((0..NAMES).all(|n| attempts.begin(&n.to_string(), at(0))));
        assert!(!attempts.begin("another", at(0)) && attempts.begin("7", at(0)));
    }
}
