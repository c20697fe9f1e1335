//! The page of the documentation that lists all operations, served or not.

use std::collections::{BTreeMap, BTreeSet};

use super::{WAITING, Waiting, all};
use crate::operation::Operation;

/// How many operations the published API has (wire 1 to 5).
const PUBLISHED: usize = 160;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");

const HEAD: &str = "# Operations

Which operations of the API are served over HTTP, and what the others wait for. Anything that is not
served answers 404 url-not-found. `accrue-http` writes this page from its table of operations; the
names are those of the client libraries.
";

fn page() -> String {
    let mut by_resource: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
    for operation in all() {
        by_resource.entry(operation.resource()).or_default().push(operation);
    }
    let mut page = HEAD.to_owned();
    page.push_str(&format!("\n## Served: {} of {PUBLISHED}\n", all().count()));
    for (resource, operations) in by_resource {
        page.push_str(&format!("\n### {resource}\n\n| | Path | Name | |\n|---|---|---|---|\n"));
        for Operation { method, path, name, summary, .. } in operations {
            let method = method.name();
            page.push_str(&format!("| {method} | `{path}` | `{name}` | {summary} |\n"));
        }
    }
    page.push_str(&format!("\n## Waiting: {} of {PUBLISHED}\n", waiting().count()));
    for Waiting { what, operations } in WAITING {
        page.push_str(&format!("\n### For {what}\n\n| | Path | Name |\n|---|---|---|\n"));
        for (method, path, name) in *operations {
            page.push_str(&format!("| {} | `{path}` | `{name}` |\n", method.name()));
        }
    }
    page
}

fn waiting() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let rows = WAITING.iter().flat_map(|Waiting { operations, .. }| operations.iter());
    rows.map(|(method, path, name)| (method.name(), *path, *name))
}

fn served() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    all().map(|operation| (operation.method.name(), operation.path, operation.name))
}

#[test]
fn each_operation_of_the_api_is_served_or_waits() {
    let mut places = BTreeSet::new();
    let mut names = BTreeSet::new();
    for (method, path, name) in served().chain(waiting()) {
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
