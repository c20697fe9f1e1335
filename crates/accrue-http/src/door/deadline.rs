use std::{future::poll_fn, pin::pin, task::Poll};

/// Runs a future until it ends or the time is over, whichever is first: none where that is the time.
pub(crate) async fn until<T>(
    deadline: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut deadline, mut work) = (pin!(deadline), pin!(work));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => deadline.as_mut().poll(context).map(|()| None),
    })
    .await
}
