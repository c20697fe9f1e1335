//! The billing API in a server of actix-web.

mod shim;

use std::{
    io,
    net::{SocketAddr, TcpListener},
    num::NonZeroUsize,
    thread::available_parallelism,
    time::Duration,
};

use actix_http::{HttpService, KeepAlive, error::DispatchError};
use actix_server::ServerBuilder;
use actix_service::{IntoServiceFactory as _, ServiceFactoryExt as _, fn_service, map_config};
use actix_web::{
    App, Error, HttpRequest, HttpResponse,
    body::MessageBody,
    dev::{AppConfig, Extensions, ServiceRequest, ServiceResponse},
    http::header::ContentType,
    middleware::{Next, from_fn},
    web,
};
use example_server::{Attended, Connections, Host, Line, Place, STOP_TIME, Stopped};
use tokio::net::TcpStream;

/// How long what a refused request still sends is read: closing a connection on a client that is
/// sending would take the answer with it.
const LINGER_TIME: Duration = Duration::from_secs(5);

/// The most threads that actix serves connections with.
const MOST_WORKERS: usize = 512;

/// Serves until it is asked to stop, and then until the requests in flight are answered, or have had
/// [`STOP_TIME`].
///
/// It puts together what `HttpServer` does, around connections that are attended: by themselves,
/// those of actix bound the head of the first request only, and neither that of a second one nor what
/// of a body comes after its answer.
///
/// # Errors
///
/// Where the listener cannot be used.
pub async fn serve(listener: TcpListener, host: Host, stopped: Stopped) -> io::Result<()> {
    let workers = available_parallelism().map_or(1, NonZeroUsize::get).min(MOST_WORKERS);
    // Each worker accepts one more than its share, which takes the place of another.
    let share = host.connections().bounds().most.get().div_ceil(workers).saturating_add(1);
    let builder = ServerBuilder::new().workers(workers).max_concurrent_connections(share);
    let stopping = builder.graceful_shutdown_signal();
    let service = move || {
        let (host, connections) = (web::Data::new(host.clone()), host.connections().clone());
        let stopping = stopping.clone();
        let app = App::new()
            .app_data(host)
            .wrap(from_fn(logged))
            .wrap(from_fn(served))
            .route("/healthz", web::get().to(healthz))
            .default_service(web::to(api))
            .into_factory()
            .map_err(|error| error.error_response());
        let http = HttpService::build()
            // The time-outs are those of the attended connections.
            .keep_alive(KeepAlive::Os)
            .client_request_timeout(Duration::ZERO)
            .client_disconnect_timeout(LINGER_TIME)
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .on_connect_ext(|stream: &Attended<TcpStream>, data: &mut Extensions| {
                data.insert(stream.place().clone());
            })
            .h1(map_config(app, |()| AppConfig::default()));
        fn_service(move |stream| enter(connections.clone(), stream)).and_then(http)
    };
    let server = builder
        .listen("accrue", listener, service)?
        .disable_signals()
        .shutdown_timeout(STOP_TIME.as_secs())
        .run();
    let handle = server.handle();
    let stop = async {
        stopped.wait().await;
        handle.stop(true).await;
        std::future::pending().await
    };
    tokio::select! {
        served = server => served,
        served = stop => served,
    }
}

async fn api(host: web::Data<Host>, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let Some(request) = shim::request(&request, payload) else {
        return HttpResponse::BadRequest().finish();
    };
    shim::response(host.handle(request).await)
}

async fn healthz(host: web::Data<Host>) -> HttpResponse {
    let (mut answer, text) = match host.is_healthy().await {
        true => (HttpResponse::Ok(), "ok"),
        false => (HttpResponse::ServiceUnavailable(), "the store does not answer"),
    };
    answer.content_type(ContentType::plaintext()).body(text)
}

async fn logged(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let host = request.app_data::<web::Data<Host>>();
    let method = request.method().as_str();
    let route = host.map_or("none", |host| host.route(method, request.uri().path()));
    let line = Line::begin(method, route);
    let answer = next.call(request).await?;
    line.end(answer.status().as_u16());
    Ok(answer)
}

/// Gives a connection its place.
async fn enter(
    connections: Connections,
    stream: TcpStream,
) -> Result<(Attended<TcpStream>, Option<SocketAddr>), DispatchError> {
    let peer = stream.peer_addr().ok();
    Ok((connections.enter(stream).await, peer))
}

/// Tells the place of the connection that a request is being answered.
async fn served(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let _serving = request.request().conn_data::<Place>().map(Place::serve);
    next.call(request).await
}
