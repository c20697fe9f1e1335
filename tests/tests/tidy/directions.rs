//! Directions: which module uses and calls which, and what a room knows nothing of.

use std::{collections::BTreeSet, fs};

use crate::{
    check,
    modules::{Modules, Use, is_group, reachable, top},
    sources::{Source, all_after, core, is_whole, root, sources, word},
};

/// The modules of the core that say what billing is: they know no store and no engine, and wait for
/// nothing.
const DOMAIN: &[&str] = &[
    "account",
    "alert",
    "api_key",
    "audit",
    "carried",
    "cost",
    "coupon",
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
    "invoice",
    "item",
    "license",
    "limits",
    "metadata",
    "meter",
    "metric",
    "page",
    "period",
    "person",
    "plan",
    "portal",
    "price",
    "rating",
    "subscription",
    "text",
    "time",
    "token",
    "usage",
    "backfill",
    "webhook",
    "related",
    "zone",
];

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
    "license",
    "coupon",
    "usage",
    "backfill",
    "rating",
    "cost",
    "credit",
    "alert",
    "period",
    "invoice",
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
        let backends = ["accrue-durable", "accrue-fjall", "accrue-postgres", "accrue-sled"];
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
    let missing = adapter.paths().filter(|module| !module.is_empty() && place(module).is_none());
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
