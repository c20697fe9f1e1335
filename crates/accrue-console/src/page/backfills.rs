//! Backfills of an account: created, looked at before they are closed, closed and reverted.

use accrue::{
    BackfillId, CustomerId, ExternalId, IdOr, Timeframe, Timestamp,
    backfill::{Backfill, BackfillFilter, BackfillStatus, NewBackfill},
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
        number::{count, money},
        part::{
            Column::{Number, Text},
            Standing, chip, empty, facts, next, table,
        },
        time,
    },
    visit::Visit,
};

const REPLACES: [(&str, &str); 2] =
    [("yes", "The events that are there: they count no longer"), ("no", "Nothing: they are added")];

/// Lists the backfills.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    Ok(Answer::page(list(visit, &Fields::default(), &Faults::default()).await?))
}

/// Creates a backfill.
pub(crate) async fn create(visit: &Visit) -> Result<Answer, Failure> {
    let mut faults = Faults::default();
    if let Some(new) = read(&visit.form, &mut faults) {
        match visit.account()?.create_backfill(new).await {
            Ok(backfill) => return Ok(to(visit, backfill.id, "backfill-created")),
            Err(error) if error.is_not_found() => {
                faults.add("customer", "There is no such customer.")
            }
            Err(error) => faults = Faults::of(error)?.under("timeframe.end", "end"),
        }
    }
    let page = list(visit, &visit.form, &faults).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Shows a backfill, with what closing or reverting it would change.
pub(crate) async fn one(visit: &Visit) -> Result<Answer, Failure> {
    Ok(Answer::page(shown(visit, &Faults::default()).await?))
}

/// Closes a backfill.
pub(crate) async fn close(visit: &Visit) -> Result<Answer, Failure> {
    let id: BackfillId = visit.id("backfill")?;
    let done = visit.account()?.close_backfill(id).await;
    changed(visit, done, "backfill-closed").await
}

/// Reverts a backfill.
pub(crate) async fn revert(visit: &Visit) -> Result<Answer, Failure> {
    let id: BackfillId = visit.id("backfill")?;
    let done = visit.account()?.revert_backfill(id).await;
    changed(visit, done, "backfill-reverted").await
}

async fn changed(
    visit: &Visit,
    done: Result<Backfill, accrue::Error>,
    code: &str,
) -> Result<Answer, Failure> {
    match done {
        Ok(backfill) => Ok(to(visit, backfill.id, code)),
        Err(error) => {
            let page = shown(visit, &Faults::of(error)?).await?;
            Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
        }
    }
}

fn to(visit: &Visit, id: BackfillId, code: &str) -> Answer {
    let path = visit.in_account(&["backfills", &id.to_string()]);
    Answer::see_other(&format!("{path}{}", query(&[("done", code)])))
}

/// Reads the backfill that a form is for.
fn read(typed: &Fields, faults: &mut Faults) -> Option<NewBackfill> {
    let instant = |name| time::typed(typed.get(name).unwrap_or_default());
    let start = faults.take("start", instant("start"));
    let end = faults.take("end", instant("end"));
    let customer = typed.get("customer").map(|text| match text.parse::<CustomerId>() {
        Ok(id) => Ok(IdOr::from(id)),
        Err(_) => ExternalId::parse(text).map(IdOr::from),
    });
    let customer = customer.and_then(|customer| faults.take("customer", customer));
    let timeframe = faults.take("end", Timeframe::new(start?, end?))?;
    let mut new = NewBackfill::new(timeframe);
    new.customer = customer;
    new.replace_existing_events = typed.get("replaces") != Some("no");
    faults.is_empty().then_some(new)
}

/// Tells whether it was closed, and is about to count.
fn is_closing(backfill: &Backfill, now: Timestamp) -> bool {
    backfill.status == BackfillStatus::Pending && backfill.close_time.is_some_and(|at| at <= now)
}

fn standing(backfill: &Backfill, now: Timestamp) -> Markup {
    match backfill.status {
        BackfillStatus::Pending if is_closing(backfill, now) => {
            chip(Standing::Wait, "Closed, about to count")
        }
        BackfillStatus::Pending => chip(Standing::Wait, "Open"),
        BackfillStatus::Reflected => chip(Standing::Good, "Closed"),
        BackfillStatus::PendingRevert => chip(Standing::Wait, "Being reverted"),
        _ => chip(Standing::Off, "Reverted"),
    }
}

async fn list(visit: &Visit, typed: &Fields, faults: &Faults) -> Result<Markup, Failure> {
    let account = visit.account()?;
    let now = account.billing().now();
    let page = account.list_backfills(&BackfillFilter::default(), &visit.page_of(50)?).await?;
    let rows = html! {
        @for of in &page.data {
            tr {
                th scope="row" { a href=(visit.in_account(&["backfills", &of.id.to_string()])) { (time::instant(of.timeframe.start())) " to " (time::instant(of.timeframe.end())) } }
                td { (standing(of, now)) }
                td.number { (count(of.events_ingested)) }
                td { (time::instant(of.created_at)) }
            }
        }
    };
    let form = Form { name: "backfill", typed, faults };
    let field = |name, label, hint, control| form.field(&Field { name, label, hint, control });
    let path = visit.in_account(&["backfills"]);
    let content = html! {
        @if page.data.is_empty() {
            (empty("No backfills yet", "A backfill brings events of the past that were lost, and corrects what followed from them."))
        } @else {
            (table("Backfills", &[Text("Timeframe (UTC)"), Text("Status"), Number("Events"), Text("Created (UTC)")], &rows))
        }
        (next(&path, &[], page.next_cursor.as_ref()))
        @if visit.may(Role::Operate) {
            section.card aria-labelledby="new-title" {
                h2 id="new-title" { "New backfill" }
                form method="post" action=(path) {
                    (form::token(visit))
                    (form.summary())
                    (field("start", "From", "Such as 2026-03-01, or 2026-03-01T12:30; without an offset it is UTC.", Control::Text("text", "off")))
                    (field("end", "To", "Not part of it.", Control::Text("text", "off")))
                    (field("customer", "Customer", "Its id or external id; all customers where it is empty.", Control::Text("text", "off")))
                    (field("replaces", "It replaces", "", Control::Choice(&REPLACES)))
                    button.primary type="submit" { "Create the backfill" }
                }
            }
        }
    };
    let head = Head { title: "Backfills", section: Section::Backfills, above: Vec::new() };
    layout::page(visit, head, content).await
}

async fn shown(visit: &Visit, faults: &Faults) -> Result<Markup, Failure> {
    let account = visit.account()?;
    let id: BackfillId = visit.id("backfill")?;
    let backfill = account.fetch_backfill(id).await?;
    let now = account.billing().now();
    let is_closing = is_closing(&backfill, now);
    let (call, action, text) = match backfill.status {
        BackfillStatus::Pending if is_closing => (None, "", ""),
        BackfillStatus::Pending => {
            (Some(account.close_backfill(id)), "close", "Close the backfill")
        }
        BackfillStatus::Reflected => {
            (Some(account.revert_backfill(id)), "revert", "Revert the backfill")
        }
        _ => (None, "", ""),
    };
    let preview = match call {
        Some(call) => match call.preview().await {
            Ok(preview) => Some(Ok(preview)),
            Err(error) => Some(Err(Faults::of(error)?)),
        },
        None => None,
    };
    let takes_events = backfill.status == BackfillStatus::Pending && !is_closing;
    let closes = if takes_events { "Closes by itself (UTC)" } else { "Closed (UTC)" };
    let blank = Fields::default();
    let form = Form { name: "change", typed: &blank, faults };
    let customer = backfill.customer_id.map(|id| id.to_string());
    let content = html! {
        (form.summary())
        (facts(&[
            ("Status", standing(&backfill, now)),
            ("From (UTC)", time::instant(backfill.timeframe.start())),
            ("To (UTC)", time::instant(backfill.timeframe.end())),
            ("Events", html! { (count(backfill.events_ingested)) }),
            ("Customer", html! {
                @match &customer {
                    Some(id) => { a href=(visit.in_account(&["customers", id])) { (id) } }
                    None => { "All" }
                }
            }),
            ("Replaces what is there", html! { @if backfill.replace_existing_events { "Yes" } @else { "No" } }),
            (closes, time::maybe(backfill.close_time)),
            ("Id", html! { span.id { (backfill.id) } }),
        ]))
        @if takes_events {
            p.note { "A program sends its events over the API, to " code { "/v1/ingest?backfill_id=" (backfill.id) } "." }
        }
        @match &preview {
            Some(Ok(preview)) => { (changes(visit, action, preview)) }
            Some(Err(faults)) => { (Form { name: "preview", typed: &blank, faults }.summary()) }
            None => {}
        }
        @if visit.may(Role::Operate) && !action.is_empty() {
            (form::button(visit, &visit.in_account(&["backfills", &id.to_string(), action]), text, "primary"))
        }
    };
    let above = vec![("Backfills".to_owned(), visit.in_account(&["backfills"]))];
    let head = Head { title: "Backfill", section: Section::Backfills, above };
    layout::page(visit, head, content).await
}

/// Shows what a change would come to.
fn changes(visit: &Visit, action: &str, preview: &accrue::Preview<Backfill>) -> Markup {
    let title =
        if action == "close" { "What closing it changes" } else { "What reverting it changes" };
    let rows = html! {
        @for of in &preview.periods {
            @let customer = of.customer_id.to_string();
            tr {
                th scope="row" { a href=(visit.in_account(&["customers", &customer])) { (customer) } }
                td { (time::date(of.timeframe.start())) " to " (time::date(of.timeframe.end())) }
                td.number { (money(&of.cost_before, &of.currency)) }
                td.number { (money(&of.cost_after, &of.currency)) }
            }
        }
    };
    let types: Vec<_> = preview.messages.iter().map(|of| of.body.message_type()).collect();
    html! {
        section aria-labelledby="preview-title" {
            h2 id="preview-title" { (title) }
            @if preview.periods.is_empty() {
                (empty("Nothing", "No billing period comes to something else."))
            } @else {
                (table("Billing periods", &[Text("Customer"), Text("Period"), Number("Cost now"), Number("Cost then")], &rows))
            }
            @if !types.is_empty() {
                p { "Messages that it would write: " @for of in &types { code { (of) } " " } }
            }
        }
    }
}
