//! Customers whose usage counts for a subscription (subscriptions 1.5).

use accrue::{CustomerId, limits, subscription::UsageCustomers};

use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema, Several},
};

const MOST: usize = limits::CHILDREN + 1;

impl Read for UsageCustomers {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Several(ids) = Several::<CustomerId, MOST>::read(json, at, reader)?;
        Self::new(ids).map_err(|error| reader.wrong::<()>(at, error.to_string())).ok()
    }
}

impl Describe for UsageCustomers {
    fn schema() -> Schema {
        Several::<CustomerId, MOST>::schema()
    }
}

/// Writes the ids of customers whose usage counts.
pub(crate) fn usage_customer_ids(of: &UsageCustomers) -> Vec<String> {
    of.ids().iter().map(ToString::to_string).collect()
}
