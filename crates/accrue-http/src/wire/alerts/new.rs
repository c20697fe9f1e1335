//! Alerts to create, and changes to them (wire 1.3, 1.5).

use std::mem::take;

use accrue::{
    Decimal, JsonNumber, MetricId, PricingUnit, PropertyName,
    alert::{
        self, AlertUpdate, NewBalanceAlert, NewBalanceCondition, NewCondition, ThresholdOverride,
        Thresholds,
    },
    plan::PlanVersion,
    price::{self, FilterOperator},
};

use crate::{
    problem::{Problem, Violations},
    shape::{Whole, choices, request},
    wire::price_filters::PriceFilterIn,
};

request! {
    /// An alert to create on the credit balance of a customer.
    pub(crate) struct NewCustomerAlert {
        /// Type of the alert: the change of the balance that it watches.
        "type" kind: BalanceAlertType,
        /// Currency or pricing unit of the balance.
        currency: PricingUnit,
        /// Values at which `credit_balance_dropped` fires, which needs them. The others fire at
        /// zero, and ignore them.
        thresholds: Option<Vec<ThresholdIn>>,
    }

    /// An alert to create on a plan.
    pub(crate) struct NewPlanAlert {
        /// Type of the alert: the figure that it watches.
        "type" kind: UsageAlertType,
        /// Values at which it fires.
        thresholds: Vec<ThresholdIn>,
        /// Metric of `usage_exceeded`.
        metric_id: Option<MetricId>,
        /// Currency or pricing unit of the cost: the invoicing currency of the plan where none is
        /// given. `usage_exceeded` has none, and ignores it.
        currency: Option<PricingUnit>,
        /// Version of the plan: the default one where none is given.
        plan_version: Option<Whole<1, 4_294_967_295>>,
        /// Properties of the events that `cost_exceeded` is grouped by: each group is watched by itself. It needs a
        /// currency.
        grouping_keys: Option<Vec<PropertyName>>,
        /// Filters of the prices that count, of `spend_exceeded`, and of `cost_exceeded` with groups.
        price_filters: Option<Vec<PriceFilterIn>>,
    }

    /// An alert to create on a subscription.
    pub(crate) struct NewSubscriptionAlert {
        /// Type of the alert: the figure that it watches.
        "type" kind: UsageAlertType,
        /// Values at which it fires.
        thresholds: Vec<ThresholdIn>,
        /// Metric of `usage_exceeded`.
        metric_id: Option<MetricId>,
        /// Currency or pricing unit of the cost: the invoicing currency of the plan where none is
        /// given. `usage_exceeded` has none, and ignores it.
        currency: Option<PricingUnit>,
        /// Properties of the events that `cost_exceeded` is grouped by: each group is watched by itself. It needs a
        /// currency.
        grouping_keys: Option<Vec<PropertyName>>,
        /// Filters of the prices that count, of `spend_exceeded`, and of `cost_exceeded` with groups.
        price_filters: Option<Vec<PriceFilterIn>>,
        /// Thresholds that some groups have in place of those.
        threshold_overrides: Option<Vec<NewThresholdOverride>>,
    }

    /// Changes to an alert.
    pub(crate) struct UpdateAlert {
        /// Values at which it fires from now on.
        thresholds: Vec<ThresholdIn>,
        /// Filters of the prices that count from now on: as before where nothing is given.
        price_filters: Option<Vec<PriceFilterIn>>,
        /// Thresholds that some groups have from now on in place of those: as before where nothing is given.
        threshold_overrides: Option<Vec<NewThresholdOverride>>,
    }

    /// A value at which an alert fires.
    pub(crate) struct ThresholdIn open {
        /// Value.
        value: JsonNumber,
    }

    /// Thresholds that some groups have in place of those of their alert.
    pub(crate) struct NewThresholdOverride open {
        /// Values of the keys, in their order.
        group_values: Vec<String>,
        /// Values at which the groups fire: without any they never do.
        thresholds: Vec<ThresholdIn>,
        /// Keys of the alert that the values are of: all of them, where none are given. Those that are not named may
        /// have any value.
        group_keys: Option<Vec<PropertyName>>,
    }
}

/// The change of a balance that an alert watches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BalanceAlertType {
    Depleted,
    Dropped,
    Recovered,
}

/// The figure of usage that an alert watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageAlertType {
    Usage,
    Cost,
    Spend,
}

choices! {
    BalanceAlertType {
        "credit_balance_depleted" => BalanceAlertType::Depleted,
        "credit_balance_dropped" => BalanceAlertType::Dropped,
        "credit_balance_recovered" => BalanceAlertType::Recovered,
    }

    UsageAlertType {
        "usage_exceeded" => UsageAlertType::Usage,
        "cost_exceeded" => UsageAlertType::Cost,
        "spend_exceeded" => UsageAlertType::Spend,
    }

    FilterOperator {
        "includes" => FilterOperator::Includes,
        "excludes" => FilterOperator::Excludes,
    }
}

impl TryFrom<NewCustomerAlert> for NewBalanceAlert {
    type Error = Problem;

    fn try_from(new: NewCustomerAlert) -> Result<Self, Problem> {
        let condition = match new.kind {
            BalanceAlertType::Depleted => NewBalanceCondition::Depleted,
            BalanceAlertType::Recovered => NewBalanceCondition::Recovered,
            BalanceAlertType::Dropped => {
                let values = new.thresholds.map(values).unwrap_or_default();
                NewBalanceCondition::Dropped { thresholds: Thresholds::new(values)? }
            }
        };
        Ok(Self { currency: new.currency, condition })
    }
}

impl NewPlanAlert {
    /// Returns the alert, and the version of the plan that is asked for.
    pub(crate) fn into_alert(self) -> Result<(alert::NewAlert, Option<PlanVersion>), Problem> {
        let version = self.plan_version.and_then(|Whole(number)| u32::try_from(number).ok());
        let watched = Watched {
            kind: self.kind,
            thresholds: self.thresholds,
            metric_id: self.metric_id,
            currency: self.currency,
            price_filters: self.price_filters,
            grouping_keys: self.grouping_keys,
            threshold_overrides: None,
        };
        Ok((watched.try_into()?, version.map(PlanVersion::new)))
    }
}

impl TryFrom<NewSubscriptionAlert> for alert::NewAlert {
    type Error = Problem;

    fn try_from(new: NewSubscriptionAlert) -> Result<Self, Problem> {
        let watched = Watched {
            kind: new.kind,
            thresholds: new.thresholds,
            metric_id: new.metric_id,
            currency: new.currency,
            price_filters: new.price_filters,
            grouping_keys: new.grouping_keys,
            threshold_overrides: new.threshold_overrides,
        };
        watched.try_into()
    }
}

/// The fields that a new alert on a plan and one on a subscription have in common.
struct Watched {
    kind: UsageAlertType,
    thresholds: Vec<ThresholdIn>,
    metric_id: Option<MetricId>,
    currency: Option<PricingUnit>,
    price_filters: Option<Vec<PriceFilterIn>>,
    grouping_keys: Option<Vec<PropertyName>>,
    threshold_overrides: Option<Vec<NewThresholdOverride>>,
}

impl TryFrom<Watched> for alert::NewAlert {
    type Error = Problem;

    fn try_from(mut new: Watched) -> Result<Self, Problem> {
        let mut violations = Violations::default();
        let overrides = new.threshold_overrides.take().unwrap_or_default();
        let has_keys = new.grouping_keys.as_ref().is_some_and(|keys| !keys.is_empty());
        if !overrides.is_empty() && !has_keys {
            violations.push("/threshold_overrides", "are there without grouping_keys");
        }
        let thresholds = Thresholds::new(values(take(&mut new.thresholds)));
        let thresholds = thresholds.map_err(|error| violations.extend(error.violations())).ok();
        let threshold_overrides = all_overrides(overrides, &mut violations);
        let condition = new.condition(&mut violations);
        match condition.zip(thresholds) {
            Some((condition, thresholds)) if violations.is_empty() => {
                Ok(Self { threshold_overrides, ..Self::new(condition, thresholds) })
            }
            _ => Err(Problem::invalid(violations)),
        }
    }
}

impl Watched {
    /// Returns what is to be watched; none where that cannot be told.
    fn condition(self, violations: &mut Violations) -> Option<NewCondition> {
        let Self { kind, currency, metric_id, .. } = self;
        let grouping_keys = self.grouping_keys.unwrap_or_default();
        let price_filters = filters(self.price_filters.unwrap_or_default());
        let is_on_groups = kind == UsageAlertType::Cost && !grouping_keys.is_empty();
        if metric_id.is_some() && kind != UsageAlertType::Usage {
            violations.push("/metric_id", "is that of usage_exceeded alone");
        }
        if !grouping_keys.is_empty() && !is_on_groups {
            violations.push("/grouping_keys", "are those of cost_exceeded alone");
        }
        if !price_filters.is_empty() && kind != UsageAlertType::Spend && !is_on_groups {
            let message = "are those of spend_exceeded, and of cost_exceeded with grouping_keys";
            violations.push("/price_filters", message);
        }
        match (kind, metric_id, currency) {
            (UsageAlertType::Usage, Some(metric_id), _) => {
                Some(NewCondition::UsageExceeded { metric_id })
            }
            (UsageAlertType::Usage, None, _) => {
                violations.push("/metric_id", "is missing, usage_exceeded needs it");
                None
            }
            (UsageAlertType::Cost, _, Some(currency)) if is_on_groups => {
                Some(NewCondition::GroupedCostExceeded { grouping_keys, currency, price_filters })
            }
            (UsageAlertType::Cost, _, None) if is_on_groups => {
                violations.push("/currency", "is missing, grouping_keys need it");
                None
            }
            (UsageAlertType::Cost, _, currency) => Some(NewCondition::CostExceeded { currency }),
            (UsageAlertType::Spend, _, Some(currency)) => {
                Some(NewCondition::SpendExceeded { currency, price_filters })
            }
            (UsageAlertType::Spend, _, None) => {
                violations.push("/currency", "is missing, spend_exceeded needs it");
                None
            }
        }
    }
}

impl TryFrom<UpdateAlert> for AlertUpdate {
    type Error = Problem;

    fn try_from(update: UpdateAlert) -> Result<Self, Problem> {
        let mut violations = Violations::default();
        let overrides = update.threshold_overrides;
        let threshold_overrides = overrides.map(|all| all_overrides(all, &mut violations));
        let thresholds = Thresholds::new(values(update.thresholds));
        let thresholds = thresholds.map_err(|error| violations.extend(error.violations())).ok();
        let price_filters = update.price_filters.map(filters);
        match thresholds {
            Some(thresholds) if violations.is_empty() => {
                Ok(Self { thresholds, price_filters, threshold_overrides })
            }
            _ => Err(Problem::invalid(violations)),
        }
    }
}

/// Returns the thresholds of some groups, and notes what is wrong with them: a group without any never fires.
fn all_overrides(
    new: Vec<NewThresholdOverride>,
    violations: &mut Violations,
) -> Vec<ThresholdOverride> {
    let mut all = Vec::with_capacity(new.len());
    for (place, of) in new.into_iter().enumerate() {
        let thresholds = values(of.thresholds);
        let thresholds = (!thresholds.is_empty()).then(|| Thresholds::new(thresholds)).transpose();
        match thresholds {
            Ok(thresholds) => all.push(ThresholdOverride {
                group_keys: of.group_keys,
                group_values: of.group_values,
                thresholds,
            }),
            Err(error) => {
                let pointer = format!("/threshold_overrides/{place}/thresholds");
                let wrong = error.violations().iter();
                wrong.for_each(|of| violations.push(pointer.clone(), of.message.clone()));
            }
        }
    }
    all
}

fn values(thresholds: Vec<ThresholdIn>) -> Vec<Decimal> {
    thresholds.into_iter().map(|threshold| threshold.value.0).collect()
}

fn filters(filters: Vec<PriceFilterIn>) -> Vec<price::PriceFilter> {
    filters.into_iter().map(price::PriceFilter::from).collect()
}
