use std::collections::BTreeSet;

use accrue::{Account, AlertId, CustomerId, IdOr, ListFilter, Page, PlanId, SubscriptionId, Zone};

use super::zones;
use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::Read,
    wire::{
        alerts::{
            Alert, AlertForQuery, AlertListQuery, AlertsOf, NewCustomerAlert, NewPlanAlert,
            NewSubscriptionAlert, UpdateAlert,
        },
        customers::ExternalCustomerId,
        pages::Rows,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/alerts/{alert_id}", "alerts.retrieve", "fetch-alert")
        .summary("Returns an alert.")
        .answers::<Alert>()
        .run(|request| Box::pin(fetch(request))),
    Operation::put("/alerts/{alert_configuration_id}", "alerts.update", "update-alert")
        .summary("Replaces the thresholds of an alert, and the price filters and overrides of one that has such.")
        .body::<UpdateAlert>()
        .answers::<Alert>()
        .run(|request| Box::pin(update(request))),
    Operation::get("/alerts", "alerts.list", "list-alerts")
        .summary("Lists the alerts on a customer's credit balances, or on a subscription.")
        .query::<AlertListQuery>()
        .answers::<Rows<Alert>>()
        .run(|request| Box::pin(list(request))),
    Operation::delete("/alerts/{alert_configuration_id}", "alerts.delete", "delete-alert")
        .summary("Deletes an alert on a customer or a subscription.")
        .run(|request| Box::pin(delete(request))),
    Operation::post(
        "/alerts/customer_id/{customer_id}",
        "alerts.create_for_customer",
        "create-customer-alert",
    )
    .creates()
    .summary("Creates an alert on the credit balance of a customer.")
    .body::<NewCustomerAlert>()
    .answers::<Alert>()
    .run(|request| Box::pin(create_for_customer::<CustomerId>(request))),
    Operation::post(
        "/alerts/external_customer_id/{external_customer_id}",
        "alerts.create_for_external_customer",
        "create-customer-alert-external-customer-id",
    )
    .creates()
    .summary("Creates an alert on the credit balance of a customer, found by its external id.")
    .body::<NewCustomerAlert>()
    .answers::<Alert>()
    .run(|request| Box::pin(create_for_customer::<ExternalCustomerId>(request))),
    Operation::post("/alerts/plan_id/{plan_id}", "alerts.create_for_plan", "create-plan-alert")
        .creates()
        .summary("Creates an alert on a plan version: it watches each of its subscriptions.")
        .body::<NewPlanAlert>()
        .answers::<Alert>()
        .run(|request| Box::pin(create_for_plan(request))),
    Operation::post(
        "/alerts/subscription_id/{subscription_id}",
        "alerts.create_for_subscription",
        "create-subscription-alert",
    )
    .creates()
    .summary("Creates an alert on a subscription.")
    .body::<NewSubscriptionAlert>()
    .answers::<Alert>()
    .run(|request| Box::pin(create_for_subscription(request))),
    Operation::post("/alerts/{alert_configuration_id}/disable", "alerts.disable", "disable-alert")
        .summary("Disables an alert, or a plan's for one subscription.")
        .query::<AlertForQuery>()
        .answers::<Alert>()
        .run(|request| Box::pin(disable(request))),
    Operation::post("/alerts/{alert_configuration_id}/enable", "alerts.enable", "enable-alert")
        .summary("Enables an alert, or a plan's for one subscription.")
        .query::<AlertForQuery>()
        .answers::<Alert>()
        .run(|request| Box::pin(enable(request))),
];

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: AlertId = request.path()?;
    let alert = request.account.fetch_alert(id).await?;
    let related = request.account.related(&alert).await?;
    request.answer(&Alert::of(&alert, &related)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<AlertId, NoQuery, UpdateAlert>()?;
    let update: accrue::alert::AlertUpdate = update.try_into()?;
    let call = request.account.update_alert(id, update);
    request.write(call.with_related(), |(alert, related)| Alert::of(alert, related)).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: AlertListQuery = request.query()?;
    let of = query.of()?;
    let zone = match query.created().are_local() {
        true => zone(&request, &of).await?,
        false => Zone::UTC,
    };
    let created = query.created().range(&zone)?;
    let page = request.page(query.limit, query.cursor)?;
    let (account, filter) = (&request.account, ListFilter { created });
    let mut found = match (of.subscription, of.customers.as_slice()) {
        (Some(id), _) => account.list_subscription_alerts(id, &filter, &page).await?,
        (None, [id, ..]) => account.list_customer_alerts(id.clone(), &filter, &page).await?,
        (None, []) => Page::default(),
    };
    if !is_one_customer(account, &of).await? {
        found = Page::default();
    }
    let related = account.related(&found).await?;
    request.answer_page(found, |alert| Alert::of(&alert, &related)).await
}

/// Returns the zone of whom alerts are asked for. Whoever is not there has none.
async fn zone(request: &Request, of: &AlertsOf) -> Result<Zone, Problem> {
    let zone = match of.subscription {
        Some(id) => zones::of_subscription(request, Some(id)).await,
        None => zones::of_customer(request, of.customers.first().cloned()).await,
    };
    match zone {
        Err(error) if error.is_not_found() => Ok(Zone::UTC),
        zone => Ok(zone?),
    }
}

/// Tells whether all that is named is one customer, and what is that customer's.
async fn is_one_customer(account: &Account, of: &AlertsOf) -> Result<bool, Problem> {
    if of.customers.is_empty() || (of.customers.len() == 1 && of.subscription.is_none()) {
        return Ok(true);
    }
    let mut owners = BTreeSet::new();
    if let Some(id) = of.subscription {
        owners.insert(account.fetch_subscription(id).await?.customer_id);
    }
    for customer in &of.customers {
        owners.insert(account.fetch_customer(customer.clone()).await?.id);
    }
    Ok(owners.len() == 1)
}

async fn delete(request: Request) -> Result<Reply, Problem> {
    let id: AlertId = request.path()?;
    let call = request.account.delete_alert(id);
    request.write(call, |()| ()).await
}

async fn create_for_customer<Id: Read + Into<IdOr<CustomerId>>>(
    request: Request,
) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) = request.read::<Id, NoQuery, NewCustomerAlert>()?;
    let call = request.account.create_customer_alert(id, new.try_into()?);
    request.write(call.with_related(), |(alert, related)| Alert::of(alert, related)).await
}

async fn create_for_plan(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) = request.read::<PlanId, NoQuery, NewPlanAlert>()?;
    let call = match new.into_alert()? {
        (new, None) => request.account.create_plan_alert(id, new),
        (new, Some(version)) => request.account.create_plan_version_alert(id, version, new),
    };
    request.write(call.with_related(), |(alert, related)| Alert::of(alert, related)).await
}

async fn create_for_subscription(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, new) = request.read::<SubscriptionId, NoQuery, NewSubscriptionAlert>()?;
    let call = request.account.create_subscription_alert(id, new.try_into()?);
    request.write(call.with_related(), |(alert, related)| Alert::of(alert, related)).await
}

async fn disable(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<AlertId, AlertForQuery, NoBody>()?;
    let call = match query.subscription_id {
        None => request.account.disable_alert(id),
        Some(subscription) => request.account.disable_alert_for(id, subscription),
    };
    request.write(call.with_related(), |(alert, related)| Alert::of(alert, related)).await
}

async fn enable(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<AlertId, AlertForQuery, NoBody>()?;
    let call = match query.subscription_id {
        None => request.account.enable_alert(id),
        Some(subscription) => request.account.enable_alert_for(id, subscription),
    };
    request.write(call.with_related(), |(alert, related)| Alert::of(alert, related)).await
}
