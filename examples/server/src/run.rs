use std::{
    io::{self, Write as _},
    net::{SocketAddr, TcpListener},
    process::ExitCode,
};

use crate::{
    Chain, Command, Host, OneLine, OpenError, Options, ServeOptions, Stopped, keys::KeysError,
    listen, log, process, stop, stop::Signals, webhooks,
};

/// Why a server did not run, or not to its proper end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing was done with API keys.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// There is nothing to serve.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The address is in use, or is not this machine's.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The server broke off.
    #[error("the server failed")]
    Serve(#[source] io::Error),
}

/// Runs a server until SIGINT or SIGTERM: opens the store, listens, and hands both to `serve`, which
/// returns once it is asked to stop and what is in flight is answered. Or does what the options say
/// instead.
pub async fn run<S>(options: Options, serve: S) -> ExitCode
where
    S: AsyncFnOnce(TcpListener, Host, Stopped) -> io::Result<()>,
{
    process::keep_files_private();
    let done = match options.command {
        None => start(&options.serve, serve).await,
        Some(Command::Keys(command)) => {
            command.run(&mut io::stdout(), &mut io::stderr()).await.map_err(Error::Keys)
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", Chain(&error));
            ExitCode::FAILURE
        }
    }
}

async fn start<S>(options: &ServeOptions, serve: S) -> Result<(), Error>
where
    S: AsyncFnOnce(TcpListener, Host, Stopped) -> io::Result<()>,
{
    log::begin();
    let host = Host::open(options).await?;
    let refused = |source| Error::Listen { address: options.listen, source };
    let listener = listen(options.listen).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let signals = Signals::listen().map_err(Error::Serve)?;

    let (stop, stopped) = stop();
    let upkeep = tokio::spawn(host.upkeep().clone().keep_up(stopped.clone()));
    let delivering = host.worker().cloned();
    let delivering = delivering.map(|of| tokio::spawn(webhooks::deliver(of, stopped.clone())));
    tokio::spawn(async move {
        signals.first().await;
        tracing::info!("stopping");
        stop.ask();
    });
    let connections = host.connections().bounds().most;
    tracing::info!(%address, store = %OneLine(&options.store), connections, "serving");
    // Nobody may be reading.
    let _ = writeln!(io::stdout(), "listening on http://{address}{}", options.base_path.as_str());
    if let Some(link) = host.first_link(address).await.map_err(OpenError::Read)? {
        let _ = writeln!(io::stdout(), "the first person comes in here, once: {link}");
    }
    serve(listener, host, stopped).await.map_err(Error::Serve)?;
    // What was answered is in the store for good; what is due waits for the next start.
    for (work, name) in [(Some(upkeep), "upkeep"), (delivering, "delivery of messages")] {
        let Some(work) = work else { continue };
        if let Err(error) = work.await {
            tracing::error!(error = %Chain(&error), "the {name} failed");
        }
    }
    tracing::info!("stopped");
    Ok(())
}
