//! Documents of coupons.

use serde::{Deserialize, Serialize};

use crate::CouponId;

/// Whose code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CouponAlias {
    pub(crate) coupon_id: CouponId,
}
