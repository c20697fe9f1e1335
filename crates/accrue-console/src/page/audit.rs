//! The audit log: who did what.

use accrue::{
    AccountId,
    audit::{AuditEntry, AuditFilter, AuditOf, Who},
};
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    view::{
        form::{Control, Faults, Field, Form},
        layout::{self, Head, Section},
        part::{Column::Text, empty, next, table},
        time,
    },
    visit::Visit,
};

/// Lists the entries, those of an account or of a person where the query names one.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let (account, person) = (visit.query.get("account"), visit.query.get("person"));
    let mut faults = Faults::default();
    let of = match (account, person) {
        (_, Some(person)) => {
            let person = person.parse().map_err(|_| "there is no such person");
            faults.take("person", person).map_or(AuditOf::Everybody, AuditOf::Person)
        }
        (Some(account), None) => faults
            .take("account", AccountId::parse(account))
            .map_or(AuditOf::Everybody, AuditOf::Account),
        (None, None) => AuditOf::Everybody,
    };
    let filter = AuditFilter { of, ..AuditFilter::default() };
    let page = visit.billing().list_audit(&filter, &visit.page_of(50)?).await?;
    let rows = html! { @for entry in &page.data { (row(visit, entry)) } };
    let form = Form { name: "audit", typed: &visit.query, faults: &faults };
    let field = |name, label, hint| {
        form.field(&Field { name, label, hint, control: Control::Text("text", "off") })
    };
    let mut kept = Vec::new();
    kept.extend(account.map(|account| ("account", account)));
    kept.extend(person.map(|person| ("person", person)));
    let path = visit.site.to(&["audit"]);
    let content = html! {
        form.row method="get" action=(path) {
            (field("account", "Account", ""))
            (field("person", "Id of a person", ""))
            button type="submit" { "Filter" }
        }
        (form.summary())
        @if page.data.is_empty() {
            (empty("No entries", "Whatever somebody changes here, or a program of the host by its name, is listed for 400 days."))
        } @else {
            (table("Audit log", &[Text("At (UTC)"), Text("Who"), Text("Operation"), Text("About"), Text("Account"), Text("Request")], &rows))
        }
        (next(&path, &kept, page.next_cursor.as_ref()))
    };
    let head = Head { title: "Audit log", section: Section::Audit, above: Vec::new() };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

fn row(visit: &Visit, entry: &AuditEntry) -> Markup {
    let by = |name: &str, value: &str| {
        format!("{}{}", visit.site.to(&["audit"]), crate::site::query(&[(name, value)]))
    };
    html! {
        tr {
            td { (time::instant(entry.at)) }
            th scope="row" {
                @match &entry.who {
                    Who::Person { id, name } => { a href=(by("person", &id.to_string())) { (name) } }
                    who => { (who.name()) " (host)" }
                }
            }
            td { code { (entry.operation) } }
            td.id { (entry.subject.as_deref().unwrap_or("–")) }
            td {
                @match &entry.account {
                    Some(account) => { a href=(by("account", account)) { (account) } }
                    None => { "–" }
                }
            }
            td { (entry.request_id.as_deref().unwrap_or("–")) }
        }
    }
}
