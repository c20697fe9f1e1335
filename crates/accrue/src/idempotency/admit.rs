use super::{Fingerprint, Record};
use crate::Timestamp;

/// Decision on a keyed operation, by the record that was found under its key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission<'a> {
    /// Run it: there is no record, or none that still counts.
    Run,
    /// Answer as the first time: the payload is the same (§4.5.6).
    Replay(&'a Record),
    /// Report a conflict: the payload is another (§4.5.8).
    Mismatch,
}

/// Decides what to do with a keyed operation.
pub(crate) fn admit<'a>(
    found: Option<&'a Record>,
    fingerprint: &Fingerprint,
    now: Timestamp,
) -> Admission<'a> {
    match found {
        None => Admission::Run,
        Some(record) if record.is_expired(now) => Admission::Run,
        Some(record) if record.fingerprint == *fingerprint => Admission::Replay(record),
        Some(_) => Admission::Mismatch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        SeededEntropy,
        idempotency::{Mark, StoredAnswer},
    };

    #[test]
    fn every_row_of_the_table() {
        let at = |text| Timestamp::parse(text).unwrap();
        let (mine, other) = (Fingerprint::of(["mine"]), Fingerprint::of(["other"]));
        let record = Record {
            fingerprint: mine,
            mark: Mark::draw(&SeededEntropy::new(1)),
            completed_at: at("2026-03-01T00:00:00Z"),
            answer: StoredAnswer::Inline("{}".to_owned()),
        };
        let (fresh, expired) = (at("2026-03-03T00:00:00Z"), at("2026-03-03T00:00:00.000001Z"));
        assert_eq!(admit(None, &mine, fresh), Admission::Run);
        assert_eq!(admit(Some(&record), &mine, fresh), Admission::Replay(&record));
        assert_eq!(admit(Some(&record), &other, fresh), Admission::Mismatch);
        assert_eq!(admit(Some(&record), &mine, expired), Admission::Run);
        assert_eq!(admit(Some(&record), &other, expired), Admission::Run);
    }
}
