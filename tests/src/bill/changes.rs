//! Changes to alerts, done by the engine and by the biller.

use std::collections::BTreeSet;

use accrue::{
    ErrorKind, PricingUnit,
    alert::{AlertUpdate, NewAlert, NewCondition},
    price::PriceFilter,
};
use pollster::block_on;

use super::{Alert, Bench, Condition, Filter, Named, Scope, Terms};
use crate::{
    script::On,
    world::{engine_thresholds, model_thresholds, nth},
};

impl Bench {
    pub(super) fn create_alert(&mut self, on: On, terms: &Terms, thresholds: &[&'static str]) {
        let (scope, plan) = match on {
            On::Subscription(of) => {
                let Some(of) = nth(of, self.lives.len()) else { return };
                (Scope::Subscription(of), self.biller.lives[of].plan)
            }
            On::Plan(of) => (Scope::Plan(of % self.plans.len()), of % self.plans.len()),
        };
        let condition = match terms {
            Terms::Usage(metric) => Condition::Usage(metric % self.metrics.len()),
            Terms::Cost(unit) => Condition::Cost(unit.unwrap_or("USD")),
            Terms::Spend(unit, filters) => Condition::Spend(unit, self.known(plan, filters)),
        };
        let unit = |unit: &str| PricingUnit::parse(unit).unwrap();
        let wanted = match &condition {
            Condition::Usage(metric) => {
                NewCondition::UsageExceeded { metric_id: self.metrics[*metric] }
            }
            Condition::Cost(_) => {
                let Terms::Cost(currency) = terms else { return };
                NewCondition::CostExceeded { currency: currency.map(unit) }
            }
            Condition::Spend(currency, filters) => NewCondition::SpendExceeded {
                currency: unit(currency),
                price_filters: self.engine_filters(plan, filters),
            },
        };
        // Ids of one millisecond have no order, and alerts that fire together are in that of ids.
        self.set(self.biller.now + 1_000);
        let new = NewAlert { condition: wanted, thresholds: engine_thresholds(thresholds) };
        let account = &self.host.account;
        let call = match scope {
            Scope::Subscription(of) => account.create_subscription_alert(self.lives[of], new),
            Scope::Plan(of) => {
                let (plan, version) = self.plans[of];
                account.create_plan_version_alert(plan, version, new)
            }
        };
        let created = block_on(call.into_future());
        let excludes = |alert: &Alert| alert.scope == scope && alert.condition.excludes(&condition);
        if self.biller.alerts.iter().any(excludes) {
            assert_eq!(created.unwrap_err().kind(), ErrorKind::ConstraintViolation);
            return;
        }
        self.alerts.push(created.unwrap().id);
        let thresholds = model_thresholds(thresholds);
        self.biller.alerts.push(Alert { scope, condition, thresholds, enabled: true });
        self.biller.configured(self.alerts.len() - 1);
    }

    pub(super) fn update_alert(
        &mut self,
        alert: usize,
        thresholds: &[&'static str],
        filters: Option<&BTreeSet<Filter>>,
    ) {
        let mut after = self.biller.alerts[alert].clone();
        after.thresholds = model_thresholds(thresholds);
        let plan = match after.scope {
            Scope::Subscription(of) => self.biller.lives[of].plan,
            Scope::Plan(of) => of,
        };
        let mut update = AlertUpdate::from(engine_thresholds(thresholds));
        if let (Condition::Spend(_, filters), Some(new)) = (&mut after.condition, filters) {
            *filters = self.known(plan, new);
            update.price_filters = Some(self.engine_filters(plan, filters));
        }
        let call = self.host.account.update_alert(self.alerts[alert], update);
        let updated = block_on(call.into_future());
        let mut others = self.biller.alerts.iter().enumerate();
        if others.any(|(index, other)| {
            index != alert
                && other.scope == after.scope
                && other.condition.excludes(&after.condition)
        }) {
            assert_eq!(updated.unwrap_err().kind(), ErrorKind::ConstraintViolation);
            return;
        }
        updated.unwrap();
        self.biller.alerts[alert] = after;
        self.biller.configured(alert);
    }

    pub(super) fn switch(&mut self, alert: usize, enabled: bool) {
        let (account, id) = (&self.host.account, self.alerts[alert]);
        let call = if enabled { account.enable_alert(id) } else { account.disable_alert(id) };
        block_on(call.into_future()).unwrap();
        if self.biller.alerts[alert].enabled != enabled {
            self.biller.alerts[alert].enabled = enabled;
            self.biller.configured(alert);
        }
    }

    /// The filters with those prices alone that a plan has.
    fn known(&self, plan: usize, filters: &BTreeSet<Filter>) -> BTreeSet<Filter> {
        let prices = self.prices[plan].len();
        let known = |filter: &Filter| {
            let mut filter = filter.clone();
            if let Named::Prices(of) = &mut filter.named {
                *of = of.iter().map(|index| index % prices).collect();
            }
            filter
        };
        filters.iter().map(known).collect()
    }

    fn engine_filters(&self, plan: usize, filters: &BTreeSet<Filter>) -> Vec<PriceFilter> {
        filters.iter().map(|filter| filter.to_engine(&self.prices[plan], &self.items)).collect()
    }
}
