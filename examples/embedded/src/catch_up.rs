use accrue::{Billing, limits};

use crate::{Error, error::Doing as _};

/// Applies all that time has brought. Returns for how many customers or others there was something.
pub(crate) async fn catch_up(billing: &Billing) -> Result<usize, Error> {
    let mut applied = 0;
    loop {
        let tick = billing.tick(limits::SCAN_ROWS).await.doing("apply what time has brought")?;
        applied += tick.applied;
        if tick.failed > 0 {
            return Err(Error::Behind { failed: tick.failed });
        }
        if !tick.more {
            return Ok(applied);
        }
    }
}
