//! The default transport, on hyper and rustls.

mod connector;
mod resolve;
mod stream;
mod target;

use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use accrue::{limits::KEPT_ANSWER_BYTES, webhook::Reach};
use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Version, header::RETRY_AFTER};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, Error as ClientError},
    rt::{TokioExecutor, TokioTimer},
};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::rustls::{
    self, ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer,
};

pub use self::resolve::{Resolve, SystemResolver};
use self::{connector::Connector, target::Target};
use crate::{Failure, Response, RetryAfter, Transport};

/// How long a connection may take.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long an attempt may take in all.
const TIME: Duration = Duration::from_secs(15);
/// The most bytes of a body that are taken.
const READ_BYTES: usize = 8 * 1024;
/// The most bytes of the head of an answer, and of what is read at once.
const BUFFER_BYTES: usize = 16 * 1024;
/// The most connections to a host that are kept for the next request: as many as are sent at once.
const IDLE_CONNECTIONS: usize = 8;
/// How long they are kept.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// Transport on hyper and rustls, for a runtime of tokio.
///
/// It connects to addresses of the [`Reach`] alone: a name is resolved once for each connection, refused
/// where any of its addresses is not allowed, and connected to at one of them. It sends HTTP/1.1 over https;
/// over plain http only with [`Reach::everything`]. Certificates are judged by the roots of Mozilla, which are
/// part of the program, and by [those of the host](Self::trusting). Nothing asks whether a certificate was
/// revoked.
///
/// A redirection is returned as its answer. The status is the answer: a body that is cut, or that is late, is kept as
/// far as it came. Of a body 8 KiB are read; a connection with more is closed, others are kept for
/// the next request to the host. The head of an answer may have 16 KiB.
///
/// ```
/// use accrue::webhook::Reach;
/// use accrue_webhooks::HyperTransport;
///
/// let transport = HyperTransport::new(Reach::public().allowing("10.20.0.0/16")?);
/// # Ok::<(), accrue::Error>(())
/// ```
#[derive(Clone)]
pub struct HyperTransport {
    settings: Settings,
    client: Client<Connector, Full<Bytes>>,
}

#[derive(Clone)]
struct Settings {
    reach: Arc<Reach>,
    resolve: Arc<dyn Resolve>,
    roots: RootCertStore,
    connect_time: Duration,
    time: Duration,
}

/// Error of bytes that are no certificate that others can be judged by.
#[derive(Debug, thiserror::Error)]
#[error("not a certificate of X.509 in DER")]
pub struct CertificateError(#[source] rustls::Error);

impl HyperTransport {
    /// Creates a transport that may reach some addresses.
    #[must_use]
    pub fn new(reach: Reach) -> Self {
        Self::of(Settings {
            reach: Arc::new(reach),
            resolve: Arc::new(SystemResolver),
            roots: webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect(),
            connect_time: CONNECT_TIME,
            time: TIME,
        })
    }

    /// Trusts another root too, such as that of the host's own network: a certificate in DER.
    ///
    /// # Errors
    ///
    /// If it is no certificate.
    pub fn trusting(mut self, der: &[u8]) -> Result<Self, CertificateError> {
        let root = CertificateDer::from_slice(der).into_owned();
        self.settings.roots.add(root).map_err(CertificateError)?;
        Ok(Self::of(self.settings))
    }

    /// Asks another resolver.
    #[must_use]
    pub fn resolving(mut self, resolve: impl Resolve + 'static) -> Self {
        self.settings.resolve = Arc::new(resolve);
        Self::of(self.settings)
    }

    /// Gives a connection so much time, from the name to the end of the handshake: 5 s unless chosen.
    #[must_use]
    pub fn connecting_within(mut self, time: Duration) -> Self {
        self.settings.connect_time = time;
        Self::of(self.settings)
    }

    /// Gives an attempt so much time in all: 15 s unless chosen.
    #[must_use]
    pub fn answered_within(mut self, time: Duration) -> Self {
        self.settings.time = time;
        Self::of(self.settings)
    }

    fn of(settings: Settings) -> Self {
        let connector = Connector {
            reach: Arc::clone(&settings.reach),
            resolve: Arc::clone(&settings.resolve),
            tls: Arc::new(tls(settings.roots.clone())),
            within: settings.connect_time,
        };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(BUFFER_BYTES)
            .build(connector);
        Self { settings, client }
    }
}

fn tls(roots: RootCertStore) -> ClientConfig {
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has the ciphers of TLS 1.2 and 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

#[async_trait]
impl Transport for HyperTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure> {
        let deadline = Instant::now() + self.settings.time;
        // The connector judges what it connects to. This is for connections that are there, too.
        Target::parse(request.uri(), &self.settings.reach)?;
        let mut request = request.map(Full::new);
        *request.version_mut() = Version::HTTP_11;
        let answer = timeout_at(deadline, self.client.request(request)).await;
        let (head, body) = answer.map_err(|_| Failure::TimedOut)?.map_err(failure)?.into_parts();
        let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let mut kept = Vec::new();
        // What is late, or cut, is not needed.
        let _ = timeout_at(deadline, read(body, &mut kept)).await;
        Ok(Response {
            status: head.status,
            retry_after: retry_after.and_then(RetryAfter::parse),
            body: text(&kept),
        })
    }
}

/// Reads a body to its end, so that its connection is free again, or as far as it is taken.
async fn read<B>(mut body: B, kept: &mut Vec<u8>)
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut read = 0_usize;
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else { continue };
        read = read.saturating_add(data.len());
        let room = KEPT_ANSWER_BYTES.saturating_sub(kept.len());
        kept.extend(data.iter().take(room));
        if read > READ_BYTES {
            break;
        }
    }
}

/// Returns bytes as a text that is no longer than is kept.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut ends = (0..=KEPT_ANSWER_BYTES.min(text.len())).rev();
    ends.find_map(|end| text.get(..end)).unwrap_or_default().to_owned()
}

/// Finds out why the client has no answer. What the connector says is somewhere below.
fn failure(error: ClientError) -> Failure {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return failure.clone();
        }
        source = cause.source();
    }
    match error.is_connect() {
        true => Failure::connect(error),
        false => Failure::broken(error),
    }
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { reach, connect_time, time, .. } = &self.settings;
        f.debug_struct("HyperTransport")
            .field("reach", reach)
            .field("connect_time", connect_time)
            .field("time", time)
            .finish_non_exhaustive()
    }
}
