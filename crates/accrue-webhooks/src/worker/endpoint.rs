//! One endpoint, for as long as a worker has it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};

use accrue::{
    Error, MessageId, Timestamp, limits,
    webhook::{Answer, AttemptReport, Endpoint, EndpointLease, Outgoing, WaitingDelivery},
};
use futures_util::{
    future::{BoxFuture, Either, FutureExt as _, select},
    stream::{FuturesUnordered, StreamExt as _},
};

use super::{
    Counted, Inner,
    attempt::{ATTEMPT, attempt},
    look::{Asked, Found, Look, READ},
    places::Place,
};

/// The most attempts that were made and are not reported yet, those under way included: so many are made again
/// where the worker is gone.
const UNREPORTED: usize = 256;

/// How often a report that the store did not take is made.
const REPORTS: u32 = 5;

/// Number of endpoints of which fewer wait for what is fanned out where they have nothing to send: each of them looks then.
const WAITING: usize = 8;

/// The longest that bodies are kept ready: what becomes of the endpoint meanwhile is seen then.
const FRESH: Duration = Duration::from_secs(1);

/// An endpoint that is served.
pub(super) struct Serving<'w> {
    worker: &'w Inner,
    lease: EndpointLease,
    is_keeping: bool,
    place: Arc<Place>,
    _served: Counted<'w>,
    endpoint: Option<Endpoint>,
    is_probed: bool,
    /// What is to be sent next.
    ready: VecDeque<Outgoing>,
    /// What is due after that.
    due: Vec<WaitingDelivery>,
    /// Ends when this process has committed something to send.
    told: BoxFuture<'static, ()>,
    /// Whether it has, since the store was asked for what is due.
    is_told: bool,
    /// Since when what is ready and what is due are known.
    looked_at: Timestamp,
    is_looking: bool,
    /// How often what was ready was dropped: a look that was begun before says nothing any more.
    drops: u64,
    /// Whether all that was due is known, as far as this process can tell.
    has_all: bool,
    /// Whether what is due waits for others that are ready.
    is_held_up: bool,
    /// What is under way, or not reported yet.
    known: HashMap<MessageId, State>,
    reports: Vec<AttemptReport>,
    is_reporting: bool,
    failed_reports: u32,
    /// Whether an attempt failed since the last report: how the endpoint fares is known once that is reported.
    has_failed: bool,
    /// Whether anything was answered.
    has_answered: bool,
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
    /// The lease goes on, or is somebody else's.
    Kept(Result<Option<EndpointLease>, Error>),
    Look(u64, Result<Found, Error>),
    Report(Vec<AttemptReport>, Result<Option<Endpoint>, Error>),
}

impl<'w> Serving<'w> {
    pub(super) fn new(worker: &'w Inner, lease: EndpointLease) -> Self {
        let place = Arc::new(Place::new(lease.until()));
        Self {
            worker,
            lease,
            is_keeping: false,
            place,
            _served: Counted::among(&worker.served),
            endpoint: None,
            is_probed: false,
            ready: VecDeque::new(),
            due: Vec::new(),
            told: Box::pin(worker.billing.something_to_send()),
            is_told: false,
            looked_at: Timestamp::MIN,
            is_looking: false,
            drops: 0,
            has_all: false,
            is_held_up: false,
            known: HashMap::new(),
            reports: Vec::new(),
            is_reporting: false,
            failed_reports: 0,
            has_failed: false,
            has_answered: false,
            under_way: FuturesUnordered::new(),
        }
    }

    pub(super) fn place(&self) -> Arc<Place> {
        Arc::clone(&self.place)
    }

    /// Sends what is due, until nothing is. Where the store fails or the worker stops, what is under way ends, and is
    /// reported; after a failure it pauses before the endpoint is left.
    pub(super) async fn run(
        mut self,
        pause: impl FnOnce() -> BoxFuture<'static, ()>,
    ) -> Result<(), Error> {
        let (mut is_ours, mut failure) = (true, None);
        loop {
            if is_ours && !self.worker.is_stopping.load(SeqCst) {
                self.keep();
                self.send_some();
            }
            self.report_some();
            let Some(done) = self.under_way.next().await else {
                if failure.is_none() && is_ours && self.waits_for_more().await {
                    continue;
                }
                break;
            };
            let noted = match done {
                Done::Attempt(report) => {
                    self.note(*report);
                    Ok(())
                }
                Done::NotMade(id) => {
                    self.known.remove(&id);
                    self.heard();
                    // It comes before the others of its customer.
                    self.drop_ready();
                    Ok(())
                }
                Done::Kept(kept) => kept.map(|kept| is_ours &= self.note_kept(kept)),
                Done::Look(drops, found) => found.map(|found| self.note_found(drops, found)),
                Done::Report(reports, outcome) => self.note_reported(reports, outcome),
            };
            if let Err(error) = noted {
                (is_ours, failure) = (false, Some(error));
            }
        }
        // It is not taken again at once: what has failed may do so for a while.
        if failure.is_some() {
            pause().await;
        }
        // Whoever comes when its time is over sends what could not be reported.
        if self.known.is_empty() {
            self.worker.billing.leave_endpoint(&self.lease).await?;
        }
        failure.map_or(Ok(()), Err)
    }

    /// Keeps the endpoint while requests may be under way. Nobody waits for it here: a report that is under way too may
    /// have the lock that it needs.
    fn keep(&mut self) {
        let (worker, lease) = (self.worker, self.lease.clone());
        let soon = worker.billing.now().saturating_add(limits::LEASE / 2);
        if self.is_keeping || soon < lease.until() {
            return;
        }
        self.is_keeping = true;
        self.under_way
            .push(Box::pin(async move { Done::Kept(worker.billing.keep_endpoint(&lease).await) }));
    }

    /// Tells whether the endpoint goes on to be this worker's.
    fn note_kept(&mut self, kept: Option<EndpointLease>) -> bool {
        self.is_keeping = false;
        let Some(lease) = kept else { return false };
        self.place.keep(lease.until());
        self.lease = lease;
        true
    }

    /// Begins as many requests as may be made at once, and looks for more before there are none left.
    fn send_some(&mut self) {
        let now = self.worker.billing.now();
        if !self.place.lasts_until(now.saturating_add(ATTEMPT)) {
            // It is to be kept first: nothing that is begun now would be sent.
            return;
        }
        if (&mut self.told).now_or_never().is_some() {
            self.is_told();
        }
        let knows_some = self.has_all || !self.ready.is_empty() || !self.due.is_empty();
        if knows_some && self.looked_at.saturating_add(FRESH) < now {
            self.drop_ready();
        }
        while !self.has_failed && self.known.len() < UNREPORTED && self.sending() < self.most() {
            let Some(endpoint) = self.endpoint.clone() else { break };
            let Some(next) = self.next_ready() else { break };
            self.known.insert(next.delivery.message_id(), State::UnderWay(next.delivery));
            self.under_way.push(Box::pin(self.attempt(endpoint, next)));
        }
        let may_send = !self.has_failed && self.known.len() < UNREPORTED;
        if may_send && !self.is_looking && self.ready.len() < READ / 2 && self.may_find_some() {
            self.look();
        }
    }

    /// Notes that this process has committed something to send.
    fn is_told(&mut self) {
        self.told = Box::pin(self.worker.billing.something_to_send());
        (self.is_told, self.has_all) = (true, false);
    }

    /// Tells whether a look may find something to send next.
    fn may_find_some(&self) -> bool {
        match self.due.is_empty() {
            true => !self.has_all,
            false => !self.is_held_up || self.is_told,
        }
    }

    /// Waits while messages are fanned out, which may be for this endpoint too, and tells whether it has. It holds no place
    /// that another may need.
    async fn waits_for_more(&mut self) -> bool {
        let fanned_out = self.worker.fanned_out.listen();
        let worker = self.worker;
        let has_room = worker.served.load(Relaxed) < worker.options.endpoints.min(WAITING);
        let is_more = worker.fanning_out.load(SeqCst) > 0;
        if !has_room || !is_more || worker.is_stopping.load(SeqCst) {
            return false;
        }
        if let Either::Left(_) = select(&mut self.told, fanned_out).await {
            self.is_told();
        }
        true
    }

    fn attempt(
        &self,
        endpoint: Endpoint,
        next: Outgoing,
    ) -> impl Future<Output = Done> + Send + use<'w> {
        let (worker, id) = (self.worker, next.delivery.message_id());
        let counted = Counted::among(&worker.under_way);
        let attempt = attempt(worker, (self.lease.clone(), self.place()), endpoint, next);
        async move {
            let _counted = counted;
            attempt.await.map_or(Done::NotMade(id), |report| Done::Attempt(Box::new(report)))
        }
    }

    /// Returns how many requests may be under way.
    fn most(&self) -> usize {
        match self.is_probed {
            true => 1,
            false => self.worker.requests_of_one(self.has_answered),
        }
    }

    /// Notes that a request has ended.
    fn heard(&self) {
        let now = self.worker.billing.now();
        self.place.heard(now, self.sending() > 0);
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
        self.is_held_up = false;
        self.ready.remove(at)
    }

    /// Looks for what is due beside what is known.
    fn look(&mut self) {
        let look = Look {
            lease: self.lease.clone(),
            known: self.known.keys().copied().collect(),
            ready: self.ready.iter().map(|of| of.delivery).collect(),
            due: std::mem::take(&mut self.due),
            is_told: std::mem::take(&mut self.is_told),
            is_probed: self.is_probed,
        };
        self.is_looking = true;
        let (worker, drops) = (self.worker, self.drops);
        self.under_way.push(Box::pin(async move { Done::Look(drops, look.run(worker).await) }));
    }

    /// Takes what a look has found, unless what was ready was dropped meanwhile: what was found comes after it, and how
    /// the endpoint fares may be known better.
    fn note_found(&mut self, drops: u64, found: Found) {
        self.is_looking = false;
        if drops != self.drops {
            return;
        }
        let Found { outgoing, due, is_told, asked } = found;
        self.is_held_up = outgoing.is_empty() && !self.ready.is_empty();
        self.is_told |= is_told;
        if let Some(Asked { endpoint, is_probed, is_all }) = asked {
            // What was committed since it was asked may be missing.
            self.has_all = is_all && !self.is_told;
            self.is_probed = is_probed;
            self.endpoint = endpoint.or_else(|| self.endpoint.take());
            if self.ready.is_empty() {
                self.looked_at = self.worker.billing.now();
            }
        }
        self.ready.extend(outgoing);
        self.due = due;
    }

    /// Drops what is ready and what is due, to be looked for again.
    fn drop_ready(&mut self) {
        self.ready.clear();
        self.due.clear();
        self.is_held_up = false;
        self.drops = self.drops.saturating_add(1);
        self.has_all = false;
    }

    fn note(&mut self, report: AttemptReport) {
        self.known.insert(report.delivery.message_id(), State::Made);
        self.heard();
        self.has_answered |= matches!(report.answer, Answer::Status { .. });
        self.worker.counters.attempted(&report.answer);
        if !report.answer.is_success() {
            self.has_failed = true;
            self.drop_ready();
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
        if self.is_probed {
            // What was reported may have ended that.
            self.drop_ready();
        }
        self.has_failed = self.reports.iter().any(|of| !of.answer.is_success());
        if let Some(disabled) = disabled {
            self.worker.counters.disabled();
            self.worker.tell_disabled(self.lease.account(), &disabled);
        }
        Ok(())
    }
}
