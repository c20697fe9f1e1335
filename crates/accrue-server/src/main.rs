//! The billing API as a program: `accrue-server --help` says how.

mod receive;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use example_server::{Command, Options, ServeOptions};

use self::receive::Receive;

/// Where everything is stored, unless the command line says otherwise.
const STORE: &str = "fjall:accrue-data";

/// Serves the billing API, and delivers its webhook messages.
///
/// Requests go below the base path, with `Authorization: Bearer KEY`. `GET /healthz` needs no key: it answers 200
/// while the store answers. SIGINT and SIGTERM let requests in flight finish.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Program {
    #[command(flatten)]
    serve: ServeOptions,
    #[command(subcommand)]
    command: Option<Instead>,
}

/// What can be done instead of serving.
#[derive(Debug, Subcommand)]
enum Instead {
    #[command(flatten)]
    Shared(Command),
    Receive(Receive),
}

#[tokio::main]
async fn main() -> ExitCode {
    let program = Program::command().mut_arg("store", |store| store.default_value(STORE));
    let program = Program::from_arg_matches(&program.get_matches());
    let Program { serve, command } = program.unwrap_or_else(|error| error.exit());
    let command = match command {
        Some(Instead::Receive(receive)) => return receive.run().await,
        Some(Instead::Shared(command)) => Some(command),
        None => None,
    };
    example_server::run(Options { serve, command }, example_axum_server::serve).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_survives() {
        let program = Program::command().mut_arg("store", |store| store.default_value(STORE));
        let matches = program.clone().try_get_matches_from(["accrue-server"]).unwrap();
        let Program { serve, .. } = Program::from_arg_matches(&matches).unwrap();
        assert_eq!(serve.store.to_string(), "fjall:accrue-data");
        let keys = ["accrue-server", "keys", "list", "--store", "memory", "--account", "acme"];
        assert!(program.clone().try_get_matches_from(keys).is_ok());
        assert!(program.try_get_matches_from(["accrue-server", "receive"]).is_ok());
    }
}
