//! One endpoint, for as long as a worker has it.

use std::collections::{HashMap, VecDeque};

use accrue::{
    Error, MessageId, limits,
    webhook::{
        Answer, AttemptReport, Endpoint, EndpointLease, Outgoing, Signatures, WaitingDelivery,
    },
};
use bytes::Bytes;
use futures_util::{
    future::BoxFuture,
    stream::{FuturesUnordered, StreamExt as _},
};
use http::{Request, header};

use super::Inner;
use crate::Response;

/// The most attempts that were made and are not reported yet, those under way included: so many are made again
/// where the worker is gone.
const UNREPORTED: usize = 256;

/// Number of messages that are looked at together.
const LOOKED_AT: usize = limits::SCAN_ROWS;

/// Number of bodies that are read together.
const READ: usize = 32;

/// Number of them that are of one queue: those of others do not wait for it.
const READ_OF_QUEUE: usize = 8;

/// An endpoint that is served.
pub(super) struct Serving<'w> {
    worker: &'w Inner,
    lease: EndpointLease,
    endpoint: Option<Endpoint>,
    is_probed: bool,
    /// What is to be sent next.
    ready: VecDeque<Outgoing>,
    /// What is under way, or not reported yet.
    known: HashMap<MessageId, State>,
    reports: Vec<AttemptReport>,
    is_reporting: bool,
    /// Whether an attempt failed since the last report: how the endpoint fares is known once that is reported.
    has_failed: bool,
    under_way: FuturesUnordered<BoxFuture<'w, Done>>,
}

/// Where an attempt stands.
#[derive(Clone, Copy)]
enum State {
    UnderWay(WaitingDelivery),
    Made,
}

/// What has come to an end.
enum Done {
    Attempt(Box<AttemptReport>),
    Report(Vec<MessageId>, Result<Option<Endpoint>, Error>),
}

impl<'w> Serving<'w> {
    pub(super) fn new(worker: &'w Inner, lease: EndpointLease) -> Self {
        Self {
            worker,
            lease,
            endpoint: None,
            is_probed: false,
            ready: VecDeque::new(),
            known: HashMap::new(),
            reports: Vec::new(),
            is_reporting: false,
            has_failed: false,
            under_way: FuturesUnordered::new(),
        }
    }

    /// Sends what is due, until nothing is.
    pub(super) async fn run(mut self) -> Result<(), Error> {
        let mut is_ours = true;
        loop {
            is_ours = is_ours && self.keep().await?;
            if is_ours {
                self.send_some().await?;
            }
            self.report_some();
            match self.under_way.next().await {
                Some(Done::Attempt(report)) => self.note(*report),
                Some(Done::Report(ids, outcome)) => self.note_reported(ids, outcome?),
                None if is_ours => return self.worker.billing.leave_endpoint(&self.lease).await,
                None => return Ok(()),
            }
        }
    }

    /// Keeps the endpoint while requests may be under way; false where it is somebody else's.
    async fn keep(&mut self) -> Result<bool, Error> {
        let billing = &self.worker.billing;
        let soon = billing.now().saturating_add(limits::LEASE / 2);
        if soon < self.lease.until() {
            return Ok(true);
        }
        match billing.keep_endpoint(&self.lease).await? {
            Some(kept) => self.lease = kept,
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Begins as many requests as may be made at once.
    async fn send_some(&mut self) -> Result<(), Error> {
        let most = match self.is_probed {
            true => 1,
            false => self.worker.options.requests_per_endpoint.max(1),
        };
        while !self.has_failed && self.sending() < most && self.known.len() < UNREPORTED {
            if self.ready.is_empty() && !self.look().await? {
                break;
            }
            let Some(next) = self.next_ready() else { break };
            let Some(endpoint) = self.endpoint.clone() else { break };
            self.known.insert(next.delivery.message_id(), State::UnderWay(next.delivery));
            let attempt = attempt(self.worker, self.lease.clone(), endpoint, next);
            self.under_way.push(Box::pin(attempt));
        }
        Ok(())
    }

    fn sending(&self) -> usize {
        self.known.values().filter(|of| matches!(of, State::UnderWay(_))).count()
    }

    /// Takes the next message of a queue of which none is under way: so first attempts arrive in order.
    fn next_ready(&mut self) -> Option<Outgoing> {
        let is_held_up = |of: &WaitingDelivery| {
            self.known.values().any(|state| match state {
                State::UnderWay(other) => other.is_of_queue(of),
                State::Made => false,
            })
        };
        let at = self.ready.iter().position(|of| !is_held_up(&of.delivery))?;
        self.ready.remove(at)
    }

    /// Looks for what is due, and tells whether something is.
    async fn look(&mut self) -> Result<bool, Error> {
        let billing = &self.worker.billing;
        let waiting = billing.waiting_deliveries(&self.lease, LOOKED_AT).await?;
        self.is_probed = waiting.is_probed;
        let Some(endpoint) = waiting.endpoint else { return Ok(false) };
        let most = if waiting.is_probed { 1 } else { READ };
        let mut chosen: Vec<WaitingDelivery> = Vec::new();
        for of in waiting.deliveries {
            if chosen.len() >= most {
                break;
            }
            let of_queue = chosen.iter().filter(|other| other.is_of_queue(&of)).count();
            if of_queue < READ_OF_QUEUE && !self.known.contains_key(&of.message_id()) {
                chosen.push(of);
            }
        }
        self.ready = billing.outgoing(&self.lease, &endpoint, &chosen).await?.into();
        self.endpoint = Some(endpoint);
        Ok(!self.ready.is_empty())
    }

    fn note(&mut self, report: AttemptReport) {
        self.known.insert(report.delivery.message_id(), State::Made);
        self.worker.counters.attempted(&report.answer);
        if !report.answer.is_success() {
            self.has_failed = true;
            self.ready.clear();
        }
        self.reports.push(report);
    }

    /// Reports what was attempted, unless a report is under way: that one is followed by another.
    fn report_some(&mut self) {
        if self.is_reporting || self.reports.is_empty() {
            return;
        }
        self.is_reporting = true;
        let (worker, lease) = (self.worker, self.lease.clone());
        let reports = std::mem::take(&mut self.reports);
        self.under_way.push(Box::pin(async move {
            let ids = reports.iter().map(|of| of.delivery.message_id()).collect();
            let schedule = &worker.options.schedule;
            let outcome = worker.billing.report_deliveries(&lease, reports, schedule).await;
            Done::Report(ids, outcome)
        }));
    }

    fn note_reported(&mut self, ids: Vec<MessageId>, disabled: Option<Endpoint>) {
        self.is_reporting = false;
        for id in ids {
            self.known.remove(&id);
        }
        self.has_failed = self.reports.iter().any(|of| !of.answer.is_success());
        if let Some(disabled) = disabled {
            self.worker.counters.disabled();
            self.worker.tell_disabled(self.lease.account(), &disabled);
        }
    }
}

/// Makes one attempt, in a span of its own.
async fn attempt(worker: &Inner, lease: EndpointLease, endpoint: Endpoint, of: Outgoing) -> Done {
    let _permit = worker.requests.acquire().await;
    #[cfg(feature = "tracing")]
    {
        use tracing::Instrument as _;

        let span = tracing::info_span!(
            target: "accrue",
            "delivery",
            account = %lease.account(),
            endpoint = %endpoint.id,
            message = %of.delivery.message_id(),
            status = tracing::field::Empty,
            failure = tracing::field::Empty,
        );
        let report = send(worker, &lease, endpoint, of).instrument(span.clone()).await;
        match &report.answer {
            Answer::Status { code, .. } => span.record("status", code),
            Answer::Nothing { reason } => span.record("failure", reason),
            _ => &span,
        };
        Done::Attempt(Box::new(report))
    }
    #[cfg(not(feature = "tracing"))]
    Done::Attempt(Box::new(send(worker, &lease, endpoint, of).await))
}

async fn send(
    worker: &Inner,
    lease: &EndpointLease,
    endpoint: Endpoint,
    of: Outgoing,
) -> AttemptReport {
    let billing = &worker.billing;
    let (at, id) = (billing.now(), of.delivery.message_id());
    let secrets = endpoint.secrets(&worker.key, lease.account(), at);
    let Signatures { seconds, standard, instant, api, .. } = secrets.sign(id, at, &of.body);
    let request = Request::post(endpoint.url.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, concat!("accrue/", env!("CARGO_PKG_VERSION")))
        .header("webhook-id", id.to_string())
        .header("webhook-timestamp", seconds)
        .header("webhook-signature", standard)
        .header("webhook-sequence", of.delivery.number())
        .header("x-orb-timestamp", instant)
        .header("x-orb-signature", api);
    let sent = match request.body(Bytes::copy_from_slice(of.body.as_bytes())) {
        Ok(request) => worker.transport.send(request).await.map_err(|failure| failure.reason()),
        Err(error) => Err(error.to_string()),
    };
    let now = billing.now();
    let (answer, retry_after) = match sent {
        Ok(Response { status, retry_after, body }) => {
            let micros = now.micros().saturating_sub(at.micros());
            let elapsed_ms = u64::try_from(micros).unwrap_or_default() / 1_000;
            let answer = Answer::Status { code: status.as_u16(), elapsed_ms, body };
            (answer, retry_after.map(|asked| asked.from(now)))
        }
        Err(reason) => (Answer::Nothing { reason }, None),
    };
    AttemptReport { delivery: of.delivery, url: endpoint.url, at, answer, retry_after }
}
