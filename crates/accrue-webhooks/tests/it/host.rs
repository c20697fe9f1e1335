//! A host with an account, endpoints that do as they are told, and workers that deliver to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use accrue::{
    Account, AccountId, Billing, Clock as _, Email, Error, ExternalId, ManualClock, Name,
    PageRequest, PayloadRenderer, SeededEntropy, Timestamp,
    customer::{CustomerUpdate, NewCustomer},
    store::MemoryStore,
    webhook::{
        Endpoint, EndpointUrl, Message, NewEndpoint, PayloadStyle, Reach, SentMessage,
        SentMessageFilter, WebhookKey,
    },
};
use accrue_webhooks::{Failure, Response, Transport, Worker, WorkerOptions};
use bytes::Bytes;
use http::{Request, StatusCode};

pub(crate) const NOON: &str = "2026-03-10T12:00:00Z";
pub(crate) const KEY: &[u8; 32] = b"32 random bytes of the host's ow";

/// Writes the type of a message, its id, and whom it is about.
pub(crate) struct Types;

#[async_trait::async_trait]
impl PayloadRenderer for Types {
    async fn render(
        &self,
        _: &Account,
        message: &Message,
        _: PayloadStyle,
    ) -> Result<String, Error> {
        let about = message.customer.as_ref().map(|of| of.name.to_string()).unwrap_or_default();
        let (of, id) = (message.message_type(), message.id);
        Ok(format!(r#"{{"type":"{of}","id":"{id}","about":"{about}"}}"#))
    }
}

/// A host with a worker.
pub(crate) struct Host {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) clock: ManualClock,
    pub(crate) account: Account,
    pub(crate) endpoints: Endpoints,
}

/// What all endpoints have received, and what they do by their names: `ok`, `fails`, `gone`, `cut`, `hangs`, `waits`.
#[derive(Clone, Default)]
pub(crate) struct Endpoints(pub(crate) Arc<Mutex<State>>);

#[derive(Default)]
pub(crate) struct State {
    pub(crate) received: Vec<Received>,
    /// Requests under way, and the most of them so far, by endpoint.
    pub(crate) under_way: BTreeMap<String, (usize, usize)>,
    pub(crate) most: usize,
    /// Whom requests under way are about, by endpoint: of one customer there is one at a time.
    pub(crate) about: BTreeSet<(String, String)>,
    pub(crate) are_out_of_order: bool,
    /// Whether those that wait may answer.
    pub(crate) may_answer: bool,
}

/// Whom a body is about.
pub(crate) fn about(body: &[u8]) -> String {
    let text = String::from_utf8(body.to_vec()).unwrap();
    text.rsplit_once(':').unwrap().1.to_owned()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) host: String,
    pub(crate) id: String,
    pub(crate) sequence: u64,
    pub(crate) body: Bytes,
}

#[async_trait::async_trait]
impl Transport for Endpoints {
    async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure> {
        let host = request.uri().host().unwrap().to_owned();
        let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
        {
            let mut state = self.0.lock().unwrap();
            let entry = state.under_way.entry(host.clone()).or_default();
            entry.0 += 1;
            entry.1 = entry.1.max(entry.0);
            let all = state.under_way.values().map(|of| of.0).sum();
            state.most = state.most.max(all);
            let (id, sequence) = (header("webhook-id"), header("webhook-sequence"));
            let sequence = sequence.parse().unwrap();
            let body = request.body().clone();
            let is_alone = state.about.insert((host.clone(), about(&body)));
            state.are_out_of_order |= !is_alone;
            state.received.push(Received { host: host.clone(), id, sequence, body });
        }
        if host.starts_with("hangs") {
            std::future::pending::<()>().await;
        }
        while host.starts_with("waits") && !self.0.lock().unwrap().may_answer {
            tokio::task::yield_now().await;
        }
        // Others have their turn meanwhile.
        for _ in 0..host.len() % 5 {
            tokio::task::yield_now().await;
        }
        {
            let mut state = self.0.lock().unwrap();
            state.under_way.get_mut(&host).unwrap().0 -= 1;
            state.about.remove(&(host.clone(), about(request.body())));
        }
        Ok(Response::new(match host.split('.').next().unwrap() {
            "fails" => StatusCode::INTERNAL_SERVER_ERROR,
            "gone" => StatusCode::GONE,
            "cut" => return Err(Failure::broken("connection reset")),
            _ => StatusCode::NO_CONTENT,
        }))
    }
}

impl Endpoints {
    pub(crate) fn received(&self) -> Vec<Received> {
        self.0.lock().unwrap().received.clone()
    }

    pub(crate) fn by(&self, host: &str) -> Vec<Received> {
        self.received().into_iter().filter(|of| of.host.starts_with(host)).collect()
    }
}

impl Host {
    pub(crate) fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let clock = ManualClock::at(Timestamp::parse(NOON).unwrap());
        let billing = Billing::new(Arc::clone(&store), clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("acme").unwrap());
        Self { store, clock, account, endpoints: Endpoints::default() }
    }

    /// A worker of another process.
    pub(crate) fn worker(&self, seed: u64) -> Worker {
        self.worker_with(seed, WorkerOptions::default())
    }

    pub(crate) fn worker_with(&self, seed: u64, options: WorkerOptions) -> Worker {
        let store = Arc::clone(&self.store);
        let billing = Billing::new(store, self.clock.clone(), SeededEntropy::new(seed));
        Worker::with_options(billing, Types, self.endpoints.clone(), key(), options)
    }

    /// A worker with the options that it has unless others are chosen.
    pub(crate) fn worker_on(&self, transport: impl Transport + 'static) -> Worker {
        let store = Arc::clone(&self.store);
        let billing = Billing::new(store, self.clock.clone(), SeededEntropy::new(2));
        Worker::new(billing, Types, transport, key())
    }

    /// Delivers turn by turn, each when it comes, up to an instant.
    pub(crate) async fn deliver_until(&self, worker: &Worker, until: Timestamp) {
        for _ in 0..1_000 {
            let next = self.account.billing().next_endpoint_turn().await.unwrap();
            let Some(at) = next.filter(|at| *at <= until) else { return };
            self.clock.set(at.max(self.clock.now()));
            worker.deliver_due().await.unwrap();
        }
        panic!("turns have no end");
    }

    pub(crate) async fn endpoint(&self, host: &str) -> Endpoint {
        let url = format!("https://{host}.example.com/hook");
        let url = EndpointUrl::parse(&url, &Reach::public()).unwrap();
        self.account.create_webhook_endpoint(NewEndpoint::new(url)).await.unwrap()
    }

    pub(crate) async fn customer(&self, name: &str) {
        let email = Email::parse("a@example.com").unwrap();
        let mut new = NewCustomer::new(Name::parse(name).unwrap(), email);
        new.external_customer_id = Some(ExternalId::parse(name).unwrap());
        self.account.create_customer(new).await.unwrap();
    }

    pub(crate) async fn edit(&self, customer: &str, times: usize) {
        for n in 0..times {
            self.edit_to(customer, &format!("{n}@example.com")).await;
        }
    }

    /// Gives a customer an e-mail address, of which a message tells where it had another.
    pub(crate) async fn edit_to(&self, customer: &str, email: &str) {
        let email = Some(Email::parse(email).unwrap());
        let update = CustomerUpdate { email, ..CustomerUpdate::default() };
        let of = ExternalId::parse(customer).unwrap();
        self.account.update_customer(of, update).await.unwrap();
    }

    pub(crate) async fn sent(&self) -> Vec<SentMessage> {
        let page = PageRequest::first(100).unwrap();
        let filter = SentMessageFilter::default();
        self.account.list_sent_messages(&filter, &page).await.unwrap().data
    }
}

pub(crate) fn key() -> WebhookKey {
    WebhookKey::new(KEY).unwrap()
}
