//! Related resources: those that a resource names, for a host to show beside it.
//!
//! A subscription names its customer and its plan, a plan the prices of its version, a price its item.
//! An answer of the API has them within each other; the engine returns ids, and beside them the
//! resources that those name, where it is asked for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CustomerId, InvoiceId, ItemId, LicenseTypeId, MetricId, Page, PlanId, PriceId,
    alert::{Alert, Scope},
    cost::Cost,
    credit::LedgerEntry,
    customer::{AttributeValue, Customer, Hierarchy},
    invoice::{BlockInvoices, CreditNote, Invoice, InvoiceLine, LinesEdit},
    item::Item,
    license::LicenseType,
    metric::Metric,
    plan::{Plan, PlanVersion, PricedVersion},
    price::{Charge, Price},
    subscription::{PlanStretch, Subscription},
    webhook::{Body, Message},
};

/// Resource, or several, that name others.
pub trait Naming {
    /// Adds the resources that it names.
    fn name(&self, names: &mut Names);
}

/// Names of resources: the ids that other resources have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub(crate) customers: BTreeSet<CustomerId>,
    /// Those of the customers whose parent and children are named too.
    pub(crate) families: BTreeSet<CustomerId>,
    pub(crate) invoices: BTreeSet<InvoiceId>,
    pub(crate) items: BTreeSet<ItemId>,
    pub(crate) license_types: BTreeSet<LicenseTypeId>,
    pub(crate) metrics: BTreeSet<MetricId>,
    pub(crate) plans: BTreeSet<PlanId>,
    pub(crate) prices: BTreeSet<PriceId>,
    pub(crate) versions: BTreeSet<(PlanId, PlanVersion)>,
    /// Prices that are nowhere but in the resource itself.
    pub(crate) own_prices: Vec<Price>,
}

/// Resources that others name, and those that these name in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Related {
    pub(crate) customers: BTreeMap<CustomerId, Customer>,
    pub(crate) invoices: BTreeMap<InvoiceId, Invoice>,
    pub(crate) items: BTreeMap<ItemId, Item>,
    pub(crate) license_types: BTreeMap<LicenseTypeId, LicenseType>,
    pub(crate) metrics: BTreeMap<MetricId, Metric>,
    pub(crate) plans: BTreeMap<PlanId, Plan>,
    pub(crate) prices: BTreeMap<PriceId, Price>,
    pub(crate) versions: BTreeMap<(PlanId, PlanVersion), PricedVersion>,
}

impl Related {
    /// Returns a customer that is named and was not deleted.
    #[must_use]
    pub fn customer(&self, id: CustomerId) -> Option<&Customer> {
        self.customers.get(&id)
    }

    /// Returns an invoice that is named.
    #[must_use]
    pub fn invoice(&self, id: InvoiceId) -> Option<&Invoice> {
        self.invoices.get(&id)
    }

    /// Returns an item that is named.
    #[must_use]
    pub fn item(&self, id: ItemId) -> Option<&Item> {
        self.items.get(&id)
    }

    /// Returns a license type that is named.
    #[must_use]
    pub fn license_type(&self, id: LicenseTypeId) -> Option<&LicenseType> {
        self.license_types.get(&id)
    }

    /// Returns a metric that is named.
    #[must_use]
    pub fn metric(&self, id: MetricId) -> Option<&Metric> {
        self.metrics.get(&id)
    }

    /// Returns a plan that is named.
    #[must_use]
    pub fn plan(&self, id: PlanId) -> Option<&Plan> {
        self.plans.get(&id)
    }

    /// Returns a price that is named.
    #[must_use]
    pub fn price(&self, id: PriceId) -> Option<&Price> {
        self.prices.get(&id)
    }

    /// Returns a version of a plan that is named, with its prices.
    #[must_use]
    pub fn version(&self, id: PlanId, version: PlanVersion) -> Option<&PricedVersion> {
        self.versions.get(&(id, version))
    }
}

impl<T: Naming> Naming for [T] {
    fn name(&self, names: &mut Names) {
        self.iter().for_each(|named| named.name(names));
    }
}

impl<A: Naming, B: Naming> Naming for (A, B) {
    fn name(&self, names: &mut Names) {
        self.0.name(names);
        self.1.name(names);
    }
}

impl<T: Naming> Naming for Vec<T> {
    fn name(&self, names: &mut Names) {
        self.as_slice().name(names);
    }
}

impl<T: Naming> Naming for Page<T> {
    fn name(&self, names: &mut Names) {
        self.data.name(names);
    }
}

/// Names its item.
impl Naming for Metric {
    fn name(&self, names: &mut Names) {
        names.items.insert(self.item_id);
    }
}

/// Names its item, its metric, and its license type.
impl Naming for Price {
    fn name(&self, names: &mut Names) {
        names.items.insert(self.item_id);
        names.license_types.extend(self.license_type_id);
        if let Charge::Usage { metric_id, .. } = &self.charge {
            names.metrics.insert(*metric_id);
        }
    }
}

/// Names its default version.
impl Naming for Plan {
    fn name(&self, names: &mut Names) {
        names.versions.insert((self.id, self.version));
    }
}

/// Names its plan, and the resources that its prices name.
impl Naming for PricedVersion {
    fn name(&self, names: &mut Names) {
        names.plans.insert(self.plan_id);
        self.prices.name(names);
    }
}

/// Names its parent and its children.
impl Naming for Customer {
    fn name(&self, names: &mut Names) {
        self.hierarchy.name(names);
    }
}

/// Names the parent and the children.
impl Naming for Hierarchy {
    fn name(&self, names: &mut Names) {
        names.customers.extend(self.parent.iter().chain(&self.children));
    }
}

/// Names its customer, with the parent and the children of that, its plan and its version, and its prices.
impl Naming for Subscription {
    fn name(&self, names: &mut Names) {
        names.prices.extend(self.price_intervals.iter().map(|interval| interval.price_id));
        names.customers.insert(self.customer_id);
        names.families.insert(self.customer_id);
        for of in self.plans() {
            names.plans.extend(of.plan_id);
            names.versions.extend(of.plan_id.map(|id| (id, of.plan_version)));
        }
    }
}

/// Names its plan.
impl Naming for PlanStretch {
    fn name(&self, names: &mut Names) {
        names.plans.extend(self.plan_id);
    }
}

/// Names the customer or the plan that it is on.
impl Naming for Alert {
    fn name(&self, names: &mut Names) {
        match self.scope {
            Scope::Subscription { customer_id, .. } | Scope::Customer { customer_id } => {
                names.customers.insert(customer_id);
            }
            Scope::Plan { plan_id, .. } => {
                names.plans.insert(plan_id);
            }
            Scope::Account => {}
        }
    }
}

/// Names its customer, and the prices of its lines.
impl Naming for Invoice {
    fn name(&self, names: &mut Names) {
        names.customers.insert(self.customer_id);
        names.prices.extend(self.lines.iter().map(|line| line.price_id));
    }
}

/// Names its price.
impl Naming for InvoiceLine {
    fn name(&self, names: &mut Names) {
        names.prices.insert(self.price_id);
    }
}

/// Names its customer, and the prices that it credits.
impl Naming for CreditNote {
    fn name(&self, names: &mut Names) {
        names.customers.insert(self.customer_id);
        names.prices.extend(self.lines.iter().map(|line| line.price_id));
        let shares = self.lines.iter().flat_map(|line| &line.adjustments);
        names.prices.extend(shares.flat_map(|of| of.price_ids.iter().copied()));
    }
}

/// Names its customer, and the invoices that it has made.
impl Naming for LedgerEntry {
    fn name(&self, names: &mut Names) {
        names.customers.insert(self.customer_id);
        names.invoices.extend(&self.created_invoices);
    }
}

/// Names what its invoices name.
impl Naming for BlockInvoices {
    fn name(&self, names: &mut Names) {
        self.invoices.name(names);
    }
}

/// Names what the resources name that it is about, and the alert that it tells of.
impl Naming for Message {
    fn name(&self, names: &mut Names) {
        self.customer.iter().for_each(|of| of.name(names));
        self.subscription.iter().for_each(|of| of.name(names));
        self.invoice.iter().for_each(|of| of.name(names));
        self.credit_note.iter().for_each(|of| of.name(names));
        names.plans.extend(self.body.plan_id());
        self.plan.iter().for_each(|of| of.name(names));
        self.price.iter().for_each(|of| of.name(names));
        match &self.body {
            Body::UsageExceeded(of) | Body::CostExceeded(of) | Body::SpendExceeded(of) => {
                of.alert.name(names);
            }
            Body::GroupedCostExceeded(of) => of.alert.name(names),
            Body::LicenseBalanceThresholdReached(of) => of.alert.name(names),
            Body::AlertDisabled(of) => of.alert.name(names),
            Body::CreditBalanceDepleted(of)
            | Body::CreditBalanceDropped(of)
            | Body::CreditBalanceRecovered(of) => of.alert.name(names),
            Body::CustomerEdited { previous_attributes } => {
                if let Some(AttributeValue::Hierarchy(of)) = previous_attributes.get("hierarchy") {
                    of.name(names);
                }
            }
            Body::InvoiceEdited { lines: Some(LinesEdit::Removed { price, .. }), .. } => {
                names.own_prices.push(Price::clone(price));
            }
            _ => {}
        }
    }
}

/// Names the prices of its lines.
impl Naming for Cost {
    fn name(&self, names: &mut Names) {
        names.prices.extend(self.lines.iter().map(|line| line.price_id));
    }
}
