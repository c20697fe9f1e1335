//! Coupons: discounts that subscriptions redeem by a code (invoicing 11).

mod filter;
mod new;
mod redemption;

use serde::{Deserialize, Serialize};

pub use self::{
    filter::CouponFilter,
    new::NewCoupon,
    redemption::{CouponName, Redemption, RedemptionTiming},
};
use crate::{
    CouponId, Decimal, Error, Fraction, RedemptionCode, Timestamp,
    price::{Adjustment, Discount},
};

/// Coupon: a discount that subscriptions redeem (invoicing 11.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Coupon {
    /// Its id.
    pub id: CouponId,
    /// Code that it is redeemed by: no other coupon has it that is not archived.
    pub redemption_code: RedemptionCode,
    /// Discount that it gives.
    pub discount: CouponDiscount,
    /// Number of times that it was redeemed.
    pub times_redeemed: u32,
    /// Calendar months that the discount lasts; `None` where it has no end.
    pub duration_in_months: Option<u32>,
    /// The most times that it can be redeemed; `None` where there is no bound.
    pub max_redemptions: Option<u32>,
    /// Instant at which it was archived; `None` where it is not.
    pub archived_at: Option<Timestamp>,
    /// Instant at which it was created.
    pub created_at: Timestamp,
}

/// Discount of a coupon, over all prices that a subscription has when it redeems it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CouponDiscount {
    /// A fraction of each amount: `percentage`.
    Percentage(Fraction),
    /// An amount in the currency of the invoice, above zero, once in each billing period: `amount`.
    Amount(Decimal),
}

/// Status of a coupon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CouponStatus {
    Active,
    Archived,
}

impl Coupon {
    pub(crate) const fn status(&self) -> CouponStatus {
        match self.archived_at {
            None => CouponStatus::Active,
            Some(_) => CouponStatus::Archived,
        }
    }

    /// Archives it: nobody redeems it any more. Discounts that it gave go on.
    pub(crate) fn archive(self, now: Timestamp) -> Result<Self, Error> {
        match self.archived_at {
            None => Ok(Self { archived_at: Some(now), ..self }),
            Some(at) => Err(Error::constraint(format!("the coupon is archived since {at}"))),
        }
    }
}

impl From<&CouponDiscount> for Adjustment {
    fn from(discount: &CouponDiscount) -> Self {
        Self::Discount(match discount {
            CouponDiscount::Percentage(fraction) => Discount::Percentage(fraction.clone()),
            CouponDiscount::Amount(amount) => Discount::Amount(amount.clone()),
        })
    }
}
