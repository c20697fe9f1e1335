//! How a worker waits.

use std::time::Duration;

use futures_util::future::BoxFuture;

/// Timer of the runtime that a worker runs on.
pub trait Timer: Send + Sync {
    /// Returns a future that ends after a while. A time without end is one.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()>;
}

impl<F> Timer for F
where
    F: Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync,
{
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self(time)
    }
}

/// The timer of tokio.
#[cfg(feature = "hyper")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "hyper")]
impl Timer for TokioTimer {
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
