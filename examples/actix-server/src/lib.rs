//! The billing API in a server of actix-web.

mod shim;

use std::{io, net::TcpListener};

use actix_web::{
    App, Error, HttpRequest, HttpResponse, HttpServer,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::header::ContentType,
    middleware::{Next, from_fn},
    web,
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
    let host = web::Data::new(host);
    let app = move || {
        App::new()
            .app_data(host.clone())
            .wrap(from_fn(logged))
            .route("/healthz", web::get().to(healthz))
            .default_service(web::to(api))
    };
    let server = HttpServer::new(app)
        .listen(listener)?
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
    match timeout(REQUEST_TIME, host.api().handle(request)).await {
        Ok(answer) => shim::response(answer),
        Err(_) => HttpResponse::RequestTimeout().finish(),
    }
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
    let line = Line::begin(request.method().as_str(), request.uri().path());
    let answer = next.call(request).await?;
    line.end(answer.status().as_u16());
    Ok(answer)
}
