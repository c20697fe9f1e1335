use proptest::prelude::*;

use super::{held, number};
use crate::Decimal;

#[test]
fn an_integer_of_any_type_is_a_number() {
    let check = |number: Decimal, expect: &str| assert_eq!(held(number).to_string(), expect);
    check(Decimal::from(u8::MAX), "255");
    check(Decimal::from(-1), "-1");
    check(Decimal::from(i64::MIN), "-9223372036854775808");
    check(Decimal::from(u128::MAX), "340282366920938463463374607431768211455");
}

proptest! {
    #[test]
    fn owned_and_borrowed_are_the_same(
        a in "-?[0-9]{1,12}", pa in 0_u32..9, b in "-?[0-9]{1,12}", pb in 0_u32..9,
    ) {
        let (a, b) = (&number(&format!("{a}e-{pa}")), &number(&format!("{b}e-{pb}")));
        macro_rules! check {
            ($sign:tt) => {
                let expect = a.clone() $sign b.clone();
                for found in [a.clone() $sign b, a $sign b.clone(), a $sign b] {
                    prop_assert_eq!(found.to_string(), expect.to_string());
                    prop_assert_eq!(&found, &expect);
                }
            };
        }
        check!(+);
        check!(-);
        check!(*);
        prop_assert_eq!(-a, -a.clone());
        prop_assert_eq!([a, b].into_iter().sum::<Decimal>(), a + b);
        let mut moved = a.clone();
        moved += b;
        prop_assert_eq!(&moved, &(a + b));
        moved -= b;
        prop_assert_eq!(&moved, a);
    }
}
