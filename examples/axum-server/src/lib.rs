//! The billing API in a server of axum.

mod linger;

use std::{io, net::TcpListener};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    middleware::{Next, from_fn},
    response::{IntoResponse as _, Response},
    routing::get,
};
use example_server::{Host, Line, REQUEST_TIME, STOP_TIME, Stopped};
use tokio::time::timeout;

/// Serves until it is asked to stop, and then until the requests in flight are answered, or have had
/// [`STOP_TIME`].
///
/// # Errors
///
/// Where the listener cannot be used.
pub async fn serve(listener: TcpListener, host: Host, stopped: Stopped) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let end = stopped.clone();
    let server = axum::serve(listener, router(host)).with_graceful_shutdown(stopped.wait());
    let late = async {
        end.wait().await;
        let _ = timeout(STOP_TIME, std::future::pending::<()>()).await;
    };
    tokio::select! {
        served = async { server.await } => served,
        () = late => Ok(()),
    }
}

/// Puts the API behind everything that has a route of its own: it is a service of tower.
fn router(host: Host) -> Router {
    let api = host.api().clone();
    Router::new()
        .route("/healthz", get(healthz))
        .with_state(host)
        .fallback_service(api)
        .layer(from_fn(in_time_and_logged))
}

async fn healthz(State(host): State<Host>) -> (StatusCode, &'static str) {
    match host.is_healthy().await {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer"),
    }
}

async fn in_time_and_logged(request: Request, next: Next) -> Response {
    let line = Line::begin(request.method().as_str(), request.uri().path());
    let request = request.map(|body| Body::new(linger::Lingering(body)));
    let answer = timeout(REQUEST_TIME, next.run(request)).await;
    let answer = answer.unwrap_or_else(|_| StatusCode::REQUEST_TIMEOUT.into_response());
    line.end(answer.status().as_u16());
    answer
}
