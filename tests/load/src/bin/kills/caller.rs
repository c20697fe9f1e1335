//! Who asks a server until that does not answer.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use accrue_load_tests::{Ask, Client, Outcome, Request, Sent};

/// A client of one server. What it is not answered is in doubt.
pub(crate) struct Caller {
    client: Client,
    /// Whether it is to ask no more, though its server answers.
    is_over: Arc<AtomicBool>,
}

impl Caller {
    pub(crate) const fn new(address: SocketAddr, is_over: Arc<AtomicBool>) -> Self {
        Self { client: Client::new(address), is_over }
    }
}

impl Ask for Caller {
    async fn ask(&mut self, request: &Request) -> Outcome<Sent> {
        if self.is_over.load(Ordering::SeqCst) {
            return Ok(Sent::Not);
        }
        match self.client.send(request).await {
            Ok(answer) if answer.is_success() => Ok(Sent::Answered(answer, 0)),
            Ok(refused) => {
                let (path, body) = (&request.path, String::from_utf8_lossy(&refused.body));
                Err(format!("{path}: {} {body}", refused.status).into())
            }
            Err(_) => Ok(Sent::InDoubt(1)),
        }
    }
}
