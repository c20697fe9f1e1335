//! Invoices of an account, by status and customer.

use accrue::{
    Account, CustomerId, PageRequest, PricingUnit,
    customer::Customer,
    invoice::{Invoice, InvoiceFilter, InvoiceStatus},
};
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    site::query,
    view::{
        form::{Control, Faults, Field, Form},
        layout::{self, Head, Section},
        number::money,
        part::{
            Column::{Number, Text},
            Standing, chip, empty, next, table,
        },
        time,
    },
    visit::Visit,
};

/// Every status, for the list of all.
const STATUSES: [InvoiceStatus; 5] = [
    InvoiceStatus::Draft,
    InvoiceStatus::Issued,
    InvoiceStatus::Paid,
    InvoiceStatus::Synced,
    InvoiceStatus::Void,
];

const CHOICES: [(&str, &str); 6] = [
    ("", "All"),
    ("draft", "Draft"),
    ("issued", "Issued"),
    ("paid", "Paid"),
    ("synced", "Synced"),
    ("void", "Void"),
];

/// Lists the invoices, those with the newest date first.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let asked = visit.query.get("status").unwrap_or_default();
    let status = STATUSES.into_iter().find(|of| of.name() == asked);
    let customer = visit.query.get("customer").and_then(|id| id.parse::<CustomerId>().ok());
    let filter = InvoiceFilter {
        customers: customer.into_iter().map(Into::into).collect(),
        statuses: status.map_or_else(|| STATUSES.to_vec(), |status| vec![status]),
        ..InvoiceFilter::default()
    };
    let page = account.list_invoices(&filter, &visit.page_of(50)?).await?;
    let customers = customers(&account, &page.data).await?;
    let rows = html! {
        @for invoice in &page.data {
            @let customer = customers.iter().find(|of| of.id == invoice.customer_id);
            (row(visit, invoice, Some(customer.map_or("–", |of| of.name.as_str()))))
        }
    };
    let path = visit.in_account(&["invoices"]);
    let faults = Faults::default();
    let form = Form { name: "filter", typed: &visit.query, faults: &faults };
    let field =
        Field { name: "status", label: "Status", hint: "", control: Control::Choice(&CHOICES) };
    let customer = customer.map(|id| id.to_string());
    let status = status.map_or("", InvoiceStatus::name);
    let others = [("status", status), ("customer", customer.as_deref().unwrap_or_default())];
    let others: Vec<_> = others.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    let content = html! {
        form.row method="get" action=(path) {
            @if let Some(id) = &customer { input type="hidden" name="customer" value=(id); }
            (form.field(&field))
            button type="submit" { "Show" }
        }
        @if let Some(id) = &customer {
            p.note { "Of one customer: " a href=(visit.in_account(&["customers", id])) { (id) } ". " a href=(path) { "Of all customers" } "." }
        }
        @if page.data.is_empty() {
            (none(visit).await?)
        } @else {
            (table("Invoices, newest date first", &[Text("Number"), Text("Status"), Text("Customer"), Text("Date (UTC)"), Text("Due (UTC)"), Number("Total"), Number("Amount due")], &rows))
        }
        (next(&path, &others, page.next_cursor.as_ref()))
    };
    let head = Head { title: "Invoices", section: Section::Invoices, above: Vec::new() };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Reads the customers of invoices, each once.
async fn customers(account: &Account, invoices: &[Invoice]) -> Result<Vec<Customer>, Failure> {
    let mut found: Vec<Customer> = Vec::new();
    for invoice in invoices {
        if found.iter().any(|of| of.id == invoice.customer_id) {
            continue;
        }
        match account.fetch_customer(invoice.customer_id).await {
            Ok(customer) => found.push(customer),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Shows an invoice as a row, with the name of its customer in a list of several.
fn row(visit: &Visit, invoice: &Invoice, customer: Option<&str>) -> Markup {
    let unit = PricingUnit::from(invoice.currency);
    let (id, customer_id) = (invoice.id.to_string(), invoice.customer_id.to_string());
    html! {
        tr {
            th scope="row" { a href=(visit.in_account(&["invoices", &id])) { (number(invoice)) } }
            td { (standing(invoice)) }
            @if let Some(name) = customer {
                td { a href=(visit.in_account(&["customers", &customer_id])) { (name) } }
            }
            td { (time::instant(invoice.invoice_date)) }
            td { (time::maybe(invoice.due_date)) }
            td.number { (money(&invoice.total, &unit)) }
            td.number { (due(invoice)) }
        }
    }
}

/// Writes what is to be paid: nothing of an invoice that is void.
pub(super) fn due(invoice: &Invoice) -> String {
    match invoice.status {
        InvoiceStatus::Void => "–".to_owned(),
        _ => money(&invoice.amount_due, &invoice.currency.into()),
    }
}

/// Lists the newest invoices of a customer, with the way to all.
pub(crate) async fn of_customer(visit: &Visit, id: CustomerId) -> Result<Markup, Failure> {
    let filter = InvoiceFilter {
        customers: vec![id.into()],
        statuses: STATUSES.to_vec(),
        ..InvoiceFilter::default()
    };
    let page = visit.account()?.list_invoices(&filter, &PageRequest::first(10)?).await?;
    let rows = html! { @for invoice in &page.data { (row(visit, invoice, None)) } };
    let all = query(&[("customer", &id.to_string())]);
    Ok(html! {
        section aria-labelledby="invoices-title" {
            h2 id="invoices-title" { "Invoices" }
            @if page.data.is_empty() {
                (none(visit).await?)
            } @else {
                (table("Newest invoices", &[Text("Number"), Text("Status"), Text("Date (UTC)"), Text("Due (UTC)"), Number("Total"), Number("Amount due")], &rows))
            }
            @if page.has_more() { p { a href=(format!("{}{all}", visit.in_account(&["invoices"]))) { "All invoices of the customer" } } }
        }
    })
}

/// Says that there are none, and why there may be none.
async fn none(visit: &Visit) -> Result<Markup, Failure> {
    let text = match visit.account()?.configuration().await?.features.invoices {
        true => "A subscription has a draft from its start on; it is issued when its date comes.",
        false => {
            "Invoices of subscriptions are off in this account: a program turns them on in its \
             configuration, for subscriptions that are created from then on."
        }
    };
    Ok(empty("No invoices", text))
}

/// Returns the number of an invoice, as its page is called.
pub(super) fn number(invoice: &Invoice) -> &str {
    if invoice.invoice_number.is_empty() { "Draft" } else { &invoice.invoice_number }
}

/// Shows how an invoice stands.
pub(super) fn standing(invoice: &Invoice) -> Markup {
    match invoice.status {
        InvoiceStatus::Draft => chip(Standing::Off, "Draft"),
        InvoiceStatus::Issued if invoice.payment_failed_at.is_some() => {
            chip(Standing::Bad, "Issued, payment failed")
        }
        InvoiceStatus::Issued => chip(Standing::Wait, "Issued"),
        InvoiceStatus::Paid => chip(Standing::Good, "Paid"),
        InvoiceStatus::Synced => chip(Standing::Good, "Synced"),
        _ => chip(Standing::Off, "Void"),
    }
}
