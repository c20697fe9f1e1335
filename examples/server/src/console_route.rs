use std::net::SocketAddr;

use accrue::{Billing, Error, SystemEntropy};
use accrue_console::{Console, People};
use bytes::Bytes;
use http::{Request, Response, StatusCode};

use crate::{ServeOptions, host_key::HostKey};

/// The console, at a path of its own.
#[derive(Clone, Debug)]
pub(crate) struct ConsoleRoute(Console);

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
        let console = match options.listen.ip().is_loopback() {
            true => console.over_plain_http(),
            false => console,
        };
        Ok(Self(console.build()))
    }

    pub(crate) fn is_asked_for(&self, path: &str) -> bool {
        path.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    pub(crate) async fn first_link(&self, address: SocketAddr) -> Result<Option<String>, Error> {
        let path = self.0.first_link().await?;
        Ok(path.map(|path| format!("http://{address}{path}")))
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
            answer = self.0.handle(request) => answer,
            () = end => {
                let mut answer = Response::new(Bytes::from_static(b"it took too long"));
                *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                answer
            }
        }
    }
}
