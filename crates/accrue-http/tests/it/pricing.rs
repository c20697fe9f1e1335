//! The page that explains each price model to people who set prices: `docs/pricing.md` with its plots, and the
//! page that is served. Every number of it comes from the API.
//!
//! A further model is an [`Entry`] of its family. `BLESS=1` writes the pages and the plots.

mod cells;
mod composites;
mod entry;
mod groups;
mod page;
mod plot;
mod scalar;

use std::{collections::BTreeSet, path::Path};

use accrue::Decimal;

use self::{
    entry::{Entry, sum},
    page::Section,
};
use crate::{price_models::Scene, support::Host};

/// The families of models, in the order of the page.
const FAMILIES: &[(&str, &str, &[Entry])] = &[
    (
        "One quantity",
        "What a metric counts is one number, and the model turns it into an amount.",
        scalar::ENTRIES,
    ),
    (
        "By properties of the events",
        "Usage is told apart by what its events say of it, such as a region. The values that have prices of \
         their own are part of the model; all others share one, or are free.",
        cells::ENTRIES,
    ),
    (
        "By groups",
        "Usage is told apart by the values of a property, such as a user or a project, whichever values there are: each is \
         rated by itself. A billing period has at most 1,000 of them.",
        groups::ENTRIES,
    ),
    (
        "By other prices",
        "What the other prices of a subscription in the same currency come to, before discounts, minimums and credits, is turned \
         into a further amount: fees and usage, each in the billing period in which it falls due. Such prices do not see each other. \
         They are billed when the period ends, and what a minimum adds counts from then on.",
        composites::ENTRIES,
    ),
];

fn entries() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().flat_map(|(_, _, entries)| *entries)
}

/// Compares a file with what it should be, or writes it.
fn check(file: &str, expect: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expect).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expect, "{file} is not what its models say: BLESS=1 writes it");
}

#[test]
fn price_models_2_every_model_that_is_served_is_explained_once() {
    let document = Host::new().get("/openapi.json").json();
    let types = document["components"]["schemas"]["ModelType"]["enum"].as_array().unwrap();
    let served: BTreeSet<_> = types.iter().map(|of| of.as_str().unwrap()).collect();
    let explained: BTreeSet<_> = entries().map(|entry| entry.model).collect();
    assert_eq!(explained, served);
    assert_eq!(entries().count(), served.len());
}

#[test]
fn price_models_3_every_example_costs_what_its_sum_says() {
    let scene = Scene::new();
    for entry in entries() {
        assert_eq!(scene.example(entry), sum(entry.sum), "{}: {}", entry.model, entry.sum);
    }
}

#[test]
fn the_page_and_its_plots_are_what_the_models_say() {
    let scene = Scene::new();
    let plots: Vec<_> = entries().map(|entry| (entry.model, scene.plot(entry))).collect();
    for (model, plot) in &plots {
        check(&format!("../../docs/pricing/{model}.svg"), &plot.file());
    }
    let mut plots = plots.iter();
    let sections: Vec<_> = FAMILIES
        .iter()
        .map(|(title, says, entries)| Section {
            title,
            says,
            entries: entries.iter().zip(plots.by_ref().map(|(_, plot)| plot)).collect(),
        })
        .collect();
    let blocks = page::blocks(&scene, &sections);
    check("../../docs/pricing.md", &page::markdown(&blocks));
    check("src/openapi/pricing.html", &page::html(&blocks));
}

#[test]
fn a_sum_is_of_products() {
    assert_eq!(sum("10 * 0.5 + 2 * 3 * 0.1 - 1"), Decimal::parse("4.6").unwrap());
}

#[test]
fn the_served_page_loads_and_runs_nothing_and_its_links_lead_somewhere() {
    let page = Host::new().call("GET", "/docs/pricing", ());
    let page = std::str::from_utf8(&page.bytes).unwrap();
    for foreign in ["<script", "<link", "<img", " src=", "@import", "url(", "href=\"http"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let links: Vec<_> = page.split("href=\"#").skip(1).collect();
    assert!(links.len() > entries().count());
    for link in links {
        let (anchor, _) = link.split_once('"').unwrap();
        assert!(page.contains(&format!(" id=\"{anchor}\"")), "{anchor}");
    }
}
