//! One invoice as a person reads it, issued and made void.

use accrue::{
    Decimal, InvoiceId, PricingUnit,
    customer::{Customer, PaymentProvider},
    invoice::{
        CreditNote, Invoice, InvoiceLine, InvoiceStatus, LineAdjustment, PaymentAttempt,
        PaymentFailure, TaxAmount,
    },
    person::Role,
    price::{Adjustment, Discount, Part, PartOf},
};
use http::StatusCode;
use maud::{Markup, html};

use super::invoices::{number, standing};
use crate::{
    answer::{Answer, Failure},
    request::Fields,
    site::query,
    view::{
        form::{self, Faults, Form},
        layout::{self, Head, Section},
        number::{grouped, money},
        part::{
            Column::{Number, Text},
            Standing, chip, empty, facts, table,
        },
        time,
    },
    visit::Visit,
};

/// Shows an invoice.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    Ok(Answer::page(drawn(visit, &Faults::default()).await?))
}

/// Issues a draft.
pub(crate) async fn issue(visit: &Visit) -> Result<Answer, Failure> {
    let done = visit.account()?.issue_invoice(visit.id("invoice")?).await;
    let waits = done.as_ref().is_ok_and(|of| of.status == InvoiceStatus::Draft);
    changed(visit, done, if waits { "invoice-waits" } else { "invoice-issued" }).await
}

/// Makes an invoice void.
pub(crate) async fn void(visit: &Visit) -> Result<Answer, Failure> {
    let done = visit.account()?.void_invoice(visit.id("invoice")?).await;
    changed(visit, done, "invoice-void").await
}

async fn changed(
    visit: &Visit,
    done: Result<Invoice, accrue::Error>,
    code: &str,
) -> Result<Answer, Failure> {
    match done {
        Ok(invoice) => {
            let path = visit.in_account(&["invoices", &invoice.id.to_string()]);
            Ok(Answer::see_other(&format!("{path}{}", query(&[("done", code)]))))
        }
        Err(error) => {
            let page = drawn(visit, &Faults::of(error)?).await?;
            Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
        }
    }
}

async fn drawn(visit: &Visit, faults: &Faults) -> Result<Markup, Failure> {
    let account = visit.account()?;
    let id: InvoiceId = visit.id("invoice")?;
    let invoice = account.fetch_invoice(id).await?;
    let customer = account.fetch_customer(invoice.customer_id).await?;
    let blank = Fields::default();
    let form = Form { name: "invoice", typed: &blank, faults };
    let content = html! {
        (form.summary())
        (facts_of(visit, &invoice, &customer))
        (actions(visit, &invoice))
        (line_table(&invoice))
        (payments(&invoice))
        (credit_notes(&invoice))
    };
    let above = vec![("Invoices".to_owned(), visit.in_account(&["invoices"]))];
    let title = format!("Invoice {}", number(&invoice));
    let head = Head { title: &title, section: Section::Invoices, above };
    layout::page(visit, head, content).await
}

fn facts_of(visit: &Visit, invoice: &Invoice, customer: &Customer) -> Markup {
    let customer_id = customer.id.to_string();
    let subscription = invoice.subscription_id.map(|id| id.to_string());
    let source = match invoice.source.name() {
        "subscription" => "Boundary of the subscription",
        "partial" => "Threshold of the subscription",
        _ => "By hand",
    };
    facts(&[
        ("Status", standing(invoice)),
        (
            "Customer",
            html! { a href=(visit.in_account(&["customers", &customer_id])) { (customer.name) } },
        ),
        (
            "Subscription",
            html! {
                @match &subscription {
                    Some(id) => { a href=(visit.in_account(&["subscriptions", id])) { span.id { (id) } } }
                    None => { "–" }
                }
            },
        ),
        ("Made by", html! { (source) }),
        ("Date (UTC)", time::instant(invoice.invoice_date)),
        ("Due (UTC)", time::maybe(invoice.due_date)),
        ("Issued (UTC)", time::maybe(invoice.issued_at)),
        ("Paid (UTC)", time::maybe(invoice.paid_at)),
        ("Void since (UTC)", time::maybe(invoice.voided_at)),
        ("Id", html! { span.id { (invoice.id) } }),
    ])
}

fn actions(visit: &Visit, invoice: &Invoice) -> Markup {
    let id = invoice.id.to_string();
    let to = |action| visit.in_account(&["invoices", &id, action]);
    html! {
        @if invoice.status == InvoiceStatus::Draft && invoice.will_auto_issue {
            p.note {
                "It is issued by itself"
                @if let Some(at) = invoice.eligible_to_issue_at { ", from " (time::instant(at)) " (UTC) on" }
                "."
            }
        }
        @if visit.may(Role::Operate) {
            @match invoice.status {
                InvoiceStatus::Draft if !invoice.will_auto_issue => (form::button(visit, &to("issue"), "Issue the invoice", "primary")),
                InvoiceStatus::Issued | InvoiceStatus::Synced => (form::button(visit, &to("void"), "Make it void", "danger")),
                _ => {}
            }
        }
    }
}

fn line_table(invoice: &Invoice) -> Markup {
    if invoice.lines.is_empty() {
        return empty("No lines", "Nothing is charged by it yet.");
    }
    let unit = PricingUnit::from(invoice.currency);
    let rows = html! {
        @for line in &invoice.lines { (line_rows(line, &unit)) }
        tr.total { th scope="row" { "Subtotal, before adjustments" } td {} td {} td.number { (money(&invoice.subtotal, &unit)) } }
        @for (text, amount) in &taxes(invoice) {
            tr { th scope="row" { (text) } td {} td {} td.number { (money(amount, &unit)) } }
        }
        tr.total { th scope="row" { "Total" } td {} td {} td.number { (money(&invoice.total, &unit)) } }
        @for of in &invoice.balance_transactions {
            tr {
                th scope="row" { "Balance of the customer: " (words(of.action.name())) ", " (of.direction.name()) }
                td { (time::instant(of.created_at)) } td {}
                td.number { (money(&of.amount, &PricingUnit::from(of.currency))) }
            }
        }
        tr.total { th scope="row" { "Amount due" } td {} td {} td.number { (super::invoices::due(invoice)) } }
    };
    table(
        "Lines",
        &[Text("Line"), Text("Service period"), Number("Quantity"), Number("Amount")],
        &rows,
    )
}

fn line_rows(line: &InvoiceLine, unit: &PricingUnit) -> Markup {
    let own = &line.currency;
    let is_changed = line.subtotal != line.amount || own != unit;
    html! {
        tr {
            th scope="row" { (line.name) }
            td { (time::date(line.period.start())) " to " (time::date(line.period.end())) }
            td.number { (grouped(&line.quantity)) }
            td.number { (money(&line.subtotal, own)) }
        }
        @for (part, amount) in &line.sub_lines() {
            tr.sub {
                th scope="row" { (part_text(part)) ", " (money(&part.unit_amount, own)) " each" }
                td {} td.number { (grouped(&part.quantity)) } td.number { (money(amount, own)) }
            }
        }
        @for of in &line.adjustments { (less(&adjustment_text(of), &of.amount, own)) }
        @if !line.credits_applied.is_zero() { (less("Paid with credits", &-line.credits_applied.clone(), own)) }
        @if !line.partially_invoiced.is_zero() { (less("Invoiced before, at a threshold", &-line.partially_invoiced.clone(), unit)) }
        @if is_changed { (less("Comes to", &line.amount, unit)) }
        @for tax in &line.tax_amounts { (less(&tax_text(tax), &tax.amount, unit)) }
    }
}

fn less(text: &str, amount: &Decimal, unit: &PricingUnit) -> Markup {
    html! { tr.sub { th scope="row" { (text) } td {} td {} td.number { (money(amount, unit)) } } }
}

/// Says what a part of a line is of.
pub(super) fn part_text(part: &Part) -> String {
    match &part.of {
        PartOf::Tier { first_unit, last_unit } => match last_unit {
            Some(last) => format!("Above {} up to {}", grouped(first_unit), grouped(last)),
            None => format!("Above {}", grouped(first_unit)),
        },
        PartOf::Cell { dimension_values } => {
            let values = dimension_values.iter().map(|of| of.as_deref().unwrap_or("(none)"));
            values.collect::<Vec<_>>().join(", ")
        }
        PartOf::DefaultCell => "All others".to_owned(),
        PartOf::Group { key, value } => format!("{key} {}", value.as_deref().unwrap_or("(none)")),
        PartOf::Named => part.name.clone().unwrap_or_default(),
        _ => part.name.clone().unwrap_or_else(|| "All".to_owned()),
    }
}

fn adjustment_text(of: &LineAdjustment) -> String {
    let text = match &of.adjustment {
        Adjustment::Minimum(least) => format!("Minimum of {}", grouped(least)),
        Adjustment::Maximum(most) => format!("Maximum of {}", grouped(most)),
        Adjustment::Discount(Discount::Percentage(off)) => {
            format!("Discount of {} %", grouped(&(off.as_decimal() * &Decimal::from(100))))
        }
        Adjustment::Discount(Discount::Amount(off)) => format!("Discount of {}", grouped(off)),
        Adjustment::Discount(Discount::Usage(off)) => {
            format!("Discount of {} units", grouped(off))
        }
        _ => "Discount by tiers".to_owned(),
    };
    if of.coupon_id.is_some() { format!("{text}, by a coupon") } else { text }
}

fn tax_text(tax: &TaxAmount) -> String {
    match &tax.percentage {
        Some(share) => format!("Tax: {}, {} %", tax.description, grouped(share)),
        None => format!("Tax: {}", tax.description),
    }
}

/// Adds up the taxes of all lines, by what they are.
fn taxes(invoice: &Invoice) -> Vec<(String, Decimal)> {
    let mut found: Vec<(String, Decimal)> = Vec::new();
    for tax in invoice.lines.iter().flat_map(|line| &line.tax_amounts) {
        let text = tax_text(tax);
        match found.iter_mut().find(|(known, _)| *known == text) {
            Some((_, amount)) => *amount += &tax.amount,
            None => found.push((text, tax.amount.clone())),
        }
    }
    found
}

fn payments(invoice: &Invoice) -> Markup {
    let unit = PricingUnit::from(invoice.currency);
    let outcome = |of: &PaymentAttempt| match (of.succeeded, of.failure) {
        (true, _) => chip(Standing::Good, "Paid"),
        (false, Some(PaymentFailure::Declined)) => chip(Standing::Bad, "Declined"),
        (false, Some(PaymentFailure::NoInstrument)) => chip(Standing::Bad, "Nothing to pay with"),
        (false, _) => chip(Standing::Bad, "Failed"),
    };
    let rows = html! {
        @for of in &invoice.payment_attempts {
            tr {
                td { (time::instant(of.created_at)) }
                td { (outcome(of)) }
                td { (of.payment_provider.map_or("–", PaymentProvider::name)) }
                td.id { (of.payment_provider_id.as_deref().unwrap_or("–")) }
                td.number { (money(&of.amount, &unit)) }
            }
        }
    };
    html! {
        @if !invoice.payment_attempts.is_empty() {
            (table("Payment attempts", &[Text("At (UTC)"), Text("Outcome"), Text("Provider"), Text("Its id"), Number("Amount")], &rows))
        }
        @if let Some(at) = invoice.auto_collection.next_attempt_at {
            p.note { "The next attempt to collect it is at " (time::instant(at)) " (UTC)." }
        }
    }
}

fn credit_notes(invoice: &Invoice) -> Markup {
    let standing = |of: &CreditNote| match of.voided_at {
        Some(_) => chip(Standing::Off, "Void"),
        None => chip(Standing::Good, "In force"),
    };
    let rows = html! {
        @for of in &invoice.credit_notes {
            tr {
                th scope="row" { (of.credit_note_number) }
                td { (standing(of)) }
                td { (words(of.effect.name())) }
                td { (time::instant(of.created_at)) }
                td { (of.memo.as_deref().unwrap_or("–")) }
                td.number { (money(&of.total, &PricingUnit::from(of.currency))) }
            }
        }
    };
    html! {
        @if !invoice.credit_notes.is_empty() {
            (table("Credit notes", &[Text("Number"), Text("Status"), Text("Effect"), Text("Created (UTC)"), Text("Memo"), Number("Total")], &rows))
        }
    }
}

/// Writes a name of the wire as words.
pub(super) fn words(name: &str) -> String {
    name.replace('_', " ")
}
