//! Endpoints of an account: created, changed, enabled and disabled, their secrets rotated, and deleted. A secret is
//! shown once, in the answer to its form.

use std::collections::BTreeSet;

use accrue::{
    Patch, Timestamp, WebhookEndpointId,
    person::Role,
    webhook::{
        DeliveryOrder, DisableReason, Endpoint, EndpointStatus, EndpointUpdate, EndpointUrl,
        EventType, EventTypes, NewEndpoint,
    },
};
use http::StatusCode;
use maud::{Markup, html};

use super::{keys, webhooks};
use crate::{
    answer::{Answer, Failure},
    request::Fields,
    site::query,
    view::{
        form::{self, Control, Faults, Field, Form},
        layout::{self, Head, Section},
        part::{Standing, chip, facts},
        time,
    },
    visit::Visit,
};

/// In which order messages may be sent, with what the choice is called.
const ORDERS: [(&str, &str); 2] = [
    ("first_attempts", "In order, and one that fails holds up no other"),
    ("strict", "Strictly: one that fails holds up the next ones of its customer"),
];

/// Creates an endpoint, and shows its secret.
pub(crate) async fn create(visit: &Visit) -> Result<Answer, Failure> {
    let Some((key, reach)) = &visit.site.webhooks else { return Err(Failure::NotFound) };
    let account = visit.account()?;
    let mut faults = Faults::default();
    match EndpointUrl::parse(visit.form.get("url").unwrap_or_default(), reach) {
        Ok(url) => match account.create_webhook_endpoint(NewEndpoint::new(url)).await {
            Ok(endpoint) => {
                let secret = endpoint.secret(key, account.id()).reveal();
                let what =
                    html! { "Messages from now on are sent to " (endpoint.url.as_str()) "." };
                let page =
                    webhooks::list(visit, &Faults::default(), &shown_once(&what, &secret)).await?;
                return Ok(Answer::page(page));
            }
            Err(error) => faults = Faults::of(error)?,
        },
        Err(error) => faults.add("url", &error.to_string()),
    }
    let page = webhooks::list(visit, &faults, &html! {}).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Shows one endpoint, to be changed, rotated or deleted.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let endpoint = visit.account()?.fetch_webhook_endpoint(visit.id("endpoint")?).await?;
    Ok(Answer::page(one(visit, &endpoint, None, &html! {}).await?))
}

/// Changes where an endpoint is, which messages it is sent, and in which order.
pub(crate) async fn update(visit: &Visit) -> Result<Answer, Failure> {
    let id: WebhookEndpointId = visit.id("endpoint")?;
    let Some((_, reach)) = &visit.site.webhooks else { return Err(Failure::NotFound) };
    let (account, mut faults) = (visit.account()?, Faults::default());
    let mut update = EndpointUpdate::default();
    let url = visit.form.get("url").unwrap_or_default();
    update.url = faults.take("url", EndpointUrl::parse(url, reach));
    let types = event_types(visit.form.get("types").unwrap_or_default());
    update.event_types = faults.take("types", types).map_or(Patch::Keep, Patch::Set);
    update.order = Some(match visit.form.get("order") {
        Some("strict") => DeliveryOrder::Strict,
        _ => DeliveryOrder::FirstAttempts,
    });
    if faults.is_empty() {
        match account.update_webhook_endpoint(id, update).await {
            Ok(_) => return Ok(back_to_it(visit, id)),
            Err(error) => faults = Faults::of(error)?,
        }
    }
    refused(visit, "change", &faults).await
}

/// Gives an endpoint another secret, and shows it.
pub(crate) async fn rotate(visit: &Visit) -> Result<Answer, Failure> {
    let Some((key, _)) = &visit.site.webhooks else { return Err(Failure::NotFound) };
    let (account, id) = (visit.account()?, visit.id("endpoint")?);
    match account.rotate_webhook_secret(id, keys::overlap(visit)).await {
        Ok(endpoint) => {
            let secret = endpoint.secret(key, account.id()).reveal();
            let what = html! {
                "The endpoint has a new secret."
                @if let Some(until) = endpoint.overlap_until() {
                    " Requests are signed with the one before it too, until " (time::instant(until)) " (UTC)."
                }
            };
            let page = one(visit, &endpoint, None, &shown_once(&what, &secret)).await?;
            Ok(Answer::page(page))
        }
        Err(error) => refused(visit, "rotate", &Faults::of(error)?).await,
    }
}

/// Deletes an endpoint.
pub(crate) async fn delete(visit: &Visit) -> Result<Answer, Failure> {
    visit.account()?.delete_webhook_endpoint(visit.id("endpoint")?).await?;
    Ok(back(visit, "endpoint-deleted"))
}

/// Enables an endpoint.
pub(crate) async fn enable(visit: &Visit) -> Result<Answer, Failure> {
    visit.account()?.enable_webhook_endpoint(visit.id("endpoint")?).await?;
    Ok(back(visit, "endpoint-changed"))
}

/// Disables an endpoint.
pub(crate) async fn disable(visit: &Visit) -> Result<Answer, Failure> {
    visit.account()?.disable_webhook_endpoint(visit.id("endpoint")?).await?;
    Ok(back(visit, "endpoint-changed"))
}

/// Shows whether an endpoint is sent messages, and why not.
pub(super) fn standing(endpoint: &Endpoint) -> Markup {
    match endpoint.status {
        EndpointStatus::Disabled { at, reason } => html! {
            (chip(Standing::Off, "Disabled"))
            " since " (time::instant(at)) (why_disabled(reason))
        },
        _ => chip(Standing::Good, "Enabled"),
    }
}

/// Draws what enables or disables an endpoint.
pub(super) fn switch(visit: &Visit, endpoint: &Endpoint) -> Markup {
    let (action, text) = match endpoint.is_enabled() {
        true => ("disable", "Disable"),
        false => ("enable", "Enable"),
    };
    html! {
        @if visit.may(Role::Operate) { (form::button(visit, &path(visit, endpoint, action), text, "quiet")) }
        @else { "–" }
    }
}

fn why_disabled(reason: DisableReason) -> &'static str {
    match reason {
        DisableReason::Gone => ": it answered 410, that it is gone",
        DisableReason::Failing => ": nothing was delivered to it for five days",
        _ => "",
    }
}

/// Reads types of messages from a list with commas: all where it is empty.
fn event_types(text: &str) -> Result<EventTypes, String> {
    let types = text.split(',').map(str::trim).filter(|of| !of.is_empty());
    let types = types.map(|of| EventType::parse(of).map_err(|error| format!("{of}: {error}")));
    let types: BTreeSet<_> = types.collect::<Result<_, _>>()?;
    Ok(if types.is_empty() { EventTypes::All } else { EventTypes::Only(types) })
}

fn shown_types(types: &EventTypes) -> String {
    match types {
        EventTypes::All => String::new(),
        EventTypes::Only(types) => {
            types.iter().map(|of| of.as_str()).collect::<Vec<_>>().join(", ")
        }
    }
}

fn order_of(endpoint: &Endpoint) -> &'static str {
    match endpoint.order {
        DeliveryOrder::Strict => "strict",
        _ => "first_attempts",
    }
}

fn back(visit: &Visit, done: &str) -> Answer {
    let path = visit.in_account(&["webhooks"]);
    Answer::see_other(&format!("{path}{}", query(&[("done", done)])))
}

fn back_to_it(visit: &Visit, id: WebhookEndpointId) -> Answer {
    let path = visit.in_account(&["webhooks", &id.to_string()]);
    Answer::see_other(&format!("{path}{}", query(&[("done", "endpoint-changed")])))
}

async fn refused(visit: &Visit, form: &str, faults: &Faults) -> Result<Answer, Failure> {
    let endpoint = visit.account()?.fetch_webhook_endpoint(visit.id("endpoint")?).await?;
    let page = one(visit, &endpoint, Some((form, faults)), &html! {}).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Draws an endpoint with its forms, of which one may have been refused.
async fn one(
    visit: &Visit,
    endpoint: &Endpoint,
    refused: Option<(&str, &Faults)>,
    above: &Markup,
) -> Result<Markup, Failure> {
    let now = visit.site.billing.now();
    let content = html! {
        (above)
        (facts(&[
            ("Status", standing(endpoint)),
            ("Created (UTC)", time::instant(endpoint.created_at)),
            ("Secrets", secrets(endpoint, now)),
            ("Id", html! { span.id { (endpoint.id) } }),
        ]))
        @if visit.may(Role::Operate) { (switch(visit, endpoint)) }
        @if visit.may(Role::Admin) {
            @if visit.site.webhooks.is_some() {
                (change_form(visit, endpoint, refused))
                (rotate_form(visit, endpoint, refused))
            }
            section.card aria-labelledby="delete-title" {
                h2 id="delete-title" { "Delete" }
                p { "Nothing is sent to it any more, neither what waits nor what comes up. This cannot be undone." }
                (form::button(visit, &path(visit, endpoint, "delete"), "Delete the endpoint", "danger"))
            }
        }
    };
    let above = vec![("Webhooks".to_owned(), visit.in_account(&["webhooks"]))];
    let head = Head { title: endpoint.url.as_str(), section: Section::Webhooks, above };
    layout::page(visit, head, content).await
}

fn path(visit: &Visit, endpoint: &Endpoint, action: &str) -> String {
    visit.in_account(&["webhooks", &endpoint.id.to_string(), action])
}

fn secrets(endpoint: &Endpoint, now: Timestamp) -> Markup {
    match endpoint.overlap_until().filter(|until| now < *until) {
        Some(until) => html! {
            (chip(Standing::Wait, "Two")) " until " (time::instant(until)) " (UTC)"
        },
        None => html! { "One" },
    }
}

fn change_form(visit: &Visit, endpoint: &Endpoint, refused: Option<(&str, &Faults)>) -> Markup {
    let present = Fields::of([
        ("url", endpoint.url.as_str().to_owned()),
        ("types", shown_types(&endpoint.event_types)),
        ("order", order_of(endpoint).to_owned()),
    ]);
    let none = Faults::default();
    let form = match refused {
        Some(("change", faults)) => Form { name: "change", typed: &visit.form, faults },
        _ => Form { name: "change", typed: &present, faults: &none },
    };
    html! {
        section.card aria-labelledby="change-title" {
            h2 id="change-title" { "Change" }
            form method="post" action=(visit.in_account(&["webhooks", &endpoint.id.to_string()])) {
                (form::token(visit))
                (form.summary())
                (form.field(&Field {
                    name: "url",
                    label: "Address",
                    hint: "Messages that wait are sent there too.",
                    control: Control::Text("url", "off"),
                }))
                (form.field(&Field {
                    name: "types",
                    label: "Types of messages",
                    hint: "With commas between them, such as “invoice.issued, subscription.cost_exceeded”. All where it is empty.",
                    control: Control::Text("text", "off"),
                }))
                (form.field(&Field {
                    name: "order",
                    label: "Order of a customer’s messages",
                    hint: "",
                    control: Control::Choice(&ORDERS),
                }))
                button.primary type="submit" { "Change the endpoint" }
            }
        }
    }
}

fn rotate_form(visit: &Visit, endpoint: &Endpoint, refused: Option<(&str, &Faults)>) -> Markup {
    let none = Faults::default();
    let faults = match refused {
        Some(("rotate", faults)) => faults,
        _ => &none,
    };
    let form = Form { name: "rotate", typed: &visit.form, faults };
    html! {
        section.card aria-labelledby="rotate-title" {
            h2 id="rotate-title" { "Rotate the secret" }
            form method="post" action=(path(visit, endpoint, "rotate")) {
                (form::token(visit))
                (form.summary())
                (form.field(&Field {
                    name: "overlap",
                    label: "Requests are signed with the present secret too for",
                    hint: "So that a receiver that verifies webhook-signature can take the new one without a pause: it has both signatures then. X-Orb-Signature has that of the present secret alone until the time is over.",
                    control: Control::Choice(&keys::OVERLAPS),
                }))
                button.primary type="submit" { "Rotate the secret" }
            }
        }
    }
}

fn shown_once(what: &Markup, secret: &str) -> Markup {
    html! {
        div.alert.good role="status" {
            p { span aria-hidden="true" { "✓ " } (what) " What signs them is shown only now: whoever takes them needs it." }
            (form::shown_once("secret", "Signing secret", secret))
        }
    }
}
