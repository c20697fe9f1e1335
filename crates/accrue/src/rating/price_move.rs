use std::sync::Arc;

use crate::{Decimal, price::Price, subscription::InForce};

/// How much more the usage of a price costs; less, where it is below zero.
#[derive(Clone, Debug)]
pub(crate) struct PriceMove {
    pub(crate) price: Arc<Price>,
    pub(crate) in_force: InForce,
    pub(crate) amount: Decimal,
}
