use std::{str::FromStr, time::Duration};

use accrue::limits::GRACE_DAYS;

/// How long after its timestamp an event may be reported: at most 28 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GracePeriod(Duration);

impl GracePeriod {
    /// Returns the time.
    #[must_use]
    pub const fn time(self) -> Duration {
        self.0
    }
}

impl FromStr for GracePeriod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let longest = Duration::from_secs(GRACE_DAYS.saturating_mul(DAY));
        let found = time(text).filter(|time| *time <= longest).map(Self);
        found.ok_or_else(|| {
            format!(
                "expected a whole number of seconds (s), minutes (m), hours (h) or days (d), as in 12h \
                 or 3d, and at most {GRACE_DAYS}d"
            )
        })
    }
}

/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

fn time(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => DAY,
        _ => return None,
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse::<u64>().ok().filter(|_| is_number)?;
    number.checked_mul(seconds).map(Duration::from_secs)
}
