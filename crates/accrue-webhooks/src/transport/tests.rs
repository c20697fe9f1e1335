use std::io;

use super::*;

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn webhooks_retry_after_has_two_forms() {
    let check = |value: &str, expect: Option<RetryAfter>| {
        assert_eq!(RetryAfter::parse(value), expect, "{value}");
    };
    let seconds = |seconds| Some(RetryAfter::Seconds(seconds));
    check("0", seconds(0));
    check("120", seconds(120));
    check(" 120 ", seconds(120));
    check("99999999999999999999999", seconds(u64::MAX));
    let instant = Some(RetryAfter::At(at("1994-11-06T08:49:37Z")));
    check("Sun, 06 Nov 1994 08:49:37 GMT", instant);
    check("Sunday, 06-Nov-94 08:49:37 GMT", instant);
    check("Sun Nov  6 08:49:37 1994", instant);
    for value in ["", " ", "-1", "+1", "1.5", "1 s", "soon", "Sun, 06 Nov 1994", "٣"] {
        check(value, None);
    }
}

#[test]
fn webhooks_retry_after_is_a_time_from_now() {
    let now = at("2026-03-10T12:00:00Z");
    let check = |after: RetryAfter, seconds: u64| {
        assert_eq!(after.from(now), Duration::from_secs(seconds));
    };
    check(RetryAfter::Seconds(7), 7);
    check(RetryAfter::At(at("2026-03-10T12:01:00Z")), 60);
    check(RetryAfter::At(now), 0);
    check(RetryAfter::At(at("2026-03-10T11:59:59Z")), 0);
}

#[test]
fn webhooks_reasons_say_all_but_the_address() {
    let refused = Failure::from(Refusal::NotAllowed([10, 0, 0, 1].into()));
    assert!(!refused.reason().contains("10."), "{}", refused.reason());
    assert_eq!(Failure::TimedOut.reason(), "it took too long");
    let inner = io::Error::other("certificate expired");
    let failure = Failure::tls(io::Error::other(inner));
    assert_eq!(failure.reason(), "no secure connection: certificate expired");
    assert_eq!(failure.clone().to_string(), "no secure connection");
}
