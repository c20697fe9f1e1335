//! What all pages share: the engine, who signs people in, and where the console is.

use accrue::{
    Billing,
    webhook::{Reach, WebhookKey},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::sign_in::SignIn;

/// Console as it was set up.
pub(crate) struct Site {
    pub(crate) billing: Billing,
    pub(crate) sign_in: Box<dyn SignIn>,
    /// What every path begins with: empty, or `/` and a text that does not end with one.
    pub(crate) base: String,
    /// Origin by which browsers reach it, where the host has said so.
    pub(crate) origin: Option<String>,
    pub(crate) transport: Transport,
    /// Key that the secrets of webhook endpoints are computed from, and where those may lie.
    pub(crate) webhooks: Option<(WebhookKey, Reach)>,
}

/// How browsers reach it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Over TLS.
    Tls,
    /// In the open, to try it out on the same machine.
    Plain,
}

/// What stays as it is in a part of a path.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl Site {
    /// Returns the path of a page, by its parts.
    pub(crate) fn to(&self, parts: &[&str]) -> String {
        let mut path = self.base.clone();
        for part in parts {
            path.push('/');
            path.extend(utf8_percent_encode(part, KEPT));
        }
        if path.is_empty() || parts.is_empty() {
            path.push('/');
        }
        path
    }

    /// Returns the address of a path, where the origin is known; else the path.
    pub(crate) fn absolute(&self, path: &str) -> String {
        format!("{}{path}", self.origin.as_deref().unwrap_or_default())
    }

    /// Returns the name of the cookie of a session.
    pub(crate) const fn cookie_name(&self) -> &'static str {
        match self.transport {
            Transport::Tls => "__Host-accrue-session",
            Transport::Plain => "accrue-session",
        }
    }

    /// Returns the cookie that keeps the token of a session, until it ends.
    pub(crate) fn cookie(&self, token: &str) -> String {
        let secure = if self.transport == Transport::Tls { "; Secure" } else { "" };
        format!("{}={token}; Path=/; HttpOnly; SameSite=Lax{secure}", self.cookie_name())
    }

    /// Returns the name of the cookie by which a browser is known that somebody has signed in with.
    pub(crate) const fn device_cookie_name(&self) -> &'static str {
        match self.transport {
            Transport::Tls => "__Host-accrue-device",
            Transport::Plain => "accrue-device",
        }
    }

    /// Returns that cookie, which is kept for a year.
    pub(crate) fn device_cookie(&self, token: &str) -> String {
        let secure = if self.transport == Transport::Tls { "; Secure" } else { "" };
        let name = self.device_cookie_name();
        format!("{name}={token}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Strict{secure}")
    }

    /// Returns the cookie that takes that of a session away.
    pub(crate) fn no_cookie(&self) -> String {
        format!("{}; Max-Age=0", self.cookie(""))
    }
}

/// Writes a query, each name with its value.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, value) in pairs {
        text.append_pair(name, value);
    }
    let text = text.finish();
    if text.is_empty() { text } else { format!("?{text}") }
}
