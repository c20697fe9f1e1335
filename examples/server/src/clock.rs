use std::time::Duration;

use accrue::Billing;

/// The least lag that is worth a word: a clock that is kept right goes back by less.
const WORTH_A_WORD: Duration = Duration::from_secs(10);

/// Remembers what was said last of a clock that was set back, so that it is said once.
///
/// The engine never lets the present instant go back. While the clock is behind it, the instant stands
/// still: what is sent with the right time may be refused as too old, though it is not.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch {
    told: Option<Duration>,
}

/// What there is to say of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    /// It is behind by so much: for the first time, further than said, or only half as far.
    Behind(Duration),
    CaughtUp,
}

impl ClockWatch {
    /// Logs what changed.
    pub(crate) fn look(&mut self, billing: &Billing) {
        match self.notice(billing.clock_lag()) {
            None => {}
            Some(Notice::Behind(lag)) => tracing::warn!(
                judged_at = %billing.now(),
                ?lag,
                "the clock was set back: until it has caught up, or a restart, events are judged by \
                 a later instant, and refused as too old that are not"
            ),
            Some(Notice::CaughtUp) => {
                tracing::info!(now = %billing.now(), "the clock has caught up: events are judged by it");
            }
        }
    }

    fn notice(&mut self, lag: Option<Duration>) -> Option<Notice> {
        let lag = lag.filter(|lag| *lag >= WORTH_A_WORD);
        let notice = match (self.told, lag) {
            (None, None) => None,
            (Some(_), None) => Some(Notice::CaughtUp),
            (None, Some(lag)) => Some(Notice::Behind(lag)),
            (Some(told), Some(lag)) => {
                let is_news = lag >= told.saturating_add(WORTH_A_WORD) || lag <= told / 2;
                is_news.then_some(Notice::Behind(lag))
            }
        };
        if notice.is_some() {
            self.told = lag;
        }
        notice
    }
}

#[cfg(test)]
mod tests {
    use accrue::{ManualClock, SeededEntropy, Timestamp, store::MemoryStore};

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn engine() -> (Billing, ManualClock) {
        let clock = ManualClock::at(Timestamp::parse("2026-03-10T12:00:00Z").unwrap());
        (Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1)), clock)
    }

    #[test]
    fn a_clock_that_is_set_back_is_told_once() {
        let (billing, clock) = engine();
        let mut watch = ClockWatch::default();
        let mut look = || watch.notice(billing.clock_lag());
        let ahead = billing.now();
        assert_eq!(look(), None);
        clock.set(ahead.saturating_sub(4 * DAY));
        assert_eq!(look(), Some(Notice::Behind(4 * DAY)));
        for _ in 0..100 {
            clock.advance(Duration::from_secs(1));
            assert_eq!(look(), None);
        }
        clock.set(ahead.saturating_sub(5 * DAY));
        assert_eq!(look(), Some(Notice::Behind(5 * DAY)));
        clock.set(ahead.saturating_sub(2 * DAY));
        assert_eq!(look(), Some(Notice::Behind(2 * DAY)));
        clock.set(ahead);
        assert_eq!(look(), Some(Notice::CaughtUp));
        assert_eq!(look(), None);
    }

    #[test]
    fn a_day_of_lag_is_told_a_few_times() {
        let (billing, clock) = engine();
        let mut watch = ClockWatch::default();
        let ahead = billing.now();
        clock.set(ahead.saturating_sub(DAY));
        let told = (0..86_400).filter_map(|_| {
            clock.advance(Duration::from_secs(1));
            watch.notice(billing.clock_lag())
        });
        let told: Vec<_> = told.collect();
        assert!(told.len() <= 20, "{told:?}");
        assert_eq!(told.last(), Some(&Notice::CaughtUp));
    }

    #[test]
    fn a_clock_that_is_kept_right_is_not_worth_a_word() {
        let (billing, clock) = engine();
        let mut watch = ClockWatch::default();
        clock.set(billing.now().saturating_sub(Duration::from_millis(9_999)));
        assert_eq!(watch.notice(billing.clock_lag()), None);
    }
}
