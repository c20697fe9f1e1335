use std::{
    io,
    net::SocketAddr,
    thread::{self, JoinHandle},
};

use accrue::{AccountId, Billing, ManualClock, SeededEntropy, Timestamp, store::Store};
use accrue_http::{Api, Bounds, FixedKey};
use accrue_webhooks::TokioTimer;
use clap::Parser as _;
use example_server::{Host, Options, Stop, listen, stop};

/// A server of the examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// `examples/axum-server`.
    Axum,
    /// `examples/actix-server`.
    Actix,
}

/// A server that runs in this process, on a free port of the loopback.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Stop,
    thread: JoinHandle<io::Result<()>>,
}

impl Framework {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Axum, Self::Actix];
}

impl Server {
    /// What a client is let in with.
    pub const KEY: &str = "test-key";
    /// The most bytes of a body.
    pub const BODY_BYTES: usize = 2_000;

    /// Makes an engine on a store, whose clock stands still and whose entropy is seeded.
    pub fn engine(store: impl Store) -> io::Result<Billing> {
        let noon = Timestamp::parse("2026-03-10T12:00:00Z").map_err(io::Error::other)?;
        Ok(Billing::new(store, ManualClock::at(noon), SeededEntropy::new(1)))
    }

    /// Makes a host of an engine on a store, which lets [`KEY`](Self::KEY) in.
    pub fn host(store: impl Store) -> io::Result<Host> {
        let billing = Self::engine(store)?;
        let account = AccountId::parse("default").map_err(io::Error::other)?;
        let bounds = Bounds { body_bytes: Self::BODY_BYTES, ..Bounds::default() };
        let key = FixedKey::new(Self::KEY, account);
        let api = Api::builder(billing.clone(), key).bounds(bounds).build();
        Ok(Host::new(billing, api))
    }

    /// Makes a host as the programs do that are started with these arguments.
    pub fn open(arguments: &[&str]) -> io::Result<Host> {
        let all = ["server"].iter().chain(arguments);
        let options = Options::try_parse_from(all).map_err(io::Error::other)?.serve;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        runtime.block_on(Host::open(&options)).map_err(io::Error::other)
    }

    /// Starts a server over a store. Its clock stands still and its entropy is seeded: two of them
    /// that are asked the same answer the same.
    pub fn start(framework: Framework, store: impl Store) -> io::Result<Self> {
        Self::serve(framework, Self::host(store)?)
    }

    /// Starts a server of a host.
    pub fn serve(framework: Framework, host: Host) -> io::Result<Self> {
        let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = stop();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let delivering = host.worker().cloned();
                let delivering = delivering.map(|worker| {
                    tokio::spawn(worker.run_until(TokioTimer, stopped.clone().wait()))
                });
                match framework {
                    Framework::Axum => example_axum_server::serve(listener, host, stopped).await,
                    Framework::Actix => example_actix_server::serve(listener, host, stopped).await,
                }?;
                match delivering {
                    Some(delivering) => delivering.await.map_err(io::Error::other),
                    None => Ok(()),
                }
            })
        });
        Ok(Self { address, stop, thread })
    }

    /// Returns where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Asks it to stop.
    pub fn ask_to_stop(&self) {
        self.stop.ask();
    }

    /// Asks it to stop, and waits until it has.
    pub fn end(self) -> io::Result<()> {
        self.stop.ask();
        self.thread.join().map_err(|_| io::Error::other("the server panicked"))?
    }
}
