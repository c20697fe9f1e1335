//! Connections that are secure, and others.

use accrue_webhooks::{Failure, HyperTransport, Response};

use crate::support::{Certificate, Listener, SOON, Script, ok, reaching, send};

const NAME: &str = "hooks.example.com";

/// Sends a request to `host`, whose name leads to a listener with a certificate.
async fn answer(
    host: &str,
    certificate: &Certificate,
    transport: HyperTransport,
) -> (Listener, Result<Response, Failure>) {
    let listener = Listener::tls(ok(), certificate).await;
    let transport = transport.resolving(Script::of(&[&["127.0.0.1"]]));
    let found = send(&transport, &listener.url("https", host)).await;
    (listener, found)
}

#[tokio::test]
async fn webhooks_certificates_of_the_host_are_trusted() {
    let certificate = Certificate::of(NAME);
    let transport = reaching("127.0.0.1").trusting(&certificate.der).unwrap();
    let (listener, found) = answer(NAME, &certificate, transport).await;
    assert_eq!(found.unwrap().body, "ok");
    assert_eq!(listener.requests().len(), 1);
}

#[tokio::test]
async fn webhooks_other_certificates_are_refused() {
    let (certificate, other) = (Certificate::of(NAME), Certificate::of(NAME));
    let transport = reaching("127.0.0.1").trusting(&other.der).unwrap();
    for transport in [reaching("127.0.0.1"), transport] {
        let (listener, found) = answer(NAME, &certificate, transport).await;
        let failure = found.unwrap_err();
        assert!(matches!(failure, Failure::Tls(_)), "{failure:?}");
        assert!(failure.reason().contains("certificate"), "{}", failure.reason());
        assert!(listener.requests().is_empty());
    }
}

#[tokio::test]
async fn webhooks_certificates_of_other_names_are_refused() {
    let certificate = Certificate::of("other.example.com");
    for host in [NAME, "127.0.0.1"] {
        let transport = reaching("127.0.0.1").trusting(&certificate.der).unwrap();
        let (listener, found) = answer(host, &certificate, transport).await;
        assert!(matches!(found, Err(Failure::Tls(_))), "{found:?}");
        assert!(listener.requests().is_empty());
    }
}

#[tokio::test]
async fn webhooks_addresses_have_certificates_too() {
    let certificate = Certificate::of("127.0.0.1");
    let transport = reaching("127.0.0.1").trusting(&certificate.der).unwrap();
    let (_, found) = answer("127.0.0.1", &certificate, transport).await;
    assert_eq!(found.unwrap().status, 200);
}

#[tokio::test]
async fn webhooks_without_tls_nothing_is_sent() {
    let listener = Listener::plain(ok()).await;
    let transport = reaching("127.0.0.1").answered_within(SOON);
    let found = send(&transport, &listener.url("https", "127.0.0.1")).await;
    assert!(matches!(found, Err(Failure::TimedOut | Failure::Tls(_))), "{found:?}");
    assert!(listener.requests().is_empty());
}

#[tokio::test]
async fn webhooks_secure_connections_are_used_again() {
    let certificate = Certificate::of(NAME);
    let listener = Listener::tls(ok(), &certificate).await;
    let script = Script::of(&[&["127.0.0.1"]]);
    let transport = reaching("127.0.0.1").trusting(&certificate.der).unwrap();
    let transport = transport.resolving(script.clone());
    for _ in 0..5 {
        send(&transport, &listener.url("https", NAME)).await.unwrap();
    }
    assert_eq!((listener.connections(), listener.requests().len(), script.asked()), (1, 5, 1));
}

#[test]
fn webhooks_what_is_no_certificate_is_not_trusted() {
    let error = reaching("127.0.0.1").trusting(b"certificate").unwrap_err();
    assert_eq!(error.to_string(), "not a certificate of X.509 in DER");
}
