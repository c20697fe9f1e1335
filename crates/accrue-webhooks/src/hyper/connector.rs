//! Connections to addresses that were judged.

use std::{
    future::{self, Future},
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use accrue::webhook::Reach;
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, pki_types::ServerName},
};
use tower_service::Service;

use super::{
    resolve::Resolve,
    stream::Stream,
    target::{Host, Protection, Target},
};
use crate::{Failure, Refusal};

/// The most addresses of a name that are tried.
const TRIED_ADDRESSES: usize = 4;

/// Connects to what a URL names, where that is allowed.
#[derive(Clone)]
pub(super) struct Connector {
    pub(super) reach: Arc<Reach>,
    pub(super) resolve: Arc<dyn Resolve>,
    pub(super) tls: Arc<ClientConfig>,
    /// How long a connection may take, from the name to the end of the handshake.
    pub(super) within: Duration,
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Stream>, Failure>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let target = match Target::parse(&url, &self.reach) {
            Ok(target) => target,
            Err(reason) => return Box::pin(future::ready(Err(reason.into()))),
        };
        let connector = self.clone();
        Box::pin(async move { connector.connect(&target).await.map(TokioIo::new) })
    }
}

impl Connector {
    async fn connect(&self, target: &Target) -> Result<Stream, Failure> {
        let deadline = Instant::now() + self.within;
        let connection = async {
            let addresses = self.addresses(&target.host).await?;
            let stream = self.dial(&addresses, target.port, deadline).await?;
            match target.protection {
                Protection::Plain => Ok(stream.into()),
                Protection::Tls => self.protect(stream, &target.host).await,
            }
        };
        timeout_at(deadline, connection).await.unwrap_or(Err(Failure::TimedOut))
    }

    /// Returns the addresses of a host, all of which are allowed. A name that leads to one that is not is
    /// refused as a whole: nobody has such a name by accident.
    async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, Failure> {
        let addresses = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.resolve.resolve(name).await.map_err(Failure::not_resolved)?,
        };
        if addresses.is_empty() {
            return Err(Failure::not_resolved("no address"));
        }
        addresses.iter().try_for_each(|address| self.judge(*address))?;
        Ok(addresses)
    }

    /// Connects to the first address that answers. Each has its share of the time that is left, so that one
    /// that is silent leaves some to the next.
    async fn dial(
        &self,
        addresses: &[IpAddr],
        port: u16,
        deadline: Instant,
    ) -> Result<TcpStream, Failure> {
        let addresses = addresses.get(..TRIED_ADDRESSES).unwrap_or(addresses);
        let mut failure = Failure::TimedOut;
        for (address, left) in addresses.iter().zip((1..=addresses.len()).rev()) {
            let now = Instant::now();
            // One share more, for the handshake.
            let shares = u32::try_from(left).unwrap_or(u32::MAX).saturating_add(1);
            let until = now + deadline.saturating_duration_since(now) / shares;
            let stream = TcpStream::connect(SocketAddr::new(*address, port));
            match timeout_at(until, stream).await {
                Ok(Ok(stream)) => return self.judged(stream),
                Ok(Err(error)) => failure = Failure::connect(error),
                Err(_) => failure = Failure::TimedOut,
            }
        }
        Err(failure)
    }

    /// Returns a connection where it leads to an address that is allowed: the last look before anything is
    /// sent.
    fn judged(&self, stream: TcpStream) -> Result<TcpStream, Failure> {
        let peer = stream.peer_addr().map_err(Failure::connect)?;
        self.judge(peer.ip())?;
        stream.set_nodelay(true).map_err(Failure::connect)?;
        Ok(stream)
    }

    fn judge(&self, address: IpAddr) -> Result<(), Refusal> {
        match self.reach.allows(address) {
            true => Ok(()),
            false => Err(Refusal::NotAllowed(address)),
        }
    }

    async fn protect(&self, stream: TcpStream, host: &Host) -> Result<Stream, Failure> {
        let name = match host {
            Host::Address(address) => ServerName::from(*address),
            Host::Name(name) => ServerName::try_from(name.clone())
                .map_err(|error| Failure::tls(io::Error::other(error)))?,
        };
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        connector.connect(name, stream).await.map(Stream::from).map_err(Failure::tls)
    }
}
