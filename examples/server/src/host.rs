use std::time::Duration;

use accrue::Billing;
use accrue_http::{Api, Failure, RateLimits};
use http::Method;
use tokio::time::timeout;

use crate::{
    ApiKeyError, Chain, ConnectionBounds, Connections, FixedKeys, OneLine, REQUEST_TIME,
    ServeOptions, StoreAt, StoreOpenError, auth::FixedOrKept, process,
};

/// What a server serves: the engine, and the API over it, to so many connections. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    billing: Billing,
    api: Api,
    connections: Connections,
    request_time: Duration,
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
    /// Nobody could be let in.
    #[error(
        "nobody could be let in: give an API key with --api-key-file or in ACCRUE_API_KEY{}",
        instead(.0)
    )]
    NoApiKey(StoreAt),
}

/// Says how a store gets an API key that can keep one.
fn instead(store: &StoreAt) -> String {
    match store {
        StoreAt::Memory => String::new(),
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
        let billing = options.store.open()?;
        if keys.is_empty() && !billing.has_api_keys().await? {
            return Err(OpenError::NoApiKey(options.store.clone()));
        }
        Ok(Self::over(billing, options, &keys))
    }

    /// Serves an engine as the options say, to whom one of these keys is shown by, or one that is kept
    /// in the store.
    #[must_use]
    pub fn over(billing: Billing, options: &ServeOptions, keys: &FixedKeys) -> Self {
        let builder = Api::builder(billing.clone(), FixedOrKept::new(keys, &billing));
        let builder = match options.rate_limit.quotas() {
            None => builder,
            Some(quotas) => builder.rate_limit(RateLimits::new(&billing, quotas)),
        };
        let api = builder.base_path(options.base_path.as_str()).on_error(log_failure).build();
        Self::new(billing, api)
    }

    /// Makes a host of an engine and its API.
    #[must_use]
    pub fn new(billing: Billing, api: Api) -> Self {
        let bounds = ConnectionBounds::default().within(process::open_files());
        let connections = Connections::new(bounds);
        Self { billing, api, connections, request_time: REQUEST_TIME }
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
        &self.billing
    }

    /// Returns the API.
    #[must_use]
    pub const fn api(&self) -> &Api {
        &self.api
    }

    /// Returns the connections.
    #[must_use]
    pub const fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Is done when the time of a request is over that begins now.
    pub async fn end_of_request(&self) {
        let _ = timeout(self.request_time, std::future::pending::<()>()).await;
    }

    /// Returns what the log shows of the path of a request: the operation's, with its parameters in
    /// braces.
    #[must_use]
    pub fn route(&self, method: &str, path: &str) -> &'static str {
        let method = Method::from_bytes(method.as_bytes());
        match method.ok().and_then(|method| self.api.route(&method, path)) {
            Some(route) => route,
            None if path == "/healthz" => "/healthz",
            None => "none",
        }
    }

    /// Tells whether the store answers.
    pub async fn is_healthy(&self) -> bool {
        self.billing.next_deadline().await.is_ok()
    }
}
