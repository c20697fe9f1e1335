use accrue::{
    JsonNumber, Timestamp,
    related::Related,
    subscription::{self, Subscription},
};

use crate::{
    shape::{Moment, Nothing, response},
    wire::{prices::Price, usage_customers::usage_customer_ids},
};

response! {
    /// A price that a subscription has: from its start to its end.
    pub(crate) struct PriceInterval {
        /// Its id.
        id: String,
        /// Price.
        price: Price,
        /// Its first instant.
        start_date: Moment,
        /// First instant after it: its own, or that of the subscription; null where no end is known.
        end_date: Option<Moment>,
        /// Day of the month on which its billing periods begin.
        billing_cycle_day: u32,
        /// Start of its current billing period; null where it has none.
        current_billing_period_start_date: Option<Moment>,
        /// End of its current billing period; null where it has none.
        current_billing_period_end_date: Option<Moment>,
        /// Quantities of a fee, each with its start; null for usage.
        fixed_fee_quantity_transitions: Option<Vec<QuantityTransition>>,
        /// True if usage up to an end within a period is billed with the end of that.
        can_defer_billing: bool,
        /// Condition on the events that count, beside that of the metric; null where all of them do.
        filter: Option<String>,
        /// Customers whose usage counts; null where that is the customer alone.
        usage_customer_ids: Option<Vec<String>>,
        /// Always null: metrics have no parameters.
        metric_parameter_overrides: Nothing,
    }

    /// The quantity of a fee from an instant on.
    pub(crate) struct QuantityTransition {
        /// Start of the quantity.
        effective_date: Moment,
        /// Id of the price of the fee.
        price_id: String,
        /// Quantity.
        quantity: JsonNumber,
    }

    /// The quantity of a fee from its start to its end.
    pub(crate) struct QuantityEntry {
        /// Id of the price of the fee.
        price_id: String,
        /// Quantity.
        quantity: JsonNumber,
        /// Start of the quantity.
        start_date: Moment,
        /// End of the quantity; null where no end is known.
        end_date: Option<Moment>,
    }
}

/// Writes the prices that a subscription has, each while it is in force.
pub(super) fn intervals(
    subscription: &Subscription,
    related: &Related,
    now: Timestamp,
) -> Vec<PriceInterval> {
    let intervals = subscription.price_intervals.iter();
    intervals.filter_map(|of| PriceInterval::of(subscription, of, related, now)).collect()
}

/// Writes the quantities of the fees of a subscription over its life.
pub(super) fn schedule(subscription: &Subscription) -> Vec<QuantityEntry> {
    let fees = subscription.price_intervals.iter().filter(|interval| interval.is_fee());
    let entries = fees.flat_map(|interval| {
        let stretches = subscription.fee_schedule(interval).into_iter();
        stretches.map(|stretch| QuantityEntry {
            price_id: interval.price_id.to_string(),
            quantity: JsonNumber(stretch.quantity),
            start_date: stretch.start_date.into(),
            end_date: stretch.end_date.map(Moment::from),
        })
    });
    entries.collect()
}

impl PriceInterval {
    fn of(
        subscription: &Subscription,
        interval: &subscription::PriceInterval,
        related: &Related,
        now: Timestamp,
    ) -> Option<Self> {
        let price = related.price(interval.price_id)?;
        let period = subscription.period_of(interval, now);
        let discount = subscription.trial_discount(interval.price_id);
        let discount = discount.filter(|_| interval.is_trial());
        let transitions = interval.is_fee().then(|| {
            let stretches = subscription.fee_schedule(interval).into_iter();
            let transitions = stretches.map(|stretch| QuantityTransition {
                effective_date: stretch.start_date.into(),
                price_id: interval.price_id.to_string(),
                quantity: JsonNumber(stretch.quantity),
            });
            transitions.collect()
        });
        Some(Self {
            id: interval.id.to_string(),
            price: Price::of(price, related)
                .in_place_of(interval.replaces_price_id)
                .in_phase(interval.plan_phase_order)
                .on_trial(discount),
            start_date: interval.start_date.into(),
            end_date: subscription.end_of(interval).map(Moment::from),
            billing_cycle_day: subscription.billing_cycle_day_of(interval).into(),
            current_billing_period_start_date: period.map(|period| period.start().into()),
            current_billing_period_end_date: period.map(|period| period.end().into()),
            fixed_fee_quantity_transitions: transitions,
            can_defer_billing: interval.can_defer_billing,
            filter: interval.filter.as_ref().map(ToString::to_string),
            usage_customer_ids: interval.usage_customers.as_ref().map(usage_customer_ids),
            metric_parameter_overrides: Nothing,
        })
    }
}
