//! API keys of an account: issued, rotated and revoked. A token is shown once, in the answer to its form.

use std::time::Duration;

use accrue::{
    ApiKeyId, ListFilter, Name, Timestamp,
    api_key::{ApiKey, IssuedApiKey},
    person::Role,
};
use http::StatusCode;
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    request::Fields,
    site::query,
    view::{
        form::{self, Control, Faults, Field, Form},
        layout::{self, Head, Section},
        part::{Column::Text, Standing, chip, empty, next, table},
        time,
    },
    visit::Visit,
};

/// For how long a former token or secret may stay valid, with what the choice is called.
pub(super) const OVERLAPS: [(&str, &str); 5] = [
    ("0", "No time: it ends now"),
    ("1", "1 hour"),
    ("24", "1 day"),
    ("168", "7 days"),
    ("720", "30 days"),
];

/// Lists the keys.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let page = list(visit, &Fields::default(), &Faults::default(), &html! {}).await?;
    Ok(Answer::page(page))
}

/// Issues a key.
pub(crate) async fn issue(visit: &Visit) -> Result<Answer, Failure> {
    let mut faults = Faults::default();
    let name = faults.take("name", Name::parse(visit.form.get("name").unwrap_or_default()));
    if let Some(name) = name.filter(|_| faults.is_empty()) {
        confirm(visit, &mut faults).await?;
        if faults.is_empty() {
            match visit.account()?.issue_api_key(name).await {
                Ok(issued) => return shown_once(visit, &issued, "is issued").await,
                Err(error) => faults = Faults::of(error)?,
            }
        }
    }
    refused(visit, &faults).await
}

/// Rotates a key.
pub(crate) async fn rotate(visit: &Visit) -> Result<Answer, Failure> {
    let id: ApiKeyId = visit.id("key")?;
    let overlap = overlap(visit);
    let mut faults = Faults::default();
    confirm(visit, &mut faults).await?;
    if faults.is_empty() {
        match visit.account()?.rotate_api_key(id, overlap).await {
            Ok(issued) => return shown_once(visit, &issued, "has a new token").await,
            Err(error) => faults = Faults::of(error)?,
        }
    }
    let key = visit.account()?.fetch_api_key(id).await?;
    let page = one(visit, &key, &visit.form, &faults).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Reads for how long the former one is to stay valid.
pub(super) fn overlap(visit: &Visit) -> Duration {
    let hours = visit.form.get("overlap").and_then(|hours| hours.parse::<u64>().ok());
    Duration::from_secs(hours.unwrap_or_default().saturating_mul(60 * 60))
}

/// Revokes a key.
pub(crate) async fn revoke(visit: &Visit) -> Result<Answer, Failure> {
    visit.account()?.revoke_api_key(visit.id("key")?).await?;
    let to = format!("{}{}", visit.in_account(&["keys"]), query(&[("done", "revoked")]));
    Ok(Answer::see_other(&to))
}

/// Shows one key, to be rotated or revoked.
pub(crate) async fn key(visit: &Visit) -> Result<Answer, Failure> {
    let key = visit.account()?.fetch_api_key(visit.id("key")?).await?;
    let page = one(visit, &key, &Fields::default(), &Faults::default()).await?;
    Ok(Answer::page(page))
}

/// Asks for the password of whoever has signed in once more, where the console keeps it.
async fn confirm(visit: &Visit, faults: &mut Faults) -> Result<(), Failure> {
    let people = visit.site.sign_in.people();
    let Some((people, person)) = people.zip(visit.identity()?.person()) else { return Ok(()) };
    let password = visit.form.raw("password").unwrap_or_default();
    match people.confirm(person, password).await? {
        Some(true) => {}
        Some(false) => faults.add("password", "It is not your password."),
        None => faults.add("password", "Too many were wrong: try again in a quarter of an hour."),
    }
    Ok(())
}

async fn refused(visit: &Visit, faults: &Faults) -> Result<Answer, Failure> {
    let page = list(visit, &visit.form, faults, &html! {}).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

async fn shown_once(visit: &Visit, issued: &IssuedApiKey, what: &str) -> Result<Answer, Failure> {
    let token = issued.token.reveal();
    let content = html! {
        div.alert.good role="status" {
            p { span aria-hidden="true" { "✓ " } "The key “" (issued.key.name) "” " (what) ". Its token is shown only now: keep it where your program finds it." }
            (form::shown_once("token", "Token", &token))
            @if let Some(until) = issued.key.overlap_until {
                p { "The token before it is valid until " (time::instant(until)) " (UTC)." }
            }
        }
    };
    Ok(Answer::page(list(visit, &Fields::default(), &Faults::default(), &content).await?))
}

fn standing(key: &ApiKey, now: Timestamp) -> Markup {
    if key.revoked_at.is_some() {
        return chip(Standing::Off, "Revoked");
    }
    match key.overlap_until {
        Some(until) if now < until => chip(Standing::Wait, "Two tokens"),
        _ => chip(Standing::Good, "Valid"),
    }
}

fn password(visit: &Visit, form: &Form<'_>) -> Markup {
    html! {
        @if visit.site.sign_in.people().is_some() {
            (form.field(&Field {
                name: "password",
                label: "Your password",
                hint: "Once more, since the token opens the account.",
                control: Control::Text("password", "current-password"),
            }))
        }
    }
}

async fn list(
    visit: &Visit,
    typed: &Fields,
    faults: &Faults,
    above: &Markup,
) -> Result<Markup, Failure> {
    let account = visit.account()?;
    let page = account.list_api_keys(&ListFilter::default(), &visit.page_of(50)?).await?;
    let now = account.billing().now();
    let rows = html! {
        @for key in &page.data {
            @let id = key.id.to_string();
            tr {
                th scope="row" {
                    @if visit.may(Role::Admin) { a href=(visit.in_account(&["keys", &id])) { (key.name) } }
                    @else { (key.name) }
                }
                td { (standing(key, now)) }
                td { (time::instant(key.created_at)) }
                td { (time::maybe(key.rotated_at)) }
                td.id { (id) }
            }
        }
    };
    let form = Form { name: "issue", typed, faults };
    let field = Field {
        name: "name",
        label: "Name",
        hint: "What it is for, such as “backend”.",
        control: Control::Text("text", "off"),
    };
    let content = html! {
        (above)
        @if page.data.is_empty() {
            (empty("No API keys yet", "Issue one, and send events with it: your program shows it as a bearer token."))
        } @else {
            (table("API keys", &[Text("Name"), Text("Status"), Text("Issued (UTC)"), Text("Rotated (UTC)"), Text("Id")], &rows))
        }
        (next(&visit.in_account(&["keys"]), &[], page.next_cursor.as_ref()))
        @if visit.may(Role::Admin) {
            section.card aria-labelledby="issue-title" {
                h2 id="issue-title" { "Issue an API key" }
                form method="post" action=(visit.in_account(&["keys"])) {
                    (form::token(visit))
                    (form.summary())
                    (form.field(&field))
                    (password(visit, &form))
                    button.primary type="submit" { "Issue the key" }
                }
            }
        }
    };
    let head = Head { title: "API keys", section: Section::Keys, above: Vec::new() };
    layout::page(visit, head, content).await
}

async fn one(
    visit: &Visit,
    key: &ApiKey,
    typed: &Fields,
    faults: &Faults,
) -> Result<Markup, Failure> {
    let id = key.id.to_string();
    let form = Form { name: "rotate", typed, faults };
    let content = html! {
        (crate::view::part::facts(&[
            ("Status", standing(key, visit.site.billing.now())),
            ("Issued (UTC)", time::instant(key.created_at)),
            ("Rotated (UTC)", time::maybe(key.rotated_at)),
            ("Revoked (UTC)", time::maybe(key.revoked_at)),
            ("Id", html! { span.id { (id) } }),
        ]))
        @if key.revoked_at.is_none() {
            section.card aria-labelledby="rotate-title" {
                h2 id="rotate-title" { "Rotate" }
                form method="post" action=(visit.in_account(&["keys", &id, "rotate"])) {
                    (form::token(visit))
                    (form.summary())
                    (form.field(&Field {
                        name: "overlap",
                        label: "The present token stays valid for",
                        hint: "So that programs can take the new one without a pause.",
                        control: Control::Choice(&OVERLAPS),
                    }))
                    (password(visit, &form))
                    button.primary type="submit" { "Rotate the key" }
                }
            }
            section.card aria-labelledby="revoke-title" {
                h2 id="revoke-title" { "Revoke" }
                p { "None of its tokens is valid any more, from now on. This cannot be undone." }
                (form::button(visit, &visit.in_account(&["keys", &id, "revoke"]), "Revoke the key", "danger"))
            }
        }
    };
    let above = vec![("API keys".to_owned(), visit.in_account(&["keys"]))];
    layout::page(visit, Head { title: &key.name, section: Section::Keys, above }, content).await
}
