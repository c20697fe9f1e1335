use std::{future::pending, time::Duration};

use accrue::{Clock as _, SystemClock, Timestamp};
use tokio::time::timeout;

/// Returns the instant that lies so long before now, by the clock that the servers read too.
#[must_use]
pub fn before_now(span: Duration) -> Timestamp {
    SystemClock.now().saturating_sub(span)
}

/// Waits.
pub async fn pause(span: Duration) {
    let _ = timeout(span, pending::<()>()).await;
}
