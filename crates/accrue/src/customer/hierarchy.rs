use serde::{Deserialize, Serialize};

use crate::{CustomerId, Error, Patch, limits};

/// Hierarchy of a customer: the parent that it has, or the children (wire 4.2). A customer is in one hierarchy only, so
/// it has no parent and children both.
///
/// A subscription of the parent can count the usage of the children (subscriptions 1.5).
///
/// ```
/// # use accrue::{AccountId, Billing, Clock, Currency, Decimal, Email, EventKey, EventName, Name};
/// # use accrue::{SystemClock, item::NewItem, metric::{MetricQuery, NewMetric}, plan::NewPlan};
/// # use accrue::{store::MemoryStore, usage::{Event, Properties}};
/// use accrue::{Patch, customer::NewCustomer};
/// use accrue::subscription::{NewSubscription, UsageCustomers};
///
/// # pollster::block_on(async {
/// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
/// # let item = account.create_item(NewItem::new(Name::parse("calls")?)).await?;
/// # let calls = MetricQuery::parse("SELECT count(*) FROM events")?;
/// # account.create_metric(NewMetric::new(Name::parse("calls")?, item.id, calls)).await?;
/// # let usd = Currency::parse("USD")?;
/// # let plan = account.create_plan(NewPlan::new(Name::parse("Pro")?, usd)).await?;
/// let parent = NewCustomer::new(Name::parse("Acme")?, Email::parse("acme@example.com")?);
/// let parent = account.create_customer(parent).await?.id;
/// let mut child = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
/// child.hierarchy.parent = Patch::Set(parent);
/// let child = account.create_customer(child).await?.id;
/// assert_eq!(account.fetch_customer(parent).await?.hierarchy.children, [child]);
///
/// let mut both = NewSubscription::new(parent, plan.id);
/// both.usage_customers = Some(UsageCustomers::new([parent, child])?);
/// let both = account.create_subscription(both).await?;
/// let call = Event {
///     idempotency_key: EventKey::parse("request-1")?,
///     event_name: EventName::parse("call")?,
///     timestamp: SystemClock.now(),
///     properties: Properties::default(),
///     customer: child.into(),
/// };
/// account.ingest([call]).await?;
/// let usage = account.subscription_usage(both.id).await?;
/// assert_eq!(usage.metrics[0].quantity, Some(Decimal::from(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hierarchy {
    /// Its parent. One that was deleted since is nobody's parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CustomerId>,
    /// Its children, in the order in which they came. Those that were deleted since are among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<CustomerId>,
}

/// Changes to the hierarchy of a customer (wire 4.3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HierarchyChange {
    /// Its parent from now on. To have another one it has to leave that which it has.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub parent: Patch<CustomerId>,
    /// Customers that become its children, beside those that it has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<CustomerId>,
}

impl Hierarchy {
    /// Tells whether the customer is alone.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parent.is_none() && self.children.is_empty()
    }

    /// Becomes the child of another customer.
    pub(crate) fn join(
        &mut self,
        child: CustomerId,
        parent: CustomerId,
        of_parent: &mut Self,
    ) -> Result<(), Error> {
        if self.parent == Some(parent) {
            return Ok(());
        }
        let refused = if child == parent {
            format!("the customer {child} would be its own parent")
        } else if let Some(own) = self.parent {
            format!("the customer {child} is a child of {own} already")
        } else if !self.children.is_empty() {
            format!("the customer {child} has children, so it can be nobody's child")
        } else if let Some(own) = of_parent.parent {
            format!("the customer {parent} is a child of {own}, so it can have no children")
        } else if of_parent.children.len() >= limits::CHILDREN {
            format!("the customer {parent} has {} children already", limits::CHILDREN)
        } else {
            self.parent = Some(parent);
            of_parent.children.push(child);
            return Ok(());
        };
        Err(Error::constraint(refused))
    }

    /// Is the child of its parent no longer.
    pub(crate) fn leave(&mut self, child: CustomerId, of_parent: &mut Self) {
        self.parent = None;
        of_parent.children.retain(|id| *id != child);
    }
}

impl HierarchyChange {
    /// Tells whether it changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
