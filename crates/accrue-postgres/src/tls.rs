//! TLS by rustls. Where it is used at all, the server's certificate must hold for its name.

use std::sync::Arc;

use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};

use crate::{
    error::{Cause, OpenError},
    options::Tls,
};

pub(crate) fn connector(tls: &Tls) -> Result<MakeRustlsConnect, OpenError> {
    let config = match tls {
        Tls::Mozilla => trusting(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect())?,
        Tls::Pem(pem) => trusting(authorities(pem)?)?,
        Tls::Config(config) => (**config).clone(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn trusting(roots: RootCertStore) -> Result<ClientConfig, OpenError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| authority("rustls has no protocol version", error))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, OpenError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| authority("they are not PEM", error))?;
        roots.add(certificate).map_err(|error| authority("one cannot be used", error))?;
    }
    if roots.is_empty() {
        return Err(OpenError::new(Cause::NoAuthorities));
    }
    Ok(roots)
}

fn authority(
    what: &'static str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> OpenError {
    OpenError::new(Cause::Authorities { what, source: Box::new(error) })
}
