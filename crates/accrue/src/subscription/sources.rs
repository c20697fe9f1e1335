use std::collections::BTreeSet;

use super::{PriceInterval, Subscription};
use crate::{
    CustomerId, MetricId,
    meter::{CellId, Source, UsageCustomers},
};

impl Subscription {
    /// Returns whose usage it adds up: once for all that its plans and prices count alike (subscriptions 1.5).
    pub(crate) fn sources(&self) -> Vec<Source> {
        let mut sources = vec![self.source()];
        for customers in self.all_usage_customers() {
            let known = |of: &Source| of.usage_customers() == customers;
            if !sources.iter().any(known) {
                sources.push(Source::new(self.customer_id, customers));
            }
        }
        sources
    }

    /// Returns whose usage is its own, where no price says otherwise: alerts watch that, and usage shows it.
    pub(crate) fn source(&self) -> Source {
        Source::new(self.customer_id, self.usage_customers.as_ref())
    }

    /// Returns whose usage one of its prices counts.
    pub(crate) fn source_of(&self, interval: &PriceInterval) -> Source {
        Source::new(self.customer_id, interval.usage_customers.as_ref())
    }

    /// Returns the cell in which a metric of its own usage is added up.
    pub(crate) fn usage_cell(&self, metric: MetricId) -> CellId {
        self.source().cell(metric.into())
    }

    /// Tells whether the usage of a customer counts for it.
    pub(crate) fn counts_usage_of(&self, customer: CustomerId) -> bool {
        let is_own = customer == self.customer_id;
        self.all_usage_customers().any(|of| of.map_or(is_own, |of| of.includes(customer)))
    }

    /// Tells whether usage of other customers counts for it, or not that of its own.
    pub(crate) fn has_usage_customers(&self) -> bool {
        self.all_usage_customers().any(|of| of.is_some())
    }

    /// Returns the customers that are listed anywhere in it, of fees too, which have no use for them.
    pub(crate) fn listed_customers(&self) -> BTreeSet<CustomerId> {
        let fees = self.price_intervals.iter().filter(|of| of.is_fee());
        let fees = fees.map(|of| of.usage_customers.as_ref());
        let lists = self.all_usage_customers().chain(fees).flatten();
        lists.flat_map(UsageCustomers::ids).copied().collect()
    }

    fn all_usage_customers(&self) -> impl Iterator<Item = Option<&UsageCustomers>> {
        let prices = self.price_intervals.iter().filter(|of| !of.is_fee());
        let prices = prices.map(|of| of.usage_customers.as_ref());
        let plans = self.plan_intervals.iter().map(|of| of.usage_customers.as_ref());
        prices.chain(plans).chain([self.usage_customers.as_ref()])
    }
}
