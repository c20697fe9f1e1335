use accrue::{Billing, limits};

use crate::{Error, error::Doing as _};

/// Settles all that time has made due. Returns for how many customers or others there was something.
pub(crate) async fn settle(billing: &Billing) -> Result<usize, Error> {
    let mut settled = 0;
    loop {
        let tick = billing.tick(limits::SCAN_ROWS).await.doing("settle what is due")?;
        settled += tick.applied;
        if tick.failed > 0 {
            return Err(Error::Unsettled { failed: tick.failed });
        }
        if !tick.more {
            return Ok(settled);
        }
    }
}
