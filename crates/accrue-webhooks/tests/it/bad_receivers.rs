//! Receivers of every bad kind beside good ones, on one worker with the limits that it has unless others are chosen.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use accrue::{
    AccountId, Clock, Email, ManualClock, Name, Timestamp,
    customer::NewCustomer,
    limits,
    webhook::{
        Answer, DeliveryOrder, DeliveryStatus, EndpointUrl, NewEndpoint, Reach, SentMessage,
    },
};
use accrue_webhooks::{Failure, Refusal, Response, RetryAfter, Transport};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, StatusCode};

use crate::host::{Host, about};

/// The bad kinds, in the order in which they become good.
const BAD: [&str; 9] =
    ["slow", "silent", "fails", "busy", "long", "redirects", "private", "nobody", "cut"];
/// What is after the kind in the name of a receiver that is sent one message of a customer after the other.
const STRICT: &str = "strict";
/// The turns that others have before time passes.
const TURNS: u32 = 50;
const MINUTE: Duration = Duration::from_secs(60);

/// What receivers are sent, and what they do by their names.
#[derive(Clone)]
struct Receivers {
    clock: ManualClock,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Number of messages that each is to be sent by now.
    written: usize,
    /// Kinds that were bad, and are good.
    good: BTreeSet<String>,
    /// When requests end that are under way and take a while.
    ends: Vec<Timestamp>,
    sent: Vec<Sent>,
    /// Requests under way, and the most of them so far, by receiver.
    under_way: BTreeMap<String, (usize, u64)>,
    /// Number of messages of a customer that have come, by receiver: those that have arrived where the order is strict,
    /// and else those that were attempted.
    come: BTreeMap<(String, String), u64>,
}

struct Sent {
    host: String,
    id: String,
    sequence: u64,
    body: Bytes,
    has_arrived: bool,
}

fn kind(host: &str) -> &str {
    host.split('.').next().unwrap()
}

fn is_strict(host: &str) -> bool {
    host.split('.').nth(1) == Some(STRICT)
}

impl State {
    /// Notes what is sent, which is the next message of its customer, or where that may be an earlier one.
    fn begin(&mut self, host: &str, request: &Request<Bytes>) -> usize {
        let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
        let (id, body) = (header("webhook-id"), request.body().clone());
        let sequence: u64 = header("webhook-sequence").parse().unwrap();
        let come = self.come.entry((host.to_owned(), about(&body))).or_default();
        if is_strict(host) {
            assert_eq!(sequence, *come + 1, "{host}: those before it have arrived, and it has not");
        } else {
            assert!(sequence <= *come + 1, "{host}: those before it were attempted");
            *come = sequence.max(*come);
        }
        let (now, most) = self.under_way.entry(host.to_owned()).or_default();
        *now += 1;
        *most = (*most).max(u64::try_from(*now).unwrap());
        self.sent.push(Sent { host: host.to_owned(), id, sequence, body, has_arrived: false });
        self.sent.len() - 1
    }

    fn end(&mut self, at: usize, found: &Result<Response, Failure>) {
        let sent = &mut self.sent[at];
        sent.has_arrived = found.as_ref().is_ok_and(|of| of.status.is_success());
        self.under_way.get_mut(&sent.host).unwrap().0 -= 1;
        if sent.has_arrived && is_strict(&sent.host) {
            *self.come.get_mut(&(sent.host.clone(), about(&sent.body))).unwrap() += 1;
        }
    }

    /// The ids of the messages that a receiver has answered with 2xx.
    fn arrived_at(&self, host: &str) -> BTreeSet<&str> {
        let sent = self.sent.iter().filter(|of| of.host == host && of.has_arrived);
        sent.map(|of| &*of.id).collect()
    }

    fn good_ones_have_all(&self) -> bool {
        let good = ["good.strict.example.com", "good.first.example.com"];
        good.iter().all(|host| self.arrived_at(host).len() == self.written)
    }
}

impl Receivers {
    /// Ends after a while, and when the good ones have all that there is: were they to wait for this, it would never end.
    async fn outlast_good_ones(&self, seconds: u64) {
        let ends_at = self.clock.now().saturating_add(Duration::from_secs(seconds));
        self.state.lock().unwrap().ends.push(ends_at);
        let mut turns = 0;
        while self.clock.now() < ends_at {
            tokio::task::yield_now().await;
            let state = self.state.lock().unwrap();
            turns += 1;
            assert!(turns < 100_000, "the good ones wait for others");
            // Time passes where nobody has anything else to do for many turns: so the clock goes from one end to the next.
            let is_next = state.ends.iter().min() == Some(&ends_at);
            if is_next && turns % TURNS == 0 && state.good_ones_have_all() {
                self.clock.set(ends_at);
            }
        }
        let mut state = self.state.lock().unwrap();
        let at = state.ends.iter().position(|of| *of == ends_at).unwrap();
        state.ends.remove(at);
    }

    async fn answer(&self, kind: &str, attempt: usize) -> Result<Response, Failure> {
        let with = |code: u16| Response::new(StatusCode::from_u16(code).unwrap());
        let (is_good, ok) = (self.state.lock().unwrap().good.contains(kind), with(204));
        match kind {
            _ if is_good => Ok(ok),
            "slow" => {
                self.outlast_good_ones(14).await;
                Ok(ok)
            }
            "silent" => {
                self.outlast_good_ones(15).await;
                Err(Failure::TimedOut)
            }
            "fails" => Ok(with([500, 404, 502, 429, 400][attempt % 5])),
            "busy" => {
                let retry_after = Some(RetryAfter::Seconds(30 * 24 * 60 * 60));
                Ok(Response { retry_after, ..with(503) })
            }
            "long" => Ok(Response { body: "é".repeat(30_000), ..with(500) }),
            "redirects" => Ok(with([301, 302, 303, 307, 308][attempt % 5])),
            "private" => Err(Refusal::NotAllowed([10, 0, 0, 1].into()).into()),
            "nobody" => Err(Failure::connect("connection refused")),
            // The message has come, and that was not heard.
            "cut" => Err(Failure::broken("connection reset")),
            _ => Ok(ok),
        }
    }
}

#[async_trait::async_trait]
impl Transport for Receivers {
    async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure> {
        let host = request.uri().host().unwrap().to_owned();
        let at = self.state.lock().unwrap().begin(&host, &request);
        // Others have their turn meanwhile.
        for _ in 0..host.len() % 5 {
            tokio::task::yield_now().await;
        }
        let found = self.answer(kind(&host), at).await;
        self.state.lock().unwrap().end(at, &found);
        found
    }
}

/// Two receivers of each kind, one of either order: as many as an account may have.
async fn receivers(host: &Host) -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["good"].iter().chain(&BAD) {
        for (word, order) in
            [(STRICT, DeliveryOrder::Strict), ("first", DeliveryOrder::FirstAttempts)]
        {
            let name = format!("{kind}.{word}.example.com");
            let url = EndpointUrl::parse(&format!("https://{name}/"), &Reach::public()).unwrap();
            let mut new = NewEndpoint::new(url);
            new.order = order;
            host.account.create_webhook_endpoint(new).await.unwrap();
            names.push(name);
        }
    }
    names
}

/// What the engine tells of the messages: that each has arrived, and at the good ones at once.
fn check_told(messages: &[SentMessage]) {
    for message in messages {
        assert!(message.is_delivered && message.deliveries.len() == 20);
        for delivery in &message.deliveries {
            assert_eq!(delivery.status, DeliveryStatus::Delivered);
            let to = delivery.attempts[0].url.as_str();
            let times: Vec<_> = delivery.attempts.iter().map(|of| of.at).collect();
            if to.contains("good.") {
                assert_eq!(times, [message.created_at], "once, and when it came up");
            }
            for attempt in &delivery.attempts {
                if let Answer::Status { body, .. } = &attempt.answer {
                    assert!(body.len() <= limits::KEPT_ANSWER_BYTES, "{to}");
                }
            }
        }
    }
}

/// The last bad one fails for two hours and a quarter. No message has a fifth attempt before that (after 5 s, 5 min, 30 min and
/// 2 h, less a twentieth), so that its next attempt is two hours and a twentieth later at most. An endpoint that fails rests for
/// no longer than that either, and one that asks for 30 days is left alone for an hour.
#[tokio::test]
async fn webhooks_bad_receivers_delay_no_other_and_every_message_arrives_in_order() {
    let host = Host::new();
    let hosts = receivers(&host).await;
    let (clock, state) = (host.clock.clone(), Arc::default());
    let receivers = Receivers { clock, state: Arc::clone(&state) };
    let worker = host.worker_on(receivers);
    let noon = host.clock.now();
    let at = |minutes: u32| noon.saturating_add(MINUTE * minutes);
    let customers: Vec<_> = (0..10).map(|n| format!("customer {n}")).collect();
    for name in &customers {
        host.customer(name).await;
        host.edit(name, 1).await;
    }
    let deliver = async |written: usize| {
        state.lock().unwrap().written += written;
        worker.deliver_due().await.unwrap();
        assert!(state.lock().unwrap().good_ones_have_all());
    };
    deliver(20).await;
    for (n, kind) in (1..).zip(BAD) {
        host.deliver_until(&worker, at(15 * n)).await;
        host.clock.set(at(15 * n).max(host.clock.now()));
        state.lock().unwrap().good.insert(kind.to_owned());
        for name in customers.iter().step_by(2) {
            host.edit_to(name, &format!("{kind}@example.com")).await;
        }
        deliver(5).await;
    }
    host.deliver_until(&worker, at(15 * 9 + 126 + 1)).await;
    assert_eq!(host.account.billing().next_endpoint_turn().await.unwrap(), None);

    let messages = host.sent().await;
    assert_eq!(messages.len(), 20 + 9 * 5);
    check_told(&messages);
    let state = state.lock().unwrap();
    let ids: BTreeSet<_> = messages.iter().map(|of| of.id.to_string()).collect();
    for host in &hosts {
        assert_eq!(state.arrived_at(host), ids.iter().map(|id| &**id).collect(), "{host}");
        let most = state.under_way[host].1;
        assert!(most <= 8, "{host}: {most} at once");
        assert!(most == 8 || kind(host) != "silent", "{host}: {most} at once");
    }
    let payloads: BTreeMap<_, _> =
        messages.iter().map(|of| (of.id.to_string(), of.payload.as_deref().unwrap())).collect();
    let mut sequences = BTreeMap::new();
    for of in &state.sent {
        assert_eq!(of.body, payloads[&of.id], "{}: the same each time, and at each", of.host);
        assert_eq!(*sequences.entry((&of.host, &of.id)).or_insert(of.sequence), of.sequence);
    }
    let counters = worker.counters();
    let arrived = 20 * 65;
    assert_eq!((counters.messages(), counters.delivered()), (65, arrived));
    let failed = u64::try_from(state.sent.len()).unwrap() - arrived;
    assert_eq!((counters.failed_attempts(), counters.disabled_endpoints()), (failed, 0));
}

/// 200 endpoints never answer, of which 64 are served at once, and 512 requests may be under way: those that are silent for a
/// second leave their places, and while requests are scarce each of them has one. So the one whose messages came up last
/// has its own.
#[tokio::test]
async fn webhooks_hundreds_of_silent_receivers_delay_no_other() {
    let host = Host::new();
    let add = async |account: &str, name: &str, count: u32| {
        let account = host.account.billing().account(AccountId::parse(account).unwrap());
        for n in 0..count {
            let url = format!("https://{name}.{n}.example.com/");
            let url = EndpointUrl::parse(&url, &Reach::public()).unwrap();
            account.create_webhook_endpoint(NewEndpoint::new(url)).await.unwrap();
        }
        for n in 0..8 {
            let name = Name::parse(format!("customer {n}")).unwrap();
            let new = NewCustomer::new(name, Email::parse("a@example.com").unwrap());
            account.create_customer(new).await.unwrap();
        }
    };
    for n in 0..10 {
        add(&format!("silent {n}"), &format!("hangs.{n}"), 20).await;
    }
    add("acme", "ok", 1).await;
    let gives_up = host.clock.now().saturating_add(Duration::from_secs(10));
    let mut delivering = pin!(host.worker(2).run(Turns));
    let under_way = || -> Vec<_> {
        let state = host.endpoints.0.lock().unwrap();
        let silent = state.under_way.iter().filter(|(host, _)| host.starts_with("hangs"));
        silent.map(|(_, (now, _))| *now).collect()
    };
    while host.endpoints.by("ok").len() < 8 || under_way().len() < 200 {
        assert!((&mut delivering).now_or_never().is_none(), "it has no end");
        assert!(host.clock.now() < gives_up, "{:?}", under_way());
        host.clock.advance(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    assert!(under_way().iter().sum::<usize>() < 512, "{:?}", under_way());
}

/// A timer that ends after some turns of others.
struct Turns;

impl accrue_webhooks::Timer for Turns {
    fn wait(&self, _: Duration) -> futures_util::future::BoxFuture<'static, ()> {
        Box::pin(async {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        })
    }
}
