//! One endpoint, for as long as a worker has it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::Duration,
};

use accrue::{
    Error, MessageId, Timestamp, limits,
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

/// The most attempts that are reported together: a report that loses a race is made again as a whole.
const REPORTED: usize = 32;

/// How often a report that the store did not take is made.
const REPORTS: u32 = 5;

/// The longest that bodies are kept ready: what becomes of the endpoint meanwhile is seen then.
const FRESH: Duration = Duration::from_secs(1);

/// The time that an attempt needs of a lease: beyond it, somebody else may send the same.
const ATTEMPT: Duration = Duration::from_secs(20);

/// An endpoint that is served.
pub(super) struct Serving<'w> {
    worker: &'w Inner,
    lease: EndpointLease,
    /// Until when it is this worker's, in microseconds: for attempts that wait.
    until: Arc<AtomicI64>,
    endpoint: Option<Endpoint>,
    is_probed: bool,
    /// What is to be sent next.
    ready: VecDeque<Outgoing>,
    looked_at: Timestamp,
    /// What is under way, or not reported yet.
    known: HashMap<MessageId, State>,
    reports: Vec<AttemptReport>,
    is_reporting: bool,
    failed_reports: u32,
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
    /// There was no time left for it.
    NotMade(MessageId),
    Report(Vec<AttemptReport>, Result<Option<Endpoint>, Error>),
}

impl<'w> Serving<'w> {
    pub(super) fn new(worker: &'w Inner, lease: EndpointLease) -> Self {
        let until = Arc::new(AtomicI64::new(lease.until().micros()));
        Self {
            worker,
            lease,
            until,
            endpoint: None,
            is_probed: false,
            ready: VecDeque::new(),
            looked_at: Timestamp::MIN,
            known: HashMap::new(),
            reports: Vec::new(),
            is_reporting: false,
            failed_reports: 0,
            has_failed: false,
            under_way: FuturesUnordered::new(),
        }
    }

    /// Sends what is due, until nothing is. Where the store fails or the worker stops, what is under way ends, and is
    /// reported.
    pub(super) async fn run(mut self) -> Result<(), Error> {
        let (mut is_ours, mut failure) = (true, None);
        loop {
            if is_ours && !self.worker.is_stopping.load(Relaxed) {
                match self.go_on().await {
                    Ok(is_still_ours) => is_ours = is_still_ours,
                    Err(error) => (is_ours, failure) = (false, Some(error)),
                }
            }
            self.report_some();
            match self.under_way.next().await {
                Some(Done::Attempt(report)) => self.note(*report),
                Some(Done::NotMade(id)) => {
                    self.known.remove(&id);
                }
                Some(Done::Report(reports, outcome)) => {
                    if let Err(error) = self.note_reported(reports, outcome) {
                        (is_ours, failure) = (false, Some(error));
                    }
                }
                None => break,
            }
        }
        // Whoever comes when its time is over sends what could not be reported.
        if self.known.is_empty() {
            self.worker.billing.leave_endpoint(&self.lease).await?;
        }
        failure.map_or(Ok(()), Err)
    }

    /// Sends what may be sent now; false where the endpoint is somebody else's.
    async fn go_on(&mut self) -> Result<bool, Error> {
        if !self.keep().await? {
            return Ok(false);
        }
        self.send_some().await?;
        Ok(true)
    }

    /// Keeps the endpoint while requests may be under way.
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
        self.until.store(self.lease.until().micros(), Relaxed);
        Ok(true)
    }

    /// Begins as many requests as may be made at once.
    async fn send_some(&mut self) -> Result<(), Error> {
        let now = self.worker.billing.now();
        if self.looked_at.saturating_add(FRESH) < now {
            self.ready.clear();
        }
        let mut has_looked = false;
        while !self.has_failed && self.known.len() < UNREPORTED {
            if self.ready.is_empty() && !has_looked {
                has_looked = true;
                self.look().await?;
            }
            let most = match self.is_probed {
                true => 1,
                false => self.worker.options.requests_per_endpoint.max(1),
            };
            if self.sending() >= most {
                break;
            }
            let Some(next) = self.next_ready() else {
                if has_looked {
                    break;
                }
                // Those that are ready wait for others of their customers.
                has_looked = true;
                self.look().await?;
                continue;
            };
            let Some(endpoint) = self.endpoint.clone() else { break };
            self.known.insert(next.delivery.message_id(), State::UnderWay(next.delivery));
            let until = Arc::clone(&self.until);
            let attempt = attempt(self.worker, (self.lease.clone(), until), endpoint, next);
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

    /// Looks for what is due beside what is ready.
    async fn look(&mut self) -> Result<(), Error> {
        let billing = &self.worker.billing;
        self.looked_at = billing.now();
        let waiting = billing.waiting_deliveries(&self.lease, LOOKED_AT).await?;
        self.is_probed = waiting.is_probed;
        let Some(endpoint) = waiting.endpoint else { return Ok(()) };
        let most = if waiting.is_probed { 1 } else { READ };
        let mut chosen: Vec<WaitingDelivery> = Vec::new();
        for of in waiting.deliveries {
            if chosen.len() >= most {
                break;
            }
            let others = || self.ready.iter().map(|of| &of.delivery).chain(&chosen);
            let is_ready = others().any(|other| other.message_id() == of.message_id());
            let of_queue = others().filter(|other| other.is_of_queue(&of)).count();
            let is_known = self.known.contains_key(&of.message_id());
            if of_queue < READ_OF_QUEUE && !is_ready && !is_known {
                chosen.push(of);
            }
        }
        self.ready.extend(billing.outgoing(&self.lease, &chosen).await?);
        self.endpoint = Some(endpoint);
        Ok(())
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
        let reports: Vec<_> = self.reports.drain(..self.reports.len().min(REPORTED)).collect();
        self.under_way.push(Box::pin(async move {
            let schedule = &worker.options.schedule;
            let outcome = worker.billing.report_deliveries(&lease, reports.clone(), schedule).await;
            Done::Report(reports, outcome)
        }));
    }

    fn note_reported(
        &mut self,
        reports: Vec<AttemptReport>,
        outcome: Result<Option<Endpoint>, Error>,
    ) -> Result<(), Error> {
        self.is_reporting = false;
        let disabled = match outcome {
            Ok(disabled) => disabled,
            // What was reported already is not noted again.
            Err(error) if error.can_be_retried() && self.failed_reports < REPORTS => {
                self.failed_reports = self.failed_reports.saturating_add(1);
                self.reports.splice(..0, reports);
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        for report in reports {
            self.known.remove(&report.delivery.message_id());
        }
        self.has_failed = self.reports.iter().any(|of| !of.answer.is_success());
        if let Some(disabled) = disabled {
            self.worker.counters.disabled();
            self.worker.tell_disabled(self.lease.account(), &disabled);
        }
        Ok(())
    }
}

/// Makes one attempt, in a span of its own.
async fn attempt(
    worker: &Inner,
    (lease, until): (EndpointLease, Arc<AtomicI64>),
    endpoint: Endpoint,
    of: Outgoing,
) -> Done {
    let _permit = worker.requests.acquire().await;
    let ends_by = worker.billing.now().saturating_add(ATTEMPT);
    if until.load(Relaxed) < ends_by.micros() {
        return Done::NotMade(of.delivery.message_id());
    }
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
