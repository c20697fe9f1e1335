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
    serve::Listener,
};
use example_server::{Attended, Host, Line, REQUEST_TIME, STOP_TIME, Stopped};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::TokioIo,
    server::graceful::{GracefulConnection, GracefulShutdown},
};
use tokio::{net::TcpStream, time::timeout};
use tower_service::Service as _;

/// Serves until it is asked to stop, and then until the requests in flight are answered, or have had
/// [`STOP_TIME`].
///
/// It accepts connections itself: `axum::serve` has no time-out for them.
///
/// # Errors
///
/// Where the listener cannot be used.
pub async fn serve(listener: TcpListener, host: Host, stopped: Stopped) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut listener = tokio::net::TcpListener::from_std(listener)?;
    let connections = host.connections().clone();
    let router = router(host);
    let open = GracefulShutdown::new();
    // What cannot be accepted is logged and tried again after a second.
    let accept = async {
        loop {
            let (stream, _) = Listener::accept(&mut listener).await;
            let stream = connections.enter(stream).await;
            // It fails where the client goes away, or sends what is no HTTP.
            tokio::spawn(open.watch(connection(stream, router.clone())));
        }
    };
    tokio::select! {
        () = accept => {}
        () = stopped.wait() => {}
    }
    drop(listener);
    let _ = timeout(STOP_TIME, open.shutdown()).await;
    Ok(())
}

/// Serves the requests of a connection one after the other.
fn connection(
    stream: Attended<TcpStream>,
    router: Router,
) -> impl GracefulConnection<Error = hyper::Error> + Send {
    let place = stream.place().clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let serving = place.serve();
        let answer = router.clone().call(request);
        async move {
            let answer = answer.await;
            drop(serving);
            answer
        }
    });
    http1::Builder::new().serve_connection(TokioIo::new(stream), service)
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
