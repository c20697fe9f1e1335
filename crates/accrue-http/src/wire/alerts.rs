//! Alerts (§2.1, wire 1).

mod new;

use accrue::{
    CustomerId, Decimal, IdOr, JsonNumber, Name, PricingUnit, PropertyName, SubscriptionId,
    alert::{self, Condition, Scope},
    price,
    related::Related,
};

use self::new::{BalanceAlertType, UsageAlertType};
pub(crate) use self::new::{NewCustomerAlert, NewPlanAlert, NewSubscriptionAlert, UpdateAlert};
use super::{
    customers::{CustomerMinified, ExternalCustomerId},
    pages::Limit,
    price_filters::PriceFilter,
};
use crate::{
    problem::{Problem, Violations},
    shape::{Describe, Moment, Schema, Word, request, response},
    wire::dates::{Date, created},
};

request! {
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
        /// Type of the licenses whose pools it watches, of an alert on licenses; null of all types.
        license_type: Option<AlertLicenseType>,
        /// Properties of the events by which it groups what it watches, of an alert on the cost of groups.
        grouping_keys: Option<Vec<PropertyName>>,
        /// Filters of the prices that count, of an alert on spend or on the cost of groups.
        price_filters: Option<Vec<PriceFilter>>,
        /// Thresholds that some groups have in place of those, where there are such.
        threshold_overrides: Option<Vec<ThresholdOverride>>,
        /// Status of each threshold, of an alert on a balance.
        balance_alert_status: Option<Vec<BalanceAlertStatus>>,
    }

    /// A value at which an alert fires.
    pub(crate) struct Threshold {
        /// Value.
        value: JsonNumber,
    }

    /// Thresholds that some groups have in place of those of their alert.
    pub(crate) struct ThresholdOverride {
        /// Values of the keys, in their order.
        group_values: Vec<String>,
        /// Values at which the groups fire: without any they never do.
        thresholds: Vec<Threshold>,
        /// Keys of the alert that the values are of: all of them, where none are given.
        group_keys: Option<Vec<PropertyName>>,
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

    /// The license type of an alert.
    pub(crate) struct AlertLicenseType {
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
        // No operation creates one on licenses (wire 1.4): a host does, through the library.
        let of_licenses = ["license_balance_threshold_reached"];
        let words =
            BalanceAlertType::schema().words().into_iter().chain(of_usage).chain(of_licenses);
        Schema::Choice { name: "AlertType", words: words.collect() }
    }
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
        let filters = |of: &[price::PriceFilter]| of.iter().map(PriceFilter::from).collect();
        let (currency, filters) = match &alert.condition {
            Condition::CostExceeded { currency } => (Some(currency), None),
            Condition::SpendExceeded { currency, price_filters }
            | Condition::GroupedCostExceeded { currency, price_filters, .. } => {
                (Some(currency), Some(filters(price_filters)))
            }
            of_balance => (of_balance.ledger(), None),
        };
        let (keys, overrides) = (alert.condition.grouping_keys(), &alert.threshold_overrides);
        let overrides: Vec<_> = overrides.iter().map(ThresholdOverride::from).collect();
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
            thresholds: thresholds.map(|of| all_thresholds(of.values())),
            customer,
            plan,
            subscription,
            metric: alert.condition.metric_id().map(|id| AlertMetric { id: id.to_string() }),
            currency: currency.cloned(),
            license_type: alert
                .condition
                .license_type_id()
                .map(|id| AlertLicenseType { id: id.to_string() }),
            grouping_keys: (!keys.is_empty()).then(|| keys.to_vec()),
            price_filters: filters,
            threshold_overrides: (!overrides.is_empty()).then_some(overrides),
            balance_alert_status: (!statuses.is_empty()).then_some(statuses),
        }
    }
}

impl From<&alert::ThresholdOverride> for ThresholdOverride {
    fn from(of: &alert::ThresholdOverride) -> Self {
        Self {
            group_values: of.group_values.clone(),
            thresholds: all_thresholds(of.threshold_values()),
            group_keys: of.group_keys.clone(),
        }
    }
}

fn all_thresholds(values: &[Decimal]) -> Vec<Threshold> {
    values.iter().map(|value| Threshold { value: JsonNumber(value.clone()) }).collect()
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
