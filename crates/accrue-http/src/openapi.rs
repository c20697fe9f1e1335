//! The OpenAPI document and the page that shows it, from the table of operations.

mod document;
mod html;
mod older;
mod page;

use std::sync::{Arc, OnceLock};

use http::{HeaderValue, Method, StatusCode, header};

use crate::{reply::Reply, settings::Settings};

/// What is served without a key: the description of the API, rendered when it is first asked for.
pub(crate) struct Documents {
    base: String,
    settings: Arc<Settings>,
    rendered: OnceLock<Rendered>,
}

struct Rendered {
    current: Reply,
    /// The 3.0 form (§9).
    older: Reply,
    page: Reply,
}

impl Documents {
    pub(crate) const fn new(base: String, settings: Arc<Settings>) -> Self {
        Self { base, settings, rendered: OnceLock::new() }
    }

    /// Returns the path of a document that is asked for.
    pub(crate) fn route(&self, method: &Method, path: &str) -> Option<&'static str> {
        let paths = ["/openapi.json", "/docs"];
        paths.into_iter().find(|known| *method == Method::GET && *known == path)
    }

    /// Finds a document by its path, which lies outside of the base path.
    pub(crate) fn find(&self, method: &Method, path: &str, query: Option<&str>) -> Option<Reply> {
        let document: fn(&Rendered) -> &Reply = match path {
            "/openapi.json" if asks_for_the_older(query) => |rendered| &rendered.older,
            "/openapi.json" => |rendered| &rendered.current,
            "/docs" => |rendered| &rendered.page,
            _ => return None,
        };
        let rendered = || self.rendered.get_or_init(|| Rendered::new(&self.base, &self.settings));
        (*method == Method::GET).then(|| document(rendered()).clone())
    }
}

impl Rendered {
    fn new(base: &str, settings: &Settings) -> Self {
        let document = document::render(base, settings);
        let json = |document| Reply::json(StatusCode::OK, &document);
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        let page = Reply::text(StatusCode::OK, html, page::render(base, settings));
        // The page needs nothing but itself, and may run nothing.
        let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";
        Self {
            current: json(document.clone()),
            older: json(older::from_current(document)),
            page: page
                .with_header(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy))
                .with_header(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        }
    }
}

/// Tells whether the 3.0 form is asked for. Everything else is answered with the current one.
fn asks_for_the_older(query: Option<&str>) -> bool {
    query.unwrap_or_default().split('&').any(|pair| pair == "version=3.0")
}
