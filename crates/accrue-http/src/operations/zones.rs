//! The zones of dates that have no offset. A zone never changes, so that it may be read before the commit.

use accrue::{CustomerId, Error, IdOr, SubscriptionId, Zone};

use crate::request::Request;

/// Returns the zone of a customer; UTC where none is asked for.
pub(super) async fn of_customer(
    request: &Request,
    customer: Option<IdOr<CustomerId>>,
) -> Result<Zone, Error> {
    match customer {
        Some(customer) => Ok(request.account.fetch_customer(customer).await?.timezone),
        None => Ok(Zone::UTC),
    }
}

/// Returns the zone of a subscription; UTC where none is asked for.
pub(super) async fn of_subscription(
    request: &Request,
    subscription: Option<SubscriptionId>,
) -> Result<Zone, Error> {
    match subscription {
        Some(id) => Ok(request.account.fetch_subscription(id).await?.timezone),
        None => Ok(Zone::UTC),
    }
}
