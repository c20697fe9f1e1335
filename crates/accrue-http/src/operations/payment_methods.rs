//! Payment methods as the gateway of the host lists them (`docs/decisions/payment-methods-are-listed.md`).

use std::sync::Arc;

use accrue::{CustomerId, IdOr, customer::ListedPaymentMethods};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::Read,
    wire::customers::ExternalCustomerId,
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post(
        "/customers/{customer_id}/sync_payment_methods_from_gateway",
        "customers.sync_payment_methods_from_gateway",
        "sync-customer-payment-methods-from-gateway",
    )
    .without_answer()
    .summary("Takes the payment methods of a customer that its gateway lists.")
    .body::<NoBody>()
    .run(|request| Box::pin(sync::<CustomerId>(request))),
    Operation::post(
        "/customers/external_customer_id/{external_customer_id}/sync_payment_methods_from_gateway",
        "customers.sync_payment_methods_from_gateway_by_external_customer_id",
        "sync-customer-payment-methods-from-gateway-by-external-id",
    )
    .without_answer()
    .summary(
        "Takes the payment methods of a customer, found by its external id, that its gateway lists.",
    )
    .body::<NoBody>()
    .run(|request| Box::pin(sync::<ExternalCustomerId>(request))),
];

async fn sync<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, _) = request.read::<Id, NoQuery, NoBody>()?;
    let Some(source) = &request.settings.payment_methods else {
        return Err(Problem::feature_not_available("there is no gateway with payment methods"));
    };
    // A retry asks nobody.
    if let Some(known) = request.known().await? {
        return Ok(known);
    }
    let of = match request.account.gateway_account(id).await {
        Ok(of) => of,
        Err(error) => return request.refuse(&error).await,
    };
    let methods = source.list(&of).await.map_err(|cause| Problem::failed_by(Arc::from(cause)))?;
    // What the gateway lists wrongly is no fault of the client.
    let listed = ListedPaymentMethods::new(of, methods)
        .map_err(|error| Problem::failed_by(Arc::new(error)))?;
    let call = request.account.sync_payment_methods(listed);
    request.write(call, |_| ()).await
}
