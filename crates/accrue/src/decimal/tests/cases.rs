//! What is true of a number in either form.

mod arithmetic;
mod rounding;
mod text;

use super::held;
use crate::Decimal;

fn number(text: &str) -> Decimal {
    held(Decimal::parse(text).unwrap())
}

fn scaled(digits: i128, places: u32) -> Decimal {
    held(Decimal::scaled(digits, places.into()))
}
