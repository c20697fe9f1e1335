use accrue::{ChangedSubscription, Page, SubscriptionChangeId, related::Related};

use super::zones;
use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::Maybe,
    wire::{
        pages::Rows,
        subscription_changes::{
            ApplyChange, SubscriptionChange, SubscriptionChangeListQuery, SubscriptionChangeSummary,
        },
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get(
        "/subscription_changes",
        "subscription_changes.list",
        "list-subscription-changes",
    )
    .summary("Lists the changes of subscriptions that wait or have waited, newest first.")
    .query::<SubscriptionChangeListQuery>()
    .answers::<Rows<SubscriptionChangeSummary>>()
    .run(|request| Box::pin(list(request))),
    Operation::get(
        "/subscription_changes/{subscription_change_id}",
        "subscription_changes.retrieve",
        "fetch-subscription-change",
    )
    .summary("Returns a change of a subscription, with the subscription as it leaves that.")
    .answers::<SubscriptionChange>()
    .run(|request| Box::pin(retrieve(request))),
    Operation::post(
        "/subscription_changes/{subscription_change_id}/apply",
        "subscription_changes.apply",
        "apply-subscription-change",
    )
    .summary("Applies a change of a subscription that waits.")
    .body::<Maybe<ApplyChange>>()
    .answers::<SubscriptionChange>()
    .run(|request| Box::pin(apply(request))),
    Operation::post(
        "/subscription_changes/{subscription_change_id}/cancel",
        "subscription_changes.cancel",
        "cancel-subscription-change",
    )
    .summary("Cancels a change of a subscription that waits.")
    .answers::<SubscriptionChange>()
    .run(|request| Box::pin(cancel(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: SubscriptionChangeListQuery = request.query()?;
    let filter = query.filter();
    let page = request.page(query.limit, query.cursor)?;
    let found = match filter {
        Some(filter) => request.account.list_subscription_changes(&filter, &page).await?,
        None => Page::default(),
    };
    let now = request.account.billing().now();
    request.answer_page(found, |change| SubscriptionChangeSummary::of(&change, now)).await
}

async fn retrieve(request: Request) -> Result<Reply, Problem> {
    let id: SubscriptionChangeId = request.path()?;
    let (changed, related) = request.account.changed_subscription_with_related(id).await?;
    let now = request.account.billing().now();
    let answer = SubscriptionChange::of(&changed, &related, &request.links(), now);
    request.answer(&answer).await
}

async fn apply(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) =
        request.read::<SubscriptionChangeId, NoQuery, Maybe<ApplyChange>>()?;
    let body = ApplyChange::of(body)?;
    let zone = match zones::of_change(&request, body.is_paid().then_some(id)).await {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let how = body.into_payment(&zone, request.account.billing().now())?;
    let call = request.account.apply_subscription_change(id, how);
    write(request, call).await
}

async fn cancel(request: Request) -> Result<Reply, Problem> {
    let (id, ..) = request.read::<SubscriptionChangeId, NoQuery, NoBody>()?;
    let call = request.account.cancel_subscription_change(id);
    write(request, call).await
}

async fn write(
    request: Request,
    call: accrue::Call<ChangedSubscription>,
) -> Result<Reply, Problem> {
    let (billing, links) = (request.account.billing().clone(), request.links());
    let show = move |(changed, related): &(ChangedSubscription, Related)| {
        SubscriptionChange::of(changed, related, &links, billing.now())
    };
    request.write(call.with_related(), show).await
}
