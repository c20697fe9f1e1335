//! Addresses of a host's name.

use std::{io, net::IpAddr};

use async_trait::async_trait;

/// Finds the addresses of a host's name.
///
/// It need not judge them: whatever it answers is judged, and connections are made to these addresses
/// alone.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Returns all addresses of a name, those first that are to be tried first.
    ///
    /// # Errors
    ///
    /// If the name has none, or nobody can be asked.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// What the operating system answers.
///
/// It is asked on a thread of tokio's, which stays busy until there is an answer, also where nobody waits
/// for it any more. A resolver that gives up within seconds (`options timeout:2 attempts:2` in
/// `resolv.conf`) keeps these few.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((name, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}
