//! The cases, of numbers as they come.

#[path = "cases.rs"]
mod cases;

use crate::Decimal;

fn held(number: Decimal) -> Decimal {
    number
}
