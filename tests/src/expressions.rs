//! Expressions made of any bytes, for a fuzzer and for the tests that replay what it found.

use accrue::{
    Decimal, EventName, PropertyName, Timestamp,
    expression::{ComputedProperty, Expression, Fields},
    usage::{Properties, PropertyValue},
};

/// Parses bytes as an expression. One that is none is refused at a place within the text; one that is
/// is displayed as what parses to the same, and is true, false or unknown of some events.
///
/// # Panics
///
/// If it is otherwise.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(property) = ComputedProperty::parse(&text) {
        assert_eq!(property.as_str(), text, "it is displayed as it was written");
    }
    let parsed = match Expression::parse(&text) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "{text:?} is refused without a word");
            return;
        }
    };
    let displayed = parsed.to_string();
    let again = Expression::parse(&displayed)
        .unwrap_or_else(|error| panic!("{text:?} is displayed as {displayed:?}: {error}"));
    assert_eq!(again, parsed, "{text:?} is displayed as {displayed:?}");
    let document = serde_json::to_string(&parsed).expect("an expression is a text");
    let read: Expression = serde_json::from_str(&document).expect("it was written");
    assert_eq!(read, parsed, "{document}");
    let name = EventName::parse("completion").expect("a name");
    let at = Timestamp::parse("2026-03-01T08:00:00Z").expect("an instant");
    for properties in [Properties::default(), sample()] {
        let fields = Fields::new(&name, at, &properties);
        let evaluated = parsed.evaluate(&fields);
        assert_eq!(again.evaluate(&fields), evaluated, "{text:?}");
        assert_eq!(parsed.matches(&fields), evaluated == Some(true), "{text:?}");
    }
}

/// Properties of every kind.
fn sample() -> Properties {
    let decimal = |text: &str| PropertyValue::from(Decimal::parse(text).expect("a number"));
    let properties = [
        ("cached", true.into()),
        ("nil", PropertyValue::Null),
        ("n", 10_u64.into()),
        ("debt", decimal("-2.5")),
        ("many", decimal("0.3333333333333333333333333333")),
        ("region", "eu".into()),
        ("digit", "1".into()),
        ("empty", "".into()),
        ("größe", 9_u64.into()),
        ("say \"hi\"", 10_u64.into()),
        ("timestamp", "2026-03-01T08:00:00Z".into()),
    ];
    let named = properties.into_iter();
    named.map(|(name, value)| (PropertyName::parse(name).expect("a name"), value)).collect()
}
