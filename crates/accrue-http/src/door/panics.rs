use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

/// Runs a future to its end, or to its panic: not every server catches those.
pub(crate) async fn catch_panics<T>(
    future: impl Future<Output = T>,
) -> Result<T, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    // Nothing is used again after a panic but what the engine guards against it: its maps change in
    // one step each, and a commit is in the store or is not.
    poll_fn(move |context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}
