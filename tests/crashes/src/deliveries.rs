//! Two processes that deliver the messages of one store, of which one is killed again and again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    io::{BufRead as _, BufReader, Write as _, stdin, stdout},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    str::FromStr,
    sync::{
        Arc,
        mpsc::{Receiver as Lines, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use accrue::{
    Account, AccountId, Billing, Clock, Email, IdempotencyKey, Name, PageRequest, SystemEntropy,
    Timestamp,
    customer::NewCustomer,
    schema,
    store::Store,
    webhook::{EndpointUrl, NewEndpoint, Reach, WebhookKey},
};
use accrue_http::{Api, FixedKey};
use accrue_postgres::PostgresStore;
use accrue_tests::receiver::{Received, Receiver};
use accrue_webhooks::{HyperTransport, Timer as _, TokioTimer, Worker};
use pollster::block_on;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{
    Dice, Kind,
    host::minute,
    life::{START, wait},
};

/// How often a process looks whether the store is free.
const PAUSE: Duration = Duration::from_millis(5);
/// So long a process may take for what it is told.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most messages that are made before one is killed, less one.
const MESSAGES: usize = 60;

/// Where messages are stored.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a folder: one of the processes has it, and the other waits for it.
    Folder(Kind),
    /// In a database of PostgreSQL, by its connection string: both have it.
    Database(String),
}

impl Place {
    /// The name of its store.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Folder(kind) => kind.name(),
            Self::Database(_) => "postgres",
        }
    }

    fn try_open(&self, folder: &Path) -> Option<Arc<dyn Store>> {
        match self {
            Self::Folder(kind) => kind.try_open(folder),
            Self::Database(connection) => {
                let migrated = block_on(PostgresStore::migrate(connection, schema::TABLES));
                migrated.expect("the tables can be made");
                let opened = block_on(PostgresStore::open(connection));
                Some(Arc::new(opened.expect("the database can be opened")))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(kind) => f.write_str(kind.name()),
            Self::Database(connection) => write!(f, "postgres:{connection}"),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("postgres:") {
            Some(connection) => Ok(Self::Database(connection.to_owned())),
            None => text.parse().map(Self::Folder),
        }
    }
}

/// Clock of all processes of a folder, kept in a file beside it: a minute passes with each that is killed, so that what it
/// had taken can be taken over.
#[derive(Debug)]
struct Minutes(PathBuf);

impl Minutes {
    fn beside(folder: &Path) -> Self {
        Self(folder.with_extension("minute"))
    }

    fn set(&self, minute: usize) {
        let new = self.0.with_extension("next");
        fs::write(&new, minute.to_string()).unwrap();
        fs::rename(&new, &self.0).unwrap();
    }
}

impl Clock for Minutes {
    fn now(&self) -> Timestamp {
        let text = fs::read_to_string(&self.0).unwrap();
        Timestamp::parse(&minute(text.parse().unwrap())).unwrap()
    }
}

/// Delivers messages as `crash-deliverer` does, until the process is killed.
///
/// It waits for the store, and says `opened`. With each `go` on the standard input it makes customers, each with a
/// message, and says `made` and the id; with `settle` it makes no more, and says `settled` once nothing is left to deliver.
///
/// # Panics
///
/// If the store cannot be used.
pub fn deliver(place: &Place, folder: &Path, url: &str) {
    let (sender, commands) = unbounded_channel();
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let store = loop {
        match place.try_open(folder) {
            Some(store) => break store,
            None => wait(PAUSE),
        }
    };
    let billing = Billing::new(store, Minutes::beside(folder), SystemEntropy);
    let account = billing.account(AccountId::parse("acme").unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let key = WebhookKey::new(&[7; 32]).unwrap();
        let page = PageRequest::default();
        let endpoints = account.list_webhook_endpoints(&page).await.unwrap().data;
        let endpoint = match endpoints.into_iter().next() {
            Some(endpoint) => endpoint,
            None => {
                let url = EndpointUrl::parse(url, &Reach::everything()).unwrap();
                // The other process may do so at the same time.
                let once = IdempotencyKey::parse("endpoint").unwrap();
                let created = account.create_webhook_endpoint(NewEndpoint::new(url)).keyed(once);
                created.await.unwrap().outcome
            }
        };
        say("opened", &endpoint.secret(&key, account.id()).reveal());
        let api = Api::builder(billing.clone(), FixedKey::new("key", account.id().clone())).build();
        let transport = HyperTransport::new(Reach::everything());
        tokio::spawn(Worker::new(billing, api, transport, key).run(TokioTimer));
        work(&account, commands).await;
    });
}

/// Does what it is told.
async fn work(account: &Account, mut commands: UnboundedReceiver<String>) {
    let mut is_making = false;
    loop {
        let command = match is_making {
            true => commands.try_recv().ok(),
            false => Some(commands.recv().await.expect("nobody tells what to do any more")),
        };
        match command.as_deref() {
            Some("go") => is_making = true,
            Some(_) => {
                is_making = false;
                settle(account).await;
                say("settled", "");
            }
            None => {
                let new = NewCustomer::new(
                    Name::parse("Ada").unwrap(),
                    Email::parse("ada@example.com").unwrap(),
                );
                let made = account.create_customer(new).await.unwrap();
                say("made", &made.id.to_string());
            }
        }
    }
}

/// Waits until nothing is left to deliver.
async fn settle(account: &Account) {
    loop {
        let waiting = account.list_messages(&PageRequest::default()).await.unwrap().data;
        let next = account.billing().next_endpoint_turn().await.unwrap();
        if waiting.is_empty() && next.is_none() {
            return;
        }
        TokioTimer.wait(PAUSE).await;
    }
}

fn say(what: &str, more: &str) {
    writeln!(stdout(), "{what} {more}").expect("whoever started it listens");
}

/// Two processes, and the endpoint that they deliver to.
#[derive(Debug)]
pub struct Deliverers {
    place: Place,
    program: PathBuf,
    folder: tempfile::TempDir,
    receiver: Receiver,
    processes: [Process; 2],
    /// Which of them makes the messages: the one that has the store, or either.
    holder: usize,
    secret: String,
    dice: Dice,
    made: BTreeSet<String>,
    received: Vec<Received>,
    kills: usize,
    takeovers: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct Delivered {
    /// Requests as they were received, in that order.
    pub received: Vec<Received>,
    /// The secret that they are signed with.
    pub secret: String,
    kills: usize,
    takeovers: usize,
    twice: usize,
    messages: usize,
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

    /// Waits for the next line, which begins like this.
    fn hear(&self, what: &str) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("{error}: expected it to say {what}"));
        let said = line.strip_prefix(what).unwrap_or_else(|| panic!("expected {what}: {line}"));
        said.trim().to_owned()
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
            holder: 0,
            secret: String::new(),
            dice: Dice::new(seed),
            made: BTreeSet::new(),
            received: Vec::new(),
            kills: 0,
            takeovers: 0,
        };
        all.await_holder();
        all
    }

    /// Waits until one of them has the store, which makes messages then.
    fn await_holder(&mut self) {
        for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
            for (number, process) in self.processes.iter().enumerate() {
                match process.lines.recv_timeout(PAUSE) {
                    Ok(line) => {
                        let secret = line.strip_prefix("opened ").expect("it says so first");
                        (self.holder, self.secret) = (number, secret.to_owned());
                        return;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => panic!("process {number} has ended"),
                }
            }
        }
        panic!("neither has opened the store");
    }

    /// Lets them work, kills one of them, and waits until all is delivered.
    ///
    /// # Panics
    ///
    /// If something is not delivered that was acknowledged.
    pub fn kill_one(&mut self) {
        self.processes[self.holder].tell("go");
        for _ in 0..=self.dice.below(MESSAGES) {
            let id = self.processes[self.holder].hear("made");
            self.made.insert(id);
        }
        let victim = self.dice.below(2);
        self.processes[victim].kill();
        self.kills += 1;
        // What it had said before counts too.
        for line in self.processes[victim].lines.iter() {
            self.made.extend(line.strip_prefix("made ").map(str::to_owned));
        }
        let folder = self.folder.path().join("data");
        Minutes::beside(&folder).set(self.kills);
        let url = self.receiver.url();
        self.processes[victim] = Process::start(&self.program, &self.place, &folder, &url);
        if victim == self.holder {
            self.takeovers += 1;
            self.await_holder();
        }
        self.settle();
    }

    fn settle(&mut self) {
        let holder = &mut self.processes[self.holder];
        holder.tell("settle");
        loop {
            let line = holder.lines.recv_timeout(PATIENCE).expect("it settles");
            match line.strip_prefix("made ") {
                Some(id) => drop(self.made.insert(id.to_owned())),
                None => break,
            }
        }
        self.received.extend(self.receiver.all());
        let told = |of: &Received| {
            let body: serde_json::Value = serde_json::from_str(&of.body).expect("a message");
            body["customer"]["id"].as_str().map(str::to_owned)
        };
        let told: BTreeSet<_> = self.received.iter().filter_map(told).collect();
        let lost: Vec<_> = self.made.difference(&told).collect();
        assert!(lost.is_empty(), "{lost:?} were acknowledged, and nobody was told");
    }

    /// Ends both, and returns what was delivered.
    ///
    /// # Panics
    ///
    /// If a message came more than twice, or with other bytes the second time.
    #[must_use]
    pub fn end(mut self) -> Delivered {
        for process in &mut self.processes {
            process.kill();
        }
        let received = std::mem::take(&mut self.received);
        let mut bodies = BTreeMap::<_, Vec<_>>::new();
        for of in &received {
            let id = of.header("webhook-id").expect("it has an id");
            bodies.entry(id).or_default().push(&of.body);
        }
        for (id, bodies) in &bodies {
            assert!(bodies.len() <= 2, "{id} came {} times", bodies.len());
            assert_eq!(bodies.first(), bodies.last(), "{id}");
        }
        let twice = bodies.values().filter(|bodies| bodies.len() == 2).count();
        let messages = bodies.len();
        let (secret, kills, takeovers) = (self.secret.clone(), self.kills, self.takeovers);
        Delivered { received, secret, kills, takeovers, twice, messages }
    }
}

impl Delivered {
    /// How many messages came twice.
    #[must_use]
    pub const fn twice(&self) -> usize {
        self.twice
    }
}

impl fmt::Display for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, takeovers, twice, messages, .. } = self;
        write!(f, "{kills} kills, {takeovers} of the process that made the messages: ")?;
        write!(f, "{messages} messages delivered, {twice} of them twice, none lost")
    }
}
