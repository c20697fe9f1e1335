//! Processes that end while they open a store with many events.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::PoisonError,
    time::Duration,
};

use accrue::{
    limits,
    schema::TABLES,
    store::{Scan, Store},
};
use pollster::block_on;
use serde_json::{Value, json};

use crate::{
    dice::Dice,
    host::{Host, Kind, minute},
    life::{Ending, START, wait},
    work,
};

/// How many events are sent at once.
const BATCH: u64 = 500;
/// After how many kills it is measured again how long an opening takes.
const MEASURED: u64 = 10;
/// Whose events they are, in turn.
const CUSTOMERS: u64 = 4;

/// Fills a store with so many events, through the engine. Each has one token.
///
/// # Panics
///
/// If one is not accepted.
pub fn fill(host: &Host, events: u64) {
    work::set_up(host);
    for first in (0..events).step_by(usize::try_from(BATCH).unwrap()) {
        let event = |nth: u64| {
            json!({
                "idempotency_key": format!("event-{nth}"),
                "event_name": "completion",
                "timestamp": minute(0),
                "external_customer_id": work::own(nth % CUSTOMERS),
                "properties": {"tokens": 1},
            })
        };
        let batch: Vec<_> = (first..events.min(first + BATCH)).map(event).collect();
        let body = json!({"events": batch}).to_string();
        let answer = host.post("/v1/ingest", &format!("batch-{first}"), &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

/// A folder as a killed process has left it, and copies of it that processes open and do not finish to.
#[derive(Debug)]
pub struct Openings {
    kind: Kind,
    worker: PathBuf,
    folder: tempfile::TempDir,
    rows: u64,
    usual: Duration,
    kills: u64,
    dice: Dice,
}

impl Openings {
    /// Begins with a store that a process has filled with so many events before it was killed. `worker`
    /// is the program that fills and opens it.
    ///
    /// # Panics
    ///
    /// If the store does not have them all.
    #[must_use]
    pub fn of_filled(kind: Kind, worker: &Path, events: u64) -> Self {
        let mut openings = Self::of_new(kind, worker);
        let filled = openings.folder.path().join("filled");
        let mut filler = openings.start(|command| {
            command.args(["fill", kind.name()]).arg(&filled).arg(events.to_string());
        });
        assert_eq!(filler.line().as_deref(), Some("filled"));
        filler.kill();
        openings.copy();
        let store = kind.open(&openings.store());
        openings.rows = digest(store.as_ref());
        assert_eq!(tokens(&Host::on(store, 1, 1)), events);
        openings
    }

    /// Begins with an empty folder.
    ///
    /// # Panics
    ///
    /// If there can be no folder.
    #[must_use]
    pub fn of_new(kind: Kind, worker: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("filled")).unwrap();
        let (rows, usual) = (DefaultHasher::new().finish(), Duration::ZERO);
        Self { kind, worker: worker.to_owned(), folder, rows, usual, kills: 0, dice: Dice::new(1) }
    }

    /// Returns how long an opening took that was measured last.
    #[must_use]
    pub const fn usual(&self) -> Duration {
        self.usual
    }

    /// Kills a process at a random moment of its opening, or soon after it, and checks that everything is
    /// there. Tells whether it had not finished.
    ///
    /// # Panics
    ///
    /// If the store does not open, or any row is not as it was.
    pub fn kill_at_random(&mut self) -> bool {
        if self.kills.is_multiple_of(MEASURED) {
            self.measure();
        }
        self.kills += 1;
        self.copy();
        let mut opener = self.start_opening(|_| {});
        // Four of five moments are within it, where it takes as long as the one that was measured.
        let micros = usize::try_from(self.usual.as_micros() * 5 / 4).unwrap();
        wait(Duration::from_micros(u64::try_from(self.dice.below(micros)).unwrap()));
        let was_opening = opener.kill().is_empty();
        self.check();
        was_opening
    }

    /// Ends a process after it has changed so many files and names in the folder while it opens it, and
    /// checks that everything is there. Tells whether it had not finished.
    ///
    /// # Panics
    ///
    /// As [`kill_at_random`](Self::kill_at_random).
    #[cfg(target_os = "linux")]
    pub fn end_after(&mut self, changes: u64, ending: Ending) -> bool {
        self.copy();
        let notes = self.folder.path().join("notes");
        let number = changes.to_string();
        let mut opener = self.start_opening(|command| {
            command.arg(&notes).arg(&number);
        });
        let was_opening = opener.line().is_none();
        opener.kill();
        if let Ending::PowerCut(uncovered) = ending {
            crate::power::cut(&self.store(), &notes, uncovered, self.dice.next()).unwrap();
        }
        fs::remove_dir_all(notes).unwrap();
        self.check();
        was_opening
    }

    /// Opens the store as whoever comes next does.
    fn check(&self) {
        let store = self.kind.open(&self.store());
        assert_eq!(digest(store.as_ref()), self.rows, "rows are lost");
    }

    /// Lets a process finish its opening, and notes how long that takes.
    fn measure(&mut self) {
        self.copy();
        let mut opener = self.start_opening(|_| {});
        let line = opener.line().unwrap();
        opener.kill();
        let micros = line.strip_prefix("opened ").unwrap().parse().unwrap();
        self.usual = Duration::from_micros(micros);
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Copies the folder as it was left.
    fn copy(&self) {
        let _ = fs::remove_dir_all(self.store());
        copy(&self.folder.path().join("filled"), &self.store());
    }

    /// Starts a process that has just begun to open the store.
    fn start_opening(&self, with: impl FnOnce(&mut Command)) -> Worker {
        let mut opener = self.start(|command| {
            command.args(["open", self.kind.name()]).arg(self.store());
            with(command);
        });
        assert_eq!(opener.line().as_deref(), Some("opening"));
        opener
    }

    fn start(&self, with: impl FnOnce(&mut Command)) -> Worker {
        let mut command = Command::new(&self.worker);
        with(&mut command);
        let mut child = {
            let _turn = START.lock().unwrap_or_else(PoisonError::into_inner);
            command.stdout(Stdio::piped()).spawn().expect("the worker starts")
        };
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Worker { child, lines }
    }
}

/// A process.
struct Worker {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    /// The next line that it says; none where it has ended.
    fn line(&mut self) -> Option<String> {
        self.lines.next().map(Result::unwrap)
    }

    /// Kills it, and returns what it had said.
    fn kill(&mut self) -> Vec<String> {
        self.child.kill().expect("the worker can be killed");
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), None, "the worker ended by itself, before it was killed");
        self.lines.by_ref().map(Result::unwrap).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            fs::copy(entry, target).unwrap();
        }
    }
}

/// Every row of every table.
fn digest(store: &dyn Store) -> u64 {
    let mut hasher = DefaultHasher::new();
    for table in TABLES {
        let mut scan = Scan::prefix(*table, b"", limits::SCAN_ROWS);
        loop {
            let rows = block_on(store.scan(&scan)).unwrap();
            let Some(last) = rows.last() else { break };
            scan = scan.after(last.key.bytes());
            for row in &rows {
                table.name().hash(&mut hasher);
                row.key.bytes().hash(&mut hasher);
                row.version.number().hash(&mut hasher);
                row.document.as_str().hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}

/// The usage of all subscriptions.
fn tokens(host: &Host) -> u64 {
    let usage = |subscription: &Value| {
        let id = subscription["id"].as_str().unwrap().parse().unwrap();
        let usage = block_on(host.account.subscription_usage(id)).unwrap();
        let quantity = usage.metrics.first().and_then(|metric| metric.quantity.clone());
        quantity.map_or(0, |quantity| quantity.to_string().parse::<u64>().unwrap())
    };
    host.list("/v1/subscriptions?limit=100").iter().map(usage).sum()
}
