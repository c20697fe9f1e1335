//! The one module that reads the machine: its clock and its entropy.

use std::time::{Duration, SystemTime};

use crate::{Clock, Entropy, Timestamp};

/// The machine's clock.
///
/// ```
/// use accrue::{Clock, SystemClock, Timestamp};
///
/// assert!(SystemClock.now() > Timestamp::parse("2026-01-01T00:00:00Z")?);
/// # Ok::<(), accrue::TimestampError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that the rest is handed")]
    fn now(&self) -> Timestamp {
        let since_1970 =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Timestamp::MIN.saturating_add(since_1970)
    }
}

/// The machine's entropy.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// Fills `bytes`.
    ///
    /// # Panics
    ///
    /// If the machine has no entropy: ids made without it could be guessed.
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system hands out random bytes");
    }
}
