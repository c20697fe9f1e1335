use serde::{Deserialize, Serialize};

use super::fee_quantity::check_quantity;
use crate::{
    AdjustmentId, AdjustmentIntervalId, Decimal, Error, Patch, PriceIntervalId, Timestamp,
    expression::Expression,
    meter::UsageCustomers,
    plan::PlanPrice,
    price::{Adjustments, NewAdjustment},
};

/// Changes to the intervals of a subscription, all of them or none (subscriptions 2).
///
/// Intervals are edited first and then more are added, so that an end and a new begin may meet; those of
/// prices before those of adjustments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalChanges {
    /// Price intervals to edit, each once.
    pub edit: Vec<PriceIntervalEdit>,
    /// Price intervals to add.
    pub add: Vec<NewPriceInterval>,
    /// Adjustment intervals to edit, each once.
    pub edit_adjustments: Vec<AdjustmentIntervalEdit>,
    /// Adjustment intervals to add.
    pub add_adjustments: Vec<NewAdjustmentInterval>,
}

/// Date in a change of intervals: an instant, or a word for one (subscriptions 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IntervalDate {
    /// Instant, past or future, within the subscription.
    At(Timestamp),
    /// Start of the current period of the price's own cadence, or of the current billing period for an
    /// adjustment.
    StartOfTerm,
    /// End of that period.
    EndOfTerm,
}

/// Price interval to add (subscriptions 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPriceInterval {
    /// Price of the account, or one that is made for it.
    pub price: PlanPrice,
    /// First instant that bills.
    pub start_date: IntervalDate,
    /// First instant after it; none where it ends with the subscription.
    pub end_date: Option<IntervalDate>,
    /// Quantities of a fee, each from an instant on; its own until the first.
    pub quantities: Vec<(Timestamp, Decimal)>,
    /// Adjustments of this interval alone, beside the price's own.
    pub adjustments: Adjustments,
    /// Condition on the events that count, beside that of the metric: the subscription's where none is given
    /// (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expression>,
    /// Customers whose usage counts: the subscription's, where none are given (subscriptions 1.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_customers: Option<UsageCustomers>,
    /// True if its last charge waits for the end of the period that it ends within (subscriptions 2.6).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub can_defer_billing: bool,
}

/// Edit of a price interval: what is not said stays (subscriptions 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceIntervalEdit {
    /// The interval.
    pub id: PriceIntervalId,
    /// Its first instant.
    pub start_date: Option<IntervalDate>,
    /// First instant after it. One that is its start removes the interval altogether.
    pub end_date: Patch<IntervalDate>,
    /// Quantities of a fee, in place of all that it had; its own until the first.
    pub quantities: Option<Vec<(Timestamp, Decimal)>>,
    /// Day of a month on which its periods begin, 1 to 31.
    pub billing_cycle_day: Option<u8>,
    /// Condition on the events that count, of all of the interval, what is past of it too.
    #[serde(default)]
    pub filter: Patch<Expression>,
    /// Customers whose usage counts, for all of the interval, what is past of it too.
    #[serde(default)]
    pub usage_customers: Patch<UsageCustomers>,
    /// True if its last charge waits for the end of the period that it ends within (subscriptions 2.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_defer_billing: Option<bool>,
}

/// Adjustment interval to add (subscriptions 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAdjustmentInterval {
    /// The adjustment.
    pub adjustment: IntervalAdjustment,
    /// Its first instant.
    pub start_date: IntervalDate,
    /// First instant after it; none where no end is known.
    pub end_date: Option<IntervalDate>,
}

/// Adjustment of an interval: a new one, or one that a plan or a subscription was given (subscriptions 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IntervalAdjustment {
    /// Adjustment that is made for it.
    New(Box<NewAdjustment>),
    /// Adjustment of any plan or subscription of the account.
    Existing(AdjustmentId),
}

impl From<NewAdjustment> for IntervalAdjustment {
    fn from(new: NewAdjustment) -> Self {
        Self::New(Box::new(new))
    }
}

impl From<AdjustmentId> for IntervalAdjustment {
    fn from(id: AdjustmentId) -> Self {
        Self::Existing(id)
    }
}

/// Edit of an adjustment interval: what is not said stays (subscriptions 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjustmentIntervalEdit {
    /// The interval.
    pub id: AdjustmentIntervalId,
    /// Its first instant.
    pub start_date: Option<IntervalDate>,
    /// First instant after it. One that is its start removes the interval altogether.
    pub end_date: Patch<IntervalDate>,
}

impl From<Timestamp> for IntervalDate {
    fn from(at: Timestamp) -> Self {
        Self::At(at)
    }
}

impl NewPriceInterval {
    /// Prepares an interval of a price from a date on.
    pub fn new(price: impl Into<PlanPrice>, start_date: impl Into<IntervalDate>) -> Self {
        Self {
            price: price.into(),
            start_date: start_date.into(),
            end_date: None,
            quantities: Vec::new(),
            adjustments: Adjustments::default(),
            filter: None,
            usage_customers: None,
            can_defer_billing: false,
        }
    }
}

impl PriceIntervalEdit {
    /// Prepares an edit that changes nothing.
    #[must_use]
    pub const fn new(id: PriceIntervalId) -> Self {
        Self {
            id,
            start_date: None,
            end_date: Patch::Keep,
            quantities: None,
            billing_cycle_day: None,
            filter: Patch::Keep,
            usage_customers: Patch::Keep,
            can_defer_billing: None,
        }
    }

    /// Prepares an edit that ends an interval.
    #[must_use]
    pub fn ending(id: PriceIntervalId, end_date: impl Into<IntervalDate>) -> Self {
        Self { end_date: Patch::Set(end_date.into()), ..Self::new(id) }
    }
}

impl NewAdjustmentInterval {
    /// Prepares an interval of an adjustment from a date on.
    pub fn new(
        adjustment: impl Into<IntervalAdjustment>,
        start_date: impl Into<IntervalDate>,
    ) -> Self {
        Self { adjustment: adjustment.into(), start_date: start_date.into(), end_date: None }
    }
}

impl AdjustmentIntervalEdit {
    /// Prepares an edit that changes nothing.
    #[must_use]
    pub const fn new(id: AdjustmentIntervalId) -> Self {
        Self { id, start_date: None, end_date: Patch::Keep }
    }
}

impl IntervalChanges {
    /// Says everything that is wrong with it, whatever it is of.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Self { edit, add, edit_adjustments, add_adjustments } = self;
        let is_empty = edit.is_empty() && add.is_empty();
        if is_empty && edit_adjustments.is_empty() && add_adjustments.is_empty() {
            let message = "is empty, as are all lists: expected a change";
            return Err(Error::invalid("edit", message));
        }
        check_once("edit", edit.iter().map(|of| of.id))?;
        check_once("edit_adjustments", edit_adjustments.iter().map(|of| of.id))?;
        for (index, of) in edit.iter().enumerate() {
            check_quantities("edit", index, of.quantities.as_deref().unwrap_or_default())?;
            if let Some(day) = of.billing_cycle_day.filter(|day| !(1..=31).contains(day)) {
                let message = format!("found {day}, expected 1 to 31");
                return Err(Error::invalid(format!("edit[{index}].billing_cycle_day"), message));
            }
        }
        for (index, of) in add.iter().enumerate() {
            check_quantities("add", index, &of.quantities)?;
        }
        Ok(())
    }

    /// Returns the adjustments that are new, each with the field in which it was given.
    pub(crate) fn added_adjustments(&self) -> Vec<(String, &NewAdjustment)> {
        let added = self.add_adjustments.iter().enumerate();
        let new = added.filter_map(|(index, of)| match &of.adjustment {
            IntervalAdjustment::New(new) => {
                Some((format!("add_adjustments[{index}].adjustment"), &**new))
            }
            IntervalAdjustment::Existing(_) => None,
        });
        new.collect()
    }
}

fn check_once<I: PartialEq>(list: &str, ids: impl Iterator<Item = I>) -> Result<(), Error> {
    let ids: Vec<_> = ids.collect();
    let twice =
        ids.iter().enumerate().find(|(index, id)| ids.iter().take(*index).any(|of| of == *id));
    match twice {
        Some((index, _)) => {
            let message = "names an interval that was named before, expected each once";
            Err(Error::invalid(format!("{list}[{index}]"), message))
        }
        None => Ok(()),
    }
}

fn check_quantities(
    list: &str,
    index: usize,
    quantities: &[(Timestamp, Decimal)],
) -> Result<(), Error> {
    for (place, (_, quantity)) in quantities.iter().enumerate() {
        check_quantity(format!("{list}[{index}].quantities[{place}]"), quantity)?;
    }
    Ok(())
}
