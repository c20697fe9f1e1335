//! What a refused request still sends is read for a while: closing a connection on a client that is
//! sending would take the answer with it.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use tokio::{runtime::Handle, time::timeout};

/// How much of it is read.
const BYTES: usize = 64 * 1024 * 1024;
/// How long it is read.
const TIME: Duration = Duration::from_secs(5);

/// A body whose rest is read and dropped once nobody wants it.
pub(crate) struct Lingering(pub(crate) Body);

impl http_body::Body for Lingering {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        use http_body::Body as _;

        if !self.is_end_stream()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(timeout(TIME, drain(mem::take(&mut self.0))));
        }
    }
}

async fn drain(mut body: Body) {
    let mut left = BYTES;
    while let Some(Ok(frame)) = next_frame(&mut body).await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}

async fn next_frame(body: &mut Body) -> Option<Result<Frame<Bytes>, axum::Error>> {
    poll_fn(|context| http_body::Body::poll_frame(Pin::new(&mut *body), context)).await
}
