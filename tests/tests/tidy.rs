//! The style of the sources, as far as a test can tell: each rule reads them as text.
//!
//! A rule that is broken says where, as `file:line: what is wrong`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The modules of the core that say what billing is: they know no store and no engine, and wait for
/// nothing.
const DOMAIN: &[&str] = &[
    "account",
    "alert",
    "api_key",
    "carried",
    "cost",
    "credit",
    "currency",
    "customer",
    "decimal",
    "entropy",
    "error",
    "event",
    "expression",
    "fraction",
    "hex",
    "id",
    "idempotency",
    "item",
    "limits",
    "metadata",
    "meter",
    "metric",
    "page",
    "period",
    "plan",
    "price",
    "rating",
    "subscription",
    "text",
    "time",
    "usage",
    "backfill",
    "webhook",
    "related",
    "zone",
];

/// The pages of `docs/spec` that have clauses: the name of the file, what stands before the number
/// where one is cited, and before it in the name of a test.
const PAGES: &[(&str, &str, &str)] = &[
    ("billing-api", "§", "s"),
    ("wire", "wire ", "wire_"),
    ("subscriptions", "subscriptions ", "subscriptions_"),
    ("invoicing", "invoicing ", "invoicing_"),
    ("price-models", "price models ", "price_models_"),
];

/// What a line of a comment begins with.
const COMMENT: [char; 3] = [' ', '/', '!'];

/// The most lines of a file.
const LINES: usize = 500;

/// The files that are longer, with the reason.
const LONG: &[(&str, &str)] =
    &[("tests/tests/tidy.rs", "the list of rules is one page on purpose")];

/// The files that may sleep, with the reason.
const SLEEPS: &[(&str, &str)] = &[(
    "crates/accrue-sled/src/open.rs",
    "sled does not say when it lets go of its directory, it has to be asked again",
)];

/// This file names what it looks for.
const THIS_FILE: &str = "tests/tests/tidy.rs";

// Directions.

#[test]
fn the_domain_knows_no_store() {
    check(domain().flat_map(|file| {
        // An error says that a store failed, and keeps why.
        let allowed = if file.path.ends_with("src/error.rs") { "StoreError" } else { "" };
        file.imports_of("store", allowed, "the domain imports a store")
    }));
}

#[test]
fn the_domain_knows_no_schema() {
    check(domain().flat_map(|file| file.imports_of("schema", "", "the domain imports the schema")));
}

#[test]
fn the_domain_knows_no_engine() {
    check(domain().flat_map(|file| file.imports_of("engine", "", "the domain imports the engine")));
    // What `lib.rs` exports of the engine. Documentation may name it.
    let handles = ["Account", "Billing", "Call", "KeyedCall", "Tick"];
    check(domain().flat_map(|file| {
        let imported = file.use_paths("crate").into_iter();
        let handles = imported.filter(|(_, name)| handles.contains(&name.as_str()));
        let say = |(number, name)| file.at(number, &format!("the domain imports {name}"));
        handles.map(say).collect::<Vec<_>>()
    }));
}

/// The modules of the domain that are read one after the other.
const ORDER: &[&str] = &[
    "event",
    "expression",
    "account",
    "customer",
    "item",
    "metric",
    "meter",
    "price",
    "plan",
    "subscription",
    "usage",
    "backfill",
    "rating",
    "cost",
    "credit",
    "alert",
    "period",
    "webhook",
];

/// Which modules of the domain use which is the order in which they are read.
#[test]
fn the_domain_is_read_from_words_to_messages() {
    check(core().filter(|file| !file.is_all_tests()).flat_map(|file| {
        let place = ORDER.iter().position(|module| file.is_in(module));
        let later = place.map_or(&[][..], |place| ORDER.get(place + 1..).unwrap_or_default());
        let of = place.and_then(|place| ORDER.get(place)).copied().unwrap_or_default();
        let say = |later: &&str| format!("{of} is read before {later}, which it imports");
        let breaches = later.iter().flat_map(|later| file.imports_of(later, "", &say(later)));
        breaches.collect::<Vec<_>>()
    }));
}

/// The rooms of the engine: each may use and call those before it.
const ROOMS: [&str; 4] = ["kernel", "rows", "time", "commands"];

/// What the engine does are functions: whoever calls one names it, so that uses are calls too.
#[test]
fn the_engine_is_used_downwards() {
    let uses = Modules::of("crates/accrue/src/").uses();
    let room = |module: &str| {
        let room = module.strip_prefix("engine::").map(word)?;
        ROOMS.iter().position(|of| *of == room)
    };
    let upwards = uses.iter().filter(|used| room(&used.from) < room(&used.to));
    let inner = upwards.filter(|used| room(&used.from).is_some());
    check(
        inner.map(|used| {
            format!("{}: {} uses {}, which is above it", used.place, used.from, used.to)
        }),
    );
}

#[test]
fn only_the_kernel_gives_a_transaction_methods() {
    check(engine().filter(|(place, _)| ROOMS[*place] != "kernel").flat_map(|(_, file)| {
        let is_impl = |line: &str| line.starts_with("impl") && line.contains(" Transaction<");
        let lines = file.code().filter(|(_, line)| is_impl(line));
        let lines: Vec<_> = lines.map(|(number, _)| number).collect();
        lines.into_iter().map(|at| file.at(at, "a method of a transaction")).collect::<Vec<_>>()
    }));
}

#[test]
fn no_files_of_the_engine_use_each_other_in_a_circle() {
    let uses = Modules::of("crates/accrue/src/").uses();
    let is_inner = |module: &str| module.starts_with("engine::");
    let uses: Vec<_> =
        uses.into_iter().filter(|of| is_inner(&of.from) && is_inner(&of.to)).collect();
    let returns = uses.iter().filter(|used| reachable(&used.to, &uses).contains(&*used.from));
    let say = |used: &Use| format!("{}: {} uses {}, in a circle", used.place, used.from, used.to);
    check(returns.map(say));
}

#[test]
fn the_page_on_architecture_names_the_modules_and_rooms_in_order() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("the page");
    let line = |names: Vec<&str>| {
        names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → ")
    };
    let page = page.replace('\n', " ");
    assert!(page.contains(&line(ORDER.to_vec())), "the modules of the domain");
    assert!(page.contains(&line(ROOMS.into_iter().rev().collect())), "the rooms of the engine");
}

/// Each file of the way is entered by a function of it, which a file before it calls, or which it hands to the
/// table of operations.
#[test]
fn the_way_of_an_event_is_as_the_page_on_architecture_says() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("the page");
    let (_, way) = page.split_once("## The way of an event").expect("the way of an event");
    let rows = way.lines().filter(|line| line.starts_with("| ") && line.contains(".rs`"));
    let way: Vec<_> = rows
        .map(|line| {
            let cells: Vec<_> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let text = fs::read_to_string(root().join(cells[2])).expect(cells[2]);
            (cells[2].to_owned(), cells[3].to_owned(), text)
        })
        .collect();
    assert!((6..=12).contains(&way.len()), "{} files", way.len());
    for (index, (file, function, text)) in way.iter().enumerate() {
        let is_there =
            text.contains(&format!("fn {function}(")) || text.contains(&format!("fn {function}<"));
        assert!(is_there, "{file} has no function {function}");
        let call = format!("{function}(");
        let mut before = way[..index].iter();
        let is_handed = text.contains(&format!("Box::pin({call}"));
        let is_called = index == 0 || is_handed || before.any(|(_, _, text)| text.contains(&call));
        assert!(is_called, "no file before it calls {function} of {file}");
    }
}

/// It knows who is locked and whose deadline it is by their ids.
#[test]
fn the_kernel_knows_no_domain() {
    let kernel = core().filter(|file| file.path.contains("src/engine/kernel"));
    check(kernel.flat_map(|file| {
        let say = |module: &str| format!("the kernel imports {module}");
        let modules = ORDER.iter().flat_map(|module| file.imports_of(module, "", &say(module)));
        modules.collect::<Vec<_>>()
    }));
}

#[test]
fn every_module_of_the_core_is_of_the_domain_or_listed_here() {
    let others = ["engine", "lib", "pace", "schema", "store", "system"];
    check(core().filter_map(|file| {
        let inner = file.path.strip_prefix("crates/accrue/src/")?;
        let module = inner.split('/').next()?.trim_end_matches(".rs");
        let is_known = DOMAIN.contains(&module) || others.contains(&module);
        (!is_known).then(|| format!("{}: the module {module} is not listed in tidy", file.path))
    }));
}

#[test]
fn the_domain_waits_for_nothing() {
    check(domain().flat_map(|file| {
        file.breaches(&["async fn", "async move", "async {", ".await", "Future"], |found| {
            format!("the domain has {found:?}")
        })
    }));
}

#[test]
fn the_store_knows_no_domain() {
    let others = DOMAIN.iter().filter(|module| **module != "limits").copied();
    let others: Vec<_> = others.chain(["engine", "schema", "system"]).collect();
    let in_store = core().filter(|file| file.is_in("store"));
    check(in_store.flat_map(|file| {
        let say = |module| format!("the store imports the module {module}");
        let modules = others.iter().flat_map(|module| file.imports_of(module, "", &say(module)));
        // What the root of the crate exports is the domain's or the engine's.
        let imported = file.use_paths("crate").into_iter();
        let words = imported.filter(|(_, name)| name.starts_with(char::is_uppercase));
        let words =
            words.map(|(number, name)| file.at(number, &format!("the store imports {name}")));
        modules.chain(words).collect::<Vec<_>>()
    }));
}

#[test]
fn the_schema_knows_no_engine() {
    let schema = core().filter(|file| file.is_in("schema"));
    check(schema.flat_map(|file| file.imports_of("engine", "", "the schema imports the engine")));
}

#[test]
fn only_the_schema_builds_keys_and_documents() {
    let others = core().filter(|file| !file.is_in("schema") && !file.is_in("store"));
    check(others.flat_map(|file| {
        let built = ["Key::new(", "Document::trusted(", "Document::parse(", "Table::new("];
        file.breaches(&built, |found| format!("{found:?} outside of the schema"))
    }));
}

#[test]
fn only_the_rows_name_tables() {
    let schema = core().filter(|file| file.is_in("schema") && !file.is_all_tests());
    let others = schema.filter(|file| !file.path.ends_with("schema/tables.rs"));
    check(others.flat_map(|file| {
        file.breaches(&["table::", "Table::new("], |found| format!("{found:?} beside the rows"))
    }));
}

#[test]
fn backends_know_the_store_and_the_limits() {
    let backends = sources().filter(|file| {
        let backends = ["accrue-durable", "accrue-fjall", "accrue-sled"];
        let of = |backend: &&str| file.path.starts_with(&format!("crates/{backend}/src"));
        backends.iter().any(of) && !file.path.contains("/tests")
    });
    check(backends.flat_map(|file| {
        let lines = file.code().filter_map(|(number, line)| {
            let named = all_after(line, "accrue::")
                .into_iter()
                .any(|rest| !["store", "limits"].contains(&word(rest)) && !is_group(rest));
            named.then(|| file.at(number, "a backend names more than accrue's store and limits"))
        });
        let groups = file.use_paths("accrue").into_iter().filter_map(|(number, module)| {
            let is_allowed = ["store", "limits"].contains(&module.as_str());
            (!is_allowed).then(|| file.at(number, "a backend imports more than store and limits"))
        });
        lines.chain(groups).collect::<BTreeSet<_>>()
    }));
}

#[test]
fn the_core_asks_the_machine_for_nothing() {
    let asks = [
        "SystemTime::now",
        "Instant::now",
        "std::env",
        "env::var",
        "std::fs",
        "fs::read",
        "std::net",
        "std::process",
        "thread::spawn",
        "thread::sleep",
        "thread::Builder",
        "Timestamp::now(",
        "Zoned::now(",
        "getrandom",
        "TimeZone::system",
        "TimeZone::get(",
        "println!",
        "eprintln!",
    ];
    let others = core().filter(|file| !file.is_in("system"));
    check(others.flat_map(|file| {
        let breaches = file.code_without_tests().filter_map(|(number, line)| {
            let found = asks.iter().find(|ask| is_whole(line, ask))?;
            Some(file.at(number, &format!("{found:?} outside of system.rs")))
        });
        breaches.collect::<Vec<_>>()
    }));
}

#[test]
fn the_core_knows_no_http() {
    let header_names = [
        "\"idempotency-key\"",
        "\"idempotent-replayed\"",
        "\"transient-error\"",
        "\"retry-after\"",
        "\"x-should-retry\"",
        "\"authorization\"",
        "\"content-type\"",
        "\"webhook-id\"",
        "statuscode",
        "status_code",
        "headername",
        "headervalue",
        "http::",
        // A JSON pointer.
        "\"/",
    ];
    check(core().filter(|file| !file.is_all_tests()).flat_map(|file| {
        let breaches: Vec<_> = file
            .code()
            .filter_map(|(number, line)| {
                let line = line.to_lowercase();
                let found = header_names.iter().find(|name| line.contains(*name))?;
                Some(file.at(number, &format!("{found:?} belongs to the adapter of HTTP")))
            })
            .collect();
        breaches
    }));
}

#[test]
fn the_core_has_no_status_codes() {
    let codes = ["400", "401", "404", "409", "413", "429", "500", "503"];
    // These are bounds with a name.
    let others = core().filter(|file| !file.is_in("limits"));
    check(others.flat_map(|file| {
        let own = file.code_without_tests();
        let breaches: Vec<_> = own
            .filter_map(|(number, line)| {
                let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
                let found = words.find(|word| codes.contains(word))?;
                Some(file.at(number, &format!("{found} looks like a status code")))
            })
            .collect();
        breaches
    }));
}

/// The map in `lib.rs` is the order of the modules of the adapter, so none of them use each other in a
/// circle.
#[test]
fn the_adapter_is_read_in_the_order_of_its_map() {
    let adapter = Modules::of("crates/accrue-http/src/");
    let order = adapter.map();
    let place = |module: &str| order.iter().position(|listed| listed == top(module));
    let missing = adapter.0.keys().filter(|module| !module.is_empty() && place(module).is_none());
    check(missing.map(|module| format!("the map of accrue-http does not list {}", top(module))));
    let uses = adapter.uses().into_iter().filter(|used| top(&used.from) != top(&used.to));
    let against = uses.filter(|used| place(&used.from) <= place(&used.to));
    check(against.map(|used| {
        let (from, to) = (top(&used.from), top(&used.to));
        format!("{}: {from} is read before {to}, which it uses", used.place)
    }));
}

/// Within a folder too, so a file uses its parent's own items only where the parent uses none of the
/// file's: what both need stands in a third file.
#[test]
fn no_files_of_the_adapter_use_each_other_in_a_circle() {
    let uses = Modules::of("crates/accrue-http/src/").uses();
    let returns = uses.iter().filter(|used| reachable(&used.to, &uses).contains(&*used.from));
    let say = |used: &Use| format!("{}: {} uses {}, in a circle", used.place, used.from, used.to);
    check(returns.map(say));
}

// Text.

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
        let is_long = lines > LINES && LONG.iter().all(|(path, _)| *path != file.path);
        is_long.then(|| file.at(LINES, &format!("has {lines} lines, expected at most {LINES}")))
    }));
}

#[test]
fn long_files_are_listed_only_while_they_are_long() {
    check(LONG.iter().filter_map(|(path, _)| {
        let text = fs::read_to_string(root().join(path)).unwrap_or_default();
        let is_long = text.lines().count() > LINES;
        (!is_long).then(|| format!("{path}:1: is listed as long, and is not"))
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
    let file = core().find(|file| file.path.ends_with("src/schema.rs")).expect("the catalogue");
    let tables: Vec<(usize, &str)> = file
        .lines()
        .skip_while(|(_, line)| *line != "tables! {")
        .take_while(|(_, line)| *line != "}")
        .filter_map(|(number, line)| {
            let row = line.strip_prefix("    ")?;
            let name = word(row);
            let begins = !name.is_empty() && row.starts_with(&format!("{name}("));
            begins.then_some((number, name))
        })
        .collect();
    assert!(tables.len() > 20, "the catalogue has only {} tables", tables.len());
    check(tables.windows(2).filter_map(|pair| {
        let [(_, before), (number, name)] = pair else { return None };
        (before >= name).then(|| file.at(*number, &format!("{name:?} comes before {before:?}")))
    }));
}

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
    check(decisions().filter_map(|(path, text)| {
        let headings: Vec<_> = text.lines().filter(|line| line.starts_with("## ")).collect();
        let is_titled = text.starts_with("# ");
        (headings != expected || !is_titled)
            .then(|| format!("{path}:1: has {headings:?}, expected {expected:?} under a title"))
    }));
}

#[test]
fn the_readme_of_the_tests_names_every_suite() {
    let readme = fs::read_to_string(root().join("tests/README.md")).unwrap_or_default();
    let mut suites = Vec::new();
    find(&root().join("tests/tests"), "rs", &mut suites);
    let names = suites.iter().filter_map(|path| path.file_stem()?.to_str());
    let missing = names.filter(|name| !readme.contains(&format!("`{name}`")));
    check(missing.map(|name| format!("tests/README.md does not name the suite {name}")));
}

#[test]
fn decisions_are_in_the_index() {
    let index = fs::read_to_string(root().join("docs/decisions/README.md")).unwrap_or_default();
    check(decisions().filter_map(|(path, text)| {
        let title = text.lines().next()?.trim_start_matches("# ").to_owned();
        let name = path.rsplit('/').next()?;
        let entry = format!("[{title}]({name})");
        (!index.contains(&entry)).then(|| format!("{path}:1: the index has no {entry}"))
    }));
}

// Reading.

/// A source file of the workspace.
struct Source {
    /// From the root of the repository, with `/` between its parts.
    path: String,
    text: String,
}

impl Source {
    fn at(&self, number: usize, what: &str) -> String {
        format!("{}:{number}: {what}", self.path)
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The lines without those that are comments, and without what comments end them.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines().filter(|(_, line)| !line.trim_start().starts_with("//"));
        lines.map(|(number, line)| (number, line.split(" // ").next().unwrap_or(line)))
    }

    fn is_all_tests(&self) -> bool {
        ["/tests.rs", "/oracle.rs", "/sample.rs"].iter().any(|end| self.path.ends_with(end))
            || self.path.contains("/tests/")
    }

    /// The code up to the tests, which stand last.
    fn code_without_tests(&self) -> impl Iterator<Item = (usize, &str)> {
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
    fn is_in(&self, module: &str) -> bool {
        let Some(inner) = self.path.strip_prefix("crates/accrue/src/") else { return false };
        inner == format!("{module}.rs") || inner.starts_with(&format!("{module}/"))
    }

    fn breaches(&self, texts: &[&str], say: impl Fn(&str) -> String) -> Vec<String> {
        let found = self.code().filter_map(|(number, line)| {
            let text = texts.iter().find(|text| is_whole(line, text))?;
            Some(self.at(number, &say(text)))
        });
        found.collect()
    }

    /// Where the code reaches for a top-level module of the crate, unless for one name in it.
    fn imports_of(&self, module: &str, allowed: &str, what: &str) -> Vec<String> {
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
    fn tokens(&self) -> Vec<(usize, &str)> {
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
    fn use_paths(&self, of: &str) -> Vec<(usize, String)> {
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

/// The modules of a crate that are files, by their paths: `""` is the root, `shape::read` a file of a
/// folder.
struct Modules(BTreeMap<String, Module>);

struct Module {
    file: Source,
    imports: Vec<Import>,
    /// The other paths in its code that begin with a module.
    paths: Vec<(usize, Vec<String>)>,
}

/// A name that a `use` brings into a module, and where it is from.
struct Import {
    line: usize,
    name: String,
    path: Vec<String>,
    is_exported: bool,
}

/// That a file uses what another declares, with the place of it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    from: String,
    to: String,
    place: String,
}

impl Modules {
    fn of(folder: &str) -> Self {
        let files = sources().filter_map(|file| {
            let inner = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
            let path = if inner == "lib" { String::new() } else { inner.replace('/', "::") };
            (!file.is_all_tests()).then_some((path, file))
        });
        Self::read(files.collect())
    }

    fn read(files: BTreeMap<String, Source>) -> Self {
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
    fn uses(&self) -> Vec<Use> {
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
    fn declares(&self, within: &str, path: &[String]) -> Option<String> {
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
    fn map(&self) -> Vec<String> {
        let root = &self.0.get("").expect("a crate has a root").file;
        let lines = root.text.lines().skip_while(|line| !line.starts_with("//! # The map"));
        let items = lines.skip(1).take_while(|line| !line.starts_with("//! # "));
        let heads = items.filter_map(|line| line.strip_prefix("//! - ")?.split(": ").next());
        let names = heads.flat_map(|head| head.split('`').skip(1).step_by(2));
        names.filter(|name| self.0.contains_key(*name)).map(str::to_owned).collect()
    }
}

impl Module {
    fn read(file: Source, is_child: impl Fn(&str) -> bool) -> Self {
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
fn reachable<'a>(module: &'a str, uses: &'a [Use]) -> BTreeSet<&'a str> {
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
fn read_tree(
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

/// Fails with all breaches of a rule.
fn check(breaches: impl IntoIterator<Item = String>) {
    let breaches: Vec<_> = breaches.into_iter().collect();
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every source of the workspace, in order of path.
fn sources() -> impl Iterator<Item = Source> {
    let mut paths = Vec::new();
    for folder in ["benches", "crates", "examples", "tests"] {
        find(&root().join(folder), "rs", &mut paths);
    }
    assert!(paths.len() > 50, "found only {} sources", paths.len());
    paths.sort();
    paths.into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a source can be read");
        Source { path: from_root(&path), text }
    })
}

fn others_than_this() -> impl Iterator<Item = Source> {
    sources().filter(|file| file.path != THIS_FILE)
}

fn core() -> impl Iterator<Item = Source> {
    sources().filter(|file| file.path.starts_with("crates/accrue/src/"))
}

/// The files of the engine that are in a room, with its place.
fn engine() -> impl Iterator<Item = (usize, Source)> {
    core().filter(|file| !file.is_all_tests()).filter_map(|file| {
        let room = file.path.strip_prefix("crates/accrue/src/engine/")?;
        let place = ROOMS.iter().position(|of| *of == word(room))?;
        Some((place, file))
    })
}

fn domain() -> impl Iterator<Item = Source> {
    core().filter(|file| DOMAIN.iter().any(|module| file.is_in(module)))
}

/// The pages of decisions, without their index.
fn decisions() -> impl Iterator<Item = (String, String)> {
    let mut paths = Vec::new();
    find(&root().join("docs/decisions"), "md", &mut paths);
    paths.sort();
    let pages = paths.into_iter().filter(|path| !path.ends_with("README.md"));
    pages.map(|path| {
        let text = fs::read_to_string(&path).expect("a page can be read");
        (from_root(&path), text)
    })
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

fn read(mut paths: Vec<PathBuf>) -> impl Iterator<Item = Source> {
    paths.sort();
    paths.into_iter().map(|path| {
        let text = fs::read_to_string(&path).expect("a file can be read");
        Source { path: from_root(&path), text }
    })
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

fn find(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
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

fn from_root(path: &Path) -> String {
    let path = path.strip_prefix(root()).expect("it was found under the root");
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// The path of a module of a module.
fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// The top-level module that a module is, or is in.
fn top(module: &str) -> &str {
    module.split("::").next().unwrap_or_default()
}

/// What follows each occurrence of a text in a line.
fn all_after<'a>(line: &'a str, text: &str) -> Vec<&'a str> {
    line.match_indices(text).filter_map(|(at, found)| line.get(at + found.len()..)).collect()
}

/// Tells whether a text stands in a line, not as the end or the beginning of a longer name.
fn is_whole(line: &str, text: &str) -> bool {
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
fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

fn is_group(text: &str) -> bool {
    text.starts_with('{')
}

/// The number of a clause that a text begins with; none where the text is about the sign itself.
fn clause(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let clause = text.get(..end)?.trim_end_matches('.');
    (!clause.is_empty()).then_some(clause)
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
