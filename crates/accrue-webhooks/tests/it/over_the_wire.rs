//! Receivers of every bad kind beside a good one, over TLS on this machine: what went over the wire, attempt by attempt.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use accrue::{
    Timestamp,
    webhook::{Answer, DeliveryOrder, EndpointUrl, NewEndpoint, Reach},
};
use tokio::sync::Semaphore;

use crate::{
    host::{Host, about},
    support::{Certificate, Does, Listener, Script, answers, ok, reaching},
};

/// What a receiver is called whose name leads elsewhere at first.
const NAME: &str = "hooks.example.com";

/// An answer with 5 MB.
fn large(status: &str) -> Does {
    const SIZE: usize = 5_000_000;
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {SIZE}\r\n\r\n");
    Does::Answers([head.into_bytes(), b"a".repeat(SIZE)].concat())
}

fn empty(status: &str) -> Does {
    answers(&format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"))
}

fn leads_to(status: &str, location: &str) -> Does {
    answers(&format!("HTTP/1.1 {status}\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"))
}

/// A request as it came: the id of the message, its number, and its body.
fn parts(request: &str) -> (String, u64, String) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let header =
        |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
    (header("webhook-id: "), header("webhook-sequence: ").parse().unwrap(), body.to_owned())
}

async fn send_to(host: &Host, listener: &Listener, name: &str) {
    let reach = Reach::public().allowing("127.0.0.1").unwrap();
    let url = EndpointUrl::parse(&listener.url("https", name), &reach).unwrap();
    let mut new = NewEndpoint::new(url);
    new.order = DeliveryOrder::Strict;
    host.account.create_webhook_endpoint(new).await.unwrap();
}

#[tokio::test]
async fn webhooks_every_message_arrives_over_the_wire_at_receivers_that_were_bad() {
    let host = Host::new();
    let (by_address, by_name) = (Certificate::of("127.0.0.1"), Certificate::of(NAME));
    // Where a redirection would lead, were it followed.
    let elsewhere = Listener::in_turn(vec![ok()], &by_address).await;
    let gate = Arc::new(Semaphore::new(0));
    let waits = |then| Does::Waits(Arc::clone(&gate), Box::new(then));
    let silence = || waits(Does::Ends(Vec::new()));
    let kinds = [
        ("good", vec![ok()]),
        ("slow", vec![waits(ok())]),
        ("silent", vec![silence(), silence(), silence(), silence(), ok()]),
        ("fails", vec![empty("500 Oh"), empty("404 No"), empty("503 Busy"), ok()]),
        ("large", vec![large("500 Oh"), large("200 OK")]),
        (
            "redirects",
            vec![
                leads_to("302 There", &elsewhere.url("https", "127.0.0.1")),
                leads_to("307 There", "https://169.254.169.254/latest/meta-data"),
                leads_to("301 There", "/other"),
                ok(),
            ],
        ),
        (
            "cut",
            vec![
                Does::Ends(Vec::new()),
                Does::Ends(b"HTTP/1.1 200".to_vec()),
                Does::Ends(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()),
                ok(),
            ],
        ),
    ];
    let mut listeners = BTreeMap::new();
    for (kind, does) in kinds {
        let listener = Listener::in_turn(does, &by_address).await;
        send_to(&host, &listener, "127.0.0.1").await;
        listeners.insert(kind, listener);
    }
    let private = Listener::in_turn(vec![ok()], &by_name).await;
    send_to(&host, &private, NAME).await;
    listeners.insert("private", private);
    let names = Script::of(&[&["10.0.0.1"], &["169.254.169.254", "127.0.0.1"], &["127.0.0.1"]]);
    let transport = reaching("127.0.0.1").trusting(&by_address.der).unwrap();
    let worker = host.worker_on(transport.trusting(&by_name.der).unwrap().resolving(names));

    for name in ["ada", "bob", "eve"] {
        host.customer(name).await;
        host.edit(name, 2).await;
    }
    let delivering = worker.clone();
    let delivering = tokio::spawn(async move { delivering.deliver_due().await });
    while listeners["good"].requests().len() < 9 && !delivering.is_finished() {
        tokio::task::yield_now().await;
    }
    assert!(!delivering.is_finished(), "two of them have not answered");
    assert_eq!(listeners["good"].requests().len(), 9);
    gate.close();
    delivering.await.unwrap().unwrap();
    host.deliver_until(&worker, Timestamp::MAX).await;

    let messages = host.sent().await;
    assert_eq!(messages.len(), 9);
    assert!(messages.iter().all(|of| of.is_delivered));
    let expect: BTreeSet<_> =
        messages.iter().map(|of| (of.id.to_string(), of.payload.clone().unwrap())).collect();
    for (kind, listener) in &listeners {
        let requests: Vec<_> = listener.requests().iter().map(|of| parts(of)).collect();
        // An id with another body would be one more of them.
        let found: BTreeSet<_> =
            requests.iter().map(|(id, _, body)| (id.clone(), body.clone())).collect();
        assert_eq!(found, expect, "{kind}");
        let mut last = BTreeMap::new();
        for (_, number, body) in &requests {
            let before = last.insert(about(body.as_bytes()), *number).unwrap_or_default();
            assert!(*number == before || *number == before + 1, "{kind}: {before}, then {number}");
        }
        assert_eq!(last.into_values().collect::<Vec<_>>(), [3, 3, 3], "{kind}");
        let is_sent_again = requests.len() > 9;
        let fails = !["good", "slow", "private"].contains(kind);
        assert_eq!(is_sent_again, fails, "{kind}: {}", requests.len());
    }
    assert_eq!(elsewhere.connections(), 0);
    let private = messages.iter().flat_map(|of| &of.deliveries);
    let attempts = private.flat_map(|of| &of.attempts).filter(|of| of.url.as_str().contains(NAME));
    let refused = attempts.filter(|of| match &of.answer {
        Answer::Nothing { reason } => reason.ends_with("it leads to an address that is not public"),
        _ => false,
    });
    assert_eq!(refused.count(), 2);
}
