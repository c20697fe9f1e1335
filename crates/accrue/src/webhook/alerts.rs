//! What alerts have found, as bodies of messages.

use super::Body;
use crate::alert::{
    AlertDisabled, BalanceCrossed, Condition, Exceeded, GroupsExceeded, LicensesReached,
};

impl From<GroupsExceeded> for Body {
    fn from(exceeded: GroupsExceeded) -> Self {
        if exceeded.alert.condition.is_on_licenses() {
            return Self::LicenseBalanceThresholdReached(Box::new(LicensesReached::of(exceeded)));
        }
        Self::GroupedCostExceeded(Box::new(exceeded))
    }
}

impl From<AlertDisabled> for Body {
    fn from(disabled: AlertDisabled) -> Self {
        Self::AlertDisabled(Box::new(disabled))
    }
}

impl From<Exceeded> for Body {
    fn from(exceeded: Exceeded) -> Self {
        let exceeded = Box::new(exceeded);
        match exceeded.alert.condition {
            Condition::UsageExceeded { .. } => Self::UsageExceeded(exceeded),
            Condition::CostExceeded { .. } => Self::CostExceeded(exceeded),
            // An alert on a balance is judged on none of a subscription's values.
            _ => Self::SpendExceeded(exceeded),
        }
    }
}

impl From<BalanceCrossed> for Body {
    fn from(crossed: BalanceCrossed) -> Self {
        let crossed = Box::new(crossed);
        match crossed.alert.condition {
            Condition::CreditBalanceDepleted { .. } => Self::CreditBalanceDepleted(crossed),
            Condition::CreditBalanceRecovered { .. } => Self::CreditBalanceRecovered(crossed),
            // No alert but those three is judged on a balance.
            _ => Self::CreditBalanceDropped(crossed),
        }
    }
}
