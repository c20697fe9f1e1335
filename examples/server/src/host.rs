use std::{net::SocketAddr, sync::Arc, time::Duration};

use accrue::{Billing, ManualClock};
use accrue_http::{Api, Failure, Portal, RateLimits};
use accrue_webhooks::Worker;
use bytes::Bytes;
use http::{Method, Request, Response};
use tokio::time::timeout;

use crate::{
    ApiKeyError, BasePath, Chain, ConnectionBounds, Connections, FixedKeys, OneLine, REQUEST_TIME,
    ServeOptions, StoreAt, StoreOpenError, Upkeep,
    auth::{Configured, FixedOrKept},
    clock_route::ClockRoute,
    console_route::ConsoleRoute,
    documents::{DocumentRoute, LinkOptions},
    host_key::{HostKey, KeyError},
    process,
    providers::Providers,
};

/// What a server serves: the engine, and the API over it, to so many connections. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    upkeep: Upkeep,
    api: Api,
    connections: Connections,
    request_time: Duration,
    worker: Option<Worker>,
    console: Option<ConsoleRoute>,
    clock: Option<Arc<ClockRoute>>,
    documents: Option<Arc<DocumentRoute>>,
}

/// Why a host cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The API keys that were named are none.
    #[error(transparent)]
    ApiKey(#[from] ApiKeyError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreOpenError),
    /// The store cannot be read.
    #[error("the store cannot be read")]
    Read(#[from] accrue::Error),
    /// The key of the server cannot be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Nobody could be let in.
    #[error(
        "nobody could be let in: give an API key with --api-key-file or in ACCRUE_API_KEY{}",
        instead(.0)
    )]
    NoApiKey(StoreAt),
}

/// What customers reach without an API key, by links.
#[derive(Default)]
struct Links {
    documents: Option<Arc<DocumentRoute>>,
    portal: Option<Portal>,
}

impl Links {
    fn new(billing: &Billing, options: &LinkOptions, key: &HostKey) -> Self {
        let documents = DocumentRoute::new(billing, options, key).map(Arc::new);
        let portal = options.portal.as_ref().map(|address| Portal::new(address, &key.0));
        Self { documents, portal }
    }
}

/// Says how a store gets an API key that can keep one.
fn instead(store: &StoreAt) -> String {
    match store {
        StoreAt::Memory => String::new(),
        StoreAt::Postgres(_) => {
            ", or issue one: keys issue --store postgres:URL --account NAME --name NAME".to_owned()
        }
        _ => format!(", or issue one: keys issue --store {store} --account NAME --name NAME"),
    }
}

/// Logs why a request was answered 500: what the operating system said above all.
fn log_failure(failure: &Failure<'_>) {
    let (route, account) = (failure.route.unwrap_or("none"), failure.account.map(OneLine));
    let account = account.map_or_else(String::new, |account| account.to_string());
    tracing::error!(route, account, cause = %Chain(failure.cause), "a request failed");
}

impl Host {
    /// Opens the store that the options name.
    ///
    /// # Errors
    ///
    /// Where it cannot be opened, or nobody could be let in.
    pub async fn open(options: &ServeOptions) -> Result<Self, OpenError> {
        let keys = options.api_keys.read()?;
        let clock = options.manual_clock.map(ManualClock::at);
        let billing = match &clock {
            None => options.store.open().await?,
            Some(clock) => options.store.open_at(clock.clone()).await?,
        };
        // Whoever enters the console issues some.
        if keys.is_empty() && !options.console.console && !billing.has_api_keys().await? {
            return Err(OpenError::NoApiKey(options.store.clone()));
        }
        let key = options.key.key(&options.store)?;
        let links = Links::new(&billing, &options.links, &key);
        let host = Self::linked(billing, options, &keys, &key, links)?;
        Ok(match clock {
            None => host,
            Some(clock) => host.with_clock(clock, &options.base_path),
        })
    }

    /// Serves an engine as the options say, but for links for customers, to whom one of these keys is
    /// shown by, or one that is kept in the store. The secrets of its webhook endpoints are gone at the end.
    ///
    /// # Errors
    ///
    /// None but those of a fault of the program.
    pub fn over(
        billing: Billing,
        options: &ServeOptions,
        keys: &FixedKeys,
    ) -> Result<Self, OpenError> {
        Self::linked(billing, options, keys, &HostKey::new(), Links::default())
    }

    fn linked(
        billing: Billing,
        options: &ServeOptions,
        keys: &FixedKeys,
        key: &HostKey,
        Links { documents, portal }: Links,
    ) -> Result<Self, OpenError> {
        let accounts = keys.iter().map(|(account, _)| account);
        let providers = Providers::of(&billing, options, accounts);
        let keys = FixedOrKept::new(keys, &billing);
        let grace_period = options.grace_period.map(|grace_period| grace_period.time());
        let mut keys =
            Configured::new(keys, &billing, grace_period).with_taxes(options.sandbox_tax.is_some());
        if let Some(providers) = &providers {
            keys = keys.telling(providers);
        }
        let mut builder = Api::builder(billing.clone(), keys);
        if let Some(quotas) = options.rate_limit.quotas() {
            builder = builder.rate_limit(RateLimits::new(&billing, quotas));
        }
        if let Some(providers) = &providers {
            builder = providers.asked_by(builder);
        }
        if let Some(documents) = &documents {
            builder = builder.documents(Arc::clone(documents));
        }
        if let Some(portal) = portal {
            builder = builder.portal(portal);
        }
        builder = builder.webhooks(options.webhooks.webhooks(key)?);
        let console = options.console.console.then(|| ConsoleRoute::new(&billing, options, key));
        let api = builder.base_path(options.base_path.as_str()).on_error(log_failure).build();
        let worker = options.webhooks.worker(&billing, &api, key)?;
        let host = Self::kept_up_by(Upkeep::providing(billing, providers), api);
        Ok(Self { documents, console: console.transpose()?, worker: Some(worker), ..host })
    }

    /// Makes a host of an engine and its API.
    #[must_use]
    pub fn new(billing: Billing, api: Api) -> Self {
        Self::kept_up_by(Upkeep::new(billing), api)
    }

    fn kept_up_by(upkeep: Upkeep, api: Api) -> Self {
        let bounds = ConnectionBounds::default().within(process::open_files());
        let connections = Connections::new(bounds);
        Self {
            upkeep,
            api,
            connections,
            request_time: REQUEST_TIME,
            worker: None,
            console: None,
            clock: None,
            documents: None,
        }
    }

    /// Serves the clock of the engine at `/clock` below the base path, for clients to move.
    #[must_use]
    pub fn with_clock(self, clock: ManualClock, base_path: &BasePath) -> Self {
        let clock = ClockRoute::new(clock, &self.upkeep, base_path);
        Self { clock: Some(Arc::new(clock)), ..self }
    }

    /// Bounds the time of a request; by [`REQUEST_TIME`] where nothing is said.
    #[must_use]
    pub fn bound_requests(self, request_time: Duration) -> Self {
        Self { request_time, ..self }
    }

    /// Bounds the connections; by [`ConnectionBounds::default`] where nothing is said.
    #[must_use]
    pub fn connection_bounds(self, bounds: ConnectionBounds) -> Self {
        Self { connections: Connections::new(bounds), ..self }
    }

    /// Returns the engine.
    #[must_use]
    pub const fn billing(&self) -> &Billing {
        self.upkeep.billing()
    }

    /// Returns what is to be done beside requests.
    #[must_use]
    pub const fn upkeep(&self) -> &Upkeep {
        &self.upkeep
    }

    /// Returns the link by which the first person enters the console, where the server listens at this address: for one use,
    /// and only where there are no people yet.
    ///
    /// # Errors
    ///
    /// Where the store fails.
    pub async fn first_link(&self, address: SocketAddr) -> Result<Option<String>, accrue::Error> {
        match &self.console {
            Some(console) => console.first_link(address).await,
            None => Ok(None),
        }
    }

    /// Returns the worker that delivers webhook messages, where this host has one.
    #[must_use]
    pub const fn worker(&self) -> Option<&Worker> {
        self.worker.as_ref()
    }

    /// Returns the connections.
    #[must_use]
    pub const fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Answers a request, but those for `/healthz`, within the time that one has.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Bytes>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let end = async {
            let _ = timeout(self.request_time, std::future::pending::<()>()).await;
        };
        let (method, path) = (request.method(), request.uri().path());
        if let Some(console) = self.console_asked_for(path) {
            return console.handle(request, end).await;
        }
        if let Some(documents) = self.documents_asked_for(method, path) {
            return documents.answer(path).await;
        }
        let Some(clock) = self.clock_asked_for(method, path) else {
            return self.api.handle_until(request, end).await;
        };
        let method = request.method().clone();
        let run = |_, body: Bytes| async move { clock.answer(&method, &body).await };
        self.api.handle_own(request, end, run).await
    }

    /// Returns what the log shows of the path of a request: the operation's, with its parameters in
    /// braces.
    #[must_use]
    pub fn route(&self, method: &str, path: &str) -> &'static str {
        let Ok(method) = Method::from_bytes(method.as_bytes()) else { return "none" };
        match self.api.route(&method, path) {
            Some(route) => route,
            None if path == "/healthz" => "/healthz",
            None if self.clock_asked_for(&method, path).is_some() => "/clock",
            None if self.console_asked_for(path).is_some() => "/console",
            None if self.documents_asked_for(&method, path).is_some() => "/documents",
            None => "none",
        }
    }

    fn clock_asked_for(&self, method: &Method, path: &str) -> Option<Arc<ClockRoute>> {
        self.clock.clone().filter(|clock| clock.is_asked_for(method, path))
    }

    fn console_asked_for(&self, path: &str) -> Option<&ConsoleRoute> {
        self.console.as_ref().filter(|console| console.is_asked_for(path))
    }

    fn documents_asked_for(&self, method: &Method, path: &str) -> Option<&DocumentRoute> {
        self.documents.as_deref().filter(|documents| documents.is_asked_for(method, path))
    }

    /// Tells whether the store answers.
    pub async fn is_healthy(&self) -> bool {
        self.billing().next_deadline().await.is_ok()
    }
}
