//! Alerts on the credit balance of a customer in one currency or pricing unit.

mod crossed;
mod new;
mod status;
mod watch;

pub(crate) use self::watch::BalanceWatch;
pub use self::{
    crossed::BalanceCrossed,
    new::{NewBalanceAlert, NewBalanceCondition},
    status::BalanceAlertStatus,
};
