//! A look for what is to be sent to an endpoint next.

use std::collections::HashSet;

use accrue::{
    Error, MessageId, limits,
    webhook::{Endpoint, EndpointLease, Outgoing, Waiting, WaitingDelivery},
};

use super::Inner;

/// Number of messages that are looked at first, beside those that are known.
const LOOKED_AT: usize = 256;

/// Number of messages that are looked at where those before them wait for others of their customers.
const MOST_LOOKED_AT: usize = 8 * limits::SCAN_ROWS;

/// The most messages that are remembered to be due, without their bodies.
const REMEMBERED: usize = 1_000;

/// Number of bodies that are read together.
pub(super) const READ: usize = 32;

/// Number of them that are of one queue: those of others do not wait for it.
const READ_OF_QUEUE: usize = 8;

/// What is known of what is due when somebody looks for more.
pub(super) struct Look {
    pub(super) lease: EndpointLease,
    /// Messages that are under way, or not reported yet.
    pub(super) known: HashSet<MessageId>,
    /// What is ready.
    pub(super) ready: Vec<WaitingDelivery>,
    /// What is due after that.
    pub(super) due: Vec<WaitingDelivery>,
    /// Whether more may be due since the store was asked.
    pub(super) is_told: bool,
    pub(super) is_probed: bool,
}

/// What was found.
pub(super) struct Found {
    /// What is sent next.
    pub(super) outgoing: Vec<Outgoing>,
    /// What is due after that.
    pub(super) due: Vec<WaitingDelivery>,
    /// Whether more may be due since the store was asked.
    pub(super) is_told: bool,
    /// What the store says of the endpoint, where it was asked.
    pub(super) asked: Option<Asked>,
}

/// What the store says of an endpoint.
pub(super) struct Asked {
    pub(super) endpoint: Option<Endpoint>,
    pub(super) is_probed: bool,
    /// Whether all that was due is known.
    pub(super) is_all: bool,
}

impl Look {
    /// Reads the bodies of what is due first; the store is asked for more where nothing of what is known may be sent next.
    pub(super) async fn run(mut self, worker: &Inner) -> Result<Found, Error> {
        let due = std::mem::take(&mut self.due);
        let (mut chosen, mut due) = self.choose(due, self.most(self.is_probed));
        let mut asked = None;
        if chosen.is_empty() && (due.is_empty() || self.is_told) {
            let answer;
            (answer, chosen, due) = self.ask(worker, due).await?;
            asked = Some(answer);
        }
        let outgoing = worker.billing.outgoing(&self.lease, &chosen).await?;
        let is_told = self.is_told && asked.is_none();
        Ok(Found { outgoing, due, is_told, asked })
    }

    /// Asks the store for what is due first and is not known: further where that waits for others of its customers.
    async fn ask(
        &self,
        worker: &Inner,
        due: Vec<WaitingDelivery>,
    ) -> Result<(Asked, Vec<WaitingDelivery>, Vec<WaitingDelivery>), Error> {
        let known = self.ready.iter().chain(&due).map(WaitingDelivery::message_id);
        let known: HashSet<_> = known.chain(self.known.iter().copied()).collect();
        let mut limit = LOOKED_AT.saturating_add(known.len());
        loop {
            let waiting = worker.billing.waiting_deliveries(&self.lease, limit).await?;
            let Waiting { endpoint, deliveries, is_probed, .. } = waiting;
            let is_all = deliveries.len() < limit;
            let new = deliveries.into_iter().filter(|of| !known.contains(&of.message_id()));
            let most = self.most(is_probed);
            let (chosen, mut rest) = self.choose(due.iter().copied().chain(new), most);
            // Where some is known to be due already, it was looked further before.
            let is_enough = chosen.len() >= most || !due.is_empty();
            if is_enough || is_all || limit >= MOST_LOOKED_AT {
                let is_all = is_all && rest.len() <= REMEMBERED;
                rest.truncate(REMEMBERED);
                return Ok((Asked { endpoint, is_probed, is_all }, chosen, rest));
            }
            limit = limit.saturating_mul(8).min(MOST_LOOKED_AT);
        }
    }

    const fn most(&self, is_probed: bool) -> usize {
        if is_probed { 1 } else { READ }
    }

    /// Chooses what is read next, and returns the rest too.
    fn choose(
        &self,
        due: impl IntoIterator<Item = WaitingDelivery>,
        most: usize,
    ) -> (Vec<WaitingDelivery>, Vec<WaitingDelivery>) {
        let (mut chosen, mut rest): (Vec<WaitingDelivery>, _) = (Vec::new(), Vec::new());
        for of in due {
            let is_chosen = chosen.len() < most && {
                let same = self.ready.iter().chain(&chosen).filter(|other| other.is_of_queue(&of));
                same.take(READ_OF_QUEUE).count() < READ_OF_QUEUE
            };
            if is_chosen { chosen.push(of) } else { rest.push(of) }
        }
        (chosen, rest)
    }
}
