//! Billing periods: usage and amounts of a subscription in them, and the alerts that have fired.
//!
//! [`Periods`] is the state of some billing periods of one subscription. Everything that happens to it
//! is a [`Change`], and [`Periods::advance`] is the one place that decides the effects of one: alerts
//! that fire, and usage that credits pay for. The engine loads the state, advances it and saves it
//! (`docs/decisions/period-states.md`).

mod advance;
mod billing;
mod gathered;
mod groups;
mod judged;
mod layout;
mod open;
mod state;
#[cfg(test)]
mod tests;
mod watched;

pub(crate) use self::{
    advance::{Change, Effects, Periods},
    billing::BillingPeriod,
    gathered::Gathered,
    groups::Begun,
    judged::{judged_at_once, oldest_judged, oldest_judged_on},
    layout::{Stretch, billing_start_at},
    open::{Closed, OpenTotal, OpenUsage, OpenWindow},
    state::{PeriodState, Stored},
    watched::Watches,
};
