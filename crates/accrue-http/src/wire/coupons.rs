//! Coupons on the wire (invoicing 11).

use accrue::{
    CouponId, Decimal, Fraction, JsonNumber, RedemptionCode, Zone,
    coupon::{self, CouponDiscount, CouponFilter, CouponName, Redemption, RedemptionTiming},
};
use serde::Serialize;

use super::{
    amounts::Amount,
    dates::{Date, any_is_local},
    pages::{Limit, Sought},
};
use crate::{
    json::Json,
    problem::{Problem, Violations},
    shape::{
        Describe, Moment, NoRows, Nothing, Read, Reader, Schema, Sparse, Whole, choices, request,
        response,
    },
};

request! {
    /// A coupon to create.
    pub(crate) struct NewCoupon {
        /// Code that it is redeemed by: no other coupon has it that is not archived.
        redemption_code: RedemptionCode,
        /// Discount that it gives.
        discount: NewDiscount,
        /// Number of calendar months that the discount lasts: it has no end where none is given.
        duration_in_months: Option<Whole<1, 120>>,
        /// Maximum number of redemptions: there is none where none is given.
        max_redemptions: Option<Whole<1, 1_000_000_000>>,
    }

    /// A discount of a fraction of each amount.
    pub(crate) struct NewPercentageDiscount open {
        /// Type of the discount: `percentage`.
        discount_type: DiscountType,
        /// Fraction, from 0 to 1.
        percentage_discount: JsonNumber,
    }

    /// A discount of an amount, once in each billing period.
    pub(crate) struct NewAmountDiscount open {
        /// Type of the discount: `amount`.
        discount_type: DiscountType,
        /// Amount in the currency of the invoice, above zero.
        amount_discount: Decimal,
    }

    /// Filters and page of a list of coupons.
    pub(crate) struct CouponListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Code of the coupons, exactly.
        redemption_code: Option<Sought<RedemptionCode>>,
        /// True for archived ones too.
        show_archived: Option<bool>,
    }

    /// The redemption of a coupon by a subscription.
    pub(crate) struct RedeemCoupon {
        /// Option that decides when the discount begins.
        change_option: RedemptionOption,
        /// Id of the coupon.
        coupon_id: Option<CouponId>,
        /// Code of the coupon.
        coupon_redemption_code: Option<RedemptionCode>,
        /// Date, for the option `requested_date`: without an offset in the customer's zone.
        change_date: Option<Date>,
        /// True if invoices may be changed: those that were issued never are.
        allow_invoice_credit_or_void: Option<bool>,
    }
}

response! {
    /// A coupon.
    pub(crate) struct Coupon {
        /// Its id.
        id: String,
        /// Code that it is redeemed by.
        redemption_code: RedemptionCode,
        /// Discount that it gives.
        discount: DiscountOfCoupon,
        /// Number of times that it was redeemed.
        times_redeemed: u32,
        /// Number of calendar months that the discount lasts; null where it has no end.
        duration_in_months: Option<u32>,
        /// Maximum number of redemptions; null where there is none.
        max_redemptions: Option<u32>,
        /// Instant at which it was archived.
        archived_at: Option<Moment>,
    }

    /// The discount of a coupon. It has the member that its type is named after.
    pub(crate) struct DiscountOfCoupon {
        /// Type of the discount.
        discount_type: DiscountType,
        /// Fraction, from 0 to 1.
        percentage_discount: Sparse<JsonNumber>,
        /// Amount in the currency of the invoice.
        amount_discount: Sparse<Amount>,
        /// Always empty: it is of all prices of a subscription.
        applies_to_price_ids: NoRows,
        /// Always empty: it is of all prices of a subscription.
        filters: NoRows,
        /// Always null.
        reason: Nothing,
    }
}

/// The type of a discount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiscountType {
    Percentage,
    Amount,
}

/// The option that decides when the discount of a coupon begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RedemptionOption {
    RequestedDate,
    EndOfSubscriptionTerm,
    Immediate,
}

choices! {
    DiscountType {
        "percentage" => DiscountType::Percentage,
        "amount" => DiscountType::Amount,
    }
    RedemptionOption {
        "requested_date" => RedemptionOption::RequestedDate,
        "end_of_subscription_term" => RedemptionOption::EndOfSubscriptionTerm,
        "immediate" => RedemptionOption::Immediate,
    }
}

/// A discount to give, with the field of its type.
#[derive(Clone, Debug)]
pub(crate) enum NewDiscount {
    Percentage(NewPercentageDiscount),
    Amount(NewAmountDiscount),
}

impl Read for NewDiscount {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let fields = reader.fields(json, at, &[], false)?;
        match fields.read::<DiscountType>("discount_type", reader)? {
            DiscountType::Percentage => Read::read(json, at, reader).map(Self::Percentage),
            DiscountType::Amount => Read::read(json, at, reader).map(Self::Amount),
        }
    }
}

impl Describe for NewDiscount {
    fn schema() -> Schema {
        let (tag, percentage, amount) = ("discount_type", "percentage", "amount");
        let variants = vec![
            (percentage, NewPercentageDiscount::schema().told_by(tag, percentage)),
            (amount, NewAmountDiscount::schema().told_by(tag, amount)),
        ];
        Schema::OneOf { name: "NewCouponDiscount", tag, variants }
    }
}

impl TryFrom<NewDiscount> for CouponDiscount {
    type Error = Problem;

    fn try_from(discount: NewDiscount) -> Result<Self, Problem> {
        match discount {
            NewDiscount::Amount(of) => Ok(Self::Amount(of.amount_discount)),
            NewDiscount::Percentage(of) => {
                let JsonNumber(fraction) = of.percentage_discount;
                let pointer = "/discount/percentage_discount";
                let wrong =
                    |error: accrue::FractionError| Violations::one(pointer, error.to_string());
                Ok(Self::Percentage(Fraction::try_from(fraction).map_err(wrong)?))
            }
        }
    }
}

impl TryFrom<NewCoupon> for coupon::NewCoupon {
    type Error = Problem;

    fn try_from(new: NewCoupon) -> Result<Self, Problem> {
        let mut coupon = Self::new(new.redemption_code, new.discount.try_into()?);
        coupon.duration_in_months = new.duration_in_months.map(Whole::count);
        coupon.max_redemptions = new.max_redemptions.map(Whole::count);
        Ok(coupon)
    }
}

impl CouponListQuery {
    /// Makes the filter; none where no coupon can have the code.
    pub(crate) fn filter(&self) -> Option<CouponFilter> {
        let redemption_code = match &self.redemption_code {
            None => None,
            Some(Sought(code)) => Some(code.clone()?),
        };
        let show_archived = self.show_archived.unwrap_or_default();
        Some(CouponFilter { redemption_code, show_archived })
    }
}

impl RedeemCoupon {
    /// Tells whether its date is one of the customer's zone.
    pub(crate) fn has_local_date(&self) -> bool {
        any_is_local([&self.change_date])
    }

    /// Makes the redemption, where dates are those of a zone.
    pub(crate) fn into_redemption(self, zone: &Zone) -> Result<Redemption, Problem> {
        // What was issued never changes.
        let _ = self.allow_invoice_credit_or_void;
        let wrong = |pointer: &str, message: &str| Err(Violations::one(pointer, message).into());
        let coupon = match (self.coupon_id, self.coupon_redemption_code) {
            (Some(id), None) => CouponName::from(id),
            (None, Some(code)) => CouponName::from(code),
            (Some(_), Some(_)) => {
                let message = "is there beside coupon_id, expected one of the two";
                return wrong("/coupon_redemption_code", message);
            }
            (None, None) => {
                let message = "is missing, as is coupon_redemption_code: expected one of the two";
                return wrong("/coupon_id", message);
            }
        };
        let when = match (self.change_option, self.change_date) {
            (RedemptionOption::RequestedDate, Some(date)) => {
                RedemptionTiming::RequestedDate(date.in_zone(zone, "/change_date")?)
            }
            (RedemptionOption::RequestedDate, None) => {
                return wrong("/change_date", "is missing, which the option requested_date needs");
            }
            (_, Some(_)) => return wrong("/change_date", "belongs to the option requested_date"),
            (RedemptionOption::EndOfSubscriptionTerm, None) => {
                RedemptionTiming::EndOfSubscriptionTerm
            }
            (RedemptionOption::Immediate, None) => RedemptionTiming::Immediate,
        };
        Ok(Redemption { coupon, when })
    }
}

impl Coupon {
    /// Writes a coupon.
    pub(crate) fn of(coupon: &coupon::Coupon) -> Self {
        Self {
            id: coupon.id.to_string(),
            redemption_code: coupon.redemption_code.clone(),
            discount: DiscountOfCoupon::of(&coupon.discount),
            times_redeemed: coupon.times_redeemed,
            duration_in_months: coupon.duration_in_months,
            max_redemptions: coupon.max_redemptions,
            archived_at: coupon.archived_at.map(Moment::from),
        }
    }
}

impl DiscountOfCoupon {
    fn of(discount: &CouponDiscount) -> Self {
        let (discount_type, percentage, amount) = match discount {
            CouponDiscount::Percentage(fraction) => {
                let number = JsonNumber(fraction.as_decimal().clone());
                (DiscountType::Percentage, Some(number), None)
            }
            CouponDiscount::Amount(off) => {
                (DiscountType::Amount, None, Some(Amount::without_currency(off)))
            }
            _ => (DiscountType::Amount, None, None),
        };
        Self {
            discount_type,
            percentage_discount: Sparse(percentage),
            amount_discount: Sparse(amount),
            applies_to_price_ids: NoRows,
            filters: NoRows,
            reason: Nothing,
        }
    }
}
