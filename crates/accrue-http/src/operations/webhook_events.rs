use accrue::MessageId;

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::Request,
    wire::{
        pages::Rows,
        webhook_events::{WebhookEvent, WebhookEventListQuery},
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/webhook_events", "webhook_events.list", "list-webhook-events")
        .summary("Lists the messages of the last 30 days that are sent to endpoints, newest first.")
        .query::<WebhookEventListQuery>()
        .answers::<Rows<WebhookEvent>>()
        .run(|request| Box::pin(list(request))),
    Operation::get(
        "/webhook_events/{webhook_event_id}",
        "webhook_events.fetch",
        "get-webhook-event",
    )
    .summary("Returns a message with its body, and the attempts to deliver it.")
    .answers::<WebhookEvent>()
    .run(|request| Box::pin(fetch(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: WebhookEventListQuery = request.query()?;
    let filter = query.filter()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_sent_messages(&filter, &page).await?;
    request.answer_page(found, WebhookEvent::of).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: MessageId = request.path()?;
    let message = request.account.fetch_sent_message(id).await?;
    request.answer(&WebhookEvent::of(message)).await
}
