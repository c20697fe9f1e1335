//! actix-web speaks the types of `http` 0.2, the API those of `http` 1.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder,
    body::{BodySize, MessageBody},
    error::PayloadError,
    web,
};
use bytes::Bytes;
use futures_core::Stream as _;
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri, header::CONTENT_LENGTH};
use http_body::Frame;

/// A body that is read as it comes, so that the API can refuse it unread.
pub(crate) struct Body(web::Payload);

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = PayloadError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, PayloadError>>> {
        Pin::new(&mut self.0).poll_next(context).map(|next| next.map(|data| data.map(Frame::data)))
    }
}

/// Takes a request as it was sent, its URL above all: `None` where `http` 1 has no words for it.
pub(crate) fn request(from: &HttpRequest, payload: web::Payload) -> Option<Request<Body>> {
    let mut request = Request::new(Body(payload));
    *request.method_mut() = Method::from_bytes(from.method().as_str().as_bytes()).ok()?;
    *request.uri_mut() = from.uri().to_string().parse::<Uri>().ok()?;
    for (name, value) in from.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(value.as_bytes()).ok()?);
    }
    Some(request)
}

/// Gives an answer back.
pub(crate) fn response(from: Response<Bytes>) -> HttpResponse {
    let (head, body) = from.into_parts();
    let status = actix_web::http::StatusCode::from_u16(head.status.as_u16());
    let mut response = HttpResponseBuilder::new(status.unwrap_or_default());
    for (name, value) in &head.headers {
        response.append_header((name.as_str(), value.as_bytes()));
    }
    // That of a `HEAD` says how long the body would have been, and has none.
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    match length.and_then(|length| length.parse().ok()) {
        Some(length) => response.no_chunking(length).body(Nothing),
        None => response.body(body),
    }
}

/// A body of which nothing is sent, whatever its length is said to be.
struct Nothing;

impl MessageBody for Nothing {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}
