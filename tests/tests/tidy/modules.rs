//! Modules of a crate and what they use of each other, read from their sources.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Source, sources, word};

/// The modules of a crate that are files, by their paths: `""` is the root, `shape::read` a file of a
/// folder.
pub(crate) struct Modules(BTreeMap<String, Module>);

pub(crate) struct Module {
    pub(crate) file: Source,
    pub(crate) imports: Vec<Import>,
    /// The other paths in its code that begin with a module.
    pub(crate) paths: Vec<(usize, Vec<String>)>,
}

/// A name that a `use` brings into a module, and where it is from.
pub(crate) struct Import {
    pub(crate) line: usize,
    pub(crate) name: String,
    pub(crate) path: Vec<String>,
    pub(crate) is_exported: bool,
}

/// That a file uses what another declares, with the place of it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) place: String,
}

impl Modules {
    /// Returns their paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub(crate) fn of(folder: &str) -> Self {
        let files = sources().filter_map(|file| {
            let inner = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
            let path = if inner == "lib" { String::new() } else { inner.replace('/', "::") };
            (!file.is_all_tests()).then_some((path, file))
        });
        Self::read(files.collect())
    }

    pub(crate) fn read(files: BTreeMap<String, Source>) -> Self {
        let paths: BTreeSet<_> = files.keys().cloned().collect();
        let modules = files.into_iter().map(|(path, file)| {
            let is_child = |name: &str| paths.contains(&join(&path, name));
            let module = Module::read(file, is_child);
            (path, module)
        });
        Self(modules.collect())
    }

    /// What files use of each other. A file uses the one that declares what it names, whichever module
    /// it is reached through: `mod` and `pub use` tell where something is found, and use nothing.
    pub(crate) fn uses(&self) -> Vec<Use> {
        let mut uses = BTreeSet::new();
        for (from, module) in &self.0 {
            let imports = module.imports.iter().filter(|import| !import.is_exported);
            let imports = imports.map(|import| (import.line, &import.path));
            let paths = module.paths.iter().map(|(line, path)| (*line, path));
            for (line, path) in imports.chain(paths) {
                let to = self.declares(from, path).filter(|to| to != from);
                let place = format!("{}:{line}", module.file.path);
                uses.extend(to.map(|to| Use { from: from.clone(), to, place }));
            }
        }
        uses.into_iter().collect()
    }

    /// Finds the module that declares what a path names in a module: none where another crate does.
    pub(crate) fn declares(&self, within: &str, path: &[String]) -> Option<String> {
        let mut found = within.to_owned();
        for (index, name) in path.iter().enumerate() {
            let rest = path.get(index + 1..).unwrap_or_default();
            let child = join(&found, name);
            match name.as_str() {
                "crate" => found = String::new(),
                "self" => {}
                "super" => found = parent(&found).to_owned(),
                _ if self.0.contains_key(&child) => found = child,
                // The first name of a path is of another crate, unless it is the whole path.
                _ if index == 0 => return rest.is_empty().then_some(found),
                _ => {
                    let imports = &self.0.get(&found)?.imports;
                    let Some(import) = imports.iter().find(|import| import.name == *name) else {
                        return Some(found);
                    };
                    return self.declares(&found, &[&import.path, rest].concat());
                }
            }
        }
        Some(found)
    }

    /// The modules in the order in which the map of `lib.rs` names them: each at the head of an item.
    pub(crate) fn map(&self) -> Vec<String> {
        let root = &self.0.get("").expect("a crate has a root").file;
        let lines = root.text.lines().skip_while(|line| !line.starts_with("//! # The map"));
        let items = lines.skip(1).take_while(|line| !line.starts_with("//! # "));
        let heads = items.filter_map(|line| line.strip_prefix("//! - ")?.split(": ").next());
        let names = heads.flat_map(|head| head.split('`').skip(1).step_by(2));
        names.filter(|name| self.0.contains_key(*name)).map(str::to_owned).collect()
    }
}

impl Module {
    pub(crate) fn read(file: Source, is_child: impl Fn(&str) -> bool) -> Self {
        let (mut imports, mut paths) = (Vec::new(), Vec::new());
        let tokens = file.tokens();
        let token = |at: usize| tokens.get(at).map_or("", |(_, token)| *token);
        let mut at = 0;
        while let Some((line, first)) = tokens.get(at) {
            let before = at.checked_sub(1).map_or("", token);
            let begins = ["crate", "self", "super"].contains(first) || is_child(first);
            if *first == "use" {
                let is_exported = ["pub", ")"].contains(&before);
                at += 1;
                for (line, path, name) in read_tree(&tokens, &mut at, &[]) {
                    imports.push(Import { line, name, path, is_exported });
                }
            } else if begins && before != "::" && token(at + 1) == "::" {
                let mut path = vec![(*first).to_owned()];
                while token(at + 1) == "::" && !word(token(at + 2)).is_empty() {
                    path.push(token(at + 2).to_owned());
                    at += 2;
                }
                paths.push((*line, path));
            }
            at += 1;
        }
        Self { file, imports, paths }
    }
}

/// A module, what it uses, what that uses, and so on.
pub(crate) fn reachable<'a>(module: &'a str, uses: &'a [Use]) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::from([module]);
    loop {
        let before = found.len();
        for used in uses {
            if found.contains(&*used.from) {
                found.insert(&used.to);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Reads the tree of a `use`: each path with its line, and the name that it has from then on.
pub(crate) fn read_tree(
    tokens: &[(usize, &str)],
    at: &mut usize,
    before: &[String],
) -> Vec<(usize, Vec<String>, String)> {
    let (mut path, mut name, mut found) = (before.to_vec(), None, Vec::new());
    while let Some((line, token)) = tokens.get(*at) {
        match *token {
            "{" => {
                *at += 1;
                while tokens.get(*at).is_some_and(|(_, token)| *token != "}") {
                    found.extend(read_tree(tokens, at, &path));
                    *at += usize::from(tokens.get(*at).is_some_and(|(_, token)| *token == ","));
                }
                *at += 1;
                return found;
            }
            "," | "}" | ";" => {
                // `a::{self}` names `a`.
                path.pop_if(|last| last == "self" && !before.is_empty());
                let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
                found.push((*line, path, name));
                return found;
            }
            "as" => {
                *at += 1;
                name = tokens.get(*at).map(|(_, token)| (*token).to_owned());
            }
            "::" => {}
            word => path.push(word.to_owned()),
        }
        *at += 1;
    }
    found
}

/// The path of a module of a module.
pub(crate) fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

pub(crate) fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// The top-level module that a module is, or is in.
pub(crate) fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or_default()
}

pub(crate) fn is_group(text: &str) -> bool {
    text.starts_with('{')
}

#[test]
fn uses_lead_to_the_file_that_declares() {
    let check = |text: &str, expect: &[&str]| {
        let files = [
            ("", "mod a; mod b; pub use self::a::Inner;"),
            ("a", "mod inner; pub(crate) use self::inner::{Inner, other as Other};"),
            ("a::inner", "struct Inner; use crate::b;"),
            ("b", text),
        ];
        let files = files.map(|(path, text)| {
            let file = Source { path: path.to_owned(), text: text.to_owned() };
            (path.to_owned(), file)
        });
        let uses = Modules::read(files.into()).uses().into_iter();
        let found: Vec<_> = uses.filter_map(|used| (used.from == "b").then_some(used.to)).collect();
        assert_eq!(found, expect, "{text}");
    };
    check("use crate::a;", &["a"]);
    check("use crate::{a::{self, Inner}};", &["a", "a::inner"]);
    check("use super::Inner;", &["a::inner"]);
    check("fn f() { crate::a::Other::new() }", &["a::inner"]);
    check("fn f() { $crate::a::g() }", &["a"]);
    check("use std::fmt; use accrue::a; fn f() { fmt::a() }", &[]);
    check("const A: &str = \"\\\"in use, crate::a::b\"; // crate::a::b", &[]);
    check("#[cfg(test)]\nmod tests {\nuse crate::a;\n}", &[]);
}
