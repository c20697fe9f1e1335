//! [`PostgresStore`]: a [`Store`](accrue::store::Store) in a PostgreSQL database, for who runs several
//! processes on one billing.
//!
//! ```no_run
//! use accrue::store::{Batch, Commit, Document, Key, Store, Table};
//! use accrue_postgres::PostgresStore;
//!
//! # pollster::block_on(async {
//! let server = "host=one,two user=billing dbname=billing target_session_attrs=read-write";
//! PostgresStore::migrate(server, accrue::schema::TABLES).await?;
//! let store = PostgresStore::open(server).await?;
//!
//! let key = Key::new(Table::new("greeting"), *b"hello");
//! let batch = Batch::new().put(key.clone(), Document::parse(r#"{"v":1}"#)?);
//! let Commit::Committed(version) = store.commit(batch).await? else { unreachable!() };
//! let rows = store.get(&[key]).await?;
//! assert_eq!(rows[0].as_ref().map(|row| row.version), Some(version));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several processes
//!
//! Each opens the store and hands it to its billing twice: as the store, and as the [turns](accrue::store::Turns) that callers
//! of one customer wait for across processes. Without turns all stays right, and such callers may wait long.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use accrue::Billing;
//! use accrue_postgres::PostgresStore;
//!
//! # pollster::block_on(async {
//! let store = Arc::new(PostgresStore::open("host=one user=billing dbname=billing").await?);
//! let billing = Billing::with_system(Arc::clone(&store)).taking_turns(store);
//! # drop(billing);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Executors
//!
//! The store has a thread with a runtime of its own, or runs on [one of the host's](PostgresOptions::on). Its
//! futures only wait for what goes on there: any executor runs them, a plain `block_on` too.
//!
//! # How a commit is made
//!
//! One round trip to one function of the database, with all batches that waited for it. The function takes advisory
//! locks on the hashes of all keys in one order, judges, and writes. [Some](PostgresOptions::lanes) calls are under
//! way at a time. Batches in one call share no key that one of them writes, and each has an outcome of its own.
//!
//! What needs more locks than the server has room for takes one lock for the whole store. A server with
//! `max_locks_per_transaction` of 256 has room for the largest batches of several processes.
//!
//! # What is lost, and when
//!
//! PostgreSQL shows a commit when its disk has it, and with synchronous replication when its standby has it too;
//! then it is answered. Servers with `fsync` off or `synchronous_commit` below `on` are
//! [refused](PostgresOptions::accepting_lost_commits), at each connection. `full_page_writes` is not looked at: turn
//! it off only where the file system writes whole pages.
//!
//! - **Asynchronous replication:** a promoted standby does not have the last commits that were answered. Whoever may
//!   not lose them has `synchronous_standby_names` set.
//! - **Two primaries:** one that was replaced and still runs answers reads, and with asynchronous replication
//!   commits too. It has to be fenced before another is promoted.
//! - **A wait for the standby that somebody cancels**, with `pg_cancel_backend`, `pg_terminate_backend` or by
//!   stopping the server, makes a commit visible that the standby may not have. Such a commit is not answered
//!   before the standby has it; another process can read it before.
//!
//! # When a connection is lost
//!
//! Each call has a number that is never used again, and leaves it in a table in its own transaction. When an answer
//! does not come, the store asks for it over another connection: either it is there, and the answer
//! is that of the call, or its place is taken, and the call can never be applied. A call that was not applied is made
//! again, three times at most. Where nobody can be asked for [10 seconds](PostgresOptions::patience), the commit is
//! [`Indeterminate`](accrue::store::StoreError::Indeterminate), and nothing else is answered before it is settled.
//!
//! # Connections
//!
//! The store has a pool of its own, and connections with settings of their own. A pooler between it and the server
//! must keep a session together; one that hands out transactions does not.
//!
//! TLS is used where the server offers it, or always with `sslmode=require`. The certificate then has to hold for
//! the name of the host, as with `verify-full` elsewhere.
//!
//! # Rows for readers
//!
//! The schema `accrue_views` has a view for each table, with the columns `key`, `version` and `document`, which is
//! `json`: `SELECT document->>'name' FROM accrue_views.customer`. PostgreSQL takes no document apart that has `\u0000` in
//! a text; such a row can be read whole.

mod connect;
mod encode;
mod error;
mod failure;
mod lane;
mod migrate;
mod open;
mod options;
mod queue;
mod runtime;
mod shared;
mod statements;
mod store;
mod tables;
mod tls;
mod turns;
mod versions;

pub use self::{
    error::{OpenError, OpenErrorKind},
    options::{Isolation, PostgresOptions},
    store::PostgresStore,
};
