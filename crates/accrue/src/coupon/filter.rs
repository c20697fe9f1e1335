use crate::RedemptionCode;

/// Filter of a list of coupons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CouponFilter {
    /// Code that they have, exactly; any where none is given.
    pub redemption_code: Option<RedemptionCode>,
    /// True for archived ones too.
    pub show_archived: bool,
}
