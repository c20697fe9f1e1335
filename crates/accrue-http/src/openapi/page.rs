//! The page that describes the API to people: one file, with no request beyond it.

mod fields;
mod sections;

use std::collections::BTreeMap;

use self::sections::Section;
use super::{
    document,
    html::{self, Markup, code, element, paragraph, prose, table, text},
};
use crate::{
    operation::Operation,
    operations,
    problem::row,
    settings::Settings,
    shape::{Describe, Object, Property, Schema},
};

const STYLE: &str = include_str!("page.css");

/// Renders the page.
pub(super) fn render(base: &str, settings: &Settings) -> String {
    let mut by_resource: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
    for operation in operations::all() {
        by_resource.entry(operation.resource()).or_default().push(operation);
    }
    let mut sections = sections::all(base, settings);
    sections.extend(by_resource.into_iter().map(|(resource, operations)| {
        let operations = operations.into_iter().map(|operation| render_operation(base, operation));
        Section { title: resource.to_owned(), content: operations.collect() }
    }));
    sections.push(Section { title: "Objects".to_owned(), content: objects() });
    let links = sections.iter().map(|section| {
        element("a", &[("href", &format!("#{}", section.anchor()))], [text(&section.title)])
    });
    let head = [
        element("h1", &[], [text("The billing API of accrue")]),
        paragraph(
            "Version 1.0. `GET /openapi.json` has the same as OpenAPI 3.1, \
             `GET /openapi.json?version=3.0` for readers of OpenAPI 3.0.",
        ),
        element(
            "p",
            &[],
            [
                element("a", &[("href", "/docs/pricing")], [text("The price models")]),
                text(" explains each of them, with an example and a plot."),
            ],
        ),
        element("nav", &[], links),
    ];
    let body = head.into_iter().chain(sections.iter().map(Section::render));
    html::document("The billing API of accrue", STYLE, body.collect())
}

fn heading(words: &str) -> Markup {
    element("h4", &[], [text(words)])
}

fn render_operation(base: &str, operation: &Operation) -> Markup {
    let method = operation.method.name();
    let summary = element(
        "summary",
        &[],
        [
            element("span", &[("class", &format!("method {method}"))], [text(method)]),
            element("span", &[("class", "path")], [code(&format!("{base}{}", operation.path))]),
            element("span", &[("class", "what")], [prose(operation.summary)]),
        ],
    );
    let mut content = vec![element(
        "p",
        &[],
        [
            text("In the client libraries "),
            code(operation.name),
            text(". "),
            match operation.takes_keys() {
                true => prose("Takes an `Idempotency-Key`."),
                false => Markup::default(),
            },
        ],
    )];
    content.extend(parameters(operation));
    if let Some((schema, is_required)) = document::body(operation) {
        content.push(heading(if is_required { "Body" } else { "Body, which may be left out" }));
        content.push(fields::of(&schema));
    }
    content.push(heading(&format!("Answer: {}", operation.status)));
    content.push(match operation.answer {
        Some(answer) => fields::of(&answer()),
        None => paragraph("Has no body."),
    });
    content.push(heading("Errors"));
    content.push(errors(operation));
    element("details", &[("id", operation.id)], [summary, element("div", &[], content)])
}

fn parameters(operation: &Operation) -> Option<Markup> {
    let path = document::path_parameters(operation.path).map(|name| Property {
        name,
        description: "Which one, in the path.".to_owned(),
        schema: String::schema(),
        is_required: true,
    });
    let rows = path.chain(document::query_parameters(operation));
    let rows: Vec<_> = rows.map(|property| fields::row(&property)).collect();
    if rows.is_empty() {
        return None;
    }
    Some([heading("Parameters"), table(&["Name", "Type", ""], rows)].into_iter().collect())
}

fn errors(operation: &Operation) -> Markup {
    let kinds = document::problems(operation).into_values().flatten();
    let errors = kinds.map(|kind| {
        let link = element("a", &[("href", "#errors")], [code(row(kind).anchor)]);
        element("li", &[], [link])
    });
    element("ul", &[], errors)
}

/// The objects that operations name, each once.
fn objects() -> Markup {
    let mut named: BTreeMap<&'static str, Object> = BTreeMap::new();
    let mut collect = |schema: &Schema| {
        let mut found = Vec::new();
        schema.objects(&mut found);
        for object in found {
            named.entry(object.name).or_insert_with(|| object.clone());
        }
    };
    for operation in operations::all() {
        // What a query has is listed with the operation.
        document::query_parameters(operation).iter().for_each(|it| collect(&it.schema));
        let bodies = [operation.body, operation.answer].into_iter().flatten();
        bodies.for_each(|schema| collect(&schema()));
    }
    let objects = named.values().map(|object| {
        let anchor = fields::anchor(object);
        let title = element("h3", &[("id", &anchor)], [text(object.name)]);
        [title, prose(&object.description), fields::members(object)].into_iter().collect()
    });
    objects.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> String {
        render("/v1", &Settings::default())
    }

    #[test]
    fn each_operation_is_there_once() {
        let page = page();
        for operation in operations::all() {
            let id = format!("<details id=\"{}\">", operation.id);
            assert_eq!(page.matches(&id).count(), 1, "{operation:?}");
        }
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere_and_nothing_runs() {
        let page = page();
        for foreign in
            ["<script", "<link", "<img", "<iframe", " src=", "@import", "url(", "href=\"http"]
        {
            assert!(!page.contains(foreign), "{foreign}");
        }
    }

    #[test]
    fn every_link_leads_somewhere() {
        let page = page();
        let links = page.split("href=\"#").skip(1);
        let anchors: Vec<_> = links.filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
        assert!(anchors.len() > operations::all().count());
        for anchor in anchors {
            assert!(page.contains(&format!(" id=\"{anchor}\"")), "{anchor}");
        }
    }

    #[test]
    fn what_is_opened_is_closed() {
        let page = page();
        for name in ["details", "summary", "table", "tbody", "tr", "td", "th", "code", "p", "div"] {
            let opened = page.matches(&format!("<{name}>")).count()
                + page.matches(&format!("<{name} ")).count();
            assert_eq!(opened, page.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
