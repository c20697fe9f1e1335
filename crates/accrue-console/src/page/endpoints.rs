//! Endpoints of an account, changed by forms: created, enabled and disabled. A secret is shown once.

use accrue::{
    WebhookEndpointId,
    webhook::{Endpoint, EndpointUrl, NewEndpoint},
};
use http::StatusCode;
use maud::{Markup, html};

use super::webhooks;
use crate::{
    answer::{Answer, Failure},
    site::query,
    view::form::{self, Faults},
    visit::Visit,
};

/// Creates an endpoint, and shows its secret.
pub(crate) async fn create(visit: &Visit) -> Result<Answer, Failure> {
    let Some((key, reach)) = &visit.site.webhooks else { return Err(Failure::NotFound) };
    let account = visit.account()?;
    let mut faults = Faults::default();
    match EndpointUrl::parse(visit.form.get("url").unwrap_or_default(), reach) {
        Ok(url) => match account.create_webhook_endpoint(NewEndpoint::new(url)).await {
            Ok(endpoint) => {
                let secret = endpoint.secret(key, account.id()).reveal();
                let page =
                    webhooks::list(visit, &Faults::default(), &shown_once(&endpoint, &secret))
                        .await?;
                return Ok(Answer::page(page));
            }
            Err(error) => faults = Faults::of(error)?,
        },
        Err(error) => faults.add("url", &error.to_string()),
    }
    let page = webhooks::list(visit, &faults, &html! {}).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Enables an endpoint.
pub(crate) async fn enable(visit: &Visit) -> Result<Answer, Failure> {
    let id: WebhookEndpointId = visit.id("endpoint")?;
    visit.account()?.enable_webhook_endpoint(id).await?;
    Ok(changed(visit))
}

/// Disables an endpoint.
pub(crate) async fn disable(visit: &Visit) -> Result<Answer, Failure> {
    let id: WebhookEndpointId = visit.id("endpoint")?;
    visit.account()?.disable_webhook_endpoint(id).await?;
    Ok(changed(visit))
}

fn changed(visit: &Visit) -> Answer {
    let path = visit.in_account(&["webhooks"]);
    Answer::see_other(&format!("{path}{}", query(&[("done", "endpoint-changed")])))
}

fn shown_once(endpoint: &Endpoint, secret: &str) -> Markup {
    html! {
        div.alert.good role="status" {
            p { span aria-hidden="true" { "✓ " } "Messages from now on are sent to " (endpoint.url.as_str()) ". What signs them is shown only now: whoever takes them needs it." }
            (form::shown_once("secret", "Signing secret", secret))
        }
    }
}
