use proptest::prelude::*;

use super::{number, scaled};
use crate::{Decimal, DecimalError};

#[test]
fn text_in_text_out() {
    let check = |text: &str, expect: &str| {
        assert_eq!(number(text).to_string(), expect);
        assert_eq!(text.parse(), Ok(number(text)));
    };
    check("0", "0");
    check("-0", "0");
    check("0.000e99", "0");
    check("1.50", "1.5");
    check("-12e3", "-12000");
    check("1e-3", "0.001");
    check("00012.00", "12");
    check("1234567890123456789012345678", "1234567890123456789012345678");
    check("0.0000000000000000000000000001", "0.0000000000000000000000000001");
    check("-0.10", "-0.1");
}

#[test]
fn out_of_bounds_is_found_on_the_text() {
    let check = |text: &str, expect: DecimalError| {
        assert_eq!(Decimal::parse(text), Err(expect), "{text}");
    };
    check(&"9".repeat(29), DecimalError::TooManyDigits { digits: 29 });
    check(&format!("1.{}1", "0".repeat(27)), DecimalError::TooManyDigits { digits: 29 });
    check("1e-29", DecimalError::TooManyPlaces);
    check("1e28", DecimalError::TooLarge);
    check("1e3000000", DecimalError::TooLarge);
    check("1e-99999999999999999999999999", DecimalError::TooManyPlaces);
    check("1e99999999999999999999999999", DecimalError::TooLarge);
    for text in ["", "-", ".5", "5.", "+1", "1e", "1e+", "NaN", "0x1", "1 ", "1_0", "1e5e5"] {
        check(text, DecimalError::NotANumber);
    }
}

#[test]
fn a_document_holds_a_number_as_plain_text() {
    for document in ["\"1e5\"", "\"+1\"", "\"1_0\"", "\"\"", "1"] {
        let error = serde_json::from_str::<Decimal>(document).unwrap_err().to_string();
        assert!(error.contains("expected a decimal number as a string"), "{error}");
    }
    assert_eq!(serde_json::from_str::<Decimal>("\"-0.5\"").unwrap(), number("-0.5"));
}

proptest! {
    #[test]
    fn sums_and_products_equal_those_of_scaled_integers(
        a in -1_000_000_000_000_i64..1_000_000_000_000, b in -1_000_000_000_000_i64..1_000_000_000_000,
        pa in 0_u32..9, pb in 0_u32..9,
    ) {
        let (x, y) = (number(&format!("{a}e-{pa}")), number(&format!("{b}e-{pb}")));
        let nines = |n: i64, places: u32| i128::from(n) * 10_i128.pow(9 - places);
        let text = |n: i128, places: u32| scaled(n, places).to_string();
        prop_assert_eq!((x.clone() + y.clone()).to_string(), text(nines(a, pa) + nines(b, pb), 9));
        prop_assert_eq!((x.clone() - y.clone()).to_string(), text(nines(a, pa) - nines(b, pb), 9));
        prop_assert_eq!((x.clone() * y.clone()).to_string(), text(i128::from(a) * i128::from(b), pa + pb));
        prop_assert_eq!(x.cmp(&y), nines(a, pa).cmp(&nines(b, pb)));
    }

    #[test]
    fn a_document_keeps_every_digit(digits in "-?[1-9][0-9]{0,40}", fraction in "[0-9]{0,40}[1-9]") {
        let text = format!("\"{digits}.{fraction}\"");
        let number: Decimal = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(serde_json::to_string(&number).unwrap(), text);
    }
}
