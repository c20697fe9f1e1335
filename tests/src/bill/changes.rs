//! Changes to alerts, done by the engine and by the biller.

use std::collections::BTreeSet;

use accrue::{
    ErrorKind, PricingUnit, PropertyName,
    alert::{AlertUpdate, NewAlert, NewCondition, ThresholdOverride, Thresholds},
    price::PriceFilter,
};
use pollster::block_on;

use super::{
    Alert, Bench, Condition, Filter, Named, Override, Scope, Terms, engine::decimal,
    script::GroupSpec,
};
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
            Terms::Groups { keys, unit, filters, .. } => {
                Condition::Groups(keys.clone(), unit, self.known(plan, filters))
            }
        };
        let overrides = match (terms, scope) {
            (Terms::Groups { keys, overrides, .. }, Scope::Subscription(_)) => {
                known_overrides(keys, overrides)
            }
            _ => Vec::new(),
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
            Condition::Groups(keys, currency, filters) => NewCondition::GroupedCostExceeded {
                grouping_keys: keys.iter().map(|key| PropertyName::parse(*key).unwrap()).collect(),
                currency: unit(currency),
                price_filters: self.engine_filters(plan, filters),
            },
        };
        // Ids of one millisecond have no order, and alerts that fire together are in that of ids.
        self.set(self.biller.now + 1_000);
        let mut new = NewAlert::new(wanted, engine_thresholds(thresholds));
        new.threshold_overrides = engine_overrides(&overrides);
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
        self.biller.alerts.push(Alert { scope, condition, thresholds, overrides, enabled: true });
        self.biller.configured(self.alerts.len() - 1);
    }

    pub(super) fn update_alert(
        &mut self,
        alert: usize,
        thresholds: &[&'static str],
        filters: Option<&BTreeSet<Filter>>,
        overrides: Option<&[GroupSpec]>,
    ) {
        let mut after = self.biller.alerts[alert].clone();
        after.thresholds = model_thresholds(thresholds);
        let plan = match after.scope {
            Scope::Subscription(of) => self.biller.lives[of].plan,
            Scope::Plan(of) => of,
        };
        let mut update = AlertUpdate::from(engine_thresholds(thresholds));
        if let (Condition::Spend(_, filters) | Condition::Groups(_, _, filters), Some(new)) =
            (&mut after.condition, filters)
        {
            *filters = self.known(plan, new);
            update.price_filters = Some(self.engine_filters(plan, filters));
        }
        if let (Condition::Groups(keys, ..), Scope::Subscription(_), Some(new)) =
            (&after.condition, &after.scope, overrides)
        {
            after.overrides = known_overrides(keys, new);
            update.threshold_overrides = Some(engine_overrides(&after.overrides));
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

/// The overrides that name keys of an alert, each group once.
fn known_overrides(keys: &[&'static str], specs: &[GroupSpec]) -> Vec<Override> {
    let mut known = Vec::<Override>::new();
    for (named, thresholds) in specs {
        let named = named.iter().map(|(key, value)| (keys[key % keys.len()], *value));
        let (of, thresholds) = (named.collect(), model_thresholds(thresholds));
        if known.iter().all(|other| other.of != of) {
            known.push(Override { of, thresholds });
        }
    }
    known
}

fn engine_overrides(overrides: &[Override]) -> Vec<ThresholdOverride> {
    let of = |of: &Override| {
        let thresholds = of.thresholds.iter().map(decimal);
        let thresholds = (!of.thresholds.is_empty()).then(|| Thresholds::new(thresholds).unwrap());
        ThresholdOverride {
            group_keys: Some(of.of.keys().map(|key| PropertyName::parse(*key).unwrap()).collect()),
            group_values: of.of.values().map(|value| (*value).to_owned()).collect(),
            thresholds,
        }
    };
    overrides.iter().map(of).collect()
}
