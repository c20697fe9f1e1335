use accrue::{CustomerId, IdOr, TopUpId};

use super::zones;
use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::Read,
    wire::{
        customers::ExternalCustomerId,
        pages::{ListQuery, Rows},
        top_ups::{NewTopUp, TopUp},
    },
};

const OF_ID: &str = "/customers/{customer_id}/credits/top_ups";
const OF_EXTERNAL_ID: &str =
    "/customers/external_customer_id/{external_customer_id}/credits/top_ups";

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get(OF_ID, "customers.credits.top_ups.list", "list-top-ups")
        .summary("Lists the active top-ups of a customer, newest first.")
        .query::<ListQuery>()
        .answers::<Rows<TopUp>>()
        .run(|request| Box::pin(list::<CustomerId>(request))),
    Operation::get(
        OF_EXTERNAL_ID,
        "customers.credits.top_ups.list_by_external_id",
        "list-top-ups-external-id",
    )
    .summary("Lists the active top-ups of a customer, found by its external id.")
    .query::<ListQuery>()
    .answers::<Rows<TopUp>>()
    .run(|request| Box::pin(list::<ExternalCustomerId>(request))),
    Operation::post(OF_ID, "customers.credits.top_ups.create", "create-top-up")
        .creates()
        .summary("Creates a top-up: it buys credits whenever the balance is low.")
        .body::<NewTopUp>()
        .answers::<TopUp>()
        .run(|request| Box::pin(create::<CustomerId>(request))),
    Operation::post(
        OF_EXTERNAL_ID,
        "customers.credits.top_ups.create_by_external_id",
        "create-top-up-external-id",
    )
    .creates()
    .summary("Creates a top-up for a customer, found by its external id.")
    .body::<NewTopUp>()
    .answers::<TopUp>()
    .run(|request| Box::pin(create::<ExternalCustomerId>(request))),
    Operation::delete(
        "/customers/{customer_id}/credits/top_ups/{top_up_id}",
        "customers.credits.top_ups.delete",
        "delete-top-up",
    )
    .summary("Deletes a top-up, and what it has bought that waits for a payment.")
    .run(|request| Box::pin(delete::<CustomerId>(request))),
    Operation::delete(
        "/customers/external_customer_id/{external_customer_id}/credits/top_ups/{top_up_id}",
        "customers.credits.top_ups.delete_by_external_id",
        "delete-top-up-external-id",
    )
    .summary("Deletes a top-up of a customer, found by its external id.")
    .run(|request| Box::pin(delete::<ExternalCustomerId>(request))),
];

async fn list<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<Id, ListQuery, NoBody>()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_top_ups(id, &page).await?;
    request.answer_page(found, |top_up| TopUp::from(&top_up)).await
}

async fn create<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) = request.read::<Id, NoQuery, NewTopUp>()?;
    let id: IdOr<CustomerId> = id.into();
    let dated = new.has_local_dates().then(|| id.clone());
    let zone = match zones::of_customer(&request, dated).await {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.create_top_up(id, new.into_new(&zone)?);
    request.write(call, |top_up| TopUp::from(top_up)).await
}

async fn delete<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let ((id, top_up), ..) = request.read::<(Id, TopUpId), NoQuery, NoBody>()?;
    let call = request.account.delete_top_up(id, top_up);
    request.write(call, |()| ()).await
}
