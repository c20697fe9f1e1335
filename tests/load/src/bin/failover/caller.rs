//! Who asks until there is an answer.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use accrue_crash_tests::Dice;
use accrue_load_tests::{Answer, Ask, Client, Outcome, Request, Sent, pause};
use tokio::time::{Instant, timeout};

use crate::progress::Progress;

/// How long a caller waits for an answer at least, and how much longer at most.
const PATIENCE: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];
/// How long it waits at most before it asks again.
const PAUSE: Duration = Duration::from_millis(200);
/// After so long it asks no more.
const END: Duration = Duration::from_secs(90);

/// A caller that asks one server after another, with the same key, until one answers.
pub(crate) struct Caller {
    clients: Vec<Client>,
    /// The number of the server that is asked next.
    next: usize,
    dice: Dice,
    progress: Arc<Progress>,
}

impl Caller {
    /// A caller that begins with the first of the servers.
    pub(crate) fn new(servers: &[SocketAddr], seed: u64, progress: Arc<Progress>) -> Self {
        let clients = servers.iter().copied().map(Client::new).collect();
        Self { clients, next: 0, dice: Dice::new(seed), progress }
    }

    /// Asks once. What is no answer is said in a word or two.
    async fn once(&mut self, request: &Request) -> Result<Answer, String> {
        let [least, more] = PATIENCE;
        let patience = least + self.within(more);
        let client = self.clients.get_mut(self.next).ok_or("no server")?;
        match timeout(patience, client.send(request)).await {
            Err(_) => Err("no answer in time".to_owned()),
            Ok(Err(error)) => Err(error.kind().to_string()),
            // The API keeps no answer of these, and its clients ask again.
            Ok(Ok(Answer { status: status @ (408 | 409 | 429 | 500..), .. })) => {
                Err(format!("status {status}"))
            }
            Ok(Ok(answer)) => Ok(answer),
        }
    }

    fn within(&mut self, most: Duration) -> Duration {
        most * u32::try_from(self.dice.below(1_000)).unwrap_or(0) / 1_000
    }
}

impl Ask for Caller {
    async fn ask(&mut self, request: &Request) -> Outcome<Sent> {
        if self.progress.is_over() {
            return Ok(Sent::Not);
        }
        let (begun, mut doubts) = (Instant::now(), 0);
        loop {
            let sent = Instant::now();
            match self.once(request).await {
                Ok(answer) => {
                    self.progress.answered(sent);
                    return Ok(Sent::Answered(answer, doubts));
                }
                Err(what) => self.progress.doubted(what),
            }
            doubts += 1;
            if begun.elapsed() > END {
                return Ok(Sent::InDoubt(doubts));
            }
            self.next = (self.next + 1) % self.clients.len().max(1);
            pause(self.within(PAUSE)).await;
        }
    }
}
