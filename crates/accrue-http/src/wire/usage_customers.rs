//! Customers whose usage counts for a subscription (subscriptions 1.5).

use accrue::{CustomerId, limits, subscription::UsageCustomers};

use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema, Several},
};

const MOST: usize = limits::CHILDREN + 1;

/// Ids of customers whose usage counts: one at least.
#[derive(Clone, Debug)]
pub(crate) struct UsageCustomersIn(UsageCustomers);

impl Read for UsageCustomersIn {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Several(ids) = Several::<CustomerId, MOST>::read(json, at, reader)?;
        match UsageCustomers::new(ids) {
            Ok(of) => Some(Self(of)),
            Err(error) => reader.wrong(at, error.to_string()),
        }
    }
}

impl Describe for UsageCustomersIn {
    fn schema() -> Schema {
        Several::<CustomerId, MOST>::schema()
    }
}

impl From<UsageCustomersIn> for UsageCustomers {
    fn from(UsageCustomersIn(of): UsageCustomersIn) -> Self {
        of
    }
}

/// Writes the ids of customers whose usage counts.
pub(crate) fn usage_customer_ids(of: &UsageCustomers) -> Vec<String> {
    of.ids().iter().map(ToString::to_string).collect()
}
