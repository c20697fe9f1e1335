//! An endpoint for tries.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    process::ExitCode,
};

use axum::{Router, body::Bytes, http::StatusCode, routing::post};
use clap::Args;
use example_server::OneLine;
use tokio::net::TcpListener;

/// Shows the webhook messages that arrive at an address, and answers 204: an endpoint for tries
///
/// Each is a line on standard output, as it came. Signatures are not judged: a receiver that acts on a message judges
/// them first.
#[derive(Args, Clone, Debug)]
pub(crate) struct Receive {
    /// The address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9000")]
    listen: SocketAddr,
}

impl Receive {
    /// Receives until the process ends.
    pub(crate) async fn run(self) -> ExitCode {
        match self.receive().await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                let _ = writeln!(io::stderr(), "error: cannot listen on {}: {error}", self.listen);
                ExitCode::FAILURE
            }
        }
    }

    async fn receive(&self) -> io::Result<()> {
        let listener = TcpListener::bind(self.listen).await?;
        let address = listener.local_addr()?;
        let _ = writeln!(io::stderr(), "an endpoint for tries: http://{address}/");
        let router = Router::new().fallback(post(shown));
        axum::serve(listener, router).await
    }
}

/// Shows a message.
async fn shown(body: Bytes) -> StatusCode {
    match writeln!(io::stdout(), "{}", OneLine(String::from_utf8_lossy(&body))) {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
