//! Endpoints that messages are sent to, the messages, and the attempts with what was answered.

use accrue::{
    MessageId, PageRequest,
    person::Role,
    webhook::{
        Answer as Answered, Delivery, DeliveryStatus, Endpoint, SentMessage, SentMessageFilter,
    },
};
use maud::{Markup, html};

use super::endpoints;
use crate::{
    answer::{Answer, Failure},
    site::query,
    view::{
        form::{self, Control, Faults, Field, Form},
        layout::{self, Head, Section},
        part::{
            Column::{Number, Text},
            Standing, chip, empty, facts, next, table,
        },
        time,
    },
    visit::Visit,
};

/// Messages that wait, among which one is looked for.
const WAITING: usize = 1_000;

/// Lists the endpoints, and the messages that were sent.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    Ok(Answer::page(list(visit, &Faults::default(), &html! {}).await?))
}

/// Draws them, below what a form has come to.
pub(super) async fn list(
    visit: &Visit,
    faults: &Faults,
    above: &Markup,
) -> Result<Markup, Failure> {
    let account = visit.account()?;
    let endpoints = account.list_webhook_endpoints(&PageRequest::first(20)?).await?.data;
    let filter = SentMessageFilter { without_payload: true, ..SentMessageFilter::default() };
    let sent = account.list_sent_messages(&filter, &visit.page_of(50)?).await?;
    let rows = html! { @for endpoint in &endpoints { (endpoint_row(visit, endpoint)) } };
    let messages = html! {
        @for message in &sent.data {
            tr {
                td { (time::instant(message.created_at)) }
                th scope="row" { a href=(visit.in_account(&["messages", &message.id.to_string()])) { code { (message.message_type) } } }
                td { (standing(message)) }
                td.number { (message.deliveries.iter().map(|of| of.attempts.len()).sum::<usize>()) }
            }
        }
    };
    let form = Form { name: "endpoint", typed: &visit.form, faults };
    let field = Field {
        name: "url",
        label: "Address",
        hint: "It begins with https://, and is reached from the internet.",
        control: Control::Text("url", "off"),
    };
    let content = html! {
        (above)
        @if endpoints.is_empty() {
            (empty("No endpoints yet", "Add one, here or over the API: messages from then on are sent to it."))
        } @else {
            (table("Endpoints", &[Text("Address"), Text("Status"), Text("Created (UTC)"), Text("Actions")], &rows))
        }
        @if !sent.data.is_empty() {
            (table("Messages of the last 30 days", &[Text("At (UTC)"), Text("Type"), Text("Status"), Number("Attempts")], &messages))
        }
        (next(&visit.in_account(&["webhooks"]), &[], sent.next_cursor.as_ref()))
        @if visit.may(Role::Admin) && visit.site.webhooks.is_some() {
            section.card aria-labelledby="add-title" {
                h2 id="add-title" { "Add an endpoint" }
                form method="post" action=(visit.in_account(&["webhooks"])) {
                    (form::token(visit))
                    (form.summary())
                    (form.field(&field))
                    button.primary type="submit" { "Add the endpoint" }
                }
            }
        }
    };
    let head = Head { title: "Webhooks", section: Section::Webhooks, above: Vec::new() };
    layout::page(visit, head, content).await
}

/// Shows a message with its body, and what became of it.
pub(crate) async fn message(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let id: MessageId = visit.id("message")?;
    let message = match account.fetch_sent_message(id).await {
        Ok(message) => message,
        Err(error) if error.is_not_found() => return waiting(visit, id).await,
        Err(error) => return Err(error.into()),
    };
    let endpoints = account.list_webhook_endpoints(&PageRequest::first(20)?).await?.data;
    let content = html! {
        (facts(&[
            ("Status", standing(&message)),
            ("Came up (UTC)", time::instant(message.created_at)),
            ("Id", html! { span.id { (message.id) } }),
        ]))
        @if let Some(told) = &message.told { (super::why::why(visit, told, message.customer_id)) }
        @if visit.may(Role::Operate) {
            (form::button(visit, &visit.in_account(&["messages", &message.id.to_string(), "send-again"]), "Send again", ""))
        }
        @for delivery in &message.deliveries { (deliveries(delivery, &endpoints)) }
        @if let Some(payload) = &message.payload {
            section aria-labelledby="body-title" {
                h2 id="body-title" { "Body" }
                pre tabindex="0" aria-label="Body of the message" { (payload) }
            }
        }
    };
    let above = vec![("Webhooks".to_owned(), visit.in_account(&["webhooks"]))];
    let head = Head { title: &message.message_type, section: Section::Webhooks, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Shows a message that nobody has taken yet: it has no body, but all that the engine knows.
async fn waiting(visit: &Visit, id: MessageId) -> Result<Answer, Failure> {
    let page = PageRequest::first_of_messages(WAITING)?;
    let found = visit.account()?.list_messages(&page).await?.data;
    let message = found.iter().find(|message| message.id == id).ok_or(Failure::NotFound)?;
    let content = html! {
        (facts(&[
            ("Status", chip(Standing::Wait, "Waits")),
            ("Came up (UTC)", time::instant(message.created_at)),
            ("Id", html! { span.id { (message.id) } }),
        ]))
        (super::why::why(visit, &message.body, message.customer.as_ref().map(|of| of.id)))
    };
    let above = vec![("Webhooks".to_owned(), visit.in_account(&["webhooks"]))];
    let head = Head { title: message.message_type(), section: Section::Webhooks, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Sends a message again, to all endpoints that it was meant for.
pub(crate) async fn send_again(visit: &Visit) -> Result<Answer, Failure> {
    let id: MessageId = visit.id("message")?;
    visit.account()?.send_message_again(id, None).await?;
    let path = visit.in_account(&["messages", &id.to_string()]);
    Ok(Answer::see_other(&format!("{path}{}", query(&[("done", "sent-again")]))))
}

/// Shows how a message stands.
pub(crate) fn standing(message: &SentMessage) -> Markup {
    let waits = |of: &Delivery| matches!(of.status, DeliveryStatus::Waiting { .. });
    if message.is_delivered {
        chip(Standing::Good, "Delivered")
    } else if message.deliveries.iter().any(waits) {
        chip(Standing::Wait, "Waits")
    } else {
        chip(Standing::Bad, "Not delivered")
    }
}

fn endpoint_row(visit: &Visit, endpoint: &Endpoint) -> Markup {
    html! {
        tr {
            th.id scope="row" {
                a href=(visit.in_account(&["webhooks", &endpoint.id.to_string()])) { (endpoint.url.as_str()) }
            }
            td { (endpoints::standing(endpoint)) }
            td { (time::instant(endpoint.created_at)) }
            td { (endpoints::switch(visit, endpoint)) }
        }
    }
}

fn deliveries(delivery: &Delivery, endpoints: &[Endpoint]) -> Markup {
    let endpoint = endpoints.iter().find(|of| of.id == delivery.endpoint_id);
    let name = endpoint
        .map_or_else(|| "an endpoint that is deleted".to_owned(), |of| of.url.as_str().to_owned());
    let rows = html! {
        @for attempt in &delivery.attempts {
            tr {
                td { (time::instant(attempt.at)) }
                @match &attempt.answer {
                    Answered::Status { code, elapsed_ms, body } => {
                        th scope="row" { (code) }
                        td.number { (elapsed_ms) " ms" }
                        td { @if body.is_empty() { "–" } @else { code { (body) } } }
                    }
                    Answered::Nothing { reason } => {
                        th scope="row" { "No answer" }
                        td { "–" }
                        td { (reason) }
                    }
                    _ => { th scope="row" { "–" } td { "–" } td { "–" } }
                }
            }
        }
    };
    let caption = format!("Attempts to deliver to {name}");
    html! {
        @if delivery.attempts.is_empty() {
            (empty(&caption, "There was none yet."))
        } @else {
            (table(&caption, &[Text("At (UTC)"), Text("Answer"), Number("After"), Text("What was answered")], &rows))
        }
    }
}
