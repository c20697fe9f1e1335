use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

use super::Decimal;

/// A [`Decimal`] where JSON has a number: it keeps every digit, in and out.
///
/// It is for types that `serde_json` reads from text and writes as text. A number that comes in is
/// judged on its text, as by [`Decimal::parse`]; a string is not a number. It does not pass through
/// `tag`, `untagged`, `flatten` or [`Value`](serde_json::Value).
///
/// ```
/// use accrue::JsonNumber;
///
/// let exact = "0.1234567890123456789012345678";
/// let number: JsonNumber = serde_json::from_str(exact)?;
/// assert_eq!(serde_json::to_string(&number)?, exact);
/// assert!(serde_json::from_str::<JsonNumber>("1e3000000").is_err());
/// assert!(serde_json::from_str::<JsonNumber>("\"1\"").is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct JsonNumber(pub Decimal);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = RawValue::from_string(self.0.to_string()).map_err(ser::Error::custom)?;
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Owned, since text that comes from a reader cannot be borrowed.
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Decimal::parse(text.get()).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Body {
        amount: JsonNumber,
        maximum: Option<JsonNumber>,
    }

    fn read(text: &str) -> Result<JsonNumber, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["\"1\"", "null", "true", "[1]", "{}", "01", "+1", ".5", "NaN", ""] {
            read(text).unwrap_err();
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_on_its_text() {
        let check = |text: &str, expect: &str| {
            let error = read(text).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check("1e3000000", "number is 10^28 or larger");
        check("1e-3000000", "more than 28 digits behind the point");
        check(&"9".repeat(29), "29 significant digits");
    }

    #[test]
    fn a_field_may_be_there_or_not() {
        let check = |text: &str, amount: &str, maximum: Option<&str>| {
            let number = |text: &str| JsonNumber(Decimal::parse(text).unwrap());
            let body = Body { amount: number(amount), maximum: maximum.map(number) };
            assert_eq!(serde_json::from_str::<Body>(text).unwrap(), body);
            assert_eq!(serde_json::from_reader::<_, Body>(text.as_bytes()).unwrap(), body);
            let written = serde_json::to_string(&body).unwrap();
            assert_eq!(serde_json::from_str::<Body>(&written).unwrap(), body);
        };
        check(r#"{"amount": 10.10, "maximum": null}"#, "10.1", None);
        check(r#"{"maximum": 1E3, "amount": -0.0}"#, "0", Some("1000"));
    }

    proptest! {
        #[test]
        fn every_digit_survives(
            sign in "-?", whole in "[1-9][0-9]{0,13}", fraction in "[0-9]{0,13}[1-9]",
        ) {
            let text = format!("{sign}{whole}.{fraction}");
            let number = read(&text).unwrap();
            prop_assert_eq!(&number.0, &Decimal::parse(&text).unwrap());
            prop_assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }

        #[test]
        fn an_exponent_is_only_spelling(digits in 1_u64..1_000_000_000, exponent in -18_i32..18) {
            let number = read(&format!("{digits}e{exponent}")).unwrap();
            let written = serde_json::to_string(&number).unwrap();
            prop_assert!(!written.contains('e'));
            prop_assert_eq!(read(&written).unwrap(), number);
        }
    }
}
