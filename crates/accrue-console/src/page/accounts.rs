//! Accounts of the host.

use accrue::AccountId;
use maud::html;

use crate::{
    answer::{Answer, Failure},
    site::query,
    view::{
        form::{Control, Faults, Field, Form},
        layout::{self, Head, Section},
        part::{Column::Text, empty, table},
    },
    visit::Visit,
};

/// Accounts of a page.
const ROWS: usize = 50;

/// Sends whoever comes to the accounts.
pub(crate) async fn enter(visit: &Visit) -> Result<Answer, Failure> {
    Ok(Answer::see_other(&visit.site.to(&["accounts"])))
}

/// Opens an account by its id.
pub(crate) async fn open(visit: &Visit) -> Result<Answer, Failure> {
    match visit.query.get("account").map(AccountId::parse) {
        Some(Ok(account)) => Ok(Answer::see_other(&visit.site.to(&["a", &account]))),
        _ => show(visit).await,
    }
}

/// Lists the accounts.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let billing = visit.billing();
    let after = visit.query.get("after").and_then(|after| AccountId::parse(after).ok());
    let accounts = match &after {
        Some(after) => billing.list_accounts_after(after, ROWS).await?,
        None => billing.list_accounts(ROWS).await?,
    };
    let rows = html! {
        @for account in &accounts {
            tr { th scope="row" { a href=(visit.site.to(&["a", account])) { (account) } } }
        }
    };
    let faults = Faults::default();
    let form = Form { name: "open", typed: &visit.query, faults: &faults };
    let field = Field {
        name: "account",
        label: "Id of the account",
        hint: "An account need not be set up: it is there with its first API key, metric or customer.",
        control: Control::Text("text", "off"),
    };
    let content = html! {
        @if accounts.is_empty() && after.is_none() {
            (empty("No accounts yet", "Open one by an id of your choice, and issue its first API key."))
        } @else {
            (table("Accounts", &[Text("Id")], &rows))
        }
        @if let Some(last) = accounts.last().filter(|_| accounts.len() == ROWS) {
            nav.pages aria-label="Pages" {
                a.button href=(format!("{}{}", visit.site.to(&["accounts"]), query(&[("after", last)]))) { "Next page" }
            }
        }
        section.card aria-labelledby="open-title" {
            h2 id="open-title" { "Open an account" }
            form.row method="get" action=(visit.site.to(&["open"])) {
                (form.field(&field))
                button type="submit" { "Open" }
            }
        }
    };
    let head = Head { title: "Accounts", section: Section::Accounts, above: Vec::new() };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}
