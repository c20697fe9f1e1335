use accrue::Timestamp;

/// The instant at which everything is set up: it is not 2026 anywhere yet.
pub(super) fn eve() -> Timestamp {
    instant("2025-12-31T00:00:00Z")
}

/// The instant at which it is 2027 in the first of the zones.
pub(super) fn first_new_year() -> Timestamp {
    instant("2026-12-31T11:00:00Z")
}

/// An instant at which it has been 2027 everywhere for a day, so that all usage of 2026 is invoiced.
pub(super) fn end() -> Timestamp {
    instant("2027-01-03T00:00:00Z")
}

pub(super) fn instant(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("an instant in RFC 3339")
}
