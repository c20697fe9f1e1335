//! One attempt to deliver a message.

use std::{sync::Arc, time::Duration};

use accrue::webhook::{Answer, AttemptReport, Endpoint, EndpointLease, Outgoing, Signatures};
use bytes::Bytes;
use http::{Request, header};

use super::{Inner, places::Place};
use crate::Response;

/// The time that an attempt needs of a lease: beyond it, somebody else may send the same.
pub(super) const ATTEMPT: Duration = Duration::from_secs(20);

/// Makes one attempt, in a span of its own; none where there is no time left for it.
pub(super) async fn attempt(
    worker: &Inner,
    (lease, place): (EndpointLease, Arc<Place>),
    endpoint: Endpoint,
    of: Outgoing,
) -> Option<AttemptReport> {
    let _permit = worker.requests.acquire().await;
    let now = worker.billing.now();
    if !place.lasts_until(now.saturating_add(ATTEMPT)) {
        return None;
    }
    place.waits_from(now);
    #[cfg(feature = "tracing")]
    {
        use tracing::Instrument as _;

        let span = tracing::info_span!(
            target: "accrue",
            "delivery",
            account = %lease.account(),
            endpoint = %endpoint.id,
            message = %of.delivery.message_id(),
            status = tracing::field::Empty,
            failure = tracing::field::Empty,
        );
        let report = send(worker, &lease, endpoint, of).instrument(span.clone()).await;
        match &report.answer {
            Answer::Status { code, .. } => span.record("status", code),
            Answer::Nothing { reason } => span.record("failure", reason),
            _ => &span,
        };
        Some(report)
    }
    #[cfg(not(feature = "tracing"))]
    Some(send(worker, &lease, endpoint, of).await)
}

async fn send(
    worker: &Inner,
    lease: &EndpointLease,
    endpoint: Endpoint,
    of: Outgoing,
) -> AttemptReport {
    let billing = &worker.billing;
    let (at, id) = (billing.now(), of.delivery.message_id());
    let secrets = endpoint.secrets(&worker.key, lease.account(), at);
    let Signatures { seconds, standard, instant, api, .. } = secrets.sign(id, at, &of.body);
    let request = Request::post(endpoint.url.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, concat!("accrue/", env!("CARGO_PKG_VERSION")))
        .header("webhook-id", id.to_string())
        .header("webhook-timestamp", seconds)
        .header("webhook-signature", standard)
        .header("webhook-sequence", of.delivery.number())
        .header("x-orb-timestamp", instant)
        .header("x-orb-signature", api);
    let sent = match request.body(Bytes::copy_from_slice(of.body.as_bytes())) {
        Ok(request) => worker.transport.send(request).await.map_err(|failure| failure.reason()),
        Err(error) => Err(error.to_string()),
    };
    let now = billing.now();
    let (answer, retry_after) = match sent {
        Ok(Response { status, retry_after, body }) => {
            let micros = now.micros().saturating_sub(at.micros());
            let elapsed_ms = u64::try_from(micros).unwrap_or_default() / 1_000;
            let answer = Answer::Status { code: status.as_u16(), elapsed_ms, body };
            (answer, retry_after.map(|asked| asked.from(now)))
        }
        Err(reason) => (Answer::Nothing { reason }, None),
    };
    AttemptReport { delivery: of.delivery, url: endpoint.url, at, answer, retry_after }
}
