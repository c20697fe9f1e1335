use std::path::PathBuf;

/// How the program was built, which has a table of its own: instructions and allocations depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// With optimizations, as a host has the engine.
    Release,
    /// As `cargo test` builds, which is what every change is held to: there the engine has been compiled anyway.
    Tests,
}

impl Build {
    pub(crate) const ALL: [Self; 2] = [Self::Release, Self::Tests];

    /// The one that this program is of.
    pub(crate) const fn ours() -> Self {
        if cfg!(debug_assertions) { Self::Tests } else { Self::Release }
    }

    /// Where its table is.
    pub(crate) fn page(self) -> PathBuf {
        let name = match self {
            Self::Release => "budgets.md",
            Self::Tests => "tests.md",
        };
        [env!("CARGO_MANIFEST_DIR"), name].iter().collect()
    }

    /// How its table is written anew.
    pub(crate) const fn bless(self) -> &'static str {
        match self {
            Self::Release => "cargo run --release -p accrue-budgets -- --bless",
            Self::Tests => "cargo test --workspace --no-run && target/debug/accrue-budgets --bless",
        }
    }

    /// What the page says before its table.
    pub(super) fn head(self) -> String {
        let (title, what) = match self {
            Self::Release => ("Budgets", "as it is in a host"),
            Self::Tests => (
                "Budgets of the build that is tested",
                "hardly optimized, and with every assertion",
            ),
        };
        format!(
            "\
# {title}

What a call of each operation costs, on the store in memory, in a process that has served others, {what}.
This page is written by `{}`, and `--check` fails where
instructions, allocations or bytes are more than 3 % off in either direction, or rows or store calls differ at all:
[how to read it](../README.md#budgets).
",
            self.bless()
        )
    }
}
