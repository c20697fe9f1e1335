//! Those that are measured.

mod append_log;
mod engine;
mod postgres;
mod postgres_store;
mod raw;

use std::{fmt, path::Path};

use accrue_benches::{Backend, Outcome};
use serde::{Serialize, Serializer};

use self::{append_log::AppendLog, engine::Engine, postgres::Postgres, raw::Raw};
use crate::{
    arguments::Arguments,
    operation::Operation,
    race::Caller,
    source::{Round, Source},
};

/// One of those that do the work.
pub(crate) trait Side {
    fn name(&self) -> Name;

    /// Makes its callers ready for a round.
    fn callers<'a>(&'a mut self, round: &Round) -> Outcome<Vec<Caller<'a>>>;
}

/// What a side is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// The same bytes at the end of a file.
    AppendLog,
    /// The usual SQL.
    Postgres(Statements),
    /// The same rows in the store of the engine, without the engine.
    Raw(Backend),
    /// The engine.
    Accrue(Backend),
    /// The engine on PostgreSQL, as so many processes have it.
    AccruePostgres(usize),
}

/// How a transaction is told to PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statements {
    /// Event by event.
    Many,
    /// As one statement.
    One,
}

/// How many processes have the engine on PostgreSQL where there are several.
pub(crate) const PROCESSES: usize = 4;

/// Opens all sides on what the account has at first.
pub(crate) fn open(
    arguments: &Arguments,
    operation: Operation,
    callers: u64,
    folder: &Path,
    source: &mut Source,
) -> Outcome<Vec<Box<dyn Side>>> {
    let mut sides: Vec<Box<dyn Side>> = Vec::new();
    if operation.writes() {
        sides.push(Box::new(AppendLog::create(&folder.join("log"))?));
    }
    if let Some(server) = &arguments.postgres() {
        let open = |statements| Postgres::open(server, statements, callers, source);
        if operation.writes() {
            sides.push(Box::new(open(Statements::Many)?));
        }
        sides.push(Box::new(open(Statements::One)?));
        for processes in [1, PROCESSES] {
            let accounts = postgres_store::open(server, processes, source)?;
            sides.push(Box::new(Engine::new(Name::AccruePostgres(processes), accounts)));
        }
    }
    for backend in arguments.backends() {
        let raw = backend.open_raw(&folder.join(format!("{backend}-raw")))?;
        source.set_up(&*raw)?;
        sides.push(Box::new(Raw::new(backend, raw)));
        let store = backend.open(&folder.join(format!("{backend}-accrue")))?;
        let accounts = source.accounts_in(vec![store])?;
        sides.push(Box::new(Engine::new(Name::Accrue(backend), accounts)));
    }
    Ok(sides)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppendLog => f.write_str("append log"),
            Self::Postgres(Statements::Many) => f.write_str("postgres, by event"),
            Self::Postgres(Statements::One) => f.write_str("postgres, at once"),
            Self::Raw(backend) => write!(f, "{backend}, raw"),
            Self::Accrue(backend) => write!(f, "{backend}, accrue"),
            Self::AccruePostgres(1) => f.write_str("postgres, accrue"),
            Self::AccruePostgres(processes) => write!(f, "postgres, accrue x{processes}"),
        }
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
