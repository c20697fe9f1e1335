//! The style of the sources and of the pages, as far as a test can tell: each rule reads them as text.
//!
//! A rule that is broken says where, as `file:line: what is wrong`.

mod directions;
mod modules;
mod pages;
mod sources;
mod texts;

/// Fails with all breaches of a rule.
fn check(breaches: impl IntoIterator<Item = String>) {
    let breaches: Vec<_> = breaches.into_iter().collect();
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}
