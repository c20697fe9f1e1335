//! Adjustments of plans and subscriptions on the wire (invoicing 14).

mod answer;
mod new;

pub(crate) use self::{
    answer::{
        Adjustment, AdjustmentType, AnyDiscountType, PercentageTier, PlanDiscount, PlanMaximum,
        PlanMinimum, Values, filters_of,
    },
    new::{
        AddedAdjustmentIn, AdjustmentIn, LeftOutAdjustment, NewPlanAdjustment, PercentageTierIn,
        RemovedAdjustment, ReplacedAdjustment, ReplacingAdjustment,
    },
};
