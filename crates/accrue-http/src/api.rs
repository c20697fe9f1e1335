use std::{fmt, num::NonZeroU32, sync::Arc};

use accrue::{Account, AccountId, Admitted, Billing};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Response, request::Parts};

use crate::{
    Authenticate, Bounds, Exceeded, RateLimit, auth,
    door::{Body, KeyHeader, catch_panics, fingerprint},
    json::Json,
    openapi::Documents,
    operation::{Category, Effect},
    operations,
    problem::Problem,
    query,
    reply::Reply,
    request::{Input, Request},
    router::{Route, Router},
};

/// The API over HTTP, for a host to serve from the framework of its choice. Cheap to clone.
///
/// It needs no runtime: [`handle`](Self::handle) is a future over the types of the `http` crate. How
/// long a client may take to send its request is for the host's server to bound.
#[derive(Clone)]
pub struct Api(Arc<Inner>);

struct Inner {
    billing: Billing,
    authenticate: Box<dyn Authenticate>,
    router: Router,
    documents: Documents,
    settings: Arc<Settings>,
}

/// What operations know of how the API is served.
pub(crate) struct Settings {
    pub(crate) bounds: Bounds,
    pub(crate) error_docs: String,
    rate_limit: Option<Box<dyn RateLimit>>,
}

/// The header of a change of a subscription that is to wait until it is applied (wire 5.3).
const PENDING_CHANGE: HeaderName = HeaderName::from_static("create-pending-subscription-change");

/// What the types of errors begin with: the published clients tell errors by it (wire 6.6).
const ERROR_DOCS: &str = "https://docs.withorb.com/reference/error-responses";

/// Sets up an [`Api`].
#[must_use = "build it"]
pub struct ApiBuilder {
    billing: Billing,
    authenticate: Box<dyn Authenticate>,
    base_path: String,
    settings: Settings,
}

impl Api {
    /// Begins to set up the API of an engine, for those whom `authenticate` lets in.
    pub fn builder(billing: Billing, authenticate: impl Authenticate) -> ApiBuilder {
        ApiBuilder {
            billing,
            authenticate: Box::new(authenticate),
            base_path: "/v1".to_owned(),
            settings: Settings::default(),
        }
    }

    /// Answers a request.
    ///
    /// It always answers, also where something panics. Dropping the future anywhere is safe: all of
    /// what a request does is in one commit, or nothing is.
    pub async fn handle<B>(&self, request: http::Request<B>) -> Response<Bytes>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let (head, body) = request.into_parts();
        let key = KeyHeader::of(&head.method, &head.headers);
        let answer = catch_panics(self.answer(&head, body, &key)).await;
        let answer = answer.unwrap_or_else(|_| Err(Problem::internal(key.is_there())));
        let settings = &self.0.settings;
        let reply = answer.unwrap_or_else(|problem| problem.reply(&settings.error_docs));
        let mut response = reply.into_response();
        key.echo(response.headers_mut());
        response
    }

    /// The order of work at the door (DESIGN 4).
    async fn answer<B>(&self, head: &Parts, body: B, key: &KeyHeader) -> Result<Reply, Problem>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let Inner { documents, router, settings, .. } = &*self.0;
        if let Some(document) = documents.find(&head.method, head.uri.path(), head.uri.query()) {
            return Ok(document);
        }
        let account = self.authenticate(&head.headers).await?;
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
        let key = if operation.takes_keys() { key.parse()? } else { None };
        let raw = if operation.has_body() { declared.read(body).await? } else { Bytes::new() };
        let raw_query = head.uri.query().unwrap_or_default();
        let input = Input {
            path: parameters,
            query: query::parse(raw_query),
            body: match raw.is_empty() {
                true => Ok(None),
                false => Json::parse(&raw, &settings.bounds).map(Some),
            },
            is_pending_change: is_pending_change(&head.headers),
        };
        let attempt = match key {
            None => None,
            Some(key) => {
                let fingerprint = fingerprint(operation, &input, raw_query, &raw);
                match (account.admit(key, fingerprint).await?, operation.effect) {
                    (Admitted::Run(attempt), _) => Some(attempt),
                    (Admitted::Replay(answer), Effect::Writes) => return Reply::replay(&answer),
                    // What only reads is read again.
                    (Admitted::Replay(_), Effect::Reads) => None,
                }
            }
        };
        let settings = Arc::clone(settings);
        (operation.run)(Request { account, operation, settings, input, attempt }).await
    }

    async fn authenticate(&self, headers: &HeaderMap) -> Result<Account, Problem> {
        let token = auth::token(headers).ok_or_else(Problem::unauthenticated)?;
        let account = self.0.authenticate.authenticate(token).await?;
        let account = account.ok_or_else(Problem::unauthenticated)?;
        Ok(self.0.billing.account(account))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self { bounds: Bounds::default(), error_docs: ERROR_DOCS.to_owned(), rate_limit: None }
    }
}

impl Settings {
    /// Takes from what the account may do now.
    pub(crate) fn take(
        &self,
        account: &AccountId,
        category: Category,
        amount: NonZeroU32,
    ) -> Result<(), Problem> {
        let Some(limit) = &self.rate_limit else { return Ok(()) };
        limit.take(account, category, amount).map_err(|exceeded| match exceeded {
            Exceeded::Wait(wait) => Problem::too_many_requests(wait),
            Exceeded::TooMuch { most } => Problem::resource_too_large(format!(
                "{amount} at once, of which the rate limit of the account has at most {most}"
            )),
        })
    }
}

impl ApiBuilder {
    /// Serves the operations below this path: `/v1` where nothing is said. An empty one where the
    /// host's own router has taken it off.
    pub fn base_path(mut self, path: impl Into<String>) -> Self {
        self.base_path = path.into().trim_end_matches('/').to_owned();
        self
    }

    /// Bounds requests; by [`Bounds::default`] where nothing is said.
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.settings.bounds = bounds;
        self
    }

    /// Limits how much an account may do; nothing does where nothing is said.
    pub fn rate_limit(mut self, limit: impl RateLimit) -> Self {
        self.settings.rate_limit = Some(Box::new(limit));
        self
    }

    /// Begins the types of errors with another address (§7). The published clients tell errors by
    /// that of the published API, which is used where nothing is said.
    pub fn error_docs(mut self, base: impl Into<String>) -> Self {
        self.settings.error_docs = base.into();
        self
    }

    /// Makes the API.
    #[must_use]
    pub fn build(self) -> Api {
        let Self { billing, authenticate, base_path, settings } = self;
        let router = Router::new(&base_path, operations::all());
        let settings = Arc::new(settings);
        let documents = Documents::new(base_path, Arc::clone(&settings));
        Api(Arc::new(Inner { billing, authenticate, router, documents, settings }))
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("router", &self.0.router).finish_non_exhaustive()
    }
}

impl fmt::Debug for ApiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiBuilder").field("base_path", &self.base_path).finish_non_exhaustive()
    }
}

fn is_pending_change(headers: &HeaderMap) -> bool {
    let value = headers.get(PENDING_CHANGE);
    value.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"))
}
