mod builder;

use std::{any::Any, fmt, num::NonZeroU32, sync::Arc};

use accrue::{
    Account, Billing, Error, Pace, PayloadRenderer,
    webhook::{Message, PayloadStyle},
};
use async_trait::async_trait;
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header::CONTENT_LENGTH,
    request::Parts,
};

pub use self::builder::ApiBuilder;
use crate::{
    Authenticate, Category, auth,
    batch::Batch,
    door::{
        Bodies, Body, KeyHeader, Progress, catch_panics, fingerprint, is_dry_run, say_dry_run,
        until,
    },
    failure::{Failure, OnError, Panicked},
    json::Json,
    links::Links,
    openapi,
    operation::Effect,
    own::OwnError,
    problem::{Problem, Violations},
    query,
    reply::{Hint, Reply},
    request::{Input, Request},
    router::{Route, Router},
    settings::Settings,
    wire::{messages::Payload, subscriptions::ChangedWanted},
};

/// The API over HTTP, for a host to serve from the framework of its choice. Cheap to clone.
///
/// It needs no runtime: [`handle`](Self::handle) is a future over the types of the `http` crate, and
/// [`handle_until`](Self::handle_until) one with a deadline. It lets others have their turn on its thread
/// after every fraction of a millisecond of work.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    billing: Billing,
    authenticate: Box<dyn Authenticate>,
    router: Router,
    documents: openapi::Documents,
    settings: Arc<Settings>,
    bodies: Bodies,
    on_error: Option<OnError>,
}

/// A request without its body, and what is known of it so far.
struct Asked {
    head: Parts,
    is_head: bool,
    key: KeyHeader,
    progress: Progress,
}

/// What a request is answered with.
type Answered = Result<Reply, Problem>;

/// The header of a change of a subscription that is to wait until it is applied (wire 5.3).
const PENDING_CHANGE: HeaderName = HeaderName::from_static("create-pending-subscription-change");

/// The header of a change of a subscription whose answer is to have the invoices and credit notes that it makes
/// (invoicing 14.5).
const CHANGED_RESOURCES: HeaderName = HeaderName::from_static("include-changed-resources");

impl Api {
    /// Begins to set up the API of an engine, for those whom `authenticate` lets in.
    pub fn builder(billing: Billing, authenticate: impl Authenticate) -> ApiBuilder {
        ApiBuilder::new(billing, Box::new(authenticate))
    }

    /// Answers a request.
    ///
    /// It always answers, also where something panics. Dropping the future anywhere is safe: all of
    /// what a request does is in one commit, or nothing is. A `HEAD` is answered as the `GET` would
    /// be, without the body.
    pub async fn handle<B>(&self, request: http::Request<B>) -> Response<Bytes>
    where
        B: http_body::Body<Data = Bytes>,
    {
        self.handle_until(request, std::future::pending()).await
    }

    /// Answers a request while it has time: until a future of the host's, such as a timer of its
    /// runtime, is done.
    ///
    /// A request whose time is over is answered 500 as the specification has it, and not 408, which has no
    /// error body (§7): with `Transient-Error` where sending it again doubles nothing, because it has
    /// an idempotency key or had not begun to write (§4.5.10).
    ///
    /// ```
    /// use std::{future::ready, time::Duration};
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// # use accrue_http::{Api, FixedKey};
    ///
    /// # pollster::block_on(async {
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let api = Api::builder(billing, FixedKey::new("secret", AccountId::parse("acme")?)).build();
    /// let request = http::Request::get("/v1/ping").header("authorization", "Bearer secret");
    /// // In a host on tokio: `tokio::time::sleep(Duration::from_secs(60))`.
    /// let response = api.handle_until(request.body(String::new())?, ready(())).await;
    /// # assert_eq!(response.status(), 200);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn handle_until<B>(
        &self,
        request: http::Request<B>,
        deadline: impl Future<Output = ()>,
    ) -> Response<Bytes>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let (asked, body) = Asked::by(request);
        let answer = until(deadline, self.answer(&asked, body));
        self.finish(&asked, catch_panics(answer).await)
    }

    /// Answers a request for an operation of the host's own, which has a path that no operation of the
    /// API has, in the form of the API: `run` is called once the API key is judged (401) and the body is
    /// read within its bound (413), and returns the JSON of an answer 200.
    ///
    /// The host finds the operation. The rate limit is not asked, and idempotency keys mean nothing.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// # use accrue_http::{Api, FixedKey};
    /// use std::future::pending;
    ///
    /// # pollster::block_on(async {
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let api = Api::builder(billing, FixedKey::new("secret", AccountId::parse("acme")?)).build();
    /// let request = http::Request::get("/v1/account").header("authorization", "Bearer secret");
    /// let run = async |account: accrue::Account, _| Ok(format!("\"{}\"", account.id()));
    /// let response = api.handle_own(request.body(String::new())?, pending(), run).await;
    /// assert_eq!(response.into_body(), "\"acme\"");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn handle_own<B, F>(
        &self,
        request: http::Request<B>,
        deadline: impl Future<Output = ()>,
        run: impl FnOnce(Account, Bytes) -> F,
    ) -> Response<Bytes>
    where
        B: http_body::Body<Data = Bytes>,
        F: Future<Output = Result<String, OwnError>>,
    {
        let (asked, body) = Asked::by(request);
        let answer = until(deadline, self.answer_own(&asked, body, run));
        self.finish(&asked, catch_panics(answer).await)
    }

    /// Returns the path of the operation that a request asks for, below the base path and with its
    /// parameters in braces, for a log to show in place of the path, which has identifiers of customers
    /// in it.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, store::MemoryStore};
    /// # use accrue_http::{Api, FixedKey};
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let api = Api::builder(billing, FixedKey::new("secret", AccountId::parse("acme")?)).build();
    /// let path = "/v1/customers/external_customer_id/ada@example.com";
    /// let route = api.route(&http::Method::GET, path);
    /// assert_eq!(route, Some("/customers/external_customer_id/{external_customer_id}"));
    /// # Ok::<(), accrue::TextError>(())
    /// ```
    #[must_use]
    pub fn route(&self, method: &Method, path: &str) -> Option<&'static str> {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        let document = self.0.documents.route(method, path);
        document.or_else(|| Some(self.0.router.find(method, path)?.operation.path))
    }

    /// Makes a response of what came of a request: an answer, the end of its time, or a panic.
    fn finish(
        &self,
        asked: &Asked,
        came: Result<Option<Answered>, Box<dyn Any + Send>>,
    ) -> Response<Bytes> {
        let Asked { head, is_head, key, progress } = asked;
        let retry = |is_safe| if is_safe { Hint::Transient } else { Hint::None };
        let answer = match came {
            Ok(Some(answer)) => answer,
            Ok(None) => {
                Err(Problem::out_of_time(retry(key.is_there() || !progress.may_have_written())))
            }
            Err(payload) => Err(Problem::failed(Panicked::with(&*payload), retry(key.is_there()))),
        };
        let reply = answer.unwrap_or_else(|problem| {
            self.report(head, progress, &problem);
            problem.reply(&self.0.settings.error_docs)
        });
        let mut response = reply.into_response();
        key.echo(response.headers_mut());
        if progress.is_dry_run() {
            say_dry_run(response.headers_mut());
        }
        if *is_head {
            strip_body(&mut response);
        }
        response
    }

    /// Tells the host of a request that failed.
    fn report(&self, head: &Parts, progress: &Progress, problem: &Problem) {
        if let Some((on_error, cause)) = self.0.on_error.as_ref().zip(problem.cause()) {
            let route = self.route(&head.method, head.uri.path());
            on_error(&Failure { route, account: progress.account(), cause });
        }
    }

    /// Answers a request for an operation of the host's own.
    async fn answer_own<B, F>(
        &self,
        asked: &Asked,
        body: B,
        run: impl FnOnce(Account, Bytes) -> F,
    ) -> Answered
    where
        B: http_body::Body<Data = Bytes>,
        F: Future<Output = Result<String, OwnError>>,
    {
        let Asked { head, progress, .. } = asked;
        let Inner { settings, bodies, .. } = &*self.0;
        let account = self.authenticate(&head.headers).await?;
        progress.is_of(account.id());
        settings.bounds.check(head)?;
        let declared = Body::declared(&head.headers, settings.bounds.body_bytes)?;
        let body = declared.read(body, &mut bodies.share(account.id()), &Pace::new()).await?;
        progress.writes();
        let json = run(account, body).await?;
        Ok(Reply::text(StatusCode::OK, HeaderValue::from_static("application/json"), json))
    }

    /// Answers a request, in the order of work at the door.
    async fn answer<B>(&self, asked: &Asked, body: B) -> Answered
    where
        B: http_body::Body<Data = Bytes>,
    {
        let Asked { head, key, progress, .. } = asked;
        let Inner { documents, router, settings, bodies, .. } = &*self.0;
        if let Some(document) = documents.find(&head.method, head.uri.path(), head.uri.query()) {
            return Ok(document);
        }
        let account = self.authenticate(&head.headers).await?;
        progress.is_of(account.id());
        let route = router.find(&head.method, head.uri.path());
        let category = route
            .as_ref()
            .map_or_else(|| Category::of_unknown(&head.method), |route| route.operation.category);
        settings.take(account.id(), category, NonZeroU32::MIN)?;
        let Some(Route { operation, parameters }) = route else {
            return Err(Problem::url_not_found());
        };
        settings.bounds.check(head)?;
        let declared = Body::declared(&head.headers, settings.bounds.body_bytes)?;
        let is_pending_change = is_pending_change(&head.headers)?;
        let is_dry_run = is_dry_run(operation, &head.headers, key, is_pending_change)?;
        if is_dry_run {
            progress.is_dry();
        }
        let key = if operation.takes_keys() { key.parse()? } else { None };
        let (pace, mut share) = (Pace::new(), bodies.share(account.id()));
        let raw = match operation.has_body() {
            true => declared.read(body, &mut share, &pace).await?,
            false => Bytes::new(),
        };
        let raw_query = head.uri.query().unwrap_or_default();
        let bounds = &settings.bounds;
        let batch = match operation.takes_batches {
            true => Batch::read(&raw, bounds, &pace).await,
            false => None,
        };
        let input = Input {
            path: parameters,
            query: query::parse(raw_query),
            body: match raw.is_empty() || batch.is_some() {
                true => Ok(None),
                false => Json::parse(&raw, bounds, &pace).await.map(Some),
            },
            batch,
            is_pending_change,
            is_dry_run,
            changed_resources: changed_resources(&head.headers),
        };
        let attempt = match key {
            None => None,
            Some(key) => {
                let fingerprint = fingerprint(operation, &input, raw_query, &raw, &pace).await;
                Some(Arc::new(account.admit(key, fingerprint)?))
            }
        };
        // What it was read into takes its place.
        drop(raw);
        let settings = Arc::clone(settings);
        if operation.effect == Effect::Writes && !is_dry_run {
            progress.writes();
        }
        let status = operation.success();
        let asked = attempt.clone();
        let request = Request { account, status, settings, input, pace, attempt };
        match ((operation.run)(request).await, asked) {
            // Whatever is wrong with it, it may be a retry, or another request than the key was used for.
            (Err(problem), Some(attempt)) => {
                match (attempt.look().await, operation.effect) {
                    (Ok(Some(answer)), Effect::Writes) if !Reply::is_open(&answer) => {
                        Ok(Reply::from_stored(&answer)?.replayed())
                    }
                    // What only reads is read again, and what goes on is sent again.
                    (Ok(_), _) => Err(problem),
                    (Err(error), _) => Err(error.into()),
                }
            }
            (answered, _) => answered,
        }
    }

    async fn authenticate(&self, headers: &HeaderMap) -> Result<Account, Problem> {
        let token = auth::token(headers).ok_or_else(Problem::unauthenticated)?;
        let account = self.0.authenticate.authenticate(token).await?;
        let account = account.ok_or_else(Problem::unauthenticated)?;
        Ok(self.0.billing.account(account))
    }
}

/// Messages as webhook endpoints receive them (wire 6.8): an envelope, the resource that it is about as that is
/// now, and its properties.
///
/// ```
/// # use accrue::{AccountId, Billing, Email, Name, PageRequest, customer::NewCustomer};
/// # use accrue::store::MemoryStore;
/// # use accrue_http::{Api, FixedKey};
/// use accrue::{PayloadRenderer, webhook::PayloadStyle};
///
/// # pollster::block_on(async {
/// # let billing = Billing::with_system(MemoryStore::new());
/// # let account = billing.account(AccountId::parse("acme")?);
/// # let api = Api::builder(billing, FixedKey::new("secret", AccountId::parse("acme")?)).build();
/// let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
/// account.create_customer(ada).await?;
/// let messages = account.list_messages(&PageRequest::default()).await?.data;
/// let payload = api.render(&account, &messages[0], PayloadStyle::Expanded).await?;
/// assert!(payload.contains(r#""type":"customer.created""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[async_trait]
impl PayloadRenderer for Api {
    async fn render(
        &self,
        account: &Account,
        message: &Message,
        style: PayloadStyle,
    ) -> Result<String, Error> {
        let related = account.related(message).await?;
        let links = Links::of(account.id(), &self.0.settings);
        let payload = Payload::of(message, style, &related, &links, self.0.billing.now());
        // No resource fails to be written: their maps have names for keys.
        Ok(serde_json::to_string(&payload).unwrap_or_default())
    }
}

impl Asked {
    /// Takes a request apart: a `HEAD` is answered as a `GET`.
    fn by<B>(request: http::Request<B>) -> (Self, B) {
        let (mut head, body) = request.into_parts();
        let is_head = head.method == Method::HEAD;
        if is_head {
            head.method = Method::GET;
        }
        let key = KeyHeader::of(&head.method, &head.headers);
        (Self { head, is_head, key, progress: Progress::default() }, body)
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("router", &self.0.router).finish_non_exhaustive()
    }
}

/// Removes the body, and leaves its length.
fn strip_body(response: &mut Response<Bytes>) {
    let length = std::mem::take(response.body_mut()).len();
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
}

fn changed_resources(headers: &HeaderMap) -> ChangedWanted {
    match headers.get(CHANGED_RESOURCES).map(HeaderValue::as_bytes) {
        Some(value) if value.eq_ignore_ascii_case(b"true") => ChangedWanted::All,
        Some(value) if value.eq_ignore_ascii_case(b"payable_invoices") => {
            ChangedWanted::PayableInvoices
        }
        _ => ChangedWanted::None,
    }
}

/// Tells whether the change of a subscription is to wait until it is applied (subscriptions 4.1).
fn is_pending_change(headers: &HeaderMap) -> Result<bool, Violations> {
    match headers.get(PENDING_CHANGE).map(HeaderValue::as_bytes) {
        None => Ok(false),
        Some(value) if value.eq_ignore_ascii_case(b"true") => Ok(true),
        Some(value) if value.eq_ignore_ascii_case(b"false") => Ok(false),
        Some(_) => {
            let pointer = "/Create-Pending-Subscription-Change";
            Err(Violations::one(pointer, "has another value than True"))
        }
    }
}
