//! A naive model of one account: what was accepted, in the order in which it was committed. Every
//! figure is computed anew from that.

mod alerts;
mod balances;
mod bills;
mod effects;
mod figures;
mod offers;

use std::collections::{BTreeMap, BTreeSet};

use bigdecimal::BigDecimal;

pub(super) use self::{
    alerts::Expected,
    balances::{Booked, Fall, Rule, check_falls},
    bills::{BILL_TABLES, Books, Deed, moves},
    effects::{Turn, What, whole},
    offers::{Committed, Migration, OFFERS, Stretch},
};
use crate::{
    corrected::History,
    model::{At, Field, Function, Instant, MetricSpec},
};

/// How many customers may ever be: events are sent for those that are not created yet too.
pub(super) const CUSTOMERS: usize = 5;
/// How many of them there are from the beginning, with credits and a subscription.
pub(super) const FIRST: usize = 3;
/// The credits that one of them has from the beginning.
pub(super) const GRANTED: i64 = 22;
/// Whether a customer pays by the gateway.
pub(super) const fn pays_by_gateway(customer: At) -> bool {
    matches!(customer, 0 | 1 | 4)
}

/// Whether somebody issues the invoices of a customer.
pub(super) const fn issues_by_hand(customer: At) -> bool {
    customer == 2
}

/// What an event costs, in credits.
pub(super) const CREDITS_PER_EVENT: i64 = 2;

/// An account.
#[derive(Debug)]
pub(super) struct Tenant {
    pub(super) customers: Vec<Customer>,
    pub(super) history: History,
    pub(super) metrics: Vec<(String, MetricSpec)>,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) alerts: Vec<Alert>,
    pub(super) backfills: Vec<Backfill>,
    pub(super) grants: Vec<(At, String)>,
    pub(super) items: Vec<String>,
    /// The plans that there are from the beginning.
    pub(super) plans: Vec<String>,
    /// The prices of usage in them, each with its metric.
    pub(super) prices: Vec<(String, At)>,
    /// Subscriptions in the commit that is looked at, by their ids.
    committed: BTreeMap<String, Committed>,
    migrations: BTreeMap<String, Migration>,
    pub(super) books: Books,
    /// Which thresholds fired, in which period.
    fired: BTreeSet<Crossing>,
    /// Which were crossed when an alert of the plan was created or changed: they fire in time.
    owed: BTreeSet<Crossing>,
    /// What the figures were at most.
    peaks: BTreeMap<Place, BigDecimal>,
}

#[derive(Debug)]
pub(super) struct Customer {
    pub(super) external: String,
    /// What it was named, one after the other.
    pub(super) names: Vec<String>,
    pub(super) id: Option<String>,
    /// The id that it has or will have, once there are events of it.
    pub(super) reserved: Option<String>,
    /// What callers gave and took of its credits.
    pub(super) granted: i64,
    pub(super) has_ledger: bool,
    /// The entries of its ledger, as they were committed.
    entries: Vec<Booked>,
}

/// A subscription: start <= its usage < end.
#[derive(Clone, Debug)]
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) customer: At,
    pub(super) start: Instant,
    pub(super) end: Option<Instant>,
    created_at: Instant,
    /// When a request last changed it.
    changed_at: Instant,
    /// When its plan was once to change, and what came later has taken that away.
    pub(in crate::sim) dropped: BTreeSet<Instant>,
    /// What it is on, one after the other.
    stretches: Vec<Stretch>,
}

#[derive(Clone, Debug)]
pub(super) struct Alert {
    pub(super) id: String,
    pub(super) scope: Scope,
    pub(super) thresholds: Vec<i64>,
    pub(super) enabled: bool,
    pub(super) deleted: bool,
    /// Of one on a balance, which thresholds it was at or below and is not back above.
    pub(super) in_alert: BTreeSet<i64>,
}

/// What an alert watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Subscription(At, Gauge),
    Plan(Gauge),
    Balance(At, Rule),
}

/// What is measured of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gauge {
    Metric(At),
    Cost,
}

/// Where a figure is: of which subscription, in the billing period that starts when.
pub(super) type Place = (At, Instant, Gauge);

/// An alert that fired: which, for which subscription, at which threshold, in the period that starts
/// when.
pub(super) type Crossing = (String, String, i64, Instant);

/// A backfill; it is one for each of its customers, as it is reflected for one after the other.
#[derive(Debug)]
pub(super) struct Backfill {
    pub(super) id: String,
    pub(super) from: Instant,
    /// By customer, where it is in the history.
    pub(super) pieces: Vec<Option<At>>,
    /// When it was last asked to be reverted.
    pub(super) reverts_at: Option<Instant>,
}

impl Tenant {
    pub(super) fn new() -> Self {
        let customer = |index| Customer {
            external: format!("customer-{index}"),
            names: vec![format!("customer-{index}")],
            id: None,
            reserved: None,
            granted: 0,
            has_ledger: false,
            entries: Vec::new(),
        };
        Self {
            customers: (0..CUSTOMERS).map(customer).collect(),
            history: History::of(CUSTOMERS),
            metrics: Vec::new(),
            subscriptions: Vec::new(),
            alerts: Vec::new(),
            backfills: Vec::new(),
            grants: Vec::new(),
            items: Vec::new(),
            plans: Vec::new(),
            prices: Vec::new(),
            committed: BTreeMap::new(),
            migrations: BTreeMap::new(),
            books: Books::default(),
            fired: BTreeSet::new(),
            owed: BTreeSet::new(),
            peaks: BTreeMap::new(),
        }
    }

    /// The customer of an id of the engine, as bytes.
    pub(super) fn customer_of(&self, id: [u8; 16]) -> Option<At> {
        let id = uuid(id);
        self.customers.iter().position(|customer| customer.reserved.as_ref() == Some(&id))
    }
}

/// An id as the wire has it.
pub(super) fn uuid(bytes: [u8; 16]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// What a metric measures, of so many kinds: the first two are there from the beginning.
pub(super) fn metric_spec(kind: usize) -> MetricSpec {
    let functions = [
        Function::Sum("n"),
        Function::CountAll,
        Function::Max("n"),
        Function::Distinct(Field::Property("n")),
        Function::Latest("n"),
        Function::Min("n"),
    ];
    MetricSpec { function: functions[kind % functions.len()], condition: None }
}
