use std::ops::RangeInclusive;

use serde::Serialize;

use super::{Coupon, CouponDiscount};
use crate::{CouponId, Decimal, Error, RedemptionCode, Timestamp, limits};

/// Coupon to create (invoicing 11.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewCoupon {
    /// Code that it is redeemed by, compared exactly.
    pub redemption_code: RedemptionCode,
    /// Discount that it gives: an amount is above zero.
    pub discount: CouponDiscount,
    /// Calendar months that the discount lasts, 1 to 120; no end where none are given.
    pub duration_in_months: Option<u32>,
    /// The most times that it can be redeemed, 1 to 1,000,000,000; no bound where none is given.
    pub max_redemptions: Option<u32>,
}

impl NewCoupon {
    /// Prepares a coupon that can be redeemed any number of times, for a discount without an end.
    #[must_use]
    pub const fn new(redemption_code: RedemptionCode, discount: CouponDiscount) -> Self {
        Self { redemption_code, discount, duration_in_months: None, max_redemptions: None }
    }

    pub(crate) fn decide(self, id: CouponId, now: Timestamp) -> Result<Coupon, Error> {
        check_discount(&self.discount)?;
        check_within("duration_in_months", self.duration_in_months, 1..=limits::COUPON_MONTHS)?;
        check_within("max_redemptions", self.max_redemptions, 1..=limits::COUPON_REDEMPTIONS)?;
        Ok(Coupon {
            id,
            redemption_code: self.redemption_code,
            discount: self.discount,
            times_redeemed: 0,
            duration_in_months: self.duration_in_months,
            max_redemptions: self.max_redemptions,
            archived_at: None,
            created_at: now,
        })
    }
}

fn check_discount(discount: &CouponDiscount) -> Result<(), Error> {
    match discount {
        CouponDiscount::Amount(amount) if *amount <= Decimal::zero() || !amount.could_come_in() => {
            let message = format!("found {amount}, expected a number above zero");
            Err(Error::invalid("discount.amount", message))
        }
        _ => Ok(()),
    }
}

fn check_within(
    field: &str,
    found: Option<u32>,
    expected: RangeInclusive<u32>,
) -> Result<(), Error> {
    match found.filter(|found| !expected.contains(found)) {
        Some(found) => {
            let (least, most) = (expected.start(), expected.end());
            Err(Error::invalid(field, format!("found {found}, expected {least} to {most}")))
        }
        None => Ok(()),
    }
}
