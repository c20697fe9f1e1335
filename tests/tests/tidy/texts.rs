//! Texts of sources: what stands in no file, or only where a list says so.

use crate::{
    check,
    sources::{Source, core, others_than_this, sources, word},
};

/// The most lines of a file.
const LINES: usize = 500;

/// The files that may sleep, with the reason.
const SLEEPS: &[(&str, &str)] = &[
    ("benches/src/bin/webhooks.rs", "a receiver that takes a while for its answer is measured"),
    (
        "crates/accrue-postgres/src/lane.rs",
        "a server that restarts does not say when it answers, it has to be asked again",
    ),
    (
        "crates/accrue-postgres/src/migrate.rs",
        "a database without locks does not say when another has made its tables, it has to be asked again",
    ),
    (
        "crates/accrue-postgres/tests/failing.rs",
        "sessions and servers end at moments that no commit waits for",
    ),
    (
        "crates/accrue-sled/src/open.rs",
        "sled does not say when it lets go of its directory, it has to be asked again",
    ),
    ("crates/accrue-webhooks/src/timer.rs", "it is the timer that a host hands to a worker"),
];

#[test]
fn nothing_is_left_to_do() {
    let marks = ["TODO", "FIXME", "XXX", "todo!", "unimplemented!"];
    check(others_than_this().flat_map(|file| {
        let breaches: Vec<_> = file
            .lines()
            .filter_map(|(number, line)| {
                let found = marks.iter().find(|mark| line.contains(*mark))?;
                Some(file.at(number, &format!("{found} is left")))
            })
            .collect();
        breaches
    }));
}

#[test]
fn nothing_is_unwrapped_outside_of_tests() {
    let published = sources().filter(|file| {
        (file.path.starts_with("crates/") || file.path.starts_with("examples/"))
            && !file.path.contains("/tests")
    });
    check(published.flat_map(|file| {
        let breaches: Vec<_> = file
            .code_without_tests()
            .filter(|(_, line)| line.contains(".unwrap()") || line.contains(".unwrap_err()"))
            .map(|(number, _)| file.at(number, "unwrap outside of tests"))
            .collect();
        // A suite is made of tests.
        if file.path.starts_with("crates/accrue-conformance/") { Vec::new() } else { breaches }
    }));
}

#[test]
fn no_test_is_ignored() {
    check(
        others_than_this().flat_map(|file| {
            file.breaches(&["#[ignore"], |_| "a test that nobody runs".to_owned())
        }),
    );
}

#[test]
fn nothing_sleeps() {
    let others =
        others_than_this().filter(|file| SLEEPS.iter().all(|(path, _)| *path != file.path));
    check(others.flat_map(|file| {
        file.breaches(&["sleep(", "thread::sleep"], |_| "waits for the machine's clock".to_owned())
    }));
}

#[test]
fn files_are_short() {
    check(sources().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LINES)
            .then(|| file.at(LINES, &format!("has {lines} lines, expected at most {LINES}")))
    }));
}

#[test]
fn every_bound_says_what_it_is() {
    let file = core().find(|file| file.is_in("limits")).expect("the core has limits.rs");
    let lines: Vec<_> = file.lines().collect();
    check(lines.windows(2).filter_map(|pair| {
        let [(_, before), (number, line)] = pair else { return None };
        let is_bare = line.starts_with("pub const") && !before.starts_with("///");
        is_bare.then(|| file.at(*number, "a bound without documentation"))
    }));
}

#[test]
fn tables_are_unique_and_in_order() {
    let pages = core().filter(|file| file.is_in("schema/catalogue") && !file.is_all_tests());
    let found: Vec<_> = pages.collect();
    let names = found.iter().flat_map(|page| tables_of(page).into_iter().map(|(_, name)| name));
    let mut names: Vec<_> = names.collect();
    let count = names.len();
    assert!(count > 90, "the catalogue has only {count} tables");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a table of two pages");
    check(found.iter().flat_map(|page| {
        let tables = tables_of(page);
        let pairs = tables.windows(2).filter_map(|pair| {
            let [(_, before), (number, name)] = pair else { return None };
            (before >= name).then(|| page.at(*number, &format!("{name:?} comes before {before:?}")))
        });
        pairs.collect::<Vec<_>>()
    }));
}

/// The tables of a page of the catalogue, by line.
fn tables_of(page: &Source) -> Vec<(usize, &str)> {
    page.lines()
        .skip_while(|(_, line)| *line != "tables! {")
        .take_while(|(_, line)| *line != "}")
        .filter_map(|(number, line)| {
            let row = line.strip_prefix("    ")?;
            let name = word(row);
            let begins = !name.is_empty() && row.starts_with(&format!("{name}("));
            begins.then_some((number, name))
        })
        .collect()
}
