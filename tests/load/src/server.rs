use std::{
    fs::{self, File},
    net::SocketAddr,
    path::PathBuf,
    process::{self, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::Outcome;

/// How a server is started.
#[derive(Debug)]
pub struct Launch {
    command: process::Command,
    logs: Option<PathBuf>,
    /// How many were started.
    count: usize,
}

/// A server that has been started, and may not listen yet. It is killed when this is dropped.
#[derive(Debug)]
pub struct Starting {
    child: Child,
    said: BufReader<ChildStdout>,
    log: Option<PathBuf>,
}

/// A server that listens. It is killed when this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
}

/// How long a server may take to open its store.
const OPENING: Duration = Duration::from_secs(120);

/// What a server says once it listens, before the address.
const LISTENS: &str = "listening on http://";

impl Launch {
    pub(crate) const fn new(command: process::Command) -> Self {
        Self { command, logs: None, count: 0 }
    }

    /// Starts servers with one more argument.
    pub fn with(&mut self, argument: &str) {
        self.command.arg(argument);
    }

    /// Has servers log to files in a folder, each to one of its own.
    pub fn log_to(&mut self, folder: PathBuf) {
        self.logs = Some(folder);
    }

    /// Starts a server, and waits until it listens.
    ///
    /// # Errors
    ///
    /// Where it does not.
    pub async fn start(&mut self) -> Outcome<Server> {
        self.begin()?.listens().await
    }

    /// Starts a server.
    ///
    /// # Errors
    ///
    /// Where it cannot be run.
    pub fn begin(&mut self) -> Outcome<Starting> {
        self.count += 1;
        let log = self.logs.as_ref().map(|logs| logs.join(format!("server-{}.log", self.count)));
        let stderr = match &log {
            Some(log) => File::create(log)?.into(),
            None => Stdio::null(),
        };
        let program = self.command.get_program();
        let mut command = Command::new(program);
        command.args(self.command.get_args());
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.kill_on_drop(true).spawn()?;
        let said = child.stdout.take().ok_or("a server without a standard output")?;
        Ok(Starting { child, said: BufReader::new(said), log })
    }
}

impl Starting {
    /// Waits until it listens.
    ///
    /// # Errors
    ///
    /// Where it does not, with what it logged.
    pub async fn listens(mut self) -> Outcome<Server> {
        let mut line = String::new();
        timeout(OPENING, self.said.read_line(&mut line)).await??;
        let address = line.strip_prefix(LISTENS).and_then(|rest| rest.split('/').next());
        match address.and_then(|address| address.parse().ok()) {
            Some(address) => Ok(Server { child: self.child, address }),
            None => {
                let log = self.log.and_then(|log| fs::read_to_string(log).ok()).unwrap_or_default();
                Err(format!("the server does not start: {line}{log}").into())
            }
        }
    }

    /// Kills it, and tells whether it still opened its store.
    ///
    /// # Errors
    ///
    /// Where it cannot be killed, or had ended by itself.
    pub async fn kill(mut self) -> Outcome<bool> {
        kill(&mut self.child).await?;
        let mut said = String::new();
        self.said.read_to_string(&mut said).await?;
        Ok(!said.starts_with(LISTENS))
    }
}

impl Server {
    /// What a client is let in with.
    pub const KEY: &str = "load-key";
    /// The path that the API is served below.
    pub const BASE_PATH: &str = "/v1";

    /// Returns where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its resident memory and the most that this has been, in MiB; `None` where the machine
    /// does not say.
    #[must_use]
    pub fn memory(&self) -> Option<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? / 1024)
        };
        Some((field("VmRSS:")?, field("VmHWM:")?))
    }

    /// Kills it.
    ///
    /// # Errors
    ///
    /// Where it cannot be killed, or had ended by itself.
    pub async fn kill(mut self) -> Outcome<()> {
        kill(&mut self.child).await
    }
}

/// Kills a process that has not ended by itself.
async fn kill(child: &mut Child) -> Outcome<()> {
    child.start_kill()?;
    match child.wait().await?.code() {
        None => Ok(()),
        Some(code) => Err(format!("the server ended by itself, with {code}").into()),
    }
}
