use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use accrue::Timestamp;
use sha2::{Digest as _, Sha256};

/// The most failures by one name in a while.
const BY_NAME: u32 = 10;
/// The most names that are counted at a time.
const NAMES: usize = 10_000;
/// That while.
const WHILE: Duration = Duration::from_secs(15 * 60);

/// Failures to sign in, by the name that was tried: after ten of one, none is looked at for a quarter of an hour.
///
/// They are of this process: another one counts its own.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<Counted>);

/// Names with the attempts of each, and when its while began.
#[derive(Debug, Default)]
struct Counted(HashMap<[u8; 32], (Timestamp, u32)>);

impl Attempts {
    /// Counts an attempt; false where it is one too many, and must not be looked at.
    pub(crate) fn begin(&self, name: &str, now: Timestamp) -> bool {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = digest(name);
        if !counted.0.contains_key(&name) {
            counted.make_room(now);
        }
        let (since, count) = counted.0.entry(name).or_insert((now, 0));
        if is_over(*since, now) {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        *count <= BY_NAME
    }

    /// Forgets the attempts of a name that has succeeded.
    pub(crate) fn succeed(&self, name: &str) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.0.remove(&digest(name));
    }
}

impl Counted {
    /// Makes room for a name: whoever invents many keeps nobody else out.
    fn make_room(&mut self, now: Timestamp) {
        if self.0.len() < NAMES {
            return;
        }
        self.0.retain(|_, (since, _)| !is_over(*since, now));
        // Those that were tried least are forgotten first: their names are invented.
        let few = self.0.values().map(|(_, count)| *count).min().unwrap_or_default();
        if self.0.len() >= NAMES {
            self.0.retain(|_, (_, count)| *count > few);
        }
    }
}

fn is_over(since: Timestamp, now: Timestamp) -> bool {
    now >= since.saturating_add(WHILE)
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
    fn names_that_somebody_invents_keep_nobody_else_out_and_forget_no_failures_of_others() {
        let attempts = Attempts::default();
        assert!((0..10).all(|_| attempts.begin("ada", at(0))));
        for n in 0..3 * NAMES {
            assert!(attempts.begin(&n.to_string(), at(1)));
            assert!(attempts.0.lock().unwrap().0.len() <= NAMES);
        }
        assert!(!attempts.begin("ada", at(2)));
    }
}
