use std::fmt;

use serde::Serialize;

use super::{Coupon, CouponDiscount};
use crate::{
    AdjustmentIntervalId, CouponId, Error, PricingUnit, RedemptionCode, Timeframe, Timestamp,
    price::{Adjustment, Price},
    subscription::{AdjustmentInterval, Lane, Subscription, SubscriptionStatus},
};

/// Coupon that a subscription redeems, and when its discount begins (invoicing 11.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redemption {
    /// Coupon that is redeemed.
    pub coupon: CouponName,
    /// Timing: when the discount begins.
    pub when: RedemptionTiming,
}

/// Name of a coupon: its id, or the code of one that is not archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CouponName {
    /// The id.
    Id(CouponId),
    /// The code.
    Code(RedemptionCode),
}

/// Timing of a redemption: when its discount begins (invoicing 11.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RedemptionTiming {
    /// Now; with the start of a subscription that has not begun.
    Immediate,
    /// End of the current term, or of the first one of a subscription that has not begun.
    EndOfSubscriptionTerm,
    /// Date within the life of the subscription, behind which nothing was invoiced.
    RequestedDate(Timestamp),
}

impl Redemption {
    /// Redeems a coupon now.
    pub fn immediate(coupon: impl Into<CouponName>) -> Self {
        Self { coupon: coupon.into(), when: RedemptionTiming::Immediate }
    }
}

impl RedemptionTiming {
    /// Decides the instant at which the discount of a subscription begins.
    pub(crate) fn decide(self, of: &Subscription, now: Timestamp) -> Result<Timestamp, Error> {
        if of.status(now) == SubscriptionStatus::Ended {
            return Err(Error::constraint("the subscription has ended already"));
        }
        let from = now.max(of.start_date);
        let at = match self {
            Self::Immediate => from,
            Self::RequestedDate(date) => date,
            Self::EndOfSubscriptionTerm => {
                let term = of.terms().containing(from).map(Timeframe::end);
                term.ok_or_else(|| Error::constraint("the subscription has no term left"))?
            }
        };
        match of.covers(at) {
            true => Ok(at),
            false => Err(Error::constraint(format!("the subscription is not in force at {at}"))),
        }
    }
}

impl Coupon {
    /// Lets a subscription redeem it, from an instant of its life on: counts the redemption, and adds
    /// the discount over the prices that the subscription has then, or is to have. All of its prices are given.
    pub(crate) fn redeem(
        &mut self,
        of: &mut Subscription,
        prices: &[Price],
        at: Timestamp,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.check_is_left()?;
        check_is_alone(of, at.min(now))?;
        let currency = PricingUnit::from(of.currency);
        // What is priced in units of the host's own has no discount.
        let own = prices.iter().filter(|price| price.currency == currency);
        // Fees wait for the end of a trial.
        let trial_end = of.trial_end().filter(|_| of.is_on_trial(at));
        let charged = trial_end.unwrap_or(at);
        let charged = own.clone().filter(|price| of.has_price(price.id, charged));
        self.check_fits(&charged.collect::<Vec<_>>(), &currency)?;
        let reached = own.filter(|price| of.has_price_from(price.id, at));
        self.times_redeemed = self.times_redeemed.saturating_add(1);
        let begin = at.micros().to_be_bytes();
        let names = [of.id.as_bytes().as_slice(), self.id.as_bytes(), &begin];
        of.adjustment_intervals.push(AdjustmentInterval {
            id: AdjustmentIntervalId::derived(now, &names),
            adjustment: Adjustment::from(&self.discount),
            scope: None,
            price_ids: reached.map(|price| price.id).collect(),
            lane: Lane::FIRST,
            plan_version: of.plan_version,
            coupon_id: Some(self.id),
            is_trial: false,
            delayed_from: None,
            start_date: at,
            end_date: self.duration_in_months.map(|months| of.timezone.after(at, 0, months)),
        });
        Ok(())
    }

    /// Takes back that it was redeemed, where its discount is dropped with a change of plan (subscriptions 3.3.4).
    pub(crate) fn give_back(&mut self) {
        self.times_redeemed = self.times_redeemed.saturating_sub(1);
    }

    fn check_is_left(&self) -> Result<(), Error> {
        if let Some(at) = self.archived_at {
            return Err(Error::constraint(format!("the coupon is archived since {at}")));
        }
        match self.max_redemptions.filter(|most| *most <= self.times_redeemed) {
            Some(most) => {
                let detail = format!("the coupon was redeemed {most} times already, its maximum");
                Err(Error::constraint(detail))
            }
            None => Ok(()),
        }
    }

    /// Refuses an amount that cannot be taken off once in each billing period: its prices fall due apart
    /// (invoicing 7.4), or their currency has fewer digits.
    fn check_fits(&self, prices: &[&Price], currency: &PricingUnit) -> Result<(), Error> {
        let CouponDiscount::Amount(amount) = &self.discount else { return Ok(()) };
        let (found, most) = (amount.places(), currency.places());
        if found > most {
            let detail = format!(
                "the coupon takes {amount} off, with {found} digits behind the point, where \
                 {currency} has {most}"
            );
            return Err(Error::constraint(detail));
        }
        let terms = |price: &Price| (price.cadence, price.charge.billing_mode());
        let is_apart = |pair: &[&Price]| matches!(pair, [one, other] if terms(one) != terms(other));
        if prices.windows(2).any(is_apart) {
            let detail = "the coupon takes an amount off, and the prices of the subscription do \
                          not fall due together: expected one cadence and billing mode";
            return Err(Error::constraint(detail));
        }
        Ok(())
    }
}

/// Refuses a coupon beside another one, which is in force or is to be.
fn check_is_alone(of: &Subscription, from: Timestamp) -> Result<(), Error> {
    let mut coupons = of.adjustment_intervals.iter().filter(|of| of.coupon_id.is_some());
    match coupons.find(|of| of.end_date.is_none_or(|end| from < end)) {
        Some(other) => {
            let begin = other.start_date;
            let detail = format!("the subscription has redeemed a coupon already, from {begin} on");
            Err(Error::constraint(detail))
        }
        None => Ok(()),
    }
}

impl From<CouponId> for CouponName {
    fn from(id: CouponId) -> Self {
        Self::Id(id)
    }
}

impl From<RedemptionCode> for CouponName {
    fn from(code: RedemptionCode) -> Self {
        Self::Code(code)
    }
}

impl fmt::Display for CouponName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Code(code) => code.fmt(f),
        }
    }
}
