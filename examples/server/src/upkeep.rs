use std::time::Duration;

use accrue::{Billing, Error};
use tokio::time::timeout;

use crate::{Chain, Stopped, clock::ClockWatch};

/// How many owners of something due one call applies it for, and how many keys another removes.
const AT_ONCE: usize = 100;
/// How long to wait at most, since a request may have brought an earlier deadline.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Does what time makes due, until the server is asked to stop.
///
/// No answer depends on it: messages would wait, and the store would keep what nobody needs. It logs
/// besides that the clock was set back, while the present instant of the engine is ahead of it.
pub async fn keep_up(billing: Billing, stopped: Stopped) {
    let mut clock = ClockWatch::default();
    loop {
        clock.look(&billing);
        let wait = match round(&billing).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "what is due waits");
                LONGEST_WAIT
            }
        };
        if timeout(wait, stopped.clone().wait()).await.is_ok() {
            return;
        }
    }
}

/// Applies some of what time has brought and collects some garbage, and tells how long there is nothing to do.
async fn round(billing: &Billing) -> Result<Duration, Error> {
    let tick = billing.tick(AT_ONCE).await?;
    if tick.failed > 0 {
        tracing::error!(failed = tick.failed, "something is wrong with rows of the store");
    }
    let collected = billing.collect_garbage(AT_ONCE).await?;
    if tick.more || collected.more {
        return Ok(Duration::ZERO);
    }
    let Some(deadline) = billing.next_deadline().await? else { return Ok(LONGEST_WAIT) };
    let micros = deadline.micros().saturating_sub(billing.now().micros());
    let until = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
    // What failed stays due, and is not tried without a pause.
    Ok(if tick.failed > 0 { LONGEST_WAIT } else { until.min(LONGEST_WAIT) })
}
