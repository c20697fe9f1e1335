//! Addresses that no request reaches.

use accrue::webhook::Reach;
use accrue_webhooks::{Failure, HyperTransport, Refusal};

use crate::support::{
    Certificate, Does, Listener, Script, everywhere, ok, reaching, refusal, send,
};

/// Answers once.
fn once() -> Does {
    Does::Ends(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec())
}

#[tokio::test]
async fn webhooks_addresses_that_are_not_public_are_refused() {
    let transport = HyperTransport::new(Reach::public());
    for host in [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.1.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[::127.0.0.1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[fec0::1]",
        "[ff02::1]",
    ] {
        let listener = Listener::plain(ok()).await;
        let found = send(&transport, &listener.url("https", host)).await;
        let reason = refusal(found);
        assert!(matches!(reason, Refusal::NotAllowed(_)), "{host}: {reason:?}");
        assert_eq!(listener.connections(), 0);
        refusal(send(&transport, &listener.url("http", host)).await);
        assert_eq!(listener.connections(), 0);
    }
}

#[tokio::test]
async fn webhooks_other_forms_of_an_address_are_refused() {
    let listener = Listener::plain(ok()).await;
    for transport in [HyperTransport::new(Reach::public()), everywhere()] {
        for host in [
            "2130706433",
            "0177.0.0.1",
            "0x7f.1",
            "0x7f.0.0.1",
            "0x7f000001",
            "017700000001",
            "127.1",
            "127.0.1",
            "127.0.0.1.",
            "0",
        ] {
            for scheme in ["http", "https"] {
                let reason = refusal(send(&transport, &listener.url(scheme, host)).await);
                assert!(matches!(reason, Refusal::Host | Refusal::NotHttps), "{host}: {reason:?}");
            }
        }
    }
    assert_eq!(listener.connections(), 0);
}

/// Where a resolver reads them as the operating system does, they are judged as what it found.
#[tokio::test]
async fn webhooks_localhost_is_refused() {
    let listener = Listener::plain(ok()).await;
    let transport = HyperTransport::new(Reach::public());
    for host in ["localhost", "LOCALHOST"] {
        let reason = refusal(send(&transport, &listener.url("https", host)).await);
        assert!(matches!(reason, Refusal::NotAllowed(of) if of.is_loopback()), "{reason:?}");
    }
    assert_eq!(listener.connections(), 0);
    let found = send(&everywhere(), &listener.url("http", "localhost")).await;
    assert_eq!(found.unwrap().status, 200);
}

#[tokio::test]
async fn webhooks_names_of_private_addresses_are_refused() {
    for address in ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00::1"]
    {
        let transport = HyperTransport::new(Reach::public()).resolving(Script::of(&[&[address]]));
        let reason = refusal(send(&transport, "https://hooks.example.com/").await);
        assert_eq!(reason, Refusal::NotAllowed(address.parse().unwrap()));
    }
}

#[tokio::test]
async fn webhooks_a_name_is_refused_for_one_of_its_addresses() {
    let certificate = Certificate::of("hooks.example.com");
    let listener = Listener::tls(ok(), &certificate).await;
    for answer in [["127.0.0.1", "127.0.0.2"], ["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "fd00::1"]]
    {
        let transport = reaching("127.0.0.1").trusting(&certificate.der).unwrap();
        let transport = transport.resolving(Script::of(&[&answer]));
        let found = send(&transport, &listener.url("https", "hooks.example.com")).await;
        assert!(matches!(refusal(found), Refusal::NotAllowed(_)));
    }
    assert_eq!(listener.connections(), 0);
}

/// A name that leads elsewhere the next time: 127.0.0.1 stands for a public address here, and 127.0.0.2 for
/// one that is not.
#[tokio::test]
async fn webhooks_a_name_that_changes_is_connected_to_as_it_was_judged() {
    let certificate = Certificate::of("hooks.example.com");
    let listener = Listener::tls(once(), &certificate).await;
    let script = Script::of(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let transport = reaching("127.0.0.1").trusting(&certificate.der).unwrap();
    let transport = transport.resolving(script.clone());
    let url = listener.url("https", "hooks.example.com");
    assert_eq!(send(&transport, &url).await.unwrap().status, 200);
    assert_eq!((script.asked(), listener.connections()), (1, 1), "resolved once");
    for asked in 2..=3 {
        let reason = refusal(send(&transport, &url).await);
        assert_eq!(reason, Refusal::NotAllowed([127, 0, 0, 2].into()));
        assert_eq!((script.asked(), listener.connections()), (asked, 1));
    }
}

#[tokio::test]
async fn webhooks_public_first_and_this_machine_then_is_refused() {
    let listener = Listener::plain(ok()).await;
    let script = Script::of(&[&["8.8.8.8", "127.0.0.1"], &["127.0.0.1"]]);
    let transport = HyperTransport::new(Reach::public()).resolving(script);
    for _ in 0..2 {
        let reason = refusal(send(&transport, &listener.url("https", "hooks.example.com")).await);
        assert_eq!(reason, Refusal::NotAllowed([127, 0, 0, 1].into()));
    }
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn webhooks_plain_http_goes_with_everything_only() {
    let listener = Listener::plain(ok()).await;
    let url = listener.url("http", "127.0.0.1");
    for transport in [HyperTransport::new(Reach::public()), reaching("127.0.0.0/8")] {
        assert_eq!(refusal(send(&transport, &url).await), Refusal::NotHttps);
    }
    assert_eq!(listener.connections(), 0);
    assert_eq!(send(&everywhere(), &url).await.unwrap().status, 200);
}

#[tokio::test]
async fn webhooks_users_are_refused() {
    let listener = Listener::plain(ok()).await;
    for host in ["user@127.0.0.1", "user:word@127.0.0.1", "hooks.example.com@127.0.0.1"] {
        assert_eq!(refusal(send(&everywhere(), &listener.url("http", host)).await), Refusal::User);
    }
    assert_eq!(listener.connections(), 0);
}

#[tokio::test]
async fn webhooks_refusals_say_no_address() {
    let transport = HyperTransport::new(Reach::public()).resolving(Script::of(&[&["10.1.2.3"]]));
    let failure = send(&transport, "https://intranet.example.com/").await.unwrap_err();
    assert!(matches!(failure, Failure::Refused { .. }));
    assert!(!failure.reason().contains("10.1"), "{}", failure.reason());
}
