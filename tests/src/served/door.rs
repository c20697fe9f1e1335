use std::{
    error::Error,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use accrue::{
    AccountId, Billing, Decimal, ExternalId, ManualClock, Name, PageRequest, PaymentGateway,
    PlanId, SeededEntropy, TaxProvider,
    account::Configuration,
    customer::{GatewayAccount, ListedPaymentMethod, PaymentMethodType},
    invoice::{
        CreditNote, Invoice, PaymentAttempt, PaymentOutcome, StartedPayment, TaxAmount, TaxOutcome,
        TaxRequest,
    },
    plan::{MigrationTiming, NewMigration, PlanVersion},
    store::Store,
    webhook::{SentMessageFilter, WebhookKey},
};
use accrue_http::{Api, Documents, FixedKey, PaymentMethodSource, Portal, Webhooks};
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use pollster::block_on;
use serde_json::Value;

use super::Case;
use crate::host::instant;

const TOKEN: &str = "test-key";
/// How often time is asked for what it brings.
const TICKS: usize = 3;

/// A process that serves the API on a store.
#[derive(Debug)]
pub struct Door {
    billing: Billing,
    api: Api,
}

/// A gateway that charges whatever it is asked for, at once.
struct Approves;

#[async_trait]
impl PaymentGateway for Approves {
    async fn charge(&self, payment: &StartedPayment) -> Option<PaymentOutcome> {
        let transaction_id = Some(format!("charge of {}", payment.attempt_id));
        Some(PaymentOutcome::Succeeded { received_at: payment.started_at, transaction_id })
    }
}

/// Lists one card for every account.
struct OneCard;

#[async_trait]
impl PaymentMethodSource for OneCard {
    async fn list(
        &self,
        of: &GatewayAccount,
    ) -> Result<Vec<ListedPaymentMethod>, Box<dyn Error + Send + Sync>> {
        Ok(vec![ListedPaymentMethod {
            external_id: ExternalId::parse(format!("card of {}", of.provider_id.as_str()))?,
            method_type: PaymentMethodType::Card,
            is_default: true,
        }])
    }
}

/// Taxes every line by a fifth.
struct Fifth;

#[async_trait]
impl TaxProvider for Fifth {
    async fn calculate(&self, request: &TaxRequest) -> Option<TaxOutcome> {
        let fifth = Decimal::parse("0.2").unwrap();
        let taxes = request.lines.iter().map(|line| {
            let tax = TaxAmount {
                description: Name::parse("VAT").unwrap(),
                percentage: Some(Decimal::from(20)),
                amount: &line.amount * &fifth,
                reason: None,
            };
            (line.id, vec![tax])
        });
        Some(TaxOutcome::Calculated(taxes.collect()))
    }
}

/// Addresses of documents, which show what these depend on.
struct Addresses;

impl Documents for Addresses {
    fn invoice_pdf(&self, _: &AccountId, invoice: &Invoice) -> Option<String> {
        Some(format!("https://example.com/{}/{}", invoice.id, invoice.document_at()?))
    }

    fn hosted_invoice(&self, _: &AccountId, invoice: &Invoice) -> Option<String> {
        Some(format!("https://example.com/{}", invoice.id))
    }

    fn receipt_pdf(&self, _: &AccountId, _: &Invoice, payment: &PaymentAttempt) -> Option<String> {
        Some(format!("https://example.com/{}/{}", payment.id, payment.document_at()?))
    }

    fn credit_note_pdf(&self, _: &AccountId, note: &CreditNote) -> Option<String> {
        Some(format!("https://example.com/{}", note.id))
    }
}

/// Whether a request that is not answered yet has offered others their turn: it goes on then.
#[derive(Default)]
struct Turn {
    is_offered: AtomicBool,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.is_offered.store(true, Ordering::Relaxed);
    }
}

impl Door {
    pub(super) fn on(store: impl Store, now: &str, seed: u64) -> Self {
        let clock = ManualClock::at(instant(now));
        let billing = Billing::new(store, clock, SeededEntropy::new(seed));
        let key = FixedKey::new(TOKEN, account());
        let builder = Api::builder(billing.clone(), key);
        let portal = Portal::new("https://example.com/", &[7; 32]);
        let builder = builder.payment_gateway(Approves).payment_methods(OneCard);
        let builder = builder.tax_provider(Fifth).documents(Addresses);
        let key = WebhookKey::new(&[7; 32]).expect("it has 32 bytes");
        let api = builder.portal(portal).webhooks(Webhooks::new(key)).build();
        Self { billing, api }
    }

    /// Has one message that waits written for the endpoints, and returns its id.
    pub(super) fn fan_out_one(&self) -> String {
        block_on(self.billing.fan_out_messages(&self.api, 1)).expect("the store takes it");
        let (filter, page) = (SentMessageFilter::default(), PageRequest::default());
        let account = self.billing.account(account());
        let sent = block_on(account.list_sent_messages(&filter, &page)).expect("the store answers");
        sent.data[0].id.to_string()
    }

    /// Has a subscription of a plan moved to its second version at the end of its term, and returns the migration's id.
    pub(super) fn migrate(&self, plan: &str, subscription: &str) -> String {
        let plan: PlanId = plan.parse().expect("an id");
        let new = NewMigration {
            when: MigrationTiming::EndOfTerm,
            subscriptions: Some(vec![subscription.parse().expect("an id")]),
            ..NewMigration::to(PlanVersion::new(2))
        };
        let account = self.billing.account(account());
        let call = account.migrate_plan(plan, new);
        block_on(call.into_future()).expect("the store takes it").id.to_string()
    }

    /// Asks once, and lets others have their turn when it offers that; there is no answer where the
    /// process ends.
    pub(super) fn send(&self, case: &Case, key: &str) -> Option<Response<Bytes>> {
        let mut request = request(case.method(), &case.path, &case.body, Some(key));
        if case.is_staged {
            let_wait(&mut request);
        }
        self.handle(request)
    }

    /// Asks what a request would come to.
    pub(super) fn rehearse(&self, case: &Case) -> Option<Response<Bytes>> {
        let mut request = request(case.method(), &case.path, &case.body, None);
        request.headers_mut().insert("dry-run", HeaderValue::from_static("True"));
        self.handle(request)
    }

    fn handle(&self, request: Request<Full<Bytes>>) -> Option<Response<Bytes>> {
        let mut answer = pin!(self.api.handle(request));
        let turn = Arc::new(Turn::default());
        let waker = Waker::from(Arc::clone(&turn));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(answer) = answer.as_mut().poll(&mut context) {
                return Some(answer);
            }
            if !turn.is_offered.swap(false, Ordering::Relaxed) {
                return None;
            }
        }
    }

    /// The operations that are served.
    ///
    /// # Panics
    ///
    /// If the description of the API has another form.
    #[must_use]
    pub fn served(&self) -> Vec<String> {
        let request = Request::get("/openapi.json").body(Full::<Bytes>::default()).unwrap();
        let document = block_on(self.api.handle(request));
        let document: Value = serde_json::from_slice(document.body()).unwrap();
        let paths = document["paths"].as_object().unwrap().iter();
        let all = paths.flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            let methods = methods
                .filter(|method| ["get", "post", "put", "delete", "patch"].contains(&&***method));
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        });
        all.collect()
    }

    pub(super) fn create(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", path, &body.to_string())
    }

    /// Lets the change of a subscription wait.
    pub(super) fn stage(&self, path: &str, body: &Value) -> Value {
        let mut request = request("POST", path, &body.to_string(), None);
        let_wait(&mut request);
        let answer = block_on(self.api.handle(request));
        assert!(answer.status().is_success(), "{path} {body}: {answer:?}");
        serde_json::from_slice(answer.body()).unwrap()
    }

    pub(super) fn get(&self, path: &str) -> Value {
        self.ask("GET", path, "")
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let answer = block_on(self.api.handle(request(method, path, body, None)));
        assert!(answer.status().is_success(), "{path} {body}: {answer:?}");
        serde_json::from_slice(answer.body()).unwrap()
    }

    pub(super) fn id(&self, path: &str, body: &Value) -> String {
        self.create(path, body)["id"].as_str().unwrap().to_owned()
    }

    /// Lets the account have invoices.
    pub(super) fn ask_for_invoices(&self) {
        let mut configuration = Configuration::default();
        configuration.features.invoices = true;
        let account = self.billing.account(account());
        block_on(account.configure(configuration).into_future()).unwrap();
    }

    /// Lets the account tax those who are not exempt.
    pub(super) fn ask_for_taxes(&self) {
        let account = self.billing.account(account());
        let mut configuration = block_on(account.configuration()).unwrap();
        configuration.calculates_taxes = true;
        block_on(account.configure(configuration).into_future()).unwrap();
    }

    /// Applies everything that is due.
    pub(super) fn tick(&self) {
        while block_on(self.billing.tick(100)).unwrap().more {}
    }

    /// Does what a host does beside requests, and tells whether all that it took could be read.
    pub(super) fn attend(&self) -> bool {
        let account = self.billing.account(account());
        let applied = (0..TICKS).map(|_| block_on(self.billing.tick(100)));
        // All of it, also where something cannot be read.
        let applied: Vec<_> = applied.map(|tick| tick.is_ok_and(|tick| tick.failed == 0)).collect();
        let collected = block_on(self.billing.collect_garbage(100)).is_ok();
        let next = block_on(self.billing.next_deadline()).is_ok();
        let page = accrue::PageRequest::first_of_messages(100).unwrap();
        let messages = block_on(account.list_messages(&page)).is_ok();
        let sent = self.look_for_what_to_send();
        applied.into_iter().chain([collected, next, messages, sent]).all(|is_read| is_read)
    }

    /// Does what a worker does before it sends something, and tells whether all of it could be read.
    fn look_for_what_to_send(&self) -> bool {
        match block_on(self.billing.take_endpoint()) {
            Ok(Some(lease)) => block_on(self.billing.waiting_deliveries(&lease, 100)).is_ok(),
            Ok(None) => true,
            Err(_) => false,
        }
    }
}

fn let_wait(request: &mut Request<Full<Bytes>>) {
    let header = "create-pending-subscription-change";
    request.headers_mut().insert(header, HeaderValue::from_static("True"));
}

fn account() -> AccountId {
    AccountId::parse("acme").unwrap()
}

fn request(method: &str, path: &str, body: &str, key: Option<&str>) -> Request<Full<Bytes>> {
    let mut request = Request::builder()
        .method(method)
        .uri(format!("/v1{path}"))
        .header("authorization", format!("Bearer {TOKEN}"));
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}
