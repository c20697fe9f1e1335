//! A folder, and the processes that work in it until each is killed.

use std::{
    fmt,
    io::{BufRead, BufReader},
    ops::AddAssign,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use accrue::store::Store;

use crate::{
    dice::Dice,
    forgetful::Forgetful,
    host::{Host, Kind},
    told::Told,
};

/// How many times a process is killed: so many, or as `ACCRUE_KILLS` says.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says so")]
pub fn kills(usual: u64) -> u64 {
    std::env::var("ACCRUE_KILLS").map_or(usual, |kills| kills.parse().expect("a number"))
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is killed.
    Killed,
    /// It is killed, and what no flush covered becomes this.
    #[cfg(target_os = "linux")]
    PowerCut(crate::power::Uncovered),
    /// The same, and all flushes were for nothing.
    #[cfg(target_os = "linux")]
    PowerCutWithoutFlushes,
}

/// What came out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// How often a process was killed.
    pub kills: usize,
    /// Requests that were answered before it was, each key once.
    pub acknowledged: usize,
    /// Requests under way then.
    pub in_doubt: usize,
    /// Those of them that had been done.
    pub done: usize,
    /// Messages that were acknowledged.
    pub messages: usize,
    /// Changes of files and names that a flush had covered, where power was cut.
    pub covered: usize,
    /// Changes that none had.
    pub uncovered: usize,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, acknowledged, in_doubt, done, messages, covered, uncovered } = self;
        write!(f, "{kills} kills, {acknowledged} requests acknowledged and found, ")?;
        write!(f, "{in_doubt} in doubt, of which {done} were done, ")?;
        write!(f, "{messages} messages acknowledged, ")?;
        write!(f, "{covered} changes flushed, {uncovered} not")
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.kills += other.kills;
        self.acknowledged += other.acknowledged;
        self.in_doubt += other.in_doubt;
        self.done += other.done;
        self.messages += other.messages;
        self.covered += other.covered;
        self.uncovered += other.uncovered;
    }
}

/// Held while a process starts. Until it runs its program it has all files open that the tests of other
/// threads have, and with them the locks of their stores.
pub(crate) static START: Mutex<()> = Mutex::new(());

/// Waits for a moment.
pub(crate) fn wait(moment: Duration) {
    // Nothing is sent on this one.
    let (_open, never) = mpsc::channel::<()>();
    assert!(never.recv_timeout(moment).is_err());
}

/// A folder, and what the processes that worked in it have told.
#[derive(Debug)]
pub struct Life {
    kind: Kind,
    worker: PathBuf,
    seed: u64,
    folder: tempfile::TempDir,
    told: Told,
    processes: u64,
    dice: Dice,
    forgets_keys: bool,
    /// What came out until now.
    pub figures: Figures,
}

impl Life {
    /// Begins in an empty folder. `worker` is the program that works in it.
    ///
    /// # Panics
    ///
    /// If there can be no folder.
    #[must_use]
    pub fn new(kind: Kind, worker: &Path, seed: u64) -> Self {
        Self {
            kind,
            worker: worker.to_owned(),
            seed,
            folder: tempfile::tempdir().unwrap(),
            told: Told::default(),
            processes: 0,
            dice: Dice::new(seed),
            forgets_keys: false,
            figures: Figures::default(),
        }
    }

    /// The same, on a store that forgets which idempotency keys were used when its process has ended:
    /// what was done and not answered is done again, which the check has to find out.
    #[must_use]
    pub fn that_forgets_keys(self) -> Self {
        Self { forgets_keys: true, ..self }
    }

    /// Lets one more process work until it ends like this, and checks what is there.
    ///
    /// # Panics
    ///
    /// If anything acknowledged is lost or doubled, or the store does not open.
    pub fn end_one(&mut self, ending: Ending) {
        let lines = if self.dice.below(8) == 0 { 0 } else { 1 + self.dice.below(400) };
        self.end_after(lines, ending);
    }

    /// The same, with a process that ends while it opens the store.
    ///
    /// # Panics
    ///
    /// As [`end_one`](Self::end_one).
    pub fn end_one_that_opens(&mut self, ending: Ending) {
        self.end_after(0, ending);
    }

    fn end_after(&mut self, lines: usize, ending: Ending) {
        let since = self.told.asked.len();
        self.run(lines, ending);
        let store = self.kind.open(&self.folder.path().join("store"));
        self.figures.in_doubt += self.told.in_doubt().len();
        let asked_again: Arc<dyn Store> = match self.forgets_keys {
            true => Arc::new(Forgetful(Arc::clone(&store))),
            false => Arc::clone(&store),
        };
        self.figures.done += self.told.apply_transitions(&self.host(asked_again, 1));
        self.told.check(&self.host(store, 2), since);
        self.figures.messages = self.told.acknowledged.len();
    }

    /// Checks everything that was ever told.
    ///
    /// # Panics
    ///
    /// As [`end_one`](Self::end_one).
    pub fn check(&mut self) {
        let store = self.kind.open(&self.folder.path().join("store"));
        self.told.check(&self.host(store, 2), 0);
    }

    /// A host after the processes, whose ids are others than theirs and than another one's.
    fn host(&self, store: Arc<dyn Store>, number: u64) -> Host {
        Host::on(store, self.seed.wrapping_add(number), self.processes)
    }

    fn run(&mut self, lines: usize, ending: Ending) {
        self.processes += 1;
        let notes = self.folder.path().join(format!("notes-{}", self.processes));
        let watched = self.folder.path().join("store");
        std::fs::create_dir_all(&watched).unwrap();
        let mut command = Command::new(&self.worker);
        command.arg(self.kind.name()).arg(&watched);
        command.args([self.seed, self.processes].map(|number| number.to_string()));
        match ending {
            Ending::Killed => {}
            #[cfg(target_os = "linux")]
            Ending::PowerCut(_) => drop(command.arg(&notes).arg("flushes")),
            #[cfg(target_os = "linux")]
            Ending::PowerCutWithoutFlushes => drop(command.arg(&notes).arg("none")),
        }
        let before = self.told.answered.len();
        self.kill_at_random(&mut command, lines);
        self.figures.kills += 1;
        self.figures.acknowledged += self.told.answered.len() - before;
        #[cfg(target_os = "linux")]
        {
            let uncovered = match ending {
                Ending::Killed => return,
                Ending::PowerCut(uncovered) => uncovered,
                Ending::PowerCutWithoutFlushes => crate::power::Uncovered::Lost,
            };
            // It may have been killed before it began to note.
            if notes.join(crate::power::NOTES).exists() {
                let seed = self.dice.next();
                let cut = crate::power::cut(&watched, &notes, uncovered, seed).unwrap();
                self.figures.covered += cut.covered;
                self.figures.uncovered += cut.uncovered;
                std::fs::remove_dir_all(notes).unwrap();
            }
        }
    }

    /// Kills the process a moment after it has told so many lines, or while it opens the store.
    fn kill_at_random(&mut self, command: &mut Command, lines: usize) {
        let micros = self.dice.below(if lines == 0 { 100_000 } else { 3_000 });
        let mut child = {
            let _turn = START.lock().unwrap_or_else(PoisonError::into_inner);
            command.stdout(Stdio::piped()).spawn().expect("the worker starts")
        };
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, receiver) = mpsc::channel();
        let reader = thread::spawn(move || {
            output.lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
        });
        let mut heard: Vec<String> = receiver.iter().take(lines).collect();
        wait(Duration::from_micros(u64::try_from(micros).unwrap()));
        child.kill().expect("the worker can be killed");
        let status = child.wait().unwrap();
        reader.join().unwrap();
        heard.extend(receiver.iter());
        assert_eq!(status.code(), None, "the worker ended by itself, before it was killed");
        // The last line may be half a one.
        let is_whole = |line: &&String| serde_json::from_str::<serde_json::Value>(line).is_ok();
        let whole: Vec<_> = heard.iter().filter(is_whole).collect();
        assert!(heard.len() - whole.len() <= 1, "{heard:#?}");
        whole.iter().for_each(|line| self.told.hear(line));
    }
}
