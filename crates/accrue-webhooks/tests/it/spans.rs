//! Spans of attempts, with the feature `tracing`.

use std::{cell::RefCell, collections::BTreeMap, fmt, pin::pin, sync::LazyLock};

use accrue::webhook::{EndpointUpdate, EndpointUrl, Reach};
use accrue_webhooks::{Failure, Response, Transport};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::Request;
use tracing::{
    Event, Metadata, Subscriber,
    callsite::rebuild_interest_cache,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::set_global_default,
};

use crate::host::{Endpoints, Host};

/// A subscriber that keeps the spans of attempts of each thread, which one test runs on.
///
/// It is one for the whole process: whether a span is on is kept for all threads.
struct Recorder;

static GLOBAL: LazyLock<()> = LazyLock::new(|| set_global_default(Recorder).unwrap());

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

#[derive(Default)]
struct Kept {
    spans: Vec<Span>,
    entered: Vec<Id>,
}

#[derive(Clone, Debug, Default)]
struct Span {
    fields: BTreeMap<&'static str, String>,
    /// What the transport has told within it.
    told: usize,
}

fn span_of<'k>(kept: &'k mut Kept, id: &Id) -> &'k mut Span {
    &mut kept.spans[usize::try_from(id.into_u64()).unwrap() - 1]
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "accrue" && ["delivery", "told"].contains(&metadata.name())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut span = Span::default();
        attributes.record(&mut span);
        KEPT.with_borrow_mut(|kept| {
            kept.spans.push(span);
            Id::from_u64(u64::try_from(kept.spans.len()).unwrap())
        })
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        KEPT.with_borrow_mut(|kept| values.record(span_of(kept, id)));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        KEPT.with_borrow_mut(|kept| {
            let id = kept.entered.last().cloned().unwrap();
            span_of(kept, &id).told += 1;
        });
    }

    fn enter(&self, id: &Id) {
        KEPT.with_borrow_mut(|kept| kept.entered.push(id.clone()));
    }

    fn exit(&self, id: &Id) {
        KEPT.with_borrow_mut(|kept| assert_eq!(kept.entered.pop().as_ref(), Some(id)));
    }
}

impl Visit for Span {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// A transport that tells of what it sends, as those of hosts may.
struct Telling(Endpoints);

#[async_trait::async_trait]
impl Transport for Telling {
    async fn send(&self, request: Request<Bytes>) -> Result<Response, Failure> {
        // Each turn that it has is within the span.
        for _ in 0..3 {
            tracing::info!(name: "told", target: "accrue", "sends");
            tokio::task::yield_now().await;
        }
        self.0.send(request).await
    }
}

fn begin() {
    *GLOBAL;
    // Of a thread that came to a span before there was a subscriber it may be known that it is off.
    rebuild_interest_cache();
    KEPT.take();
}

/// The spans of attempts so far, by endpoint.
fn spans() -> Vec<Span> {
    let mut spans = KEPT.with_borrow(|kept| kept.spans.clone());
    spans.sort_by(|one, other| one.fields["endpoint"].cmp(&other.fields["endpoint"]));
    spans
}

#[tokio::test]
async fn webhooks_each_attempt_has_a_span() {
    begin();
    let host = Host::new();
    let mut expect = Vec::new();
    for (name, (field, value)) in [
        ("ok", ("status", "204")),
        ("fails", ("status", "500")),
        ("cut", ("failure", "no answer of HTTP: connection reset")),
    ] {
        let id = host.endpoint(name).await.id.to_string();
        expect.push(BTreeMap::from([
            ("account", "acme".to_owned()),
            ("endpoint", id),
            (field, value.to_owned()),
        ]));
    }
    host.customer("ada").await;
    let worker = host.worker_on(Telling(host.endpoints.clone()));
    worker.deliver_due().await.unwrap();
    let message = host.sent().await[0].id.to_string();
    for fields in &mut expect {
        fields.insert("message", message.clone());
    }
    expect.sort_by(|one, other| one["endpoint"].cmp(&other["endpoint"]));
    let found = spans();
    assert!(found.iter().all(|of| of.told == 3), "{found:?}");
    assert_eq!(found.into_iter().map(|of| of.fields).collect::<Vec<_>>(), expect);

    // A message is attempted eight times before it is given up.
    host.deliver_until(&worker, accrue::Timestamp::MAX).await;
    let count = |field, value| {
        spans().iter().filter(|of| of.fields.get(field).is_some_and(|of| of == value)).count()
    };
    assert_eq!((count("status", "204"), count("status", "500")), (1, 8));
    assert_eq!(count("failure", "no answer of HTTP: connection reset"), 8);
    assert_eq!(spans().len(), 1 + 8 + 8);
}

/// Neither the address, which may have a secret in it, nor a secret, nor whom the message is about.
#[tokio::test]
async fn webhooks_spans_have_nothing_that_is_no_business_of_a_log() {
    begin();
    let host = Host::new();
    let id = host.endpoint("ok").await.id;
    let url =
        EndpointUrl::parse("https://ok.example.com/token?key=word", &Reach::public()).unwrap();
    let mut update = EndpointUpdate::default();
    update.url = Some(url);
    host.account.update_webhook_endpoint(id, update).await.unwrap();
    host.customer("Lovelace").await;
    host.worker_on(Telling(host.endpoints.clone())).deliver_due().await.unwrap();
    let found = spans();
    assert_eq!(found.len(), 1);
    let names: Vec<_> = found[0].fields.keys().copied().collect();
    assert_eq!(names, ["account", "endpoint", "message", "status"]);
    let text = format!("{found:?}");
    for secret in ["token", "word", "Lovelace", "whsec", "example.com"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn webhooks_an_attempt_that_is_dropped_has_a_span_without_an_end() {
    begin();
    let host = Host::new();
    let id = host.endpoint("hangs").await.id.to_string();
    host.customer("ada").await;
    let worker = host.worker(2);
    {
        let mut delivering = pin!(worker.deliver_due());
        while host.endpoints.received().is_empty() {
            assert!((&mut delivering).now_or_never().is_none(), "it never answers");
            tokio::task::yield_now().await;
        }
    }
    let found = spans();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].fields["endpoint"], id);
    assert!(!found[0].fields.contains_key("status") && !found[0].fields.contains_key("failure"));
    assert_eq!((worker.counters().delivered(), worker.counters().failed_attempts()), (0, 0));
}
