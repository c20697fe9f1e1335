use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::Fingerprint;
use crate::{
    Entropy, Timeframe, Timestamp, hex, limits, text::json_width, time::INSTANT, usage::Stretch,
};

/// Epoch of 48 hours: the records that completed in one are removed together.
pub(crate) type Epoch = Stretch<{ 48 * 60 }>;

/// Record of a keyed operation that completed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) fingerprint: Fingerprint,
    /// Mark of its attempt, to recognize an attempt whose commit has an unknown outcome.
    pub(crate) mark: Mark,
    pub(crate) completed_at: Timestamp,
    pub(crate) answer: Answer,
}

/// Answer of an operation, as the door encoded it. The core does not look into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// Text in the record itself.
    Inline(String),
    /// Number of rows of its own that hold the text.
    Parts(u32),
}

impl Answer {
    /// Cuts an answer into pieces that fit a document each, as JSON writes them.
    pub(crate) fn pieces(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        let (mut start, mut size) = (0, 0_usize);
        for (at, character) in text.char_indices() {
            let width = json_width(character);
            if size.saturating_add(width) > limits::ANSWER_PART_BYTES {
                pieces.extend(text.get(start..at));
                (start, size) = (at, 0);
            }
            size = size.saturating_add(width);
        }
        pieces.extend(text.get(start..));
        pieces
    }
}

/// Time for which a record is good (§4.5.4).
const LIFETIME: Duration = Duration::from_secs(limits::IDEMPOTENCY_HOURS * 60 * 60);

/// Time by which another process may be ahead.
const SKEW: Duration = Duration::from_secs(limits::CLOCK_SKEW_SECONDS);

impl Record {
    /// Tells whether it is no longer good: it is for 48 hours from completion (§4.5.4).
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        self.completed_at.saturating_add(LIFETIME) < now
    }

    pub(crate) fn epoch(&self) -> Epoch {
        Epoch::of(self.completed_at)
    }

    /// Returns the epochs that may have a record beside which a request of an instant has no effect: its
    /// own, the one before it, and the next one. A commit may be late, by more than a retry that has
    /// completed since; and another process may be ahead.
    pub(crate) fn epochs_at(now: Timestamp) -> impl Iterator<Item = Epoch> {
        let (oldest, newest) = (now.saturating_sub(LIFETIME), now.saturating_add(LIFETIME));
        let newest = newest.saturating_add(INSTANT);
        Epoch::touched_by(Timeframe::nothing_at(oldest).until(newest))
    }

    /// Returns the epochs whose records are good for nobody at an instant.
    pub(crate) fn expired_at(now: Timestamp) -> Timeframe {
        Timeframe::before(Epoch::of(now.saturating_sub(SKEW).saturating_sub(LIFETIME)).start())
    }
}

/// Name of one attempt: 128 random bits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn draw(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 16];
        entropy.fill(&mut bytes);
        Self(hex::encode(&bytes))
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_5_4_a_record_is_good_for_48_hours_to_the_instant() {
        let record = Record {
            fingerprint: Fingerprint::of(["payload"]),
            mark: Mark("mark".to_owned()),
            completed_at: Timestamp::parse("2026-03-01T00:00:00Z").unwrap(),
            answer: Answer::Inline("{}".to_owned()),
        };
        let check = |now: &str, expect: bool| {
            assert_eq!(record.is_expired(Timestamp::parse(now).unwrap()), expect, "{now}");
        };
        check("2026-03-01T00:00:00Z", false);
        check("2026-03-03T00:00:00Z", false);
        check("2026-03-03T00:00:00.000001Z", true);
    }

    #[test]
    fn s4_5_4_a_good_record_is_in_an_epoch_that_is_looked_into() {
        let hour = Duration::from_secs(60 * 60);
        let start = Epoch::of(Timestamp::parse("2026-03-01T00:00:00Z").unwrap()).start();
        let epochs = |now| Record::epochs_at(now).map(Epoch::start).collect::<Vec<_>>();
        let (before, next) = (start.saturating_sub(LIFETIME), start.saturating_add(LIFETIME));
        assert_eq!(epochs(start), [before, start, next]);
        assert_eq!(epochs(next.saturating_sub(INSTANT)), [before, start, next]);
        assert_eq!(epochs(next), [start, next, next.saturating_add(LIFETIME)]);
        // For as long as somebody looks into one, nobody removes it: also where clocks differ.
        for minutes in (0..48 * 60 * 3).step_by(7) {
            let now = start.saturating_add(Duration::from_secs(minutes * 60));
            let expired = Record::expired_at(now.saturating_add(SKEW));
            assert!(epochs(now).iter().all(|epoch| !expired.contains(*epoch)), "{now}");
        }
        assert!(
            Record::expired_at(next.saturating_add(LIFETIME).saturating_add(hour)).contains(start)
        );
    }

    #[test]
    fn an_answer_is_cut_where_it_does_not_fit_one_document() {
        let whole = "a".repeat(limits::ANSWER_PART_BYTES);
        assert_eq!(Answer::pieces(&whole), [whole.as_str()]);
        assert_eq!(Answer::pieces(&format!("{whole}b")), [whole.as_str(), "b"]);
    }

    #[test]
    fn the_pieces_of_an_answer_fit_their_documents_and_make_it_whole() {
        for unit in ["a", "\"", "\u{1}", "é", "🦀"] {
            let text = unit.repeat(6 * limits::ANSWER_PART_BYTES / unit.len());
            let pieces = Answer::pieces(&text);
            assert_eq!(pieces.concat(), text);
            for piece in pieces {
                let json = serde_json::to_string(piece).unwrap();
                assert!(json.len() <= limits::ANSWER_PART_BYTES + 2, "{unit:?}: {}", json.len());
            }
        }
    }
}
