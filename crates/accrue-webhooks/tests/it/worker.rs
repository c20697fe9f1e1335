//! The worker, with endpoints that do as they are told.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use accrue::{
    Account, Billing, Error, ManualClock, PayloadRenderer, SeededEntropy, limits,
    store::{Batch, Commit, Key, MemoryStore, Row, Scan, Store, StoreError},
    webhook::{DeliveryStatus, EndpointUrl, Message, NewEndpoint, PayloadStyle, Reach, Schedule},
};
use accrue_webhooks::{TokioTimer, Worker, WorkerOptions};

use crate::{
    host::{Host, Types, about, key},
    support::{Listener, everywhere, ok},
};

/// A store of which each scan takes a while.
#[derive(Debug)]
struct Slow {
    store: Arc<MemoryStore>,
    clock: ManualClock,
    scans: AtomicUsize,
}

#[async_trait::async_trait]
impl Store for Slow {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>, StoreError> {
        self.store.get(keys).await
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<Row>, StoreError> {
        let scans = self.scans.fetch_add(1, Ordering::Relaxed);
        assert!(scans < 5_000, "it looks and sends nothing");
        self.clock.advance(Duration::from_millis(1_500));
        // Attempts go on meanwhile.
        tokio::task::yield_now().await;
        self.store.scan(scan).await
    }

    async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.store.commit(batch).await
    }
}

#[tokio::test]
async fn webhooks_every_message_arrives_in_the_order_of_its_customer() {
    let host = Host::new();
    host.endpoint("ok").await;
    host.endpoint("ok.too").await;
    for name in ["ada", "bob", "eve"] {
        host.customer(name).await;
        host.edit(name, 25).await;
    }
    let worker = host.worker(2);
    worker.deliver_due().await.unwrap();
    let received = host.endpoints.received();
    assert_eq!(received.len(), 2 * 78);
    let mut last = BTreeMap::new();
    for of in &received {
        let before = last.insert((of.host.clone(), about(&of.body)), of.sequence);
        assert_eq!(before.unwrap_or_default() + 1, of.sequence);
    }
    assert!(!host.endpoints.0.lock().unwrap().are_out_of_order);
    assert_eq!(worker.counters().delivered(), 156);
    assert_eq!(worker.counters().messages(), 78);
    assert_eq!(worker.lag().await.unwrap(), Duration::ZERO);
    assert!(host.sent().await.iter().all(|of| of.is_delivered));
}

/// What is ready is out of date before it is sent, and looked for again: that is no reason to send nothing, nor to send a later
/// message of a customer first.
#[tokio::test]
async fn webhooks_a_look_that_takes_long_neither_holds_up_messages_nor_changes_their_order() {
    let host = Host::new();
    host.endpoint("ok.slow").await;
    for name in ["ada", "bob", "eve"] {
        host.customer(name).await;
        host.edit(name, 25).await;
    }
    let (store, clock) = (Arc::clone(&host.store), host.clock.clone());
    let store = Slow { store, clock, scans: AtomicUsize::default() };
    let billing = Billing::new(store, host.clock.clone(), SeededEntropy::new(2));
    let worker = Worker::new(billing, Types, host.endpoints.clone(), key());
    worker.deliver_due().await.unwrap();
    let mut last = BTreeMap::new();
    for of in host.endpoints.received() {
        let before = last.insert(about(&of.body), of.sequence);
        assert_eq!(before.unwrap_or_default() + 1, of.sequence);
    }
    assert_eq!(last.into_values().collect::<Vec<_>>(), [26, 26, 26]);
}

#[tokio::test]
async fn webhooks_an_endpoint_that_never_answers_delays_no_other() {
    let host = Host::new();
    host.endpoint("hangs").await;
    host.endpoint("ok").await;
    for n in 0..40 {
        host.customer(&format!("customer {n}")).await;
    }
    let worker = host.worker(2);
    let delivering = worker.deliver_due();
    tokio::time::timeout(Duration::from_millis(500), delivering).await.unwrap_err();
    assert_eq!(host.endpoints.by("ok").len(), 40);
    assert_eq!(host.endpoints.by("hangs").len(), 8, "as many at once as it may have");
}

#[tokio::test]
async fn webhooks_as_many_requests_at_once_as_there_may_be() {
    let host = Host::new();
    for n in 0..6 {
        host.endpoint(&format!("ok.{n}")).await;
    }
    for n in 0..50 {
        host.customer(&format!("customer {n}")).await;
    }
    let options =
        WorkerOptions { requests: 7, requests_per_endpoint: 3, ..WorkerOptions::default() };
    host.worker_with(2, options).deliver_due().await.unwrap();
    let state = host.endpoints.0.lock().unwrap();
    assert_eq!(state.received.len(), 300);
    assert!(state.under_way.values().all(|(_, most)| *most <= 3), "{:?}", state.under_way);
    assert!((4..=7).contains(&state.most), "{}", state.most);
}

/// 16 endpoints have 4 of the 64 requests each, and not 8.
#[tokio::test]
async fn webhooks_endpoints_share_the_requests() {
    let host = Host::new();
    for n in 0..16 {
        host.endpoint(&format!("hangs.{n}")).await;
    }
    for n in 0..8 {
        host.customer(&format!("customer {n}")).await;
    }
    let options = WorkerOptions { requests: 64, ..WorkerOptions::default() };
    let worker = host.worker_with(2, options);
    let delivering = worker.deliver_due();
    tokio::time::timeout(Duration::from_millis(200), delivering).await.unwrap_err();
    let state = host.endpoints.0.lock().unwrap();
    let most: Vec<_> = state.under_way.values().map(|(_, most)| *most).collect();
    assert_eq!((most.len(), most.iter().max()), (16, Some(&4)), "{most:?}");
}

#[tokio::test]
async fn webhooks_another_worker_takes_over_and_sends_the_same() {
    let host = Host::new();
    host.endpoint("hangs").await;
    host.customer("ada").await;
    let first = host.worker(2);
    tokio::time::timeout(Duration::from_millis(100), first.deliver_due()).await.unwrap_err();
    drop(first);
    // Nobody takes it before its time is over.
    let second = host.worker(3);
    second.deliver_due().await.unwrap();
    assert_eq!(host.endpoints.received().len(), 1);
    host.clock.advance(limits::LEASE);
    tokio::time::timeout(Duration::from_millis(100), second.deliver_due()).await.unwrap_err();
    let received = host.endpoints.received();
    assert_eq!((received.len(), &received[0]), (2, &received[1]));
}

#[tokio::test]
async fn webhooks_a_worker_that_stops_ends_what_is_under_way_and_leaves_the_rest_at_once() {
    let host = Host::new();
    host.endpoint("waits").await;
    for n in 0..40 {
        host.customer(&format!("customer {n}")).await;
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async move { stopped.await.unwrap() };
    let first = tokio::spawn(host.worker(2).run_until(TokioTimer, stopped));
    while host.endpoints.received().len() < 8 {
        tokio::task::yield_now().await;
    }
    stop.send(()).unwrap();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!first.is_finished(), "somebody waits for an answer");
    host.endpoints.0.lock().unwrap().may_answer = true;
    first.await.unwrap();
    assert_eq!(host.endpoints.received().len(), 8);
    // No time has passed.
    host.worker(3).deliver_due().await.unwrap();
    let received = host.endpoints.received();
    let once: BTreeSet<_> = received.iter().map(|of| of.id.clone()).collect();
    assert_eq!((received.len(), once.len()), (40, 40));
}

#[tokio::test]
async fn webhooks_two_workers_share_what_there_is() {
    let host = Host::new();
    for n in 0..8 {
        host.endpoint(&format!("ok.{n}")).await;
    }
    for n in 0..30 {
        host.customer(&format!("customer {n}")).await;
    }
    let (one, other) = (host.worker(2), host.worker(3));
    let both = futures_util::future::join(one.deliver_due(), other.deliver_due());
    let (one, other) = both.await;
    one.and(other).unwrap();
    let received = host.endpoints.received();
    let once: BTreeSet<_> = received.iter().map(|of| (of.host.clone(), of.id.clone())).collect();
    assert_eq!((received.len(), once.len()), (240, 240));
}

#[tokio::test]
async fn webhooks_a_host_is_told_of_an_endpoint_that_is_gone() {
    let host = Host::new();
    let gone = host.endpoint("gone").await;
    host.customer("ada").await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let told_to = Arc::clone(&told);
    let worker = host.worker(2).on_disabled(move |account, endpoint| {
        told_to.lock().unwrap().push((account.id().clone(), endpoint.id));
    });
    worker.deliver_due().await.unwrap();
    host.customer("bob").await;
    worker.deliver_due().await.unwrap();
    assert_eq!(host.endpoints.received().len(), 1);
    assert_eq!(*told.lock().unwrap(), [(host.account.id().clone(), gone.id)]);
    assert_eq!(worker.counters().disabled_endpoints(), 1);
}

#[tokio::test]
async fn webhooks_one_that_fails_is_sent_the_same_bytes_until_it_is_given_up() {
    let host = Host::new();
    host.endpoint("fails").await;
    host.customer("ada").await;
    let worker = host.worker(2);
    for _ in 0..20 {
        worker.deliver_due().await.unwrap();
        host.clock.advance(Duration::from_secs(11 * 60 * 60));
    }
    let received = host.endpoints.received();
    assert_eq!(received.len(), 8);
    assert!(received.iter().all(|of| *of == received[0]));
    assert_eq!(worker.counters().failed_attempts(), 8);
}

#[tokio::test]
async fn webhooks_retries_go_on_for_three_days_where_the_schedule_says_so() {
    let host = Host::new();
    host.endpoint("fails").await;
    let begun = host.account.billing().now();
    host.customer("ada").await;
    let hours = [1, 2, 4, 8, 12, 20, 25];
    let delays = hours.map(|hours| Duration::from_secs(hours * 60 * 60));
    assert_eq!(delays.iter().sum::<Duration>(), limits::DELIVERY_TIME, "three days");
    let schedule = Schedule::new(delays).unwrap();
    let worker = host.worker_with(2, WorkerOptions { schedule, ..WorkerOptions::default() });
    worker.deliver_due().await.unwrap();
    host.deliver_until(&worker, begun.saturating_add(Duration::from_secs(10 * 24 * 60 * 60))).await;
    let (all, page) = Default::default();
    let sent = host.account.list_sent_messages(&all, &page).await.unwrap().data;
    let delivery = sent.iter().find_map(|of| of.deliveries.first()).unwrap();
    assert_eq!(delivery.status, DeliveryStatus::GivenUp);
    let at: Vec<_> = delivery.attempts.iter().map(|of| of.at).collect();
    assert_eq!(at.len(), 8);
    for (pair, delay) in at.windows(2).zip(delays) {
        let waited =
            Duration::from_micros((pair[1].micros() - pair[0].micros()).try_into().unwrap());
        // A jitter of a tenth.
        assert!(waited >= delay.mul_f64(0.95) && waited <= delay.mul_f64(1.05), "{waited:?}");
    }
    let received = host.endpoints.received();
    assert!(received.iter().all(|of| *of == received[0]), "the same bytes each time");
}

/// It is woken by the commit: it looks for others' once an hour.
#[tokio::test]
async fn webhooks_a_message_of_this_process_is_sent_at_once() {
    let host = Host::new();
    host.endpoint("ok").await;
    let options = WorkerOptions { poll: Duration::from_secs(3_600), ..WorkerOptions::default() };
    let billing = host.account.billing().clone();
    let worker = Worker::with_options(billing, Types, host.endpoints.clone(), key(), options);
    let running = tokio::spawn(worker.run(TokioTimer));
    for n in 0..5 {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        host.customer(&format!("customer {n}")).await;
    }
    while host.endpoints.received().len() < 5 {
        tokio::task::yield_now().await;
    }
    running.abort();
}

/// What goes over the wire is what the libraries of Standard Webhooks verify, also while two secrets overlap.
#[tokio::test]
async fn webhooks_requests_are_verified_by_standard_webhooks() {
    let host = Host::new();
    let listener = Listener::plain(ok()).await;
    let url = EndpointUrl::parse(&listener.url("http", "127.0.0.1"), &Reach::everything()).unwrap();
    let endpoint = host.account.create_webhook_endpoint(NewEndpoint::new(url)).await.unwrap();
    let before = endpoint.secret(&key(), host.account.id());
    let hour = Duration::from_secs(3_600);
    let rotated = host.account.rotate_webhook_secret(endpoint.id, hour).await.unwrap();
    let after = rotated.secret(&key(), host.account.id());
    assert_ne!(before.reveal(), after.reveal());

    struct Empty;

    #[async_trait::async_trait]
    impl PayloadRenderer for Empty {
        async fn render(&self, _: &Account, _: &Message, _: PayloadStyle) -> Result<String, Error> {
            Ok("{}".to_owned())
        }
    }

    host.clock.set(accrue::Clock::now(&accrue::SystemClock));
    host.customer("ada").await;
    let billing = host.account.billing().clone();
    // The clock has gone on: the overlap is over.
    let worker = Worker::new(billing, Empty, everywhere(), key());
    worker.deliver_due().await.unwrap();
    let rotated = host.account.rotate_webhook_secret(endpoint.id, hour).await.unwrap();
    let last = rotated.secret(&key(), host.account.id());
    host.customer("bob").await;
    worker.deliver_due().await.unwrap();
    let requests = listener.requests();
    let verifies = |request: &str, secret: &accrue::webhook::Secret| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut headers = http::HeaderMap::new();
        for line in head.lines().skip(1) {
            let (name, value) = line.split_once(": ").unwrap();
            let name = name.parse::<http::HeaderName>().unwrap();
            headers.insert(name, value.parse().unwrap());
        }
        let webhook = standardwebhooks::Webhook::new(&secret.reveal()).unwrap();
        webhook.verify(body.as_bytes(), &headers).is_ok()
    };
    let by = |request: &str| [&before, &after, &last].map(|secret| verifies(request, secret));
    assert_eq!(by(&requests[0]), [false, true, false]);
    assert_eq!(by(&requests[1]), [false, true, true]);
}
