//! The frame around every page.

use accrue::{AccountId, person::Role};
use maud::{DOCTYPE, Markup, html};

use super::form::token;
use crate::{
    answer::Failure,
    asset::{ICON, SCRIPT, STYLE},
    visit::Visit,
};

/// Where a page stands, for its navigation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Accounts,
    Overview,
    Customers,
    Invoices,
    Plans,
    Events,
    Backfills,
    Webhooks,
    Keys,
    People,
    Audit,
    /// What is one's own: it is not in the navigation.
    Own,
}

/// What a page says of itself.
pub(crate) struct Head<'a> {
    pub(crate) title: &'a str,
    pub(crate) section: Section,
    /// Pages above it, each with its path.
    pub(crate) above: Vec<(String, String)>,
}

/// Draws a page of somebody who has signed in.
pub(crate) async fn page(
    visit: &Visit,
    head: Head<'_>,
    content: Markup,
) -> Result<Markup, Failure> {
    let accounts = visit.site.billing.list_accounts(100).await?;
    let account = visit.account_id();
    let inner = html! {
        header.bar {
            a.brand href=(visit.site.to(&[])) { "accrue" }
            (switcher(visit, &accounts, account.as_ref()))
            (me(visit))
        }
        details.menu { summary { "Menu" } nav aria-label="Pages of the console" { (links(visit, head.section)) } }
        div.frame {
            nav.side aria-label="Console" { (links(visit, head.section)) }
            main id="content" tabindex="-1" {
                (crumbs(&head))
                h1 { (breakable(head.title)) }
                @if let Some(text) = visit.query.get("done").and_then(done) {
                    div.alert.good role="status" { p { span aria-hidden="true" { "✓ " } (text) } }
                }
                (content)
            }
        }
    };
    Ok(document(visit, head.title, &inner))
}

/// Draws a title that may be broken where its words end: types of messages and addresses have no spaces, and a phone is narrow.
fn breakable(title: &str) -> Markup {
    html! {
        @for (n, word) in title.split_inclusive(['.', '_', '/']).enumerate() {
            @if n > 0 { wbr; }
            (word)
        }
    }
}

/// Draws a page that stands alone: of somebody who has not signed in, or of a failure.
pub(crate) fn alone(visit: &Visit, title: &str, content: &Markup) -> Markup {
    let inner = html! {
        main.alone id="content" tabindex="-1" {
            p.brand { "accrue" }
            h1 { (title) }
            (content)
        }
    };
    document(visit, title, &inner)
}

/// Says what a form has done, by its code.
fn done(code: &str) -> Option<&'static str> {
    Some(match code {
        "revoked" => "The key is revoked: none of its tokens is valid any more.",
        "role" => "The role is changed.",
        "disabled" => "The person is disabled, and signed out everywhere.",
        "enabled" => "The person can sign in again.",
        "withdrawn" => "The invitation is withdrawn.",
        "signed-out" => "You are signed out.",
        "password" => "The password is changed, and you are signed out everywhere else.",
        "sent-again" => "The message will be sent again.",
        "endpoint-created" => "The endpoint is created: messages from now on are sent to it.",
        "endpoint-changed" => "The endpoint is changed.",
        "endpoint-deleted" => "The endpoint is deleted: nothing is sent to it any more.",
        "backfill-created" => "The backfill is open: its events can be sent.",
        "backfill-closed" => "The backfill is closed: its figures count once they are reflected.",
        "backfill-reverted" => {
            "The backfill is reverted: its figures count until that is reflected."
        }
        "invoice-issued" => "The invoice was issued.",
        "invoice-waits" => "The invoice is issued once its tax is known.",
        "invoice-void" => "The invoice was made void: nobody owes it.",
        "alert-created" => "The alert is created.",
        "alert-deleted" => "The alert is deleted.",
        _ => return None,
    })
}

pub(crate) fn done_text(code: Option<&str>) -> Option<&'static str> {
    code.and_then(done)
}

fn document(visit: &Visit, title: &str, inner: &Markup) -> Markup {
    let asset = |name: &str| visit.site.to(&["assets", name]);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · accrue" }
                link rel="stylesheet" href=(asset(&STYLE.name));
                link rel="icon" type="image/svg+xml" href=(asset(&ICON.name));
                script src=(asset(&SCRIPT.name)) defer {}
            }
            body { a.skip href="#content" { "Skip to content" } (inner) }
        }
    }
}

fn switcher(visit: &Visit, accounts: &[AccountId], current: Option<&AccountId>) -> Markup {
    html! {
        form.switcher method="get" action=(visit.site.to(&["open"])) {
            label for="switch-account" { "Account" }
            select id="switch-account" name="account" {
                @if current.is_none() { option value="" { "Choose an account" } }
                @if let Some(current) = current.filter(|current| !accounts.contains(current)) {
                    option value=(current) selected { (current) }
                }
                @for account in accounts {
                    option value=(account) selected[current == Some(account)] { (account) }
                }
            }
            button.quiet type="submit" { "Open" }
        }
    }
}

fn me(visit: &Visit) -> Markup {
    let Some(who) = &visit.who else { return html! {} };
    html! {
        div.me {
            @if who.person().is_some() {
                a.who href=(visit.site.to(&["password"])) title="Change your password" { (who.name()) " " span.role { (who.role()) } }
            } @else {
                span.who { (who.name()) " " span.role { (who.role()) } }
            }
            @if visit.site.sign_in.people().is_some() {
                form.inline method="post" action=(visit.site.to(&["sign-out"])) {
                    (token(visit))
                    button.quiet type="submit" { "Sign out" }
                }
            }
        }
    }
}

fn links(visit: &Visit, section: Section) -> Markup {
    let own =
        |of: Section, path: &str, text: &str| link(&visit.in_account(&[path]), of == section, text);
    let all =
        |of: Section, path: &str, text: &str| link(&visit.site.to(&[path]), of == section, text);
    html! {
        @if visit.account_id().is_some() {
            p.group { "Account" }
            ul {
                (link(&visit.in_account(&[]), section == Section::Overview, "Overview"))
                (own(Section::Customers, "customers", "Customers"))
                (own(Section::Invoices, "invoices", "Invoices"))
                (own(Section::Plans, "plans", "Plans"))
                (own(Section::Events, "events", "Events"))
                (own(Section::Backfills, "backfills", "Backfills"))
                (own(Section::Webhooks, "webhooks", "Webhooks"))
                (own(Section::Keys, "keys", "API keys"))
            }
        }
        p.group { "Host" }
        ul {
            (all(Section::Accounts, "accounts", "Accounts"))
            @if visit.may(Role::Admin) && visit.site.sign_in.people().is_some() {
                (all(Section::People, "people", "People"))
            }
            (all(Section::Audit, "audit", "Audit log"))
        }
    }
}

fn link(path: &str, is_current: bool, text: &str) -> Markup {
    let current = is_current.then_some("page");
    html! { li { a href=(path) aria-current=[current] { (text) } } }
}

fn crumbs(head: &Head<'_>) -> Markup {
    html! {
        @if !head.above.is_empty() {
            nav.crumbs aria-label="Breadcrumb" {
                ol {
                    @for (text, path) in &head.above { li { a href=(path) { (text) } } }
                    li aria-current="page" { (head.title) }
                }
            }
        }
    }
}
