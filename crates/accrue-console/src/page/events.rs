//! Events of an account, found by their ids.

use accrue::{EventKey, usage::EventSearch, usage::FoundEvent};
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    view::{
        form::{Control, Faults, Field, Form},
        layout::{self, Head, Section},
        part::{Column::Text, Standing, chip, empty, table},
        time,
    },
    visit::Visit,
};

/// Shows the events of the last week that the query names.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let mut faults = Faults::default();
    let asked = visit.query.get("ids").unwrap_or_default();
    let keys: Result<Vec<_>, _> = asked
        .split(',')
        .map(str::trim)
        .filter(|key| !key.is_empty())
        .map(EventKey::parse)
        .collect();
    let keys = faults.take("ids", keys).unwrap_or_default();
    let found = if keys.is_empty() {
        Vec::new()
    } else {
        match visit.account()?.search_events(EventSearch::new(keys.clone())).await {
            Ok(found) => found,
            Err(error) => {
                faults = Faults::of(error)?;
                Vec::new()
            }
        }
    };
    let rows = html! { @for event in &found { (row(visit, event)) } };
    let form = Form { name: "events", typed: &visit.query, faults: &faults };
    let field = Field {
        name: "ids",
        label: "Ids of events",
        hint: "The idempotency keys that they came with, with commas between them.",
        control: Control::Text("search", "off"),
    };
    let content = html! {
        form.row role="search" method="get" action=(visit.in_account(&["events"])) {
            (form.field(&field))
            button type="submit" { "Search" }
        }
        (form.summary())
        @if keys.is_empty() {
            (empty("Search for events", "Those of the last seven days are found by their ids. The overview shows how many there were by the hour."))
        } @else if found.is_empty() {
            (empty("No such events", "None of the last seven days has one of these ids."))
        } @else {
            (table("Events", &[Text("Id"), Text("Name"), Text("Customer"), Text("Happened at (UTC)"), Text("Status"), Text("Properties")], &rows))
        }
    };
    let head = Head { title: "Events", section: Section::Events, above: Vec::new() };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

fn row(visit: &Visit, event: &FoundEvent) -> Markup {
    let standing = match event.deprecated {
        false => chip(Standing::Good, "Counts"),
        true => chip(Standing::Off, "Does not count"),
    };
    let alias = event.external_customer_id.as_deref();
    html! {
        tr {
            th.id scope="row" { (event.id) }
            td { (event.event_name) }
            td {
                @match event.customer_id.map(|id| id.to_string()) {
                    Some(id) => { a href=(visit.in_account(&["customers", &id])) { (alias.unwrap_or(&id)) } }
                    None => { (alias.unwrap_or("–")) " (not created yet)" }
                }
            }
            td { (time::instant(event.timestamp)) }
            td { (standing) }
            td { dl.properties { @for (name, value) in event.properties.iter() { div { dt { (name) } dd { (shown(value)) } } } } }
        }
    }
}

fn shown(value: &accrue::usage::PropertyValue) -> String {
    use accrue::usage::PropertyValue;
    match value {
        PropertyValue::Text(text) => text.to_string(),
        PropertyValue::Number(number) => number.to_string(),
        PropertyValue::Boolean(flag) => flag.to_string(),
        PropertyValue::Null => "–".to_owned(),
    }
}
