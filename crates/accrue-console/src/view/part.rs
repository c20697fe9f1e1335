//! Parts that many pages have.

use accrue::Cursor;
use maud::{Markup, html};

use crate::site::query;

/// How something stands, said by a text and a shape, and shown by a color.
#[derive(Clone, Copy)]
pub(crate) enum Standing {
    Good,
    Wait,
    Bad,
    Off,
}

/// Shows how something stands.
pub(crate) fn chip(standing: Standing, text: &str) -> Markup {
    let (class, shape) = match standing {
        Standing::Good => ("chip good", "●"),
        Standing::Wait => ("chip wait", "◐"),
        Standing::Bad => ("chip bad", "▲"),
        Standing::Off => ("chip off", "○"),
    };
    html! { span class=(class) { span aria-hidden="true" { (shape) " " } (text) } }
}

/// Shows that there is nothing yet, and what to do about it.
pub(crate) fn empty(title: &str, text: &str) -> Markup {
    html! { div.empty { p.title { (title) } p { (text) } } }
}

/// Column of a table, by what its cells are.
#[derive(Clone, Copy)]
pub(crate) enum Column<'a> {
    Text(&'a str),
    Number(&'a str),
}

/// Shows a table with a caption; each cell of the head says what its column has. It scrolls where it is too wide.
pub(crate) fn table(caption: &str, head: &[Column<'_>], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead {
                    tr {
                        @for column in head {
                            @match column {
                                Column::Text(name) => { th scope="col" { (name) } }
                                Column::Number(name) => { th.number scope="col" { (name) } }
                            }
                        }
                    }
                }
                tbody { (rows) }
            }
        }
    }
}

/// Shows the way to the next page of a list.
pub(crate) fn next(path: &str, others: &[(&str, &str)], cursor: Option<&Cursor>) -> Markup {
    html! {
        @if let Some(cursor) = cursor {
            @let pairs = [others, &[("cursor", cursor.as_str())]].concat();
            nav.pages aria-label="Pages" { a.button href=(format!("{path}{}", query(&pairs))) { "Next page" } }
        }
    }
}

/// Shows names with what they are.
pub(crate) fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! { dl.facts { @for (name, value) in rows { div { dt { (name) } dd { (value) } } } } }
}

/// Shows one figure of an overview.
pub(crate) fn figure(name: &str, value: &str, note: &str) -> Markup {
    html! {
        div.figure { dt { (name) } dd { (value) @if !note.is_empty() { span.note { (note) } } } }
    }
}
