//! Two servers of PostgreSQL, of which one is the standby of the other.

use std::{fmt, fs, path::Path, time::Duration};

use accrue_load_tests::{Outcome, pause};
use accrue_postgres_server::{Server, execute, number};
use tokio::task::block_in_place;

/// The name that a standby has with its primary.
const STANDBY: &str = "standby";

/// How often a server is asked whether it is as far as it is to be.
const AGAIN: Duration = Duration::from_millis(20);

/// Two servers. Which of them takes writes changes with each failover.
pub(crate) struct Pair {
    primary: Server,
    standby: Server,
    is_synchronous: bool,
}

/// How a primary ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Death {
    /// It tells its clients that they are to go, and flushes nothing.
    Immediate,
    /// It is gone.
    Killed,
}

/// What a standby does with commits once it is the primary and has no standby of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alone {
    /// They wait until it has one.
    Waits,
    /// They are answered.
    Answers,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Immediate => "stopped at once",
            Self::Killed => "killed",
        })
    }
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waits => "which wait for a standby",
            Self::Answers => "which wait for none",
        })
    }
}

impl Pair {
    /// Makes both. Where they are synchronous, a commit is answered once the standby has it.
    pub(crate) fn start(is_synchronous: bool) -> Self {
        let primary = Server::start(&[
            "max_connections = 200",
            "max_locks_per_transaction = 256",
            "wal_keep_size = '256MB'",
            "wal_receiver_status_interval = 1",
            "recovery_init_sync_method = syncfs",
        ]);
        let standby = Server::standby(&primary, STANDBY, &[]);
        Self { primary, standby, is_synchronous }
    }

    /// Returns the connection string that leads to whichever takes writes.
    pub(crate) fn connection(&self) -> String {
        let hosts = format!("{},{}", self.primary.socket(), self.standby.socket());
        format!("host={hosts} user=test dbname=postgres target_session_attrs=read-write")
    }

    /// Lets commits wait for the standby from now on, where the two are synchronous, and returns once it has all that
    /// was answered before.
    pub(crate) async fn join(&self) {
        if self.is_synchronous {
            self.primary.configure(&[&names(Alone::Waits)]);
            block_in_place(|| self.primary.reload());
            self.until("sync_state = 'sync'").await;
            // Whoever makes checkpoints also lets commits wait. Once there was one more, all do.
            self.on_primary(|connection| execute(connection, &["CHECKPOINT"]));
        }
        let now = "SELECT (pg_current_wal_flush_lsn() - '0/0')::int8";
        let now = self.on_primary(|connection| number(connection, now));
        self.until(&format!("flush_lsn - '0/0' >= {now}")).await;
    }

    /// Ends the primary.
    pub(crate) fn end(&self, death: Death) {
        block_in_place(|| match death {
            Death::Immediate => self.primary.end("immediate"),
            Death::Killed => self.primary.kill(),
        });
    }

    /// Lets the standby take the place of the primary, which has ended.
    pub(crate) fn promote(&mut self) {
        block_in_place(|| self.standby.promote());
        std::mem::swap(&mut self.primary, &mut self.standby);
    }

    /// Makes the server that has ended anew, as a standby, and says what that does once it is the primary.
    pub(crate) async fn rebuild(&self, alone: Alone) {
        block_in_place(|| self.standby.rebuild(&self.primary, STANDBY, &[&names(alone)]));
        self.join().await;
    }

    /// Cuts the standby off, and returns once it receives nothing more.
    pub(crate) async fn cut(&self) {
        let cut = ["ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"];
        block_in_place(|| execute(&self.standby.connection(), &cut));
        let receivers = "SELECT count(*) FROM pg_stat_wal_receiver";
        while block_in_place(|| number(&self.standby.connection(), receivers)) > 0 {
            pause(AGAIN).await;
        }
    }

    /// Writes what both have logged to a folder.
    pub(crate) fn keep_logs(&self, folder: &Path) -> Outcome<()> {
        for (name, server) in [("primary", &self.primary), ("standby", &self.standby)] {
            fs::write(folder.join(format!("postgres-{name}.log")), server.log())?;
        }
        Ok(())
    }

    /// Waits until that holds of the standby, as the primary sees it.
    async fn until(&self, holds: &str) {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE application_name = '{STANDBY}' \
             AND state = 'streaming' AND {holds}"
        );
        while self.on_primary(|connection| number(connection, &sql)) == 0 {
            pause(AGAIN).await;
        }
    }

    fn on_primary<T>(&self, ask: impl FnOnce(&str) -> T) -> T {
        block_in_place(|| ask(&self.primary.connection()))
    }
}

fn names(alone: Alone) -> String {
    let names = if alone == Alone::Waits { STANDBY } else { "" };
    format!("synchronous_standby_names = '{names}'")
}
