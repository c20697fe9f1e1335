//! Listeners that do as they are told, and resolvers that say what they are told.

use std::{
    collections::VecDeque,
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use accrue::webhook::Reach;
use accrue_webhooks::{Failure, HyperTransport, Refusal, Resolve, Response, Transport};
use bytes::Bytes;
use http::Request;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
    sync::Semaphore,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivatePkcs8KeyDer},
};

/// A time that passes soon.
pub(crate) const SOON: Duration = Duration::from_millis(100);

/// What a listener does with a request.
#[derive(Clone)]
pub(crate) enum Does {
    /// It writes an answer, and waits for the next request.
    Answers(Vec<u8>),
    /// It writes, and closes the connection.
    Ends(Vec<u8>),
    /// It writes, and then nothing more, as long as the other side is there.
    Hangs(Vec<u8>),
    /// It waits until a gate is closed, and then does something else.
    Waits(Arc<Semaphore>, Box<Self>),
}

pub(crate) fn answers(answer: &str) -> Does {
    Does::Answers(answer.as_bytes().to_vec())
}

pub(crate) fn ok() -> Does {
    answers("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
}

/// A listener on this machine.
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// A certificate of a name, and what a server needs to have it.
pub(crate) struct Certificate {
    pub(crate) der: Vec<u8>,
    acceptor: TlsAcceptor,
}

impl Certificate {
    pub(crate) fn of(name: &str) -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([name.into()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        Self { der: cert.der().to_vec(), acceptor: TlsAcceptor::from(Arc::new(config)) }
    }
}

impl Listener {
    pub(crate) async fn plain(does: Does) -> Self {
        Self::start(vec![does], None).await
    }

    pub(crate) async fn tls(does: Does, certificate: &Certificate) -> Self {
        Self::in_turn(vec![does], certificate).await
    }

    /// It does one thing with the first request, another with the second, and the last again and again.
    pub(crate) async fn in_turn(does: Vec<Does>, certificate: &Certificate) -> Self {
        Self::start(does, Some(certificate.acceptor.clone())).await
    }

    async fn start(does: Vec<Does>, acceptor: Option<TlsAcceptor>) -> Self {
        let does = Arc::new(Mutex::new(VecDeque::from(does)));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::default(), Arc::default());
        let this = Self { address, connections, requests };
        let (connections, requests) = (Arc::clone(&this.connections), Arc::clone(&this.requests));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (does, acceptor) = (Arc::clone(&does), acceptor.clone());
                let requests = Arc::clone(&requests);
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(stream, &does, &requests).await,
                        Some(acceptor) => match acceptor.accept(stream).await {
                            Ok(stream) => serve(stream, &does, &requests).await,
                            Err(error) => Err(error),
                        },
                    }
                });
            }
        });
        this
    }

    pub(crate) fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}/hook?a=b", self.address.port())
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Takes the next of several, the last again and again.
fn next_of<T: Clone>(these: &Mutex<VecDeque<T>>) -> Option<T> {
    let mut these = these.lock().unwrap();
    if these.len() > 1 { these.pop_front() } else { these.front().cloned() }
}

/// Reads a request; none where the other side is gone.
async fn request<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Option<String>> {
    const LENGTH: &str = "content-length: ";
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix(LENGTH)).unwrap();
            if body.len() >= length.parse().unwrap() {
                return Ok(Some(text.into_owned()));
            }
        }
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(None);
        }
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    does: &Mutex<VecDeque<Does>>,
    requests: &Mutex<Vec<String>>,
) -> io::Result<()> {
    while let Some(request) = request(&mut stream).await? {
        requests.lock().unwrap().push(request);
        let mut does = next_of(does).unwrap();
        while let Does::Waits(gate, then) = does {
            gate.acquire().await.unwrap_err();
            does = *then;
        }
        let (Does::Answers(bytes) | Does::Ends(bytes) | Does::Hangs(bytes)) = &does else {
            unreachable!("it has waited")
        };
        stream.write_all(bytes).await?;
        stream.flush().await?;
        match does {
            Does::Answers(_) => {}
            Does::Hangs(_) => {
                stream.read_to_end(&mut Vec::new()).await?;
                return Ok(());
            }
            _ => return stream.shutdown().await,
        }
    }
    Ok(())
}

/// A resolver with answers to give in turn, the last one again and again.
#[derive(Clone)]
pub(crate) struct Script {
    answers: Arc<Mutex<VecDeque<Vec<IpAddr>>>>,
    asked: Arc<AtomicUsize>,
}

impl Script {
    pub(crate) fn of(answers: &[&[&str]]) -> Self {
        let parse = |text: &&str| text.parse().unwrap();
        let answers = answers.iter().map(|answer| answer.iter().map(parse).collect());
        let answers = Arc::new(Mutex::new(answers.collect()));
        Self { answers, asked: Arc::default() }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait::async_trait]
impl Resolve for Script {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        next_of(&self.answers).ok_or_else(|| io::Error::other("no such name"))
    }
}

/// A transport that reaches everything.
pub(crate) fn everywhere() -> HyperTransport {
    HyperTransport::new(Reach::everything())
}

/// A transport that reaches one address of this machine beside public ones.
pub(crate) fn reaching(network: &str) -> HyperTransport {
    HyperTransport::new(Reach::public().allowing(network).unwrap())
}

pub(crate) async fn send(transport: &HyperTransport, url: &str) -> Result<Response, Failure> {
    let request = Request::post(url).header("webhook-id", "1").body(Bytes::from_static(b"{}"));
    transport.send(request.unwrap()).await
}

#[track_caller]
pub(crate) fn refusal(result: Result<Response, Failure>) -> Refusal {
    match result {
        Err(Failure::Refused { reason }) => reason,
        other => panic!("expected a refusal, found {other:?}"),
    }
}
