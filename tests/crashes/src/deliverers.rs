//! Two processes that deliver the messages of one store, of which one is killed again and again.

use std::{
    collections::BTreeSet,
    fmt,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver as Lines, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use accrue_tests::receiver::{Received, Receiver};

use crate::{
    Dice,
    arrivals::{Arrivals, Numbered},
    deliveries::{ENDPOINTS, Minutes, PAUSE, Place},
    life::{START, wait},
};

/// So long a process may take for what it is told.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most messages that are made before one is killed.
const MESSAGES: usize = 60;
/// So many microseconds later it is killed at most.
const MICROS: usize = 3_000;

/// Two processes, and the endpoints that they deliver to.
#[derive(Debug)]
pub struct Deliverers {
    place: Place,
    program: PathBuf,
    folder: tempfile::TempDir,
    receiver: Receiver,
    processes: [Process; 2],
    /// Which of them have the store: they make messages, and their workers run.
    working: BTreeSet<usize>,
    secrets: Vec<String>,
    dice: Dice,
    made: BTreeSet<Numbered>,
    endpoints: [Arrivals; ENDPOINTS.len()],
    kills: usize,
    kills_of_waiting: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct Delivered {
    endpoints: [Arrivals; ENDPOINTS.len()],
    secrets: Vec<String>,
    kills: usize,
    kills_of_waiting: usize,
}

#[derive(Debug)]
struct Process {
    child: Child,
    commands: ChildStdin,
    lines: Lines<String>,
}

impl Process {
    fn start(program: &Path, place: &Place, folder: &Path, url: &str) -> Self {
        let _starting = START.lock().unwrap();
        let mut child = Command::new(program)
            .arg(place.to_string())
            .arg(folder)
            .arg(url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let (commands, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, commands, lines }
    }

    fn tell(&mut self, command: &str) {
        writeln!(self.commands, "{command}").expect("it listens");
    }

    fn hear(&self) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        line.unwrap_or_else(|error| panic!("{error}: it says nothing"))
    }

    fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads which message was made, where a line says so.
fn made(line: &str) -> Option<Numbered> {
    let (customer, number) = line.strip_prefix("made ")?.split_once(' ').expect("two of them");
    Some((customer.to_owned(), number.parse().expect("a number")))
}

impl Deliverers {
    /// Starts two of them on an empty store.
    ///
    /// # Panics
    ///
    /// If they cannot be started.
    #[must_use]
    pub fn new(place: Place, program: &Path, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        Minutes::beside(&data).set(0);
        let receiver = Receiver::listen().unwrap();
        let start = || Process::start(program, &place, &data, &receiver.url());
        let processes = [start(), start()];
        let mut all = Self {
            place,
            program: program.to_owned(),
            folder,
            receiver,
            processes,
            working: BTreeSet::new(),
            secrets: Vec::new(),
            dice: Dice::new(seed),
            made: BTreeSet::new(),
            endpoints: ENDPOINTS.map(|(_, order)| Arrivals::new(order)),
            kills: 0,
            kills_of_waiting: 0,
        };
        all.await_store();
        all
    }

    /// Waits until as many of them have the store as can.
    fn await_store(&mut self) {
        let most = match self.place {
            Place::Folder(_) => 1,
            Place::Database(_) => 2,
        };
        for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
            for (number, process) in self.processes.iter().enumerate() {
                if self.working.len() == most {
                    return;
                }
                if self.working.contains(&number) {
                    continue;
                }
                match process.lines.recv_timeout(PAUSE) {
                    Ok(line) => {
                        let secrets = line.strip_prefix("opened ").expect("it says so first");
                        self.secrets = secrets.split(' ').map(str::to_owned).collect();
                        self.working.insert(number);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => panic!("process {number} has ended"),
                }
            }
        }
        panic!("nobody has opened the store");
    }

    /// Lets them work, kills one whose worker runs, and waits until all is delivered. One that waits for the store may be
    /// killed before.
    ///
    /// # Panics
    ///
    /// If a message was acknowledged and is not delivered, if one comes more than twice, with another id or with other
    /// bytes, or if those of a customer come in another order.
    pub fn kill_one(&mut self) {
        for number in &self.working {
            self.processes[*number].tell("go");
        }
        while !self.kill_any() {}
        self.await_store();
        self.settle();
    }

    /// Kills any of them after a while, starts another one, and tells whether its worker ran.
    fn kill_any(&mut self) -> bool {
        let working: Vec<_> = self.working.iter().copied().collect();
        for _ in 0..=self.dice.below(MESSAGES) {
            let number = working[self.dice.below(working.len())];
            let line = self.processes[number].hear();
            self.made.insert(made(&line).expect("nothing but messages that are made"));
        }
        let victim = self.dice.below(2);
        wait(Duration::from_micros(u64::try_from(self.dice.below(MICROS)).unwrap()));
        self.processes[victim].kill();
        let folder = self.folder.path().join("data");
        let is_working = self.working.remove(&victim);
        if is_working {
            // What it had said before counts too.
            self.made.extend(self.processes[victim].lines.iter().filter_map(|line| made(&line)));
            self.kills += 1;
            Minutes::beside(&folder).set(self.kills);
        } else {
            self.kills_of_waiting += 1;
        }
        let url = self.receiver.url();
        self.processes[victim] = Process::start(&self.program, &self.place, &folder, &url);
        is_working
    }

    /// Waits until all is delivered, and checks it.
    fn settle(&mut self) {
        for number in &self.working {
            self.processes[*number].tell("settle");
        }
        for number in &self.working {
            let mut line = self.processes[*number].hear();
            while let Some(message) = made(&line) {
                self.made.insert(message);
                line = self.processes[*number].hear();
            }
            assert_eq!(line.trim(), "settled");
        }
        for request in self.receiver.all() {
            let is_strict = request.path.ends_with("/strict");
            self.endpoints[usize::from(is_strict)].note(request);
        }
        self.endpoints.iter().for_each(|endpoint| endpoint.check(&self.made));
    }

    /// Ends both, and returns what was delivered.
    #[must_use]
    pub fn end(self) -> Delivered {
        let Self { processes, endpoints, secrets, kills, kills_of_waiting, .. } = self;
        drop(processes);
        Delivered { endpoints, secrets, kills, kills_of_waiting }
    }
}

impl Delivered {
    /// Returns the requests that arrived, each with the secret that it is signed with.
    pub fn requests(&self) -> impl Iterator<Item = (&Received, &str)> {
        let endpoints = self.endpoints.iter().zip(&self.secrets);
        endpoints.flat_map(|(endpoint, secret)| {
            endpoint.requests.iter().map(|request| (request, secret.as_str()))
        })
    }

    /// How many messages came twice.
    #[must_use]
    pub fn twice(&self) -> usize {
        self.endpoints.iter().map(Arrivals::twice).sum()
    }
}

impl fmt::Display for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, kills_of_waiting, .. } = self;
        write!(f, "{kills} kills of a process whose worker ran, ")?;
        write!(f, "{kills_of_waiting} of one that waited for the store: none lost")?;
        for ((_, order), endpoint) in ENDPOINTS.iter().zip(&self.endpoints) {
            let (messages, twice) = (endpoint.messages(), endpoint.twice());
            write!(f, "; {order:?}: {messages} messages delivered, {twice} of them twice")?;
        }
        Ok(())
    }
}
