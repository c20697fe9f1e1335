//! The zones of dates that have no offset. A zone never changes, so that it may be read before the commit.

use accrue::{CustomerId, Error, IdOr, InvoiceId, SubscriptionChangeId, SubscriptionId, Zone};

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

/// Returns the zone of the customer of an invoice.
pub(super) async fn of_invoice(request: &Request, id: InvoiceId) -> Result<Zone, Error> {
    let invoice = request.account.fetch_invoice(id).await?;
    of_customer(request, Some(invoice.customer_id.into())).await
}

/// Returns the zone of the customer of a change; UTC where none is asked for.
pub(super) async fn of_change(
    request: &Request,
    change: Option<SubscriptionChangeId>,
) -> Result<Zone, Error> {
    let customer = match change {
        Some(id) => Some(request.account.fetch_subscription_change(id).await?.customer_id.into()),
        None => None,
    };
    of_customer(request, customer).await
}
