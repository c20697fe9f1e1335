//! Requests of the API, in the process: no socket and no framework.

use std::sync::Arc;

use accrue::store::Store;
use accrue_benches::{Outcome, Shape, Watch, Workload, event_json};
use accrue_http::{Api, FixedKey};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use pollster::block_on;

use super::{
    Call, Prepared, expect,
    reads::{listed, requested},
};

const TOKEN: &str = "bench";
/// What an ingest is answered with.
const INGESTED: &str = r#"{"validation_failed":[]}"#;

/// Requests of 100 events of 8 customers.
pub(super) fn ingest(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let mut workload = Workload::new(store, Shape::new(Watch::Usage))?;
    let api = api(&workload);
    let calls = (0..10).map(|number| {
        let events = workload.next_hundred()?;
        let events = events.iter().map(event_json).collect::<Outcome<Vec<_>>>()?;
        let body = format!(r#"{{"events":[{}]}}"#, events.join(","));
        let mut request = request(Method::POST, "/v1/ingest", body)?;
        request.headers_mut().insert("idempotency-key", format!("call-{number:032}").parse()?);
        let api = api.clone();
        let call: Call = Box::new(move || answered(&block_on(api.handle(request)), INGESTED.len()));
        Ok(call)
    });
    let calls = calls.collect::<Outcome<_>>()?;
    Prepared::warm((workload, api), calls, 2)
}

/// The newest 20 customers.
pub(super) fn list(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let workload = listed(store)?;
    let api = api(&workload);
    let length = block_on(api.handle(list_request()?)).body().len();
    let call = move |request| answered(&block_on(api.handle(request)), length);
    requested(workload, list_request, call)
}

/// A handler that reads the same request and answers the same bytes, whatever it says.
pub(super) fn bare_list(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let workload = listed(store)?;
    let body = block_on(api(&workload).handle(list_request()?)).into_body();
    let call = move |request| answered(&block_on(bare(request, &body))?, body.len());
    requested(workload, list_request, call)
}

async fn bare(request: Request<Full<Bytes>>, body: &Bytes) -> Outcome<Response<Bytes>> {
    request.into_body().collect().await?;
    let answer = Response::builder().header(header::CONTENT_TYPE, "application/json");
    Ok(answer.body(body.clone())?)
}

fn api(workload: &Workload) -> Api {
    let account = workload.account();
    let key = FixedKey::new(TOKEN, account.id().clone());
    Api::builder(account.billing().clone(), key).build()
}

fn list_request() -> Outcome<Request<Full<Bytes>>> {
    request(Method::GET, "/v1/customers", String::new())
}

fn request(method: Method, path: &str, body: String) -> Outcome<Request<Full<Bytes>>> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, "application/json");
    Ok(request.body(Full::from(body))?)
}

/// Makes sure that a request was answered, with so many bytes.
fn answered(answer: &Response<Bytes>, length: usize) -> Outcome<()> {
    if answer.status() != StatusCode::OK {
        return Err(format!("{}: {:?}", answer.status(), answer.body()).into());
    }
    expect("bytes", answer.body().len(), length)
}
