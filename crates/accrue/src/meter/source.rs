use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{CellHash, CellId, InGroup, MeterId, SumId, first_half};
use crate::{CustomerId, Error, limits};

/// Customers whose usage counts together, as if it were one customer's (subscriptions 1.5).
///
/// ```
/// # use accrue::CustomerId;
/// use accrue::subscription::UsageCustomers;
///
/// # let ada: CustomerId = "01890a5d-ac96-774b-bcce-b302099a8057".parse()?;
/// let customers = UsageCustomers::new([ada, ada])?;
/// assert_eq!(customers.ids(), [ada]);
/// assert!(UsageCustomers::new([]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<CustomerId>", into = "Vec<CustomerId>")]
pub struct UsageCustomers {
    /// In order, each once.
    ids: Vec<CustomerId>,
    pool: PoolId,
}

impl UsageCustomers {
    /// Takes customers, each of them once, in any order.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are none, or more than a customer and
    /// [its children](limits::CHILDREN).
    pub fn new(ids: impl IntoIterator<Item = CustomerId>) -> Result<Self, Error> {
        let mut ids: Vec<_> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let (found, most) = (ids.len(), limits::CHILDREN.saturating_add(1));
        if !(1..=most).contains(&found) {
            let message = format!("found {found} customers, expected 1 to {most}");
            return Err(Error::invalid("usage_customer_ids", message));
        }
        let pool = PoolId::of(ids.iter().map(CustomerId::as_bytes));
        Ok(Self { ids, pool })
    }

    /// Returns the customers, in the order of their ids.
    #[must_use]
    pub fn ids(&self) -> &[CustomerId] {
        &self.ids
    }

    /// Tells whether a customer is one of them.
    #[must_use]
    pub fn includes(&self, id: CustomerId) -> bool {
        self.ids.binary_search(&id).is_ok()
    }
}

impl TryFrom<Vec<CustomerId>> for UsageCustomers {
    type Error = Error;

    fn try_from(ids: Vec<CustomerId>) -> Result<Self, Error> {
        Self::new(ids)
    }
}

impl From<UsageCustomers> for Vec<CustomerId> {
    fn from(of: UsageCustomers) -> Self {
        of.ids
    }
}

/// Whose usage a figure adds up: that of the subscriber alone, or of some customers together.
///
/// One subscription can have figures of several: they lie side by side, each in cells of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    subscriber: CustomerId,
    customers: Option<UsageCustomers>,
}

impl Source {
    pub(crate) fn new(subscriber: CustomerId, customers: Option<&UsageCustomers>) -> Self {
        Self { subscriber, customers: customers.cloned() }
    }

    /// Returns the customers, where they are not the subscriber alone.
    pub(crate) const fn usage_customers(&self) -> Option<&UsageCustomers> {
        self.customers.as_ref()
    }

    /// Returns the customers whose usage it adds up.
    pub(crate) fn customers(&self) -> &[CustomerId] {
        match &self.customers {
            Some(customers) => customers.ids(),
            None => std::slice::from_ref(&self.subscriber),
        }
    }

    /// Tells whether it is the subscriber alone, whose cells are the meters' own.
    pub(crate) const fn is_own(&self) -> bool {
        self.customers.is_none()
    }

    /// Tells whether the usage of a customer counts.
    pub(crate) fn includes(&self, customer: CustomerId) -> bool {
        match &self.customers {
            Some(customers) => customers.includes(customer),
            None => customer == self.subscriber,
        }
    }

    /// Returns the cell in which it adds up what is in a cell of each of its customers.
    pub(crate) fn cell(&self, cell: CellId) -> CellId {
        self.customers.as_ref().map_or(cell, |of| of.pool.cell(cell))
    }

    /// Returns the cell, and the group, in which it adds up what is in those of each of its customers.
    pub(crate) fn place<'v>(&self, InGroup { cell, group }: InGroup<'v>) -> InGroup<'v> {
        let group = group.map(|(meter, values)| (self.meter(meter), values));
        InGroup { cell: self.cell(cell), group }
    }

    /// Returns the meter whose groups add up what is in those of a meter of each of its customers.
    pub(crate) fn meter(&self, meter: MeterId) -> MeterId {
        self.customers.as_ref().map_or(meter, |of| of.pool.meter(meter))
    }

    /// Returns what some rules make of those groups.
    pub(crate) fn sum(&self, sum: SumId) -> SumId {
        self.customers.as_ref().map_or(sum, |of| of.pool.sum(sum))
    }
}

/// Id of customers whose usage is added up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PoolId(Uuid);

impl PoolId {
    /// Returns the id of some customers, by their ids in order.
    fn of<'a>(customers: impl Iterator<Item = &'a [u8; 16]>) -> Self {
        let mut hash = Sha256::new_with_prefix("customers");
        customers.for_each(|id| hash.update(id));
        Self(first_half(hash))
    }

    /// Returns the cell in which their usage adds up what is in a cell of each of them.
    fn cell(self, cell: CellId) -> CellId {
        CellId::Cell(CellHash(self.hash(cell.as_bytes())))
    }

    /// Returns the meter whose groups add up what is in those of a meter of each of them.
    fn meter(self, meter: MeterId) -> MeterId {
        MeterId(self.hash(meter.as_bytes()))
    }

    /// Returns what some rules make of those groups.
    fn sum(self, sum: SumId) -> SumId {
        SumId(self.hash(sum.0.as_bytes()))
    }

    fn hash(self, of: &[u8; 16]) -> Uuid {
        first_half(Sha256::new_with_prefix(self.0.as_bytes()).chain_update(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MetricId;

    #[test]
    fn each_list_of_customers_has_cells_of_its_own_whatever_their_order() {
        let id = |byte| CustomerId::from_bytes([byte; 16]);
        let of = |bytes: &[u8]| {
            let customers = UsageCustomers::new(bytes.iter().map(|byte| id(*byte))).unwrap();
            Source::new(id(1), Some(&customers))
        };
        let cells = [1, 2].map(|byte| CellId::from(MetricId::from_bytes([byte; 16])));
        let own = Source::new(id(1), None);
        assert_eq!(cells.map(|cell| own.cell(cell)), cells);
        assert_eq!(of(&[1, 2]), of(&[2, 1, 2]));
        let all = [own, of(&[1]), of(&[2]), of(&[1, 2])];
        let mut found: Vec<_> = all.iter().flat_map(|of| cells.map(|cell| of.cell(cell))).collect();
        found.sort();
        found.dedup();
        assert_eq!(found.len(), all.len() * cells.len());
        let meter = MeterId(Uuid::from_u128(1));
        let values = vec![Some("ada".to_owned())];
        let places = all.each_ref().map(|of| {
            let place = of.place(InGroup { cell: cells[0], group: Some((meter, &values)) });
            assert_eq!((place.cell, place.group.unwrap().1), (of.cell(cells[0]), &values));
            place.group.unwrap().0
        });
        assert_eq!(places[0], meter, "groups of the subscriber alone are those of the meter");
        assert_eq!(std::collections::BTreeSet::from(places).len(), all.len());
        let includes = all.each_ref().map(|of| [1, 2].map(|byte| of.includes(id(byte))));
        assert_eq!(includes, [[true, false], [true, false], [false, true], [true, true]]);
        let text = serde_json::to_string(&of(&[2, 1]).customers).unwrap();
        let read: Option<UsageCustomers> = serde_json::from_str(&text).unwrap();
        assert_eq!(Source::new(id(1), read.as_ref()), of(&[1, 2]), "{text}");
        assert!(serde_json::from_str::<UsageCustomers>("[]").is_err());
    }
}
