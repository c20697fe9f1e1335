use accrue::{
    Call, WebhookEndpointId,
    webhook::{self, Reach},
};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request},
    wire::{
        pages::{ListQuery, Rows},
        webhook_endpoints::{
            CreateWebhookEndpoint, UpdateWebhookEndpoint, WebhookEndpoint,
            WebhookEndpointWithSecret,
        },
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/webhook_endpoints", "webhook_endpoints.create", "create-webhook-endpoint")
        .creates()
        .summary("Creates an endpoint that messages are sent to, and shows its secret.")
        .body::<CreateWebhookEndpoint>()
        .answers::<WebhookEndpointWithSecret>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/webhook_endpoints", "webhook_endpoints.list", "list-webhook-endpoints")
        .summary("Lists the endpoints, newest first.")
        .query::<ListQuery>()
        .answers::<Rows<WebhookEndpoint>>()
        .run(|request| Box::pin(list(request))),
    Operation::get(
        "/webhook_endpoints/{webhook_endpoint_id}",
        "webhook_endpoints.retrieve",
        "fetch-webhook-endpoint",
    )
    .summary("Returns an endpoint.")
    .answers::<WebhookEndpoint>()
    .run(|request| Box::pin(fetch(request))),
    Operation::put(
        "/webhook_endpoints/{webhook_endpoint_id}",
        "webhook_endpoints.update",
        "update-webhook-endpoint",
    )
    .summary("Changes an endpoint: messages that come up from then on.")
    .body::<UpdateWebhookEndpoint>()
    .answers::<WebhookEndpoint>()
    .run(|request| Box::pin(update(request))),
    Operation::delete(
        "/webhook_endpoints/{webhook_endpoint_id}",
        "webhook_endpoints.delete",
        "delete-webhook-endpoint",
    )
    .summary("Deletes an endpoint.")
    .run(|request| Box::pin(delete(request))),
    Operation::post(
        "/webhook_endpoints/{webhook_endpoint_id}/disable",
        "webhook_endpoints.disable",
        "disable-webhook-endpoint",
    )
    .summary("Disables an endpoint: nothing is sent to it any more.")
    .answers::<WebhookEndpoint>()
    .run(|request| Box::pin(disable(request))),
    Operation::post(
        "/webhook_endpoints/{webhook_endpoint_id}/enable",
        "webhook_endpoints.enable",
        "enable-webhook-endpoint",
    )
    .summary("Enables an endpoint: messages that come up from then on are sent to it.")
    .answers::<WebhookEndpoint>()
    .run(|request| Box::pin(enable(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: CreateWebhookEndpoint = request.body()?;
    let Some(webhooks) = request.settings.webhooks.clone() else {
        return Err(Problem::feature_not_available("there are no webhook endpoints"));
    };
    let account = request.account.id().clone();
    let call = request.account.create_webhook_endpoint(new.into_new(&webhooks.reach)?);
    // What is kept under an idempotency key has no secret: it is computed for each answer.
    let reply = request.write(call, Clone::clone).await?;
    let show = |endpoint: webhook::Endpoint| {
        let secret = endpoint.secret(&webhooks.key, &account).reveal();
        WebhookEndpointWithSecret::of(&endpoint, secret)
    };
    Ok(reply.showing(show)?)
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: ListQuery = request.query()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_webhook_endpoints(&page).await?;
    request.answer_page(found, |endpoint| WebhookEndpoint::of(&endpoint)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: WebhookEndpointId = request.path()?;
    let endpoint = request.account.fetch_webhook_endpoint(id).await?;
    request.answer(&WebhookEndpoint::of(&endpoint)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) =
        request.read::<WebhookEndpointId, NoQuery, UpdateWebhookEndpoint>()?;
    let public = Reach::public();
    let reach = request.settings.webhooks.as_ref().map_or(&public, |of| &of.reach);
    let update = update.into_update(reach)?;
    let call = request.account.update_webhook_endpoint(id, update);
    write(request, call).await
}

async fn delete(request: Request) -> Result<Reply, Problem> {
    let id: WebhookEndpointId = request.path()?;
    let call = request.account.delete_webhook_endpoint(id);
    request.write(call, |()| ()).await
}

async fn disable(request: Request) -> Result<Reply, Problem> {
    let id: WebhookEndpointId = request.path()?;
    let call = request.account.disable_webhook_endpoint(id);
    write(request, call).await
}

async fn enable(request: Request) -> Result<Reply, Problem> {
    let id: WebhookEndpointId = request.path()?;
    let call = request.account.enable_webhook_endpoint(id);
    write(request, call).await
}

async fn write(request: Request, call: Call<webhook::Endpoint>) -> Result<Reply, Problem> {
    request.write(call, WebhookEndpoint::of).await
}
