//! The billing API in a server of axum.

mod linger;

use std::{io, net::TcpListener};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::StatusCode,
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::get,
    serve::Listener,
};
use example_server::{Attended, Host, Line, STOP_TIME, Stopped};
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

/// Puts the API behind everything that has a route of its own.
fn router(host: Host) -> Router {
    Router::new()
        .route("/healthz", get(healthz))
        .fallback(api)
        .layer(from_fn_with_state(host.clone(), logged))
        .with_state(host)
}

async fn api(State(host): State<Host>, request: Request) -> Response {
    let request = request.map(linger::Lingering);
    host.handle(request).await.map(Body::from)
}

async fn healthz(State(host): State<Host>) -> (StatusCode, &'static str) {
    match host.is_healthy().await {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer"),
    }
}

async fn logged(State(host): State<Host>, request: Request, next: Next) -> Response {
    let method = request.method().as_str();
    let line = Line::begin(method, host.route(method, request.uri().path()));
    let answer = next.run(request).await;
    line.end(answer.status().as_u16());
    answer
}
