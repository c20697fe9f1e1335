//! The row of an account: what it configures, and since when it has what.

use crate::{
    Error, Timestamp,
    account::{AccountEntry, Configuration},
    engine::kernel::Transaction,
    limits, schema,
};

impl Transaction<'_> {
    /// Returns what the account configures.
    pub(in crate::engine) async fn configuration(&mut self) -> Result<Configuration, Error> {
        Ok(self.account_entry().await?.configuration)
    }

    /// Tells whether the account had alerts at an instant.
    pub(in crate::engine) async fn had_alerts(&mut self, at: Timestamp) -> Result<bool, Error> {
        Ok(self.account_entry().await?.had_alerts(at))
    }

    /// Tells whether the account had alerts when an instant came.
    pub(in crate::engine) async fn had_alerts_until(
        &mut self,
        at: Timestamp,
    ) -> Result<bool, Error> {
        Ok(self.account_entry().await?.had_alerts_until(at))
    }

    pub(in crate::engine) async fn account_entry(&mut self) -> Result<AccountEntry, Error> {
        Ok(self.get(&schema::account(self.account)).await?.unwrap_or_default())
    }

    /// Returns the oldest instant at which an event may still be taken, whatever grace period the
    /// account will choose.
    pub(in crate::engine) fn oldest_open(&self) -> Timestamp {
        const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
        let longest = u32::try_from(limits::GRACE_DAYS).unwrap_or(u32::MAX);
        self.now.saturating_sub(DAY.saturating_mul(longest))
    }

    /// Returns the oldest instant at which an event is still taken.
    pub(in crate::engine) async fn oldest_taken(&mut self) -> Result<Timestamp, Error> {
        Ok(self.now.saturating_sub(self.configuration().await?.grace_period))
    }
}
