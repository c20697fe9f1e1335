use accrue::{CustomerId, IdOr, ListFilter, Zone};

use crate::{
    Category,
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::Read,
    wire::{
        costs::{AggregatedCost, CostsQuery},
        customers::{Customer, ExternalCustomerId, NewCustomer, UpdateCustomer},
        pages::{CreatedListQuery, Listed, Rows},
    },
};

const BY_ID: &str = "/customers/{customer_id}";
const BY_EXTERNAL_ID: &str = "/customers/external_customer_id/{external_customer_id}";

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/customers", "customers.create", "create-customer")
        .creates()
        .summary("Creates a customer. Usage that waits under its external id becomes its own.")
        .body::<NewCustomer>()
        .answers::<Customer>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/customers", "customers.list", "list-customers")
        .summary("Lists the customers, newest first.")
        .query::<CreatedListQuery>()
        .answers::<Rows<Customer>>()
        .run(|request| Box::pin(list(request))),
    Operation::get(BY_ID, "customers.fetch", "fetch-customer")
        .summary("Returns a customer.")
        .answers::<Customer>()
        .run(|request| Box::pin(fetch::<CustomerId>(request))),
    Operation::get(BY_EXTERNAL_ID, "customers.fetch_by_external_id", "fetch-customer-external-id")
        .summary("Returns a customer, found by its external id.")
        .answers::<Customer>()
        .run(|request| Box::pin(fetch::<ExternalCustomerId>(request))),
    Operation::put(BY_ID, "customers.update", "update-customer")
        .summary("Changes a customer.")
        .body::<UpdateCustomer>()
        .answers::<Customer>()
        .run(|request| Box::pin(update::<CustomerId>(request))),
    Operation::put(
        BY_EXTERNAL_ID,
        "customers.update_by_external_id",
        "update-customer-external-id",
    )
    .summary("Changes a customer, found by its external id.")
    .body::<UpdateCustomer>()
    .answers::<Customer>()
    .run(|request| Box::pin(update::<ExternalCustomerId>(request))),
    Operation::delete(BY_ID, "customers.delete", "delete-customer")
        .summary("Deletes a customer and what belongs to it.")
        .run(|request| Box::pin(delete(request))),
    Operation::get(
        "/customers/{customer_id}/costs",
        "customers.costs.list",
        "fetch-customer-costs",
    )
    .counted_as(Category::Analytics)
    .summary("Computes the cost of all subscriptions of a customer, day by day.")
    .query::<CostsQuery>()
    .answers::<Listed<AggregatedCost>>()
    .run(|request| Box::pin(list_costs::<CustomerId>(request))),
    Operation::get(
        "/customers/external_customer_id/{external_customer_id}/costs",
        "customers.costs.list_by_external_id",
        "fetch-customer-costs-external-id",
    )
    .counted_as(Category::Analytics)
    .summary("Computes the cost of all subscriptions of a customer, found by its external id.")
    .query::<CostsQuery>()
    .answers::<Listed<AggregatedCost>>()
    .run(|request| Box::pin(list_costs::<ExternalCustomerId>(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewCustomer = request.body()?;
    let call = request.account.create_customer(new.try_into()?).with_related();
    request.write(call, |(customer, related)| Customer::of(customer, related)).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: CreatedListQuery = request.query()?;
    let created = query.created().range(&Zone::UTC)?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_customers(&ListFilter { created }, &page).await?;
    let related = request.account.related(&found).await?;
    request.answer_page(found, |customer| Customer::of(&customer, &related)).await
}

async fn fetch<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let id = request.path::<Id>()?;
    let customer = request.account.fetch_customer(id).await?;
    let related = request.account.related(&customer).await?;
    request.answer(&Customer::of(&customer, &related)).await
}

async fn update<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<Id, NoQuery, UpdateCustomer>()?;
    let call = request.account.update_customer(id, update.try_into()?).with_related();
    request.write(call, |(customer, related)| Customer::of(customer, related)).await
}

async fn delete(request: Request) -> Result<Reply, Problem> {
    let id: CustomerId = request.path()?;
    let call = request.account.delete_customer(id);
    request.write(call, |()| ()).await
}

async fn list_costs<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<Id, CostsQuery, NoBody>()?;
    let costs = request.account.customer_costs(id, &query.try_into()?).await?;
    let related = request.account.related(&costs).await?;
    request.answer_list(costs, |cost| AggregatedCost::of(cost, &related)).await
}
