//! Customers of an account: listed, and found by id or alias.

use accrue::{CustomerId, ExternalId, IdOr, ListFilter, customer::Customer};
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

/// Lists the customers, or goes to the one that the query names.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let mut faults = Faults::default();
    if let Some(text) = visit.query.get("find") {
        let id = text.parse::<CustomerId>().map(IdOr::from).ok();
        let id = id.or_else(|| ExternalId::parse(text).map(IdOr::from).ok());
        match id {
            Some(id) => match account.fetch_customer(id).await {
                Ok(found) => {
                    let id = found.id.to_string();
                    return Ok(Answer::see_other(&visit.in_account(&["customers", &id])));
                }
                Err(error) if error.is_not_found() => {
                    faults.add("find", "No customer has this id or external id.");
                }
                Err(error) => return Err(error.into()),
            },
            None => faults.add("find", "It is neither an id nor an external id."),
        }
    }
    let page = account.list_customers(&ListFilter::default(), &visit.page_of(50)?).await?;
    let rows = html! { @for customer in &page.data { (row(visit, customer)) } };
    let form = Form { name: "find", typed: &visit.query, faults: &faults };
    let field = Field {
        name: "find",
        label: "Find by id or external id",
        hint: "",
        control: Control::Text("search", "off"),
    };
    let path = visit.in_account(&["customers"]);
    let content = html! {
        form.row role="search" method="get" action=(path) {
            (form.field(&field))
            button type="submit" { "Find" }
        }
        @if page.data.is_empty() {
            (empty("No customers yet", "A program creates them over the API. Events may come before: they count once their customer is there."))
        } @else {
            (table("Customers, newest first", &[Text("Name"), Text("External id"), Text("E-mail address"), Text("Currency"), Text("Created (UTC)")], &rows))
        }
        (next(&path, &[], page.next_cursor.as_ref()))
    };
    let head = Head { title: "Customers", section: Section::Customers, above: Vec::new() };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Shows a customer as a row.
pub(crate) fn row(visit: &Visit, customer: &Customer) -> Markup {
    let id = customer.id.to_string();
    html! {
        tr {
            th scope="row" { a href=(visit.in_account(&["customers", &id])) { (customer.name) } }
            td.id { (customer.external_customer_id.as_deref().unwrap_or("–")) }
            td { (customer.email) }
            td { (customer.currency.map_or("–", accrue::Currency::code)) }
            td { (time::instant(customer.created_at)) }
        }
    }
}
