//! Pages: clauses that are cited, decisions, and what is written for readers.

use std::{collections::BTreeSet, fs};

use crate::{
    check,
    sources::{Source, all_after, find, others_than_this, read, root, sources},
};

/// The pages of `docs/spec` that have clauses: the name of the file, what stands before the number
/// where one is cited, and before it in the name of a test.
const PAGES: &[(&str, &str, &str)] = &[
    ("billing-api", "§", "s"),
    ("wire", "wire ", "wire_"),
    ("subscriptions", "subscriptions ", "subscriptions_"),
    ("invoicing", "invoicing ", "invoicing_"),
    ("price-models", "price models ", "price_models_"),
    ("clients", "published clients ", "clients_"),
];

/// What a line of a comment begins with.
const COMMENT: [char; 3] = [' ', '/', '!'];

#[test]
fn clauses_that_are_cited_exist() {
    let clauses = clauses();
    check(others_than_this().chain(documents()).flat_map(|file| {
        let lines: Vec<_> = file.lines().collect();
        let breaches: Vec<_> = lines
            .iter()
            .enumerate()
            .flat_map(|(index, (number, line))| {
                // A number may stand at the begin of the next line.
                let next = lines.get(index + 1).map(|(_, next)| next.trim_start_matches(COMMENT));
                let line = format!("{line} {}", next.and_then(clause).unwrap_or_default());
                let cited = citations(&line).into_iter().chain(own_citations(&file, &line));
                let unknown = cited.filter(|cited| !clauses.contains(cited));
                let say = |(page, clause)| format!("{page}.md has no clause {clause}");
                unknown.map(|cited| file.at(*number, &say(cited))).collect::<BTreeSet<_>>()
            })
            .collect();
        breaches
    }));
}

#[test]
fn tests_that_cite_a_clause_name_one_that_exists() {
    let clauses = clauses();
    check(others_than_this().flat_map(|file| {
        let breaches: Vec<_> = file
            .lines()
            .filter_map(|(number, line)| {
                let name = line.trim_start().strip_prefix("fn ")?;
                let (page, rest) = PAGES.iter().find_map(|(page, _, before)| {
                    let rest = name.strip_prefix(before)?;
                    rest.starts_with(|c: char| c.is_ascii_digit()).then_some((*page, rest))
                })?;
                let numbers: Vec<_> =
                    rest.split('_').take_while(|part| part.parse::<u8>().is_ok()).collect();
                let cited = (page.to_owned(), numbers.join("."));
                let is_unknown = !numbers.is_empty() && !clauses.contains(&cited);
                is_unknown.then(|| file.at(number, &format!("{page}.md has no {}", cited.1)))
            })
            .collect();
        breaches
    }));
}

/// The pages are for users of the project: how it came to be is no business of theirs.
#[test]
fn the_specification_names_nothing_that_is_not_in_the_repository() {
    let names = ["DESIGN", "STYLE", "shared/", "prototype"];
    check(specification().flat_map(|file| {
        let breaches: Vec<_> = file
            .lines()
            .filter_map(|(number, line)| {
                let found = names.iter().find(|name| line.contains(*name))?;
                Some(file.at(number, &format!("names {found:?}")))
            })
            .collect();
        breaches
    }));
}

#[test]
fn decisions_have_their_four_headings_in_order() {
    let expected = ["## Context", "## Options", "## Choice", "## What would change our mind"];
    check(decisions().filter_map(|Source { path, text }| {
        let headings: Vec<_> = text.lines().filter(|line| line.starts_with("## ")).collect();
        let is_titled = text.starts_with("# ");
        (headings != expected || !is_titled)
            .then(|| format!("{path}:1: has {headings:?}, expected {expected:?} under a title"))
    }));
}

#[test]
fn the_readme_of_the_tests_names_every_suite() {
    let readme = fs::read_to_string(root().join("tests/README.md")).unwrap_or_default();
    let suites = sources().filter_map(|file| {
        let inner = file.path.strip_prefix("tests/tests/")?;
        let name = inner.strip_prefix("it/").unwrap_or(inner);
        name.split(['/', '.']).next().map(str::to_owned)
    });
    let suites: BTreeSet<_> = suites.filter(|name| name != "main").collect();
    let missing = suites.into_iter().filter(|name| !readme.contains(&format!("`{name}`")));
    check(missing.map(|name| format!("tests/README.md does not name the suite {name}")));
}

#[test]
fn decisions_are_in_the_index() {
    let index = fs::read_to_string(root().join("docs/decisions/README.md")).unwrap_or_default();
    check(decisions().filter_map(|Source { path, text }| {
        let title = text.lines().next()?.trim_start_matches("# ").to_owned();
        let name = path.rsplit('/').next()?;
        let entry = format!("[{title}]({name})");
        (!index.contains(&entry)).then(|| format!("{path}:1: the index has no {entry}"))
    }));
}

/// The pages of decisions, without their index.
fn decisions() -> impl Iterator<Item = Source> {
    let mut paths = Vec::new();
    find(&root().join("docs/decisions"), "md", &mut paths);
    paths.retain(|path| !path.ends_with("README.md"));
    read(paths)
}

/// The pages and the data of the specification.
fn specification() -> impl Iterator<Item = Source> {
    let mut paths = Vec::new();
    for extension in ["md", "jsonl", "tsv"] {
        find(&root().join("docs/spec"), extension, &mut paths);
    }
    assert!(paths.len() > PAGES.len(), "found only {} files of the specification", paths.len());
    read(paths)
}

/// Every text for readers: the pages of `docs`, and those beside the sources.
fn documents() -> impl Iterator<Item = Source> {
    let own = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md"];
    let mut paths: Vec<_> = own.iter().map(|name| root().join(name)).collect();
    for folder in ["benches", "docs", "examples"] {
        find(&root().join(folder), "md", &mut paths);
    }
    read(paths)
}

/// The clauses of all pages, each with its page: the numbers of headings, and of the items of the
/// lists under them.
fn clauses() -> BTreeSet<(String, String)> {
    let mut clauses = BTreeSet::new();
    for (page, ..) in PAGES {
        let path = root().join(format!("docs/spec/{page}.md"));
        let text = fs::read_to_string(path).expect("a page of the specification can be read");
        let mut heading = "";
        for line in text.lines() {
            if line.starts_with('#') {
                heading = clause(line.trim_start_matches(['#', ' '])).unwrap_or_default();
                clauses.insert(((*page).to_owned(), heading.to_owned()));
            } else if let Some((item, _)) = line.split_once(". ")
                && item.parse::<u8>().is_ok()
            {
                clauses.insert(((*page).to_owned(), format!("{heading}.{item}")));
            }
        }
    }
    clauses
}

/// The clauses that a text cites, each with its page: `§4.5.7`, `wire 4.4`, `wire 3.2, 3.3`.
fn citations(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (page, before, _) in PAGES {
        for (at, _) in text.match_indices(before) {
            let start = text.get(..at).unwrap_or_default();
            // `wire §4.4` is of the wire; `hardwire 4` is not.
            let is_other = match *before {
                "§" => PAGES.iter().any(|(_, word, _)| start.ends_with(word)),
                _ => start.ends_with(|c: char| c.is_alphanumeric() || c == '_'),
            };
            let rest = text.get(at + before.len()..).unwrap_or_default();
            if !is_other {
                let listed = listed_clauses(rest.trim_start_matches('§'));
                found.extend(listed.into_iter().map(|clause| ((*page).to_owned(), clause)));
            }
        }
    }
    found
}

/// What a page of the specification cites of itself: `section 4.4`, `(4.4)`.
fn own_citations(file: &Source, line: &str) -> Vec<(String, String)> {
    let page = file.path.strip_prefix("docs/spec/").and_then(|name| name.strip_suffix(".md"));
    let Some((page, ..)) = PAGES.iter().find(|(name, ..)| Some(*name) == page) else {
        return Vec::new();
    };
    let named = ["section ", "sections "].iter().flat_map(|word| all_after(line, word));
    let named = named.flat_map(listed_clauses);
    let in_brackets = all_after(line, "(").into_iter().filter_map(|rest| {
        let (inner, _) = rest.split_once(')')?;
        (inner.contains('.') && clause(inner) == Some(inner)).then(|| inner.to_owned())
    });
    named.chain(in_brackets).map(|clause| ((*page).to_owned(), clause)).collect()
}

/// The clauses that a text begins with: of `3.2, 3.3` both, of `3.2 to 3.5` the first and the last.
fn listed_clauses(text: &str) -> Vec<String> {
    let mut found: Vec<String> = clause(text).map(str::to_owned).into_iter().collect();
    let mut rest = found.first().and_then(|first| text.get(first.len()..)).unwrap_or_default();
    while let Some(next) =
        [", ", " and ", " to "].iter().find_map(|between| clause(rest.strip_prefix(between)?))
        && next.contains('.')
    {
        found.push(next.to_owned());
        rest = rest.split_once(next).map_or("", |(_, rest)| rest);
    }
    found
}

/// The number of a clause that a text begins with; none where the text is about the sign itself.
fn clause(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let clause = text.get(..end)?.trim_end_matches('.');
    (!clause.is_empty()).then_some(clause)
}

#[test]
fn citations_are_read_from_texts() {
    let check = |text: &str, expect: &[&str]| {
        let found: Vec<_> =
            citations(text).iter().map(|(page, clause)| format!("{page} {clause}")).collect();
        assert_eq!(found, expect, "{text}");
    };
    check("as it says (§4.5.7).", &["billing-api 4.5.7"]);
    check("(wire 3.2, 3.3) and wire §6.8", &["wire 3.2", "wire 3.3", "wire 6.8"]);
    check("wire 1 to 5, invoicing 8.1 to 8.4.", &["wire 1", "invoicing 8.1", "invoicing 8.4"]);
    check("price models 7.5 of 12 subscriptions", &["price-models 7.5"]);
    check("the wire has 36, a tripwire 4", &[]);
}
