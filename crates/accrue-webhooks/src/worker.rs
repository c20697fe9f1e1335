//! The worker: it writes the bodies of messages, takes endpoints, and sends what is due.

mod attempt;
mod endpoint;
mod look;
mod places;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::Duration,
};

use accrue::{
    Account, AccountId, Billing, Error, PayloadRenderer,
    webhook::{Endpoint, EndpointLease, Schedule, WebhookKey},
};
use async_lock::Semaphore;
use event_listener::Event;
use futures_util::{
    future::{BoxFuture, Either, select, select_all},
    stream::{FuturesUnordered, StreamExt as _},
};

use self::{endpoint::Serving, places::Places};
use crate::{Counters, Timer, Transport};

/// Worker that delivers the messages of all accounts of a store.
///
/// It is an ordinary future, which the host spawns: as many as there are processes, or more. They share the work
/// through the store, without a leader: an endpoint is one worker's at a time, and another takes it over when
/// that is gone. A message is sent at least once, with the same id and the same bytes each time.
///
/// ```
/// use std::{sync::{Arc, Mutex}, time::Duration};
///
/// use accrue::{
///     AccountId, Billing, Email, Name,
///     customer::NewCustomer,
///     store::MemoryStore,
///     webhook::{EndpointUrl, NewEndpoint, Reach, WebhookKey},
/// };
/// # use accrue::{Account, Error, PayloadRenderer, webhook::{Message, PayloadStyle}};
/// use accrue_webhooks::{Failure, Response, Transport, Worker};
/// use bytes::Bytes;
/// use http::{Request, StatusCode};
///
/// /// Keeps what it is given.
/// #[derive(Clone, Default)]
/// struct Kept(Arc<Mutex<Vec<Request<Bytes>>>>);
///
/// #[async_trait::async_trait]
/// impl Transport for Kept {
///     async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure> {
///         self.0.lock().unwrap().push(request);
///         Ok(Response::new(StatusCode::OK))
///     }
/// }
/// # struct Types;
/// # #[async_trait::async_trait]
/// # impl PayloadRenderer for Types {
/// #     async fn render(&self, _: &Account, of: &Message, _: PayloadStyle) -> Result<String, Error> {
/// #         Ok(format!(r#"{{"type":"{}"}}"#, of.message_type()))
/// #     }
/// # }
///
/// # pollster::block_on(async {
/// let billing = Billing::with_system(MemoryStore::new());
/// let account = billing.account(AccountId::parse("acme")?);
/// let url = EndpointUrl::parse("https://hooks.example.com/", &Reach::public())?;
/// account.create_webhook_endpoint(NewEndpoint::new(url)).await?;
/// let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
/// account.create_customer(ada).await?;
///
/// let (kept, key) = (Kept::default(), WebhookKey::new(b"32 random bytes of the host's own")?);
/// // A host has `accrue_http::Api` write the bodies, and spawns `Worker::run`.
/// let worker = Worker::new(billing, Types, kept.clone(), key);
/// worker.deliver_due().await?;
/// let requests = kept.0.lock().unwrap();
/// assert_eq!(requests[0].body(), r#"{"type":"customer.created"}"#);
/// assert!(requests[0].headers().contains_key("webhook-signature"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Worker(Arc<Inner>);

struct Inner {
    billing: Billing,
    renderer: Box<dyn PayloadRenderer>,
    transport: Box<dyn Transport>,
    key: WebhookKey,
    options: WorkerOptions,
    /// One for each request at once.
    requests: Semaphore,
    /// Number of requests that were made and not answered, or wait to be made.
    under_way: AtomicUsize,
    /// Number of endpoints that are served.
    served: AtomicUsize,
    /// Number of those who fan messages out, of which more may come.
    fanning_out: AtomicUsize,
    /// Tells those who wait for them that no more come.
    fanned_out: Event,
    counters: Arc<Counters>,
    on_disabled: Option<OnDisabled>,
    /// Whether endpoints are to be left.
    is_stopping: AtomicBool,
}

type OnDisabled = Box<dyn Fn(&Account, &Endpoint) + Send + Sync>;

/// How a worker works.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// When messages are sent again that could not be delivered.
    pub schedule: Schedule,
    /// The most requests at once: 512 unless chosen. Endpoints that do not answer take theirs for as long as that
    /// lasts, so that few leave none for others.
    pub requests: usize,
    /// The most requests to one endpoint at once: 8 unless chosen.
    pub requests_per_endpoint: usize,
    /// The most endpoints that it serves at once: 64 unless chosen. One that has not answered for a second leaves its place
    /// to another while the worker [runs](Worker::run), as long as there is a request for each.
    pub endpoints: usize,
    /// How often it looks for what other processes have committed: each second unless chosen.
    pub poll: Duration,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            schedule: Schedule::default(),
            requests: 512,
            requests_per_endpoint: 8,
            endpoints: 64,
            poll: Duration::from_secs(1),
        }
    }
}

/// Number of messages that are fanned out before endpoints are looked for.
const FANNED_OUT: usize = 500;

/// The least time, in microseconds, that a worker waits for a turn.
const LEAST_WAIT: u64 = 1_000;

/// What a worker begins with.
#[derive(Default)]
struct Begun {
    leases: Vec<EndpointLease>,
    /// Whether there are more messages to fan out.
    is_more: bool,
    failure: Option<Error>,
}

/// One that is counted for as long as this lives.
struct Counted<'w>(&'w AtomicUsize);

impl<'w> Counted<'w> {
    fn among(all: &'w AtomicUsize) -> Self {
        all.fetch_add(1, Relaxed);
        Self(all)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Whether one who delivers fans messages out, and more may come: not when it is gone.
struct FanningOut<'w> {
    worker: &'w Inner,
    is_on: bool,
}

impl FanningOut<'_> {
    fn set(&mut self, is_on: bool) {
        match (std::mem::replace(&mut self.is_on, is_on), is_on) {
            (false, true) => drop(self.worker.fanning_out.fetch_add(1, SeqCst)),
            (true, false) => {
                self.worker.fanning_out.fetch_sub(1, SeqCst);
                self.worker.fanned_out.notify(usize::MAX);
            }
            _ => {}
        }
    }
}

impl Drop for FanningOut<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}

impl Inner {
    const fn fans_out(&self) -> FanningOut<'_> {
        FanningOut { worker: self, is_on: false }
    }

    /// Returns how many requests one endpoint may have under way: its share where many are served, and just one where it has
    /// answered nothing yet and half of all are under way.
    fn requests_of_one(&self, has_answered: bool) -> usize {
        let WorkerOptions { requests, requests_per_endpoint, .. } = &self.options;
        if !has_answered && requests.div_ceil(2) <= self.under_way.load(Relaxed) {
            return 1;
        }
        let share = requests.checked_div(self.served.load(Relaxed));
        share.map_or(*requests_per_endpoint, |share| share.min(*requests_per_endpoint)).max(1)
    }

    fn tell_disabled(&self, account: &AccountId, endpoint: &Endpoint) {
        if let Some(tell) = &self.on_disabled {
            tell(&self.billing.account(account.clone()), endpoint);
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Worker {
    /// Makes a worker. `key` is the one that the secrets of endpoints are computed from.
    pub fn new(
        billing: Billing,
        renderer: impl PayloadRenderer + 'static,
        transport: impl Transport + 'static,
        key: WebhookKey,
    ) -> Self {
        Self::with_options(billing, renderer, transport, key, WorkerOptions::default())
    }

    /// Makes a worker that works otherwise.
    pub fn with_options(
        billing: Billing,
        renderer: impl PayloadRenderer + 'static,
        transport: impl Transport + 'static,
        key: WebhookKey,
        options: WorkerOptions,
    ) -> Self {
        let requests = Semaphore::new(options.requests.max(1));
        Self(Arc::new(Inner {
            billing,
            renderer: Box::new(renderer),
            transport: Box::new(transport),
            key,
            options,
            requests,
            under_way: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
            fanning_out: AtomicUsize::new(0),
            fanned_out: Event::new(),
            counters: Arc::default(),
            on_disabled: None,
            is_stopping: AtomicBool::new(false),
        }))
    }

    /// Has a function called where an endpoint is disabled: because it is gone, or has failed for five days. No
    /// message of the catalogue tells of that.
    ///
    /// It must not be cloned before.
    #[must_use]
    pub fn on_disabled(
        mut self,
        tell: impl Fn(&Account, &Endpoint) + Send + Sync + 'static,
    ) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.on_disabled = Some(Box::new(tell));
        }
        self
    }

    /// Returns what it has counted since it was made.
    #[must_use]
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.0.counters)
    }

    /// Returns for how long the endpoint whose turn it is has waited for a worker: nothing where it is none's turn.
    pub async fn lag(&self) -> Result<Duration, Error> {
        let billing = &self.0.billing;
        let Some(next) = billing.next_endpoint_turn().await? else { return Ok(Duration::ZERO) };
        let micros = billing.now().micros().saturating_sub(next.micros());
        Ok(Duration::from_micros(u64::try_from(micros).unwrap_or_default()))
    }

    /// Delivers messages until it is dropped. Attempts that are under way then are made once more, by whoever
    /// takes their endpoints over a minute later: a host that ends has it [stop](Self::run_until) before.
    ///
    /// Where the store fails it goes on after a while.
    pub async fn run(self, timer: impl Timer) {
        self.run_until(timer, std::future::pending()).await;
    }

    /// Delivers messages until `stop` ends: then requests that are under way are answered and reported, and other
    /// workers can go on with their endpoints at once.
    ///
    /// ```no_run
    /// # use accrue_webhooks::{TokioTimer, Worker};
    /// # async fn stopped() {}
    /// # async fn example(worker: Worker) -> Result<(), Box<dyn std::error::Error>> {
    /// let delivering = tokio::spawn(worker.run_until(TokioTimer, stopped()));
    /// delivering.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_until(self, timer: impl Timer, stop: impl Future<Output = ()>) {
        let (mut serving, mut stop) = (FuturesUnordered::new(), std::pin::pin!(stop));
        let (mut places, mut fanning_out) = (Places::default(), self.0.fans_out());
        loop {
            let told = self.0.billing.something_to_send();
            let begin = self.begin(places.room(&self.0), &mut fanning_out);
            let begun = Self::beside(&mut serving, begin, |served| self.note(served)).await;
            let pause = || timer.wait(self.0.options.poll);
            let leases = begun.leases.into_iter();
            serving.extend(leases.map(|lease| self.serve(&mut places, lease, pause)));
            let mut wait = self.0.options.poll;
            if begun.is_more {
                wait = Duration::ZERO;
            } else if serving.is_empty() {
                wait = wait.min(self.until_next_turn().await);
            }
            let woken = select_all([Either::Left(told), Either::Right(timer.wait(wait))]);
            let woken = select(stop.as_mut(), woken);
            let is_stopped = match serving.is_empty() {
                true => matches!(woken.await, Either::Left(_)),
                false => match select(woken, serving.next()).await {
                    Either::Left((woken, _)) => matches!(woken, Either::Left(_)),
                    Either::Right((served, _)) => {
                        served.into_iter().for_each(|served| self.note(served));
                        false
                    }
                },
            };
            if is_stopped {
                break;
            }
        }
        self.0.is_stopping.store(true, SeqCst);
        drop(fanning_out);
        while let Some(served) = serving.next().await {
            self.note(served);
        }
    }

    /// Delivers what is due by now, and returns when nothing is. For tests, and for hosts that call it now and
    /// then.
    ///
    /// # Errors
    ///
    /// The first failure of the store.
    pub async fn deliver_due(&self) -> Result<(), Error> {
        let (mut serving, mut places) = (FuturesUnordered::new(), Places::default());
        let mut fanning_out = self.0.fans_out();
        loop {
            let mut failure = None;
            let note = |served: Result<(), Error>| failure = failure.take().or(served.err());
            let begin = self.begin(places.room(&self.0), &mut fanning_out);
            let begun = Self::beside(&mut serving, begin, note).await;
            if let Some(error) = begun.failure.or(failure) {
                // What is under way may have what others need.
                drop(serving);
                for lease in begun.leases {
                    // One that cannot be left is taken over a minute later: the first failure is what is told.
                    drop(self.0.billing.leave_endpoint(&lease).await);
                }
                return Err(error);
            }
            let pause = || -> BoxFuture<'static, ()> { Box::pin(std::future::ready(())) };
            let leases = begun.leases.into_iter();
            serving.extend(leases.map(|lease| self.serve(&mut places, lease, pause)));
            if begun.is_more {
                continue;
            }
            match serving.next().await {
                Some(served) => served?,
                None => return Ok(()),
            }
        }
    }

    /// Does something while endpoints are served, and notes what comes of those.
    async fn beside<S: Future<Output = Result<(), Error>>, T>(
        serving: &mut FuturesUnordered<S>,
        work: impl Future<Output = T>,
        mut note: impl FnMut(Result<(), Error>),
    ) -> T {
        let mut work = std::pin::pin!(work);
        while !serving.is_empty() {
            match select(work.as_mut(), serving.next()).await {
                Either::Left((done, _)) => return done,
                Either::Right((Some(served), _)) => note(served),
                Either::Right((None, _)) => {}
            }
        }
        work.await
    }

    fn note(&self, served: Result<(), Error>) {
        if let Err(error) = served {
            self.0.counters.failed(&error);
        }
    }

    /// Fans messages out, and takes endpoints that have something to send. What fails of it keeps the rest from
    /// nothing.
    async fn begin(&self, room: usize, fanning_out: &mut FanningOut<'_>) -> Begun {
        let Inner { billing, renderer, counters, .. } = &*self.0;
        let mut begun = Begun::default();
        fanning_out.set(true);
        match billing.fan_out_messages(&**renderer, FANNED_OUT).await {
            Ok(fanned_out) => {
                counters.fanned_out(&fanned_out);
                begun.is_more = fanned_out.more;
            }
            Err(error) => begun.failure = Some(error),
        }
        fanning_out.set(begun.is_more);
        while begun.leases.len() < room {
            match billing.take_endpoint().await {
                Ok(Some(lease)) => begun.leases.push(lease),
                Ok(None) => break,
                Err(error) => {
                    begun.failure = Some(error);
                    break;
                }
            }
        }
        if let Some(error) = &begun.failure {
            counters.failed(error);
        }
        begun
    }

    /// Returns how long there is nothing to do.
    async fn until_next_turn(&self) -> Duration {
        let billing = &self.0.billing;
        match billing.next_endpoint_turn().await {
            Ok(Some(next)) => {
                let micros = next.micros().saturating_sub(billing.now().micros());
                // An endpoint whose turn has come and that could not be taken is not asked for at once.
                let micros = u64::try_from(micros).unwrap_or_default().max(LEAST_WAIT);
                Duration::from_micros(micros)
            }
            _ => Duration::MAX,
        }
    }

    fn serve<'w, P: FnOnce() -> BoxFuture<'static, ()>>(
        &'w self,
        places: &mut Places,
        lease: EndpointLease,
        pause: P,
    ) -> impl Future<Output = Result<(), Error>> + use<'w, P> {
        let endpoint = Serving::new(&self.0, lease);
        places.add(&endpoint.place());
        endpoint.run(pause)
    }
}
