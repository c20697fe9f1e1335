use serde::Serialize;

use super::{
    Alert, Condition, NewCondition, Scope, ThresholdOverride, Thresholds,
    overrides::{check_keys, check_overrides},
};
use crate::{
    AlertId, Currency, Decimal, Error, LicenseTypeId, MetricId, PricingUnit, PropertyName,
    Timestamp, limits,
    price::{PriceFilter, check_filters},
};

/// An alert to create on a subscription or a plan (wire 1.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewAlert {
    /// Condition that it watches.
    pub condition: NewCondition,
    /// Values at which it fires.
    pub thresholds: Thresholds,
    /// Thresholds that some groups have in place of those, of an alert on the cost of groups of one subscription:
    /// at most [100](crate::limits::THRESHOLD_OVERRIDES), whose values together have at most
    /// [16 KiB](crate::limits::THRESHOLD_OVERRIDE_BYTES).
    pub threshold_overrides: Vec<ThresholdOverride>,
}

impl NewAlert {
    /// Creates an alert without overrides.
    #[must_use]
    pub const fn new(condition: NewCondition, thresholds: Thresholds) -> Self {
        Self { condition, thresholds, threshold_overrides: Vec::new() }
    }

    /// Creates an alert on the cost of each group of usage, by the values of some properties, of all prices that count
    /// in a currency or pricing unit (subscriptions 8).
    ///
    /// ```
    /// use accrue::{Currency, Decimal, PropertyName, alert::{NewAlert, Thresholds}};
    ///
    /// let usd = Currency::parse("USD")?.into();
    /// let thresholds = Thresholds::new([Decimal::from(100)])?;
    /// let alert = NewAlert::grouped_cost_exceeded([PropertyName::parse("team")?], usd, thresholds);
    /// assert!(alert.threshold_overrides.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn grouped_cost_exceeded(
        grouping_keys: impl IntoIterator<Item = PropertyName>,
        currency: PricingUnit,
        thresholds: Thresholds,
    ) -> Self {
        let (grouping_keys, price_filters) = (grouping_keys.into_iter().collect(), Vec::new());
        let condition =
            NewCondition::GroupedCostExceeded { grouping_keys, currency, price_filters };
        Self::new(condition, thresholds)
    }

    /// Creates an alert on the usage of a metric.
    #[must_use]
    pub const fn usage_exceeded(metric_id: MetricId, thresholds: Thresholds) -> Self {
        Self::new(NewCondition::UsageExceeded { metric_id }, thresholds)
    }

    /// Creates an alert on cost after adjustments, in the currency that the plan is invoiced in.
    #[must_use]
    pub const fn cost_exceeded(thresholds: Thresholds) -> Self {
        Self::new(NewCondition::CostExceeded { currency: None }, thresholds)
    }

    /// Creates an alert on cost before adjustments, of all prices that count in a currency or
    /// pricing unit.
    #[must_use]
    pub const fn spend_exceeded(currency: PricingUnit, thresholds: Thresholds) -> Self {
        let price_filters = Vec::new();
        Self::new(NewCondition::SpendExceeded { currency, price_filters }, thresholds)
    }

    /// Creates an alert on what licenses have drawn from their pools, of a type or of all types: its thresholds are percents
    /// of a pool, above 0 and at most 100 (subscriptions 7.6).
    ///
    /// ```
    /// use accrue::{Decimal, alert::{NewAlert, Thresholds}};
    ///
    /// let thresholds = Thresholds::new([75, 90, 100].map(Decimal::from))?;
    /// let alert = NewAlert::license_balance_threshold_reached(None, thresholds);
    /// assert_eq!(alert.thresholds.values().len(), 3);
    /// # Ok::<(), accrue::Error>(())
    /// ```
    #[must_use]
    pub const fn license_balance_threshold_reached(
        license_type_id: Option<LicenseTypeId>,
        thresholds: Thresholds,
    ) -> Self {
        let condition = NewCondition::LicenseBalanceThresholdReached { license_type_id };
        Self::new(condition, thresholds)
    }

    /// Checks it by itself, whatever is stored.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_filters("price_filters", self.condition.price_filters())?;
        if matches!(self.condition, NewCondition::LicenseBalanceThresholdReached { .. }) {
            check_percents(&self.thresholds)?;
        }
        match self.condition.grouping_keys() {
            [] if !matches!(self.condition, NewCondition::GroupedCostExceeded { .. }) => {
                if self.threshold_overrides.is_empty() {
                    return Ok(());
                }
                let message = "are there without grouping_keys";
                Err(Error::invalid("threshold_overrides", message))
            }
            keys => {
                check_keys(keys)?;
                check_overrides(&self.threshold_overrides, keys)
            }
        }
    }

    /// Checks it for a version of a plan.
    pub(crate) fn check_for_plan(&self) -> Result<(), Error> {
        self.check()?;
        if self.threshold_overrides.is_empty() {
            return Ok(());
        }
        Err(Error::invalid("threshold_overrides", "are those of a subscription's alert alone"))
    }

    /// Checks it for all subscriptions of an account: those can only have alerts on the pools of licenses.
    pub(crate) fn check_for_account(&self) -> Result<(), Error> {
        self.check_for_plan()?;
        if matches!(self.condition, NewCondition::LicenseBalanceThresholdReached { .. }) {
            return Ok(());
        }
        Err(Error::invalid(
            "type",
            "is not license_balance_threshold_reached, as all of an account are",
        ))
    }

    /// Decides on a new alert, held against those that its subscription, plan version or account has.
    pub(crate) fn decide(
        self,
        id: AlertId,
        scope: Scope,
        invoiced_in: Option<Currency>,
        siblings: &[Alert],
        now: Timestamp,
    ) -> Result<Alert, Error> {
        let condition = self.condition.decide(invoiced_in)?;
        check_siblings(&condition, siblings.iter())?;
        Ok(Alert {
            id,
            condition,
            thresholds: Some(self.thresholds),
            threshold_overrides: self.threshold_overrides,
            scope,
            enabled: true,
            created_at: now,
            balance_alert_status: Vec::new(),
        })
    }
}

/// Update of an alert (wire 1.5). The type of an alert never changes.
///
/// ```
/// use accrue::{Decimal, alert::{AlertUpdate, Thresholds}};
///
/// let update = AlertUpdate::from(Thresholds::new([Decimal::from(100)])?);
/// assert_eq!(update.price_filters, None);
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlertUpdate {
    /// Values at which it fires from now on.
    pub thresholds: Thresholds,
    /// Filters of the prices that count from now on, for an alert on spend or on the cost of groups;
    /// unchanged where none are given.
    pub price_filters: Option<Vec<PriceFilter>>,
    /// Thresholds that some groups have from now on in place of those, for an alert on the cost of groups of one
    /// subscription; unchanged where none are given.
    pub threshold_overrides: Option<Vec<ThresholdOverride>>,
}

impl From<Thresholds> for AlertUpdate {
    fn from(thresholds: Thresholds) -> Self {
        Self { thresholds, price_filters: None, threshold_overrides: None }
    }
}

impl AlertUpdate {
    /// Checks it by itself, whatever is stored.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_filters("price_filters", self.price_filters.as_deref().unwrap_or_default())
    }

    /// Checks it for an alert on the pools of licenses, of which thresholds alone change.
    fn check_on_licenses(&self) -> Result<(), Error> {
        let given = [
            ("price_filters", self.price_filters.is_some()),
            ("threshold_overrides", self.threshold_overrides.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Error::invalid(name, "are not those of an alert on licenses")),
            None => check_percents(&self.thresholds),
        }
    }

    /// Decides on the alert, held against the others of its subscription, plan version or customer.
    pub(crate) fn decide(self, mut alert: Alert, siblings: &[Alert]) -> Result<Alert, Error> {
        if alert.thresholds.is_none() {
            let detail = format!("an alert {} has no thresholds", alert.condition.alert_type());
            return Err(Error::constraint(detail));
        }
        if alert.condition.is_on_licenses() {
            self.check_on_licenses()?;
        }
        alert.thresholds = Some(self.thresholds);
        if let Some(overrides) = self.threshold_overrides {
            let is_of_plan = matches!(alert.scope, Scope::Plan { .. });
            if !overrides.is_empty() && (is_of_plan || !alert.condition.is_on_groups()) {
                let message = "are those of a subscription's alert with grouping_keys alone";
                return Err(Error::invalid("threshold_overrides", message));
            }
            check_overrides(&overrides, alert.condition.grouping_keys())?;
            alert.threshold_overrides = overrides;
        }
        if let Some(new) = self.price_filters {
            let (Condition::SpendExceeded { price_filters, .. }
            | Condition::GroupedCostExceeded { price_filters, .. }) = &mut alert.condition
            else {
                let detail =
                    format!("an alert {} has no price filters", alert.condition.alert_type());
                return Err(Error::constraint(detail));
            };
            *price_filters = new;
            let others = siblings.iter().filter(|other| other.id != alert.id);
            check_siblings(&alert.condition, others)?;
        }
        Ok(alert)
    }
}

/// Refuses thresholds that are no percents of what somebody has.
fn check_percents(thresholds: &Thresholds) -> Result<(), Error> {
    let is_percent = |of: &&Decimal| **of > Decimal::zero() && **of <= Decimal::from(100);
    match thresholds.values().iter().find(|of| !is_percent(of)) {
        Some(of) => {
            let message = format!("found {of}, expected a percentage above 0 and at most 100");
            Err(Error::invalid("thresholds", message))
        }
        None => Ok(()),
    }
}

/// Refuses an alert that watches the same as another one there, or is one too many.
pub(super) fn check_siblings<'a>(
    condition: &Condition,
    others: impl Iterator<Item = &'a Alert>,
) -> Result<(), Error> {
    let is_alike = |other: &Condition| match condition {
        Condition::SpendExceeded { .. } => matches!(other, Condition::SpendExceeded { .. }),
        Condition::GroupedCostExceeded { .. } => {
            matches!(other, Condition::GroupedCostExceeded { .. })
        }
        Condition::LicenseBalanceThresholdReached { .. } => other.is_on_licenses(),
        _ => false,
    };
    let mut alike = 0_usize;
    for other in others {
        if condition.excludes(&other.condition) {
            let kind = condition.alert_type();
            let detail = format!("alert {} watches the same there already: {kind}", other.id);
            return Err(Error::constraint(detail));
        }
        alike = alike.saturating_add(usize::from(is_alike(&other.condition)));
    }
    let (most, what) = match condition {
        Condition::GroupedCostExceeded { .. } => (limits::GROUPED_ALERTS, "the cost of groups"),
        Condition::LicenseBalanceThresholdReached { .. } => (limits::LICENSE_ALERTS, "licenses"),
        _ => (limits::SPEND_ALERTS, "spend"),
    };
    if alike < most {
        return Ok(());
    }
    Err(Error::constraint(format!("there are {alike} alerts on {what} there already")))
}
