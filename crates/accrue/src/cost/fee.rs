use crate::{
    Decimal, Timeframe, Timestamp,
    price::{BillingMode, Charge, Price, Quantity},
    subscription::{BillingPeriods, Subscription},
};

/// What time brings to a price: a fee, or what a minimum adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fee {
    /// When it falls due.
    pub(crate) at: Timestamp,
    /// How many, of a fee.
    pub(crate) quantity: Decimal,
    /// What they cost before adjustments.
    pub(crate) subtotal: Decimal,
    /// What they cost.
    pub(crate) total: Decimal,
}

/// Returns the fees of a price that fall due in a timeframe: in advance from its first instant on,
/// at the end of a period up to and including its last. So timeframes that adjoin share none and
/// miss none.
pub(crate) fn fees(price: &Price, subscription: &Subscription, within: Timeframe) -> Vec<Fee> {
    let Charge::Fixed { quantity, model, billing_mode } = &price.charge else {
        return Vec::new();
    };
    let quantity = subscription.fee_quantities.get(&price.id).unwrap_or(quantity);
    let amount = model.rate(&Quantity::One(quantity.clone())).amount;
    let periods = price.cadence.cycle().map(|cycle| subscription.periods_of(cycle));
    let found: Vec<_> = match &periods {
        Some(periods) => periods.overlapping(within).collect(),
        None => subscription.periods().first().into_iter().collect(),
    };
    let mut fees = Vec::new();
    for period in found {
        let subtotal = prorate(&amount, periods.as_ref(), period, price);
        let total = price.adjustments.adjust(subtotal.clone());
        let top_up = price.adjustments.top_up(&total);
        let at = match billing_mode {
            BillingMode::InAdvance => period.start(),
            BillingMode::InArrear => period.end(),
        };
        fees.push((*billing_mode, Fee { at, quantity: quantity.clone(), subtotal, total }));
        if !top_up.is_zero() {
            let (quantity, subtotal) = (Decimal::zero(), Decimal::zero());
            let fee = Fee { at: period.end(), quantity, subtotal, total: top_up };
            fees.push((BillingMode::InArrear, fee));
        }
    }
    let due = |(mode, fee): &(BillingMode, Fee)| match mode {
        BillingMode::InAdvance => within.contains(fee.at),
        BillingMode::InArrear => within.start() < fee.at && fee.at <= within.end(),
    };
    fees.into_iter().filter(due).map(|(_, fee)| fee).collect()
}

/// Returns what a fee costs in a period: less where it is not a whole billing cycle.
fn prorate(
    amount: &Decimal,
    periods: Option<&BillingPeriods>,
    period: Timeframe,
    price: &Price,
) -> Decimal {
    match periods.map(|periods| periods.days(period)) {
        Some(days) if days.part < days.whole => {
            amount.prorate(days.part, days.whole, price.currency.places())
        }
        _ => amount.clone(),
    }
}
