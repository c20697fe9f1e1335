use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::{Args, Parser as _, ValueEnum};
use tokio::runtime::Runtime;

use crate::{Launch, Outcome, Server, Store};

/// Which server, on what.
#[derive(Clone, Debug, Args)]
pub struct ServerOptions {
    /// The server of which example
    #[arg(long, value_enum, default_value = "axum")]
    pub framework: Framework,

    /// Where the server stores everything: on fjall and sled in a folder of its own; a database must be empty
    #[arg(long, value_name = "memory|fjall|sled|postgres:URL", default_value = "fjall")]
    pub store: Store,

    /// The program that is the server; this one is where none is named
    #[arg(long, value_name = "PATH")]
    pub server: Option<PathBuf>,
}

/// A server of the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Framework {
    /// `examples/axum-server`
    Axum,
    /// `examples/actix-server`
    Actix,
}

/// The first argument of a process that is to be a server; the second one says which.
const SERVE: &str = "serve-as";

/// Becomes a server of the examples where the arguments say so. A program that attacks one needs no
/// other program built beside it.
#[must_use]
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != SERVE {
        return None;
    }
    let framework = Framework::from_str(arguments.next()?.to_str()?, false).ok()?;
    let options = [OsString::from(framework.name())].into_iter().chain(arguments);
    let options = example_server::Options::parse_from(options);
    let runtime = Runtime::new().ok()?;
    Some(runtime.block_on(async {
        match framework {
            Framework::Axum => example_server::run(options, example_axum_server::serve).await,
            Framework::Actix => example_server::run(options, example_actix_server::serve).await,
        }
    }))
}

impl ServerOptions {
    /// Says how the server is started, with its store in a folder, and its key beside that.
    ///
    /// # Errors
    ///
    /// Where there is no such program.
    pub fn launch(&self, folder: &Path) -> Outcome<Launch> {
        let mut command = match &self.server {
            Some(program) => Command::new(program),
            None => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args([SERVE, self.framework.name()]);
                command
            }
        };
        let is_limited = limits_rates(&command)?;
        command.args(["--listen", "127.0.0.1:0", "--base-path", Server::BASE_PATH]);
        command.args(["--api-key", Server::KEY, "--store"]).arg(self.store.at(folder));
        if let Store::Postgres(_) = self.store {
            command.arg("--key-file").arg(folder.with_extension("key"));
        }
        if is_limited {
            command.args(["--rate-limit", "none"]);
        }
        Ok(Launch::new(command))
    }
}

/// Tells whether a server limits rates where nothing else is said.
fn limits_rates(server: &Command) -> Outcome<bool> {
    let mut command = Command::new(server.get_program());
    let help = command.args(server.get_args()).arg("--help").output();
    let help = help.map_err(|error| format!("{}: {error}", server.get_program().display()))?;
    Ok(String::from_utf8_lossy(&help.stdout).contains("--rate-limit"))
}

impl Framework {
    const fn name(self) -> &'static str {
        match self {
            Self::Axum => "axum",
            Self::Actix => "actix",
        }
    }
}
