//! What comes before a command.

use async_trait::async_trait;

use super::{Patience, Shared};
use crate::{AccountId, Error, schema::Owner};

/// Does what time has brought, in commits of its own.
#[async_trait]
pub(in crate::engine) trait CatchUp: Send + Sync {
    /// Does it for some owners, or fails where patience ends before.
    async fn catch_up(
        &self,
        shared: &Shared,
        account: &AccountId,
        owners: &[Owner],
        patience: &mut Patience,
    ) -> Result<(), Error>;
}
