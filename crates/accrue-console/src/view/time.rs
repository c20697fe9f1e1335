use accrue::{Timestamp, TimestampError};
use maud::{Markup, html};

/// Shows an instant to the second, in UTC.
pub(crate) fn instant(at: Timestamp) -> Markup {
    let text = at.to_string();
    html! { time datetime=(text) { (short(&text, 19)) } }
}

/// Shows an instant; a dash where there is none.
pub(crate) fn maybe(at: Option<Timestamp>) -> Markup {
    match at {
        Some(at) => instant(at),
        None => html! { span.none { "–" } },
    }
}

/// Reads an instant as it is typed: in ISO 8601, in UTC where it has no offset, also a day alone, which is its
/// midnight, and a time without seconds.
pub(crate) fn typed(text: &str) -> Result<Timestamp, TimestampError> {
    let text = text.trim();
    let minutes = text.get(..16).zip(text.get(16..)).filter(|(_, rest)| !rest.starts_with(':'));
    match minutes {
        _ if text.len() == 10 => Timestamp::parse(&format!("{text}T00:00:00")),
        Some((minutes, rest)) => Timestamp::parse(&format!("{minutes}:00{rest}")),
        None => Timestamp::parse(text),
    }
}

/// Returns the day of an instant in UTC.
pub(crate) fn day(at: Timestamp) -> String {
    short(&at.to_string(), 10)
}

/// Shows the day of an instant in UTC.
pub(crate) fn date(at: Timestamp) -> Markup {
    let day = day(at);
    html! { time datetime=(day) { (day) } }
}

/// Returns the hour of an instant in UTC.
pub(crate) fn hour(at: Timestamp) -> String {
    short(&at.to_string(), 16)
}

fn short(text: &str, length: usize) -> String {
    text.get(..length).unwrap_or(text).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_typed_as_people_write_it() {
        let midnight = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
        for text in ["2026-03-01", "2026-03-01T00:00", "2026-03-01 00:00", " 2026-03-01T00:00:00Z "]
        {
            assert_eq!(typed(text).ok(), Some(midnight), "{text}");
        }
        assert_eq!(typed("2026-03-01T01:00+01:00").ok(), Some(midnight));
        for text in ["", "2026", "2026-13-01", "2026-03-01T", "tomorrow"] {
            assert!(typed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_instant_is_shown_to_the_second_and_kept_whole() {
        let at = Timestamp::parse("2026-03-10T12:00:01.5Z").unwrap();
        let shown = instant(at).into_string();
        let whole = "2026-03-10T12:00:01.500000Z";
        assert_eq!(shown, format!("<time datetime=\"{whole}\">2026-03-10 12:00:01</time>"));
        assert_eq!((day(at).as_str(), hour(at).as_str()), ("2026-03-10", "2026-03-10 12:00"));
    }
}
