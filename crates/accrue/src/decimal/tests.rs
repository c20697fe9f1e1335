//! Each test of a number, on both of its forms; and both against the numbers of any size.

mod agreement;
mod of_any_size;
mod small;

use super::{Decimal, form::Form};

/// Returns a number in the form for any size, though it fits into the other.
fn big(number: &Decimal) -> Decimal {
    Decimal(Form::Big(Box::new(number.0.as_big().into_owned())))
}
