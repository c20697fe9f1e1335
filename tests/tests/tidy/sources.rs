//! Files of the repository, with their lines, tokens and uses.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// A source file of the workspace.
pub(crate) struct Source {
    /// From the root of the repository, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn at(&self, number: usize, what: &str) -> String {
        format!("{}:{number}: {what}", self.path)
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The lines without those that are comments, and without what comments end them.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines().filter(|(_, line)| !line.trim_start().starts_with("//"));
        lines.map(|(number, line)| (number, line.split(" // ").next().unwrap_or(line)))
    }

    pub(crate) fn is_all_tests(&self) -> bool {
        ["/tests.rs", "/oracle.rs", "/sample.rs"].iter().any(|end| self.path.ends_with(end))
            || self.path.contains("/tests/")
    }

    /// The code up to the tests, which stand last.
    pub(crate) fn code_without_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_test = self.is_all_tests();
        // A module of tests that is a file of its own is one line, and code may follow it.
        let marks = |line: &str| line.trim_start().starts_with("#[cfg(test)]");
        let mut after_mark = false;
        let code = self.code().take_while(move |(_, line)| {
            let ends = after_mark && line.ends_with('{');
            after_mark = marks(line);
            !ends
        });
        code.filter(move |_| !is_test)
    }

    /// Tells whether it is of one top-level module of the core.
    pub(crate) fn is_in(&self, module: &str) -> bool {
        let Some(inner) = self.path.strip_prefix("crates/accrue/src/") else { return false };
        inner == format!("{module}.rs") || inner.starts_with(&format!("{module}/"))
    }

    pub(crate) fn breaches(&self, texts: &[&str], say: impl Fn(&str) -> String) -> Vec<String> {
        let found = self.code().filter_map(|(number, line)| {
            let text = texts.iter().find(|text| is_whole(line, text))?;
            Some(self.at(number, &say(text)))
        });
        found.collect()
    }

    /// Where the code reaches for a top-level module of the crate, unless for one name in it.
    pub(crate) fn imports_of(&self, module: &str, allowed: &str, what: &str) -> Vec<String> {
        let path = format!("crate::{module}");
        let direct = self.code().filter(|(_, line)| {
            all_after(line, &path).into_iter().any(|rest| {
                let is_longer = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
                let is_allowed = rest.strip_prefix("::").is_some_and(|name| word(name) == allowed);
                !is_longer && !is_allowed
            })
        });
        let direct: Vec<_> = direct.map(|(number, _)| number).collect();
        let grouped = self.use_paths("crate").into_iter().filter_map(|(number, found)| {
            let line = self.text.lines().nth(number - 1).unwrap_or_default();
            let is_allowed = !allowed.is_empty() && line.contains(&format!("{module}::{allowed}"));
            (found == module && !is_allowed).then_some(number)
        });
        let places: BTreeSet<_> = direct.into_iter().chain(grouped).collect();
        places.into_iter().map(|number| self.at(number, what)).collect()
    }

    /// The words and signs of the code without tests and without texts, each with its line.
    pub(crate) fn tokens(&self) -> Vec<(usize, &str)> {
        let (mut tokens, mut is_text) = (Vec::new(), false);
        for (number, mut rest) in self.code_without_tests() {
            while let Some(first) = rest.chars().next() {
                let length = match first {
                    '\\' if is_text => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
                    '\'' if !is_text && rest.starts_with("'\"'") => 3,
                    '"' => 1,
                    _ if is_text => first.len_utf8(),
                    ':' if rest.starts_with("::") => 2,
                    _ => word(rest).len().max(first.len_utf8()),
                };
                let (token, after) = rest.split_at(length);
                if token == "\"" {
                    is_text = !is_text;
                } else if !is_text && !first.is_whitespace() {
                    tokens.push((number, token));
                }
                rest = after;
            }
        }
        tokens
    }

    /// The first names of what is imported from a crate, each with its line: of `use crate::{a,
    /// b::{c, d}}` they are `a` and `b`.
    pub(crate) fn use_paths(&self, of: &str) -> Vec<(usize, String)> {
        let opening = format!("use {of}::");
        let mut paths = Vec::new();
        let mut lines = self.code();
        while let Some((number, line)) = lines.next() {
            let Some(at) = line.find(&opening) else { continue };
            let mut rest = line[at + opening.len()..].to_owned();
            if !rest.starts_with('{') {
                paths.push((number, word(&rest).to_owned()));
                continue;
            }
            let (mut number, mut depth, mut is_first) = (number, 0, false);
            loop {
                for (at, c) in rest.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' => {}
                        c if is_first && !c.is_whitespace() => {
                            paths.push((number, word(&rest[at..]).to_owned()));
                        }
                        _ => {}
                    }
                    let begins = (c == '{' || c == ',') && depth == 1;
                    is_first = begins || (is_first && c.is_whitespace());
                }
                if depth == 0 {
                    break;
                }
                let Some((next, line)) = lines.next() else { break };
                (number, rest) = (next, line.to_owned());
            }
        }
        paths
    }
}

#[test]
fn imports_are_read_from_groups() {
    let check = |text: &str, expect: &[&str]| {
        let file = Source { path: String::new(), text: text.to_owned() };
        let found: Vec<_> = file.use_paths("crate").into_iter().map(|(_, name)| name).collect();
        assert_eq!(found, expect, "{text}");
    };
    check("use crate::limits;", &["limits"]);
    check("use crate::store::{Key, Row};", &["store"]);
    check(
        "use crate::{Error, limits, store::{Key, Row}, text};",
        &["Error", "limits", "store", "text"],
    );
    check(
        "use crate::{\n    Error,\n    store::{\n        Key,\n    },\n    text,\n};",
        &["Error", "store", "text"],
    );
    check("use super::{Error, limits};", &[]);
    check("let x = 1;\nuse crate::a;\nfn f() {}\n", &["a"]);
}

/// Every source of the workspace, in order of path.
pub(crate) fn sources() -> impl Iterator<Item = Source> {
    let mut paths = Vec::new();
    for folder in ["benches", "crates", "examples", "tests"] {
        find(&root().join(folder), "rs", &mut paths);
    }
    assert!(paths.len() > 50, "found only {} sources", paths.len());
    read(paths)
}

/// Every source but those of the rules, which name what they look for.
pub(crate) fn others_than_this() -> impl Iterator<Item = Source> {
    sources().filter(|file| !file.path.starts_with("tests/tests/tidy/"))
}

pub(crate) fn core() -> impl Iterator<Item = Source> {
    sources().filter(|file| file.path.starts_with("crates/accrue/src/"))
}

pub(crate) fn read(mut paths: Vec<PathBuf>) -> impl Iterator<Item = Source> {
    paths.sort();
    paths.into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a file can be read");
        Source { path: from_root(&path), text }
    })
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn find(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() && !path.ends_with("target") {
            find(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

pub(crate) fn from_root(path: &Path) -> String {
    let path = path.strip_prefix(root()).expect("it was found under the root");
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// What follows each occurrence of a text in a line.
pub(crate) fn all_after<'a>(line: &'a str, text: &str) -> Vec<&'a str> {
    line.match_indices(text).filter_map(|(at, found)| line.get(at + found.len()..)).collect()
}

/// Tells whether a text stands in a line, not as the end or the beginning of a longer name.
pub(crate) fn is_whole(line: &str, text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(text).any(|(at, found)| {
        let before = line[..at].chars().next_back();
        let after = line[at + found.len()..].chars().next();
        let begins = !text.starts_with(is_name) || !before.is_some_and(is_name);
        let ends = !text.ends_with(is_name) || !after.is_some_and(is_name);
        begins && ends
    })
}

/// The name that a text begins with.
pub(crate) fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}
