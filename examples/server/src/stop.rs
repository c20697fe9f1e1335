use std::io;

use tokio::sync::watch;

/// Asks a server to stop. Dropping it asks too.
#[derive(Debug)]
pub struct Stop(watch::Sender<bool>);

/// Waits until a server is asked to stop.
#[derive(Clone, Debug)]
pub struct Stopped(watch::Receiver<bool>);

/// Makes the two ends.
#[must_use]
pub fn stop() -> (Stop, Stopped) {
    let (sender, receiver) = watch::channel(false);
    (Stop(sender), Stopped(receiver))
}

impl Stop {
    /// Asks.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }
}

impl Stopped {
    /// Is done once the server is asked to stop.
    pub async fn wait(mut self) {
        // An error says that nobody is left who could ask.
        let _ = self.0.wait_for(|asked| *asked).await;
    }
}

/// What a process is asked to stop with.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: signal(interrupt)?, terminate: signal(terminate)? })
    }

    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Is done with the first of them.
    #[cfg(unix)]
    pub(crate) async fn first(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn first(self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
