//! What messages tell of alerts (wire 6.8, subscriptions 11.2).

use accrue::{PricingUnit, PropertyName, Timeframe, alert, related::Related};
use serde::Serialize;

use crate::{
    shape::{Moment, Word},
    wire::{
        alerts::{
            self, Alert, AlertLicenseType, AlertMetric, AlertPlan, AlertType, SubscriptionMinified,
        },
        customers::CustomerMinified,
        price_filters::PriceFilter,
    },
};

/// An alert, with thresholds that are texts.
#[derive(Debug, Serialize)]
pub(super) struct AlertConfiguration {
    id: String,
    #[serde(rename = "type")]
    kind: Word<AlertType>,
    created_at: Moment,
    enabled: bool,
    thresholds: Option<Vec<Threshold>>,
    customer: Option<CustomerMinified>,
    plan: Option<AlertPlan>,
    subscription: Option<SubscriptionMinified>,
    metric: Option<AlertMetric>,
    currency: Option<PricingUnit>,
    license_type: Option<AlertLicenseType>,
    grouping_keys: Option<Vec<PropertyName>>,
    price_filters: Option<Vec<PriceFilter>>,
    threshold_overrides: Option<Vec<Override>>,
    balance_alert_status: Option<Vec<BalanceStatus>>,
}

#[derive(Debug, Serialize)]
struct Threshold {
    value: String,
}

/// Thresholds of some groups.
#[derive(Debug, Serialize)]
struct Override {
    group_values: Vec<String>,
    thresholds: Vec<Threshold>,
    group_keys: Option<Vec<PropertyName>>,
}

#[derive(Debug, Serialize)]
struct BalanceStatus {
    threshold_value: String,
    in_alert: bool,
}

/// A group that costs as much as a threshold.
#[derive(Debug, Serialize)]
pub(super) struct Group<'a> {
    group_values: &'a [String],
    amount_threshold: String,
    evaluated_amount: String,
}

/// A license that has drawn a threshold's part of its pool.
#[derive(Debug, Serialize)]
pub(super) struct License {
    external_license_id: String,
    license_type_id: String,
    threshold_percentage: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Span {
    timeframe_start: Moment,
    timeframe_end: Moment,
}

impl AlertConfiguration {
    pub(super) fn of(alert: &alert::Alert, related: &Related) -> Self {
        let of = Alert::of(alert, related);
        let overrides = of.threshold_overrides.map(|all| {
            let written = all.into_iter().map(|of| Override {
                group_values: of.group_values,
                thresholds: written(of.thresholds),
                group_keys: of.group_keys,
            });
            written.collect()
        });
        let statuses = of.balance_alert_status.map(|all| {
            let status = all.into_iter().map(|of| BalanceStatus {
                threshold_value: of.threshold_value.0.to_string(),
                in_alert: of.in_alert,
            });
            status.collect()
        });
        Self {
            id: of.id,
            kind: of.kind,
            created_at: of.created_at,
            enabled: of.enabled,
            thresholds: of.thresholds.map(written),
            customer: of.customer,
            plan: of.plan,
            subscription: of.subscription,
            metric: of.metric,
            currency: of.currency,
            license_type: of.license_type,
            grouping_keys: of.grouping_keys,
            price_filters: of.price_filters,
            threshold_overrides: overrides,
            balance_alert_status: statuses,
        }
    }
}

fn written(thresholds: Vec<alerts::Threshold>) -> Vec<Threshold> {
    thresholds.into_iter().map(|of| Threshold { value: of.value.0.to_string() }).collect()
}

impl<'a> Group<'a> {
    pub(super) fn of(group: &'a alert::GroupExceeded) -> Self {
        Self {
            group_values: &group.group_values,
            amount_threshold: group.threshold.to_string(),
            evaluated_amount: group.value_after.to_string(),
        }
    }
}

impl License {
    pub(super) fn of(reached: &alert::LicenseReached) -> Self {
        Self {
            external_license_id: reached.external_license_id.to_string(),
            license_type_id: reached.license_type_id.to_string(),
            threshold_percentage: reached.threshold.to_string(),
        }
    }
}

impl Span {
    pub(super) fn of(timeframe: Timeframe) -> Self {
        Self { timeframe_start: timeframe.start().into(), timeframe_end: timeframe.end().into() }
    }
}
