//! The console, at a path of its own.

use std::net::SocketAddr;

use accrue::{Billing, Error, SystemEntropy};
use accrue_console::{Console, People};
use bytes::Bytes;
use clap::Args;
use http::{Request, Response, StatusCode, Uri};

use crate::{ServeOptions, host_key::HostKey};

/// Whether there is a console, and where browsers find it.
#[derive(Args, Clone, Debug, Default)]
pub struct ConsoleOptions {
    /// Serves the console, web pages for the people who work with the engine, at `/console`
    ///
    /// The first person comes in by a link that standard output shows, invites the others, and issues API keys.
    #[arg(long)]
    pub console: bool,

    /// The origin that browsers reach the console at, as in `https://billing.example.com`
    ///
    /// Whatever is in front of the server has TLS then, and no cookie is sent without it. Where nothing is said, browsers come
    /// without TLS from this machine alone, if the server listens on a loopback address; else with TLS, at the host that
    /// they name.
    #[arg(long, value_name = "ORIGIN", requires = "console", value_parser = origin)]
    pub console_origin: Option<String>,
}

/// Reads an origin of https.
fn origin(text: &str) -> Result<String, String> {
    let expected = || "expected an origin, as in https://billing.example.com".to_owned();
    let uri: Uri = text.parse().map_err(|_| expected())?;
    let has_authority = uri.authority().is_some_and(|of| !of.as_str().contains('@'));
    let is_origin = uri.scheme_str() == Some("https") && has_authority && uri.path() == "/";
    match is_origin && uri.query().is_none() && !text.ends_with('/') {
        true => Ok(text.to_owned()),
        false => Err(expected()),
    }
}

/// The console.
#[derive(Clone, Debug)]
pub(crate) struct ConsoleRoute {
    console: Console,
    /// Whether browsers come from this machine alone, without TLS.
    is_local: bool,
}

const PATH: &str = "/console";

impl ConsoleRoute {
    pub(crate) fn new(
        billing: &Billing,
        options: &ServeOptions,
        key: &HostKey,
    ) -> Result<Self, Error> {
        let people = People::new(billing, SystemEntropy);
        let console = Console::builder(billing.clone(), people).base_path(PATH);
        let console = options.webhooks.of_console(console, key)?;
        // On this machine there is nobody to listen between the browser and the server.
        let is_local =
            options.listen.ip().is_loopback() && options.console.console_origin.is_none();
        let console = match &options.console.console_origin {
            Some(origin) => console.origin(origin),
            None if is_local => console.over_plain_http(),
            None => console,
        };
        Ok(Self { console: console.build(), is_local })
    }

    pub(crate) fn is_asked_for(&self, path: &str) -> bool {
        path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    pub(crate) async fn first_link(&self, address: SocketAddr) -> Result<Option<String>, Error> {
        let link = self.console.first_link().await?;
        Ok(link.map(|link| match self.is_local {
            true => format!("http://{address}{link}"),
            // The origin is part of it, or nobody knows it.
            false => link,
        }))
    }

    /// Answers a request until there is no time left for it.
    pub(crate) async fn handle<B>(
        &self,
        request: Request<B>,
        end: impl Future<Output = ()>,
    ) -> Response<Bytes>
    where
        B: http_body::Body<Data = Bytes>,
    {
        tokio::select! {
            answer = self.console.handle(request) => answer,
            () = end => {
                let mut answer = Response::new(Bytes::from_static(b"it took too long"));
                *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                answer
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_of_https_and_has_no_path() {
        for right in ["https://billing.example.com", "https://[::1]:8443"] {
            assert_eq!(origin(right).as_deref(), Ok(right));
        }
        for wrong in [
            "",
            "billing.example.com",
            "http://billing.example.com",
            "https://billing.example.com/",
            "https://billing.example.com/x",
            "https://billing.example.com?x",
            "https://a@billing.example.com",
            "https://",
        ] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }
}
