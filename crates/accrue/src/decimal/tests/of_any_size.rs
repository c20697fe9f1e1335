//! The same cases, of the same numbers in the form for any size.

#[expect(clippy::duplicate_mod, reason = "the cases hold for either form")]
#[path = "cases.rs"]
mod cases;

use crate::Decimal;

fn held(number: Decimal) -> Decimal {
    super::big(&number)
}
