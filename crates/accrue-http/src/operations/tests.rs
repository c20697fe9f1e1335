//! The page of the documentation that lists all operations.

use std::collections::{BTreeMap, BTreeSet};

use super::all;
use crate::{operation::Operation, shape::Schema};

/// How many operations the published API has (wire 1 to 5).
const PUBLISHED: usize = 160;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");

const HEAD: &str = "# Operations

The operations that are served over HTTP: all of the published API. `accrue-http` writes this page from its table of
operations; the names are those of the client libraries.

The last column has the fields of requests that are read and, with a value that means something, answered
404 feature-not-available, and what they wait for; and those that are stored and take no effect yet.
";

/// What stands in the description of a field between what it is and what it waits for.
const UNTIL: &str = "not available until ";

fn page() -> String {
    let mut by_resource: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
    for operation in all() {
        by_resource.entry(operation.resource()).or_default().push(operation);
    }
    let mut page = HEAD.to_owned();
    for (resource, operations) in by_resource {
        page.push_str(&format!(
            "\n## {resource}\n\n| | Path | Name | | Not available |\n|---|---|---|---|---|\n"
        ));
        for operation in operations {
            let Operation { method, path, name, summary, .. } = operation;
            let (method, missing) = (method.name(), missing(operation));
            page.push_str(&format!("| {method} | `{path}` | `{name}` | {summary} | {missing} |\n"));
        }
    }
    page
}

/// Lists the fields of a request that are not available, by what they wait for.
fn missing(operation: &Operation) -> String {
    let mut fields = BTreeMap::<String, BTreeSet<String>>::new();
    for schema in [operation.query, operation.body].into_iter().flatten() {
        find_missing(&schema(), "", &mut fields);
    }
    let waits = fields.into_iter().map(|(why, names)| {
        let names: Vec<_> = names.into_iter().collect();
        format!("{why}: {}", names.join(", "))
    });
    waits.collect::<Vec<_>>().join("; ")
}

fn find_missing(schema: &Schema, at: &str, fields: &mut BTreeMap<String, BTreeSet<String>>) {
    match schema {
        Schema::Nullable(inner) => find_missing(inner, at, fields),
        Schema::Array { items, .. } => find_missing(items, &format!("{at}[]"), fields),
        Schema::OneOf { variants, .. } => {
            variants.iter().for_each(|(_, variant)| find_missing(variant, at, fields));
        }
        Schema::Object(object) => {
            for property in &object.properties {
                let separator = if at.is_empty() { "" } else { "." };
                let name = format!("{at}{separator}{}", property.name);
                let description = &property.description;
                let why = match description.split_once(UNTIL) {
                    Some((_, until)) => {
                        let until = until.split_once('.').map_or(until, |(until, _)| until);
                        Some(format!("until {until}"))
                    }
                    None => description.contains(": stored").then(|| "stored only".to_owned()),
                };
                if let Some(why) = why {
                    fields.entry(why).or_default().insert(format!("`{name}`"));
                }
                find_missing(&property.schema, &name, fields);
            }
        }
        _ => {}
    }
}

fn served() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    all().map(|operation| (operation.method.name(), operation.path, operation.name))
}

#[test]
fn each_operation_of_the_api_is_served() {
    let mut places = BTreeSet::new();
    let mut names = BTreeSet::new();
    for (method, path, name) in served() {
        assert!(places.insert((method, path)), "{method} {path} is there twice");
        assert!(names.insert(name), "{name} is there twice");
    }
    assert_eq!(places.len(), PUBLISHED);
}

#[test]
fn an_operation_that_is_served_has_a_resource_a_summary_and_an_id_of_its_own() {
    let mut ids = BTreeSet::new();
    for operation in all() {
        assert!(ids.insert(operation.id), "{} is there twice", operation.id);
        assert_ne!(operation.resource(), "Other", "{operation:?}");
        assert!(operation.summary.ends_with('.'), "{operation:?}");
        assert_eq!(operation.answer.is_none(), operation.status == 204, "{operation:?}");
    }
}

/// `BLESS=1` writes it.
#[test]
fn the_page_of_operations_is_what_is_served() {
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(FILE, &page).unwrap();
    }
    let found = std::fs::read_to_string(FILE).unwrap();
    for (found, expected) in found.lines().zip(page.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), page.lines().count());
}
