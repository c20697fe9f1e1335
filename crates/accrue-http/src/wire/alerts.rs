use accrue::{
    CustomerId, Decimal, IdOr, JsonNumber, MetricId, Name, PricingUnit, SubscriptionId,
    alert::{
        self, AlertUpdate, Condition, NewBalanceAlert, NewBalanceCondition, NewCondition, Scope,
        Thresholds,
    },
    plan::PlanVersion,
    price::{self, FilterOperator},
    related::Related,
};

use super::{
    customers::{CustomerMinified, ExternalCustomerId},
    not_built::{AnyObject, NotBuilt},
    pages::Limit,
    price_filters::{PriceFilter, PriceFilterIn},
};
use crate::{
    problem::{Problem, Violations},
    shape::{
        Anything, Describe, Fields, Moment, Reader, Schema, Source, Whole, Word, choices, request,
        response,
    },
    wire::dates::{Date, created},
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
        /// Properties that the cost is grouped by: not available until alerts have groups.
        grouping_keys: Option<NotBuilt<Vec<String>>>,
        /// Filters of the prices that count, of `spend_exceeded`.
        price_filters: Option<Vec<PriceFilterIn>>,
    }

    /// An alert to create on a subscription.
    pub(crate) struct NewSubscriptionAlert => overrides_have_groups {
        /// Type of the alert: the figure that it watches.
        "type" kind: UsageAlertType,
        /// Values at which it fires.
        thresholds: Vec<ThresholdIn>,
        /// Metric of `usage_exceeded`.
        metric_id: Option<MetricId>,
        /// Currency or pricing unit of the cost: the invoicing currency of the plan where none is
        /// given. `usage_exceeded` has none, and ignores it.
        currency: Option<PricingUnit>,
        /// Properties that the cost is grouped by: not available until alerts have groups.
        grouping_keys: Option<NotBuilt<Vec<String>>>,
        /// Filters of the prices that count, of `spend_exceeded`.
        price_filters: Option<Vec<PriceFilterIn>>,
        /// Other thresholds of some groups: not available, as the groups are.
        threshold_overrides: Option<Vec<AnyObject>>,
    }

    /// Changes to an alert.
    pub(crate) struct UpdateAlert {
        /// Values at which it fires from now on.
        thresholds: Vec<ThresholdIn>,
        /// Filters of the prices that count from now on: as before where nothing is given.
        price_filters: Option<Vec<PriceFilterIn>>,
        /// Other thresholds of some groups: not available until alerts have groups.
        threshold_overrides: Option<NotBuilt<Vec<AnyObject>>>,
    }

    /// A value at which an alert fires.
    pub(crate) struct ThresholdIn open {
        /// Value.
        value: JsonNumber,
    }

    /// Filters and page of a list of alerts: those of one customer, or those that watch one
    /// subscription. One of the two is named; with both, or with both ids of the customer, those
    /// alone that are meant by all.
    pub(crate) struct AlertListQuery {
        /// Maximum number of rows on a page: at most 100, also where more are asked for.
        limit: Option<Limit>,
        /// Cursor of the page: `next_cursor` of the one before.
        cursor: Option<String>,
        /// Customer whose credit balance the alerts watch.
        customer_id: Option<CustomerId>,
        /// External id of that customer.
        external_customer_id: Option<ExternalCustomerId>,
        /// Subscription of the alerts: its own, and those of its plan that reach it.
        subscription_id: Option<SubscriptionId>,
        /// Alerts created at this instant or later.
        "created_at[gte]" created_at_gte: Option<Date>,
        /// Alerts created after this instant.
        "created_at[gt]" created_at_gt: Option<Date>,
        /// Alerts created before this instant.
        "created_at[lt]" created_at_lt: Option<Date>,
        /// Alerts created at this instant or earlier.
        "created_at[lte]" created_at_lte: Option<Date>,
    }

    /// The scope in which an alert is enabled or disabled.
    pub(crate) struct AlertForQuery {
        /// Subscription, where it is enabled or disabled for that one alone.
        subscription_id: Option<SubscriptionId>,
    }
}

created!(AlertListQuery);

response! {
    /// An alert (§2.1).
    pub(crate) struct Alert {
        /// Its id.
        id: String,
        /// Type of the alert: the figure that it watches.
        "type" kind: Word<AlertType>,
        /// Instant of its creation.
        created_at: Moment,
        /// True if it fires at all.
        enabled: bool,
        /// Values at which it fires; null where the only one is zero.
        thresholds: Option<Vec<Threshold>>,
        /// Customer whose balance it watches.
        customer: Option<CustomerMinified>,
        /// Plan whose subscriptions it watches.
        plan: Option<AlertPlan>,
        /// Subscription that it watches.
        subscription: Option<SubscriptionMinified>,
        /// Metric whose usage it watches.
        metric: Option<AlertMetric>,
        /// Currency or pricing unit of the balance or the cost.
        currency: Option<PricingUnit>,
        /// Filters of the prices that count, of an alert on spend.
        price_filters: Option<Vec<PriceFilter>>,
        /// Status of each threshold, of an alert on a balance.
        balance_alert_status: Option<Vec<BalanceAlertStatus>>,
    }

    /// A value at which an alert fires.
    pub(crate) struct Threshold {
        /// Value.
        value: JsonNumber,
    }

    /// The plan of an alert.
    pub(crate) struct AlertPlan {
        /// Its id.
        id: Option<String>,
        /// External id: the caller's own alias.
        external_plan_id: Option<String>,
        /// Its name.
        name: Option<Name>,
        /// Version whose subscriptions the alert watches.
        plan_version: String,
    }

    /// A subscription, in short.
    pub(crate) struct SubscriptionMinified {
        /// Its id.
        id: String,
    }

    /// The metric of an alert.
    pub(crate) struct AlertMetric {
        /// Its id.
        id: String,
    }

    /// The status of a threshold of an alert on a balance.
    pub(crate) struct BalanceAlertStatus {
        /// Threshold.
        threshold_value: JsonNumber,
        /// True if it is in alert.
        in_alert: bool,
    }
}

/// The type of an alert: of a balance, or of usage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlertType;

impl Describe for AlertType {
    fn schema() -> Schema {
        let of_usage = UsageAlertType::schema().words();
        let words = BalanceAlertType::schema().words().into_iter().chain(of_usage);
        Schema::Choice { name: "AlertType", words: words.collect() }
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
        };
        watched.try_into()
    }
}

/// The thresholds of groups are of an alert that has groups (wire 1.3).
fn overrides_have_groups(fields: &Fields<'_>, reader: &mut Reader) {
    let peek = |name| fields.peek::<Option<Vec<Anything>>>(name, Source::Body).flatten();
    let overrides = peek("threshold_overrides").is_some_and(|overrides| !overrides.is_empty());
    let has_groups =
        fields.has("grouping_keys") && peek("grouping_keys").is_none_or(|keys| !keys.is_empty());
    if overrides && !has_groups {
        let message = "are there without grouping_keys";
        let _: Option<()> = reader.wrong(&fields.pointer("threshold_overrides"), message);
    }
}

/// The fields that a new alert on a plan and one on a subscription have in common.
struct Watched {
    kind: UsageAlertType,
    thresholds: Vec<ThresholdIn>,
    metric_id: Option<MetricId>,
    currency: Option<PricingUnit>,
    price_filters: Option<Vec<PriceFilterIn>>,
}

impl TryFrom<Watched> for alert::NewAlert {
    type Error = Problem;

    fn try_from(new: Watched) -> Result<Self, Problem> {
        let Watched { kind, currency, metric_id, .. } = new;
        let price_filters = filters(new.price_filters.unwrap_or_default());
        let mut violations = Violations::default();
        if metric_id.is_some() && kind != UsageAlertType::Usage {
            violations.push("/metric_id", "is that of usage_exceeded alone");
        }
        if !price_filters.is_empty() && kind != UsageAlertType::Spend {
            violations.push("/price_filters", "are those of spend_exceeded alone");
        }
        let condition = match (kind, metric_id, currency) {
            (UsageAlertType::Usage, Some(metric_id), _) => {
                Some(NewCondition::UsageExceeded { metric_id })
            }
            (UsageAlertType::Usage, None, _) => {
                violations.push("/metric_id", "is missing, usage_exceeded needs it");
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
        };
        let thresholds = Thresholds::new(values(new.thresholds));
        let thresholds = thresholds.map_err(|error| violations.extend(error.violations())).ok();
        match condition.zip(thresholds) {
            Some((condition, thresholds)) if violations.is_empty() => {
                Ok(Self::new(condition, thresholds))
            }
            _ => Err(Problem::invalid(violations)),
        }
    }
}

impl TryFrom<UpdateAlert> for AlertUpdate {
    type Error = Problem;

    fn try_from(update: UpdateAlert) -> Result<Self, Problem> {
        Ok(Self {
            thresholds: Thresholds::new(values(update.thresholds))?,
            price_filters: update.price_filters.map(filters),
            threshold_overrides: None,
        })
    }
}

fn values(thresholds: Vec<ThresholdIn>) -> Vec<Decimal> {
    thresholds.into_iter().map(|threshold| threshold.value.0).collect()
}

fn filters(filters: Vec<PriceFilterIn>) -> Vec<price::PriceFilter> {
    filters.into_iter().map(price::PriceFilter::from).collect()
}

impl Alert {
    /// Writes an alert, with the customer or the plan that it is on.
    pub(crate) fn of(alert: &alert::Alert, related: &Related) -> Self {
        let (customer, plan, subscription) = match alert.scope {
            Scope::Subscription { subscription_id, .. } => {
                (None, None, Some(SubscriptionMinified::from(subscription_id)))
            }
            Scope::Plan { plan_id, plan_version } => {
                let plan = related.plan(plan_id);
                let external_plan_id = plan.and_then(|plan| plan.external_plan_id.as_ref());
                let plan = AlertPlan {
                    id: Some(plan_id.to_string()),
                    external_plan_id: external_plan_id.map(ToString::to_string),
                    name: plan.map(|plan| plan.name.clone()),
                    plan_version: plan_version.number().to_string(),
                };
                (None, Some(plan), None)
            }
            Scope::Customer { customer_id } => {
                let customer = CustomerMinified::of(customer_id, related.customer(customer_id));
                (Some(customer), None, None)
            }
            _ => (None, None, None),
        };
        let (currency, filters) = match &alert.condition {
            Condition::CostExceeded { currency } => (Some(currency), None),
            Condition::SpendExceeded { currency, price_filters } => {
                (Some(currency), Some(price_filters.iter().map(PriceFilter::from).collect()))
            }
            of_balance => (of_balance.ledger(), None),
        };
        let threshold = |value: &Decimal| Threshold { value: JsonNumber(value.clone()) };
        let thresholds = alert.thresholds.as_ref();
        let status = |status: &alert::BalanceAlertStatus| BalanceAlertStatus {
            threshold_value: JsonNumber(status.threshold_value.clone()),
            in_alert: status.in_alert,
        };
        let statuses: Vec<_> = alert.balance_alert_status.iter().map(status).collect();
        Self {
            id: alert.id.to_string(),
            kind: Word::of(alert.condition.alert_type()),
            created_at: alert.created_at.into(),
            enabled: alert.enabled,
            thresholds: thresholds.map(|of| of.values().iter().map(threshold).collect()),
            customer,
            plan,
            subscription,
            metric: alert.condition.metric_id().map(|id| AlertMetric { id: id.to_string() }),
            currency: currency.cloned(),
            price_filters: filters,
            balance_alert_status: (!statuses.is_empty()).then_some(statuses),
        }
    }
}

/// The subscription and customers whose alerts are listed: an alert has to be meant by all of them.
#[derive(Clone, Debug)]
pub(crate) struct AlertsOf {
    pub(crate) subscription: Option<SubscriptionId>,
    pub(crate) customers: Vec<IdOr<CustomerId>>,
}

impl AlertListQuery {
    /// Returns the subscription and customers whose alerts are listed.
    pub(crate) fn of(&self) -> Result<AlertsOf, Problem> {
        let id = self.customer_id.map(IdOr::Id);
        let external = self.external_customer_id.clone().map(IdOr::from);
        let subscription = self.subscription_id;
        let customers: Vec<_> = id.into_iter().chain(external).collect();
        if subscription.is_none() && customers.is_empty() {
            let message = "is missing, as are external_customer_id and subscription_id";
            return Err(Violations::one("/customer_id", message).into());
        }
        Ok(AlertsOf { subscription, customers })
    }
}

impl From<SubscriptionId> for SubscriptionMinified {
    fn from(id: SubscriptionId) -> Self {
        Self { id: id.to_string() }
    }
}
