//! Waiting, by being polled.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Is pending so many times.
pub(super) async fn pause(times: usize) {
    struct Pause(usize);

    impl Future for Pause {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            match self.0.checked_sub(1) {
                None => Poll::Ready(()),
                Some(left) => {
                    self.0 = left;
                    Poll::Pending
                }
            }
        }
    }

    Pause(times).await;
}
