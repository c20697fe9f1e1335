//! The OpenAPI document and the page that shows it, from the table of operations.

mod document;
mod html;
mod older;
mod page;

use std::sync::{Arc, OnceLock};

use http::{HeaderValue, Method, StatusCode, header};
use serde_json::Value;

use crate::{reply::Reply, settings::Settings};

/// What is served without a key: the description of the API, each form rendered when it is first asked for.
pub(crate) struct Documents {
    base: String,
    settings: Arc<Settings>,
    current: OnceLock<Reply>,
    /// The 3.0 form (§9).
    older: OnceLock<Reply>,
    page: OnceLock<Reply>,
    pricing: OnceLock<Reply>,
}

/// The page that explains the price models: `docs/pricing.md` as HTML, written by the tests.
const PRICING: &str = include_str!("openapi/pricing.html");

impl Documents {
    pub(crate) const fn new(base: String, settings: Arc<Settings>) -> Self {
        Self {
            base,
            settings,
            current: OnceLock::new(),
            older: OnceLock::new(),
            page: OnceLock::new(),
            pricing: OnceLock::new(),
        }
    }

    /// Returns the path of a document that is asked for.
    pub(crate) fn route(&self, method: &Method, path: &str) -> Option<&'static str> {
        let paths = ["/openapi.json", "/docs", "/docs/pricing"];
        paths.into_iter().find(|known| *method == Method::GET && *known == path)
    }

    /// Finds a document by its path, which lies outside of the base path.
    pub(crate) fn find(&self, method: &Method, path: &str, query: Option<&str>) -> Option<Reply> {
        if *method != Method::GET {
            return None;
        }
        let reply = match path {
            "/openapi.json" if asks_for_the_older(query) => {
                self.older.get_or_init(|| json(&older::from_current(self.render())))
            }
            "/openapi.json" => self.current.get_or_init(|| json(&self.render())),
            "/docs" => {
                let render = || page::render(&self.base, &self.settings);
                self.page.get_or_init(|| for_people(render()))
            }
            "/docs/pricing" => self.pricing.get_or_init(|| for_people(PRICING.to_owned())),
            _ => return None,
        };
        Some(reply.clone())
    }

    fn render(&self) -> Value {
        document::render(&self.base, &self.settings)
    }
}

/// A page needs nothing but itself, and may run nothing.
fn for_people(page: String) -> Reply {
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                  form-action 'none'; frame-ancestors 'none'";
    Reply::text(StatusCode::OK, html, page)
        .with_header(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy))
        .with_header(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}

fn json(document: &Value) -> Reply {
    Reply::json(StatusCode::OK, document)
}

/// Tells whether the 3.0 form is asked for. Everything else is answered with the current one.
fn asks_for_the_older(query: Option<&str>) -> bool {
    query.unwrap_or_default().split('&').any(|pair| pair == "version=3.0")
}
