//! When a message that could not be delivered is sent again.

use std::time::Duration;

use crate::{Error, limits};

/// Delays between the attempts to deliver a message, each with a jitter of 10 %.
///
/// ```
/// use std::time::Duration;
///
/// use accrue::webhook::Schedule;
///
/// assert_eq!(Schedule::default().attempts(), 8);
/// let once_more = Schedule::new([Duration::from_secs(60)])?;
/// assert_eq!(once_more.attempts(), 2);
/// assert!(Schedule::new([Duration::from_secs(4 * 24 * 60 * 60)]).is_err());
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(Vec<Duration>);

impl Schedule {
    /// Takes the delays after the first attempt and those that follow: 20 at most, three days in all.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are more, they are longer, or one is
    /// none.
    pub fn new(delays: impl IntoIterator<Item = Duration>) -> Result<Self, Error> {
        let delays: Vec<_> = delays.into_iter().collect();
        let most = limits::DELIVERY_RETRIES;
        if delays.len() > most {
            let message = format!("found {} delays, expected at most {most}", delays.len());
            return Err(Error::invalid("schedule", message));
        }
        if delays.iter().any(Duration::is_zero) {
            return Err(Error::invalid("schedule", "found no delay, expected some"));
        }
        let all = delays.iter().fold(Duration::ZERO, |all, delay| all.saturating_add(*delay));
        if all > limits::DELIVERY_TIME {
            let message =
                format!("found {all:?} in all, expected at most {:?}", limits::DELIVERY_TIME);
            return Err(Error::invalid("schedule", message));
        }
        Ok(Self(delays))
    }

    /// Returns the number of attempts.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.0.len().saturating_add(1)
    }

    /// Returns how long after a failed attempt the next one is made, the first one being 1; none after the last.
    pub(crate) fn after(&self, tries: u32, draw: u16) -> Option<Duration> {
        let at = usize::try_from(tries).ok()?.checked_sub(1)?;
        self.0.get(at).map(|delay| jitter(*delay, draw))
    }

    /// Returns how long an endpoint that fails rests before it is tried again: longer each time.
    pub(crate) fn rest(&self, failures: u32, draw: u16) -> Duration {
        const LEAST: Duration = Duration::from_secs(5);
        const MOST: Duration = Duration::from_secs(2 * 60 * 60);
        let over = failures.saturating_sub(limits::FAILURES_IN_A_ROW);
        let doubled = LEAST.saturating_mul(2_u32.saturating_pow(over.min(16)));
        jitter(doubled.min(MOST), draw)
    }
}

impl Default for Schedule {
    /// 5 seconds, 5 and 30 minutes, 2, 5, 10 and 10 hours (subscriptions 10.2).
    fn default() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        let seconds = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
        Self(seconds.map(Duration::from_secs).to_vec())
    }
}

/// A delay of 95 % to 105 %.
fn jitter(delay: Duration, draw: u16) -> Duration {
    let tenth = delay / 10;
    let part = tenth.saturating_mul(u32::from(draw)) / u32::from(u16::MAX);
    (delay - tenth / 2).saturating_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_10_2_the_schedule_of_attempts() {
        let schedule = Schedule::default();
        let middle = u16::MAX / 2;
        let seconds = |tries| schedule.after(tries, middle).map(|of| of.as_secs_f32().round());
        let all: Vec<_> = (1..=8).map(seconds).collect();
        let hours = [7_200., 18_000., 36_000., 36_000.];
        let expected: Vec<_> = [5., 300., 1_800.].into_iter().chain(hours).map(Some).collect();
        assert_eq!(all, [expected, vec![None]].concat());
        assert_eq!(schedule.after(0, 0), None);
    }

    #[test]
    fn a_jitter_is_a_tenth_of_the_delay() {
        let hour = Duration::from_secs(3_600);
        assert_eq!(jitter(hour, 0), Duration::from_secs(3_420));
        assert_eq!(jitter(hour, u16::MAX), Duration::from_secs(3_780));
        assert_eq!(jitter(Duration::ZERO, 7), Duration::ZERO);
    }

    #[test]
    fn an_endpoint_that_fails_rests_longer_each_time() {
        let schedule = Schedule::default();
        let rests: Vec<_> = (10..30).map(|failures| schedule.rest(failures, 0)).collect();
        assert!(rests.is_sorted());
        assert_eq!(rests[0], Duration::from_millis(4_750));
        assert_eq!(rests[19], Duration::from_secs(6_840));
    }

    #[test]
    fn bounds_of_a_schedule() {
        Schedule::new(vec![Duration::from_secs(1); 20]).unwrap();
        Schedule::new(vec![Duration::from_secs(1); 21]).unwrap_err();
        Schedule::new([limits::DELIVERY_TIME, Duration::from_nanos(1)]).unwrap_err();
        Schedule::new([Duration::MAX, Duration::MAX]).unwrap_err();
        Schedule::new([Duration::ZERO]).unwrap_err();
    }
}
