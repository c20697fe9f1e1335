//! The console: its settings, and the order of work for every request.

use std::{fmt, sync::Arc};

use accrue::{
    Billing, Error, Name,
    webhook::{Reach, WebhookKey},
};
use bytes::Bytes;
use http::{Method, Request, Response, header, request::Parts};
use maud::html;

use crate::{
    answer::{Answer, Failure, Kind},
    asset::Asset,
    guard::{forms, headers},
    request::{Fields, cookie, read_body},
    route::{Needs, Route, Routes},
    sign_in::{Identity, SignIn},
    site::{Site, Transport, query},
    view::layout,
    visit::Visit,
};

/// Web application of the engine: pages for the people who work with it. Cheap to clone; all clones are one.
///
/// It answers requests of the `http` crate's types, and is a `tower` service. What its pages do are operations
/// of the library, each by whoever has signed in, so that the [audit log](Billing::list_audit) has it.
#[derive(Clone)]
pub struct Console(Arc<Inner>);

struct Inner {
    site: Arc<Site>,
    routes: Routes,
}

/// Settings of a [`Console`].
pub struct ConsoleBuilder {
    site: Site,
}

impl Console {
    /// Begins the settings of a console, with who signs people in: [`People`](crate::People) unless the host
    /// does it itself.
    pub fn builder(billing: Billing, sign_in: impl SignIn) -> ConsoleBuilder {
        let site = Site {
            billing,
            sign_in: Box::new(sign_in),
            base: String::new(),
            origin: None,
            transport: Transport::Tls,
            webhooks: None,
        };
        ConsoleBuilder { site }
    }

    /// Returns the link by which the first person comes in, for the host to print: for one use, within 24 hours.
    /// None where there are people already, or the host signs them in.
    ///
    /// It is a path, unless the [origin](ConsoleBuilder::origin) is known. Each call makes another link; the
    /// earlier ones are good until somebody has come.
    ///
    /// # Errors
    ///
    /// [`Internal`](accrue::ErrorKind::Internal) where the store fails.
    pub async fn first_link(&self) -> Result<Option<String>, Error> {
        let site = &self.0.site;
        let Some(people) = site.sign_in.people() else { return Ok(None) };
        let token = people.first_token().await?;
        Ok(token.map(|token| {
            let path = format!("{}{}", site.to(&["invitation"]), query(&[("token", &token)]));
            site.absolute(&path)
        }))
    }

    /// Answers a request. One whose path the console does not have is answered 404.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Bytes>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let (parts, body) = request.into_parts();
        let is_head = parts.method == Method::HEAD;
        let answer = self.answer(&parts, body).await;
        let body = if is_head { Bytes::new() } else { answer.body };
        let mut response = Response::new(body);
        *response.status_mut() = answer.status;
        headers::set(response.headers_mut(), answer.kind);
        response.headers_mut().extend(answer.headers);
        response
    }

    async fn answer<B>(&self, parts: &Parts, body: B) -> Answer
    where
        B: http_body::Body<Data = Bytes>,
    {
        let site = &self.0.site;
        let path = parts.uri.path().strip_prefix(site.base.as_str());
        let path = path.map(|path| if path.is_empty() { "/" } else { path });
        if let Some(asset) = path.and_then(|path| asset(&parts.method, path)) {
            return asset;
        }
        let mut visit = Visit {
            site: Arc::clone(site),
            who: None,
            query: Fields::read(parts.uri.query().unwrap_or_default().as_bytes()),
            form: Fields::default(),
            params: Vec::new(),
            device: cookie(&parts.headers, site.device_cookie_name()).map(str::to_owned),
            request_id: request_id(parts),
        };
        let result = match path {
            Some(path) => self.run(&mut visit, parts, path, body).await,
            None => Err(Failure::NotFound),
        };
        match result {
            Ok(answer) => answer,
            Err(failure) => failed(&visit, parts, &failure),
        }
    }

    /// Does what comes before every page, in an order that does not change: the page is looked for; whoever
    /// asks is told; a form is held against its site, then its session; then the role is judged.
    async fn run<B>(
        &self,
        visit: &mut Visit,
        parts: &Parts,
        path: &str,
        body: B,
    ) -> Result<Answer, Failure>
    where
        B: http_body::Body<Data = Bytes>,
    {
        let site = &self.0.site;
        let found = self.0.routes.find(&parts.method, path);
        visit.who = identify(site, parts).await?;
        let (route, params) = found?;
        visit.params = params;
        if route.method == Method::POST {
            if !forms::is_of_site(&parts.headers, authority(parts), site.origin.as_deref()) {
                return Err(Failure::Foreign);
            }
            visit.form = Fields::read(&read_body(body).await.ok_or(Failure::TooLong)?);
        }
        admit(visit, route)?;
        (route.handler)(visit).await
    }
}

/// Returns a file; none where the path is of none.
fn asset(method: &Method, path: &str) -> Option<Answer> {
    let found = Asset::find(path.strip_prefix("/assets/")?)?;
    let is_read = [Method::GET, Method::HEAD].contains(method);
    is_read.then(|| Answer {
        status: http::StatusCode::OK,
        headers: Vec::new(),
        body: found.body.clone(),
        kind: Kind::Asset(found.content_type),
    })
}

async fn identify(site: &Site, parts: &Parts) -> Result<Option<Identity>, Failure> {
    let cookie = cookie(&parts.headers, site.cookie_name());
    Ok(site.sign_in.identify(&parts.headers, cookie).await?)
}

/// Lets a visit to a page pass, or says why not.
fn admit(visit: &Visit, route: &Route) -> Result<(), Failure> {
    let Needs::Role(role) = route.needs else { return Ok(()) };
    let who = visit.identity()?;
    if route.method == Method::POST
        && !forms::is_of_session(who.secret(), visit.form.raw(forms::FIELD))
    {
        return Err(Failure::Foreign);
    }
    if who.role() < role { Err(Failure::Forbidden) } else { Ok(()) }
}

/// Returns the host and port that a browser has asked.
fn authority(parts: &Parts) -> Option<&str> {
    let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str))
}

/// Returns the name that the host gave the request.
fn request_id(parts: &Parts) -> Option<Name> {
    let text = parts.headers.get("x-request-id")?.to_str().ok()?;
    Name::parse(text.get(..128).unwrap_or(text)).ok()
}

/// Answers a visit that has failed.
fn failed(visit: &Visit, parts: &Parts, failure: &Failure) -> Answer {
    if matches!(failure, Failure::SignedOut) && visit.site.sign_in.people().is_some() {
        let next = parts.uri.path_and_query().filter(|_| parts.method == Method::GET);
        let next = next.map(|next| query(&[("next", next.as_str())])).unwrap_or_default();
        return Answer::see_other(&format!("{}{next}", visit.site.to(&["sign-in"])));
    }
    let (title, text) = failure.text();
    let content = html! {
        p { (text) }
        p { a href=(visit.site.to(&[])) { "Go to the console" } }
    };
    let status = match failure {
        // The host signs people in: the console has no page for it.
        Failure::SignedOut => http::StatusCode::UNAUTHORIZED,
        failure => failure.status(),
    };
    Answer::page_with(status, layout::alone(visit, title, &content))
}

impl ConsoleBuilder {
    /// Puts the console below a path, such as `/console`: it answers those that begin with it.
    #[must_use]
    pub fn base_path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        let inner = path.trim_matches('/');
        self.site.base = if inner.is_empty() { String::new() } else { format!("/{inner}") };
        self
    }

    /// Says by which origin browsers reach it, such as `https://billing.example.com`: links that are handed
    /// over begin with it, and forms are held against it. Otherwise they are held against the header `Host`.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        let origin = origin.into();
        self.site.origin = Some(origin.trim_end_matches('/').to_owned());
        self
    }

    /// Has the cookie of a session sent without TLS too: to try the console out on the same machine.
    #[must_use]
    pub fn over_plain_http(mut self) -> Self {
        self.site.transport = Transport::Plain;
        self
    }

    /// Lets admins create webhook endpoints: with the key that their secrets are computed from, and where they may
    /// lie. Both are those of the API and of the worker that sends messages.
    #[must_use]
    pub fn webhooks(mut self, key: WebhookKey, reach: Reach) -> Self {
        self.site.webhooks = Some((key, reach));
        self
    }

    /// Ends the settings.
    #[must_use]
    pub fn build(self) -> Console {
        Console(Arc::new(Inner { site: Arc::new(self.site), routes: Routes::new() }))
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console").field("base", &self.0.site.base).finish_non_exhaustive()
    }
}

impl fmt::Debug for ConsoleBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleBuilder").field("base", &self.site.base).finish_non_exhaustive()
    }
}
